"""SciPy's sparse tables in CoCompleter: the rule, containers, refusals, and that nothing becomes dense."""

import doctest
import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from cocomplete import CoCompleter, InputError, load
from tests.sparse_tables import Pair, sparse_pair

GIVEN: dict[str, Any] = {"rank_penalty": 4.0, "residual_penalty": 0.0, "feature_weight": 0.3}

FORMATS = [sparse.csr_array, sparse.csc_array, sparse.coo_array, sparse.csr_matrix, sparse.csc_matrix]


@pytest.fixture(scope="module")
def pair() -> Pair:
    return sparse_pair()


@pytest.fixture(scope="module")
def fitted(pair: Pair) -> CoCompleter:
    return CoCompleter(sparse_missing="zero", **GIVEN).fit(*pair)


def test_without_the_rule_both_choices_are_named(pair: Pair) -> None:
    X, Y = pair
    for one, other in ((X, Y), (X, None), (np.nan_to_num(X.toarray()), Y)):
        with pytest.raises(InputError, match=r"sparse_missing='zero'.*sparse_missing='unknown'"):
            CoCompleter().fit(one, other)
    with pytest.raises(InputError, match="sparse_missing must be one of 'zero', 'unknown', got 'none'"):
        CoCompleter(sparse_missing="none").fit(*pair)


@pytest.mark.parametrize("rule", ["zero", "unknown"])
def test_every_format_and_interface_gives_the_same_answer(pair: Pair, rule: str) -> None:
    X, Y = pair
    if rule == "unknown":
        Y = Y.copy()
        Y.data[::3] = 0
    first = CoCompleter(sparse_missing=rule, **GIVEN).fit(X, Y)
    for kind in FORMATS[1:]:
        again = CoCompleter(sparse_missing=rule, **GIVEN).fit(kind(X), kind(Y))
        np.testing.assert_array_equal(again.predict_proba(kind(X)), first.predict_proba(X))


def test_predictions_have_the_interface_of_the_labels(pair: Pair, fitted: CoCompleter) -> None:
    X, Y = pair
    assert isinstance(fitted.predict(X), sparse.csr_array)
    matrix = CoCompleter(sparse_missing="zero", **GIVEN).fit(sparse.csr_matrix(X), sparse.csr_matrix(Y))
    assert isinstance(matrix.predict(X), sparse.csr_matrix)
    dense = CoCompleter(sparse_missing="zero", **GIVEN).fit(X, Y.toarray())
    assert isinstance(dense.predict(X), np.ndarray)
    np.testing.assert_array_equal(fitted.predict(X).toarray(), fitted.predict_proba(X) > 0.5)
    flat = CoCompleter(sparse_missing="zero", **GIVEN).fit(X, Y.toarray()[:, 0])
    assert flat.predict(X).shape == (120,)


@pytest.mark.parametrize("k", [1, 4, 20])
def test_the_top_labels_are_the_first_of_all_of_them(pair: Pair, fitted: CoCompleter, k: int) -> None:
    X, _ = pair
    probability = fitted.predict_proba(X)
    top = fitted.predict_top(X, k)
    wanted = np.argsort(-probability, axis=1, kind="stable")[:, :k]
    np.testing.assert_array_equal(top.indices, wanted)
    np.testing.assert_array_equal(top.probabilities, np.take_along_axis(probability, wanted, axis=1))


def test_the_top_labels_of_a_dense_table() -> None:
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((30, 4)), (rng.random((30, 3)) < 0.5).astype(float)
    model = CoCompleter(**GIVEN).fit(X, Y)
    top = model.predict_top(X, 2)
    np.testing.assert_array_equal(top.indices, np.argsort(-model.predict_proba(X), axis=1)[:, :2])
    with pytest.raises(InputError, match="k must be a whole number of at least 1, got 0"):
        model.predict_top(X, 0)


def test_explicit_zeros_are_absent_cells_under_zero_and_observed_under_unknown(pair: Pair) -> None:
    X, Y = pair
    X = X.copy()
    X.data[::4] = 0
    without = X.copy()
    without.eliminate_zeros()
    for rule, same in (("zero", True), ("unknown", False)):
        models = [CoCompleter(sparse_missing=rule, **GIVEN).fit(each, Y) for each in (X, without)]
        answers = [one.transform(X) for one in models]
        if sparse.issparse(answers[0]):
            answers = [one.toarray() for one in answers]
        assert np.array_equal(answers[0], answers[1]) == same


def test_stored_nan_are_filled_and_other_cells_stay(pair: Pair, fitted: CoCompleter) -> None:
    X, Y = pair
    for kind in FORMATS:
        filled = fitted.transform(kind(X))
        assert type(filled) is kind
        assert not np.isnan(filled.toarray()).any()
        known = ~np.isnan(X.toarray())
        np.testing.assert_array_equal(filled.toarray()[known], X.toarray()[known])
    done = fitted.complete(X, Y)
    assert set(np.unique(done.Y.toarray())) == {0.0, 1.0}
    known = ~np.isnan(Y.toarray())
    np.testing.assert_array_equal(done.Y.toarray()[known], Y.toarray()[known])
    assert done.Y_proba.shape == Y.shape
    assert fitted.complete(X).Y.shape == Y.shape


def test_unknown_cells_are_filled_into_a_dense_table(pair: Pair) -> None:
    X, Y = pair
    model = CoCompleter(sparse_missing="unknown", **GIVEN).fit(X, Y)
    filled = model.transform(X)
    assert isinstance(filled, np.ndarray)
    assert np.isfinite(filled).all()
    row, column = (~np.isnan(X.toarray()) & (X.toarray() != 0)).nonzero()
    np.testing.assert_array_equal(filled[row, column], X.toarray()[row, column])
    low, high = X.data[~np.isnan(X.data)].min(), X.data[~np.isnan(X.data)].max()
    assert filled.min() >= low
    assert filled.max() <= high


def test_a_dense_table_beside_a_sparse_one_comes_back_as_what_it_was(pair: Pair) -> None:
    X, Y = pair
    frame = pd.DataFrame(Y.toarray(), columns=[f"label {j}" for j in range(9)])
    model = CoCompleter(sparse_missing="zero", **GIVEN).fit(X, frame)
    done = model.complete(X, frame)
    assert isinstance(done.Y, pd.DataFrame)
    assert not done.Y.isna().any(axis=None)
    known = frame.notna().to_numpy()
    np.testing.assert_array_equal(done.Y.to_numpy()[known], frame.to_numpy()[known])
    assert model.label_names_in_.tolist() == list(frame.columns)
    features = pd.DataFrame(X.toarray())
    done = CoCompleter(sparse_missing="zero", **GIVEN).fit(features, Y).complete(features, Y)
    assert isinstance(done.X, pd.DataFrame)
    assert not done.X.isna().any(axis=None)


def test_the_score_is_the_share_of_known_labels_that_are_right(pair: Pair, fitted: CoCompleter) -> None:
    X, Y = pair
    truth, found = Y.toarray(), fitted.predict(X).toarray()
    known = ~np.isnan(truth)
    assert fitted.score(X, Y) == pytest.approx((found == truth)[known].mean())
    assert fitted.score(X, truth) == pytest.approx((found == truth)[known].mean())


def test_empty_rows_and_columns_have_finite_answers() -> None:
    X, Y = sparse_pair()
    X, Y = X.tolil(), Y.tolil()
    X[5] = 0
    X[:, [3]] = 0
    Y[5] = 0
    Y[:, [2]] = 0
    for rule in ("zero", "unknown"):
        model = CoCompleter(sparse_missing=rule, **GIVEN).fit(X.tocsr(), Y.tocsr())
        assert np.isfinite(model.predict_proba(X.tocsr())).all()
        assert np.isfinite(model.components_).all()
        assert model.predict_top(sparse.csr_array((2, 14)), 3).indices.shape == (2, 3)


def test_single_precision_stays_single(pair: Pair) -> None:
    X, Y = (table.astype(np.float32) for table in pair)
    model = CoCompleter(sparse_missing="zero", **GIVEN).fit(X, Y)
    assert model.components_.dtype == np.float32
    assert model.predict_proba(X).dtype == np.float32
    assert model.transform(X).dtype == np.float32
    double = CoCompleter(sparse_missing="zero", **GIVEN).fit(*pair)
    np.testing.assert_allclose(model.predict_proba(X), double.predict_proba(pair[0]), atol=0.02)


def test_the_input_stays_as_it_was() -> None:
    X, Y = sparse_pair()
    before = X.copy(), Y.copy()
    CoCompleter(sparse_missing="zero", **GIVEN).fit(X, Y).transform(X)
    for table, copy in zip((X, Y), before, strict=True):
        np.testing.assert_array_equal(table.data, copy.data)
        np.testing.assert_array_equal(table.indices, copy.indices)


def test_a_saved_model_answers_the_same(tmp_path: Path) -> None:
    X, Y = sparse_pair(unknown=False)
    model = CoCompleter(sparse_missing="zero", random_state=1).fit(X, Y)
    model.save(tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(X), model.predict_proba(X))
    assert again.rank_penalty_ == model.rank_penalty_


def test_defaults_choose_penalties_on_held_out_rows() -> None:
    X, Y = sparse_pair(400, unknown=False)
    model = CoCompleter(sparse_missing="zero").fit(X, Y)
    judged = model.validation_["unlabelled"]
    assert judged["log_loss"] < 0.9 * judged["trivial_log_loss"]
    assert judged["cells"] == 80 * 9
    assert [one["name"] for one in model.members_] == ["minimiser", "own features"]
    assert model.rank_penalty_ in {one["rank_penalty"] for one in model.validation_["candidates"]}
    alone = CoCompleter(sparse_missing="zero", averaging=False).fit(X, Y)
    assert [one["name"] for one in alone.members_] == ["minimiser"]


@pytest.mark.filterwarnings("ignore:the duality gap is")
def test_a_certificate_is_there_where_it_was_asked_for_and_changes_no_answer() -> None:
    X, Y = sparse_pair(unknown=False)
    plain = CoCompleter(sparse_missing="zero").fit(X, Y)
    assert not plain.certified_
    assert not hasattr(plain, "duality_gap_")
    certified = CoCompleter(sparse_missing="zero", certify=True).fit(X, Y)
    assert certified.certified_
    assert 0 <= certified.duality_gap_ < 1
    assert certified.converged_ == (certified.duality_gap_ <= certified.tol)
    np.testing.assert_array_equal(certified.predict_proba(X), plain.predict_proba(X))
    # The same penalties to a smaller gap: F cannot be lower than the bound says.
    given = {"rank_penalty": plain.rank_penalty_, "feature_weight": plain.feature_weight_}
    best = CoCompleter(sparse_missing="zero", residual_penalty=0.0, tol=1e-7, **given).fit(X, Y)
    assert certified.objective_ * (1 - certified.duality_gap_) <= best.objective_ * (1 + 1e-9)


def test_steps_that_end_before_their_gains_are_warned_of() -> None:
    X, Y = sparse_pair(unknown=False)
    with pytest.warns(
        ConvergenceWarning, match=r"still falling when the 2 steps .* ended; raise max_iter or tol"
    ):
        CoCompleter(sparse_missing="zero", max_iter=2).fit(X, Y)


@pytest.mark.parametrize("rule", ["zero", "unknown"])
def test_without_labels_penalties_are_chosen_on_held_out_features(rule: str) -> None:
    X, _ = sparse_pair(300)
    model = CoCompleter(sparse_missing=rule).fit(X)
    judged = model.validation_["features"]
    assert judged["rmse"] < judged["trivial_rmse"]
    with pytest.raises(InputError, match="predict_top needs labels"):
        model.predict_top(X)
    assert model.complete(X).Y is None


@pytest.mark.filterwarnings("ignore:the duality gap is")
def test_no_dense_table_is_ever_made(monkeypatch: pytest.MonkeyPatch) -> None:
    n, d, n_labels = 8000, 1000, 2500
    rng = np.random.default_rng(0)
    X = sparse.random_array((n, d), density=0.005, random_state=rng, format="csr", dtype=np.float32)
    Y = sparse.random_array((n, n_labels), density=0.005, random_state=rng, format="csr", dtype=np.float32)
    Y.data[:] = 1
    # Every thread has panels of its own, whatever the table: they are small here, so that a copy would show.
    for place in ("solvers.sparse_losses", "fitted.sparse_model"):
        monkeypatch.setattr(f"cocomplete.{place}.PANEL_NUMBERS", 250_000)
    model = CoCompleter(sparse_missing="zero", **GIVEN | {"rank_penalty": 60.0}, max_rank=7, max_iter=5)
    # What the first fit compiles takes memory of its own.
    model.fit(X[:200], Y[:200]).predict_top(X[:200], 5)
    tracemalloc.start()
    model.fit(X, Y)
    model.predict_top(X, 5)
    model.predict(X)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.4 * n * n_labels * 4


def test_dense_answers_beyond_a_size_are_refused(
    pair: Pair, fitted: CoCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, Y = pair
    thin = CoCompleter(sparse_missing="unknown", **GIVEN).fit(X, Y)
    monkeypatch.setattr("cocomplete.estimator.sparse_predictions.LARGEST_DENSE", 1000)
    for call in (fitted.predict_proba, fitted.decision_function, fitted.complete):
        with pytest.raises(InputError, match=r"120 rows would make 120 x 9 dense numbers.*predict_top"):
            call(X)
    with pytest.raises(InputError, match="transform of 120 rows would make 120 x 14 dense"):
        thin.transform(X)
    assert fitted.predict(X).shape == (120, 9)
    assert fitted.transform(X).shape == X.shape
    assert fitted.predict_top(X).indices.shape == (120, 9)


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ({"residual_penalty": 1.0}, "residual_penalty=1.0 does not go with sparse tables.*'auto' or 0"),
        ({"solver": "paper"}, "solver='paper' does not go with sparse"),
        ({"feature_types": "count"}, "feature_types='count' does not go"),
        ({"label_types": "tags"}, "label_types='tags' does not go"),
        ({"label_policy": "positive-unlabelled"}, "label_policy='positive-unlabelled' does not go"),
        ({"polish": True}, "polish=True does not go"),
        ({"threshold": "f1"}, "threshold='f1' does not go with sparse tables, which take numbers"),
    ],
)
def test_settings_that_need_dense_tables_are_refused(pair: Pair, setting: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        CoCompleter(sparse_missing="zero", **setting).fit(*pair)


def changed(table: sparse.csr_array, value: float) -> sparse.csr_array:
    out = table.copy()
    out.data[7] = value
    return out


def test_cells_that_cannot_be_are_refused(pair: Pair) -> None:
    X, Y = pair
    model = CoCompleter(sparse_missing="zero", **GIVEN)
    for features, labels, message in (
        (changed(X, np.inf), Y, r"X must be finite or unknown, but column \d+ holds inf in row"),
        (changed(X, 1e70), Y, r"X holds 1e\+70 in column .*use another unit"),
        (X, changed(Y, 2.0), r"y must hold 0, 1 or unknown, but column \d+ holds 2 in row"),
        (X[:50], Y, "X has 50 rows but y has 120"),
        (X[:0], Y[:0], r"0 sample\(s\)"),
        (X.astype(complex), Y, "Complex data not supported"),
        (X, np.array([["a"] * 9] * 120), "y's column 0 holds words or dates"),
    ):
        with pytest.raises(InputError, match=message):
            model.fit(features, labels)
    with pytest.raises(InputError, match="no observed cell at all"):
        CoCompleter(sparse_missing="unknown").fit(sparse.csr_array((4, 3)))


def test_what_a_sparse_model_cannot_do_is_refused(pair: Pair, fitted: CoCompleter) -> None:
    X, Y = pair
    for call in (
        fitted.reconstruct,
        lambda: fitted.sample_completions(2),
        lambda: fitted.report(X, Y),
        lambda: fitted.predict_feature_proba(X),
    ):
        with pytest.raises(InputError, match="is not there for a model of a sparse table"):
            call()
    with pytest.raises(InputError, match="X has 13 features, but CoCompleter is expecting 14"):
        fitted.predict_top(X[:, :13])
    with pytest.raises(InputError, match="y has 8 labels, but the model was fitted with 9"):
        fitted.complete(X, Y[:, :8])
    with pytest.raises(InputError, match="no known label"):
        CoCompleter(sparse_missing="unknown", **GIVEN).fit(X, Y).score(X, sparse.csr_array(Y.shape))


def test_a_table_without_signal_has_rank_nothing_and_answers_rates() -> None:
    rng = np.random.default_rng(0)
    X = sparse.random_array((80, 6), density=0.2, random_state=rng, format="csr")
    Y = sparse.csr_array((rng.random((80, 4)) < 0.2).astype(float))
    model = CoCompleter(
        sparse_missing="zero", rank_penalty=1e3, residual_penalty=0.0, feature_weight=0.5
    ).fit(X, Y)
    assert model.rank_ == 0
    np.testing.assert_allclose(
        model.predict_proba(X), np.tile(np.asarray(Y.mean(axis=0)), (80, 1)), atol=0.01
    )


def test_the_page_on_sparse_tables_shows_what_happens() -> None:
    page = Path(__file__).parents[2] / "docs" / "sparse.md"
    failed, tried = doctest.testfile(str(page), module_relative=False)
    assert tried > 8
    assert failed == 0
