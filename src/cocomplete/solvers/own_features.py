"""Labels by the factors that features alone give a row, and by a few features of each label's own.

The factors of a fit know every row's labels; of a new row they know its features. So the labels' columns are
solved once more, for rows by their features alone, together with coefficients S of single features that say
more of a label than the factors do:  z = o + u(x)·v + x·s. A pair of a feature and a label is listed if its
score test stands out; S is as sparse as that. Each label's problem is convex, and all are solved together.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.checkpoint import Stage
from cocomplete.engines.row_blocks import InProcess, row_bounds
from cocomplete.frozen import FieldsAlone
from cocomplete.interrupts import stop_requested
from cocomplete.kernels.panels import listed_log_odds, listed_slopes
from cocomplete.solvers.lbfgs import lbfgs
from cocomplete.solvers.sparse_losses import BLOCK_ROWS, SparseBlock
from cocomplete.table.sparse_matrix import SparseMatrix

STANDS_OUT = 4.0
"""Standard deviations of its score from which on a pair is listed: of thousands by chance, a handful."""

MOST = 20
"""Features of a label, those that stand out most: rows by labels must stay sparse."""

RIDGE = 3.0
"""Prior precision of a coefficient, per usual size of its feature: log-odds of a few at most."""

LEAST_EXPECTED = 0.5
"""Added to a score's variance, so that a pair seen once or twice does not stand out."""

STEPS, ROUND = 20, 10
"""Steps of L-BFGS, and of a round of them."""

ENOUGH = 1e-3
"""Share of the loss below which a round's gain is the last."""

CHUNK_NUMBERS = 2_000_000
"""Scores of pairs that are worked out together."""


@dataclass(frozen=True, eq=False)
class OwnFeatures(FieldsAlone):
    """How labels follow from features.

    Attributes
    ----------
    V : ndarray of shape (n_labels, rank)
        Of the labels that vary.
    offsets : ndarray of shape (n_labels,)
    unit : ndarray of shape (n_features,)
        Usual size of each feature where it is stored.
    start, label, weight : ndarray
        Coefficients, feature by feature: where each begins, labels, and values.
    """

    V: FloatArray
    offsets: FloatArray
    unit: FloatArray
    start: NDArray[np.int64]
    label: NDArray[np.int32]
    weight: FloatArray

    @classmethod
    def fit(
        cls,
        X: SparseMatrix,
        Y: sparse.csr_array,
        U: FloatArray,
        V: FloatArray,
        offsets: FloatArray,
        ridge: float,
        steps: int = STEPS,
        stage: Stage | None = None,
    ) -> "OwnFeatures":
        """Fit to rows.

        Parameters
        ----------
        X : SparseMatrix of shape (n_samples, n_features)
            Absent cells are zeros.
        Y : csr_array of shape (n_samples, n_labels)
            Likewise; NaN is unknown.
        U : ndarray of shape (n_samples, rank)
            Left factors by the features alone.
        V, offsets : ndarray
            To start from.
        ridge : float
            Weight of ‖V‖²/2.
        steps : int
            Most steps of L-BFGS.
        stage : Stage, optional
            Where rounds of them are stored; what is found there is gone on from.
        """
        dtype = U.dtype
        unit = _usual_sizes(X)
        x = _in_units(X, unit).astype(dtype)
        reached = None if stage is None else stage.load()
        state = None if reached is None else reached.head
        if state is None:
            pairs = _listed(x, Y, U, V, offsets)
            W = np.concatenate((V.ravel(), offsets, np.zeros(pairs[1].size))).astype(dtype)
            state = OwnState(pairs, W, None, 0)
        start, label, _ = state.pairs
        problem = _Problem(x, Y.astype(dtype), U, ridge, start, label, V.shape)
        V, offsets, weight = problem.unpacked(_descended(problem, state, steps, stage))
        return cls(V, offsets, unit, start, label, weight)

    def log_odds(self, X: SparseMatrix, U: FloatArray) -> FloatArray:
        """Give log-odds of the labels that vary for some rows."""
        z = U @ self.V.T + self.offsets
        shape = (len(self.unit), len(self.V))
        own = _in_units(X, self.unit).astype(z.dtype) @ sparse.csr_array(
            (self.weight, self.label, self.start), shape=shape
        )
        z[np.repeat(np.arange(len(z)), np.diff(own.indptr)), own.indices] += own.data
        return np.asarray(z)


class OwnState(NamedTuple):
    """All that the next round of steps depends on, but for what follows from the table.

    Attributes
    ----------
    pairs : tuple of ndarray
        Where each feature's listed labels begin, the labels, and their scores' variances.
    W : ndarray
        The labels' columns, offsets and coefficients.
    inverse : ndarray or None
        Inverse diagonal of the Hessian; None before the first round.
    taken : int
        Steps so far; as many as there may be if the gains have ended.
    """

    pairs: tuple[NDArray[np.int64], NDArray[np.int32], FloatArray]
    W: FloatArray
    inverse: FloatArray | None
    taken: int


@dataclass(frozen=True, eq=False)
class _Point:
    W: FloatArray
    value: float
    gradient: FloatArray
    curvature: FloatArray


class _Problem:
    """The labels' losses as a function of their columns and of the listed coefficients."""

    def __init__(
        self,
        x: sparse.csr_array,
        Y: sparse.csr_array,
        U: FloatArray,
        ridge: float,
        start: NDArray[np.int64],
        label: NDArray[np.int32],
        shape: tuple[int, int],
    ) -> None:
        self.x, self.U, self.ridge = x, U, ridge
        self.start, self.label, self.shape = start, label, shape
        self.blocks = [SparseBlock(slice(a, b), None, Y[a:b]) for a, b in row_bounds(len(U), 1, BLOCK_ROWS)]

    def unpacked(self, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give V, offsets and coefficients."""
        n_labels, k = self.shape
        V, offsets, weight = np.split(W, [n_labels * k, n_labels * (k + 1)])
        return V.reshape(self.shape), offsets, weight

    def evaluate(self, W: FloatArray) -> _Point:
        """Value, gradient and the labels' curvatures."""
        V, offsets, weight = self.unpacked(W)
        stacked = np.hstack((offsets[:, None], V))

        def of_block(block: SparseBlock) -> tuple[float, FloatArray, FloatArray, FloatArray]:
            U = np.hstack((np.ones((block.rows.stop - block.rows.start, 1), W.dtype), self.U[block.rows]))
            x = self.x[block.rows]
            G, own, curvature = np.zeros_like(stacked), np.zeros_like(weight), np.zeros(len(V), W.dtype)
            room = np.empty_like(stacked)

            def add_listed(rows: slice, T: FloatArray) -> None:
                start = x.indptr[rows.start : rows.stop + 1]
                listed_log_odds(T, start, x.indices, x.data, self.start, self.label, weight)

            total = 0.0
            for panel in block.panels(U, stacked, curvature, add_listed):
                total += panel.loss
                G += np.matmul(panel.slopes.T, U[panel.rows], out=room)
                rows = x.indptr[panel.rows.start : panel.rows.stop + 1]
                listed_slopes(panel.slopes, rows, x.indices, x.data, self.start, self.label, own)
            return total, G, own, curvature

        total, G, own, curvature = 0.0, np.zeros(stacked.shape), np.zeros(weight.shape), np.zeros(len(V))
        for loss, of_V, of_weight, bend in InProcess.visit(self.blocks, of_block):
            total += loss
            # In place: sums are as large as the factors, and there are many blocks.
            G += of_V
            own += of_weight
            curvature += bend
        value = total + 0.5 * self.ridge * float(np.vdot(V, V)) + 0.5 * RIDGE * float(weight @ weight)
        gradient = np.concatenate(((G[:, 1:] + self.ridge * V).ravel(), G[:, 0], own + RIDGE * weight))
        return _Point(W, value, gradient.astype(W.dtype), curvature)

    def inverse(self, point: _Point, variance: FloatArray) -> FloatArray:
        """Inverse diagonal of the Hessian, roughly."""
        lengths = np.einsum("ij,ij->j", self.U, self.U) / len(self.U)
        of_V = np.outer(point.curvature, lengths) + self.ridge
        diagonal = np.concatenate((of_V.ravel(), point.curvature, variance + RIDGE))
        return np.asarray(1 / np.maximum(diagonal, 1e-12), point.W.dtype)


def _descended(problem: _Problem, state: OwnState, steps: int, stage: Stage | None) -> FloatArray:
    """Take steps as long as they gain something."""
    if state.taken >= steps:
        return state.W
    point = problem.evaluate(state.W)
    inverse = problem.inverse(point, state.pairs[2]) if state.inverse is None else state.inverse
    for taken in range(state.taken, steps, ROUND):
        before = point.value
        point, _ = lbfgs(problem.evaluate, point, inverse, ROUND)
        last = before - point.value <= ENOUGH * abs(point.value)
        if stage is not None and not stop_requested():
            stage.store(OwnState(state.pairs, point.W, inverse, steps if last else taken + ROUND))
        if last:
            break
    return point.W


def _listed(
    x: sparse.csr_array, Y: sparse.csr_array, U: FloatArray, V: FloatArray, offsets: FloatArray
) -> tuple[NDArray[np.int64], NDArray[np.int32], FloatArray]:
    """List pairs whose score stands out: where each feature's begin, their labels and variances."""
    n, d = x.shape
    squared = x.copy()
    squared.data = x.data**2
    by_label = Y.tocsc()
    step = max(CHUNK_NUMBERS // d, 1)

    def of_labels(bounds: tuple[int, int]) -> sparse.coo_array:
        some = slice(*bounds)
        own = by_label[:, some]
        ones, hidden = own.copy(), own.copy()
        ones.data = (own.data == 1).astype(x.dtype)
        hidden.data = np.isnan(own.data).astype(x.dtype)
        hidden = hidden.tocsr() if hidden.data.any() else None
        score, variance = (x.T @ ones).toarray(), np.zeros((d, bounds[1] - bounds[0]), x.dtype)
        for first, last in row_bounds(n, bounds[1] - bounds[0], CHUNK_NUMBERS):
            rows = slice(first, last)
            P = expit(U[rows] @ V[some].T + offsets[some])
            if hidden is not None:
                P[hidden[rows].nonzero()] = 0
            score -= x[rows].T @ P
            variance += squared[rows].T @ P
        score /= np.sqrt(variance + LEAST_EXPECTED)
        least = np.partition(score, -MOST, axis=0)[-MOST] if d > MOST else -np.inf
        feature, label = np.nonzero((score > STANDS_OUT) & (score >= least))
        values = variance[feature, label] + np.finfo(x.dtype).tiny
        return sparse.coo_array((values, (feature, label + bounds[0])), shape=(d, len(V)))

    bounds = row_bounds(len(V), 1, step)
    found = [part.tocsr() for part in InProcess.visit(bounds, of_labels)]
    whole = sparse.csr_array(sum(found[1:], start=found[0]))
    whole.sort_indices()
    return whole.indptr.astype(np.int64), whole.indices.astype(np.int32), whole.data


def _usual_sizes(X: SparseMatrix) -> FloatArray:
    """Root mean square of every feature's stored values; 1 where there is none."""
    count = X.sums((X.matrix.data != 0).astype(np.float64))
    squares = X.sums(X.matrix.data.astype(np.float64) ** 2)
    return np.sqrt(np.where(squares > 0, squares / np.maximum(count, 1), 1.0))


def _in_units(X: SparseMatrix, unit: FloatArray) -> sparse.csr_array:
    """Give stored values in their features' usual sizes; unknown ones are 0."""
    x = X.matrix.copy()
    x.data = np.nan_to_num(x.data) / unit[x.indices]
    return x
