"""The slopes G of a sparse table's losses as an operator, and the lower bound on F that they prove.

See :mod:`cocomplete.problem.certificate` for the bound. G has as many entries as the table has cells; where
absent cells are zeros it is worked out panel by panel, once for every product with a block of vectors.
"""

from collections.abc import Iterator
from functools import cached_property

import numpy as np
from scipy import sparse
from scipy.special import entr

from cocomplete.arrays import FloatArray
from cocomplete.engines.row_blocks import InProcess
from cocomplete.kernels.panels import balance_panel, conjugate_panel
from cocomplete.problem.certificate import DualPoint
from cocomplete.solvers.sparse_losses import Panel, SparseBlock, SparseLosses, hidden_cells

FEW_COLUMNS = 300
"""Columns up to which all singular values are worked out."""

BLOCK, PASSES = 12, 7
"""Vectors, and products with the matrix, by which its spectral norm is found."""


class SlopeOperator:
    """The slopes at some factors, columns brought to sum to zero where offsets are free.

    Parameters
    ----------
    losses : SparseLosses
    W : ndarray of shape (n + m, width)
    rho : float
        2w.
    free_offsets : bool
    """

    def __init__(self, losses: SparseLosses, W: FloatArray, rho: float, *, free_offsets: bool) -> None:
        self.losses, self.rho, self.free_offsets = losses, rho, free_offsets
        self.W = W.copy()
        self.n, self.d, self.m = losses.n, losses.d, losses.m
        self.up = self.down = np.ones(self.m - self.d, W.dtype)
        if free_offsets and losses.table.features is not None:
            self.W[self.n : self.n + self.d, 0] -= self._feature_means()
        if free_offsets and losses.table.labels is not None:
            self.up, self.down = self._label_shares()

    # -- products --------------------------------------------------------------------------------------

    def gram_times(self, B: FloatArray) -> FloatArray:
        """Give GᵀG B, for B of shape (m, count)."""
        out = np.zeros_like(B)
        for own in InProcess.visit(self.losses.sparse_blocks, lambda block: self._of_block(block, B)[1]):
            out += own
        return out

    def images(self, B: FloatArray) -> FloatArray:
        """Give G B."""
        return np.concatenate(
            list(InProcess.visit(self.losses.sparse_blocks, lambda block: self._of_block(block, B)[0]))
        )

    def leading(self, block: int, passes: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Find the largest singular values by a block Krylov method, all of them if columns are few.

        Parameters
        ----------
        block, passes : int
            Vectors, and products with the matrix.

        Returns
        -------
        values : ndarray of shape (count,)
            In descending order.
        vectors : ndarray of shape (m, count)
            Right singular vectors.
        residuals : ndarray of shape (count,)
            ‖GᵀG v − σ² v‖: how far each square may be off.
        """
        if self.m <= max(FEW_COLUMNS, block * passes):
            squares, vectors = np.linalg.eigh(self.gram_times(np.eye(self.m, dtype=self.W.dtype)))
            order = slice(None, None, -1)
            values = np.sqrt(np.maximum(squares[order], 0))
            return values, vectors[:, order], np.zeros_like(values)
        # A fixed start makes the answer repeatable.
        some = np.random.default_rng(0).standard_normal((self.m, block)).astype(self.W.dtype)
        basis, images = np.empty((self.m, 0), self.W.dtype), np.empty((self.m, 0), self.W.dtype)
        for _ in range(passes):
            some = some - basis @ (basis.T @ some)
            some = np.linalg.qr(some)[0]
            some = np.linalg.qr(some - basis @ (basis.T @ some))[0]
            image = self.gram_times(some)
            basis, images, some = np.hstack((basis, some)), np.hstack((images, image)), image
        small = basis.T @ images
        squares, rotation = np.linalg.eigh((small + small.T) / 2)
        squares, rotation = np.maximum(squares[::-1], 0), rotation[:, ::-1]
        vectors = basis @ rotation
        residuals = np.linalg.norm(images @ rotation - vectors * squares, axis=0)
        return np.sqrt(squares), vectors, residuals

    def norm(self) -> float:
        """Spectral norm, from above: a Ritz value errs downwards by at most the size of its residual."""
        values, _, residuals = self.leading(BLOCK, PASSES)
        return float(np.sqrt(values[0] ** 2 + residuals[0])) if values.size else 0.0

    def _of_block(self, block: SparseBlock, B: FloatArray) -> tuple[FloatArray, FloatArray]:
        """G B of some rows, and what these add to GᵀG B."""
        features, d = block.features, self.d
        U, out = self.W[block.rows], np.zeros_like(B)
        listed = self._listed[block.rows] if self._listed is not None else None
        Z = np.zeros((len(U), B.shape[1]), B.dtype) if listed is None else listed @ B
        if features is not None:
            V = self._V
            hidden = hidden_cells(features.unknown, U, V)
            off = features.above if hidden is None else features.above + hidden
            Z += self.rho * (U @ (V.T @ B[:d]) - off @ B[:d])
        if block.labels is not None:
            for panel in self._panels(block):
                Z[panel.rows] += panel.slopes @ B[d:]
                out[d:] += panel.slopes.T @ Z[panel.rows]
        if features is not None:
            out[:d] += self.rho * (V @ (U.T @ Z) - off.T @ Z)
        if listed is not None:
            out += listed.T @ Z
        return Z, out

    def _panels(self, block: SparseBlock) -> Iterator[Panel]:
        """Panels of the block's labels, balanced."""
        curvature = np.zeros(self.m - self.d, self.W.dtype)
        for panel in block.panels(self.W[block.rows], self.W[self.n + self.d :], curvature):
            if self.free_offsets:
                balance_panel(panel.slopes, panel.start, panel.column, panel.value, self.up, self.down)
            yield panel

    @cached_property
    def _V(self) -> FloatArray:
        """Factors of the features, offsets counted from the background's value."""
        return self.losses.shifted_features(self.W)

    # -- cells that are listed one by one ----------------------------------------------------------------

    @cached_property
    def _point(self) -> DualPoint:
        cells = self.losses.cells
        slopes = self.losses.listed(self.W, np.empty(0, self.W.dtype), self.rho, gradient=False)
        point = DualPoint(slopes.gx, slopes.gx, slopes.gy)
        return point.balanced(cells) if self.free_offsets else point

    @cached_property
    def _listed(self) -> sparse.csr_array | None:
        """Slopes in the cells that are listed, in M's columns; None if there are none."""
        cells = self.losses.cells
        if cells.x_value.size + cells.y_value.size == 0:
            return None
        point = self._point
        dtype = self.W.dtype
        left, right = cells.matrices(point.features.astype(dtype), point.labels.astype(dtype))
        return sparse.csr_array(sparse.hstack((left, right), format="csr"))

    # -- columns that sum to zero ------------------------------------------------------------------------

    def _feature_means(self) -> FloatArray:
        """Mean residual of every feature over its known cells."""
        features = self.losses.table.features
        assert features is not None
        V, U = self.losses.shifted_features(self.W), self.W[: self.n]
        total = V @ U.sum(axis=0, dtype=np.float64) - features.above.sum(axis=0, dtype=np.float64)
        known = self.n - features.unknown.sum(axis=0)
        hidden = hidden_cells(features.unknown, U, V)
        if hidden is not None:
            total = total - hidden.sum(axis=0)
        return np.asarray(total / np.maximum(known, 1), self.W.dtype)

    def _label_shares(self) -> tuple[FloatArray, FloatArray]:
        """Factors for slopes of zeros and of ones: the heavier side is scaled down."""

        def of_block(block: SparseBlock) -> tuple[FloatArray, FloatArray]:
            up, down = np.zeros(self.m - self.d), np.zeros(self.m - self.d)
            curvature = np.zeros(self.m - self.d, self.W.dtype)
            for panel in block.panels(self.W[block.rows], self.W[self.n + self.d :], curvature):
                total = panel.slopes.sum(axis=0, dtype=np.float64)
                stored = slice(panel.start[0], panel.start[-1])
                row = np.repeat(np.arange(len(panel.slopes)), np.diff(panel.start))
                column, ones = panel.column[stored], panel.value[stored] == 1
                negative = np.bincount(column[ones], -panel.slopes[row[ones], column[ones]], len(total))
                up, down = up + total + negative, down + negative
            return up, down

        sums = [np.zeros(self.m - self.d), np.zeros(self.m - self.d)]
        for own in InProcess.visit(self.losses.sparse_blocks, of_block):
            sums = [total + part for total, part in zip(sums, own, strict=True)]
        lighter = np.minimum(*sums)
        # Each label has a 0 and a 1; next to nothing is left of slopes whose sum is rounding.
        tiny = np.finfo(self.W.dtype).tiny
        up, down = (np.maximum(lighter / np.maximum(total, tiny), tiny) for total in sums)
        return up.astype(self.W.dtype), down.astype(self.W.dtype)

    # -- the bound ---------------------------------------------------------------------------------------

    def bound(self, rank_penalty: float) -> float:
        """Lower bound on F: the dual function at these slopes, scaled to a spectral norm of λ1."""
        top = self.norm()
        theta = min(1.0, rank_penalty / top) if top > 0 else 1.0
        value = self._listed_bound(theta)
        if self.losses.table.features is not None:
            value += self._feature_bound(theta)
        if self.losses.table.labels is not None:

            def of_block(block: SparseBlock) -> float:
                return float(sum(conjugate_panel(panel.slopes, theta) for panel in self._panels(block)))

            value -= sum(InProcess.visit(self.losses.sparse_blocks, of_block))
        offsets = self.W[self.n :, 0].astype(np.float64)
        if not self.free_offsets and offsets.any():
            value += theta * float(self._column_sums() @ offsets)
        return value

    def _listed_bound(self, theta: float) -> float:
        cells = self.losses.cells
        if cells.x_value.size + cells.y_value.size == 0:
            return 0.0
        point = self._point
        p = np.clip(cells.y_value + theta * point.labels, 0.0, 1.0).astype(np.float64)
        square = float(point.features @ point.features)
        value = float((entr(p) + entr(1 - p)).sum()) - theta * float(point.features @ cells.x_value)
        return value - theta**2 * square / (2 * self.rho) if square > 0 else value

    def _feature_bound(self, theta: float) -> float:
        """−θ⟨A, X⟩ − θ²‖A‖²/4w, by Gram matrices."""
        features, U = self.losses.table.features, self.W[: self.n]
        assert features is not None
        squares = self.losses.feature_squares(self.W)
        above = features.above
        inner = np.einsum("ij,ij->", U, above @ self._V, dtype=np.float64)
        inner -= above.data @ above.data.astype(np.float64)
        value = -theta * self.rho * float(inner) - 0.5 * theta**2 * self.rho * squares
        if not self.free_offsets and features.base.any():
            value -= theta * float(self._column_sums()[: self.d] @ features.base)
        return value

    def _column_sums(self) -> FloatArray:
        """Σ of every column of G."""
        ones = np.ones((self.n, 1), self.W.dtype)
        out = np.zeros(self.m)
        for block in self.losses.sparse_blocks:
            U = self.W[block.rows]
            if block.features is not None:
                hidden = hidden_cells(block.features.unknown, U, self._V)
                out[: self.d] += self.rho * (self._V @ U.sum(axis=0) - block.features.above.sum(axis=0))
                if hidden is not None:
                    out[: self.d] -= self.rho * hidden.sum(axis=0)
            if block.labels is not None:
                for panel in self._panels(block):
                    out[self.d :] += panel.slopes.sum(axis=0)
        if self._listed is not None:
            out += (self._listed.T @ ones)[:, 0]
        return out
