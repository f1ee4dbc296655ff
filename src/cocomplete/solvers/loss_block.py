"""The losses' passes over the observed cells of one row block.

Each is a function of the block, of its rows' factors U and of V, and gives what concerns the columns as sums
over the block's rows. Kernels are called with numbers of one precision: what is stored in another is
converted for the length of the visit.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.engines.row_blocks import row_bounds
from cocomplete.kernels import (
    clear,
    curvature_product,
    diagonal,
    evaluate,
    evaluate_panel,
    row_step,
    spread,
)
from cocomplete.problem.cells import Cells, Part

PANEL = 512
"""Most rows that are multiplied as a dense panel at a time, where the table is dense enough."""


class RowStep(NamedTuple):
    """How far every row's problem is solved.

    Attributes
    ----------
    rho, ridge : float
        Weight ρ of squared errors, and λ1.
    decrement : float
        A row is done when a Newton step would gain less.
    steps : tuple of int
        Most Newton steps per row, and most conjugate-gradient steps in each. One is enough between joint
        steps, and quicker in the end than exact rows.
    labels : bool
        Whether label cells take part.
    """

    rho: float
    ridge: float
    decrement: float
    steps: tuple[int, int] = (1, 20)
    labels: bool = True


@dataclass(frozen=True, eq=False)
class LossBlock:
    """Some rows' cells.

    Attributes
    ----------
    part : Part
        The cells, and where they are in the table.
    """

    part: Part

    def evaluate(
        self,
        U: FloatArray,
        V: FloatArray,
        multiplier: FloatArray,
        rho: float,
        slopes: tuple[FloatArray, FloatArray, FloatArray],
        GU: FloatArray | None,
        *,
        dense: bool,
    ) -> tuple[tuple[float, float, float], FloatArray | None]:
        """Losses, slopes in every cell and, where there is room for it, the gradient.

        Parameters
        ----------
        U : ndarray of shape (n_rows, width)
        V : ndarray of shape (m, width)
        multiplier : ndarray
            One number per observed feature of the block, or none.
        rho : float
        slopes : tuple of ndarray
            Written: slopes of features and of labels, and the labels' curvatures.
        GU : ndarray, shape of U, or None
            Written: gradient with respect to U.
        dense : bool
            Whether to multiply dense panels of rows, as in :meth:`times`.

        Returns
        -------
        sums : tuple of float
            Augmented cost of the features, Σ e², cost of the labels.
        GV : ndarray, shape of V, or None
            Gradient with respect to V over these rows.
        """
        cells = self.part.cells
        x = (cells.x_start, cells.x_column, cells.x_value, multiplier, V.dtype.type(rho))
        y = (cells.y_start, cells.y_column, cells.y_value)
        if dense:
            return _dense_evaluate((*x, *y), U, V, slopes, GU)
        GV = None if GU is None else np.empty_like(V)
        nothing = np.empty((0, 0), V.dtype)
        room = (nothing, nothing) if GU is None else (GU, GV)
        sums = evaluate(*x, *y, U, V, *slopes, *room)
        return sums, GV

    def row_step(self, U: FloatArray, V: FloatArray, multiplier: FloatArray, how: RowStep) -> None:
        """Minimise over every row of U given V, in place.

        In double precision always: single precision takes as long, and another kernel to compile.

        Parameters
        ----------
        U : ndarray of shape (n_rows, width)
            Its first column is ones.
        V : ndarray of float64, shape (m, width)
            Its first column are the offsets.
        multiplier : ndarray
            One number per observed feature of the block, or none.
        how : RowStep
        """
        cells = self.part.cells
        own = U.astype(np.float64, copy=False)
        row_step(
            cells.x_start,
            cells.x_column,
            cells.x_value.astype(np.float64, copy=False),
            multiplier.astype(np.float64, copy=False),
            float(how.rho),
            cells.y_start if how.labels else np.zeros_like(cells.y_start),
            cells.y_column,
            cells.y_value.astype(np.float64, copy=False),
            1,
            V,
            V[:, 0].copy(),
            np.zeros(len(U)),
            np.full(V.shape[1] - 1, float(how.ridge)),
            own,
            *how.steps,
            float(how.decrement),
        )
        if own is not U:
            U[:] = own

    def diagonal(
        self, U: FloatArray, V: FloatArray, rho: float, hy: FloatArray, HU: FloatArray
    ) -> FloatArray:
        """Gauss–Newton diagonal: that of U is written, that of V given, over these rows."""
        cells, dtype = self.part.cells, V.dtype
        HV = np.empty_like(V)
        pattern = (cells.x_start, cells.x_column, dtype.type(rho), cells.y_start, cells.y_column)
        diagonal(*pattern, hy.astype(dtype, copy=False), U, V, HU, HV)
        return HV

    def times(
        self,
        factors: tuple[FloatArray, FloatArray],
        direction: tuple[FloatArray, FloatArray],
        rho: float,
        slopes: tuple[FloatArray, FloatArray, FloatArray],
        HU: FloatArray,
        *,
        dense: bool,
    ) -> FloatArray:
        """Hessian times a direction: what concerns U is written, what concerns V given, over these rows.

        Parameters
        ----------
        factors, direction : tuple of ndarray of shapes (n_rows, width) and (m, width)
            (U, V) and (dU, dV).
        slopes : tuple of ndarray
            As :meth:`evaluate` wrote them.
        dense : bool
            Whether to multiply dense panels of rows, which is more arithmetic, but BLAS does it.
        """
        cells, dtype = self.part.cells, HU.dtype
        gx, gy, hy = (part.astype(dtype, copy=False) for part in slopes)
        x = (cells.x_start, cells.x_column, gx, dtype.type(rho))
        y = (cells.y_start, cells.y_column, gy, hy)
        if dense:
            return _dense_times(cells, (*x, *y), factors, direction, HU)
        HV = np.empty_like(factors[1])
        curvature_product(*x, *y, *factors, *direction, HU, HV)
        return HV


def _dense_evaluate(
    given: tuple[Any, ...],
    U: FloatArray,
    V: FloatArray,
    slopes: tuple[FloatArray, FloatArray, FloatArray],
    GU: FloatArray | None,
) -> tuple[tuple[float, float, float], FloatArray | None]:
    """Evaluate small dense panels of rows."""
    n, m = len(U), len(V)
    GV = None if GU is None else np.zeros_like(V)
    bounds = row_bounds(n, 1, PANEL)
    most = max(last - first for first, last in bounds)
    values, gradients = np.empty((most, m), V.dtype), np.empty((0 if GU is None else most, m), V.dtype)
    sums = np.zeros(3)
    # A step far too long may lead to what is no number; it is not taken.
    with np.errstate(over="ignore", invalid="ignore"):
        for first, last in bounds:
            T, G = values[: last - first], gradients[: last - first]
            np.matmul(U[first:last], V.T, out=T)
            G[:] = 0
            arguments = (first, last, *given, T, *slopes, G)
            sums += evaluate_panel(*arguments)
            if GU is not None and GV is not None:
                np.matmul(G, V, out=GU[first:last])
                GV += G.T @ U[first:last]
    return (float(sums[0]), float(sums[1]), float(sums[2])), GV


def _dense_times(
    cells: Cells,
    given: tuple[Any, ...],
    factors: tuple[FloatArray, FloatArray],
    direction: tuple[FloatArray, FloatArray],
    HU: FloatArray,
) -> FloatArray:
    """Multiply small dense panels of rows."""
    (U, V), (dU, dV) = factors, direction
    n, m = cells.shape
    right, swapped = np.vstack((V, dV)), np.hstack((dV, V))
    HV = np.zeros_like(V)
    bounds = row_bounds(n, 1, PANEL)
    whole_panel = np.zeros((max(last - first for first, last in bounds), 2 * m), V.dtype)
    for first, last in bounds:
        rows, panel = slice(first, last), whole_panel[: last - first]
        change = np.hstack((U[rows], dU[rows])) @ swapped.T
        arguments = (first, last, *given, change, panel)
        spread(*arguments)
        np.matmul(panel, right, out=HU[rows])
        HV += panel[:, :m].T @ U[rows]
        HV += panel[:, m:].T @ dU[rows]
        if last < n:
            clear(first, last, cells.x_start, cells.x_column, cells.y_start, cells.y_column, panel)
    return HV
