"""New rows under the minimiser of F: the fit's own rows come back, and covariances are inverse curvatures."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import DTypeLike
from scipy.optimize import minimize
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.mode import Mode
from tests.strategies import tiny_objective

nan = np.nan


def random_mode(rng: np.random.Generator, d: int, labels: int, k: int) -> Mode:
    fitted_to = Cells.of(random_rows(rng, 5, d, labels))
    V, offsets = rng.normal(size=(d + labels, k)), rng.normal(size=d + labels)
    return Mode(V, offsets, 0.8, 0.6, fitted_to)


def random_rows(
    rng: np.random.Generator, n: int, d: int, labels: int, dtype: DTypeLike = float
) -> Observations:
    X, Y = rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.5).astype(float)
    X[rng.random(X.shape) < 0.4] = nan
    Y[rng.random(Y.shape) < 0.4] = nan
    return Observations(X.astype(dtype), Y.astype(dtype))


def row_cost(mode: Mode, x: FloatArray, y: FloatArray, u: FloatArray) -> float:
    """One row's share of F, from its definition."""
    t = mode.V @ u + mode.offsets
    e, z = (t[: len(x)] - x)[~np.isnan(x)], t[len(x) :][~np.isnan(y)]
    log_loss = np.sum(np.logaddexp(0, z) - y[~np.isnan(y)] * z)
    return float(0.5 * mode.rho * e @ e + log_loss + 0.5 * mode.ridge * u @ u)


def row_gradient(mode: Mode, x: FloatArray, y: FloatArray, u: FloatArray) -> FloatArray:
    t = mode.V @ u + mode.offsets
    slope = np.concatenate((mode.rho * (t[: len(x)] - x), expit(t[len(x) :]) - y))
    return mode.V.T @ np.nan_to_num(slope) + mode.ridge * u


@pytest.mark.parametrize("free_offsets", [False, True])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_folding_the_rows_of_the_fit_in_gives_the_fit(seed: int, free_offsets: bool) -> None:
    objective = tiny_objective(seed, offsets=True, free_offsets=free_offsets)
    solution = solve_factored(objective, tol=1e-7, max_iter=500)
    cells = Cells.of(objective.table)
    mode = Mode.of(objective, solution, cells)
    predicted = mode.predict(cells)
    own = solution.M.dense()
    assert solution.M.rank > 0
    np.testing.assert_allclose(predicted.mean, own + solution.offsets, atol=1e-3)
    np.testing.assert_array_equal(predicted.score, predicted.mean)
    at = mode.at(own, cells)
    np.testing.assert_allclose(at.mean, predicted.mean, atol=1e-3)
    np.testing.assert_allclose(at.variance, predicted.variance)
    assert not mode.at(own, cells, variance=False).variance.any()


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_features_met_exactly_are_nearly_met_in_new_rows(seed: int) -> None:
    objective = tiny_objective(seed, rank_penalty=0.7, residual_penalty=0.7)
    solution = solve_factored(objective, tol=1e-6, max_iter=500)
    cells = Cells.of(objective.table)
    predicted = Mode.of(objective, solution, cells).predict(cells)
    known = objective.table.X_known
    miss = np.abs(predicted.mean[:, :5] - objective.table.X)[known]
    assert miss.max() < 0.05
    np.testing.assert_allclose(predicted.mean, solution.M.dense(), atol=0.05)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_rows_minimise_and_their_covariance_is_the_inverse_hessian(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (4, 6, 5, 4))
    mode, observed = random_mode(rng, d, labels, k), random_rows(rng, n, d, labels)
    predicted, h = mode.predict(Cells.of(observed)), 1e-5
    for i, (x, y) in enumerate(zip(observed.X, observed.Y, strict=True)):
        best = minimize(
            lambda u, x=x, y=y: row_cost(mode, x, y, u),
            np.zeros(k),
            jac=lambda u, x=x, y=y: row_gradient(mode, x, y, u),
            method="BFGS",
            options={"gtol": 1e-7},
        )
        np.testing.assert_allclose(predicted.mean[i], mode.V @ best.x + mode.offsets, atol=1e-4)
        hessian = np.array(
            [
                (row_gradient(mode, x, y, best.x + h * e) - row_gradient(mode, x, y, best.x - h * e))
                / (2 * h)
                for e in np.eye(k)
            ]
        )
        variance = np.einsum("jr,rc,jc->j", mode.V, np.linalg.inv(hessian), mode.V)
        np.testing.assert_allclose(predicted.variance[i], variance, rtol=1e-4, atol=1e-7)


def test_the_gradient_written_here_is_that_of_the_cost() -> None:
    rng = np.random.default_rng(0)
    mode, observed = random_mode(rng, 4, 3, 3), random_rows(rng, 1, 4, 3)
    x, y, u, h = observed.X[0], observed.Y[0], rng.normal(size=3), 1e-6
    slope = [(row_cost(mode, x, y, u + h * e) - row_cost(mode, x, y, u - h * e)) / (2 * h) for e in np.eye(3)]
    np.testing.assert_allclose(row_gradient(mode, x, y, u), slope, atol=1e-7)


@pytest.mark.parametrize("chunk", [1, 4_000_000])
def test_left_out_noise_is_that_of_refits_without_the_cell(
    monkeypatch: pytest.MonkeyPatch, chunk: int
) -> None:
    observed = Observations(tiny_objective(3).table.X, np.empty((8, 0)))
    objective = Objective(observed, 0.7, 0.0, 0.5, np.zeros(5))
    solution = solve_factored(objective, tol=1e-7)
    cells = Cells.of(observed)
    mode = Mode.of(objective, solution, cells)
    squares, counts = np.zeros(5), observed.X_known.sum(axis=0)
    for i, j in np.argwhere(observed.X_known):
        x = observed.X[i : i + 1].copy()
        x[0, j] = nan
        without = mode.predict(Cells.of(Observations(x, np.empty((1, 0)))), variance=False)
        assert not without.noise.any()
        squares[j] += (observed.X[i, j] - without.mean[0, j]) ** 2
    pooled = squares.sum() / counts.sum()
    monkeypatch.setattr("cocomplete.solvers.mode.CHUNK", chunk)
    np.testing.assert_allclose(mode.noise, (squares + pooled) / (counts + 1), rtol=1e-5)


def test_without_factors_every_row_has_the_offsets() -> None:
    rng = np.random.default_rng(1)
    observed, offsets = random_rows(rng, 12, 4, 3), rng.normal(size=7)
    cells = Cells.of(observed)
    mode = Mode(np.empty((7, 0)), offsets, 1.0, 1.0, cells)
    found = mode.predict(cells)
    np.testing.assert_allclose(found.mean, np.tile(offsets, (12, 1)))
    assert not found.variance.any()
    np.testing.assert_array_equal(mode.draw(cells, rng), found.mean)
    squares = np.where(observed.X_known, (observed.X - offsets[:4]) ** 2, 0)
    pooled = squares.sum() / observed.X_known.sum()
    np.testing.assert_allclose(
        mode.noise, (squares.sum(axis=0) + pooled) / (observed.X_known.sum(axis=0) + 1)
    )


@pytest.mark.parametrize("chunk", [1, 30])
def test_in_chunks_or_at_once(monkeypatch: pytest.MonkeyPatch, chunk: int) -> None:
    rng = np.random.default_rng(2)
    mode, observed = random_mode(rng, 5, 4, 3), random_rows(rng, 17, 5, 4)
    cells = Cells.of(observed)
    at_once = mode.predict(cells)
    monkeypatch.setattr("cocomplete.solvers.mode.CHUNK", chunk)
    in_chunks = mode.predict(cells)
    np.testing.assert_allclose(in_chunks.mean, at_once.mean, rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(in_chunks.variance, at_once.variance, rtol=1e-12, atol=1e-13)


def test_predicting_leaves_its_arguments_alone() -> None:
    rng = np.random.default_rng(3)
    mode, observed = random_mode(rng, 5, 4, 3), random_rows(rng, 6, 5, 4)
    cells = Cells.of(observed)
    kept = [(part, part.copy()) for part in (cells.x_value, cells.y_value, mode.V, mode.offsets, mode.noise)]
    own = rng.normal(size=(6, 9))
    kept.append((own, own.copy()))
    mode.predict(cells)
    mode.at(own, cells)
    mode.draw(cells, rng)
    for now, before in kept:
        np.testing.assert_array_equal(now, before)


def test_draws_have_the_predicted_moments() -> None:
    rng = np.random.default_rng(4)
    mode, observed = random_mode(rng, 3, 2, 2), random_rows(rng, 4, 3, 2)
    cells, count = Cells.of(observed), 1000
    predicted = mode.predict(cells)
    draws = np.array([mode.draw(cells, rng) for _ in range(count)])
    assert (np.abs(draws.mean(axis=0) - predicted.mean) < 5 * np.sqrt(predicted.variance / count)).all()
    np.testing.assert_allclose(draws.var(axis=0), predicted.variance, rtol=5 * np.sqrt(2 / count))


def test_a_row_without_cells_gets_the_offsets_and_the_prior_s_variance() -> None:
    rng = np.random.default_rng(5)
    mode = random_mode(rng, 4, 2, 3)
    predicted = mode.predict(Cells.of(Observations(np.full((1, 4), nan), np.full((1, 2), nan))))
    np.testing.assert_allclose(predicted.mean[0], mode.offsets)
    np.testing.assert_allclose(predicted.variance[0], (mode.V**2).sum(axis=1) / mode.ridge)
