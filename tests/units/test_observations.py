import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from polars.testing import assert_frame_equal, assert_series_equal
from scipy import sparse

from cocomplete.exceptions import InputError
from cocomplete.problem.observations import Observations
from cocomplete.table.containers import Table, read_container
from cocomplete.table.refill import fill_like

nan = np.nan
ROWS = [[1.0, None], [nan, 4.0], [5.0, 6.0]]
EXPECTED = np.array([[1.0, nan], [nan, 4.0], [5.0, 6.0]])
LABELS = [[1, 0], [None, 1], [0, None]]
EXPECTED_LABELS = np.array([[1.0, 0.0], [nan, 1.0], [0.0, nan]])

CONTAINERS = {
    "list": lambda rows: rows,
    "object array": lambda rows: np.array(rows, dtype=object),
    "float array": lambda rows: np.array(rows, dtype=float),
    "pandas": lambda rows: pd.DataFrame(rows, columns=["a", "b"]),
    "pandas objects": lambda rows: pd.DataFrame(rows, columns=["a", "b"], dtype=object),
    "pandas NA": lambda rows: pd.DataFrame(rows, columns=["a", "b"]).astype("Float64"),
    "polars": lambda rows: pl.DataFrame(rows, schema=["a", "b"], orient="row", strict=False),
    "arrow": lambda rows: pa.table(pd.DataFrame(rows, columns=["a", "b"])),
}


@pytest.mark.parametrize("container", CONTAINERS)
def test_every_container_gives_the_same_observations(container: str) -> None:
    build = CONTAINERS[container]
    observed = Observations.from_tables(build(ROWS), build(LABELS))
    np.testing.assert_array_equal(observed.X, EXPECTED)
    np.testing.assert_array_equal(observed.Y, EXPECTED_LABELS)
    named = container.split(maxsplit=1)[0] in ("pandas", "polars", "arrow")
    assert observed.feature_names == (("a", "b") if named else None)
    assert (observed.n_samples, observed.n_features, observed.n_labels) == (3, 2, 2)


def test_columns_may_be_numbered_rather_than_named() -> None:
    frame = pd.DataFrame(EXPECTED)
    observed = Observations.from_tables(frame, pd.DataFrame(EXPECTED_LABELS))
    np.testing.assert_array_equal(observed.X, EXPECTED)
    assert observed.label_names == ("0", "1")
    filled = fill_like(frame, "X", np.full((3, 2), 9.0), observed.X_known)
    pd.testing.assert_frame_equal(filled, frame.fillna(9.0))


@pytest.mark.parametrize(
    "labels",
    [
        pd.DataFrame({"u": pd.array([True, None, False], dtype="boolean")}),
        pd.DataFrame({"u": pd.array([1, None, 0], dtype="Int8")}),
        pl.DataFrame({"u": [True, None, False]}),
        pd.Series([1.0, nan, 0.0], name="u"),
        pl.Series("u", [1, None, 0]),
        [1, None, 0],
        np.array([1.0, nan, 0.0]),
    ],
)
def test_truth_values_integers_and_single_columns_are_labels_too(labels: Any) -> None:
    observed = Observations.from_tables(ROWS, labels)
    np.testing.assert_array_equal(observed.Y, [[1.0], [nan], [0.0]])


def test_no_labels_at_all() -> None:
    assert Observations.from_tables(ROWS).Y.shape == (3, 0)


def test_single_precision_is_kept() -> None:
    observed = Observations.from_tables(np.float32(EXPECTED), LABELS)
    assert observed.X.dtype == observed.Y.dtype == np.float32
    frame = pl.DataFrame(EXPECTED.astype(np.float32), schema=["a", "b"])
    assert Observations.from_tables(frame, LABELS).X.dtype == np.float32


def test_it_is_frozen() -> None:
    observed = Observations.from_tables(ROWS, LABELS)
    with pytest.raises(AttributeError):
        observed.X = None  # type: ignore[misc]


@pytest.mark.parametrize(
    ("X", "y", "message"),
    [
        (ROWS, [[1, 2], [0, 1], [7, 3]], r"y must hold 0, 1 or unknown, but column 0 holds 7 .*row 2"),
        (ROWS, pd.DataFrame({"ill": [0, 2, -1]}), r"column 'ill' holds -1, 2 .*recode"),
        ([[1, np.inf], [2, 3]], None, r"column 1 holds inf in row 0 .*replace infinities by NaN"),
        (pd.DataFrame({"a": [1.0, -np.inf]}), None, r"column 'a' holds inf in row 1"),
        ([[1, "x"], [2, 3]], None, r"X: column 1 must hold numbers, but row 0 .* holds 'x'"),
        (pd.DataFrame({"a": [1, "two"]}), None, r"X: column 'a' must hold numbers, but row 1 .*'two'"),
        (pl.DataFrame({"a": ["1", "2"]}), None, r"X: column 'a' must hold numbers, but row 0"),
        (ROWS, [[1], [0]], r"X has 3 rows but y has 2"),
        ([[nan, nan]], [[nan]], r"no observed cell at all"),
        (np.empty((0, 3)), None, r"0 sample"),
        (np.empty((3, 0)), None, r"0 feature"),
        ([1.0, 2.0], None, r"X has 1 dimension.*Reshape your data"),
        (np.zeros((2, 2, 2)), None, r"X has 3 dimension"),
        ([[1, 2], [3]], None, r"rows of different lengths"),
        (sparse.eye(3).tocsr(), None, r"SciPy sparse matrix"),
        (np.array([[1j]]), None, r"complex"),
        (pl.LazyFrame({"a": [1]}), None, r"lazy frame; call .collect"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), None, r"X cannot be read as a table: .*a"),
        (pd.DataFrame({"a": pd.to_datetime(["2020-01-01"])}), None, r"column 'a' must hold numbers"),
    ],
)
def test_bad_input_gets_one_sentence(X: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        Observations.from_tables(X, y).check_fittable()


def test_empty_columns_and_rows_are_allowed_with_a_warning_that_names_them() -> None:
    X = pd.DataFrame({"a": [1.0, nan, 2.0], "b": [nan, nan, nan]})
    y = pd.DataFrame({"u": [nan, nan, nan], "v": [0, nan, 1]})
    with pytest.warns(
        UserWarning, match=r"feature column\(s\) 'b' and in label column\(s\) 'u' and in row\(s\) 1"
    ):
        Observations.from_tables(X, y).check_fittable()


def test_many_empty_columns_are_counted_not_listed() -> None:
    with pytest.warns(UserWarning, match=r"0, 1, 2, 3, 4 and 3 more"):
        Observations.from_tables(np.hstack((np.full((2, 8), nan), np.ones((2, 1))))).check_fittable()


def test_rows_without_anything_are_named_only_where_asked() -> None:
    observed = Observations(np.array([[1.0], [nan]]), np.array([[nan], [nan]]))
    with pytest.warns(UserWarning, match=r"nothing is observed in label column\(s\) 0; these cells"):
        observed.check_fittable(rows=False)
    # A row with a label alone is not empty.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Observations(np.array([[1.0], [nan]]), np.array([[nan], [0.0]])).check_fittable()


def test_many_empty_rows_are_counted_not_listed() -> None:
    X = np.vstack(([[1.0]], np.full((7, 1), nan)))
    with pytest.warns(UserWarning, match=r"row\(s\) 1, 2, 3, 4, 5 and 2 more \(counting from 0\)"):
        Observations(X, np.empty((8, 0))).check_fittable()


def test_exactly_five_are_listed() -> None:
    with pytest.warns(UserWarning, match=r"column\(s\) 0, 1, 2, 3, 4; these cells"):
        Observations(np.hstack((np.full((1, 5), nan), [[1.0]])), np.empty((1, 0))).check_fittable()


def test_a_warning_points_to_the_caller() -> None:
    observed = Observations(np.array([[1.0, nan]]), np.empty((1, 0)))

    def method() -> None:
        observed.check_fittable()

    with pytest.warns(UserWarning, match="nothing is observed") as found:
        method()
    assert found[0].filename == __file__
    with pytest.warns(UserWarning, match="nothing is observed") as found:
        observed.check_fittable(stacklevel=1)
    assert found[0].filename != __file__


@pytest.mark.parametrize(("count", "shown"), [(5, "2, 3, 4, 5, 6 "), (6, "2, 3, 4, 5, 6, … ")])
def test_of_many_values_that_are_no_labels_five_are_shown(count: int, shown: str) -> None:
    y = np.column_stack((np.zeros(count + 1), np.concatenate(([1], np.arange(count) + 2.0))))
    with pytest.raises(InputError, match=rf"column 1 holds {shown}\(first in row 1, counting from 0\)"):
        Observations.from_tables(np.ones((count + 1, 1)), y)


def test_infinite_cells_are_counted_and_the_first_is_named() -> None:
    X = np.array([[1.0, 2.0], [3.0, -np.inf], [np.inf, 4.0]])
    with pytest.raises(InputError, match=r"column 1 holds inf in row 1 .* and 2 cell\(s\) in all"):
        Observations.from_tables(X)


def test_bytes_in_another_order_are_put_right() -> None:
    observed = Observations.from_tables(EXPECTED.astype(">f8"), LABELS)
    assert observed.X.dtype.isnative
    assert observed.Y.dtype.isnative
    np.testing.assert_array_equal(observed.X, EXPECTED)


def test_numbers_of_one_type_are_not_copied() -> None:
    observed = Observations.checked(Table(EXPECTED, None), Table(EXPECTED_LABELS, None))
    assert observed.X is EXPECTED
    assert observed.Y is EXPECTED_LABELS


def test_labels_with_one_observed_value_are_left_out() -> None:
    Y = np.array([[1.0, 0.0, 0.0, nan], [1.0, 0.0, 1.0, nan], [nan, nan, 1.0, nan]])
    observed = Observations(np.ones((3, 1)), Y, ("a",), tuple("wxyz"))
    found = observed.without_one_sided_labels()
    np.testing.assert_array_equal(found.Y, np.where([False, False, True, False], Y, nan))
    assert found.label_names == observed.label_names
    both = Observations(np.ones((3, 1)), Y[:, 2:])
    assert both.without_one_sided_labels() is both


def test_cells_can_be_held_out_and_tables_told_apart() -> None:
    observed = Observations(EXPECTED, EXPECTED_LABELS)
    held = np.array([[True, False], [False, False], [False, True]])
    fewer = observed.without(held, ~held)
    np.testing.assert_array_equal(fewer.X_known, observed.X_known & ~held)
    np.testing.assert_array_equal(fewer.Y_known, observed.Y_known & held)
    same = Observations(EXPECTED.copy(order="F"), EXPECTED_LABELS.copy())
    assert len(same.fingerprint) == 16
    assert same.fingerprint == observed.fingerprint
    others = [
        fewer,
        Observations(EXPECTED.reshape(2, 3), EXPECTED_LABELS),
        Observations(EXPECTED, EXPECTED_LABELS[:, ::-1]),
    ]
    assert len({one.fingerprint for one in (observed, *others)}) == 4


def test_input_is_not_changed() -> None:
    X = EXPECTED.copy()
    with warnings.catch_warnings():
        Observations.from_tables(X, LABELS)
    np.testing.assert_array_equal(X, EXPECTED)


LARGE = 2**53 + 1
"""A whole number that no float64 holds."""


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"a": pd.array([LARGE, None, 3], dtype="Int64")}, index=[5, 7, 5]),
        pl.DataFrame({"a": [LARGE, None, 3]}),
        pl.DataFrame({"a": [2**64 - 1, None, 3]}, schema={"a": pl.UInt64}),
        pa.table({"a": [LARGE, None, 3]}),
    ],
    ids=["pandas", "polars", "without a sign", "arrow"],
)
def test_known_whole_numbers_stay_what_they_are_however_large(frame: Any) -> None:
    known = np.array([[True], [False], [True]])
    filled = fill_like(frame, "X", np.full((3, 1), 4.0), known)
    before, after = (
        table["a"].to_pylist() if isinstance(table, pa.Table) else list(table["a"])
        for table in (frame, filled)
    )
    assert after == [before[0], 4, 3]
    assert type(filled) is type(frame)
    assert str(filled["a"].type if isinstance(filled, pa.Table) else filled["a"].dtype).lower() in {
        "int64",
        "uint64",
    }


@pytest.mark.parametrize(("dtype", "fill"), [(pl.Int8, 300.0), (pl.UInt16, -1.0), (pl.Boolean, 2.0)])
def test_whole_numbers_that_a_type_does_not_hold_make_it_a_float(dtype: Any, fill: float) -> None:
    frame = pl.DataFrame({"a": [1, None]}).cast(dtype)
    filled = fill_like(frame, "X", np.full((2, 1), fill), np.array([[True], [False]]))
    assert filled["a"].to_list() == [1.0, fill]
    assert filled["a"].dtype == pl.Float64


@pytest.mark.parametrize("dtype", [pl.Float32, pl.Float64])
def test_a_polars_frame_of_floats_is_read_and_filled_as_its_columns_are(dtype: Any) -> None:
    frame = pl.DataFrame({"a": [1.1, None, nan], "b": [-0.0, 2.2, 3.3]}, schema={"a": dtype, "b": dtype})
    mixed = frame.with_columns(pl.Series("c", [1, 2, None]))
    at_once, by_column = read_container(frame, "X"), read_container(mixed, "X")
    assert at_once.names == ("a", "b")
    np.testing.assert_array_equal(at_once.numbers, by_column.numbers[:, :2].astype(at_once.numbers.dtype))
    fills = np.full((3, 3), 7.7)
    filled = fill_like(frame, "X", fills[:, :2], at_once.known)
    assert_frame_equal(filled, fill_like(mixed, "X", fills, by_column.known).drop("c"))
    assert np.signbit(filled["b"][0])
    assert_series_equal(fill_like(frame["a"], "y", fills[:, :1], at_once.known[:, :1]), filled["a"])
