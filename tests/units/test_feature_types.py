"""What columns are taken for, and what is said of those that cannot be what they are called."""

import re
from typing import Any

import numpy as np
import pandas as pd
import pytest

from cocomplete import InputError
from cocomplete.table.containers import RawTable, read_container
from cocomplete.table.feature_types import feature_kinds, label_kinds
from cocomplete.table.kinds import Category, Count, Date, Number, Ordinal, Tags, UnixTime, YesNo

nan = np.nan


@pytest.fixture
def mixed() -> RawTable:
    """Numbers, 0/1, larger numbers, 0/1 as floats."""
    X = np.array([[2.5, 0, 10, 1], [1, 1, 20.5, nan], [nan, 0, 30, 0], [0, nan, 40, 1]])
    return RawTable(X, ("size", "smokes", "weight", "married"), {})


def names(types: Any, raw: RawTable) -> list[str]:
    return [kind.name for kind in feature_kinds(types, raw)]


@pytest.mark.parametrize(
    ("types", "expected"),
    [
        ("auto", [0, 1, 0, 1]),
        ("number", [0, 0, 0, 0]),
        (["number", "yes-no", "number", "number"], [0, 1, 0, 0]),
        (("number", "number", "number", "yes-no"), [0, 0, 0, 1]),
        (np.array(["number", "number", "number", "yes-no"]), [0, 0, 0, 1]),
        ({"smokes": "number"}, [0, 0, 0, 1]),
        ({"smokes": "auto"}, [0, 1, 0, 1]),
        ({3: "number"}, [0, 1, 0, 0]),
        ({np.int64(3): "number", "smokes": "number"}, [0, 0, 0, 0]),
        ({}, [0, 1, 0, 1]),
    ],
)
def test_types_as_asked_for(mixed: RawTable, types: Any, expected: Any) -> None:
    assert names(types, mixed) == ["yes-no" if each else "number" for each in expected]


def test_a_column_of_ones_alone_is_yes_no_only_if_called_so() -> None:
    ones = RawTable(np.ones((3, 1)), None, {})
    assert names("auto", ones) == ["number"]
    assert names({0: "yes-no"}, ones) == ["yes-no"]


COLUMNS: list[tuple[Any, Any]] = [
    ([0.5, 1.5, nan], Number()),
    (list(np.arange(31) / 8), Number(step=0.125, origin=0.0)),
    # The same levels in another unit.
    ([2.5, 5.0, 12.5] * 5, Ordinal((2.5, 5.0, 12.5))),
    (list(np.sqrt(np.arange(1, 40))), Number()),
    ([0, 1, nan, 1], YesNo()),
    ([True, False, None], YesNo()),
    ([nan, nan], Number()),
    # Levels in an order: few whole numbers, each of them often.
    ([1, 2, 3, 4, 5] * 5, Ordinal((1.0, 2.0, 3.0, 4.0, 5.0))),
    ([1.0, 2.0, nan] * 5, Ordinal((1.0, 2.0))),
    # Too rare to be levels, too few to be counts.
    ([1, 2, 3, 4], Number()),
    (list(range(30)), Count(origin=0.0)),
    ([-1, *range(30)], Number(step=1.0, origin=-1.0)),
    (list(range(10, 300, 10)), Count(step=10.0, origin=10.0)),
    ([0, 1000] * 10, Ordinal((0.0, 1000.0))),
    ([1e300, 2e300, 4.5e300] * 10, Number()),
    (["a", "b", None, "c"], Category(("a", "b", "c"))),
    (["Yes", "no", None], YesNo(("no", "Yes"))),
    (["ja", "nein"], YesNo(("nein", "ja"))),
    (["OUI", "NON"], YesNo(("NON", "OUI"))),
    (["sí", "no"], YesNo(("no", "sí"))),
    (["pos", "neg"], YesNo(("neg", "pos"))),
    (["+", "-", "+"], YesNo(("-", "+"))),
    (["yes", "yes"], YesNo(("no", "yes"))),
    (pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"], ordered=True), Ordinal(("lo", "mid", "hi"))),
    (pd.Categorical(["lo", "hi"], ["lo", "mid", "hi"]), Category(("hi", "lo"))),
    (pd.to_datetime(["2024-03-01", None, "2024-03-09"]), Date(19791 * 86_400_000_000, "D")),
    (pd.to_datetime(["2024-03-01 12:30", None]), Date(19783 * 86_400_000_000, "m")),
]


@pytest.mark.parametrize(("column", "kind"), COLUMNS)
def test_kinds_are_recognised(column: Any, kind: Any) -> None:
    raw = read_container(pd.DataFrame({"it": column}), "X")
    assert feature_kinds("auto", raw) == (kind,)


@pytest.mark.parametrize(
    ("types", "column", "kind"),
    [
        ("positive", [1.5, 2.5], Number(0.0)),
        ((0, 10), [1.5, 2.5], Number(0.0, 10.0)),
        ("count", [1, 2, 3], Count()),
        ("category", [7, 3, 7], Category((3.0, 7.0))),
        ("ordinal", [3, 1, 7.5], Ordinal((1.0, 3.0, 7.5))),
        (["low", "high", "top"], ["high", None, "low"], Ordinal(("low", "high", "top"))),
        ([1, 2, 3], [1, 2, nan], Ordinal((1.0, 2.0, 3.0))),
        ("yes-no", ["male", "female"], YesNo(("female", "male"))),
        ("date", [1.7e9, None, 1.8e9], UnixTime(Date(20833 * 86_400_000_000, "s"), 1_000_000)),
        ("date", [1.7e12, 1.8e12 + 1], UnixTime(Date(20833 * 86_400_000_000, "ms"), 1_000)),
        ("date", [1.7e15, 1.8e15], UnixTime(Date(20833 * 86_400_000_000, "s"), 1)),
        ("date", [1980.0, 2001.0], Number(step=1.0)),
        ("date", [1.7e9, 1.8e9 + 0.5], Number()),
        ("category", ["yes", "no"], Category(("no", "yes"))),
    ],
)
def test_kinds_as_asked_for(types: Any, column: Any, kind: Any) -> None:
    raw = read_container(pd.DataFrame({"it": column}), "X")
    assert feature_kinds({"it": types}, raw) == (kind,)


@pytest.mark.parametrize(
    ("types", "message"),
    [
        (
            "yes-no",
            "says that column 'size' is yes/no, but it holds 2.5; recode it to 0 and 1, or call it",
        ),
        ({"weight": "yes-no"}, "says that column 'weight' is yes/no, but it holds 10; recode it"),
        ({2: "yes-no"}, "says that column 'weight' is yes/no, but it holds 10"),
        (
            "scale",
            "must be 'auto' or made of 'number', 'positive', 'yes-no', 'category', 'ordinal', 'count', ",
        ),
        (["number", "yes-no", 3, "number"], "got 3 for column 'weight'"),
        (["number"], "feature_types has 1 entries, but X has 4 features; give one per feature"),
        (
            {"height": "number"},
            "names feature 'height', which X does not have; use a column's name or position",
        ),
        ({4: "number"}, "names feature 4, which X does not have"),
        ({-1: "number"}, "names feature -1, which X does not have"),
        (3, "feature_types must be 'auto', a type, a list or a dict, got 3"),
        ({"size": "count"}, "says that column 'size' is a count, but it holds 2.5"),
        ({"size": (2, 1)}, "has (2, 1) for column 'size'; bounds are two numbers, the lower one first"),
        ({"size": (1, 2)}, "says that column 'size' lies between 1 and 2, but it holds 2.5"),
        ({"size": [0, 1]}, "gives the levels [0.0, 1.0], but column 'size' also holds 2.5"),
        ({"size": [0, 1, 1, 2.5]}, "would have one twice"),
    ],
)
def test_what_cannot_be_is_said(mixed: RawTable, types: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        feature_kinds(types, mixed)


@pytest.mark.parametrize(
    ("types", "column", "message"),
    [
        ("number", ["a", "b"], "says that column 'it' is 'number', but it holds 'a'"),
        ("ordinal", ["a", "b"], "not in which order its words stand; give them as a list"),
        ("date", ["a", "b"], "is a date, but it holds words such as 'a'; convert it first"),
        ("yes-no", ["a", "b", "c"], "is yes/no, but it holds 3 different words"),
        ("category", pd.to_datetime(["2020-01-01"]), "is a category, but it holds dates"),
        (
            "category",
            [None, None],
            "is a category, but none of its cells is known, so that there is no value",
        ),
        ("ordinal", pd.to_datetime(["2020-01-01"]), "is ordinal, but it holds dates"),
        ("auto", [f"name {k}" for k in range(40)], "holds 40 different words in 40 cells, such as 'name 0'"),
    ],
)
def test_words_that_cannot_be_are_said(types: Any, column: Any, message: str) -> None:
    raw = read_container(pd.DataFrame({"it": column}), "X")
    with pytest.raises(InputError, match=re.escape(message)):
        feature_kinds({"it": types}, raw)


def test_without_names_positions_are_named(mixed: RawTable) -> None:
    with pytest.raises(InputError, match="says that column 2 is yes/no, but it holds 10"):
        feature_kinds({2: "yes-no"}, mixed._replace(names=None))


@pytest.mark.parametrize(
    ("types", "column", "kind"),
    [
        ("auto", [0, 1, nan], YesNo()),
        ("auto", ["Ja", "Nein", None], YesNo(("Nein", "Ja"))),
        ("class", ["a", "b", "c"], Category(("a", "b", "c"))),
        ("class", [3, 1, 2], Category((1.0, 2.0, 3.0))),
        ("tags", ["rock;live", None, "live"], Tags(("live", "rock"), ";")),
        ("tags", ["a|b"], Tags(("a", "b"), "|")),
    ],
)
def test_kinds_of_labels(types: Any, column: Any, kind: Any) -> None:
    assert label_kinds({"it": types}, read_container(pd.DataFrame({"it": column}), "y")) == (kind,)


@pytest.mark.parametrize(
    ("types", "column", "message"),
    [
        ("auto", ["a", "b", "c"], "y: column 'it' must be yes or no, but it holds the words 'a', 'b', 'c'; "),
        ("tags", [1, 2], "cannot be of type 'tags': it holds numbers"),
        ("tags", [None, None], "cannot be of type 'tags': no cell is known; leave it out"),
        ("class", pd.to_datetime(["2020-01-01"]), "cannot be of type 'class': it holds dates"),
        (
            "class",
            [None, None],
            "label_types says that column 'it' is a class, but none of its cells is known",
        ),
        ("number", [0, 1], "label_types must be 'auto' or made of 'yes-no', 'class', 'tags', got 'number'"),
    ],
)
def test_labels_that_cannot_be_are_said(types: Any, column: Any, message: str) -> None:
    with pytest.raises(InputError, match=re.escape(message)):
        label_kinds({"it": types}, read_container(pd.DataFrame({"it": column}), "y"))
