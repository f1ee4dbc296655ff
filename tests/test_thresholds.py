"""From probabilities to 0 and 1."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocomplete import InputError
from cocomplete.thresholds import cardinality_thresholds, check_threshold, f1_thresholds, given_thresholds


def f1(truth, predicted):
    hits = (truth * predicted).sum()
    return 2 * hits / max(truth.sum() + predicted.sum(), 1)


@given(st.integers(0, 10_000))
def test_no_threshold_has_a_better_f1(seed):
    rng = np.random.default_rng(seed)
    column = rng.integers(0, 3, size=120)
    probability = rng.random(120).round(2)
    truth = (rng.random(120) < 0.2 + 0.6 * probability).astype(float)
    thresholds = f1_thresholds(column, truth, probability, 3)
    for j in range(3):
        own = column == j
        if truth[own].sum() < 5:
            continue
        reached = f1(truth[own], probability[own] > thresholds[j])
        best = max(f1(truth[own], probability[own] > cut) for cut in np.append(probability[own], -1))
        assert reached == pytest.approx(best)


def test_a_label_with_few_ones_takes_the_threshold_of_all():
    column = np.repeat([0, 1], [40, 3])
    probability = np.concatenate((np.linspace(0, 1, 40), [0.1, 0.2, 0.9]))
    truth = (probability > 0.7).astype(float)
    thresholds = f1_thresholds(column, truth, probability, 2)
    assert f1(truth, probability > thresholds[1]) == 1
    np.testing.assert_array_equal(f1_thresholds(column, np.zeros(43), probability, 2), [0.5, 0.5])


@given(st.integers(0, 10_000))
def test_labels_are_predicted_as_often_as_asked(seed):
    rng = np.random.default_rng(seed)
    probability = rng.random((50, 4))
    rate = np.array([0.0, 0.13, 0.5, 1.0])
    predicted = probability > cardinality_thresholds(rate, probability)
    np.testing.assert_allclose(predicted.mean(axis=0), rate, atol=0.011)


@pytest.mark.parametrize("bad", ["f2", -0.1, 1.5, [0.5, 2], [[0.5]], None, True, "0.5"])
def test_what_is_no_threshold_is_refused(bad):
    with pytest.raises(InputError, match=r"threshold must be a number.* got "):
        check_threshold(bad)


def test_one_number_for_all_or_one_for_each():
    np.testing.assert_array_equal(given_thresholds(0.3, 2), [0.3, 0.3])
    np.testing.assert_array_equal(given_thresholds([0.3, 0.4], 2), [0.3, 0.4])
    with pytest.raises(
        InputError, match="threshold has 3 numbers, but y has 2 labels; give one number per label"
    ):
        given_thresholds([0.1, 0.2, 0.3], 2)
