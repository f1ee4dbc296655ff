"""The minimiser on a sparse table is that of the dense table which it stands for."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.problem.sparse_objective import SparseObjective
from cocomplete.solvers.sparse_factored import largest_penalty, solve_sparse
from cocomplete.solvers.sparse_rows import Columns
from tests.sparse_tables import encoded, sparse_pair, stored_table, with_nan

GIVEN: dict[str, Any] = {
    "rank_penalty": 4.0,
    "residual_penalty": 0.0,
    "feature_weight": 0.3,
    "tol": 1e-6,
    "feature_types": "number",
}

pytestmark = pytest.mark.filterwarnings(
    "ignore:the duality gap is", "ignore:label.*only ones", "ignore:nothing is"
)


def dense_of(rule: str, X: sparse.csr_array, Y: sparse.csr_array) -> tuple[FloatArray, FloatArray]:
    return (X.toarray(), Y.toarray()) if rule == "zero" else (with_nan(X), with_nan(Y))


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("rule", ["zero", "unknown"])
def test_a_sparse_fit_is_the_dense_fit(rule: str, center: bool) -> None:
    X, Y = sparse_pair()
    if rule == "unknown":
        # Zeros that are stored are observed: half of what is absent.
        rng = np.random.default_rng(5)
        more = sparse.csr_array((rng.random(Y.shape) < 0.5) & (Y.toarray() == 0))
        row, column = more.nonzero()
        whole = Y.tocoo()
        Y = sparse.csr_array(
            (
                np.concatenate((whole.data, np.zeros(row.size))),
                (np.concatenate((whole.row, row)), np.concatenate((whole.col, column))),
            ),
            shape=Y.shape,
        )
    thin = CoCompleter(sparse_missing=rule, center=center, **GIVEN).fit(X, Y)
    dense_X, dense_Y = dense_of(rule, X, Y)
    full = CoCompleter(center=center, **GIVEN).fit(dense_X, dense_Y)
    assert thin.objective_ == pytest.approx(full.objective_, rel=2e-6)
    assert thin.duality_gap_ < 1e-4
    np.testing.assert_allclose(thin.singular_values_[:3], full.singular_values_[:3], rtol=1e-3)
    np.testing.assert_allclose(thin.offsets_, full.offsets_, atol=0.02)
    new_X, _ = sparse_pair(seed=3)
    expected = full.predict_proba(dense_of(rule, new_X, new_X)[0])
    np.testing.assert_allclose(thin.predict_proba(new_X), expected, atol=0.01)


def test_features_that_are_dense_beside_sparse_labels_and_the_other_way_round() -> None:
    X, Y = sparse_pair()
    full = CoCompleter(**GIVEN).fit(X.toarray(), Y.toarray())
    for one, other in ((X.toarray(), Y), (X, Y.toarray())):
        thin = CoCompleter(sparse_missing="zero", **GIVEN).fit(one, other)
        assert thin.objective_ == pytest.approx(full.objective_, rel=2e-6)
        np.testing.assert_allclose(thin.predict_proba(one), full.predict_proba(X.toarray()), atol=0.01)


def test_gaps_are_honest_and_fall_to_the_tolerance() -> None:
    _, cells = encoded(stored_table(*sparse_pair(), "zero"))
    objective = SparseObjective.on(cells, 4.0, 0.3, np.zeros(cells.shape[1]), free=True)
    best = solve_sparse(objective, tol=1e-7, max_iter=400)
    rough = solve_sparse(objective, tol=1e-1, max_iter=5)
    assert best.objective <= rough.objective
    assert rough.objective * (1 - rough.duality_gap) <= best.objective * (1 + 1e-9)
    assert solve_sparse(objective, tol=1e-3).converged


def test_beyond_the_largest_penalty_nothing_is_left() -> None:
    encoding, cells = encoded(stored_table(*sparse_pair(unknown=False), "zero"))
    objective = SparseObjective.on(cells, 1.0, 0.3, encoding.offsets, free=True)
    top = largest_penalty(objective)
    for share, rank in ((1.02, 0), (0.9, 1)):
        at = SparseObjective.on(cells, share * top, 0.3, encoding.offsets, free=True)
        assert solve_sparse(at, tol=1e-6).M.rank == rank


def test_a_long_table_starts_from_some_rows_and_ends_at_the_same_minimum(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    encoding, cells = encoded(stored_table(*sparse_pair(400), "zero"))
    objective = SparseObjective.on(cells, 6.0, 0.3, encoding.offsets, free=True)
    whole = solve_sparse(objective, tol=1e-6)
    monkeypatch.setattr("cocomplete.solvers.sparse_factored.SHORT", 50)
    started = solve_sparse(objective, tol=1e-6)
    assert started.objective == pytest.approx(whole.objective, rel=1e-6)


def test_single_precision_ends_at_the_same_minimum(monkeypatch: pytest.MonkeyPatch) -> None:
    encoding, cells = encoded(stored_table(*sparse_pair(300), "zero"))
    objective = SparseObjective.on(cells, 6.0, 0.3, encoding.offsets, free=True)
    double = solve_sparse(objective, tol=1e-6)
    monkeypatch.setattr("cocomplete.solvers.sparse_factored.DOUBLE", 0)
    single = solve_sparse(objective, tol=1e-3)
    assert single.M.U.dtype == np.float32
    assert single.converged
    assert single.objective == pytest.approx(double.objective, rel=1e-4)


def test_rows_by_features_alone_are_those_of_gradients() -> None:
    X, Y = sparse_pair()
    table = stored_table(X, Y, "zero")
    encoding, cells = encoded(table)
    objective = SparseObjective.on(cells, 4.0, 0.3, encoding.offsets, free=True)
    columns = Columns.of(objective, solve_sparse(objective, tol=1e-5))
    alone = encoding.apply(table.with_features_alone())
    closed, iterated = columns.rows(alone), columns._by_all(alone)
    np.testing.assert_allclose(closed, iterated, atol=1e-4)
