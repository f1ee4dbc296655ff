import pickle
from collections.abc import Callable
from typing import Any, Self

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.base import BaseEstimator, clone
from sklearn.model_selection import GridSearchCV, KFold, cross_val_score, cross_validate

import cocomplete
from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.metrics import Score, hamming_error, log_loss, roc_auc
from cocomplete.model_selection import (
    SCORERS,
    EntryKFold,
    EntryShuffleSplit,
    RowKFold,
    get_scorer,
)
from cocomplete.table.containers import to_table

nan = np.nan


class Slope(BaseEstimator):
    """Labels from the first feature; no classifier type, unknown labels welcome."""

    def __init__(self, slope: float = 1.0) -> None:
        self.slope = slope

    def fit(self, X: Any, y: Any) -> Self:
        self.n_labels_ = np.shape(y)[1]
        return self

    def predict_proba(self, X: FloatArray) -> FloatArray:
        z = self.slope * np.asarray(X, dtype=float)[:, :1]
        return np.repeat(1 / (1 + np.exp(-z)), self.n_labels_, axis=1)

    def predict(self, X: FloatArray) -> FloatArray:
        return (self.predict_proba(X) > 0.5).astype(float)


@pytest.fixture(scope="module")
def rows() -> tuple[FloatArray, FloatArray]:
    """Labels that follow the first feature, two fifths of them unknown."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(90, 3))
    y = (X[:, :1] + 0.5 * rng.normal(size=(90, 4)) > 0).astype(float)
    y[rng.random(y.shape) < 0.4] = nan
    return X, y


@st.composite
def tables(draw: st.DrawFn, least: int = 6) -> tuple[FloatArray, FloatArray]:
    """Features and labels with holes, each with at least a few observed cells."""
    n = draw(st.integers(3, 9))
    X = draw(arrays(np.float64, (n, draw(st.integers(1, 4))), elements=st.sampled_from([1.5, -2.0, nan])))
    y = draw(arrays(np.float64, (n, draw(st.integers(1, 4))), elements=st.sampled_from([0.0, 1.0, nan])))
    assume(np.isfinite(X).sum() >= least)
    assume(np.isfinite(y).sum() >= least)
    return X, y


def labels(max_rows: int = 40) -> st.SearchStrategy[FloatArray]:
    shapes = st.tuples(st.integers(6, max_rows), st.integers(1, 5))
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0, nan])))


@given(tables=tables(), n_splits=st.integers(2, 5), seed=st.none() | st.integers(0, 99))
def test_entry_folds_partition_the_observed_cells_evenly(
    tables: tuple[FloatArray, FloatArray], n_splits: int, seed: int | None
) -> None:
    X, y = tables
    cv = EntryKFold(n_splits, shuffle=seed is not None, random_state=seed)
    splits = list(cv.split_entries(X, y))
    assert len(splits) == cv.get_n_splits() == n_splits
    for table, hidden in ((X, [s.X_hidden for s in splits]), (y, [s.y_hidden for s in splits])):
        np.testing.assert_array_equal(np.sum(hidden, axis=0), ~np.isnan(table))
        assert np.ptp([mask.sum() for mask in hidden]) <= 1
        for j in range(table.shape[1]):
            assert np.ptp([mask[:, j].sum() for mask in hidden]) <= (1 if table is X else 2)
    for value in (0, 1):
        of_value = np.array([((y == value) & s.y_hidden).sum(axis=0) for s in splits])
        assert (np.ptp(of_value, axis=0) <= 1).all()


@given(tables=tables(), seed=st.integers(0, 99))
def test_training_keeps_a_zero_and_a_one_of_each_label_that_has_two(
    tables: tuple[FloatArray, FloatArray], seed: int | None
) -> None:
    X, y = tables
    for split in EntryKFold(3, random_state=seed).split_entries(X, y):
        for value in (0, 1):
            before, after = (y == value).sum(axis=0), (split.y_train == value).sum(axis=0)
            assert (after[before >= 2] >= 1).all()


@given(tables=tables(), seed=st.integers(0, 99), test_size=st.floats(0.2, 0.9))
def test_a_shuffle_split_holds_out_its_share_and_empties_nothing(
    tables: tuple[FloatArray, FloatArray], seed: int | None, test_size: float
) -> None:
    X, y = tables
    assume((np.isfinite(y).sum(axis=0) >= 4).any())
    assume((np.isfinite(X).sum(axis=0) >= 5).any())
    try:
        splits = list(EntryShuffleSplit(2, test_size=test_size, random_state=seed).split_entries(X, y))
    except InputError:
        assume(False)
    for split in splits:
        for value in (0, 1):
            of_value = y == value
            hidden, total = (of_value & split.y_hidden).sum(axis=0), of_value.sum(axis=0)
            assert (np.abs(hidden - total * test_size) < 2).all()
            assert (hidden <= np.maximum(total - 1, 0)).all()
        known = ~np.isnan(X)
        assert (np.abs(split.X_hidden.sum(axis=0) - known.sum(axis=0) * test_size) < 2).all()
        assert (~np.isnan(split.X_train)).any(axis=0)[known.any(axis=0)].all()


@given(tables=tables(least=8), seed=st.integers(0, 9))
def test_held_out_cells_are_observed_ones_and_the_rest_is_untouched(
    tables: tuple[FloatArray, FloatArray], seed: int | None
) -> None:
    X, y = tables
    untouched = X.copy()
    for split in EntryKFold(2, random_state=seed).split_entries(X, y):
        for table, train, hidden in ((X, split.X_train, split.X_hidden), (y, split.y_train, split.y_hidden)):
            assert not np.isnan(table[hidden]).any()
            np.testing.assert_array_equal(train, np.where(hidden, nan, table))
    np.testing.assert_array_equal(X, untouched)


def test_every_cell_is_as_likely_held_out_as_another() -> None:
    X = np.ones((12, 3))
    cv = EntryShuffleSplit(400, test_size=0.25, random_state=0)
    rate = np.mean([split.X_hidden for split in cv.split_entries(X)], axis=0)
    # Four standard deviations of a share of 400.
    np.testing.assert_allclose(rate, 0.25, atol=4 * np.sqrt(0.25 * 0.75 / 400))


def test_the_seed_decides() -> None:
    X = np.ones((10, 4))
    for cv in (EntryKFold(3, random_state=1), EntryShuffleSplit(3, test_size=0.3, random_state=1)):
        first, second = ([s.X_hidden for s in cv.split_entries(X)] for _ in range(2))
        np.testing.assert_array_equal(first, second)
        other = type(cv)(3, random_state=2)
        assert not np.array_equal(first, [s.X_hidden for s in other.split_entries(X)])


def test_unshuffled_folds_of_a_full_table_leave_something_in_every_row() -> None:
    for split in EntryKFold(3, shuffle=False).split_entries(np.ones((9, 4)), np.ones((9, 2))):
        assert (~np.isnan(split.X_train)).any(axis=1).all()


@pytest.mark.parametrize("backend", ["pandas", "polars"])
def test_frames_stay_frames(backend: str) -> None:
    data = {"whole": [1, 2, 3, 4], "real": [1.5, None, 2.5, 3.5], "truth": [True, False, True, False]}
    y: Any = {"flu": [1, 0, None, 1], "gout": [0, 1, 1, None]}
    if backend == "pandas":
        X, y = pd.DataFrame(data, index=[7, 7, 3, 1]), pd.DataFrame(y, dtype="Int64", index=[7, 7, 3, 1])
    else:
        X, y = pl.DataFrame(data), pl.DataFrame(y)
    X_values, y_values = to_table(X, "X").values, to_table(y, "y").values
    for split in EntryKFold(2, random_state=0).split_entries(X, y):
        assert type(split.X_train) is type(X)
        assert list(split.X_train.columns) == list(X.columns)
        np.testing.assert_array_equal(
            to_table(split.X_train, "X").values, np.where(split.X_hidden, nan, X_values)
        )
        np.testing.assert_array_equal(
            to_table(split.y_train, "y").values, np.where(split.y_hidden, nan, y_values)
        )
        if backend == "pandas":
            assert list(split.X_train.index) == [7, 7, 3, 1]
            assert (split.y_train.dtypes == "Int64").all()
        else:
            assert split.X_train.schema == X.schema
            assert split.y_train.null_count().sum_horizontal()[0] == 2 + split.y_hidden.sum()


def test_single_precision_lists_and_missing_labels_pass() -> None:
    [split, _] = EntryKFold(2, random_state=0).split_entries(np.ones((3, 2), np.float32))
    assert split.X_train.dtype == np.float32
    assert split.y_train is None
    assert split.y_hidden is None
    [split, _] = EntryKFold(2).split_entries([[1, 2], [3, 4]], [1, 0])
    assert np.isnan(split.X_train).sum() == 2
    assert split.y_hidden.shape == (2, 1)
    [split, _] = EntryKFold(2).split_entries([[1, 2], [3, 4]], [[nan], [nan]])
    assert not split.y_hidden.any()


@given(y=labels(), n_splits=st.integers(2, 5), seed=st.none() | st.integers(0, 99))
def test_row_folds_partition_the_rows_evenly(y: FloatArray, n_splits: int, seed: int | None) -> None:
    cv = RowKFold(n_splits, shuffle=seed is not None, random_state=seed)
    splits = list(cv.split(np.zeros((len(y), 2)), y))
    assert len(splits) == cv.get_n_splits(None, y) == n_splits
    tests = [test for _, test in splits]
    np.testing.assert_array_equal(np.sort(np.concatenate(tests)), np.arange(len(y)))
    assert np.ptp([len(test) for test in tests]) <= 1
    for train, test in splits:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))


@given(y=labels().map(lambda table: table[:, :1]), n_splits=st.integers(2, 5), seed=st.integers(0, 99))
def test_one_label_is_shared_out_to_within_a_row(y: FloatArray, n_splits: int, seed: int | None) -> None:
    tests = [test for _, test in RowKFold(n_splits, random_state=seed).split(y, y)]
    rarer = min((0, 1), key=lambda value: ((y == value).sum() or len(y), -value))
    assert np.ptp([(y[test] == rarer).sum() for test in tests]) <= 1
    for value in (0, 1):
        assert np.ptp([(y[test] == value).sum() for test in tests]) <= 2


@pytest.mark.parametrize("seed", range(5))
def test_many_labels_are_shared_out_far_better_than_by_chance(seed: int | None) -> None:
    rng = np.random.default_rng(seed)
    y = (rng.random((200, 12)) < np.linspace(0.05, 0.5, 12)).astype(float)
    y[rng.random(y.shape) < 0.5] = nan

    def shares(cv: Any, value: float) -> FloatArray:
        return np.array([(y[test] == value).sum(axis=0) for _, test in cv.split(y, y)])

    # What is even for the labels alone would leave folds of different sizes.
    assert {len(test) for _, test in RowKFold(4, random_state=seed).split(y, y)} == {50}
    for value, factor in ((1, 5), (0, 2)):
        ours = shares(RowKFold(4, random_state=seed), value)
        theirs = shares(KFold(4, shuffle=True, random_state=seed), value)
        assert ours.var(axis=0).sum() < theirs.var(axis=0).sum() / factor
        assert ours[:, ours.sum(axis=0) >= 4].min() >= 1


def test_rows_without_labels_and_frames_are_split_too(rows: tuple[FloatArray, FloatArray]) -> None:
    X, y = rows
    assert [len(test) for _, test in RowKFold(4).split([[1]] * 10)] == [3, 3, 2, 2]
    expected = [test.tolist() for _, test in RowKFold(3, random_state=0).split(X, y)]
    for frame in (pd.DataFrame, pl.DataFrame):
        named = frame({f"label {j}": y[:, j] for j in range(4)})
        got = [test.tolist() for _, test in RowKFold(3, random_state=0).split(named, named)]
        assert got == expected


@pytest.mark.parametrize("name", SCORERS)
@pytest.mark.parametrize("frame", [np.asarray, pd.DataFrame, pl.DataFrame])
def test_scorers_serve_scikit_learn_with_unknown_labels(
    rows: tuple[FloatArray, FloatArray], name: str, frame: Any
) -> None:
    X, y = rows
    X, y = frame(X), frame(y)
    good, bad = (
        cross_val_score(Slope(slope), X, y, cv=RowKFold(3, random_state=0), scoring=SCORERS[name])
        for slope in (3.0, -3.0)
    )
    assert good.shape == (3,)
    assert np.isfinite(good).all()
    if name not in (
        "masked_ranking_loss",
        "masked_coverage",
        *(f"masked_precision_at_{k}" for k in (1, 3, 5)),
    ):
        # The last few rank a row's labels, which Slope scores alike.
        assert (good > bad).all()


def test_scorers_are_the_metrics_with_their_sign(rows: tuple[FloatArray, FloatArray]) -> None:
    X, y = rows
    model = Slope(2.0).fit(X, y)
    assert SCORERS["masked_hamming"](model, X, y) == -hamming_error(y, model.predict(X))
    assert SCORERS["masked_log_loss"](model, X, y) == -log_loss(y, model.predict_proba(X))
    assert get_scorer("masked_roc_auc_macro")(model, X, y) == roc_auc(y, model.predict_proba(X))
    counted = SCORERS["masked_log_loss"](model, X, y, return_counts=True)
    assert counted == Score(-log_loss(y, model.predict_proba(X)), int(np.isfinite(y).sum()), ())


def test_a_grid_search_finds_the_best_slope(rows: tuple[FloatArray, FloatArray]) -> None:
    X, y = rows
    search = GridSearchCV(
        Slope(), {"slope": [-1.0, 0.01, 3.0]}, cv=RowKFold(3, random_state=0), scoring=SCORERS["masked_brier"]
    ).fit(X, y)
    assert search.best_params_ == {"slope": 3.0}
    scoring = {name: SCORERS[name] for name in ("masked_log_loss", "masked_roc_auc_micro")}
    several = GridSearchCV(
        Slope(), {"slope": [-1.0, 3.0]}, cv=RowKFold(3), scoring=scoring, refit="masked_log_loss"
    )
    assert clone(several).fit(X, y).best_params_ == {"slope": 3.0}
    assert set(cross_validate(Slope(), X, y, cv=RowKFold(2), scoring=scoring)) > {"test_masked_log_loss"}


@pytest.mark.parametrize("thing", [*SCORERS.values(), EntryKFold(3), EntryShuffleSplit(), RowKFold(2)])
def test_splitters_and_scorers_travel_to_other_processes(thing: Any) -> None:
    assert repr(pickle.loads(pickle.dumps(thing))).split(" at ")[0] == repr(thing).split(" at ")[0]


def test_the_module_is_public() -> None:
    assert "model_selection" in dir(cocomplete)
    assert cocomplete.model_selection.RowKFold is RowKFold


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: EntryKFold(1), "n_splits must be a whole number of at least 2, got 1"),
        (lambda: RowKFold(2.5), "n_splits must be a whole number of at least 2, got 2.5"),  # type: ignore[arg-type]
        (lambda: EntryShuffleSplit(0), "n_splits must be a whole number of at least 1, got 0"),
        (lambda: EntryShuffleSplit(test_size=10), "test_size is a share of the observed cells"),
        (lambda: EntryKFold(shuffle=False, random_state=3), "random_state is 3 but shuffle is False"),
        (lambda: RowKFold(shuffle=False, random_state=3), "random_state is 3 but shuffle is False"),
        (
            lambda: list(EntryKFold(3).split_entries([[1, 2]])),
            r"X has 2 observed cell\(s\), too few .* n_splits=3",
        ),
        (lambda: list(EntryKFold(2).split_entries([[1, 2]], [[1]])), r"y has 1 observed cell\(s\), too few"),
        (
            lambda: list(EntryShuffleSplit().split_entries([[1, 2]])),
            "X has 2 .* test_size=0.1 leaves none to hold out; raise test_size",
        ),
        (lambda: list(EntryShuffleSplit(test_size=0.9).split_entries([[1, 2]])), "leaves none to hold out"),
        (lambda: list(EntryKFold().split_entries([[nan]], [[nan]])), "no observed cell at all"),
        (lambda: list(EntryKFold(2).split_entries([[1], [2]], [[1]])), "X has 2 rows but y has 1"),
        (lambda: list(RowKFold(2).split([[1], [2]], [[1]])), "X has 2 rows but y has 1"),
        (lambda: list(RowKFold(5).split([[1], [2]])), "n_splits=5 folds need as many rows, but X has 2"),
        (
            lambda: get_scorer("masked_roc_auc"),
            "no scorer called 'masked_roc_auc'; did you mean 'masked_roc_auc_m",
        ),
        (lambda: get_scorer("x"), "choose one of masked_hamming, "),
    ],
)
def test_what_cannot_be_split_or_scored_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
