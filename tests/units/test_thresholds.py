"""From probabilities to 0 and 1: the thresholds do what they are named after."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocomplete import CoCompleter, InputError
from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.estimator.thresholds import (
    FEWEST_ONES,
    cardinality_thresholds,
    check_threshold,
    f1_thresholds,
    given_thresholds,
)


def f1(truth: FloatArray, predicted: BoolArray) -> float:
    hits = np.sum(predicted & (truth == 1))
    total = predicted.sum() + (truth == 1).sum()
    return 2 * hits / total if total else 0.0


def best_f1(truth: FloatArray, probability: FloatArray) -> float:
    """Best over every way to cut, tried one by one."""
    return max(f1(truth, probability > cut) for cut in (-1.0, *probability))


def hidden_cells(
    seed: int, n_labels: int = 3, levels: int | None = None
) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    column = rng.integers(0, n_labels, 60)
    probability = rng.uniform(0.01, 0.99, 60)
    if levels:
        probability = np.ceil(probability * levels) / (levels + 1)
    truth = (rng.random(60) < probability ** rng.uniform(0.3, 4)).astype(float)
    return column, truth, probability


@given(st.integers(0, 10_000), st.sampled_from((None, 3, 8)))
def test_f1_thresholds_are_the_best_there_are(seed: int, levels: int | None) -> None:
    column, truth, probability = hidden_cells(seed, levels=levels)
    thresholds = f1_thresholds(column, truth, probability, 4)
    for j in range(4):
        own = (column == j) & (truth[column == j].sum() >= FEWEST_ONES)
        # A label with few ones, or none hidden at all, goes by all labels together.
        cells = own if own.any() else np.full(60, True)
        reached = f1(truth[cells], probability[cells] > thresholds[j])
        if (truth == 1).any():
            assert reached == pytest.approx(best_f1(truth[cells], probability[cells]))
    assert ((thresholds >= 0) & (thresholds <= 1)).all()
    # Cells that come in another order are the same cells.
    shuffled = np.random.default_rng(0).permutation(60)
    again = f1_thresholds(column[shuffled], truth[shuffled], probability[shuffled], 4)
    np.testing.assert_array_equal(again, thresholds)


def test_labels_with_too_few_ones_share_a_threshold() -> None:
    rng = np.random.default_rng(0)
    column = np.repeat([0, 1], 30)
    truth = np.concatenate(((rng.random(30) < 0.5).astype(float), np.zeros(30)))
    truth[30 : 30 + FEWEST_ONES - 1] = 1
    probability = rng.uniform(0.05, 0.95, 60)
    own, pooled, unseen = f1_thresholds(column, truth, probability, 3)
    assert pooled == unseen
    assert f1(truth, probability > pooled) == pytest.approx(best_f1(truth, probability))
    assert f1(truth[:30], probability[:30] > own) == pytest.approx(best_f1(truth[:30], probability[:30]))


def test_without_a_one_to_judge_by_the_threshold_is_a_half() -> None:
    np.testing.assert_array_equal(
        f1_thresholds(np.zeros(4, int), np.zeros(4), np.linspace(0.1, 0.9, 4), 2), 0.5
    )
    np.testing.assert_array_equal(f1_thresholds(np.empty(0, int), np.empty(0), np.empty(0), 2), 0.5)


@given(st.integers(0, 10_000), st.integers(1, 40))
def test_cardinality_thresholds_reproduce_the_rates(seed: int, n: int) -> None:
    rng = np.random.default_rng(seed)
    probability, rate = rng.uniform(0.01, 0.99, (n, 3)), rng.random(3)
    rate[0] = rng.choice((0.0, 1.0))
    predicted = probability > cardinality_thresholds(rate, probability)
    assert (np.abs(predicted.sum(axis=0) - rate * n) <= 0.5 + 1e-9).all()


@given(st.integers(0, 10_000))
def test_with_ties_nothing_is_predicted_more_often_than_observed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    probability, rate = rng.integers(1, 5, (20, 3)) / 5, rng.random(3)
    thresholds = cardinality_thresholds(rate, probability)
    predicted = (probability > thresholds).sum(axis=0)
    wanted = np.round(rate * 20)
    assert (predicted <= wanted).all()
    # All that is missing are cells that tie with the last one wanted.
    ties = (probability == thresholds).sum(axis=0)
    assert ((predicted == wanted) | (predicted + ties > wanted)).all()


def test_thresholds_lie_in_the_middle_between_two_probabilities() -> None:
    probability = np.array([[0.8, 0.5, 0.3], [0.6, 0.1, 0.3], [0.2, 0.9, 0.3], [0.4, 0.7, 0.3]])
    # One of four, none, all; then two of four where all are equal.
    np.testing.assert_allclose(
        cardinality_thresholds(np.array([0.25, 0.0, 1.0]), probability), [0.7, 0.95, 0.15]
    )
    np.testing.assert_allclose(
        cardinality_thresholds(np.array([0.6, 0.4, 0.5]), probability), [0.5, 0.6, 0.3]
    )
    # Shares that no number of rows is, as rounding may leave them.
    np.testing.assert_allclose(cardinality_thresholds(np.array([1.3, -0.2]), probability[:, :2]), [0.1, 0.95])
    truth = np.array([1.0, 0, 1, 1, 0, 1, 1])
    given = np.array([0.9, 0.8, 0.7, 0.6, 0.3, 0.5, 0.4])
    # The first six have five of five ones.
    np.testing.assert_allclose(f1_thresholds(np.zeros(7, int), truth, given, 1), [0.35])
    # All have to be predicted: from the lowest to nothing.
    np.testing.assert_allclose(
        f1_thresholds(np.zeros(3, int), np.ones(3), np.array([0.4, 0.5, 0.9]), 1), [0.2]
    )


@pytest.mark.parametrize(("ones", "own"), [(4, False), (5, True)])
def test_a_label_needs_five_ones_for_a_threshold_of_its_own(ones: int, own: bool) -> None:
    # Its ones lie above all else; pooled with another label's, which lie lower, the best cut is lower.
    column = np.repeat([0, 1], [ones + 1, 20])
    truth = np.concatenate((np.ones(ones), [0], np.ones(20)))
    probability = np.concatenate((np.full(ones, 0.9), [0.8], np.full(20, 0.3)))
    first, second = f1_thresholds(column, truth, probability, 2)
    assert first == pytest.approx(0.85 if own else 0.15)
    assert second == pytest.approx(0.15)


@pytest.mark.parametrize(
    "bad", ["f2", "", -0.1, 1.5, np.nan, True, None, [0.5, 2.0], [[0.5]], ["a"], object(), [0.5, None]]
)
def test_bad_thresholds_are_refused(bad: Any) -> None:
    message = re.escape(f"got {bad!r}")
    with pytest.raises(InputError, match=f"threshold must be a number.*'f1' or 'cardinality', {message}"):
        check_threshold(bad)


@pytest.mark.parametrize("good", ["f1", "cardinality", 0, 1, 0.5, np.float32(0.5), [0.1, 0.9], np.zeros(3)])
def test_good_thresholds_pass(good: Any) -> None:
    check_threshold(good)


def test_one_threshold_per_label() -> None:
    np.testing.assert_array_equal(given_thresholds(0.3, 3), [0.3, 0.3, 0.3])
    np.testing.assert_array_equal(given_thresholds([0.1, 0.2], 2), [0.1, 0.2])
    asked = np.array([0.1, 0.2])
    given_thresholds(asked, 2)[0] = 1
    assert asked[0] == 0.1
    message = "threshold has 2 numbers, but y has 3 labels; give one number per label"
    with pytest.raises(InputError, match=message):
        given_thresholds([0.1, 0.2], 3)
    X, Y = np.arange(12.0).reshape(6, 2), np.tile([[0.0, 1, 0], [1, 0, 1]], (3, 1))
    with pytest.raises(InputError, match=message):
        CoCompleter(rank_penalty=1, residual_penalty=0, feature_weight=0.5, threshold=[0.1, 0.2]).fit(X, Y)
