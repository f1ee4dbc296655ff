"""Labels read out of completed features: rows that are alike have labels that are alike.

Factors hold what features have in common, and labels of new rows are predicted from that alone. A classifier
that compares whole rows knows something else: a feature that is alone in what it tells, or a label that is no
monotone function of anything. Together they often err less than either. What is missing of a row's features
is filled in by a posterior, from the others.

What is not known of a row counts as distance: the likeness to be expected of two rows falls with the variance
of what was filled in. Without that, rows of which little is known would all look alike, and a complete one
like none of them.

A label's log-odds are a Gaussian process on the rows, its covariance a multiple of how alike two rows are;
what is used of it is the mode (Rasmussen and Williams, 2006, section 3.4), of all labels at a time.

Labels to learn from may be probabilities: what a row's other labels tell of an unknown one has the same
expectation, given the features, as the label itself, and is learnt from like it.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.posterior import OFFSET_PRECISION, Posterior

Likeness = Literal["linear", "near"]
"""How rows are compared: by the product of their features, or by their distance."""

STEPS, STEP_TOL = 20, 1e-2
"""Most Newton steps for a label, and the change of log-odds at which they end."""

INNER_STEPS, INNER_TOL = 50, 1e-2
"""Most conjugate-gradient steps for one of them, and the residual at which they end, against the first."""

STEP_SIZES = (1.0, 0.5, 0.25, 0.1)
"""What is tried of a Newton step, until one does not lower the probability."""

MOST_ROWS = 3_000
"""Of a longer table rows are compared with this many, evenly taken."""

LARGEST = 3e8
"""Multiplications of one such step for all labels that bound how many rows they are learnt from."""

BLOCK = 4096
"""Rows that are compared at a time."""


@dataclass(frozen=True, eq=False)
class Completed:
    """Rows to compare: the columns before the labels, standardised.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_columns)
        Observed, or expected from the others.
    doubt : ndarray of shape (n_rows,)
        Mean variance of a row's columns: 0 if all were observed, about 1 if none was.
    """

    X: FloatArray
    doubt: FloatArray

    def take(self, some: NDArray[np.intp] | slice) -> "Completed":
        """Give some of them."""
        return Completed(self.X[some], self.doubt[some])

    def likeness(self, other: "Completed", kind: Likeness) -> FloatArray:
        """Say how alike each is to each of others, to be expected of what is not known: 1 if wholly."""
        d = self.X.shape[1]
        if kind == "linear":
            return np.asarray(linear_kernel(self.X, other.X) / d)
        near = rbf_kernel(self.X, other.X, gamma=1 / d)
        near *= np.exp(-self.doubt)[:, None]
        near *= np.exp(-other.doubt)
        return np.asarray(near)


@dataclass(frozen=True, eq=False)
class Readout:
    """Labels of rows from how alike they are to rows that labels are known of.

    Attributes
    ----------
    posterior : Posterior
        Completes features.
    likeness : {"linear", "near"}
    rows : Completed
        What others are compared with.
    weights : ndarray of shape (n_rows, n_labels)
        What a likeness of one to a row adds to a label's log-odds.
    shift : ndarray of shape (n_labels,)
        What is added to every row's.
    """

    posterior: Posterior
    likeness: Likeness
    rows: Completed
    weights: FloatArray
    shift: FloatArray

    @property
    def base(self) -> FloatArray:
        """Log-odds that the labels' shifts count from."""
        return self.posterior.base

    def predict(self, cells: Cells) -> Moments:
        """Give the labels' log-odds in rows with these observed features; labels are not looked at."""
        return self.of(completed(self.posterior, cells, self._first_label))

    def draw(self, cells: Cells, rng: np.random.Generator) -> FloatArray:
        """Give the same for features that are drawn where they are missing."""
        return self.of(self.drawn(cells, rng)).mean

    def drawn(self, cells: Cells, rng: np.random.Generator) -> Completed:
        """Draw the features that are missing."""
        first = self._first_label
        t = self.posterior.draw(cells.before(first), rng)[:, :first]
        d = len(self.posterior.noise)
        t[:, :d] += np.sqrt(self.posterior.noise) * rng.standard_normal((len(t), d))
        t[:, d:] = rng.random((len(t), first - d)) < expit(t[:, d:])
        X = _with_observed(_standardized(t, self.posterior), self.posterior, cells)
        return Completed(X, np.zeros(len(X)))

    @property
    def _first_label(self) -> int:
        return int(self.rows.X.shape[1])

    def of(self, rows: Completed) -> Moments:
        """Give the labels' log-odds in rows whose features are completed already."""
        n = len(rows.X)
        score = np.tile(self.base, (n, 1))
        for first in range(0, n, BLOCK):
            some = slice(first, first + BLOCK)
            alike = rows.take(some).likeness(self.rows, self.likeness)
            score[some, self._first_label :] += self.shift + alike @ self.weights
        return Moments(score, np.zeros_like(score), self.posterior.noise, averaged=False)


def completed(posterior: Posterior, cells: Cells, first_label: int) -> Completed:
    """Fill in the columns before the labels; labels are not looked at."""
    moments = posterior.predict(cells.before(first_label))
    t, variance = (part[:, :first_label] for part in (moments.mean, moments.variance))
    d = cells.n_features
    variance[:, :d] += moments.noise
    t[:, d:] = p = expit(moments.score[:, d:first_label])
    rate = expit(posterior.base[d:first_label])
    variance[:, d:] = p * (1 - p) / (rate * (1 - rate))
    X = _with_observed(_standardized(t, posterior), posterior, cells)
    rows = np.arange(len(X))
    variance[np.repeat(rows, np.diff(cells.x_start)), cells.x_column] = 0
    seen = cells.y_column < first_label
    variance[np.repeat(rows, np.diff(cells.y_start))[seen], cells.y_column[seen]] = 0
    return Completed(X, variance.mean(axis=1))


def known_labels(cells: Cells, first_label: int) -> FloatArray:
    """Give the labels that are known, NaN elsewhere, as shape (n_rows, n_labels)."""
    Y = np.full(cells.shape, np.nan)
    Y[np.repeat(np.arange(len(Y)), np.diff(cells.y_start)), cells.y_column] = cells.y_value
    return Y[:, first_label:]


def completed_labels(labels: FloatArray, score: FloatArray) -> FloatArray:
    """Put probabilities, given as log-odds, in the place of labels that are not known.

    In rows without any known label nothing is put: of these no more is known than what is to be learnt.
    """
    unknown = np.isnan(labels)
    return np.where(unknown & ~unknown.all(axis=1, keepdims=True), expit(score), labels)


def read_out(
    posterior: Posterior, rows: Completed, labels: FloatArray, likeness: Likeness, variances: Sequence[float]
) -> Iterator[Readout]:
    """Fit every label for growing variances, each from the one before.

    Parameters
    ----------
    posterior : Posterior
        What completed the rows.
    rows : Completed
        There must be some features.
    labels : ndarray of shape (n_rows, n_labels)
        What to learn from: 0, 1 or the probability of a 1; NaN where nothing is known.
    likeness : {"linear", "near"}
    variances : sequence of float
        Prior variances of a row's log-odds.
    """
    most = min(MOST_ROWS, int(np.sqrt(LARGEST / max(labels.shape[1], 1))))
    some = _evenly(np.flatnonzero(~np.isnan(labels).all(axis=1)), most)
    compared, Y = rows.take(some), labels[some]
    base = posterior.base[rows.X.shape[1] :].astype(np.float64)
    alike = compared.likeness(compared, likeness)
    if likeness == "near":
        # Whatever is not known of a row, it is like itself.
        np.fill_diagonal(alike, 1)
    weights = np.zeros_like(Y)
    for variance in variances:
        weights = _modes(variance * alike + 1 / OFFSET_PRECISION[1], Y, base, weights)
        shift = weights.sum(axis=0) / OFFSET_PRECISION[1]
        yield Readout(posterior, likeness, compared, variance * weights, shift)


def _evenly(rows: NDArray[np.intp], most: int) -> NDArray[np.intp]:
    """Take at most so many of some rows, from all over the table."""
    return rows if len(rows) <= most else rows[np.linspace(0, len(rows) - 1, most).astype(int)]


def _modes(K: FloatArray, Y: FloatArray, base: FloatArray, A: FloatArray) -> FloatArray:
    """Find the most probable F = KA given each column's labels, by Newton steps from some A on.

    A step may be cut. A row of which a label is not known has no part in it.
    """
    A, F = A.copy(), K @ A
    known, Y = ~np.isnan(Y), np.nan_to_num(Y)
    left = np.arange(A.shape[1])
    for _ in range(STEPS if A.size else 0):
        seen, y, o, a, f = known[:, left], Y[:, left], base[left], A[:, left], F[:, left]
        p = expit(o + f)
        step = _newton_step(K, np.sqrt(seen * p * (1 - p)), seen * (y - p) - a)
        change = K @ step
        value, size = _log_probability(a, f, y, o, seen), np.zeros(len(left))
        for part in STEP_SIZES:
            new = _log_probability(a + part * step, f + part * change, y, o, seen)
            size[(size == 0) & (new >= value)] = part
            if size.all():
                break
        A[:, left], F[:, left] = a + size * step, f + size * change
        left = left[np.abs(size * change).max(axis=0) >= STEP_TOL]
        if not left.size:
            break
    return A


def _newton_step(K: FloatArray, root: FloatArray, slope: FloatArray) -> FloatArray:
    """Solve (I + R²K) S = G for every column, R diagonal, by conjugate gradients.

    S = G - RX with (I + RKR) X = RKG, which is symmetric.
    """
    residual = root * (K @ slope)
    X, direction = np.zeros_like(residual), residual.copy()
    left: FloatArray = np.einsum("nl,nl->l", residual, residual)
    enough = INNER_TOL**2 * left
    for _ in range(INNER_STEPS):
        if (left <= enough).all():
            break
        turned = direction + root * (K @ (root * direction))
        pace = left / np.maximum(np.einsum("nl,nl->l", direction, turned), np.finfo(float).tiny)
        X += pace * direction
        residual -= pace * turned
        before, left = left, np.einsum("nl,nl->l", residual, residual)
        direction = residual + left / np.maximum(before, np.finfo(float).tiny) * direction
    return np.asarray(slope - root * X)


def _log_probability(
    A: FloatArray, F: FloatArray, Y: FloatArray, base: FloatArray, known: BoolArray
) -> FloatArray:
    """Log-probability of each column's labels and of F = KA, but for a constant."""
    Z = base + F
    told = np.where(known, Y * Z - np.logaddexp(0, Z), 0)
    return np.asarray(told.sum(axis=0) - np.einsum("nl,nl->l", A, F) / 2)


def _standardized(t: FloatArray, posterior: Posterior) -> FloatArray:
    """Bring 0/1 columns to the scale of the others, which are standardised already."""
    d = len(posterior.noise)
    rate = expit(posterior.base[d : t.shape[1]])
    t[:, d:] = (t[:, d:] - rate) / np.sqrt(rate * (1 - rate))
    return t


def _with_observed(t: FloatArray, posterior: Posterior, cells: Cells) -> FloatArray:
    """Put what was observed in its place."""
    rows = np.arange(len(t))
    t[np.repeat(rows, np.diff(cells.x_start)), cells.x_column] = cells.x_value
    features = cells.y_column < t.shape[1]
    column = cells.y_column[features]
    rate = expit(posterior.base[column])
    value = (cells.y_value[features] - rate) / np.sqrt(rate * (1 - rate))
    t[np.repeat(rows, np.diff(cells.y_start))[features], column] = value
    return t
