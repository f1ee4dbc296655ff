"""Passes over some rows whose factors follow those of the columns: each row is at its minimum given these.

What is here are functions of a block's cells and of what is kept beside them, for an engine to run wherever
the block is. What concerns the columns is given as sums over the block's rows.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.kernels import eliminated_product, row_factors
from cocomplete.problem.block_certificate import DualRows
from cocomplete.problem.cells import Cells, Part
from cocomplete.solvers.factored_losses import DENSE
from cocomplete.solvers.loss_block import LossBlock, RowStep
from cocomplete.spectral import Pair

MOST_KEPT = 32
"""Factors up to which every row's k × k matrix is kept; of more it would be larger than the row's cells, and
rows are solved by conjugate gradients instead."""

FORCING = 0.01
"""These stop when the squared residual has fallen to this share: what pᵀHp is off by is the square of what is
left."""


class RowState(NamedTuple):
    """What a block keeps.

    Attributes
    ----------
    U : ndarray of shape (n_rows, width)
        Ones, the factors, and zeros that pad the width.
    multiplier : ndarray
        One number per observed feature where features are constraints, or none.
    """

    U: FloatArray
    multiplier: FloatArray


class Turn(NamedTuple):
    """Another basis of the factors: those of a row become (u − mean) · matrix.

    Attributes
    ----------
    mean : ndarray of shape (k,)
    matrix : ndarray of shape (k, new k)
    """

    mean: FloatArray
    matrix: FloatArray


class RowSums(NamedTuple):
    """What rows at their minimum add up to.

    Attributes
    ----------
    feature_cost, squares, label_cost : float
        Augmented cost of the features, Σ e², cost of the labels.
    gradient : ndarray of shape (m, width)
        Of the losses with respect to V and, in its first column, the offsets.
    gram : ndarray of shape (k, k)
        UᵀU.
    total : ndarray of shape (k,)
        Sum of the rows' factors.
    """

    feature_cost: float
    squares: float
    label_cost: float
    gradient: FloatArray
    gram: FloatArray
    total: FloatArray

    def plus(self, other: "RowSums") -> "RowSums":
        """Add those of further rows."""
        return RowSums(
            self.feature_cost + other.feature_cost,
            self.squares + other.squares,
            self.label_cost + other.label_cost,
            self.gradient + other.gradient,
            self.gram + other.gram,
            self.total + other.total,
        )


class Slopes(NamedTuple):
    """First and second derivatives of the losses in the cells of a block.

    Attributes
    ----------
    gx, gy : ndarray
        Slope in every observed cell: the matrix G on Ω.
    hy : ndarray
        Curvature of every label cell.
    factors : ndarray of shape (n_rows, k (k + 1) / 2)
        Cholesky factors of the rows' curvatures; none where there are too many factors to keep them.
    """

    gx: FloatArray
    gy: FloatArray
    hy: FloatArray
    factors: FloatArray


def begun(cells: Cells, *, constrained: bool) -> RowState:
    """Begin without factors, and without multipliers of features that are constraints."""
    dtype = cells.x_value.dtype
    U = np.ones((cells.shape[0], 1), dtype)
    return RowState(U, np.zeros(cells.x_value.size if constrained else 0, dtype))


def visited(
    cells: Cells, state: RowState, *, V: FloatArray, k: int, how: RowStep, turn: Turn | None
) -> tuple[RowState, RowSums]:
    """Bring every row to its minimum given V.

    Parameters
    ----------
    V : ndarray of shape (m, width)
        Offsets, the columns' factors, and zeros that pad the width.
    k : int
        Number of factors.
    how : RowStep
        How far.
    turn : Turn or None
        Basis that V has, if it is another than the rows'; they begin at zero where it is wider.
    """
    U = _turned(state.U, turn, V.shape[1])
    block = LossBlock(Part.whole(cells))
    block.row_step(U, V.astype(np.float64, copy=False), state.multiplier, how)
    (feature_cost, squares, label_cost), gradient = block.evaluate(
        U, V, state.multiplier, how.rho, _room(cells), np.empty_like(U), dense=_is_dense(cells)
    )
    assert gradient is not None
    own = U[:, 1 : k + 1].astype(np.float64, copy=False)
    sums = RowSums(
        feature_cost, squares, label_cost, gradient.astype(np.float64), own.T @ own, own.sum(axis=0)
    )
    return RowState(U, state.multiplier), sums


def _room(cells: Cells) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Make room for slopes of features and labels, and the labels' curvatures."""
    return np.empty_like(cells.x_value), np.empty_like(cells.y_value), np.empty_like(cells.y_value)


def _is_dense(cells: Cells) -> bool:
    return cells.x_value.size + cells.y_value.size > DENSE * cells.shape[0] * cells.shape[1]


def _turned(U: FloatArray, turn: Turn | None, width: int) -> FloatArray:
    """Give rows in another basis, or with room for more factors."""
    new = np.zeros((len(U), width), U.dtype)
    if turn is None:
        new[:, : U.shape[1]] = U
        return new
    before, k = turn.matrix.shape
    new[:, 0] = 1
    new[:, 1 : k + 1] = (U[:, 1 : before + 1] - turn.mean) @ turn.matrix
    return new


def curved(
    cells: Cells, state: RowState, *, V: FloatArray, k: int, rho: float, ridge: float
) -> tuple[Slopes, FloatArray]:
    """Give slopes and curvatures where the rows are, and the Gauss–Newton diagonal with respect to V."""
    block, dtype = LossBlock(Part.whole(cells)), V.dtype
    gx, gy, hy = room = _room(cells)
    block.evaluate(state.U, V, state.multiplier, rho, room, None, dense=_is_dense(cells))
    # That of the rows is written, too, and not needed.
    HV = block.diagonal(state.U, V, rho, hy, np.empty_like(state.U))
    factors: FloatArray = np.empty((0, 0), dtype)
    if k <= MOST_KEPT:
        number = dtype.type
        factors = np.empty((cells.shape[0], k * (k + 1) // 2), dtype)
        pattern = cells.x_start, cells.x_column, number(rho), cells.y_start, cells.y_column
        row_factors(*pattern, hy, V, k, number(ridge), number(10 * np.finfo(dtype).eps), factors)
    return Slopes(gx, gy, hy, factors), HV.astype(np.float64)


def product(
    cells: Cells,
    state: RowState,
    slopes: Slopes,
    *,
    V: FloatArray,
    dV: FloatArray,
    k: int,
    rho: float,
    ridge: float,
) -> FloatArray:
    """Hessian of the losses, rows following the columns, times a direction of the columns.

    Returns
    -------
    ndarray of float64, shape (m, width)
        Over these rows.
    """
    dtype, HV = V.dtype, np.empty_like(V)
    widest = int((np.diff(cells.x_start) + np.diff(cells.y_start)).max(initial=0))
    x = cells.x_start, cells.x_column, slopes.gx, dtype.type(rho)
    y = cells.y_start, cells.y_column, slopes.gy, slopes.hy
    rows = slopes.factors, k, dtype.type(ridge), dtype.type(FORCING)
    room = np.empty(widest, dtype), np.empty((5, V.shape[1]), dtype)
    eliminated_product(*x, *y, state.U, V, *rows, dV, *room, HV)
    return HV.astype(np.float64)


def constrained(state: RowState, slopes: Slopes, *, share: float) -> RowState:
    """Take multipliers over from the slopes of the features, or some share of them."""
    gx = slopes.gx
    return RowState(state.U, gx if share == 1 else gx * gx.dtype.type(share))


def dual_rows(slopes: Slopes) -> DualRows:
    """Give the slopes as rows of a dual matrix."""
    return DualRows(slopes.gx, slopes.gy)


def feature_slopes(cells: Cells, slopes: Slopes) -> Pair:
    """Give the slopes of the features as a matrix; without labels, which have no columns in it."""
    left, right = cells.matrices(slopes.gx, slopes.gy)
    return left, right[:, :0]


def residuals(cells: Cells, state: RowState, slopes: Slopes) -> Pair:
    """Give ρ times the residual of the features as a matrix."""
    left, right = cells.matrices(slopes.gx - state.multiplier, slopes.gy)
    return left, right[:, :0]


def rows_of(state: RowState, rows: NDArray[np.intp], *, k: int) -> FloatArray:
    """Give the factors of some rows."""
    return state.U[rows, 1 : k + 1]


def as_arrays(state: RowState) -> tuple[FloatArray, FloatArray]:
    """Give what is kept of a block, for a checkpoint."""
    return state.U, state.multiplier


def as_state(block: Any, arrays: tuple[FloatArray, FloatArray]) -> RowState:
    """Stand for what was kept of a block; the block tells the engine where."""
    return RowState(*arrays)
