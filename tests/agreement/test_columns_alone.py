"""The solver of tables in blocks reaches the minimum of the others, on any blocks and from any sample."""

import numpy as np
import pytest
from numpy.typing import DTypeLike

from cocomplete.engines.engine import Threads
from cocomplete.engines.on_disk import OnDisk
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.column_run import solve_by_columns
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.solution import Solution
from tests.blocks import long_table
from tests.strategies import cvxpy_minimum, tiny_objective

ROWS, COLUMNS = 600, 16


def cells_of(dtype: DTypeLike = np.float64, seed: int = 0) -> Cells:
    X, y = long_table(ROWS, 12, 4, seed)
    X[7], y[7] = np.nan, np.nan
    return Cells.of(Observations(X.astype(dtype), y.astype(dtype)))


def by_columns(
    cells: Cells,
    penalties: tuple[float, float],
    *,
    step: int = 150,
    sample: int = 100,
    tol: float = 1e-6,
    free: bool = True,
    max_rank: int | None = None,
    engine: Threads | OnDisk | None = None,
) -> Solution:
    n, m = cells.shape
    rows = [cells.rows(first, min(first + step, n)) for first in range(0, n, step)]
    blocks = CellBlocks.at(Threads(keeps=False) if engine is None else engine, rows)
    offsets = np.zeros(m, cells.x_value.dtype)
    objective = Objective(blocks, *penalties, 0.5, offsets, free)
    every = [np.arange(part.shape[0]) for part in rows]
    some = cells.take(np.arange(0, n, max(n // sample, 1)))
    return solve_by_columns(objective, some, every, tol=tol, max_rank=max_rank)


def by_factors(
    cells: Cells, penalties: tuple[float, float], *, tol: float = 1e-6, free: bool = True
) -> Solution:
    offsets = np.zeros(cells.shape[1], cells.x_value.dtype)
    return solve_factored(Objective(cells, *penalties, 0.5, offsets, free), tol=tol)


@pytest.mark.parametrize("free", [True, False])
@pytest.mark.parametrize(
    ("penalties", "tol"), [((5.0, 0.0), 1e-6), ((60.0, 0.0), 1e-6), ((5.0, 5.0), 1e-5), ((1.0, 1.0), 1e-4)]
)
def test_both_solvers_have_one_minimum(penalties: tuple[float, float], tol: float, free: bool) -> None:
    cells = cells_of()
    one = by_columns(cells, penalties, tol=tol, free=free)
    other = by_factors(cells, penalties, tol=tol, free=free)
    assert one.converged
    assert abs(one.objective - other.objective) <= 1.1 * tol * other.objective
    assert one.duality_gap <= tol
    # F bends along observed directions alone: what it is above its least leaves about its root in M.
    difference = one.M.dense() + one.offsets - other.M.dense() - other.offsets
    assert np.sqrt(np.mean(difference**2)) < 10 * np.sqrt(tol)
    assert one.M.trace_norm == pytest.approx(np.linalg.svd(one.M.dense())[1].sum(), rel=1e-6)


@pytest.mark.parametrize("free_offsets", [True, False])
@pytest.mark.parametrize("residual_penalty", [0.0, 0.9])
@pytest.mark.parametrize("seed", range(4))
def test_the_minimum_is_that_of_cvxpy(seed: int, residual_penalty: float, free_offsets: bool) -> None:
    objective = tiny_objective(seed, residual_penalty=residual_penalty, free_offsets=free_offsets)
    minimum, _ = cvxpy_minimum(objective)
    cells = objective.cells
    n = cells.shape[0]
    rows = [cells.rows(0, n // 2), cells.rows(n // 2, n)]
    blocks = Objective(
        CellBlocks.at(Threads(), rows),
        objective.rank_penalty,
        objective.residual_penalty,
        objective.feature_weight,
        objective.offsets,
        objective.free_offsets,
    )
    every = [np.arange(part.shape[0]) for part in rows]
    solution = solve_by_columns(blocks, cells.rows(0, n // 2), every, tol=1e-6, max_iter=300)
    true_gap = (solution.objective - minimum) / minimum
    assert solution.converged
    assert -1e-7 <= true_gap <= solution.duality_gap + 1e-7


def test_single_precision_reaches_what_it_can() -> None:
    one = by_columns(cells_of(np.float32), (5.0, 0.0), tol=1e-5)
    assert one.M.U.dtype == one.M.Vt.dtype == one.offsets.dtype == np.float32
    assert one.objective == pytest.approx(by_factors(cells_of(), (5.0, 0.0)).objective, rel=2e-5)


def test_nothing_is_the_answer_where_the_penalty_is_high() -> None:
    cells = cells_of()
    top = Objective(cells, 1.0, 0.0, 0.5, np.zeros(COLUMNS), free_offsets=True).rank_penalty_max
    assert by_columns(cells, (1.01 * top, 0.0)).M.rank == 0
    assert by_columns(cells, (0.9 * top, 0.0)).M.rank > 0


def test_blocks_and_engines_change_next_to_nothing() -> None:
    cells = cells_of()
    one = by_columns(cells, (5.0, 0.0), tol=1e-8)
    for step in (37, 600):
        other = by_columns(cells, (5.0, 0.0), tol=1e-8, step=step)
        np.testing.assert_allclose(one.M.dense(), other.M.dense(), atol=1e-3)
        assert one.objective == pytest.approx(other.objective, rel=1e-8)
    with OnDisk() as disk:
        same = by_columns(cells, (5.0, 0.0), tol=1e-8, engine=disk)
    np.testing.assert_array_equal(one.M.dense(), same.M.dense())


def test_a_poor_sample_costs_rounds_and_no_accuracy() -> None:
    """Ten rows show neither the rank nor the offsets, and of some labels one value."""
    cells = cells_of()
    expected = by_factors(cells, (5.0, 5.0), tol=1e-5)
    one = by_columns(cells, (5.0, 5.0), sample=10, tol=1e-5)
    assert one.converged
    assert one.objective == pytest.approx(expected.objective, rel=2e-5)


def test_the_rank_is_bounded() -> None:
    cells = cells_of()
    one = by_columns(cells, (5.0, 0.0), max_rank=2)
    assert one.M.rank == 2
    assert not one.converged
    assert one.objective > by_factors(cells, (5.0, 0.0)).objective


def test_between_the_regimes_is_refused() -> None:
    with pytest.raises(ValueError, match="at least rank_penalty"):
        by_columns(cells_of(), (5.0, 1.0))
