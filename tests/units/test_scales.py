"""Scales of columns: limits, moments and normal scores worked out by hand."""

import numpy as np
import pytest
from scipy.special import ndtri

from cocomplete.problem import scores, standardize
from cocomplete.problem.scores import KNOTS, NormalScores
from cocomplete.problem.standardize import Standardization, limits

nan = np.nan
MAD = 1.4826
"""Standard deviations of a normal number in its median distance from the median."""


@pytest.mark.parametrize("at_once", [1, 12, 1_000_000])
def test_limits_are_robust_deviations_around_the_median(
    at_once: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standardize, "SORTED_AT_ONCE", at_once)
    X = np.array(
        [
            [1.0, 0.0, nan, 5.0, 1.0],
            [2.0, 0.0, nan, 9.0, 2.0],
            [4.0, 0.0, 1.0, nan, nan],
            [9.0, 7.0, 2.0, nan, 4.0],
            [nan, 8.0, 3.0, nan, nan],
        ]
    )
    low, high = limits(X, ~np.isnan(X), 2.0)
    # Medians 3, 0, 2, 7, 2; distances' medians 1.5, 0, 1, 2, 1. Two values are too few to tell.
    wide = 2 * MAD * np.array([1.5, np.inf, 1, np.inf, 1])
    np.testing.assert_allclose(low, np.array([3, 0, 2, 7, 2]) - wide)
    np.testing.assert_allclose(high, np.array([3, 0, 2, 7, 2]) + wide)
    for side, sign in zip(limits(X, ~np.isnan(X), np.inf), (-1, 1), strict=True):
        np.testing.assert_array_equal(side, np.full(5, sign * np.inf))


def test_medians_of_the_largest_numbers_are_numbers() -> None:
    X = np.array([[1.5e308], [1.6e308], [1.7e308], [1.75e308]])
    with np.errstate(over="ignore"):
        low, _ = limits(X, ~np.isnan(X), 1.0)
    # The two in the middle, and the distances of all: 0.15, 0.05, 0.05 and 0.1.
    assert low[0] == pytest.approx(1.65e308 - MAD * 0.075e308)


@pytest.mark.parametrize("shape", [(9, 7), (4, 30)])
@pytest.mark.parametrize("at_once", [1, 20, 1_000_000])
def test_moments_do_not_depend_on_how_many_columns_are_taken_at_once(
    at_once: int, shape: tuple[int, int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standardize, "SORTED_AT_ONCE", at_once)
    # Evenly spaced, by steps of its own in every column: none lies far away.
    X = 5 + np.arange(float(shape[0]))[:, None] * np.arange(1.0, shape[1] + 1)
    X[0] = nan
    found = Standardization.of(X, center=True, scale=True)
    np.testing.assert_allclose(found.center, np.nanmean(X, axis=0))
    np.testing.assert_allclose(found.scale, np.nanstd(X, axis=0, ddof=1))
    np.testing.assert_allclose(found.restore(found.apply(X)), X)


def test_what_is_furthest_counts_as_a_million_deviations() -> None:
    nothing = np.array([-np.inf] * 3), np.array([np.inf] * 3)
    mean, spread = np.array([10.0, 1e8, 0.5]), np.array([2.0, 1e-12, 0.0])
    double = np.dtype(np.float64)
    found = Standardization.from_moments(mean, spread, nothing, double, center=True, scale=True)
    # A spread that is rounding is none; such columns may be as many times their mean away, or one, away.
    np.testing.assert_array_equal(found.scale, [2, 1, 1])
    np.testing.assert_allclose(found.high - mean, [2e6, 1e14, 1e6])
    np.testing.assert_allclose(mean - found.low, [2e6, 1e14, 1e6])
    inside = np.array([9.0, 0.0, 0.0]), np.array([11.0, 2e8, 1.0])
    kept = Standardization.from_moments(mean, spread, inside, double, center=False, scale=True)
    np.testing.assert_array_equal((kept.low, kept.high), inside)
    np.testing.assert_array_equal(kept.center, 0)
    plain = Standardization.from_moments(mean, spread, nothing, double, center=True, scale=False)
    np.testing.assert_array_equal(plain.high, np.inf)
    np.testing.assert_array_equal(plain.scale, 1)


@pytest.mark.parametrize(("dtype", "rounding"), [(np.float64, 2.2e-16), (np.float32, 1.2e-7)])
def test_a_spread_below_ten_roundings_of_the_mean_is_none(dtype: type, rounding: float) -> None:
    nothing = np.array([-np.inf] * 2), np.array([np.inf] * 2)
    spread = rounding * 1e3 * np.array([9.0, 11.0])
    found = Standardization.from_moments(
        np.array([1e3, -1e3]), spread, nothing, np.dtype(dtype), center=True, scale=True
    )
    np.testing.assert_allclose(found.scale, [1, spread[1]], rtol=1e-6)


def test_columns_as_they_are_are_not_copied() -> None:
    X = np.array([[1.0, nan], [2.0, 3.0]])
    assert Standardization.of(X, center=False, scale=False).apply(X) is X
    ends = np.array([-np.inf, np.inf])
    limited = Standardization(np.zeros(2), np.ones(2), np.array([-np.inf, 3.5]), ends[[1, 1]])
    np.testing.assert_array_equal(limited.apply(X), [[1, nan], [2, 3.5]])
    shifted = Standardization(np.array([0.0, 1.0]), np.ones(2), ends[[0, 0]], ends[[1, 1]])
    np.testing.assert_array_equal(shifted.apply(X), [[1, nan], [2, 2]])
    for scale in (2.0, 0.5):
        scaled = Standardization(np.zeros(2), np.array([1.0, scale]), ends[[0, 0]], ends[[1, 1]])
        np.testing.assert_array_equal(scaled.apply(X), [[1, nan], [2, 3 / scale]])


# -- normal scores ---------------------------------------------------------------------------------------


def test_a_value_has_the_score_of_the_middle_of_its_ranks() -> None:
    X = np.array([[1.0], [2.0], [2.0], [5.0]])
    found = NormalScores.of(X)
    shares = np.array([0.5, 2, 2, 3.5]) / 4
    np.testing.assert_allclose(found.apply(X)[:, 0], ndtri(shares))
    # Halfway between two values lies half of the shares between them.
    np.testing.assert_allclose(found.apply(np.array([[1.5]])), [[ndtri((0.5 + 2) / 8)]])
    np.testing.assert_allclose(found.value(0, ndtri((np.arange(4) + 0.5) / 4)), [1, 2, 2, 5])


@pytest.mark.parametrize(("n", "reach"), [(4, 1), (19, 1), (30, 3)])
def test_past_the_ends_the_slope_is_that_of_the_outer_tenth(n: int, reach: int) -> None:
    values = np.arange(n) ** 1.5
    found = NormalScores.of(values[:, None])
    score = ndtri((np.arange(n) + 0.5) / n)
    low = (values[reach] - values[0]) / (score[reach] - score[0])
    high = (values[-1] - values[-1 - reach]) / (score[-1] - score[-1 - reach])
    np.testing.assert_allclose(found.value(0, score[[0, -1]] + [-2, 3]), [-2 * low, values[-1] + 3 * high])
    asked = np.array([[-4.0], [values[-1] + 6]])
    np.testing.assert_allclose(found.apply(asked)[:, 0], [score[0] - 4 / low, score[-1] + 6 / high])


def test_a_tie_at_an_end_has_a_thousandth_of_the_whole_slope() -> None:
    values = np.array([0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0])
    found = NormalScores.of(values[:, None])
    end = ndtri(1 - 0.5 / 7)
    whole = 2 / (2 * end)
    np.testing.assert_allclose(
        found.value(0, np.array([-end - 1, end + 2])), [-1e-3 * whole, 2 + 2e-3 * whole]
    )


@pytest.mark.parametrize("n", [KNOTS, KNOTS + 1, 3 * KNOTS + 5])
def test_a_long_column_is_kept_as_its_quantiles(n: int) -> None:
    values = np.random.default_rng(0).permutation(n).astype(float)
    (kept,) = NormalScores.of(values[:, None]).values
    assert KNOTS == 2_000
    np.testing.assert_array_equal(kept, np.round(np.linspace(0, n - 1, KNOTS)))


def test_values_beyond_a_hundred_deviations_count_as_the_limit() -> None:
    X = np.concatenate((np.arange(9.0), [1e6]))[:, None]
    found = NormalScores.of(X)
    # Median 4.5, distances' median 2.5.
    assert found.high[0] == pytest.approx(4.5 + 100 * MAD * 2.5)
    assert found.values[0][-1] == found.high[0]
    with pytest.raises(ValueError, match="zip"):
        found.apply(np.ones((1, 2)))
    np.testing.assert_array_equal(found.apply(np.array([[1e9]])), found.apply(found.high[None]))


def test_fifteen_nodes_know_the_moments_of_a_normal_number_up_to_the_29th() -> None:
    for even in range(0, 30, 2):
        moment = np.prod(np.arange(1.0, even, 2))
        assert scores.WEIGHTS @ scores.NODES**even == pytest.approx(moment, rel=1e-9)
        assert scores.WEIGHTS @ scores.NODES ** (even + 1) == pytest.approx(0, abs=1e-9 * (1 + moment))


def test_mean_and_deviation_in_the_users_units() -> None:
    # Of two values the map is a line between their scores, and past them the same line.
    found = NormalScores.of(np.array([[10.0], [14.0]]))
    slope = 4 / (2 * ndtri(0.75))
    z = np.array([0.0, 0.4])
    inside, std = found.undo(0, z, np.array([1e-6, 1e-6]))
    np.testing.assert_allclose(inside, found.value(0, z), atol=1e-5)
    mean, std = found.undo(0, np.array([5.0, -5.0]), np.array([0.25, 0.01]))
    np.testing.assert_allclose(mean, [12 + 5 * slope, 12 - 5 * slope])
    np.testing.assert_allclose(std, [0.5 * slope, 0.1 * slope])
    empty = NormalScores.of(np.array([[nan], [nan]]))
    np.testing.assert_array_equal(empty.value(0, z), [0, 0])
