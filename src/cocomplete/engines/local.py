"""The passes over the observed cells, in this process, row blocks over threads.

The factors are kept stacked in one array W of shape (n + m, width): U above V. Column 0 holds the
offsets: ones in U, o in V. The factors follow, then zero columns that pad the width to whole registers.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.kernels import clear, curvature_product, diagonal, evaluate, row_step, spread
from cocomplete.problem.cells import Cells

PADDING = 8
"""Width is a multiple of this: one AVX-512 register of doubles."""

PANEL = 512
"""Rows that are multiplied as a dense panel at a time, where the table is dense enough."""

DENSE = 0.08
"""Share of observed cells above which dense panels beat visiting the cells one by one."""


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


class LocalEngine:
    """Runs the kernels on one table's cells.

    Parameters
    ----------
    cells : Cells
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.bounds = cells.blocks()
        self.n, self.m = cells.shape
        self.dtype = cells.x_value.dtype
        self.empty_rows = np.diff(cells.x_start + cells.y_start) == 0
        self.empty_columns = np.ones(self.m, bool)
        self.empty_columns[cells.x_column] = self.empty_columns[cells.y_column] = False
        self.dense = cells.x_value.size + cells.y_value.size > DENSE * self.n * self.m

    @cached_property
    def _no_gradient(self) -> tuple[FloatArray, FloatArray]:
        return np.empty((0, 0), self.dtype), np.empty((0, 0, 0), self.dtype)

    def evaluate(self, W: FloatArray, multiplier: FloatArray, rho: float, *, gradient: bool) -> Slopes:
        """Losses at W, slopes on Ω and, on request, the gradient."""
        cells = self.cells
        gx, gy = np.empty_like(cells.x_value), np.empty_like(cells.y_value)
        hy = np.empty_like(gy)
        whole = np.empty_like(W) if gradient else None
        if whole is None:
            GU, GV = self._no_gradient
        else:
            GU, GV = whole[: self.n], self._column_buffer(W)
        sums = evaluate(
            self.bounds,
            cells.x_start,
            cells.x_column,
            cells.x_value,
            multiplier,
            self.dtype.type(rho),
            cells.y_start,
            cells.y_column,
            cells.y_value,
            W[: self.n],
            W[self.n :],
            gx,
            gy,
            hy,
            GU,
            GV,
        )
        if whole is not None:
            GV.sum(axis=0, out=whole[self.n :])
        return Slopes(float(sums[0]), float(sums[1]), float(sums[2]), gx, gy, hy, whole)

    def curvature(self, W: FloatArray, slopes: Slopes, rho: float, dtype: type) -> "Curvature":
        """Second-order model of the losses at W, in the precision of the search."""
        return Curvature(self, W, slopes, rho, dtype)

    def row_step(
        self,
        W: FloatArray,
        multiplier: FloatArray,
        rho: float,
        ridge: float,
        *,
        dtype: type,
        decrement: float,
        labels: bool = True,
        steps: tuple[int, int] = (1, 20),
    ) -> None:
        """Minimise over every row of U given V, in place.

        Parameters
        ----------
        dtype : type
            Precision of the arithmetic.
        decrement : float
            A row is done when a Newton step would gain less.
        labels : bool, default=True
            Whether label cells take part.
        steps : tuple of int, default=(1, 20)
            Most Newton steps per row, and most conjugate-gradient steps in each. One is enough between
            joint steps, and quicker in the end than exact rows.
        """
        cells, n = self.cells, self.n
        V: FloatArray = W[n:].astype(dtype, copy=False)
        row_step(
            self.bounds,
            cells.x_start,
            cells.x_column,
            cells.x_value,
            multiplier,
            dtype(rho),
            cells.y_start if labels else np.zeros_like(cells.y_start),
            cells.y_column,
            cells.y_value,
            1,
            V,
            np.ascontiguousarray(V[:, 0]),
            np.zeros(n, dtype),
            np.full(W.shape[1] - 1, ridge, dtype),
            W[:n],
            *steps,
            dtype(decrement),
        )

    def column_step(
        self,
        W: FloatArray,
        rho: float,
        ridge: float,
        *,
        free_offsets: bool,
        labels: bool,
        steps: tuple[int, int],
    ) -> None:
        """Minimise over the rows of V that belong to features, or to labels, given U, in place.

        A column's problem is a row's problem of the transposed table, with its offset as one more
        coordinate that costs nothing.
        """
        flipped, n = self._flipped, self.n
        first = 0 if free_offsets else 1
        weights = np.full(W.shape[1] - first, ridge, self.dtype)
        weights[: 1 - first] = 0
        nothing = np.zeros(self.m + 1, np.int64)
        row_step(
            flipped.y_bounds if labels else flipped.x_bounds,
            nothing if labels else flipped.x_start,
            flipped.x_row,
            flipped.x_value,
            np.empty(0, self.dtype),
            self.dtype.type(rho),
            flipped.y_start if labels else nothing,
            flipped.y_row,
            flipped.y_value,
            first,
            W[:n],
            np.zeros(n, self.dtype),
            np.zeros(self.m, self.dtype) if free_offsets else np.ascontiguousarray(W[n:, 0]),
            weights,
            W[n:],
            *steps,
            self.dtype.type(0),
        )

    @cached_property
    def _flipped(self) -> "_Flipped":
        return _Flipped.of(self.cells)

    def forget_columns(self) -> None:
        """Give back the memory of the transposed cells, which only the start needs."""
        self.__dict__.pop("_flipped", None)

    def _column_buffer(self, like: FloatArray) -> FloatArray:
        return np.empty((len(self.bounds) - 1, self.m, like.shape[1]), like.dtype)


class Curvature:
    """The losses' Hessian at a point, as a product and as a diagonal."""

    def __init__(self, engine: LocalEngine, W: FloatArray, slopes: Slopes, rho: float, dtype: type) -> None:
        self.engine = engine
        self.W: FloatArray = W.astype(dtype, copy=False)
        # Panels convert slopes as they are spread; only the visit cell by cell wants copies.
        dtype = engine.dtype.type if engine.dense else dtype
        self.gx: FloatArray = slopes.gx.astype(dtype, copy=False)
        self.gy: FloatArray = slopes.gy.astype(dtype, copy=False)
        self.hy: FloatArray = slopes.hy.astype(dtype, copy=False)
        self.rho = self.W.dtype.type(rho)
        self._buffer = engine._column_buffer(self.W)

    def diagonal(self) -> FloatArray:
        """Gauss–Newton diagonal, shape of W."""
        engine, cells = self.engine, self.engine.cells
        out = np.empty_like(self.W)
        U, V = self.W[: engine.n], self.W[engine.n :]
        pattern = (cells.x_start, cells.x_column, self.rho, cells.y_start, cells.y_column, self.hy)
        diagonal(engine.bounds, *pattern, U, V, out[: engine.n], self._buffer)
        self._buffer.sum(axis=0, out=out[engine.n :])
        return out

    def times(self, P: FloatArray, out: FloatArray) -> None:
        """Out = Hessian · P."""
        if self.engine.dense:
            self._times_dense(P, out)
        else:
            self._times_sparse(P, out)

    def _times_sparse(self, P: FloatArray, out: FloatArray) -> None:
        """Visit the observed cells one by one."""
        engine, cells, n = self.engine, self.engine.cells, self.engine.n
        curvature_product(
            engine.bounds,
            cells.x_start,
            cells.x_column,
            self.gx,
            self.rho,
            cells.y_start,
            cells.y_column,
            self.gy,
            self.hy,
            self.W[:n],
            self.W[n:],
            P[:n],
            P[n:],
            out[:n],
            self._buffer,
        )
        self._buffer.sum(axis=0, out=out[n:])

    def _times_dense(self, P: FloatArray, out: FloatArray) -> None:
        """Multiply small dense panels of rows: more arithmetic, but BLAS does it."""
        cells, n, m = self.engine.cells, self.engine.n, self.engine.m
        U, V, dU, dV = self.W[:n], self.W[n:], P[:n], P[n:]
        right = np.vstack((V, dV))
        swapped = np.hstack((dV, V))
        out[n:] = 0
        whole_panel = np.zeros((min(PANEL, n), 2 * m), P.dtype)
        for first in range(0, n, PANEL):
            last = min(first + PANEL, n)
            panel = whole_panel[: last - first]
            change = np.hstack((U[first:last], dU[first:last])) @ swapped.T
            pattern = (cells.x_start, cells.x_column, self.gx, self.rho, cells.y_start, cells.y_column)
            spread(first, last, *pattern, self.gy, self.hy, change, panel)
            np.matmul(panel, right, out=out[first:last])
            out[n:] += panel[:, :m].T @ U[first:last]
            out[n:] += panel[:, m:].T @ dU[first:last]
            clear(first, last, cells.x_start, cells.x_column, cells.y_start, cells.y_column, panel)


@dataclass(frozen=True, eq=False)
class _Flipped:
    """The cells column by column."""

    x_bounds: NDArray[np.int64]
    y_bounds: NDArray[np.int64]
    x_start: NDArray[np.int64]
    x_row: NDArray[np.int32]
    x_value: FloatArray
    y_start: NDArray[np.int64]
    y_row: NDArray[np.int32]
    y_value: FloatArray

    @classmethod
    def of(cls, cells: Cells) -> "_Flipped":
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
        d = cells.n_features
        x_bounds, y_bounds = (np.linspace(*ends, 9).astype(np.int64) for ends in ((0, d), (d, m)))
        return cls(x_bounds, y_bounds, *parts)
