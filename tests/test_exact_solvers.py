"""Every exact solver reaches CVXPY's minimum, in every regime, with and without free offsets."""

import numpy as np
import pytest

from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.primal_dual import solve_primal_dual
from strategies import cvxpy_minimum, tiny_objective

REGIMES = {"smooth": 0.0, "between": 0.3, "interpolation": 0.9}
SOLVERS = {
    "factored": (solve_factored, ("smooth", "interpolation")),
    "primal-dual": (solve_primal_dual, tuple(REGIMES)),
}
PAIRS = [(solver, regime) for solver, (_, regimes) in SOLVERS.items() for regime in regimes]


@pytest.mark.parametrize("free_offsets", [False, True])
@pytest.mark.parametrize(("solver", "regime"), PAIRS)
@pytest.mark.parametrize("seed", range(6))
def test_minimum_certificate_and_minimiser(seed, solver, regime, free_offsets):
    objective = tiny_objective(seed, residual_penalty=REGIMES[regime], free_offsets=free_offsets)
    assert objective.regime == regime
    minimum, best = cvxpy_minimum(objective)
    solution = SOLVERS[solver][0](objective, tol=1e-6, max_iter=3000)
    assert solution.converged
    assert solution.objective == pytest.approx(objective.value(solution.M, solution.offsets), rel=1e-9)
    true_gap = (solution.objective - minimum) / minimum
    # CVXPY's own accuracy is about 1e-8.
    assert -1e-7 <= true_gap <= solution.duality_gap + 1e-7
    assert solution.duality_gap <= 1e-6
    # F is strongly convex only along observed directions; 1e-6 in F leaves about its root in M.
    np.testing.assert_allclose(solution.M.dense(), best, atol=5e-3)


@pytest.mark.parametrize("free_offsets", [False, True])
@pytest.mark.parametrize(("solver", "regime"), PAIRS)
def test_the_gap_is_honest_far_from_the_minimum_too(solver, regime, free_offsets):
    objective = tiny_objective(11, residual_penalty=REGIMES[regime], free_offsets=free_offsets)
    minimum, _ = cvxpy_minimum(objective)
    for iterations in (1, 2, 3, 10, 20):
        solution = SOLVERS[solver][0](objective, tol=1e-9, max_iter=iterations)
        assert solution.duality_gap >= (solution.objective - minimum) / solution.objective - 1e-7
