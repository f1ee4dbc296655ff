"""Probabilities of ordered levels: as often as observed, sharper where held-out cells say so."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cocomplete.arrays import FloatArray
from cocomplete.fitted.levels import LevelCuts, level_cuts

pytestmark = pytest.mark.usual_folds


@given(
    st.integers(2, 6).flatmap(lambda k: arrays(float, k, elements=st.floats(0.05, 1))),
    arrays(float, 20, elements=st.floats(-5, 5)),
    st.floats(0.1, 3),
)
def test_over_all_cells_levels_are_as_frequent_as_observed(
    rates: FloatArray, mean: FloatArray, spread: float
) -> None:
    rates = rates / rates.sum()
    std = np.full(mean.size, spread)
    found = LevelCuts.of(np.arange(float(rates.size)), rates, mean, std, None)
    chance = found.probabilities(mean, std)
    np.testing.assert_allclose(chance.sum(axis=1), 1)
    np.testing.assert_allclose(chance.mean(axis=0), rates, atol=1e-6)
    assert (np.diff(found.cuts) >= -1e-9).all()


def test_where_nothing_is_known_the_levels_have_the_observed_rates() -> None:
    rates = np.array([0.1, 0.6, 0.3])
    mean, std = np.full(30, 1.7), np.full(30, 0.4)
    chance = LevelCuts.of(np.arange(3.0), rates, mean, std, None).probabilities(mean[:2], std[:2])
    np.testing.assert_allclose(chance, np.tile(rates, (2, 1)), atol=1e-6)


def test_units_of_the_codes_do_not_matter() -> None:
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 4, 200).astype(float)
    mean, std = truth + rng.normal(scale=0.7, size=200), np.full(200, 0.7)
    rates = np.full(4, 0.25)
    one = LevelCuts.of(np.arange(4.0), rates, mean, std, truth)
    other = LevelCuts.of(10 * np.arange(4.0), rates, 10 * mean, 10 * std, 10 * truth)
    np.testing.assert_allclose(
        one.probabilities(mean, std), other.probabilities(10 * mean, 10 * std), atol=1e-6
    )
    np.testing.assert_allclose(one.in_units(0.1).cuts, other.cuts, rtol=1e-6)


@pytest.mark.parametrize("noise", [0.2, 1.0, 3.0])
def test_the_factor_finds_noise_that_the_standard_deviations_do_not_have(noise: float) -> None:
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 5, 2000).astype(float)
    mean = truth + noise * rng.logistic(size=2000)
    rates = np.bincount(truth.astype(int)) / truth.size
    found = LevelCuts.of(np.arange(5.0), rates, mean, np.ones(2000), truth)
    off = LevelCuts.of(np.arange(5.0), rates, mean, np.ones(2000), None)

    def log_loss(cuts: LevelCuts) -> float:
        chance = cuts.probabilities(mean, np.ones(2000))
        return -float(np.log(np.maximum(chance[np.arange(2000), truth.astype(int)], 1e-12)).mean())

    assert log_loss(found) <= log_loss(off) + 1e-9


def test_draws_have_the_probabilities() -> None:
    rng = np.random.default_rng(2)
    cuts = LevelCuts(np.array([1.0, 2.0, 4.0]), np.array([0.5, 2.5]), 0.8)
    mean, std = np.full(40_000, 1.2), np.full(40_000, 1.0)
    drawn = cuts.drawn(mean, std, rng.random(40_000))
    shares = [(drawn == code).mean() for code in cuts.codes]
    np.testing.assert_allclose(shares, cuts.probabilities(mean[:1], std[:1])[0], atol=0.01)


def test_levels_that_were_never_observed_have_cuts_too() -> None:
    X = np.array([[0.0], [1.0], [np.nan], [1.0]])
    found = level_cuts({0: np.arange(4.0)}, X, np.zeros((4, 1)), np.ones((4, 1)))
    assert np.isfinite(found[0].cuts).all()
    assert (np.diff(found[0].cuts) > 0).all()


@given(st.integers(0, 10_000), st.floats(0, 1))
def test_the_share_of_trees_is_the_likeliest_for_held_out_cells(seed: int, share: float) -> None:
    rng = np.random.default_rng(seed)
    cuts = LevelCuts(np.arange(3.0), np.array([0.5, 1.5]), 1.0)
    mean, std, by_trees = rng.normal(1, 1, 3000), np.ones(3000), rng.dirichlet([0.5, 0.5, 0.5], 3000)
    apart = cuts.probabilities(mean, std)
    chance = (1 - share) * apart + share * by_trees
    truth = (rng.random((3000, 1)) > chance.cumsum(axis=1)[:, :-1]).sum(axis=1).astype(float)
    found = cuts.with_share(mean, std, by_trees, truth)
    assert abs(found.share - share) < 0.15
    mixed = found.probabilities(mean, std, by_trees)
    np.testing.assert_allclose(mixed, (1 - found.share) * apart + found.share * by_trees)


def test_with_few_held_out_cells_both_readings_have_their_say() -> None:
    cuts = LevelCuts(np.arange(2.0), np.array([0.5]), 1.0)
    by_trees = np.array([[0.9, 0.1]])
    found = cuts.with_share(np.ones(1), np.ones(1), by_trees, np.zeros(1))
    assert 0.5 < found.share < 0.9


def test_trees_that_are_wrong_have_no_share() -> None:
    cuts = LevelCuts(np.arange(2.0), np.array([0.5]), 1.0)
    truth = np.repeat([0.0, 1.0], 50)
    by_trees = np.where(truth[:, None] == [0, 1], 0.05, 0.95)
    assert cuts.with_share(truth, np.full(100, 0.3), by_trees, truth).share == 0


def test_where_trees_have_no_say_the_number_decides() -> None:
    cuts = LevelCuts(np.arange(2.0), np.array([0.5]), 1.0, share=0.5)
    mean, std = np.array([0.2, 0.8]), np.ones(2)
    by_trees = np.array([[np.nan, np.nan], [0.4, 0.6]])
    found = cuts.probabilities(mean, std, by_trees)
    apart = cuts.probabilities(mean, std)
    np.testing.assert_array_equal(found[0], apart[0])
    np.testing.assert_allclose(found[1], (apart[1] + by_trees[1]) / 2)
