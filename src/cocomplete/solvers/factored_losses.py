"""The losses of a factored model: passes over row blocks through the engine, reduced in the blocks' order.

The factors are kept stacked in one array W of shape (n + m, width): U above V. Column 0 holds the
offsets: ones in U, o in V. The factors follow, then zero columns that pad the width to whole registers.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Threads
from cocomplete.engines.row_blocks import InProcess, row_bounds
from cocomplete.kernels import row_step
from cocomplete.problem.cells import Cells, Part, column_counts, matrix_blocks
from cocomplete.solvers.loss_block import LossBlock, RowStep
from cocomplete.spectral import Pair, SparseSpectrum

Item = TypeVar("Item")
Result = TypeVar("Result")

PADDING = 8
"""Width is a multiple of this: one AVX-512 register of doubles."""

DENSE = 0.08
"""Share of observed cells above which dense panels beat visiting the cells one by one."""

THREADED = 1_000_000
"""Numbers in the stacked factors from which on arithmetic with them is shared out among threads."""

COLUMN_BLOCKS = 8
"""Blocks of columns in a step of the columns."""


@dataclass(frozen=True, eq=False)
class Slopes:
    """What one evaluation leaves behind.

    Attributes
    ----------
    feature_cost, squares, label_cost : float
        Augmented cost of the features, Σ e², cost of the labels.
    gx, gy : ndarray
        Slope in every observed cell: the matrix G on Ω.
    hy : ndarray
        Curvature of every label cell.
    gradient : ndarray, shape of W, or None
        Gradient of the losses with respect to W.
    """

    feature_cost: float
    squares: float
    label_cost: float
    gx: FloatArray
    gy: FloatArray
    hy: FloatArray
    gradient: FloatArray | None

    def of(self, part: Part) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Give those of some rows: slopes of features and of labels, and the labels' curvatures."""
        return self.gx[part.x], self.gy[part.y], self.hy[part.y]


class FactoredLosses:
    """Passes over one table's cells.

    Parameters
    ----------
    cells : Cells
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.parts = cells.parts()
        self.blocks = [LossBlock(part) for part in self.parts]
        self.n, self.m = cells.shape
        self.dtype = cells.x_value.dtype
        self.empty_rows = np.diff(cells.x_start + cells.y_start) == 0
        self.empty_columns = column_counts(self.parts) == 0
        self.dense = cells.x_value.size + cells.y_value.size > DENSE * self.n * self.m

    def spectrum(self, gx: FloatArray, gy: FloatArray | None, floor: float = float("inf")) -> SparseSpectrum:
        """Singular values of a matrix on Ω, of its features alone without ``gy``; see SparseSpectrum."""
        return SparseSpectrum(matrix_blocks(self.parts, gx, gy), floor)

    def trace_norm(self, gx: FloatArray, less: FloatArray) -> float:
        """Trace norm of ``gx`` − ``less`` on the observed features, which is made block by block."""
        engine = Threads(keeps=False)
        blocks = engine.derive(_difference, self.parts, gx=gx, less=less)
        return SparseSpectrum(blocks, engine=engine).trace_norm()

    @cached_property
    def slices(self) -> list[slice]:
        """Rows of the stacked factors: those of every block, then V."""
        return [*(part.rows for part in self.parts), slice(self.n, self.n + self.m)]

    def shared_out(
        self, items: Sequence[Item], function: Callable[[Item], Result], width: int
    ) -> list[Result]:
        """Apply a function of blocks' rows, or of other items as many, in threads if there is much to do.

        Parameters
        ----------
        items : sequence
        function : callable
        width : int
            Numbers per row.
        """
        if self.n * width < THREADED:
            return list(map(function, items))
        return list(InProcess.visit(items, function))

    def evaluate(self, W: FloatArray, multiplier: FloatArray, rho: float, *, gradient: bool) -> Slopes:
        """Losses at W, slopes on Ω and, on request, the gradient."""
        cells, n, V = self.cells, self.n, W[self.n :]
        gx, gy, hy = np.empty_like(cells.x_value), np.empty_like(cells.y_value), np.empty_like(cells.y_value)
        whole = np.empty_like(W) if gradient else None
        if whole is not None:
            whole[n:] = 0

        def of_block(block: LossBlock) -> tuple[tuple[float, float, float], FloatArray | None]:
            part = block.part
            slopes = gx[part.x], gy[part.y], hy[part.y]
            GU = None if whole is None else whole[part.rows]
            own = _own(multiplier, part)
            return block.evaluate(W[part.rows], V, own, rho, slopes, GU, dense=self.dense)

        sums = np.zeros(3)
        for costs, GV in InProcess.visit(self.blocks, of_block):
            sums += costs
            if whole is not None and GV is not None:
                whole[n:] += GV
        return Slopes(float(sums[0]), float(sums[1]), float(sums[2]), gx, gy, hy, whole)

    def curvature(self, W: FloatArray, slopes: Slopes, rho: float, dtype: type) -> "Curvature":
        """Second-order model of the losses at W, in the precision of the search."""
        return Curvature(self, W, slopes, rho, dtype)

    def row_step(self, W: FloatArray, multiplier: FloatArray, how: RowStep) -> None:
        """Minimise over every row of U given V, in place."""
        V = W[self.n :].astype(np.float64, copy=False)

        def of_block(block: LossBlock) -> None:
            block.row_step(W[block.part.rows], V, _own(multiplier, block.part), how)

        InProcess.each(self.blocks, of_block)

    def column_step(self, W: FloatArray, how: RowStep, *, free_offsets: bool) -> None:
        """Minimise over the rows of V that belong to features, or to labels, given U, in place.

        A column's problem is a row's problem of the transposed table, with its offset as one more
        coordinate that costs nothing.
        """
        flipped, n, labels = self._flipped, self.n, how.labels
        U, V = W[:n].astype(np.float64, copy=False), W[n:].astype(np.float64, copy=False)
        first = 0 if free_offsets else 1
        ridge = np.full(W.shape[1] - first, float(how.ridge))
        ridge[: 1 - first] = 0
        row_base = np.zeros(self.m) if free_offsets else V[:, 0].copy()
        nothing = np.zeros(0, np.int32), np.zeros(0)

        def of_columns(bounds: tuple[int, int]) -> None:
            start, row, value = flipped.of(*bounds, labels=labels)
            own, no_start = slice(*bounds), np.zeros_like(start)
            x = (no_start, *nothing) if labels else (start, row, value)
            y = (start, row, value) if labels else (no_start, *nothing)
            given = (first, U, np.zeros(n), row_base[own], ridge, V[own])
            arguments = (*x, np.empty(0), float(how.rho), *y, *given, *how.steps, float(how.decrement))
            row_step(*arguments)

        d = self.cells.n_features
        begin, end = (d, self.m) if labels else (0, d)
        step = -(-(end - begin) // COLUMN_BLOCKS)
        blocks = [(begin + a, begin + b) for a, b in row_bounds(end - begin, 1, max(step, 1))]
        InProcess.each(blocks, of_columns)
        W[n + begin : n + end] = V[begin:end]

    @cached_property
    def _flipped(self) -> "_Flipped":
        return _Flipped.transposed(self.cells)

    def forget_columns(self) -> None:
        """Give back the memory of the transposed cells, which only the start needs."""
        self.__dict__.pop("_flipped", None)


class Curvature:
    """The losses' Hessian at a point, as a product and as a diagonal."""

    def __init__(
        self, losses: FactoredLosses, W: FloatArray, slopes: Slopes, rho: float, dtype: type
    ) -> None:
        self.losses, self.slopes, self.rho = losses, slopes, rho
        self.W: FloatArray = W.astype(dtype, copy=False)

    def diagonal(self) -> FloatArray:
        """Gauss–Newton diagonal, shape of W."""
        out, n, W = np.empty_like(self.W), self.losses.n, self.W
        out[n:] = 0

        def of_block(block: LossBlock) -> FloatArray:
            part = block.part
            return block.diagonal(W[part.rows], W[n:], self.rho, self.slopes.hy[part.y], out[part.rows])

        for HV in InProcess.visit(self.losses.blocks, of_block):
            out[n:] += HV
        return out

    def times(self, P: FloatArray, out: FloatArray) -> None:
        """Out = Hessian · P."""
        n, W, dense = self.losses.n, self.W, self.losses.dense
        out[n:] = 0

        def of_block(block: LossBlock) -> FloatArray:
            part = block.part
            factors, direction = (W[part.rows], W[n:]), (P[part.rows], P[n:])
            slopes = self.slopes.of(part)
            return block.times(factors, direction, self.rho, slopes, out[part.rows], dense=dense)

        for HV in InProcess.visit(self.losses.blocks, of_block):
            out[n:] += HV


def _difference(part: Part, gx: FloatArray, less: FloatArray) -> Pair:
    """Make a block of a matrix of features alone."""
    cells = part.cells
    left, right = cells.matrices(gx[part.x] - less[part.x], cells.y_value)
    return left, right[:, :0]


def _own(multiplier: FloatArray, part: Part) -> FloatArray:
    """Multipliers of some rows; there may be none."""
    return multiplier[part.x] if multiplier.size else multiplier


@dataclass(frozen=True, eq=False)
class _Flipped:
    """The cells column by column."""

    x_start: NDArray[np.int64]
    x_row: NDArray[np.int32]
    x_value: FloatArray
    y_start: NDArray[np.int64]
    y_row: NDArray[np.int32]
    y_value: FloatArray

    def of(
        self, first: int, last: int, *, labels: bool
    ) -> tuple[NDArray[np.int64], NDArray[np.int32], FloatArray]:
        """Give the cells of some consecutive columns: where each begins, rows and values."""
        start = self.y_start if labels else self.x_start
        row, value = (self.y_row, self.y_value) if labels else (self.x_row, self.x_value)
        own = slice(start[first], start[last])
        return start[first : last + 1] - start[first], row[own], value[own].astype(np.float64, copy=False)

    @classmethod
    def transposed(cls, cells: Cells) -> "_Flipped":
        n, m = cells.shape
        parts = []
        for start, column, value in (
            (cells.x_start, cells.x_column, cells.x_value),
            (cells.y_start, cells.y_column, cells.y_value),
        ):
            by_column = sparse.csr_array((value, column, start), shape=(n, m)).tocsc()
            parts += [
                by_column.indptr.astype(np.int64),
                by_column.indices.astype(np.int32, copy=False),
                by_column.data,
            ]
        return cls(*parts)
