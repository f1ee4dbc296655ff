"""cross_val_entries: scores of held-out cells alone."""

from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import BaseEstimator
from sklearn.exceptions import UndefinedMetricWarning
from sklearn.utils import Bunch

from cocomplete.baselines import MeanMode
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.estimator.completer import CoCompleter
from cocomplete.metrics import hamming_error, roc_auc, standardized_rmse
from cocomplete.model_selection import (
    EntryKFold,
    EntryShuffleSplit,
    cross_val_entries,
)


@pytest.fixture(scope="module")
def table() -> Bunch:
    return make_low_rank_multilabel(60, 12, 6, rank=2, observed=0.8, random_state=3)


def test_cross_val_entries_scores_only_held_out_cells(table: Bunch) -> None:
    cv = EntryKFold(3, random_state=0)
    scores = cross_val_entries(MeanMode(), table.X, table.Y, cv=cv)
    assert scores["X_cells"].sum() == np.isfinite(table.X).sum()
    assert scores["y_cells"].sum() == np.isfinite(table.Y).sum()
    assert all(values.shape == (3,) for values in scores.values())
    for k, split in enumerate(cv.split_entries(table.X, table.Y)):
        done = MeanMode().fit(split.X_train, split.y_train).complete(split.X_train, split.y_train)
        assert scores["standardized_rmse"][k] == standardized_rmse(table.X, done.X, mask=split.X_hidden)
        assert scores["hamming_error"][k] == hamming_error(table.Y, done.Y, mask=split.y_hidden)
        assert scores["roc_auc_macro"][k] == roc_auc(table.Y, done.Y_proba, mask=split.y_hidden)


def test_cross_val_entries_sees_that_a_low_rank_table_is_one(table: Bunch) -> None:
    ours, plain = (
        cross_val_entries(model, table.X, table.Y, cv=EntryShuffleSplit(2, test_size=0.2, random_state=0))
        for model in (CoCompleter(), MeanMode())
    )
    for name in ("standardized_rmse", "rmse", "mae", "hamming_error", "log_loss", "brier"):
        assert (ours[name] < plain[name]).all()
    assert (ours["roc_auc_micro"] > plain["roc_auc_micro"]).all()


def test_cross_val_entries_takes_frames_a_number_and_no_labels(table: Bunch) -> None:
    scores = cross_val_entries(MeanMode(), pd.DataFrame(table.X), cv=2)
    assert set(scores) == {"fit_seconds", "X_cells", "standardized_rmse", "rmse", "mae"}
    named = cross_val_entries(
        MeanMode(), pl.DataFrame(table.X), pd.DataFrame(table.Y), cv=EntryKFold(2, random_state=0)
    )
    bare = cross_val_entries(MeanMode(), table.X, table.Y, cv=EntryKFold(2, random_state=0))
    for name in set(bare) - {"fit_seconds"}:
        np.testing.assert_allclose(named[name], bare[name])


def test_cross_val_entries_measures_intervals_where_there_are_any() -> None:
    class Done(NamedTuple):
        X: np.ndarray
        Y: None
        Y_proba: None
        X_std: np.ndarray

    class Gauss(BaseEstimator):
        def fit(self, X: Any, y: Any = None) -> Self:
            return self

        def complete(self, X: Any, y: Any = None) -> Any:
            return Done(np.zeros(X.shape), None, None, np.ones(X.shape))

    X = np.random.default_rng(0).normal(size=(500, 8))
    assert cross_val_entries(Gauss(), X, cv=3)["interval_coverage"] == pytest.approx(0.9, abs=0.03)


def test_labels_that_cannot_be_judged_are_named() -> None:
    y = np.array([[1, 0], [0, 0], [1, 0], [0, 0], [1, 0], [0, 0]])
    with pytest.warns(UndefinedMetricWarning, match=r"skipped label\(s\) 1$"):
        cross_val_entries(MeanMode(), np.arange(6.0)[:, None], y, cv=EntryKFold(3, random_state=0))
