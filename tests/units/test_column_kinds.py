"""Every kind of column: encoded, filled, drawn; one row of the table below covers a new one."""

from typing import Any, NamedTuple

import numpy as np
import polars as pl
import pytest
from scipy.special import expit

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.table.containers import DateColumn, TextColumn
from cocomplete.table.kinds import (
    Category,
    Count,
    Date,
    Kind,
    Number,
    Ordinal,
    Posterior,
    Tags,
    UnixTime,
    YesNo,
)
from cocomplete.table.schema import Schema
from tests.units.typed_columns import DAY, dates, words

nan = np.nan


class Case(NamedTuple):
    """A kind, a column of it, what it is encoded as, and values that its cells may be filled with."""

    kind: Kind
    column: Any
    encoded: Any
    allowed: Any


CASES = {
    "number": Case(Number(), np.array([1.5, nan, -2]), [[1.5], [nan], [-2]], None),
    "bounded": Case(Number(0, 1), np.array([0.5, nan, 1]), [[0.5], [nan], [1]], lambda v: 0 <= v <= 1),
    "whole": Case(Number(step=1.0), np.array([5, nan, -1.0]), [[5], [nan], [-1]], lambda v: v == round(v)),
    "count": Case(Count(), np.array([5, nan, 0.0]), [[5], [nan], [0]], lambda v: v == round(v) >= 0),
    "yes-no": Case(YesNo(), np.array([0, nan, 1.0]), [[0], [nan], [1]], lambda v: v in (0, 1)),
    "words for yes": Case(
        YesNo(("nein", "ja")), words("JA", None, "nein"), [[1], [nan], [0]], lambda v: v in ("ja", "nein")
    ),
    "category": Case(
        Category(("a", "b", "c")),
        words("b", None, "a"),
        [[0, 1, 0], [nan] * 3, [1, 0, 0]],
        lambda v: v in ("a", "b", "c"),
    ),
    "two categories": Case(
        Category(("a", "b")), words("b", None, "a"), [[1], [nan], [0]], lambda v: v in ("a", "b")
    ),
    "one category": Case(Category(("a",)), words("a", None, "a"), [[0], [nan], [0]], lambda v: v == "a"),
    "numbered category": Case(
        Category((3.0, 7.0, 9.0)),
        np.array([7, nan, 3.0]),
        [[0, 1, 0], [nan] * 3, [1, 0, 0]],
        lambda v: v in (3, 7, 9),
    ),
    "ordinal": Case(
        Ordinal(("low", "mid", "top")),
        words("top", None, "low"),
        [[2], [nan], [0]],
        lambda v: v in ("low", "mid", "top"),
    ),
    "scale": Case(
        Ordinal((1.0, 2.0, 5.0)), np.array([5, nan, 1.0]), [[5], [nan], [1]], lambda v: v in (1, 2, 5)
    ),
    "date": Case(
        Date(19_000 * DAY, "D"),
        dates("2022-01-09", "NaT", "2022-01-07"),
        [[1], [nan], [-1]],
        lambda v: np.datetime64(v, "D") == v,
    ),
    "seconds since 1970": Case(
        UnixTime(Date(19_000 * DAY, "h"), 1_000_000),
        np.array([19_001 * 86_400, nan, 18_999.5 * 86_400]),
        [[1], [nan], [-0.5]],
        lambda v: v % 3600 == 0,
    ),
    "milliseconds since 1970": Case(
        UnixTime(Date(19_000 * DAY, "ms"), 1_000),
        np.array([19_001 * 86_400_000.0, nan, 19_000 * 86_400_000.0]),
        [[1], [nan], [0]],
        lambda v: v == round(v),
    ),
}


def posterior(kind: Kind, rng: np.random.Generator, n: int = 50) -> Posterior:
    """Make up predictions, far and near."""
    mean: FloatArray = rng.normal(scale=4, size=(n, len(kind.parts)))
    levels = None
    if kind.binary:
        mean = expit(mean)
    if kind.codes is not None:
        levels = rng.dirichlet(np.ones(len(kind.codes)), size=n)
    return Posterior(mean, np.abs(rng.normal(size=mean.shape)), levels)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_what_a_column_is_encoded_as(case: Case) -> None:
    encoded = case.kind.encode(case.column)
    np.testing.assert_array_equal(encoded, case.encoded)
    assert encoded.shape[1] == len(case.kind.parts)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_an_encoded_value_is_drawn_as_itself(case: Case) -> None:
    known = [0, 2]
    drawn = case.kind.drawn(np.array(case.encoded, float)[known])
    column = case.column if isinstance(case.column, np.ndarray) else case.column.values
    expected = ["ja", "nein"] if case.kind == YesNo(("nein", "ja")) else column[known]
    np.testing.assert_array_equal(drawn, expected)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_fills_are_values_that_the_column_could_hold(case: Case) -> None:
    given = posterior(case.kind, np.random.default_rng(0))
    filled = case.kind.fill(given)
    assert len(filled) == len(given.mean)
    if case.allowed is not None:
        assert all(case.allowed(value) for value in filled)
    # A fill read again is what it was encoded as: no value leaves the column's own set.
    column: Any = filled
    if filled.dtype == object:
        column = TextColumn(filled)
    elif filled.dtype.kind == "M":
        column = DateColumn(filled)
    again = case.kind.drawn(case.kind.encode(column))
    np.testing.assert_array_equal(again, filled)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_probabilities_are_some_and_the_likeliest_value_is_filled_in(case: Case) -> None:
    given = posterior(case.kind, np.random.default_rng(1))
    found = case.kind.probabilities(given)
    assert (found is None) == (case.kind.values is None)
    assert (case.kind.std(given) >= 0).all()
    if found is None:
        return
    assert case.kind.values is not None
    assert found.shape == (len(given.mean), len(case.kind.values))
    np.testing.assert_allclose(found.sum(axis=1), 1)
    likeliest = np.array(case.kind.values, object)[np.argmax(found, axis=1)]
    np.testing.assert_array_equal(case.kind.fill(given), likeliest)


def test_expected_values_are_means_where_there_are_such() -> None:
    given = Posterior(
        np.array([[1.4], [-3.0]]), np.ones((2, 1)), np.array([[0.2, 0.5, 0.3], [0.9, 0.1, 0.0]])
    )
    np.testing.assert_array_equal(Count().expected(given), [1.4, 0])
    np.testing.assert_array_equal(Count().fill(given), [1, 0])
    np.testing.assert_array_equal(Ordinal((1.0, 2.0, 5.0)).expected(given), [1.4, 1])
    assert Ordinal(("a", "b", "c")).expected(given).tolist() == ["b", "a"]


def test_a_word_that_was_never_seen_is_unknown() -> None:
    for kind in (Category(("a", "b", "c")), Ordinal(("a", "b")), YesNo(("no", "yes"))):
        assert np.isnan(kind.encode(words("z"))).all()


def test_rare_categories_have_no_column_but_are_not_unknown() -> None:
    column = words(*[f"w{k:02}" for k in range(60) for _ in range(2 if k < 50 else 1)])
    kind = Category.of(column)
    assert len(kind.levels) == 50
    assert "w59" not in kind.levels


def test_times_of_day_survive_a_century_of_days() -> None:
    column = dates("1950-01-01T12:34:56.789012", "2049-12-31T23:59:59.999999", "NaT")
    kind = Date.of(column)
    assert kind.unit == "us"
    np.testing.assert_array_equal(kind.drawn(kind.encode(column)[:2]), column.values[:2])


def test_tags_come_back_as_a_list() -> None:
    kind = Tags.of(words("rock;live", None, "live", ""))
    np.testing.assert_array_equal(kind.encode(words("rock; live", None, "")), [[1, 1], [nan, nan], [0, 0]])
    assert kind.chosen(np.array([[0.9, 0.2], [0.6, 0.7]]), np.full(2, 0.5)).tolist() == ["live", "live;rock"]


def test_a_schema_knows_which_encoded_columns_are_whose() -> None:
    schema = Schema((Number(), Category(("a", "b", "c")), Ordinal(("x", "y")), YesNo()), ("n", "c", "o", "b"))
    assert schema.encoded_names == ("n", "c=a", "c=b", "c=c", "o", "b")
    np.testing.assert_array_equal(schema.groups, [0, 1, 1, 1, 2, 3])
    np.testing.assert_array_equal(schema.binary, [False, True, True, True, False, True])
    assert list(schema.codes) == [4]
    assert not schema.is_plain
    assert Schema((Number(), Count(), YesNo())).is_plain


@pytest.mark.parametrize("unit", [1, 1_000])
def test_unix_times_come_back_whole_in_their_unit(unit: int) -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=80)
    seen = pl.Series("seen", unit * (1_699_999_200 + 3600 * np.round(2000 * x).astype(int)))
    table = pl.DataFrame({"x": x, "seen": seen}).with_columns(
        pl.when(pl.int_range(pl.len()) % 5 > 0).then("seen").alias("seen")
    )
    for fill in ("value", "mean"):
        model = CoCompleter(feature_types={"seen": "date"}, fill=fill).fit(table)
        assert model.feature_types_.tolist() == ["number", "date"]
        done = model.complete(table)
        assert done.X["seen"].dtype == pl.Int64
        assert (done.X["seen"] % (unit * 3600) == 0).all()
        # They are filled as the same dates would be.
        dates = table.with_columns(pl.from_epoch(pl.col("seen") // unit))
        same = CoCompleter(fill=fill).fit(dates).complete(dates)
        assert done.X["seen"].to_list() == (unit * same.X["seen"].dt.epoch("s")).to_list()
        np.testing.assert_array_equal(done.X_std, same.X_std)


def test_a_number_without_end_is_no_time() -> None:
    column = np.array([1.7e9, 1.8e9, np.inf, 1e300])
    kind = UnixTime.of(column[:2])
    assert kind is not None
    encoded = kind.encode(column)[:, 0]
    assert np.isposinf(encoded[2])
    assert encoded[3] > 1e6
