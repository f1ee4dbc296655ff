"""Damaged files give a table or one sentence, whatever their format."""

from collections import Counter

import pytest

from cocomplete.formats.files import parse_table
from cocomplete.formats.table_file import ReadOptions
from mutated_files import mutated, outcome, seeds

COUNT = 2_000


def test_whole_files_are_read() -> None:
    assert [outcome(*seed) for seed in seeds()] == ["table"] * len(seeds())


@pytest.mark.filterwarnings("default")
def test_damaged_files_are_read_or_refused_with_one_sentence() -> None:
    outcomes = Counter(outcome(*file) for file in mutated(COUNT, seed=17))
    assert set(outcomes) == {"table", "sentence"}, outcomes


def test_categories_of_arff_beyond_whole_numbers_are_floats() -> None:
    """Found by the campaign (``make trust``): polars' own exception got out."""
    large = b"9999999999999999999999999999990"
    arff = b"@relation s\n@attribute c {" + large + b",1}\n@data\n1\n" + large + b"\n"
    found = parse_table(arff, "file.arff", ReadOptions(path="file.arff"))
    assert found.frame["c"].to_list() == [1.0, float(large)]
