"""The one proximal-gradient loop: its published iterates, its minima, its options."""

from dataclasses import replace
from typing import Any

import cvxpy as cp
import numpy as np
import pytest

from cocomplete.arrays import FloatArray
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.proximal import Recipe, solve_continuation, solve_proximal, with_gap
from cocomplete.solvers.solution import Solution
from cocomplete.spectral import LowRank
from tests.strategies import cvxpy_minimum, tiny_objective


def solve(objective: Objective, recipe: Recipe, **params: Any) -> Solution:
    start = LowRank.zero(objective.shape, objective.dtype)
    return solve_proximal(
        objective.smooth, objective.rank_penalty, start, objective.offsets, recipe, **params
    )


def squared(seed: int = 0, penalty: float = 0.5, shape: tuple[int, int] = (30, 12)) -> Objective:
    rng = np.random.default_rng(seed)
    D = rng.normal(size=(shape[0], 3)) @ rng.normal(size=(3, shape[1])) + 0.1 * rng.normal(size=shape)
    D[rng.random(shape) < 0.5] = np.nan
    return Objective(Observations(D, np.empty((shape[0], 0))), penalty, 0.0, 0.5, np.zeros(shape[1]))


def published_iterates(D: FloatArray, penalty: float, iterations: int) -> list[FloatArray]:
    """Maxide's accelerated steps with their own momentum, and nothing but numpy.linalg.svd."""
    known, D = ~np.isnan(D), np.nan_to_num(D)
    M, M_before, a, a_before, iterates = np.zeros(D.shape), np.zeros(D.shape), 1.0, 1.0, []
    for _ in range(iterations):
        V = M + a * (1 / a_before - 1) * (M - M_before)
        U, s, Vt = np.linalg.svd(V - known * (V - D), full_matrices=False)
        M, M_before = (U * np.maximum(s - penalty, 0)) @ Vt, M
        a, a_before = (np.sqrt(a**4 + 4 * a**2) - a**2) / 2, a
        iterates.append(M)
    return iterates


def test_accelerated_iterates_are_the_published_ones() -> None:
    objective = squared()
    seen = []
    solve(
        objective,
        Recipe(max_iter=40),
        monitor=lambda M, _: seen.append(M.dense()) or {},  # type: ignore[func-returns-value]
    )
    for ours, plain in zip(seen, published_iterates(objective.table.X, 0.5, 40), strict=True):
        np.testing.assert_allclose(ours, plain, atol=1e-9)


@pytest.mark.parametrize("accelerate", [True, False])
@pytest.mark.parametrize("seed", range(4))
def test_minimum_is_that_of_cvxpy(seed: int, accelerate: bool) -> None:
    objective = tiny_objective(seed)
    minimum, best = cvxpy_minimum(objective)
    recipe = Recipe(
        objective.smoothness, accelerate=accelerate, restart=accelerate, max_iter=20_000, tol=1e-13
    )
    solution = with_gap(objective, solve(objective, recipe))
    assert solution.converged
    assert solution.objective == pytest.approx(minimum, rel=1e-6)
    assert solution.duality_gap + 1e-9 >= 0
    assert solution.duality_gap < 1e-4
    np.testing.assert_allclose(solution.M.dense(), best, atol=5e-3)


@pytest.mark.parametrize("iterations", [1, 5, 20])
def test_the_gap_is_honest_where_the_loop_was_stopped_early(iterations: int) -> None:
    objective = tiny_objective(3)
    minimum, _ = cvxpy_minimum(objective)
    solution = with_gap(objective, solve(objective, Recipe(objective.smoothness, max_iter=iterations)))
    assert solution.duality_gap >= (solution.objective - minimum) / solution.objective - 1e-7


def test_plain_steps_never_climb_and_restart_saves_steps() -> None:
    objective = squared(penalty=0.05)
    values = [record["objective"] for record in solve(objective, Recipe(accelerate=False)).history]
    assert np.all(np.diff(values) <= 1e-9)
    kinds: tuple[dict[str, Any], ...] = ({"restart": True}, {"accelerate": False})
    counts = [solve(objective, Recipe(max_iter=5000, tol=1e-12, **kind)).n_iter for kind in kinds]
    assert counts[0] < counts[1]


def test_line_search_finds_a_curvature_that_bounds_the_loss() -> None:
    base = squared()

    def steeper(T: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = base.smooth(T)
        return 50 * value, 50 * gradient

    start = LowRank.zero(base.shape, base.dtype)
    recipe = Recipe(backtrack=True, restart=True, max_iter=5000, tol=1e-15)
    solution = solve_proximal(steeper, 25.0, start, base.offsets, recipe)
    reference = solve(base, replace(recipe, backtrack=False))
    np.testing.assert_allclose(solution.M.dense(), reference.M.dense(), atol=1e-3)
    assert solution.objective == pytest.approx(50 * reference.objective, rel=1e-9)


@pytest.mark.parametrize("backtrack", [True, False])
@pytest.mark.parametrize("restart", [True, False])
def test_a_quadratic_need_not_be_looked_at_twice(backtrack: bool, restart: bool) -> None:
    objective, looks = squared(), []

    def loss(T: FloatArray) -> tuple[float, FloatArray]:
        looks.append(T)
        return objective.smooth(T)

    start = LowRank.zero(objective.shape, objective.dtype)
    recipe = Recipe(backtrack=backtrack, restart=restart, max_iter=40)
    once, twice = (
        solve_proximal(loss, 0.5, start, objective.offsets, replace(recipe, quadratic=quadratic))
        for quadratic in (True, False)
    )
    np.testing.assert_allclose(once.M.dense(), twice.M.dense(), atol=1e-10)
    np.testing.assert_allclose(
        [record["objective"] for record in once.history], [record["objective"] for record in twice.history]
    )
    assert len(looks) == (40 + 2) + 2 * 40


@pytest.mark.parametrize("accelerate", [True, False])
def test_free_label_offsets_reach_the_joint_minimum(accelerate: bool) -> None:
    objective = tiny_objective(5, free_offsets=True)
    data, d, n = objective.table, 5, 8
    M, b = cp.Variable((8, 8)), cp.Variable((1, 3))
    Z = M[:, d:] + np.ones((8, 1)) @ b
    residual = cp.multiply(data.X_known.astype(float), M[:, :d] - np.nan_to_num(data.X))
    log_loss = cp.sum(
        cp.multiply(data.Y_known.astype(float), cp.logistic(Z) - cp.multiply(np.nan_to_num(data.Y), Z))
    )
    problem = cp.Problem(cp.Minimize(log_loss + 0.3 * cp.sum_squares(residual) + 0.7 * cp.normNuc(M)))
    problem.solve(solver=cp.CLARABEL)
    steps = np.concatenate((np.zeros(5), np.full(3, 2.0 / n)))
    recipe = Recipe(0.6, accelerate=accelerate, offset_steps=steps, max_iter=20_000, tol=1e-14)
    solution = solve(replace(objective, free_offsets=False), recipe)
    assert solution.objective == pytest.approx(problem.value, rel=1e-6)
    assert not solution.offsets[:d].any()
    labels = data.Y_known.any(axis=0)
    np.testing.assert_allclose(solution.offsets[d:][labels], b.value[0][labels], atol=1e-2)


def test_a_constraint_is_kept_at_every_loss() -> None:
    objective, seen = squared(), []

    def loss(T: FloatArray) -> tuple[float, FloatArray]:
        seen.append(T[:, 0].copy())
        return objective.smooth(T)

    def reset(M: FloatArray) -> None:
        M[:, 0] = 1

    start = LowRank.zero(objective.shape, objective.dtype)
    solve_proximal(loss, 0.5, start, objective.offsets, Recipe(constrain=reset, max_iter=10))
    np.testing.assert_allclose(seen, 1)


def test_continuation_starts_each_from_the_one_before() -> None:
    objective = squared()
    recipe = Recipe(restart=True, max_iter=2000, tol=1e-11)
    start = LowRank.zero(objective.shape, objective.dtype)
    path = list(solve_continuation(objective.smooth, [4.0, 2.0, 1.0], start, objective.offsets, recipe))
    assert [penalty for penalty, _ in path] == [4.0, 2.0, 1.0]
    cold = solve(replace(objective, rank_penalty=1.0), recipe)
    np.testing.assert_allclose(path[-1][1].M.dense(), cold.M.dense(), atol=1e-3)
    again = solve_proximal(objective.smooth, 1.0, path[-1][1].M, objective.offsets, recipe)
    assert again.n_iter <= 3


def test_single_precision_stays_single() -> None:
    objective = squared()
    single = Objective(
        Observations(objective.table.X.astype(np.float32), np.empty((30, 0), np.float32)),
        0.5,
        0.0,
        0.5,
        np.zeros(12, np.float32),
    )
    answers = [solve(each, Recipe(max_iter=30)) for each in (single, objective)]
    assert answers[0].M.U.dtype == answers[0].M.s.dtype == answers[0].offsets.dtype == np.float32
    assert answers[0].objective == pytest.approx(answers[1].objective, rel=1e-4)
