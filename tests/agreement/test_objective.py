from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocomplete.arrays import FloatArray
from cocomplete.solvers.subgradient import solve_subgradient
from tests.strategies import cvxpy_minimum, tiny_objective

REGIMES = [0.0, 0.3, 0.9]


def difference_quotients(
    function: Callable[[FloatArray], float], M: FloatArray, step: float = 1e-6
) -> FloatArray:
    gradient = np.zeros_like(M)
    for cell in np.ndindex(M.shape):
        up, down = M.copy(), M.copy()
        up[cell] += step
        down[cell] -= step
        gradient[cell] = (function(up) - function(down)) / (2 * step)
    return gradient


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("residual_penalty", REGIMES)
def test_gradients_match_finite_differences(residual_penalty: float, offsets: bool) -> None:
    objective = tiny_objective(3, residual_penalty=residual_penalty, offsets=offsets)
    M = np.random.default_rng(0).normal(size=objective.shape)
    for part in (objective.smooth, objective.loss):
        value, gradient = part(M)
        expected = difference_quotients(lambda A: part(A)[0], M)  # noqa: B023  (called at once)
        np.testing.assert_allclose(gradient, expected, atol=1e-6)
        assert np.isfinite(value)


@given(st.integers(0, 10_000))
def test_subgradient_inequality_of_the_whole_loss(seed: int) -> None:
    rng = np.random.default_rng(seed)
    objective = tiny_objective(seed, residual_penalty=0.8)
    M, other = rng.normal(size=(2, *objective.shape))
    value, gradient = objective.loss(M)
    assert objective.loss(other)[0] >= value + np.vdot(gradient, other - M) - 1e-8


def test_gradient_vanishes_off_the_observed_cells() -> None:
    objective = tiny_objective(1, residual_penalty=0.5)
    known = np.hstack((objective.table.X_known, objective.table.Y_known))
    gradient = objective.loss(np.ones(objective.shape))[1]
    assert np.all(gradient[~known] == 0)
    assert np.all(gradient[known] != 0)


@pytest.mark.parametrize("offsets", [False, True])
@pytest.mark.parametrize("residual_penalty", REGIMES)
@pytest.mark.parametrize("seed", range(3))
def test_objective_agrees_with_cvxpy_at_the_minimum(
    seed: int, residual_penalty: float, offsets: bool
) -> None:
    objective = tiny_objective(seed, residual_penalty=residual_penalty, offsets=offsets)
    minimum, best = cvxpy_minimum(objective)
    assert objective.value(best) == pytest.approx(minimum, rel=1e-6)
    rng = np.random.default_rng(seed)
    for size in (1e-2, 1.0):
        assert objective.value(best + size * rng.normal(size=best.shape)) > minimum


@pytest.mark.parametrize("seed", range(3))
def test_algorithm_1_with_a_small_step_reaches_the_cvxpy_minimum_without_the_residual_norm(seed: int) -> None:
    objective = tiny_objective(seed)
    minimum, best = cvxpy_minimum(objective)
    step = 1 / objective.smoothness
    solution = solve_subgradient(objective, max_iter=3000, step=step, decay=1.0, floor=None)
    assert solution.objective == pytest.approx(minimum, rel=1e-6)
    np.testing.assert_allclose(solution.M.dense(), best, atol=1e-3)


@pytest.mark.parametrize("residual_penalty", REGIMES)
def test_rank_penalty_max_is_where_the_answer_becomes_zero(residual_penalty: float) -> None:
    at = tiny_objective(5, residual_penalty=residual_penalty)
    top = at.rank_penalty_max
    above = tiny_objective(5, residual_penalty=residual_penalty, rank_penalty=1.001 * top)
    below = tiny_objective(5, residual_penalty=residual_penalty, rank_penalty=0.98 * top)
    zero = np.zeros(at.shape)
    assert cvxpy_minimum(above)[0] == pytest.approx(above.value(zero), rel=1e-7)
    assert cvxpy_minimum(below)[0] < below.value(zero) - 1e-6
