"""The observed cells row by row: every way to cut, gather and add them up, beside the whole matrices."""

import numpy as np
import pytest
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Threads
from cocomplete.problem import cells as cells_module
from cocomplete.problem.cell_blocks import CellBlocks, ColumnCensus
from cocomplete.problem.cells import (
    Cells,
    Part,
    column_counts,
    column_sums,
    matrix_blocks,
    without_labels,
)
from cocomplete.problem.observations import Observations

nan = np.nan
ARRAYS = ("x_start", "x_column", "x_value", "y_start", "y_column", "y_value")


def table(n: int = 40, d: int = 3, labels: int = 2, seed: int = 0) -> Observations:
    """Half observed; of one row nothing, and of one column."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, d)), rng.integers(0, 2, (n, labels)).astype(float)
    for part in (X, Y):
        part[rng.random(part.shape) < 0.5] = nan
        part[min(2, n - 1)] = nan
    X[:, 1] = nan
    return Observations(X, Y)


def assert_same(one: Cells, other: Cells) -> None:
    for name in ARRAYS:
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert getattr(one, name).dtype == getattr(other, name).dtype, name
    assert one.shape == other.shape
    assert one.n_features == other.n_features


def some_rows(observed: Observations, rows: slice | NDArray[np.intp]) -> Cells:
    return Cells.of(Observations(observed.X[rows], observed.Y[rows]))


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let even small tables be cut into several parts."""
    monkeypatch.setattr(cells_module, "PART_NUMBERS", 60)


def test_cells_are_listed_row_by_row_labels_after_features() -> None:
    X, Y = np.array([[nan, 5.0, 6.0], [nan, nan, nan], [7.0, nan, 8.0]]), np.array([[1.0, nan]] * 3)
    cells = Cells.of(Observations(X, Y))
    np.testing.assert_array_equal(cells.x_start, [0, 2, 2, 4])
    np.testing.assert_array_equal(cells.x_column, [1, 2, 0, 2])
    np.testing.assert_array_equal(cells.x_value, [5, 6, 7, 8])
    np.testing.assert_array_equal(cells.y_start, [0, 1, 2, 3])
    np.testing.assert_array_equal(cells.y_column, [3, 3, 3])
    np.testing.assert_array_equal(cells.y_value, [1, 1, 1])
    assert cells.x_start.dtype == np.int64
    assert cells.x_column.dtype == cells.y_column.dtype == np.int32
    assert (cells.shape, cells.n_features) == ((3, 5), 3)


@pytest.mark.parametrize(
    ("n", "numbers", "count"),
    [
        (40, 250_000, 1),  # small enough to stay whole
        (40, 60, 4),  # 60 numbers are 12 rows of 5 columns
        (40, 1, 8),  # at least as many rows as there are columns
        (1_000, 1, 50),  # up to four times as many where there are more than 16 blocks all the same
        (200, 1, 17),  # but no more than leaves 16: 62 numbers are 12 rows
    ],
)
def test_how_many_parts_there_are_depends_on_the_table_alone(
    n: int, numbers: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cells_module, "PART_NUMBERS", numbers)
    assert len(Cells.of(table(n)).parts()) == count


def test_parts_are_the_rows_one_after_the_other(small_parts: None) -> None:
    observed = table()
    cells = Cells.of(observed)
    parts = cells.parts()
    assert [part.rows.start for part in parts] == [0, 10, 20, 30]
    assert [part.rows.stop for part in parts] == [10, 20, 30, 40]
    for part in parts:
        assert_same(part.cells, some_rows(observed, part.rows))
        np.testing.assert_array_equal(cells.x_value[part.x], part.cells.x_value)
        np.testing.assert_array_equal(cells.y_value[part.y], part.cells.y_value)
    whole = Part.whole(cells)
    assert whole.cells is cells
    assert (whole.rows, whole.x, whole.y) == (
        slice(0, 40),
        slice(0, cells.x_value.size),
        slice(0, cells.y_value.size),
    )


@pytest.mark.parametrize(("first", "last"), [(0, 7), (3, 9), (5, 40), (4, 4)])
def test_consecutive_rows(first: int, last: int) -> None:
    observed = table()
    assert_same(Cells.of(observed).rows(first, last), some_rows(observed, slice(first, last)))


def test_all_rows_are_not_copied() -> None:
    cells = Cells.of(table())
    assert cells.rows(0, 40) is cells


@pytest.mark.parametrize("rows", [[], [7], [5, 5, 2, 39, 0]])
def test_any_rows_in_any_order(rows: list[int]) -> None:
    observed = table()
    some = np.array(rows, np.intp)
    found, wanted = Cells.of(observed).take(some), some_rows(observed, some)
    assert_same(found, wanted)


def dense(known: NDArray[np.bool_], values: FloatArray) -> FloatArray:
    whole = np.zeros(known.shape, values.dtype)
    whole[known] = values
    return whole


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_values_become_matrices_around_the_same_memory(dtype: type) -> None:
    observed = table()
    cells = Cells.of(observed)
    gx: FloatArray = np.arange(1, cells.x_value.size + 1).astype(dtype)
    gy: FloatArray = np.arange(1, cells.y_value.size + 1).astype(dtype)
    left, right = cells.matrices(gx, gy)
    np.testing.assert_array_equal(left.toarray(), dense(observed.X_known, gx))
    np.testing.assert_array_equal(right.toarray(), dense(observed.Y_known, gy))
    assert left.dtype == right.dtype == dtype
    assert np.shares_memory(left.data, gx)
    assert np.shares_memory(left.indices, cells.x_column)
    assert left.indices.dtype == left.indptr.dtype == np.int32


def test_blocks_of_matrices_make_the_whole(small_parts: None) -> None:
    observed = table()
    cells = Cells.of(observed)
    gx, gy = (1.0 + np.arange(each.size) for each in (cells.x_value, cells.y_value))
    left, right = dense(observed.X_known, gx), dense(observed.Y_known, gy)
    blocks = matrix_blocks(cells.parts(), gx, gy)
    assert len(blocks) == 4
    np.testing.assert_array_equal(np.vstack([one.toarray() for one, _ in blocks]), left)
    np.testing.assert_array_equal(np.vstack([one.toarray() for _, one in blocks]), right)
    for part, (features, none) in zip(cells.parts(), matrix_blocks(cells.parts(), gx, None), strict=True):
        np.testing.assert_array_equal(features.toarray(), left[part.rows])
        assert none.shape == (10, 0)


def test_sums_and_counts_of_columns_are_those_of_the_matrices(small_parts: None) -> None:
    observed = table()
    cells = Cells.of(observed)
    gx, gy = (1.0 + np.arange(each.size) for each in (cells.x_value, cells.y_value))
    whole = np.hstack((dense(observed.X_known, gx), dense(observed.Y_known, gy)))
    np.testing.assert_allclose(column_sums(cells.parts(), gx, gy), whole.sum(axis=0))
    known = np.hstack((observed.X_known, observed.Y_known))
    np.testing.assert_array_equal(column_counts(cells.parts()), known.sum(axis=0))
    nothing = Cells.of(Observations(np.full((3, 2), nan), np.full((3, 1), nan)))
    for sums in (column_sums(nothing.parts(), np.empty(0), np.empty(0)), column_counts(nothing.parts())):
        np.testing.assert_array_equal(sums, np.zeros(3))
        assert sums.dtype == np.float64


def test_blocks_know_the_size_of_the_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocomplete.engines.row_blocks.BLOCK_NUMBERS", 100)
    observed = table()
    cells = Cells.of(observed)
    cut = CellBlocks.of(cells, 10)
    assert len(cut.blocks) == 4
    found = CellBlocks.at(Threads(), cut.blocks)
    for one in (cut, found):
        assert (one.shape, one.n_features) == ((40, 5), 3)
        assert one.size == observed.X_known.sum() + observed.Y_known.sum()
    assert found.blocks is cut.blocks
    assert CellBlocks.at(Threads(), [cells]).shape == (40, 5)
    # A pass that needs fewer numbers than the table has columns still holds these.
    assert len(CellBlocks.of(cells, 1).blocks) == 2


def test_a_census_counts_and_adds_up_columns() -> None:
    observed = table()
    cells = Cells.of(observed)
    blocks = [cells.rows(0, 2), cells.rows(2, 3), cells.rows(3, 3), cells.rows(3, 40)]
    found = CellBlocks.at(Threads(), blocks).census()
    whole = np.hstack((observed.X, observed.Y))
    np.testing.assert_array_equal(found.counts, (~np.isnan(whole)).sum(axis=0))
    np.testing.assert_allclose(found.totals, np.nansum(whole, axis=0))
    np.testing.assert_allclose(found.squares, np.nansum(whole**2, axis=0))


def test_one_sided_labels_are_found_and_left_out() -> None:
    X = np.array([[1.0, nan], [nan, 2.0], [3.0, nan]])
    Y = np.array([[1.0, 0, 0, nan, nan], [1.0, nan, 1, nan, 0], [nan, 0, 1, nan, nan]])
    cells = Cells.of(Observations(X, Y))
    one_sided = ColumnCensus.of(cells).one_sided(cells.n_features)
    np.testing.assert_array_equal(one_sided, [True, True, False, False, True])
    Y[:, one_sided] = nan
    assert_same(without_labels(cells, one_sided), Cells.of(Observations(X, Y)))
    assert without_labels(cells, np.zeros(5, bool)) is cells
