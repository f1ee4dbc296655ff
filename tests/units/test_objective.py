"""The objective's parts beside their definitions on whole matrices, from tables and from cells alone."""

import numpy as np
import pytest
from scipy.special import expit, logit

from cocomplete.arrays import FloatArray
from cocomplete.problem import cells as cells_module
from cocomplete.problem import objective as objective_module
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.spectral import LowRank

nan = np.nan
OFFSETS = np.array([0.5, -1.0, 0.2, 0.3, -0.7])


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table be cut into several parts."""
    monkeypatch.setattr(cells_module, "PART_NUMBERS", 60)


def table(seed: int = 0, *, features: bool = True, labels: bool = True) -> Observations:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(1, 1, size=(40, 3)), rng.integers(0, 2, (40, 2)).astype(float)
    X[rng.random(X.shape) < (0.3 if features else 2)] = nan
    Y[rng.random(Y.shape) < (0.3 if labels else 2)] = nan
    return Observations(X, Y)


def point(seed: int = 1) -> FloatArray:
    return np.random.default_rng(seed).normal(size=(40, 5))


def value(observed: Observations, T: FloatArray, weight: float, penalty: float) -> float:
    """All but the first trace norm, by its definition."""
    Z, Y = T[:, 3:][observed.Y_known], observed.Y[observed.Y_known]
    residual = np.where(observed.X_known, T[:, :3] - observed.X, 0)
    nuclear = float(np.linalg.svd(residual, compute_uv=False).sum())
    log_loss = float((np.logaddexp(0, Z) - Y * Z).sum())
    return log_loss + weight * float((residual**2).sum()) + penalty * nuclear


@pytest.mark.parametrize("penalty", [0.0, 0.4])
def test_the_value_is_what_is_written_at_the_top(penalty: float) -> None:
    observed = table()
    objective = Objective(observed, 0.7, penalty, 0.3, OFFSETS)
    M = point()
    nuclear = float(np.linalg.svd(M, compute_uv=False).sum())
    expected = value(observed, M + OFFSETS, 0.3, penalty) + 0.7 * nuclear
    assert objective.value(M) == pytest.approx(expected, rel=1e-9)
    U, s, Vt = np.linalg.svd(M, full_matrices=False)
    assert objective.value(LowRank(U, s, Vt)) == pytest.approx(expected, rel=1e-9)
    moved = value(observed, M + 2 * OFFSETS, 0.3, penalty) + 0.7 * nuclear
    for given in (M, LowRank(U, s, Vt)):
        assert objective.value(given, 2 * OFFSETS) == pytest.approx(moved, rel=1e-9)
    assert objective.loss(M)[0] == pytest.approx(value(observed, M, 0.3, penalty), rel=1e-9)
    assert objective.smooth(M)[0] == pytest.approx(value(observed, M, 0.3, 0), rel=1e-9)


def test_gradients_by_their_formulas_and_into_given_memory() -> None:
    observed, T = table(), point()
    objective = Objective(observed, 0.7, 0.4, 0.3, OFFSETS)
    residual = np.where(observed.X_known, T[:, :3] - observed.X, 0)
    np.testing.assert_array_equal(objective.residual(T), residual)
    slopes = np.where(observed.Y_known, expit(T[:, 3:]) - observed.Y, 0)
    out = np.zeros((40, 5))
    found = objective.smooth(T, out)[1]
    assert found is out
    np.testing.assert_allclose(found, np.hstack((0.6 * residual, slopes)), atol=1e-12)
    U, _, Vt = np.linalg.svd(residual, full_matrices=False)
    whole = np.hstack((0.6 * residual + 0.4 * np.where(observed.X_known, U @ Vt, 0), slopes))
    np.testing.assert_allclose(objective.loss(T)[1], whole, atol=1e-9)
    known = np.hstack((observed.X_known, observed.Y_known))
    G, moved = np.full((40, 5), 2.0), T.copy()
    objective.descend(moved, G, 0.25)
    np.testing.assert_allclose(moved, np.where(known, T - 0.5, T))


def test_the_three_regimes() -> None:
    for penalty, regime in (
        (0.0, "smooth"),
        (0.3, "between"),
        (0.7, "interpolation"),
        (0.8, "interpolation"),
    ):
        assert Objective(table(), 0.7, penalty, 0.3, OFFSETS).regime == regime
    # Without an observed feature there is no residual.
    bare = table(features=False)
    for observed in (bare, Cells.of(bare)):
        assert Objective(observed, 0.7, 0.8, 0.3, OFFSETS).regime == "smooth"
    assert Objective(Cells.of(table()), 0.7, 0.8, 0.3, OFFSETS).regime == "interpolation"


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_cells_alone_are_the_same_problem(dtype: type) -> None:
    observed = table()
    observed = Observations(observed.X.astype(dtype), observed.Y.astype(dtype))
    whole, cells = (
        Objective(each, 0.7, 0.0, 0.3, OFFSETS.astype(dtype), True) for each in (observed, Cells.of(observed))
    )
    assert whole.shape == cells.shape == (40, 5)
    assert whole.dtype == cells.dtype == dtype
    assert whole.rank_penalty_max == cells.rank_penalty_max
    np.testing.assert_array_equal(whole.offsets_alone, cells.offsets_alone)
    assert whole.table is observed
    with pytest.raises(AssertionError):
        _ = cells.table


def test_smoothness_bounds_the_curvature() -> None:
    assert Objective(table(), 0.7, 0.0, 0.3, OFFSETS).smoothness == 0.6
    assert Objective(table(), 0.7, 0.0, 0.01, OFFSETS).smoothness == 0.25
    assert Objective(table(labels=False), 0.7, 0.0, 0.01, OFFSETS).smoothness == 0.02


def test_the_best_offsets_alone_are_means_and_log_odds() -> None:
    X = np.array([[1.0, nan, 0.0], [3.0, nan, nan], [nan, nan, nan]])
    Y = np.array([[1.0, nan], [1.0, nan], [0.0, nan]])
    observed = Observations(X, Y)
    start = OFFSETS.copy()
    found = Objective(observed, 1.0, 0.0, 0.3, start, True).offsets_alone
    np.testing.assert_allclose(found, [2, -1.0, 0, logit(2 / 3), -0.7])
    np.testing.assert_array_equal(start, OFFSETS)
    assert Objective(observed, 1.0, 0.0, 0.3, start).offsets_alone is start


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("penalty", [0.0, 0.4])
def test_the_largest_penalty_is_the_norm_of_the_slopes_at_zero(
    penalty: float, free: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed = table()
    objective = Objective(observed, 1.0, penalty, 0.3, OFFSETS, free)
    start = np.broadcast_to(objective.offsets_alone, (40, 5))
    expected = np.linalg.norm(objective.loss(start)[1], 2)
    assert objective.rank_penalty_max == pytest.approx(expected, rel=1e-9)
    # Of wide tables it is taken from the whole matrix.
    monkeypatch.setattr(objective_module, "DENSE_GRAM", 2)
    wide = Objective(observed, 1.0, penalty, 0.3, OFFSETS, free)
    assert wide.rank_penalty_max == pytest.approx(expected, rel=1e-9)
