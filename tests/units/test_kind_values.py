"""Kinds of columns, one by one: values worked out by hand."""

from typing import Any

import numpy as np
import pytest

from cocomplete.table.containers import DateColumn
from cocomplete.table.kinds import (
    Category,
    Count,
    Date,
    Number,
    Ordinal,
    Posterior,
    Tags,
    UnixTime,
    YesNo,
    level_text,
)
from cocomplete.table.kinds.category import MOST_ENCODED
from tests.units.typed_columns import DAY, dates, words

nan = np.nan


def predicted(*means: Any, levels: Any = None) -> Posterior:
    mean = np.array(means, float).reshape(len(means), -1)
    return Posterior(mean, 0.1 + mean, None if levels is None else np.array(levels))


# -- numbers ---------------------------------------------------------------------------------------------


def test_numbers_are_rounded_to_steps_from_their_origin_and_kept_inside() -> None:
    kind = Number(low=-1.0, high=3.5, step=0.5, origin=0.2)
    given = predicted(1.0, 0.9, -4.0, 9.0)
    np.testing.assert_allclose(kind.fill(given), [1.2, 0.7, -1, 3.5])
    np.testing.assert_allclose(kind.expected(given), [1.0, 0.9, -1, 3.5])
    np.testing.assert_array_equal(kind.std(given), given.std[:, 0])
    np.testing.assert_array_equal(Number(step=2.0).fill(predicted(2.9, -0.9)), [2, 0])
    free = Number()
    np.testing.assert_array_equal(free.fill(predicted(-1e300, 0.1234)), [-1e300, 0.1234])
    np.testing.assert_array_equal(Count().fill(predicted(2.4, 1e9 + 0.6, -0.3)), [2, 1e9 + 1, 0])
    for kind in (free, Count()):
        assert (kind.parts, kind.codes, kind.values, kind.binary) == (("",), None, None, False)
        assert kind.probabilities(given) is None


# -- words -----------------------------------------------------------------------------------------------


def test_categories_are_the_most_frequent_values_in_alphabetical_order() -> None:
    assert Category.of(words("b", None, "a", "c", "b")).levels == ("a", "b", "c")
    assert Category.of(np.array([9.0, nan, 3.0, 9.0])).levels == (3.0, 9.0)
    many = [f"w{k:03}" for k in range(MOST_ENCODED + 2)]
    # Of those that are equally frequent the first in the alphabet.
    assert Category.of(words(*many, many[-1])).levels == (*many[: MOST_ENCODED - 1], many[-1])


@pytest.mark.parametrize(
    ("levels", "parts"),
    [((), ("",)), (("a",), ("",)), (("a", "b"), ("b",)), (("a", "b", "c"), ("a", "b", "c"))],
)
def test_two_categories_need_one_column(levels: tuple[str, ...], parts: tuple[str, ...]) -> None:
    kind = Category(levels)
    assert kind.parts == parts
    assert kind.values == levels
    assert kind.codes is None
    assert kind.encode(words()).shape == (0, len(parts))


def test_categories_that_are_numbers_are_written_as_such() -> None:
    assert Category((1.0, 2.5, 7.0)).parts == ("1", "2.5", "7")
    assert level_text("1.0") == "1.0"


def test_probabilities_of_categories_add_up_to_one() -> None:
    three = Category(("a", "b", "c"))
    given = predicted([0.1, 0.2, 0.1], [0.0, 0.0, 0.0], [0.0, 0.5, 0.5])
    np.testing.assert_allclose(
        three.probabilities(given), np.array([[0.25, 0.5, 0.25], [1 / 3] * 3, [0, 0.5, 0.5]]), atol=1e-11
    )
    np.testing.assert_allclose(three.std(given), np.sqrt([0.25, 2 / 9, 0.25]), atol=1e-11)
    assert three.fill(given).tolist() == ["b", "a", "b"]
    assert three.expected(given).tolist() == ["b", "a", "b"]
    two = Category(("a", "b"))
    np.testing.assert_allclose(two.probabilities(predicted(0.3, 0.0)), [[0.7, 0.3], [1.0, 0.0]], atol=1e-11)
    assert (two.probabilities(predicted(0.0, 1.0)) > 0).all()
    assert two.fill(predicted(0.3, 0.51)).tolist() == ["a", "b"]
    np.testing.assert_allclose(two.std(predicted(0.3, 0.9)), np.sqrt([0.21, 0.09]))
    np.testing.assert_array_equal(Category(("a",)).probabilities(predicted(0.3)), [[1]])


def test_a_drawn_category_is_the_one_that_is_marked() -> None:
    assert Category(("a", "b")).drawn(np.array([[0.0], [1.0], [0.5]])).tolist() == ["a", "b", "a"]
    assert Category(("a",)).drawn(np.array([[0.0], [1.0]])).tolist() == ["a", "a"]
    assert Category((3.0, 5.0, 8.0)).drawn(np.array([[0.0, 0, 1], [1, 0, 0]])).tolist() == [8, 3]
    chosen = Category(("a", "b", "c")).chosen(np.array([[0.2, 0.1, 0.3]]), np.array([0.0, 0.9, 0.9]))
    assert chosen.tolist() == ["c"]
    assert Category((3.0, 5.0)).fill(predicted(0.2)).dtype == np.float64
    assert Category(("a", "b")).fill(predicted(0.2)).dtype == object


def test_yes_is_what_is_above_its_threshold() -> None:
    given = predicted(0.5, 0.51, 0.2)
    plain, spoken = YesNo(), YesNo(("no", "yes"))
    np.testing.assert_array_equal(plain.fill(given), [0, 1, 0])
    np.testing.assert_array_equal(plain.expected(given), given.mean[:, 0])
    assert spoken.fill(given).tolist() == ["no", "yes", "no"]
    assert spoken.expected(given).tolist() == ["no", "yes", "no"]
    np.testing.assert_array_equal(plain.chosen(given.mean, np.array([0.1])), [1, 1, 1])
    assert spoken.chosen(given.mean, np.array([0.505])).tolist() == ["no", "yes", "no"]
    np.testing.assert_allclose(plain.probabilities(given), [[0.5, 0.5], [0.49, 0.51], [0.8, 0.2]])
    np.testing.assert_array_equal(plain.std(given), given.std[:, 0])
    assert plain.values == (0.0, 1.0)
    assert spoken.values == ("no", "yes")
    assert plain.parts == spoken.parts == ("",)
    assert plain.codes is None
    np.testing.assert_array_equal(
        spoken.encode(words(" Yes", "NO ", "maybe", None)), [[1], [0], [nan], [nan]]
    )


def test_levels_lie_nearest_to_their_codes() -> None:
    scale = Ordinal((1.0, 2.0, 5.0))
    np.testing.assert_array_equal(
        scale.drawn(np.array([[-9.0], [1.4], [1.6], [3.4], [3.6], [9.0]])), [1, 1, 2, 2, 5, 5]
    )
    np.testing.assert_array_equal(scale.codes, [1, 2, 5])
    given = predicted(0.0, 1.4, 9.0, levels=[[0.2, 0.5, 0.3], [0.6, 0.3, 0.1], [0.1, 0.2, 0.7]])
    np.testing.assert_array_equal(scale.expected(given), [1, 1.4, 5])
    np.testing.assert_array_equal(scale.fill(given), [2, 1, 5])
    assert scale.probabilities(given) is given.levels
    spoken = Ordinal(("low", "mid", "top"))
    np.testing.assert_array_equal(spoken.codes, [0, 1, 2])
    assert spoken.drawn(np.array([[0.4], [0.6], [7.0]])).tolist() == ["low", "mid", "top"]
    assert spoken.expected(given).tolist() == ["mid", "low", "top"]
    assert spoken.values == ("low", "mid", "top")
    for one in (Ordinal((3.0,)), Ordinal(("only",))):
        assert one.expected(predicted(7.0, levels=[[1.0]])).tolist() == list(one.levels)
        assert one.drawn(np.array([[7.0]])).tolist() == list(one.levels)


@pytest.mark.parametrize(
    ("column", "levels", "separator"),
    [
        (("rock;live|x", "a,b"), ("a,b", "live|x", "rock"), ";"),
        (("rock|live, x",), ("live, x", "rock"), "|"),
        (("rock, live,,", None), ("live", "rock"), ","),
        (("rock", None, "live"), ("live", "rock"), ";"),
    ],
)
def test_tags_are_parted_by_the_first_mark_that_occurs(
    column: tuple[str | None, ...], levels: tuple[str, ...], separator: str
) -> None:
    kind = Tags.of(words(*column))
    assert (kind.levels, kind.separator) == (levels, separator)
    assert kind.parts == kind.values == levels


def test_tags_that_were_never_seen_do_not_count() -> None:
    kind = Tags(("a", "b", "c"))
    np.testing.assert_array_equal(
        kind.encode(words("c;z;a", None, "b", "")), [[1, 0, 1], [nan] * 3, [0, 1, 0], [0, 0, 0]]
    )
    assert kind.drawn(np.array([[1.0, 0, 1], [0, 0, 0], [0.5, 0.6, 0]])).tolist() == ["a;c", "", "b"]
    assert kind.chosen(np.array([[0.2, 0.2, 0.2]]), np.array([0.1, 0.2, 0.3])).tolist() == ["a"]


# -- dates -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("last", "unit"),
    [
        ("2020-01-03", "D"),
        ("2020-01-03T05", "h"),
        ("2020-01-03T00:07", "m"),
        ("2020-01-03T00:00:09", "s"),
        ("2020-01-03T00:00:00.004", "ms"),
        ("2020-01-03T00:00:00.000001", "us"),
    ],
)
def test_dates_have_the_coarsest_unit_in_which_all_are_whole(last: str, unit: str) -> None:
    column = dates("2020-01-01", "NaT", "2020-01-02", last)
    kind = Date.of(column)
    assert kind.unit == unit
    # The day of the middle one.
    assert kind.origin == 18_263 * DAY
    np.testing.assert_array_equal(kind.encode(column)[:3], [[-1], [nan], [0]])
    np.testing.assert_array_equal(kind.drawn(kind.encode(column)[[0, 2, 3]]), column.values[[0, 2, 3]])


def test_a_column_of_days_is_filled_with_days() -> None:
    assert Date.of(dates("NaT")) == Date(0, "D")
    column = DateColumn(np.array(["2020-01-01T12"], "datetime64[us]"), days=True)
    assert Date.of(column) == Date(18_262 * DAY, "D")
    noon = Date.of(dates("2020-01-01T12", "2020-01-02T13", "2020-01-03T14", "2020-01-04T15"))
    assert noon == Date(18_264 * DAY, "h")
    filled = noon.fill(predicted(0.5, 1 / 3))
    assert filled.tolist() == dates("2020-01-03T12", "2020-01-03T08").values.tolist()
    np.testing.assert_array_equal(noon.expected(predicted(0.5)), noon.fill(predicted(0.5)))
    weekly = Date(18_262 * DAY, "D").fill(predicted(0.4, 0.6, -0.6))
    assert weekly.tolist() == dates("2020-01-01", "2020-01-02", "2019-12-31").values.tolist()


SECONDS_1980, SECONDS_2100 = 315_532_800.0, 4_102_444_800.0


@pytest.mark.parametrize("size", [1_000_000, 1_000, 1])
def test_unix_times_are_whole_numbers_from_1980_to_2100_in_one_unit(size: int) -> None:
    unit = 1_000_000 / size
    for seconds, whether in (
        ((SECONDS_1980, nan, SECONDS_2100 - 1), True),
        ((SECONDS_1980 - 1, 1.6e9), False),
        ((1.6e9, SECONDS_2100), False),
        ((nan, nan), False),
    ):
        kind = UnixTime.of(unit * np.array(seconds))
        assert (kind is not None) is whether
        if kind is not None:
            assert kind.size == size
    assert UnixTime.of(np.array([1.6e9 + 0.5, 1.6e9])) is None


def test_unix_times_are_filled_in_their_unit() -> None:
    kind = UnixTime.of(1_000.0 * np.array([1_577_836_800, nan, 1_577_923_200, 1_578_009_600 + 3600]))
    assert kind == UnixTime(Date(18_263 * DAY, "h"), 1_000)
    np.testing.assert_allclose(kind.encode(np.array([1_577_836_800_000.0, nan])), [[-1.0], [nan]])
    given = predicted(0.0, 0.26)
    np.testing.assert_array_equal(kind.fill(given), [1_577_923_200_000, 1_577_923_200_000 + 6 * 3_600_000])
    np.testing.assert_array_equal(kind.expected(given), kind.fill(given))
    far = kind.encode(np.array([1e300, -1e300, np.inf, -np.inf]))[:, 0]
    # What is too large for a date is the largest one, and what is no number stays none.
    np.testing.assert_allclose(far[:2], np.array([2.0**62, -(2.0**62)]) / DAY - 18_263)
    assert np.isinf(far[2:]).all()
