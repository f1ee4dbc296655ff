from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from sklearn.utils import Bunch

from cocomplete.arrays import FloatArray
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.metrics import hamming_error, relative_error
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.subgradient import solve_subgradient
from cocomplete.spectral import LowRank


@pytest.fixture
def problem() -> tuple[Bunch, Observations]:
    data = make_low_rank_multilabel(90, 40, 15, rank=3, observed=0.4, random_state=7)
    return data, Observations(data.X, data.Y)


def printed_algorithm(
    objective: Objective, iterations: int, step: float = 100.0, decay: float = 0.99, floor: float = 40.0
) -> list[FloatArray]:
    """Algorithm 1 with nothing but numpy.linalg.svd."""
    data = objective.table
    d = data.n_features
    X, Y = np.nan_to_num(data.X), np.nan_to_num(data.Y)
    M, eta, iterates = np.zeros(objective.shape), step, []
    for _ in range(iterations):
        residual = np.where(data.X_known, M[:, :d] - X, 0)
        slope = np.where(data.Y_known, 1 / (1 + np.exp(-M[:, d:])) - Y, 0)
        gradient = np.hstack((2 * objective.feature_weight * residual, slope))
        U, s, Vt = np.linalg.svd(residual, full_matrices=False)
        keep = s > 1e-10 * s[0]
        polar = U[:, keep] @ Vt[keep]
        gradient[:, :d] += objective.residual_penalty * np.where(data.X_known, polar, 0)
        U, s, Vt = np.linalg.svd(M - eta * gradient, full_matrices=False)
        M = (U * np.maximum(s - eta * objective.rank_penalty, 0)) @ Vt
        iterates.append(M)
        eta = max(eta * decay, floor)
    return iterates


@pytest.mark.parametrize("residual_penalty", [0.0, 1.0])
def test_iterates_are_those_of_the_plain_svd_version(
    problem: tuple[Bunch, Observations], residual_penalty: float
) -> None:
    objective = Objective(problem[1], 1.0, residual_penalty, 0.01, np.zeros(55))
    seen = []
    solve_subgradient(
        objective,
        max_iter=30,
        monitor=lambda M, _: seen.append(M.dense()) or {},  # type: ignore[func-returns-value]
    )
    for ours, plain in zip(seen, printed_algorithm(objective, 30), strict=True):
        np.testing.assert_allclose(ours, plain, atol=1e-8 * np.abs(plain).max())


def test_history_has_objective_seconds_step_and_the_monitor_s_figures(
    problem: tuple[Bunch, Observations],
) -> None:
    data, observed = problem
    objective = Objective(observed, 1.0, 1.0, 0.01, np.zeros(55))

    def errors(M: LowRank, offsets: FloatArray) -> dict[str, float]:
        dense = M.dense()
        return {
            "X_error": relative_error(data.X_true, dense[:, :40]),
            "Y_error": hamming_error(data.Y_true, dense[:, 40:] > 0),
        }

    records: list[dict[str, Any]] = []
    solution = solve_subgradient(objective, max_iter=120, monitor=errors, progress=records.append)
    assert records == solution.history
    assert [record["iteration"] for record in records] == list(range(1, 121))
    assert records[0]["step"] == 100
    assert records[-1]["step"] == 40
    assert records[-1]["X_error"] < 0.2 < records[0]["X_error"]
    assert records[-1]["Y_error"] < 0.15
    assert records[-1]["objective"] == pytest.approx(objective.value(solution.M), rel=1e-9)
    assert solution.objective == records[-1]["objective"]
    assert all(later["seconds"] >= earlier["seconds"] for earlier, later in pairwise(records))


def test_step_decays_without_a_floor(problem: tuple[Bunch, Observations]) -> None:
    objective = Objective(problem[1], 1.0, 0.0, 0.01, np.zeros(55))
    steps = [record["step"] for record in solve_subgradient(objective, max_iter=200, floor=None).history]
    np.testing.assert_allclose(steps, 100 * 0.99 ** np.arange(200))


def test_single_precision_stays_single(problem: tuple[Bunch, Observations]) -> None:
    observed = Observations(problem[1].X.astype(np.float32), problem[1].Y.astype(np.float32))
    single = Objective(observed, 1.0, 1.0, 0.01, np.zeros(55, np.float32))
    double = Objective(problem[1], 1.0, 1.0, 0.01, np.zeros(55))
    answers = [solve_subgradient(each, max_iter=20) for each in (single, double)]
    assert answers[0].M.U.dtype == answers[0].M.s.dtype == np.float32
    np.testing.assert_allclose(answers[0].objective, answers[1].objective, rtol=1e-3)
