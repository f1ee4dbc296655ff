"""The objective as a function of the columns' factors alone: every row is at its minimum given these.

    φ(V, o) = Σ_i min over u_i of [ losses of row i + λ1/2 ‖u_i‖² ] + λ1/2 ‖V‖²

Rows do not depend on each other, so that they stay in their blocks, wherever these are; what travels is V,
once to every block, and sums of its size. φ is smooth: at the rows' minimum its gradient is that of the
losses, and its Hessian follows from theirs and every row's own k × k matrix (variable projection). Features
enter as in :mod:`.factors`: squared, or as constraints of an augmented Lagrangian.
"""

from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Reference
from cocomplete.problem.block_certificate import BlockDual
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.objective import Objective
from cocomplete.solvers.eliminated_block import (
    RowSums,
    Turn,
    begun,
    constrained,
    curved,
    dual_rows,
    feature_slopes,
    product,
    residuals,
    visited,
)
from cocomplete.solvers.factored_losses import PADDING
from cocomplete.solvers.loss_block import RowStep
from cocomplete.spectral import Census, SparseSpectrum

ROW_STEPS = (4, 30)
"""Most Newton steps of a row, and most conjugate-gradient steps in each: φ has its gradient where rows are at
their minimum."""


@dataclass(frozen=True, eq=False)
class ColumnPoint:
    """Columns, the rows that follow them, and φ there.

    Attributes
    ----------
    V : ndarray of shape (m, width)
        Offsets, factors, and zeros that pad the width.
    k : int
        Number of factors.
    rows : list
        References to what the blocks keep.
    sums : RowSums
        Over all rows.
    value : float
        φ.
    """

    V: FloatArray
    k: int
    rows: list[Reference]
    sums: RowSums
    value: float

    @property
    def offsets(self) -> FloatArray:
        """Offsets of the columns."""
        return self.V[:, 0].copy()


@dataclass(frozen=True, eq=False)
class Basis:
    """The gauge of the SVD at a point: UᵀU = VᵀV = diag(s).

    Attributes
    ----------
    s : ndarray of shape (new k,)
        Singular values of M that are kept.
    V : ndarray of shape (m, width)
        Offsets and factors of the columns in it.
    turn : Turn
        What brings rows to it.
    trace_norm : float
        Sum of all singular values of M.
    """

    s: FloatArray
    V: FloatArray
    turn: Turn
    trace_norm: float


class ColumnObjective:
    """φ and what Newton's method needs of it.

    Parameters
    ----------
    objective : Objective
        Of :class:`CellBlocks`, with λ2 = 0 or λ2 ≥ λ1.
    """

    def __init__(self, objective: Objective) -> None:
        self.objective = objective
        self.cells: CellBlocks = objective.blocks
        self.engine, self.dtype = self.cells.engine, np.dtype(objective.dtype)
        self.n, self.m = self.cells.shape
        self.ridge = float(objective.rank_penalty)
        self.interpolates = objective.regime == "interpolation"
        self.rho = 2 * float(objective.feature_weight)
        self.counts = objective.census.counts

    # -- points --------------------------------------------------------------------------------------

    def pack(self, V: FloatArray, offsets: FloatArray) -> FloatArray:
        """Put offsets and factors side by side, padded to whole registers."""
        k = V.shape[1]
        out = np.zeros((self.m, (k + PADDING) // PADDING * PADDING), self.dtype)
        out[:, 0], out[:, 1 : k + 1] = offsets, V
        # A column with nothing observed has nothing but its offset, exactly.
        out[self.counts == 0, 1:] = 0
        return out

    def begin(self) -> list[Reference]:
        """Give rows without factors."""
        return self.engine.map(begun, self.cells.blocks, constrained=self.interpolates)

    def at(
        self, V: FloatArray, k: int, rows: list[Reference], decrement: float, turn: Turn | None = None
    ) -> ColumnPoint:
        """Bring all rows to their minimum given V.

        Parameters
        ----------
        V : ndarray of shape (m, width)
        k : int
        rows : list
            What rows begin with; it stays as it is.
        decrement : float
            A row is done when a Newton step would gain less.
        turn : Turn, optional
            Basis that V has, if it is another than the rows'.
        """
        how = RowStep(self.rho, self.ridge, decrement, ROW_STEPS)
        shared: dict[str, Any] = {"V": V, "k": k, "how": how, "turn": turn}
        states, results = self.engine.advance(visited, self.cells.blocks, rows, **shared)
        sums = reduce(RowSums.plus, results)
        factors = V[:, 1:].astype(np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(np.trace(sums.gram)) + float(np.vdot(factors, factors))
            value = sums.feature_cost + sums.label_cost + 0.5 * self.ridge * size
        return ColumnPoint(V, k, states, sums, value)

    def gradient(self, point: ColumnPoint) -> FloatArray:
        """Gradient of φ, shape of V."""
        gradient = point.sums.gradient.copy()
        gradient[:, 1:] += self.ridge * point.V[:, 1:]
        self.freeze(gradient)
        return gradient

    def freeze(self, step: FloatArray) -> None:
        """Zero what must not move: offsets that are fixed, and what pads the width."""
        if not self.objective.free_offsets:
            step[:, 0] = 0

    def basis(self, point: ColumnPoint, drop: float = 0.0) -> Basis:
        """Find the gauge of the SVD; with free offsets, the rows' factors are centred first.

        Parameters
        ----------
        point : ColumnPoint
        drop : float
            The smallest singular values go as long as they sum to less than this.
        """
        k, sums = point.k, point.sums
        V = point.V[:, 1 : k + 1].astype(np.float64)
        offsets, mean = point.V[:, 0].astype(np.float64), np.zeros(k)
        gram = sums.gram
        if self.objective.free_offsets:
            mean = sums.total / self.n
            gram, offsets = gram - self.n * np.outer(mean, mean), offsets + V @ mean
        squares, vectors = np.linalg.eigh(gram)
        root = np.sqrt(np.maximum(squares, 0))
        Q, R = np.linalg.qr(V)
        # M = (U − mean) Vᵀ has the singular values of diag(root) · vectorsᵀ · Rᵀ.
        _, s, right = np.linalg.svd((root[:, None] * vectors.T) @ R.T, full_matrices=False)
        # The Gram matrix knows them up to the root of rounding.
        large = s > (s[0] if s.size else 0) * 1e-7
        kept = large & (np.cumsum(s[::-1])[::-1] > drop)
        s, right = s[kept], right[kept].T
        factors = Q @ right * np.sqrt(s)
        turn = Turn(mean.astype(self.dtype), (R.T @ right / np.sqrt(s)).astype(self.dtype))
        return Basis(s, self.pack(factors, offsets), turn, float(s.sum()))

    # -- curvature -----------------------------------------------------------------------------------

    def slopes(self, point: ColumnPoint) -> tuple[list[Reference], FloatArray]:
        """Keep slopes and curvatures with the blocks; give the diagonal of the losses' Hessian."""
        shared = {"V": point.V, "k": point.k, "rho": self.rho, "ridge": self.ridge}
        slopes, diagonals = self.engine.advance(curved, self.cells.blocks, point.rows, **shared)
        diagonal = reduce(np.add, diagonals)
        return slopes, diagonal

    def times(self, point: ColumnPoint, slopes: list[Reference], dV: FloatArray) -> FloatArray:
        """Hessian of φ times a direction."""
        shared: dict[str, Any] = {
            "V": point.V,
            "dV": dV.astype(self.dtype),
            "k": point.k,
            "rho": self.rho,
            "ridge": self.ridge,
        }
        found = reduce(np.add, self.engine.collect(product, self.cells.blocks, point.rows, slopes, **shared))
        found[:, 1:] += self.ridge * dV[:, 1:]
        self.freeze(found)
        return np.asarray(found)

    # -- features as constraints ---------------------------------------------------------------------

    def constrain(self, point: ColumnPoint, slopes: list[Reference], share: float) -> list[Reference]:
        """Take multipliers over from the slopes of the features; rows stay where they are."""
        return self.engine.map(constrained, point.rows, slopes, share=share)

    def multiplier_norm(self, slopes: list[Reference]) -> float:
        """Spectral norm of the features' slopes."""
        return self._of_features(feature_slopes, self.cells.blocks, slopes).largest()

    def residual_norm(self, point: ColumnPoint, slopes: list[Reference]) -> float:
        """Trace norm of the features' residual; infinite if there are too many columns to know it."""
        found = self._of_features(residuals, self.cells.blocks, point.rows, slopes)
        return found.trace_norm() / self.rho

    def _of_features(self, function: Any, *blocks: Any) -> SparseSpectrum:
        census = Census(self.n, self.cells.n_features, self.cells.size, 0.0, self.dtype)
        return SparseSpectrum(self.engine.derive(function, *blocks), engine=self.engine, census=census)

    # -- certificate ---------------------------------------------------------------------------------

    def dual(self, slopes: list[Reference]) -> BlockDual:
        """Give the slopes as a dual matrix, balanced where offsets are free."""
        rows = self.engine.derive(dual_rows, slopes)
        found = BlockDual(self.cells, rows, self.counts, squared=not self.interpolates)
        return found.balanced() if self.objective.free_offsets else found
