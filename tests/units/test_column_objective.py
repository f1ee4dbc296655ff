"""φ, the objective of the columns alone: derivatives beside finite differences, gauge beside the SVD."""

from typing import Any, NamedTuple

import numpy as np
import pytest

from cocomplete.arrays import FloatArray
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers import eliminated_block
from cocomplete.solvers.column_objective import ColumnObjective, ColumnPoint
from cocomplete.solvers.eliminated_block import rows_of
from tests.blocks import long_table

EXACT = 1e-17
"""Rows are done when a Newton step would gain less."""


def settled(function: ColumnObjective, V: FloatArray, k: int, rows: list[Any]) -> ColumnPoint:
    """Bring rows to their minimum, and not only near it: one visit takes a few steps."""
    for _ in range(6):
        point = function.at(V, k, rows, EXACT)
        rows = point.rows
    return point


REGIMES = pytest.mark.parametrize("residual_penalty", [0.0, 3.0], ids=["smooth", "interpolation"])


class Problem(NamedTuple):
    function: ColumnObjective
    point: ColumnPoint
    cells: Cells


def problem(residual_penalty: float = 0.0, *, free_offsets: bool = True, k: int = 3) -> Problem:
    """A point on a small table in four blocks, multipliers and all."""
    X, y = long_table(60, 7, 3)
    X[5], y[5] = np.nan, np.nan
    X[:, 2] = np.nan
    cells = Cells.of(Observations(X, y))
    rng = np.random.default_rng(0)
    offsets = rng.normal(size=10)
    blocks = CellBlocks.at(CellBlocks.of(cells, 1).engine, [cells.rows(a, a + 15) for a in range(0, 60, 15)])
    function = ColumnObjective(Objective(blocks, 3.0, residual_penalty, 0.4, offsets, free_offsets))
    V = function.pack(rng.normal(size=(10, k)), offsets)
    point = settled(function, V, k, function.begin())
    if residual_penalty:
        point = settled(function, V, k, function.constrain(point, function.slopes(point)[0], 0.5))
    return Problem(function, point, cells)


def direction(given: Problem, seed: int = 1) -> FloatArray:
    """A direction that moves what may be moved."""
    k = given.point.k
    out = np.zeros_like(given.point.V)
    out[:, : k + 1] = np.random.default_rng(seed).normal(size=(len(out), k + 1))
    out[given.function.counts == 0, 1:] = 0
    given.function.freeze(out)
    return out


def moved(given: Problem, step: FloatArray) -> ColumnPoint:
    return settled(given.function, given.point.V + step, given.point.k, given.point.rows)


@REGIMES
@pytest.mark.parametrize("free_offsets", [True, False])
def test_the_gradient_is_that_of_finite_differences(residual_penalty: float, free_offsets: bool) -> None:
    given = problem(residual_penalty, free_offsets=free_offsets)
    gradient = given.function.gradient(given.point)
    for seed in range(3):
        step = direction(given, seed)
        ahead, behind = (moved(given, sign * 1e-5 * step).value for sign in (1, -1))
        assert (ahead - behind) / 2e-5 == pytest.approx(np.vdot(gradient, step), rel=1e-6)


@REGIMES
@pytest.mark.parametrize("kept", [True, False])
def test_the_hessian_is_that_of_finite_differences(
    residual_penalty: float, kept: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether every row's own matrix is kept, or rows are solved by conjugate gradients."""
    if not kept:
        monkeypatch.setattr(eliminated_block, "MOST_KEPT", 2)
        monkeypatch.setattr(eliminated_block, "FORCING", 1e-24)
    given = problem(residual_penalty)
    function = given.function
    slopes, diagonal = function.slopes(given.point)
    step = direction(given)
    found = function.times(given.point, slopes, step)
    # Rows end where their slopes are some 1e-8: a step of 1e-3 turns that into 1e-5, and its own square 1e-6.
    ahead, behind = (function.gradient(moved(given, sign * 1e-3 * step)) for sign in (1, -1))
    np.testing.assert_allclose(found, (ahead - behind) / 2e-3, rtol=1e-4, atol=1e-4)
    # The preconditioner's diagonal lets rows stay where they are, which bends φ more.
    for place in ((0, 0), (1, 2), (8, 1), (9, 0)):
        unit = np.zeros_like(step)
        unit[place] = 1
        bend = function.times(given.point, slopes, unit)[place]
        ridge = function.ridge if place[1] else 0.0
        assert bend <= diagonal[place] + ridge + 1e-9


def test_rows_are_at_their_minimum() -> None:
    given = problem()
    function, point = given.function, given.point
    U = np.concatenate(list(function.engine.collect(rows_of, point.rows, [np.arange(15)] * 4, k=point.k)))
    T = U @ point.V[:, 1 : point.k + 1].T + point.V[:, 0]
    cells = given.cells
    G = np.zeros(T.shape)
    rows = np.repeat(np.arange(60), np.diff(cells.x_start))
    G[rows, cells.x_column] = 0.8 * (T[rows, cells.x_column] - cells.x_value)
    rows = np.repeat(np.arange(60), np.diff(cells.y_start))
    G[rows, cells.y_column] = 1 / (1 + np.exp(-T[rows, cells.y_column])) - cells.y_value
    np.testing.assert_allclose(G @ point.V[:, 1 : point.k + 1] + 3.0 * U, 0, atol=1e-5)
    np.testing.assert_array_equal(U[5], 0)
    np.testing.assert_allclose(point.sums.gram, U.T @ U)
    np.testing.assert_allclose(point.sums.gradient[:, 0], G.sum(axis=0), atol=1e-9)


@pytest.mark.parametrize("free_offsets", [True, False])
def test_another_basis_is_that_of_the_svd_and_changes_no_value(free_offsets: bool) -> None:
    given = problem(free_offsets=free_offsets)
    function, point = given.function, given.point
    places = [np.arange(15)] * 4
    U = np.concatenate(list(function.engine.collect(rows_of, point.rows, places, k=point.k)))
    mean = U.mean(axis=0) if free_offsets else np.zeros(point.k)
    V = point.V[:, 1 : point.k + 1]
    basis = function.basis(point)
    np.testing.assert_allclose(basis.s, np.linalg.svd((U - mean) @ V.T)[1][:3], rtol=1e-9)
    assert basis.trace_norm == pytest.approx(basis.s.sum())
    new_U, new_V = (U - basis.turn.mean) @ basis.turn.matrix, basis.V[:, 1:4]
    np.testing.assert_allclose(new_U.T @ new_U, np.diag(basis.s), atol=1e-7)
    np.testing.assert_allclose(new_V.T @ new_V, np.diag(basis.s), atol=1e-7)
    np.testing.assert_allclose(new_U @ new_V.T + basis.V[:, 0], U @ V.T + point.V[:, 0], atol=1e-9)
    np.testing.assert_array_equal(basis.V[2, 1:], 0)
    # In it rows have a minimum of their own, which is no higher.
    turned = function.at(basis.V, 3, point.rows, EXACT, basis.turn)
    assert turned.value <= point.value + 1e-9


def test_small_singular_values_are_dropped() -> None:
    given = problem()
    whole = given.function.basis(given.point)
    kept = given.function.basis(given.point, drop=float(whole.s[-1]) * 1.01)
    np.testing.assert_allclose(kept.s, whole.s[:2])
    assert kept.V[:, 3:].any() == 0
    assert kept.turn.matrix.shape == (3, 2)


def test_more_factors_find_rows_with_room_for_them() -> None:
    given = problem()
    function, point = given.function, given.point
    added = np.random.default_rng(3).normal(size=(10, 6))
    V = function.pack(np.hstack((point.V[:, 1:4], added)), point.offsets)
    assert V.shape[1] > point.V.shape[1]
    grown = settled(function, V, 9, point.rows)
    fresh = settled(function, V, 9, function.begin())
    assert grown.value == pytest.approx(fresh.value, rel=1e-9)
