"""Every exact solver reaches CVXPY's minimum, in every regime, with and without free offsets."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.metrics import hamming_error
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.choice import SOLVERS
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.factored_run import FactoredRun
from cocomplete.solvers.factors import FactorSVD
from cocomplete.solvers.path import rank_penalties, solve_path
from cocomplete.solvers.polish import clear_rank, polish
from cocomplete.solvers.primal_dual import solve_primal_dual
from cocomplete.spectral import DENSE_GRAM, LowRank, SparseSpectrum
from tests.strategies import cvxpy_minimum, tiny_objective

REGIMES = {"smooth": 0.0, "between": 0.3, "interpolation": 0.9}
PAIRS = [(one.name, regime) for one in SOLVERS.values() if one.exact for regime in one.regimes]


@pytest.mark.parametrize("free_offsets", [False, True])
@pytest.mark.parametrize(("solver", "regime"), PAIRS)
@pytest.mark.parametrize("seed", range(6))
def test_minimum_certificate_and_minimiser(seed: int, solver: str, regime: str, free_offsets: bool) -> None:
    objective = tiny_objective(seed, residual_penalty=REGIMES[regime], free_offsets=free_offsets)
    assert objective.regime == regime
    minimum, best = cvxpy_minimum(objective)
    solution = SOLVERS[solver].solve(objective, tol=1e-6, max_iter=3000)
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
def test_the_gap_is_honest_far_from_the_minimum_too(solver: str, regime: str, free_offsets: bool) -> None:
    objective = tiny_objective(11, residual_penalty=REGIMES[regime], free_offsets=free_offsets)
    minimum, _ = cvxpy_minimum(objective)
    for iterations in (1, 2, 3, 10, 20):
        solution = SOLVERS[solver].solve(objective, tol=1e-9, max_iter=iterations)
        assert solution.duality_gap >= (solution.objective - minimum) / solution.objective - 1e-7


@pytest.mark.parametrize("free_offsets", [False, True])
@pytest.mark.parametrize("regime", ["smooth", "interpolation"])
def test_a_long_table_is_started_from_some_rows_and_ends_at_the_same_minimum(
    regime: str, free_offsets: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = make_low_rank_multilabel(300, 20, 8, rank=2, observed=0.5, random_state=1)
    observed = Observations(data.X, data.Y).without_one_sided_labels()
    objective = Objective(
        observed, 5.0, 5.0 if regime == "interpolation" else 0.0, 0.2, np.zeros(28), free_offsets
    )
    whole = solve_factored(objective, tol=1e-5, max_iter=500)
    monkeypatch.setattr("cocomplete.solvers.start.START_ROWS", 60)
    monkeypatch.setattr("cocomplete.solvers.factored_run.LONG", 100)
    started = solve_factored(objective, tol=1e-5, max_iter=500)
    assert started.converged
    assert started.objective == pytest.approx(whole.objective, rel=2e-5)


@pytest.mark.parametrize("free_offsets", [False, True])
@pytest.mark.parametrize("regime", ["smooth", "interpolation"])
@pytest.mark.parametrize("seed", range(3))
def test_factored_and_primal_dual_agree_on_middling_tables(
    seed: int, regime: str, free_offsets: bool
) -> None:
    data = make_low_rank_multilabel(60, 25, 10, rank=3, observed=0.5, random_state=seed)
    X, Y = data.X + 0.5 * np.random.default_rng(seed).normal(size=data.X.shape), data.Y
    observed = Observations(X, Y).without_one_sided_labels()
    penalty = 6.0 if regime == "interpolation" else 0.0
    objective = Objective(observed, 4.0, penalty, 0.2, np.zeros(35), free_offsets)
    one = solve_factored(objective, tol=1e-5, max_iter=500)
    two = solve_primal_dual(objective, tol=1e-5, max_iter=20_000)
    assert one.converged
    assert two.converged
    assert one.objective == pytest.approx(two.objective, rel=2e-5)
    if regime == "interpolation":
        residual = objective.residual(one.M.dense() + one.offsets)
        assert np.linalg.norm(residual) < 1e-3 * np.linalg.norm(np.nan_to_num(X))


@pytest.mark.parametrize("free_offsets", [False, True])
def test_at_and_above_the_largest_penalty_the_rank_is_zero_exactly(free_offsets: bool) -> None:
    data = make_low_rank_multilabel(80, 20, 8, rank=2, observed=0.5, random_state=0)
    observed = Observations(data.X, data.Y).without_one_sided_labels()
    objective = Objective(observed, 1.0, 0.0, 0.1, np.zeros(28), free_offsets)
    top = objective.rank_penalty_max
    for factor, rank in ((1.0 + 1e-8, 0), (3.0, 0), (0.97, 1)):
        solution = solve_factored(replace(objective, rank_penalty=factor * top), tol=1e-5)
        assert solution.M.rank == rank
        assert solution.converged


def test_single_precision_stays_single_and_converges_to_what_it_allows() -> None:
    data = make_low_rank_multilabel(200, 60, 20, rank=3, observed=0.4, random_state=0)
    answers = []
    for dtype in (np.float32, np.float64):
        observed = Observations(data.X.astype(dtype), data.Y.astype(dtype))
        objective = Objective(observed, 1.0, 0.0, 0.01, np.zeros(80, dtype))
        answers.append(solve_factored(objective, tol=1e-3))
    single, double = answers
    assert single.M.U.dtype == single.M.s.dtype == single.offsets.dtype == np.float32
    assert single.converged
    assert single.objective == pytest.approx(double.objective, rel=2e-3)


def test_single_precision_keeps_small_singular_values_of_long_tables() -> None:
    # Once those below n roundings of the largest were dropped, a thousandth of it for ten thousand rows.
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.normal(size=(10_000, 3)))[0], np.linalg.qr(rng.normal(size=(40, 3)))[0]
    s = np.array([1.0, 1e-3, 1e-5])
    blocks = [np.linalg.qr(part) for part in np.split((U * s).astype(np.float32), [3000, 7000])]
    found = FactorSVD.of(blocks, np.linalg.qr(V.astype(np.float32)))
    np.testing.assert_allclose(found.s, s, rtol=1e-2)
    left = np.vstack([found.left(block) for block in range(3)])
    np.testing.assert_allclose(np.abs(np.sum(left * U, axis=0)), 1, rtol=1e-3)
    dead = np.linalg.qr(np.hstack((U.astype(np.float32), np.zeros((10_000, 2), np.float32))))
    assert FactorSVD.of([dead], np.linalg.qr(np.ones((40, 5), np.float32))).s.size == 1


def test_the_path_gives_what_cold_solves_give() -> None:
    data = make_low_rank_multilabel(120, 40, 15, rank=3, observed=0.5, random_state=1)
    objective = Objective(Observations(data.X, data.Y), 1.0, 0.0, 0.05, np.zeros(55))
    penalties = rank_penalties(objective, 8, smallest=0.02)
    assert penalties[0] == pytest.approx(objective.rank_penalty_max)
    ranks = []
    for penalty, (at, warm) in zip(penalties, solve_path(objective, penalties, tol=1e-4), strict=True):
        assert at.rank_penalty == penalty
        assert warm.converged
        cold = solve_factored(at, tol=1e-4)
        assert warm.objective == pytest.approx(cold.objective, rel=2e-4)
        ranks.append(warm.M.rank)
    assert ranks[0] == 0
    assert ranks[-1] >= 3


def test_the_path_keeps_features_as_constraints() -> None:
    data = make_low_rank_multilabel(80, 30, 10, rank=2, observed=0.5, random_state=2)
    objective = Objective(Observations(data.X, data.Y), 1.0, 1.0, 0.05, np.zeros(40))
    for at, solution in solve_path(objective, [4.0, 2.0, 1.0, 0.5], tol=1e-3):
        assert at.regime == "interpolation"
        assert solution.converged
        assert np.linalg.norm(at.residual(solution.M.dense())) < 0.01 * np.linalg.norm(np.nan_to_num(data.X))


@pytest.mark.parametrize(("seed", "share"), [(1, 0.2), (35, 0.7)])
def test_the_path_with_features_as_constraints_does_not_get_stuck(seed: int, share: float) -> None:
    # Multipliers of a start with too few factors once sent an offset to 85, where there is no slope back, and
    # a growth of the rank that had failed was tried at ever smaller sizes from then on.
    rng = np.random.default_rng(seed)
    n, d, n_labels = 150, 20, 40
    U = rng.normal(size=(n, 3))
    X = U @ rng.normal(size=(3, d)) + rng.normal(size=(n, d))
    Z = U @ rng.normal(size=(3, n_labels)) - 1.5 * rng.random(n_labels) - 1
    Y = (rng.random(Z.shape) < expit(Z)).astype(float)
    X[rng.random(X.shape) > share] = np.nan
    Y[rng.random(Y.shape) > share] = np.nan
    observed = Observations(X, Y).without_one_sided_labels()
    objective = Objective(observed, 1.0, 0.0, 0.5, np.zeros(d + n_labels), True)
    top = objective.rank_penalty_max
    objective = replace(objective, rank_penalty=0.4 * top, residual_penalty=0.4 * top)
    for _, solution in solve_path(objective, [0.4 * top, 0.17 * top, 0.07 * top], tol=1e-2, max_iter=25):
        assert solution.converged
        assert np.abs(solution.offsets).max() < 10


def test_a_warm_start_from_the_answer_is_already_there() -> None:
    objective = tiny_objective(2)
    answer = solve_factored(objective, tol=1e-6)
    again = solve_factored(objective, tol=1e-5, start=answer)
    assert again.n_iter == 0
    assert again.converged


def test_the_regime_in_between_is_refused_by_the_factored_solver() -> None:
    with pytest.raises(ValueError, match="residual_penalty = 0 or at least rank_penalty"):
        solve_factored(tiny_objective(0, residual_penalty=0.3))


def test_polishing_needs_a_clear_gap_and_lowers_the_label_error() -> None:
    data = make_low_rank_multilabel(400, 200, 50, rank=4, observed=0.3, random_state=0)
    objective = Objective(Observations(data.X, data.Y), 1.0, 1.0, 0.01, np.zeros(250))
    solution = solve_factored(objective, tol=1e-2)
    refit = polish(objective, solution)
    assert clear_rank(solution.M) == refit.M.rank == 4
    assert np.isnan(refit.duality_gap)
    # Over observed cells the plain fit is flattered: it follows their noise.
    seen = ~np.isnan(data.Y)
    errors = [
        hamming_error(data.Y_true, each.M.dense()[:, 200:] > 0, observed=seen) for each in (solution, refit)
    ]
    assert errors[1] < errors[0]
    flat = LowRank(np.eye(5), np.array([5.0, 4.0, 3.0, 2.0, 1.0]), np.eye(5))
    assert clear_rank(flat) is None
    assert polish(objective, replace(solution, M=LowRank(np.eye(2), np.ones(2), np.eye(2)))) is None


def test_polishing_meets_features_that_are_constraints() -> None:
    data = make_low_rank_multilabel(200, 60, 20, 3, observed=0.4, random_state=0)
    objective = Objective(Observations(data.X, data.Y), 1.0, 1.0, 0.5, np.zeros(80))
    solution = solve_factored(objective)
    refit = polish(objective, solution)
    assert refit.M.rank == 3
    d = data.X.shape[1]
    before, after = (np.linalg.norm(one.M.dense()[:, :d] - data.X_true) for one in (solution, refit))
    assert after < 0.1 * before
    assert after < 1e-4 * np.linalg.norm(data.X_true)


@pytest.mark.parametrize("rows", [40, DENSE_GRAM + 4])
def test_wide_tables_are_certified_by_their_rows_or_by_lanczos(rows: int) -> None:
    """Both agree with the exact spectrum; what Lanczos gives has no trace norm."""
    rng = np.random.default_rng(0)
    shape = (rows, DENSE_GRAM + 100)
    dense = np.where(rng.random(shape) < 0.05, rng.normal(size=shape), 0)
    blocks = [
        (sparse.csr_array(some[:, :1000]), sparse.csr_array(some[:, 1000:])) for some in np.split(dense, 4)
    ]
    exact = np.linalg.svd(dense, compute_uv=False)
    spectrum = SparseSpectrum(blocks, floor=0.0)
    assert exact[0] - 1e-9 <= spectrum.largest() <= exact[0] * (1 + 1e-3)
    values, vectors = spectrum.above((exact[4] + exact[5]) / 2, 40)
    np.testing.assert_allclose(values, exact[:5], rtol=1e-5)
    np.testing.assert_allclose(np.linalg.norm(dense @ vectors, axis=0), values, rtol=1e-5)
    assert spectrum.trace_norm() == (pytest.approx(exact.sum()) if rows == 40 else np.inf)


def test_constraints_are_not_let_go_because_a_capped_rank_leaves_a_gap() -> None:
    data = make_low_rank_multilabel(120, 30, 10, 3, 0.5, random_state=0)
    objective = Objective(Observations(data.X, data.Y), 1.0, 1.0, 0.01, np.zeros(40))
    run = FactoredRun(objective, Cells.of(objective.table), 1e-3, 3, started=0.0)
    run.solve(None, 30)
    assert run.function.rho >= run.constraints.first_rho
    slopes = run.function.value(run._first(None))[1]
    for full, falls in ((True, False), (False, True)):
        run.constraints.set_rho(1.0)
        run.constraints.adapt_rho(1e9, slopes, full=full)
        assert (run.function.rho < run.constraints.first_rho) == falls


def test_small_problems_leave_blas_one_thread() -> None:
    from threadpoolctl import threadpool_info, threadpool_limits

    from cocomplete.engines.blas import FEW, one_thread_if_small

    def threads() -> set[int]:
        return {pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "blas"}

    with threadpool_limits(2, "blas"):
        # A library that was built for one thread stays at one.
        usual = threads()
        with one_thread_if_small((10, 10)):
            assert threads() == {1}
        assert threads() == usual
        with one_thread_if_small((FEW, 2)):
            assert threads() == usual


@pytest.mark.parametrize("share", [0.4, 0.05])
def test_answers_do_not_depend_on_the_number_of_threads(
    monkeypatch: pytest.MonkeyPatch, share: float
) -> None:
    from numba import get_num_threads, set_num_threads

    from tests.conftest import THREADS

    # Several blocks of rows; with few cells they are visited one by one.
    monkeypatch.setattr("cocomplete.problem.cells.PART_NUMBERS", 1)
    data = make_low_rank_multilabel(200, 20, 6, 3, share, random_state=0)
    objective = Objective(Observations(data.X, data.Y), 0.5, 0.0, 0.1, np.zeros(26))
    assert len(Cells.of(objective.table).parts()) > 4
    before, answers = get_num_threads(), []
    for threads in (1, THREADS):
        set_num_threads(threads)
        answers.append(solve_factored(objective, tol=1e-4))
    set_num_threads(before)
    np.testing.assert_array_equal(answers[0].M.dense(), answers[1].M.dense())
    # Nor is the answer that of another table because it is cut into blocks.
    monkeypatch.undo()
    assert answers[0].objective == pytest.approx(solve_factored(objective, tol=1e-4).objective, rel=2e-4)
