"""Kernel logistic regression of labels on completed rows: rows that are alike have labels that are alike.

Factors hold what features have in common, and labels of new rows are predicted from that alone. A classifier
that compares whole rows knows something else: a feature that is alone in what it predicts, or a label that is
no monotone function of anything. What is missing of a row's features is filled with its posterior mean, given
the others; the expected kernel of two rows falls with the posterior variance of what was filled. Without
that, rows of which little is known would all look alike, and a complete one like none of them.

A label's log-odds are a Gaussian process on the rows; its mode is used (Rasmussen and Williams, 2006, section
3.4), of all labels at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics.pairwise import linear_kernel, rbf_kernel

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.average import Average
from cocomplete.members.prediction import Prediction
from cocomplete.problem.observations import Observations
from cocomplete.solvers.variational import OFFSET_PRECISION

KernelKind = Literal["linear", "rbf"]
"""How rows are compared: by the product of their features, or by their distance."""

KERNELS: tuple[KernelKind, ...] = ("linear", "rbf")

VARIANCES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Prior variances of a row's log-odds that are tried, from the stiffest on."""

STEPS, STEP_TOL = 20, 1e-2
"""Most Newton steps for a label, and the change of log-odds at which they end."""

INNER_STEPS, INNER_TOL = 50, 1e-2
"""Most conjugate-gradient steps for one of them, and the residual at which they end, against the first."""

STEP_SIZES = (1.0, 0.5, 0.25, 0.1)
"""What is tried of a Newton step, until one does not lower the probability."""

MOST_ROWS = 3_000
"""Of a longer table rows are compared with this many."""

LARGEST = 3e8
"""Multiplications of one Newton step for all labels that bound how many rows they are learnt from."""

BLOCK = 4096
"""Rows that are compared at a time."""


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """Rows to compare: all features, standardised.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Observed, or the posterior mean.
    variances : ndarray of shape (n_rows, n_features)
        Posterior variances: 0 where observed, about 1 where nothing is known.
    """

    X: FloatArray
    variances: FloatArray

    @cached_property
    def variance(self) -> FloatArray:
        """Mean posterior variance of each row's features."""
        return np.asarray(self.variances.mean(axis=1))

    @classmethod
    def of(cls, average: Average, observed: Observations) -> "CompletedRows":
        """Fill in what is missing of the features; labels are not looked at."""
        alone = replace(observed, Y=np.full_like(observed.Y, np.nan))
        encoding, moments = average.encoding, average.moments(alone)
        d, numbers = observed.n_features, encoding.n_numbers
        X, variance = moments.mean[:, :d], moments.variance[:, :d]
        variance[:, :numbers] += moments.noise
        rate = expit(encoding.offsets[numbers:d].astype(np.float64))
        spread = np.sqrt(rate * (1 - rate))
        p = expit(moments.score[:, numbers:d])
        X[:, numbers:], variance[:, numbers:] = (p - rate) / spread, p * (1 - p) / spread**2
        encoded = encoding.apply(alone)
        given = np.hstack((encoded.X, (encoded.Y[:, : d - numbers] - rate) / spread))
        known = ~np.isnan(given)
        return cls(np.where(known, given, X), np.where(known, 0, variance))

    def take(self, some: NDArray[np.intp] | slice) -> "CompletedRows":
        """Give some of them."""
        return CompletedRows(self.X[some], self.variances[some])

    def kernel(self, other: "CompletedRows", kind: KernelKind) -> FloatArray:
        """Give the expected kernel of each row with each of others, given what is not known of both."""
        d = self.X.shape[1]
        if kind == "linear":
            return np.asarray(linear_kernel(self.X, other.X) / d)
        near = rbf_kernel(self.X, other.X, gamma=1 / d)
        near *= np.exp(-self.variance)[:, None]
        near *= np.exp(-other.variance)
        return np.asarray(near)


@dataclass(frozen=True, eq=False)
class KernelRegression:
    """Labels of rows from their kernel with rows of which labels are known.

    Attributes
    ----------
    average : Average
        Completes features.
    kind : {"linear", "rbf"}
    rows : CompletedRows
        What others are compared with.
    weights : ndarray of shape (n_rows, n_labels)
        What a kernel of one with a row adds to a label's log-odds.
    intercept : ndarray of shape (n_labels,)
    variance : float
        Prior variance of a row's log-odds.
    """

    average: Average
    kind: KernelKind
    rows: CompletedRows
    weights: FloatArray
    intercept: FloatArray
    variance: float

    @property
    def name(self) -> str:
        """What the member is called in reports."""
        return f"{self.kind} kernel"

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict labels from features; features themselves are not predicted (NaN)."""
        return self.of(CompletedRows.of(self.average, observed))

    def of(self, rows: CompletedRows) -> Prediction:
        """Predict labels of rows whose features are completed already."""
        n, d = rows.X.shape
        mean = np.full((n, d + len(self.intercept)), np.nan)
        for first in range(0, n, BLOCK):
            some = slice(first, first + BLOCK)
            mean[some, d:] = self.intercept + rows.take(some).kernel(self.rows, self.kind) @ self.weights
        return Prediction(mean, np.full((n, d), np.nan))


def kernel_path(
    average: Average,
    rows: CompletedRows,
    labels: FloatArray,
    keys: NDArray[np.uint64],
    kind: KernelKind,
    variances: Sequence[float] = VARIANCES,
) -> Iterator[KernelRegression]:
    """Fit every label for growing variances, each from the one before.

    Parameters
    ----------
    average : Average
        What completed the rows.
    rows : CompletedRows
        There must be some features.
    labels : ndarray of shape (n_rows, n_labels)
        0 or 1; NaN where unknown.
    keys : ndarray of shape (n_rows,)
        Where there are too many rows, those with the smallest keys are learnt from.
    kind : {"linear", "rbf"}
    variances : sequence of float
    """
    most = min(MOST_ROWS, int(np.sqrt(LARGEST / max(labels.shape[1], 1))))
    some = np.flatnonzero(~np.isnan(labels).all(axis=1))
    if len(some) > most:
        some = np.sort(some[np.argsort(keys[some], kind="stable")[:most]])
    compared, Y = rows.take(some), labels[some]
    base = average.encoding.offsets[rows.X.shape[1] :].astype(np.float64)
    K = compared.kernel(compared, kind)
    if kind == "rbf":
        # Whatever is not known of a row, it is like itself.
        np.fill_diagonal(K, 1)
    weights = np.zeros_like(Y)
    for variance in variances:
        weights = _modes(variance * K + 1 / OFFSET_PRECISION[1], Y, base, weights)
        intercept = base + weights.sum(axis=0) / OFFSET_PRECISION[1]
        yield KernelRegression(average, kind, compared, variance * weights, intercept, variance)


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
    likelihood = np.where(known, Y * Z - np.logaddexp(0, Z), 0)
    return np.asarray(likelihood.sum(axis=0) - np.einsum("nl,nl->l", A, F) / 2)
