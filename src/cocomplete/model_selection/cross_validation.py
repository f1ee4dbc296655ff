"""How well an estimator fills cells it was not shown."""

from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.metrics import (
    average_precision,
    brier,
    hamming_error,
    interval_coverage,
    log_loss,
    mae,
    rmse,
    roc_auc,
    standardized_rmse,
)
from cocomplete.model_selection.entries import EntryKFold, EntryShuffleSplit, EntrySplit
from cocomplete.parameter_checks import shown


def cross_val_entries(
    estimator: Any, X: Any, y: Any = None, *, cv: EntryKFold | EntryShuffleSplit | int = 5
) -> dict[str, FloatArray]:
    """Hold out observed cells, complete the table and score the held-out ones.

    Parameters
    ----------
    estimator : object
        With ``fit(X, y)`` and ``complete(X, y)`` as :class:`~cocomplete.CoCompleter` has them. Not changed:
        each split is fitted on a clone.
    X : array-like or DataFrame of shape (n_samples, n_features)
        Features; unknown cells are neither held out nor scored.
    y : array-like or DataFrame of shape (n_samples, n_labels), optional
        Labels 0, 1 or unknown, likewise.
    cv : EntryKFold, EntryShuffleSplit or int, default=5
        How to hold cells out; a number means ``EntryKFold`` with as many splits, the same ones every time.

    Returns
    -------
    dict of ndarray of shape (n_splits,)
        ``fit_seconds``; for features ``X_cells`` (how many were held out), ``standardized_rmse``, ``rmse``,
        ``mae`` and, if the estimator gives standard deviations, ``interval_coverage`` at level 0.9; for
        labels ``y_cells``, ``hamming_error``, ``log_loss``, ``brier``, ``roc_auc_micro``, ``roc_auc_macro``
        and ``average_precision_micro``. Errors are errors here, nothing is negated. A table without any
        observed cell has no scores.

    Examples
    --------
    >>> from cocomplete.baselines import MeanMode
    >>> from cocomplete.datasets import make_clinic
    >>> clinic = make_clinic(random_state=0)
    >>> scores = cross_val_entries(MeanMode(), clinic.X, clinic.Y, cv=EntryKFold(3, random_state=0))
    >>> scores["standardized_rmse"].round(1)
    array([1., 1., 1.])
    """
    splitter = EntryKFold(cv, random_state=0) if isinstance(cv, int | np.integer) else cv
    if not hasattr(splitter, "split_entries"):
        msg = f"cv must be a number of folds or a splitter of cells, such as EntryKFold, got {shown(cv)}"
        raise InputError(msg)
    records = []
    for split in splitter.split_entries(X, y):
        start = perf_counter()
        model = clone(estimator).fit(split.X_train, split.y_train)
        seconds = perf_counter() - start
        done = model.complete(split.X_train, split.y_train)
        record = {"fit_seconds": seconds} | _feature_scores(X, done, split)
        records.append(record if y is None else record | _label_scores(y, done, split))
    return {key: np.array([record[key] for record in records]) for key in records[0]}


def _feature_scores(X: Any, done: Any, split: EntrySplit) -> dict[str, float]:
    held = split.X_hidden
    if not held.any():
        return {}
    scores = {
        "X_cells": int(held.sum()),
        "standardized_rmse": standardized_rmse(X, done.X, mask=held),
        "rmse": rmse(X, done.X, mask=held),
        "mae": mae(X, done.X, mask=held),
    }
    if done.X_std is not None:
        scores["interval_coverage"] = interval_coverage(X, done.X, done.X_std, mask=held)
    return scores


def _label_scores(y: Any, done: Any, split: EntrySplit) -> dict[str, float]:
    held = split.y_hidden
    if held is None or not held.any():
        return {}
    return {
        "y_cells": int(held.sum()),
        "hamming_error": hamming_error(y, done.Y, mask=held),
        "log_loss": log_loss(y, done.Y_proba, mask=held),
        "brier": brier(y, done.Y_proba, mask=held),
        "roc_auc_micro": roc_auc(y, done.Y_proba, average="micro", mask=held),
        "roc_auc_macro": roc_auc(y, done.Y_proba, mask=held),
        "average_precision_micro": average_precision(y, done.Y_proba, average="micro", mask=held),
    }
