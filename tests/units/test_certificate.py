"""The lower bound on F, step by step beside its definition on whole matrices."""

import numpy as np
import pytest
from scipy.special import xlogy

from cocomplete.arrays import FloatArray
from cocomplete.problem import cells as cells_module
from cocomplete.problem.cells import Cells, matrix_blocks
from cocomplete.problem.certificate import DualPoint, lower_bound, relative_gap, shaved
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.spectral import SparseSpectrum

nan = np.nan
OFFSETS = np.array([0.5, -1.0, 0.2, 0.3, -0.7])


@pytest.fixture(autouse=True)
def _small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the table be cut into several parts."""
    monkeypatch.setattr(cells_module, "PART_NUMBERS", 60)


def table(seed: int = 0) -> Observations:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(40, 3)), rng.integers(0, 2, (40, 2)).astype(float)
    X[rng.random(X.shape) < 0.3] = nan
    Y[rng.random(Y.shape) < 0.3] = nan
    return Observations(X, Y)


def candidate(cells: Cells, seed: int = 1, *, size: float = 1.0) -> DualPoint:
    """A point with y + s between 0 and 1, of which the squared loss answers a part of the features."""
    rng = np.random.default_rng(seed)
    features = size * rng.normal(size=cells.x_value.size)
    return DualPoint(features, 0.6 * features + 0.1, rng.random(cells.y_value.size) - cells.y_value)


def dual(cells: Cells, point: DualPoint, offsets: FloatArray, weight: float, theta: FloatArray) -> FloatArray:
    """D(θG) by its definition, for several θ."""
    A, S = point.features, point.labels
    p = np.clip(cells.y_value + theta[:, None] * S, 0, 1)
    entropy = (xlogy(p, p) + xlogy(1 - p, 1 - p)).sum(axis=1)
    linear = A @ (offsets[cells.x_column] - cells.x_value) + S @ offsets[cells.y_column]
    square = 0 if point.squared is None else point.squared @ point.squared / (4 * weight)
    return np.asarray(-entropy + theta * linear - theta**2 * square)


def matrix(cells: Cells, point: DualPoint) -> FloatArray:
    left, right = cells.matrices(point.features, point.labels)
    return np.hstack((left.toarray(), right.toarray()))


@pytest.mark.parametrize("in_place", [False, True])
def test_balancing_takes_means_from_features_and_shrinks_the_heavier_side_of_labels(in_place: bool) -> None:
    cells = Cells.of(table())
    point = candidate(cells)
    before = DualPoint(*(np.array(part) for part in (point.features, point.squared, point.labels)))
    found = point.balanced(cells, in_place=in_place)
    np.testing.assert_allclose(matrix(cells, found).sum(axis=0), 0, atol=1e-12)
    mean = np.array([before.features[cells.x_column == j].mean() for j in range(3)])
    np.testing.assert_allclose(found.features, before.features - mean[cells.x_column])
    np.testing.assert_allclose(found.squared, before.squared - mean[cells.x_column])
    for j in (3, 4):
        S, T = (part.labels[cells.y_column == j] for part in (before, found))
        up, down = S[S > 0].sum(), -S[S < 0].sum()
        np.testing.assert_allclose(T[S > 0], S[S > 0] * min(1, down / up))
        np.testing.assert_allclose(T[S < 0], S[S < 0] * min(1, up / down))
    assert (found.features is point.features) is in_place
    assert (found.squared is point.squared) is in_place
    assert (found.labels is point.labels) is in_place
    if not in_place:
        np.testing.assert_array_equal(point.features, before.features)
        np.testing.assert_array_equal(point.squared, before.squared)
        np.testing.assert_array_equal(point.labels, before.labels)


def test_what_the_squared_loss_answers_wholly_or_not_at_all_stays_so() -> None:
    cells = Cells.of(table())
    point = candidate(cells)
    whole = DualPoint(point.features, point.features, point.labels).balanced(cells)
    assert whole.squared is whole.features
    assert DualPoint(point.features, None, point.labels).balanced(cells).squared is None


def test_a_label_with_one_side_and_an_empty_column_are_balanced_to_nothing() -> None:
    X, Y = np.full((2, 2), nan), np.array([[1.0, nan], [1.0, nan]])
    X[:, 0] = 1.0
    cells = Cells.of(Observations(X, Y))
    found = DualPoint(np.array([1.0, 3.0]), None, np.array([-0.5, -0.2])).balanced(cells)
    np.testing.assert_allclose(found.features, [-1, 1])
    np.testing.assert_array_equal(found.labels, 0)


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("offsets", [np.zeros(5), OFFSETS])
@pytest.mark.parametrize("largest", [0.0, 1e-3, 0.1, 1.0])
def test_the_bound_is_the_best_along_the_way(squared: bool, offsets: FloatArray, largest: float) -> None:
    observed = table()
    cells = Cells.of(observed)
    # Against the residuals, so that the best lies inside.
    given = DualPoint(-0.8 * cells.x_value, -0.5 * cells.x_value, 0.4 * (0.5 - cells.y_value))
    for point in (given, candidate(cells)):
        asked = point if squared else DualPoint(point.features, None, point.labels)
        on_grid = dual(cells, asked, offsets, 0.3, np.linspace(0, largest, 2001))
        found = asked.bound(cells, offsets, 0.3, largest)
        assert found == pytest.approx(on_grid.max(), abs=1e-5)
        assert found <= on_grid.max() + 1e-5


def test_the_bound_is_taken_inside_where_it_falls_towards_the_end() -> None:
    cells = Cells.of(table())
    point = DualPoint(-0.8 * cells.x_value, -0.8 * cells.x_value, 0.4 * (0.5 - cells.y_value))
    values = dual(cells, point, np.zeros(5), 0.3, np.linspace(0, 1, 2001))
    assert 0 < np.argmax(values) < 2000
    assert point.bound(cells, np.zeros(5), 0.3, 1.0) == pytest.approx(values.max(), abs=1e-6)


@pytest.mark.parametrize("free", [False, True])
@pytest.mark.parametrize("residual_norm", [0.0, 0.5, 3.0])
@pytest.mark.parametrize("rank_penalty", [0.5, 1e3])
def test_a_candidate_is_scaled_until_it_is_feasible(
    free: bool, residual_norm: float, rank_penalty: float
) -> None:
    observed = table()
    cells = Cells.of(observed)
    objective = Objective(observed, rank_penalty, 1.0, 0.3, OFFSETS, free)
    point = candidate(cells)
    feasible = point.balanced(cells) if free else point
    norm = float(np.linalg.norm(matrix(cells, feasible), 2))
    largest = min(1, rank_penalty / norm, 1 / max(residual_norm, 1))
    expected = dual(cells, feasible, OFFSETS, 0.3, np.linspace(0, largest, 4001)).max()
    assert lower_bound(objective, cells, point, OFFSETS, residual_norm) == pytest.approx(expected, abs=1e-4)
    spectrum = SparseSpectrum(matrix_blocks(cells.parts(), feasible.features, feasible.labels))
    given = lower_bound(objective, cells, feasible, OFFSETS, residual_norm, spectrum)
    assert given == pytest.approx(expected, abs=1e-4)


def test_a_candidate_is_written_over_only_where_that_is_allowed() -> None:
    observed = table()
    cells = Cells.of(observed)
    objective = Objective(observed, 1.0, 0.0, 0.3, np.zeros(5), True)
    point = candidate(cells)
    before = point.features.copy()
    lower_bound(objective, cells, point, np.zeros(5))
    np.testing.assert_array_equal(point.features, before)
    lower_bound(objective, cells, point, np.zeros(5), in_place=True)
    assert (point.features != before).any()


@pytest.mark.parametrize("penalty", [0.0, 2.0])
def test_no_bound_is_above_the_objective(penalty: float) -> None:
    observed = table()
    cells = Cells.of(observed)
    objective = Objective(observed, 2.0, penalty, 0.3, OFFSETS)
    rng = np.random.default_rng(0)
    lowest = min(objective.value(size * rng.normal(size=(40, 5))) for size in (0, 0.01, 0.1, 1.0))
    for seed in range(10):
        A = candidate(cells, seed)
        squared = A.features if penalty == 0 else None
        assert lower_bound(objective, cells, DualPoint(A.features, squared, A.labels), OFFSETS) <= lowest


def test_shaving_takes_what_is_too_long_and_no_more() -> None:
    cells = Cells.of(table())
    point = candidate(cells)
    G = matrix(cells, point)
    spectrum = SparseSpectrum(matrix_blocks(cells.parts(), point.features, point.labels), 0.0)
    U, s, Vt = np.linalg.svd(G, full_matrices=False)
    limit = float(s[1] + s[2]) / 2
    gx, gy = shaved(cells, point.features, point.labels, spectrum, limit)
    # On its cells, the excess divided by the share of cells that are observed.
    excess = (U * np.maximum(s - limit, 0)) @ Vt * 200 / (gx.size + gy.size)
    known = [np.repeat(np.arange(40), np.diff(start)) for start in (cells.x_start, cells.y_start)]
    np.testing.assert_allclose(gx, point.features - excess[known[0], cells.x_column], atol=1e-9)
    wanted = point.labels - excess[known[1], cells.y_column]
    np.testing.assert_allclose(gy, np.clip(wanted, -cells.y_value, 1 - cells.y_value), atol=1e-9)
    assert np.linalg.norm(matrix(cells, DualPoint(gx, None, gy)), 2) < s[0]
    same = shaved(cells, point.features, point.labels, spectrum, 1.01 * s[0])
    assert same[0] is point.features
    assert same[1] is point.labels


def test_gaps_are_relative_to_the_objective() -> None:
    assert relative_gap(4.0, 3.0) == 0.25
    assert relative_gap(-4.0, -5.0) == 0.25
    assert relative_gap(0.0, 0.0) == 0
