from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from cocomplete import InputError
from cocomplete.statistics import compare, paired_test

nan = np.nan


def test_the_test_is_the_textbook_s() -> None:
    rng = np.random.default_rng(0)
    one, two = rng.normal(1.0, 0.3, 20), rng.normal(0.8, 0.3, 20)
    test, difference = paired_test(one, two), one - two
    t = difference.mean() / (difference.std(ddof=1) / np.sqrt(20))
    assert test.p_value == pytest.approx(stats.t.sf(t, 19))
    assert test.effect_size == pytest.approx(t / np.sqrt(20))


@pytest.mark.parametrize(
    ("worse", "better", "expected"),
    [
        ([0.1, 0.2], [0.1, 0.2], (1.0, 0.0)),
        ([0.3, 0.4], [0.1, 0.2], (0.0, np.inf)),
        ([0.1, 0.2], [0.3, 0.4], (1.0, -np.inf)),
        ([0.1 + 0.2, 0.7], [0.3, 0.7], (1.0, 0.0)),
        ([0.0, 0.0], [0.0, 0.0], (1.0, 0.0)),
    ],
)
def test_identical_and_constant_differences(worse: list[float], better: list[float], expected: Any) -> None:
    assert paired_test(worse, better) == expected


def test_a_single_trial_allows_no_test() -> None:
    assert np.isnan(paired_test([0.2], [0.1])).all()
    table = compare({"A": [0.1], "B": [0.1], "C": [0.2]})
    assert [summary.comparable for summary in table.values()] == [True, True, False]
    assert np.isnan(table["A"].std)


def test_best_and_comparable_ones_as_in_the_paper() -> None:
    rng = np.random.default_rng(1)
    trials = rng.normal(0, 0.001, 20)
    table = compare(
        {
            "COCO": 0.10 + trials,
            "near": 0.1001 + rng.normal(0, 0.001, 20),
            "far": 0.11 + trials + rng.normal(0, 0.001, 20),
            "Oracle": np.zeros(20),
        },
        exclude=["Oracle"],
    )
    assert list(table) == ["COCO", "near", "far", "Oracle"]
    assert table["COCO"].best or table["near"].best
    assert table["COCO"].comparable
    assert table["near"].comparable
    assert not table["far"].comparable
    assert table["far"].p_value < 0.05
    assert table["far"].effect_size > 1
    assert not table["Oracle"].comparable
    assert np.isnan(table["Oracle"].p_value)
    assert table["COCO"].wins + table["near"].wins + table["far"].wins == 20
    assert str(table["Oracle"]) == "0.0000 ± 0.0000"


def test_ties_share_the_win_and_the_best_mean() -> None:
    table = compare({"A": [0.1, 0.3], "B": [0.3, 0.1], "C": [0.5, 0.6]})
    assert [summary.wins for summary in table.values()] == [1, 1, 0]
    assert [summary.best for summary in table.values()] == [True, True, False]
    same = compare({"A": [0.1, 0.3], "B": [0.1, 0.3]})
    assert [summary.wins for summary in same.values()] == [2, 2]
    assert all(summary.comparable and summary.p_value == 1 for summary in same.values())


@given(st.integers(0, 1000))
def test_scores_and_errors_are_mirror_images(seed: int) -> None:
    rng = np.random.default_rng(seed)
    results = {name: rng.random(5).round(1) for name in "ABC"}
    errors = compare(results)
    scores = compare({name: -values for name, values in results.items()}, lower_is_better=False)
    for name in "ABC":
        assert errors[name].mean == -scores[name].mean
        assert errors[name][1:5] == scores[name][1:5]
        assert errors[name].p_value == pytest.approx(scores[name].p_value)
    assert any(summary.best for summary in errors.values())
    # A higher confidence is harder to lose against.
    strict = compare(results, confidence=0.999)
    assert all(strict[name].comparable for name in "ABC" if errors[name].comparable)


@pytest.mark.parametrize(
    ("results", "params", "message"),
    [
        ({"A": [0.1, nan]}, {}, r"results of 'A' must be one finite number per trial.* 1 that are unknown"),
        ({"A": []}, {}, r"results of 'A' must be"),
        ({"A": [0.1, 0.2], "B": [0.1]}, {}, r"same trials, but their numbers are \{'A': 2, 'B': 1\}"),
        ({"A": [0.1]}, {"exclude": ["B"]}, r"exclude names \['B'\], but results has \['A'\]"),
        ({"A": [0.1]}, {"exclude": ["A"]}, r"no method to compare"),
        ({"A": [0.1]}, {"confidence": 95}, r"confidence must be between 0 and 1, got 95"),
    ],
)
def test_bad_input_is_named(results: Any, params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compare(results, **params)


def test_unpaired_trials_are_refused() -> None:
    with pytest.raises(InputError, match=r"worse has 2 trials but better has 1"):
        paired_test([0.1, 0.2], [0.1])
