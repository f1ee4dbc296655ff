"""Kernel logistic regression of labels on completed rows, with a radial (RBF) kernel.

Factors hold what features have in common, and labels of new rows are predicted from that alone. A classifier
that compares whole rows adds two cases: a feature that is alone in what it predicts, and a label that is no
monotone function of anything. What is missing of a row's features is filled with its posterior mean, given
the others; the expected kernel of two rows falls with the posterior variance of what was filled. Without
that, rows with few observed cells would all be near each other, and a complete one near none of them.

A label's log-odds are a Gaussian process on the rows; its mode is used (Rasmussen and Williams, 2006, section
3.4). The process is written as a regression on the kernel's *principal directions*, through landmark rows
(Nyström), which are all rows of a short table. In these directions the regression is nearly diagonal, so that
a few preconditioned conjugate-gradient steps solve it for all labels at a time.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics.pairwise import rbf_kernel

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.losses import log_loss
from cocomplete.members.average import Average
from cocomplete.members.prediction import Prediction
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.variational import OFFSET_PRECISION

VARIANCES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0, 100.0)
"""Prior variances of a row's log-odds that are tried, from the stiffest on."""

STEPS, STEP_TOL = 20, 1e-2
"""Most Newton steps for a label, and the change of log-odds at which they end."""

INNER_STEPS, INNER_TOL = 50, 1e-2
"""Most conjugate-gradient steps for one of them, and the residual at which they end, against the first."""

STEP_SIZES = (1.0, 0.5, 0.25, 0.1)
"""What is tried of a Newton step, until one does not lower the probability."""

LANDMARKS = 500
"""Rows that the radial kernel compares with, at most."""

MOST_ROWS = 5_000
"""Rows that labels are fitted to, at most."""

NEGLIGIBLE = 0.04
"""Variance that a principal direction gives all rows together below which it is left out: its coefficient
would still keep to its prior to within 1 %, a label's curvature being 1/4 at most."""

BLOCK = 4096
"""Rows that are compared at a time."""


@dataclass(frozen=True, eq=False)
class CompletedRows:
    """Rows to compare: all features, standardised.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Observed, or the posterior mean.
    variances : ndarray of shape (n_rows, n_features), or (n_rows, 1) for their means
        Posterior variances: 0 where observed, about 1 where nothing is known.
    """

    X: FloatArray
    variances: FloatArray

    def __getstate__(self) -> dict[str, Any]:
        """Pickle of the variances those that are not 0: what was observed has none."""
        positive = self.variances != 0
        return {
            "X": self.X,
            "shape": positive.shape,
            "positive": np.packbits(positive),
            "variances": self.variances[positive],
        }

    def __setstate__(self, state: dict[str, Any]) -> None:
        shape = state["shape"]
        positive = np.unpackbits(state["positive"], count=shape[0] * shape[1]).astype(bool).reshape(shape)
        variances = np.zeros(shape, state["variances"].dtype)
        variances[positive] = state["variances"]
        vars(self).update(X=state["X"], variances=variances)

    @cached_property
    def variance(self) -> FloatArray:
        """Mean posterior variance of each row's features."""
        return np.asarray(self.variances.mean(axis=1))

    @classmethod
    def of(cls, average: Average, observed: Observations) -> "CompletedRows":
        """Fill in what is missing of the features; labels are not looked at."""
        alone = replace(observed, Y=np.full_like(observed.Y, np.nan))
        encoding, encoded = average.encoding, average.encoding.apply(alone)
        d, numbers = observed.n_features, encoding.n_numbers
        moments = average.posterior.predict(Cells.of(encoded), slice(d))
        X, variance = moments.mean, moments.variance
        variance[:, :numbers] += moments.noise
        rate = expit(encoding.offsets[numbers:d].astype(np.float64))
        spread = np.sqrt(rate * (1 - rate))
        p = expit(moments.score[:, numbers:])
        X[:, numbers:], variance[:, numbers:] = (p - rate) / spread, p * (1 - p) / spread**2
        given = np.hstack((encoded.X, (encoded.Y[:, : d - numbers] - rate) / spread))
        known = ~np.isnan(given)
        return cls(np.where(known, given, X), np.where(known, 0, variance))

    def take(self, some: NDArray[np.intp] | slice) -> "CompletedRows":
        """Give some of them."""
        return CompletedRows(self.X[some], self.variances[some])

    def compact(self) -> "CompletedRows":
        """Keep of the variances what the radial kernel needs: their mean in each row."""
        return CompletedRows(self.X, self.variance[:, None])

    def radial(self, other: "CompletedRows | PickedRows") -> FloatArray:
        """Give the expected radial kernel of rows with others, given what is not known of both."""
        near = rbf_kernel(self.X, other.X, gamma=1 / self.X.shape[1])
        near *= np.exp(-self.variance)[:, None]
        near *= np.exp(-other.variance)
        return np.asarray(near)


@dataclass(frozen=True, eq=False)
class PickedRows:
    """Some of the rows that another ensemble member keeps, so that they are kept once.

    Attributes
    ----------
    whole : CompletedRows
    some : ndarray of int
        Which of them.
    variance : ndarray of shape (len(some),)
        Mean posterior variance of each row's features.
    """

    whole: CompletedRows
    some: NDArray[np.integer]
    variance: FloatArray

    @classmethod
    def of(cls, rows: CompletedRows, whole: CompletedRows) -> "PickedRows | None":
        """Find rows among others; None if not all are there."""
        place = {row.tobytes(): i for i, row in enumerate(whole.X)}
        some = [place.get(row.tobytes(), -1) for row in rows.X]
        if min(some, default=0) < 0 or rows.X.dtype != whole.X.dtype:
            return None
        return cls(whole, np.array(some, np.min_scalar_type(len(whole.X))), rows.variance)

    @property
    def X(self) -> FloatArray:
        """Their features."""
        return np.asarray(self.whole.X[self.some])


@dataclass(frozen=True, eq=False)
class KernelRegression:
    """Labels of rows from their kernel with landmark rows.

    Attributes
    ----------
    average : Average
        Completes features.
    landmarks : CompletedRows or PickedRows
        What rows are compared with.
    coefficients : ndarray of shape (number of landmarks, n_labels)
        What the kernel with a landmark adds to a label's log-odds.
    intercept : ndarray of shape (n_labels,)
    variance : float
        Prior variance of a row's log-odds.
    """

    average: Average
    landmarks: CompletedRows | PickedRows
    coefficients: FloatArray
    intercept: FloatArray
    variance: float
    name: str = "rbf kernel"

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict labels from features; features themselves are not predicted (NaN)."""
        return self.of(CompletedRows.of(self.average, observed))

    def of(self, rows: CompletedRows) -> Prediction:
        """Predict labels of rows whose features are completed already."""
        n, d = rows.X.shape
        mean = np.full((n, d + len(self.intercept)), np.nan)
        for first in range(0, n, BLOCK):
            some = slice(first, first + BLOCK)
            mean[some, d:] = self.log_odds(rows.take(some).radial(self.landmarks))
        return Prediction(mean, np.full((n, d), np.nan))

    def log_odds(self, near: FloatArray) -> FloatArray:
        """Give the labels' log-odds of rows by their kernel with the landmarks."""
        return np.asarray(self.intercept + near @ self.coefficients)


def kernel_path(
    average: Average,
    rows: CompletedRows,
    labels: FloatArray,
    keys: NDArray[np.uint64],
    variances: Sequence[float] = VARIANCES,
) -> Iterator[KernelRegression]:
    """Fit every label for growing variances, each from the one before; all have the same landmarks.

    Parameters
    ----------
    average : Average
        What completed the rows.
    rows : CompletedRows
        There must be some features.
    labels : ndarray of shape (n_rows, n_labels)
        0 or 1; NaN where unknown.
    keys : ndarray of shape (n_rows,)
        Where there are too many rows, those with the smallest keys are used, or are landmarks.
    variances : sequence of float
    """
    some = np.flatnonzero(~np.isnan(labels).all(axis=1))
    some = some[np.argsort(keys[some], kind="stable")[:MOST_ROWS]]
    compared, Y = rows.take(some), labels[some]
    landmarks = compared.take(slice(LANDMARKS)).compact()
    kernel = compared.radial(landmarks)
    # Whatever is not known of a row, it is like itself.
    np.fill_diagonal(kernel, 1)
    directions = _Directions.of(kernel)
    base = average.encoding.offsets[rows.X.shape[1] :].astype(np.float64)
    W: FloatArray = np.zeros((1, Y.shape[1]))
    for variance in variances:
        some_directions = directions.at(variance)
        start = np.zeros((len(some_directions.squares) + 1, Y.shape[1]))
        start[: len(W)] = W
        W = _modes(some_directions, variance, Y, base, start)
        coefficients = some_directions.basis @ W[1:]
        yield KernelRegression(average, landmarks, coefficients, base + W[0], variance)


class _Directions(NamedTuple):
    """Principal directions of a kernel on some rows, the longest first.

    Attributes
    ----------
    design : ndarray of shape (n_rows, k)
        The kernel is nearly design · designᵀ, and designᵀ · design is diagonal.
    squares : ndarray of shape (k,)
        That diagonal.
    basis : ndarray of shape (n_compared, k)
        Takes what rows are compared by to the directions.
    """

    design: FloatArray
    squares: FloatArray
    basis: FloatArray

    @classmethod
    def of(cls, kernel: FloatArray) -> "_Directions":
        """Find them for rows by their kernels with landmarks, which are the first of the rows."""
        values, vectors = _eigen(kernel[: kernel.shape[1]])
        kept = values > 1e-10 * values[0]
        values, root = values[kept], vectors[:, kept] / np.sqrt(values[kept])
        if len(kernel) == kernel.shape[1]:
            return cls(vectors[:, kept] * np.sqrt(values), values, root)
        nystroem = kernel @ root
        squares, turn = _eigen(nystroem.T @ nystroem)
        kept = squares > 1e-10 * max(squares[0], 1e-300)
        return cls(nystroem @ turn[:, kept], squares[kept], root @ turn[:, kept])

    def at(self, variance: float) -> "_Directions":
        """Leave out those that hardly matter for a prior variance."""
        count = int(np.count_nonzero(variance * self.squares > NEGLIGIBLE))
        return _Directions(self.design[:, :count], self.squares[:count], self.basis[:, :count])


def _eigen(symmetric: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Eigenvalues, the largest first, and eigenvectors."""
    values, vectors = np.linalg.eigh(symmetric)
    return values[::-1], vectors[:, ::-1]


def _modes(
    directions: _Directions, variance: float, Y: FloatArray, base: FloatArray, W: FloatArray
) -> FloatArray:
    """Find the most probable coefficients of each label, by Newton steps from some on.

    Row 0 of W is the offset's distance from ``base``. A step may be cut. A row of which a label is not known
    has no part in it.
    """
    W = W.copy()
    design = np.column_stack((np.ones(len(Y)), directions.design))
    squares = np.concatenate(([len(Y)], directions.squares))
    ridge = np.concatenate(([OFFSET_PRECISION[1]], np.full(len(squares) - 1, 1 / variance)))[:, None]
    known, Y = ~np.isnan(Y), np.nan_to_num(Y)
    F = design @ W
    left = np.arange(W.shape[1])
    for _ in range(STEPS if W.size else 0):
        seen, y, o, w, f = known[:, left], Y[:, left], base[left], W[:, left], F[:, left]
        p = expit(o + f)
        curvature = seen * p * (1 - p)
        slope = design.T @ (seen * (y - p)) - ridge * w
        # Directions are orthogonal: were all curvatures equal, this would be the Hessian itself.
        step = _newton_step(
            design, curvature, ridge, ridge + np.outer(squares, curvature.mean(axis=0)), slope
        )
        change = design @ step
        value, size = _log_probability(w, f, y, o, seen, ridge), np.zeros(len(left))
        for part in STEP_SIZES:
            new = _log_probability(w + part * step, f + part * change, y, o, seen, ridge)
            size[(size == 0) & (new >= value)] = part
            if size.all():
                break
        W[:, left], F[:, left] = w + size * step, f + size * change
        left = left[np.abs(size * change).max(axis=0) >= STEP_TOL]
        if not left.size:
            break
    return W


def _newton_step(
    design: FloatArray, curvature: FloatArray, ridge: FloatArray, diagonal: FloatArray, slope: FloatArray
) -> FloatArray:
    """Solve (designᵀ C design + ridge) S = slope for every label by preconditioned conjugate gradients."""
    residual, S = slope.copy(), np.zeros_like(slope)
    preconditioned = residual / diagonal
    direction = preconditioned.copy()
    left: FloatArray = np.einsum("kl,kl->l", residual, preconditioned)
    enough = INNER_TOL**2 * left
    tiny = np.finfo(float).tiny
    for _ in range(INNER_STEPS):
        if (left <= enough).all():
            break
        turned = design.T @ (curvature * (design @ direction)) + ridge * direction
        pace = left / np.maximum(np.einsum("kl,kl->l", direction, turned), tiny)
        S += pace * direction
        residual -= pace * turned
        preconditioned = residual / diagonal
        before, left = left, np.einsum("kl,kl->l", residual, preconditioned)
        direction = preconditioned + left / np.maximum(before, tiny) * direction
    return S


def _log_probability(
    W: FloatArray, F: FloatArray, Y: FloatArray, base: FloatArray, known: BoolArray, ridge: FloatArray
) -> FloatArray:
    """Log-probability of each label's cells and of its coefficients, but for a constant."""
    Z = base + F
    likelihood = np.where(known, -log_loss(Z, Y), 0)
    return np.asarray(likelihood.sum(axis=0) - (ridge * W**2).sum(axis=0) / 2)
