"""Damaged files give a table or one sentence, whatever their format."""

from collections import Counter

import pytest

from mutated_files import mutated, outcome, seeds

COUNT = 2_000


def test_whole_files_are_read() -> None:
    assert [outcome(*seed) for seed in seeds()] == ["table"] * len(seeds())


@pytest.mark.filterwarnings("default")
def test_damaged_files_are_read_or_refused_with_one_sentence() -> None:
    outcomes = Counter(outcome(*file) for file in mutated(COUNT, seed=17))
    assert set(outcomes) == {"table", "sentence"}, outcomes
