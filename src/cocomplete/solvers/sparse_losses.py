"""Losses of a factored model over tables whose absent cells are observed zeros, without visiting them all.

Squared errors of features need no more than Gram matrices, Σ (u·v)² = ⟨UᵀU, VᵀV⟩, and corrections in the
cells that are stored. Labels are worked out in panels, some rows by all labels, which are dropped at once.
Tables whose absent cells are unknown are passed over cell by cell, as everywhere.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.engines.row_blocks import InProcess, row_bounds
from cocomplete.kernels.panels import MOST_ROWS, logistic_panel
from cocomplete.problem.sparse_encoding import Background, SparseCells
from cocomplete.solvers.factored_losses import FactoredLosses, Slopes

BLOCK_ROWS = 512
"""Rows of a block, which one thread visits at a time."""

LEAST_CURVATURE = 1e-3
"""What counts as the curvature of an offset that has next to none: a label all of whose zeros are certain."""

PANEL_NUMBERS = 1_280_000
"""Numbers of a panel of labels: few enough for the processor's cache."""


@dataclass(frozen=True, eq=False)
class SparseSlopes(Slopes):
    """What one evaluation leaves behind; ``gx``, ``gy`` and ``hy`` are of the cells that are passed over.

    Attributes
    ----------
    label_curvature : ndarray of shape (n_labels,)
        Σ p (1 − p) over the rows, for labels in panels.
    """

    label_curvature: FloatArray


@dataclass(frozen=True, eq=False)
class Panel:
    """Some rows by all labels.

    Attributes
    ----------
    rows : slice
        Within the block.
    loss : float
    slopes : ndarray of shape (number of rows, n_labels)
        p − y, 0 where unknown. The memory is used again for the next panel.
    start, column, value : ndarray
        The stored cells.
    """

    rows: slice
    loss: float
    slopes: FloatArray
    start: NDArray[np.integer]
    column: NDArray[np.integer]
    value: FloatArray


@dataclass(frozen=True, eq=False)
class SparseBlock:
    """Some rows of features and of labels whose absent cells are zeros.

    Attributes
    ----------
    rows : slice
        Of the table.
    features : Background or None
    labels : csr_array or None
    """

    rows: slice
    features: Background | None
    labels: sparse.csr_array | None

    def panels(
        self,
        U: FloatArray,
        V: FloatArray,
        curvature: FloatArray,
        more: Callable[[slice, FloatArray], None] | None = None,
    ) -> Iterator[Panel]:
        """Work the labels out, panel by panel.

        Parameters
        ----------
        U : ndarray of shape (number of rows, width)
        V : ndarray of shape (n_labels, width)
        curvature : ndarray of shape (n_labels,)
            Added to.
        more : callable, optional
            Called with rows, within the block, and their log-odds, to which it adds.
        """
        assert self.labels is not None
        labels, Vt = self.labels, V.T
        most = max(min(MOST_ROWS, PANEL_NUMBERS // max(len(V), 1)), 1)
        bounds = row_bounds(len(U), 1, most)
        room = np.empty((2, max(last - first for first, last in bounds), len(V)), V.dtype)
        for first, last in bounds:
            T, E = room[:, : last - first]
            np.matmul(U[first:last], Vt, out=T)
            if more is not None:
                more(slice(first, last), T)
            stored = (labels.indptr[first : last + 1], labels.indices, labels.data)
            loss = logistic_panel(T, E, *stored, curvature)
            yield Panel(slice(first, last), loss, E, *stored)


class SparseLosses(FactoredLosses):
    """Passes over a sparse table.

    Parameters
    ----------
    table : SparseCells
    """

    def __init__(self, table: SparseCells) -> None:
        super().__init__(table.explicit)
        self.table = table
        self.d = table.n_features
        features, labels = table.features, table.labels
        self.sparse_blocks = [
            SparseBlock(
                slice(first, last),
                None if features is None else features.take(slice(first, last)),
                None if labels is None else labels[first:last],
            )
            for first, last in row_bounds(self.n, 1, BLOCK_ROWS)
        ]
        if features is not None or labels is not None:
            self.empty_rows = np.zeros(self.n, bool)
        if features is not None:
            self.empty_columns[: self.d] = False
        if labels is not None:
            self.empty_columns[self.d :] = False

    def evaluate(self, W: FloatArray, multiplier: FloatArray, rho: float, *, gradient: bool) -> SparseSlopes:
        """Losses at W and, on request, the gradient."""
        passed = self.listed(W, multiplier, rho, gradient=gradient)
        G = passed.gradient
        squares, label_cost, curvature = 0.0, passed.label_cost, np.zeros(self.m - self.d, W.dtype)
        if self.table.features is not None:
            squares = self._features(W, rho, G)
        if self.table.labels is not None:
            cost, curvature = self._labels(W, G)
            label_cost += cost
        return SparseSlopes(
            passed.feature_cost + 0.5 * rho * squares,
            passed.squares + squares,
            label_cost,
            passed.gx,
            passed.gy,
            passed.hy,
            G,
            curvature,
        )

    def listed(self, W: FloatArray, multiplier: FloatArray, rho: float, *, gradient: bool) -> Slopes:
        """Losses of the cells that are listed one by one, slopes in them and, on request, the gradient."""
        cells = self.cells
        if cells.x_value.size + cells.y_value.size:
            return super().evaluate(W, multiplier, rho, gradient=gradient)
        nothing = np.empty(0, W.dtype)
        return Slopes(0.0, 0.0, 0.0, nothing, nothing, nothing, np.zeros_like(W) if gradient else None)

    def shifted_features(self, W: FloatArray) -> FloatArray:
        """Factors of the features, offsets counted from the background's value."""
        assert self.table.features is not None
        V = W[self.n : self.n + self.d].copy()
        V[:, 0] -= self.table.features.base
        return V

    def feature_squares(self, W: FloatArray) -> float:
        """Σ e² over all known features, absent ones included."""
        return self._features(W, 0.0, None)

    def _features(self, W: FloatArray, rho: float, G: FloatArray | None) -> float:
        """Squared errors of all features; their gradient is added to G."""
        V = self.shifted_features(W)
        gram = _gram(V)
        own = gram.astype(W.dtype)

        def of_block(block: SparseBlock) -> tuple[FloatArray, float, FloatArray | None]:
            features, U = block.features, W[block.rows]
            assert features is not None
            stored = features.above @ V
            hidden = hidden_cells(features.unknown, U, V)
            squares = features.above.data @ features.above.data.astype(np.float64)
            squares -= 2 * np.einsum("ij,ij->", U, stored, dtype=np.float64)
            if hidden is not None:
                squares -= hidden.data @ hidden.data.astype(np.float64)
            if G is None:
                return _gram(U), squares, None
            GU, GV = U @ own - stored, features.above.T @ U
            if hidden is not None:
                GU, GV = GU - hidden @ V, GV + hidden.T @ U
            G[block.rows] += rho * GU
            return _gram(U), squares, GV

        total, sums = 0.0, np.zeros_like(gram)
        for gram_U, squares, GV in InProcess.visit(self.sparse_blocks, of_block):
            total, sums = total + squares, sums + gram_U
            if G is not None and GV is not None:
                G[self.n : self.n + self.d] -= rho * GV
        if G is not None:
            G[self.n : self.n + self.d] += rho * (V @ sums.astype(W.dtype))
        return float(total + np.vdot(gram, sums))

    def _labels(self, W: FloatArray, G: FloatArray | None) -> tuple[float, FloatArray]:
        """Log-loss of all labels, and curvatures; their gradient is added to G."""
        V = W[self.n + self.d :]

        def of_block(block: SparseBlock) -> tuple[float, FloatArray, FloatArray | None]:
            U, curvature = W[block.rows], np.zeros(len(V), W.dtype)
            GV = None if G is None else np.zeros_like(V)
            # Room for every panel in turn: to ask for it again takes longer than to fill it.
            room = np.empty_like(V)
            total = 0.0
            for panel in block.panels(U, V, curvature):
                total += panel.loss
                if G is not None and GV is not None:
                    G[block.rows][panel.rows] += panel.slopes @ V
                    GV += np.matmul(panel.slopes.T, U[panel.rows], out=room)
            return total, curvature, GV

        total, curvature = 0.0, np.zeros(len(V))
        for cost, own, GV in InProcess.visit(self.sparse_blocks, of_block):
            total, curvature = total + cost, curvature + own
            if G is not None and GV is not None:
                G[self.n + self.d :] += GV
        return total, curvature.astype(W.dtype)

    def preconditioner(self, W: FloatArray, slopes: SparseSlopes, rho: float) -> FloatArray:
        """Gauss–Newton diagonal, shape of W; in panels every row has its column's mean curvature."""
        n, weight = self.n, self.column_weights(slopes, rho)
        listed = self.cells.x_value.size + self.cells.y_value.size > 0
        diagonal = self.curvature(W, slopes, rho, W.dtype.type).diagonal() if listed else np.zeros_like(W)
        lengths = np.einsum("ij,ij->j", W[:n], W[:n], dtype=np.float64)
        diagonal[:n] += (weight @ (W[n:].astype(np.float64) ** 2)).astype(W.dtype)
        diagonal[n:] += np.outer(weight, lengths).astype(W.dtype)
        return diagonal

    def column_weights(self, slopes: SparseSlopes, rho: float) -> FloatArray:
        """Mean curvature of the cells of every column whose absent cells are zeros; 0 for the others."""
        weight = np.zeros(self.m)
        if self.table.features is not None:
            weight[: self.d] = rho
        if self.table.labels is not None:
            weight[self.d :] = slopes.label_curvature / self.n
        return weight


def hidden_cells(unknown: sparse.csr_array, U: FloatArray, V: FloatArray) -> sparse.csr_array | None:
    """Give the model's values in cells that are not known; None if all are."""
    if unknown.nnz == 0:
        return None
    row = np.repeat(np.arange(len(U)), np.diff(unknown.indptr))
    values = np.einsum("qr,qr->q", U[row], V[unknown.indices])
    return sparse.csr_array((values, unknown.indices, unknown.indptr), shape=unknown.shape)


def _gram(factor: FloatArray) -> FloatArray:
    """Gram matrix of the columns, in double precision: large sums are subtracted from each other."""
    double = factor.astype(np.float64, copy=False)
    return np.asarray(double.T @ double)
