"""Normal scores past the observed range, there and back."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ndtri

from cocomplete.arrays import FloatArray
from cocomplete.problem.scores import TAIL, NormalScores
from cocomplete.problem.standardize import ABSURD, limits

nan = np.nan


def reach(values: FloatArray) -> tuple[float, float]:
    """Limits past which a value of a column counts as an error of recording."""
    low, high = limits(values[:, None], np.ones((len(values), 1), bool), ABSURD)
    return float(low[0]), float(high[0])


def distinct(seed: int, least: int = 2, most: int = 60) -> FloatArray:
    """A column without ties: normal, skewed, heavy-tailed or even, of some size, and nothing of it absurd."""
    rng = np.random.default_rng(seed)
    while True:
        n = int(rng.integers(least, most))
        normal = rng.normal(size=n)
        values = (normal, np.exp(normal), rng.standard_t(3, size=n), rng.permutation(n) * 1.0)[seed % 4]
        low, high = reach(values)
        if low < values.min() and values.max() < high:
            return values


def far_off(values: FloatArray, share: float) -> FloatArray:
    """Values past either end, by a share of the observed range, and not absurd."""
    return np.clip(
        (values.min() - share * np.ptp(values), values.max() + share * np.ptp(values)), *reach(values)
    )


@given(st.integers(0, 10_000))
def test_observed_values_come_back(seed: int) -> None:
    values = distinct(seed)
    scores = NormalScores.of(values[:, None])
    t = scores.apply(values[:, None])[:, 0]
    np.testing.assert_allclose(scores.value(0, t), values, atol=1e-9)
    # They are the normal quantiles of ranks.
    rank = np.argsort(np.argsort(values))
    np.testing.assert_allclose(t, ndtri((rank + 0.5) / len(values)), atol=1e-9)


@given(st.integers(0, 10_000), st.floats(0.01, 3))
def test_values_between_and_past_the_observed_ones_come_back_too(seed: int, share: float) -> None:
    values = distinct(seed)
    asked = np.concatenate((far_off(values, share), np.linspace(values.min(), values.max(), 23)))
    scores = NormalScores.of(values[:, None])
    t = scores.apply(asked[:, None])[:, 0]
    np.testing.assert_allclose(scores.value(0, t), asked, rtol=1e-6, atol=1e-6 * float(np.ptp(values)))


@given(st.integers(0, 10_000))
def test_scores_come_back_from_values(seed: int) -> None:
    values = distinct(seed, least=4)
    scores = NormalScores.of(values[:, None])
    z = np.linspace(-4, 4, 41)
    found = scores.value(0, z)
    inside = (found > scores.low[0]) & (found < scores.high[0])
    np.testing.assert_allclose(scores.apply(found[:, None])[inside, 0], z[inside], atol=1e-6)


@given(st.integers(0, 10_000), st.booleans())
def test_the_map_rises_without_end(seed: int, ties: bool) -> None:
    values = distinct(seed)
    if ties:
        values = np.concatenate((values, np.repeat([values.min(), values.max()], 5)))
    scores = NormalScores.of(values[:, None])
    z = np.linspace(-9, 9, 181)
    found = scores.value(0, z)
    end = ndtri(1 - 0.5 / len(values))
    assert (np.diff(found) >= -1e-12 * np.ptp(values)).all()
    for outer in (z < -end, z > end):
        assert (np.diff(found[outer]) > 0).all()
    assert found[0] < values.min()
    assert found[-1] > values.max()
    # Both ways: what lies past the range has a score past those of the range.
    low, high = far_off(values, 0.5)
    t = scores.apply(np.array([[low], [values.min()], [values.max()], [high]]))[:, 0]
    assert (np.diff(t)[[0, 2]] > 0).all()


@given(st.integers(0, 10_000))
def test_past_the_range_the_map_is_the_line_through_the_outer_tenth(seed: int) -> None:
    values = distinct(seed, least=20)
    scores, n = NormalScores.of(values[:, None]), len(values)
    ordered, z = np.sort(values), ndtri((np.arange(n) + 0.5) / n)
    reach = int(TAIL * n)
    for end, inner, outer in ((0, reach, -1.7), (n - 1, n - 1 - reach, 0.6)):
        slope = (ordered[end] - ordered[inner]) / (z[end] - z[inner])
        expected = ordered[end] + slope * outer
        assert scores.value(0, np.array([z[end] + outer]))[0] == pytest.approx(expected, rel=1e-6, abs=1e-9)


def test_of_a_normal_column_the_line_goes_on() -> None:
    values = 10 + 3 * ndtri((np.arange(200) + 0.5) / 200)
    scores = NormalScores.of(values[:, None])
    z = np.linspace(-5, 5, 41)
    # Probabilities are interpolated, which matters between the last two.
    np.testing.assert_allclose(scores.value(0, z), 10 + 3 * z, atol=0.1)
    np.testing.assert_allclose(scores.apply((10 + 3 * z)[:, None])[:, 0], z, atol=0.05)


def test_a_skewed_column_goes_on_farther_where_its_tail_is_longer() -> None:
    values = np.exp(ndtri((np.arange(200) + 0.5) / 200))
    scores = NormalScores.of(values[:, None])
    end = ndtri(1 - 0.5 / 200)
    low, high = (scores.value(0, np.array([side * (end + 1)]))[0] for side in (-1, 1))
    assert values.min() - low < 0.2
    assert high - values.max() > 3


@given(st.integers(0, 10_000), st.sampled_from((1e-3, 0.7, 40.0)), st.sampled_from((-100.0, 0.0, 3.0)))
def test_scores_follow_a_change_of_units(seed: int, factor: float, shift: float) -> None:
    values = distinct(seed, least=4)
    asked = np.concatenate((values, far_off(values, 0.4)))[:, None]
    z = np.linspace(-5, 5, 41)
    one = NormalScores.of(values[:, None])
    other = NormalScores.of(factor * values[:, None] + shift)
    np.testing.assert_allclose(other.apply(factor * asked + shift), one.apply(asked), atol=1e-5)
    scale = factor * float(np.ptp(values))
    np.testing.assert_allclose(other.value(0, z), factor * one.value(0, z) + shift, atol=1e-6 * scale)
    variance = np.full_like(z, 0.5)
    (mean, std), (there, spread) = one.undo(0, z, variance), other.undo(0, z, variance)
    np.testing.assert_allclose(there, factor * mean + shift, atol=1e-6 * scale)
    np.testing.assert_allclose(spread, factor * std, atol=1e-5 * scale)
    # Turned round, everything is turned round.
    mirrored = NormalScores.of(-factor * values[:, None] + shift)
    np.testing.assert_allclose(mirrored.apply(-factor * asked + shift), -one.apply(asked), atol=1e-5)
    np.testing.assert_allclose(mirrored.value(0, -z), -factor * one.value(0, z) + shift, atol=1e-6 * scale)


@pytest.mark.parametrize("kind", ["normal", "skewed", "even"])
def test_mean_and_deviation_are_those_of_draws_in_the_tails_too(kind: str) -> None:
    rng = np.random.default_rng(0)
    normal = rng.normal(size=300)
    values = {"normal": normal, "skewed": np.exp(0.7 * normal), "even": rng.random(300)}[kind]
    scores = NormalScores.of(values[:, None])
    t, variance = np.array([-3.5, -1.0, 0.0, 1.5, 3.0, 4.5]), np.array([0.2, 0.1, 1.0, 0.5, 1.0, 0.3])
    mean, std = scores.undo(0, t, variance)
    drawn = scores.value(0, t + np.sqrt(variance) * rng.standard_normal((40_000, 6)))
    # Fifteen nodes against a map with corners: a few per cent of the spread.
    np.testing.assert_allclose(mean, drawn.mean(axis=0), atol=0.06 * values.std())
    np.testing.assert_allclose(std, drawn.std(axis=0), rtol=0.1)
    # Some of it lies where nothing was observed.
    assert mean[-1] > values.max()
    assert mean[0] < values.min()


def test_without_variance_the_mean_is_the_value() -> None:
    values = distinct(5, least=20)
    scores = NormalScores.of(values[:, None])
    t = np.linspace(-4, 4, 17)
    mean, std = scores.undo(0, t, np.zeros(17))
    np.testing.assert_allclose(mean, scores.value(0, t))
    np.testing.assert_allclose(std, 0, atol=1e-6)


def test_an_error_of_recording_has_the_score_of_the_limit() -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(size=50)
    scores = NormalScores.of(values[:, None])
    t = scores.apply(np.array([[1e6], [1e15], [-1e6], [-1e15]]))[:, 0]
    assert t[0] == t[1]
    assert t[2] == t[3]
    np.testing.assert_allclose(scores.value(0, t[[0, 2]]), [scores.high[0], scores.low[0]])
    # In the fit it is one more value at the end: others' scores move by a rank.
    wild = np.append(values, 1e15)
    before, after = (NormalScores.of(one[:, None]).apply(values[:, None])[:, 0] for one in (values, wild))
    assert np.abs(after - before).max() < 0.5
    assert NormalScores.of(wild[:, None]).value(0, np.array([5.0]))[0] < 1e4


def test_columns_that_do_not_vary_stay_where_they_are() -> None:
    X = np.array([[3.0, nan, 7.0], [3.0, nan, nan], [3.0, nan, nan]])
    scores = NormalScores.of(X)
    z = np.array([-6.0, 0.0, 6.0])
    np.testing.assert_array_equal(scores.value(0, z), 3)
    np.testing.assert_array_equal(scores.value(1, z), 0)
    np.testing.assert_array_equal(scores.value(2, z), 7)
    np.testing.assert_array_equal(scores.apply(np.array([[-50.0, 1.0, 9.0]])), [[0, 0, 0]])


def test_columns_have_nothing_to_do_with_each_other_and_holes_stay_holes() -> None:
    rng = np.random.default_rng(2)
    X = np.exp(rng.normal(size=(30, 3)))
    X[rng.random(X.shape) < 0.3] = nan
    together = NormalScores.of(X).apply(X)
    np.testing.assert_array_equal(np.isnan(together), np.isnan(X))
    for j in range(3):
        np.testing.assert_array_equal(
            NormalScores.of(X[:, j : j + 1]).apply(X[:, j : j + 1])[:, 0], together[:, j]
        )


def test_a_column_of_the_smallest_single_numbers_has_slopes() -> None:
    X = np.array([0, 1e-45, 3e-45, 6e-45], np.float32)[:, None]
    scores = NormalScores.of(X)
    with np.errstate(all="raise"):
        z = scores.apply(X)
        beyond = scores.apply(np.array([[-1e-44]], np.float32))
    assert (np.diff(z[:, 0]) > 0).all()
    assert np.isfinite(beyond).all()
