"""The campaign judges as it should, and leaves no entry point out; ``make trust`` runs it."""

import os
import sys
from collections.abc import Callable
from pathlib import Path
from time import sleep
from typing import Any

import numpy as np
import pytest

from cocomplete import InputError, baselines, datasets, formats, metrics, model_selection, plot
from trust.calls import call_of, made
from trust.entry_points import Entry
from trust.estimator_calls import entries as of_the_estimator
from trust.other_calls import entries as of_the_rest
from trust.tally import ANSWERED, REFUSED, Budget, Tally, outcome_of

CLASSES = {"EntrySplit", "MaskedScorer", "Reliability", "SCORERS", "Score"}
"""Public names that nobody calls."""

ELSEWHERE = {"Oracle", "calibration"}
"""Needs the truth beside the table; needs rows with held-out labels: their own tests have them."""


@pytest.fixture(scope="module")
def entries() -> list[Entry]:
    return [*of_the_estimator(), *of_the_rest()]


def fails(error: BaseException) -> Callable[[], Any]:
    def call() -> Any:
        raise error

    return call


def test_outcomes_are_told_apart() -> None:
    assert outcome_of(lambda: 1, ()).kind == ANSWERED
    assert outcome_of(fails(InputError("X is odd")), ()).kind == REFUSED
    assert outcome_of(fails(ValueError("n is odd")), ("n",)).kind == REFUSED
    assert outcome_of(fails(ValueError("any is odd")), ("n",)).kind.startswith(
        "names no argument: ValueError"
    )
    assert outcome_of(fails(TypeError("n is odd\nvery")), ("n",)).kind.startswith("names no argument")
    assert outcome_of(fails(KeyError("n")), ("n",)).kind.startswith("KeyError at")
    assert outcome_of(lambda: np.array([1e308]) * 10, ()).kind.startswith("RuntimeWarning at")
    assert outcome_of(lambda: 3, (), wrong=lambda answer: f"{answer} is wrong").kind == "3 is wrong"
    assert outcome_of(lambda: sleep(5), (), seconds=0.05).kind.startswith("HangsError at")


def test_a_tally_counts_and_shows_examples() -> None:
    tally = Tally("part")
    for outcome in (ANSWERED, ANSWERED, REFUSED, "broken"):
        tally.add(outcome, "call 7")
    assert tally.failed == 1
    assert list(tally.lines()) == [
        "part: 1 x broken",
        "    call 7",
        "part: 4 tries, 2 answered, 1 refused in one sentence, 1 FAILED",
    ]


def test_a_budget_ends_with_its_number_or_its_time() -> None:
    assert list(Budget(0, 60.0, 3).numbers()) == [0, 1, 2]
    assert list(Budget(0, 0.0, 3).numbers()) == []


def test_every_public_function_is_called(entries: list[Entry]) -> None:
    called = {entry.name.rpartition(".")[2] for entry in entries}
    for module in (baselines, datasets, formats, metrics, model_selection, plot):
        assert set(module.__all__) - CLASSES - ELSEWHERE <= called, module.__name__


def test_a_call_is_its_seed_and_number(entries: list[Entry]) -> None:
    one, other = (call_of(entries, 4, 2) for _ in range(2))
    assert one[0] is other[0]
    assert list(one[1]) == list(other[1])


@pytest.mark.skipif(sys.platform == "win32", reason="there is no alarm")
def test_some_hostile_calls(entries: list[Entry], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with Path(os.devnull).open() as nothing:
        monkeypatch.setattr(sys, "stdin", nothing)
        for number in range(300):
            outcome, example = made(*call_of(entries, 0, number), number)
            assert outcome.kind in (ANSWERED, REFUSED), f"{outcome}: {example}"
