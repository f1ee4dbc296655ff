"""Sparse tables checked, encoded and set up for solvers, beside the dense tables that they stand for."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, logit

from cocomplete import InputError
from cocomplete.arrays import FloatArray
from cocomplete.problem import sparse_encoding
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.problem.sparse_encoding import Background, SparseCells, SparseEncoding, standardization
from cocomplete.problem.sparse_objective import SparseObjective
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.problem.standardize import Standardization
from cocomplete.table.sparse_matrix import SparseMatrix
from tests.sparse_tables import sparse_pair, stored_table, with_nan

nan = np.nan
RULES = ["zero", "unknown"]


def dense_table(table: SparseTable) -> tuple[FloatArray, FloatArray]:
    return tuple(
        part.matrix.toarray() if part.zeros else with_nan(part.matrix) for part in (table.X, table.Y)
    )  # type: ignore[return-value]


def dense_features(cells: SparseCells) -> FloatArray:
    """Features on the solvers' scale, NaN where unknown."""
    if cells.features is None:
        left, _ = cells.explicit.matrices(cells.explicit.x_value, cells.explicit.y_value)
        return with_nan(left)
    background = cells.features
    return np.where(background.unknown.toarray() > 0, nan, background.base + background.above.toarray())


# -- checks ----------------------------------------------------------------------------------------------


def refusal(X: Any, Y: Any, rule: str = "zero") -> str:
    with pytest.raises(InputError) as refused:
        stored_table(X, Y, rule)
    return str(refused.value)


def test_a_refused_cell_is_named_with_its_place() -> None:
    X = sparse.csr_array(np.array([[0.0, 1, 2], [0, 0, 0], [3.0, 0, 4]]))
    Y = sparse.csr_array(np.array([[1.0, 0], [0, 1.0], [1.0, 0]]))
    for value, cell, words in (
        (np.inf, 0, "column 1 holds inf in row 0 (counting from 0) and 1 cell(s)"),
        (-np.inf, 3, "column 2 holds inf in row 2 (counting from 0) and 1 cell(s)"),
        (1e61, 2, "X holds 1e+61 in column 0, row 2 (counting from 0), beyond 1e+60"),
        (-1e61, 1, "X holds -1e+61 in column 2, row 0 (counting from 0), beyond 1e+60"),
    ):
        bad = X.copy()
        bad.data[cell] = value
        assert words in refusal(bad, Y)
    for value in (2.0, -1.0, 0.5):
        bad = Y.copy()
        bad.data[1] = value
        assert f"column 1 holds {value:g} in row 1 (counting from 0)" in refusal(X, bad)
    single = X.astype(np.float32)
    single.data[0] = 2e9
    assert "beyond 1e+09" in refusal(single, Y)


def test_numbers_of_the_largest_size_nan_and_stored_zeros_are_welcome() -> None:
    X = sparse.csr_array(np.array([[1e60, -1e60, nan]]))
    Y = sparse.csr_array(np.array([[1.0, 1.0, 1.0]]))
    Y.data[:] = [0, 1, nan]
    table = stored_table(X, Y, "unknown")
    np.testing.assert_array_equal(table.Y.matrix.data, [0, 1])
    assert (table.n_samples, table.n_features, table.n_labels) == (1, 3, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_labels_take_the_type_of_the_features_and_need_not_be_there(dtype: type) -> None:
    X, Y = sparse_pair()
    table = stored_table(X.astype(dtype), Y, "zero")
    assert table.X.matrix.dtype == table.Y.matrix.dtype == dtype
    assert table.Y.zeros
    again = SparseTable.checked(table.X, table.Y)
    assert again.X is table.X
    assert np.shares_memory(again.Y.matrix.data, table.Y.matrix.data)
    alone = SparseTable.checked(table.X, None)
    assert alone.Y.shape == (120, 0)
    assert alone.Y.matrix.dtype == dtype
    assert "X has 119 rows but y has 120" in refusal(X[:119], Y)
    assert "0 feature(s)" in refusal(X[:, :0], Y)


def test_a_table_of_which_nothing_is_known_is_refused() -> None:
    X, Y = sparse.csr_array((4, 3)), sparse.csr_array((4, 2))
    with pytest.raises(InputError, match=r"no observed cell at all \(4 rows, 3 features, 2 labels\)"):
        stored_table(X, Y, "unknown").check_something_known()
    stored_table(X, Y, "zero").check_something_known()
    one = sparse.csr_array(([1.0], ([0], [0])), shape=(4, 2))
    stored_table(X, one, "unknown").check_something_known()
    SparseTable.checked(SparseMatrix.read(one, "X", "unknown"), None).check_something_known()


def test_rows_of_a_table() -> None:
    table = stored_table(*sparse_pair(), "zero")
    X, Y = dense_table(table)
    some = np.array([5, 1, 1])
    for found, rows in ((table.rows(3, 9), slice(3, 9)), (table.take(some), some)):
        np.testing.assert_array_equal(found.X.matrix.toarray(), X[rows])
        np.testing.assert_array_equal(found.Y.matrix.toarray(), Y[rows])
    alone = table.with_features_alone()
    assert alone.X is table.X
    assert alone.Y.shape == table.Y.shape
    assert not alone.Y.known_counts().any()


# -- encoding --------------------------------------------------------------------------------------------


def columns_of_all_kinds(rng: np.random.Generator) -> sparse.csr_array:
    """From hardly any stored cell to all of them, exactly half, none, and none known; NaN, and an outlier."""
    X = np.where(rng.random((40, 9)) < np.linspace(0.05, 1, 9), rng.normal(2, 1, (40, 9)), 0)
    X = np.column_stack(
        (X, np.full(40, nan), np.zeros(40), np.repeat([0.0, 1.0], 20), np.arange(40) * (np.arange(40) > 18))
    )
    table = sparse.csr_array(X)
    table.data[rng.integers(0, table.nnz, 6)] = nan
    table.data[np.flatnonzero(table.indices == 8)[3]] = 1e6
    return table


@pytest.mark.parametrize("numbers", [1, 100, 4_000_000])
@pytest.mark.parametrize("flags", [(True, True), (False, True), (True, False), (False, False)])
@pytest.mark.parametrize("rule", RULES)
def test_scales_are_those_of_the_dense_table_however_few_columns_are_made_dense(
    rule: str, flags: tuple[bool, bool], numbers: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sparse_encoding, "NUMBERS_AT_ONCE", numbers)
    stored = SparseMatrix.read(columns_of_all_kinds(np.random.default_rng(0)), "X", rule)
    found = standardization(stored, center=flags[0], scale=flags[1])
    dense = stored.matrix.toarray() if rule == "zero" else with_nan(stored.matrix)
    wanted = Standardization.of(dense, center=flags[0], scale=flags[1])
    for name in ("center", "scale", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-9, err_msg=name)


def test_columns_that_are_mostly_zero_are_never_made_dense(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Standardization, "of", None)
    X = sparse.random_array((60, 12), density=0.2, random_state=np.random.default_rng(0), format="csr")
    found = standardization(SparseMatrix.read(X, "X", "zero"), center=True, scale=True)
    np.testing.assert_allclose(found.center, X.toarray().mean(axis=0))
    np.testing.assert_allclose(found.scale, X.toarray().std(axis=0, ddof=1))


def test_few_columns_are_made_dense_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sparse_encoding, "NUMBERS_AT_ONCE", 100)
    sizes = []

    def watched(block: FloatArray, **flags: bool) -> Standardization:
        sizes.append(block.shape)
        return Standardization(*np.ones((4, block.shape[1])))

    monkeypatch.setattr(Standardization, "of", watched)
    X = sparse.csr_array(np.ones((40, 7)))
    X.data[:] = np.arange(1.0, 281.0)
    standardization(SparseMatrix.read(X, "X", "zero"), center=True, scale=True)
    # As many columns of 40 rows as stay within the limit, or the first beyond it.
    assert sizes == [(40, 2), (40, 2), (40, 2), (40, 1)]


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("rule", RULES)
def test_the_solvers_see_what_they_would_see_of_the_dense_table(rule: str, center: bool) -> None:
    table = stored_table(*sparse_pair(), rule)
    X, Y = dense_table(table)
    encoding = SparseEncoding.of(table, center=center, scale=True)
    cells = encoding.apply(table)
    wanted = Standardization.of(X, center=center, scale=True)
    np.testing.assert_allclose(dense_features(cells), wanted.apply(X), atol=1e-12)
    ones, known = np.nansum(Y, axis=0), (~np.isnan(Y)).sum(axis=0)
    varied = (ones > 0) & (ones < known) if center else np.ones(9, bool)
    np.testing.assert_array_equal(encoding.varied, varied)
    labels = (
        cells.labels.toarray()
        if rule == "zero"
        else with_nan(cells.explicit.matrices(cells.explicit.x_value, cells.explicit.y_value)[1])
    )
    np.testing.assert_array_equal(labels, Y[:, varied])
    assert cells.shape == (120, 14 + varied.sum())
    assert cells.n_features == 14
    rates = (ones + 0.5) / (known + 1)
    np.testing.assert_allclose(encoding.log_odds, logit(rates) if center else np.zeros(9))
    np.testing.assert_array_equal(encoding.offsets, [*np.zeros(14), *encoding.log_odds[varied]])
    np.testing.assert_allclose(encoding.base, wanted.apply(np.zeros((1, 14)))[0])
    assert (cells.features is None) == (rule == "unknown")
    assert (cells.labels is None) == (rule == "unknown")


def test_labels_with_one_value_have_an_offset_and_no_column() -> None:
    X = sparse.csr_array(np.ones((4, 1)))
    Y = sparse.csr_array(np.array([[1.0, 0, 1], [1, 0, 0], [1, 0, 1], [1, 0, 0]]))
    table = stored_table(X, Y, "zero")
    encoding = SparseEncoding.of(table, center=True, scale=True)
    np.testing.assert_array_equal(encoding.varied, [False, False, True])
    np.testing.assert_allclose(expit(encoding.log_odds), [4.5 / 5, 0.5 / 5, 0.5])
    np.testing.assert_array_equal(encoding.apply(table).labels.toarray(), [[1], [0], [1], [0]])


@pytest.mark.parametrize("rule", RULES)
def test_some_rows_and_another_precision_of_encoded_cells(rule: str) -> None:
    table = stored_table(*sparse_pair(), rule)
    encoding = SparseEncoding.of(table, center=True, scale=True)
    some = np.array([7, 3, 7])
    cells, fewer = (encoding.apply(one) for one in (table, table.take(some)))
    taken = cells.take(some)
    np.testing.assert_array_equal(dense_features(taken), dense_features(fewer))
    np.testing.assert_array_equal(taken.explicit.y_column, fewer.explicit.y_column)
    if rule == "zero":
        np.testing.assert_array_equal(taken.labels.toarray(), fewer.labels.toarray())
    single = cells.astype(np.float32)
    assert single.explicit.x_value.dtype == single.explicit.y_value.dtype == np.float32
    np.testing.assert_allclose(dense_features(single), dense_features(cells), rtol=1e-5, atol=1e-5)
    if rule == "zero":
        assert isinstance(single.features, Background)
        kinds = {part.dtype for part in (single.features.base, single.features.above, single.labels)}
        assert kinds == {np.dtype(np.float32)}


# -- objective -------------------------------------------------------------------------------------------


def listed(dtype: type = np.float64) -> SparseCells:
    X: FloatArray = np.array([[1.0, nan, nan], [3.0, nan, 4.0], [nan, nan, nan]]).astype(dtype)
    Y: FloatArray = np.array([[1.0, nan], [1.0, nan], [0.0, nan]]).astype(dtype)
    return SparseCells(Cells.of(Observations(X, Y)), None, None)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_an_objective_on_listed_cells(dtype: type) -> None:
    cells, offsets = listed(dtype), np.array([9.0, 8.0, 7.0, 6.0, 5.0])
    objective = SparseObjective.on(cells, 2.0, 0.3, offsets, free=True)
    assert objective.regime == "smooth"
    assert objective.shape == (3, 5)
    assert objective.stored is cells
    assert objective.cells is cells.explicit
    assert (objective.rank_penalty, objective.residual_penalty, objective.feature_weight) == (2.0, 0.0, 0.3)
    assert objective.offsets.dtype == objective.dtype == dtype
    assert (objective.table.n_samples, objective.table.n_features, objective.table.n_labels) == (0, 3, 2)
    # Means of features, log-odds of labels; of columns without a cell, where they started.
    np.testing.assert_allclose(objective.offsets_alone, [2, 8, 4, logit(2 / 3), 5], rtol=1e-6)
    np.testing.assert_array_equal(objective.offsets, offsets)
    wide = SparseCells(Cells.of(Observations(np.ones((1, 2)), np.ones((1, 5)))), None, None)
    assert SparseObjective.on(wide, 1.0, 0.3, np.zeros(7), free=True).table.n_labels == 5
    given = SparseObjective.on(cells, 2.0, 0.3, offsets, free=False)
    np.testing.assert_array_equal(given.offsets_alone, offsets)
