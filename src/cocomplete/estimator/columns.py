"""Columns of the table of the fit: their names, and whether new rows have the same ones."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from cocomplete.containers import Table, column_label
from cocomplete.exceptions import InputError
from cocomplete.problem.observations import Observations


def column_attributes(X: Any, observed: Observations) -> dict[str, Any]:
    """Give the attributes that name a table's columns and count its features."""
    found: dict[str, Any] = {"n_features_in_": observed.n_features}
    if isinstance(X, Table):
        names = None if X.names is None else np.asarray(X.names, dtype=object)
    else:
        # scikit-learn leaves names in an estimator; in the user's they would outlive a fit that fails.
        scratch = BaseEstimator()
        validate_data(scratch, X, skip_check_array=True, reset=True)
        names = getattr(scratch, "feature_names_in_", None)
    if names is not None:
        found["feature_names_in_"] = names
    if observed.label_names is not None:
        found["label_names_in_"] = np.asarray(observed.label_names, dtype=object)
    return found


def check_n_features(observed: Observations, n_features: int, estimator_name: str) -> None:
    """Refuse rows with more or fewer features than those of the fit.

    Raises
    ------
    InputError
    """
    if observed.n_features != n_features:
        msg = (
            f"X has {observed.n_features} features, but {estimator_name} is expecting "
            f"{n_features} features as input"
        )
        raise InputError(msg)


def with_unknown_labels(observed: Observations, n_labels: int) -> Observations:
    """Give rows the labels of the fit, all of them unknown."""
    return replace(observed, Y=np.full((observed.n_samples, n_labels), np.nan, observed.X.dtype))


def check_labels(observed: Observations, n_labels: int, names: Any) -> None:
    """Refuse other labels than those of the fit.

    Parameters
    ----------
    observed : Observations
    n_labels : int
    names : sequence of str or None
        Those of the fit, if they had any.

    Raises
    ------
    InputError
    """
    if observed.n_labels != n_labels:
        msg = f"y has {observed.n_labels} labels, but the model was fitted with {n_labels}"
        raise InputError(msg)
    if names is None or observed.label_names is None or list(names) == list(observed.label_names):
        return
    wrong = next(j for j, name in enumerate(names) if name != observed.label_names[j])
    msg = (
        f"y's {column_label(observed.label_names, wrong)} stands where the model was fitted with "
        f"{names[wrong]!r}; give the labels in the order of the fit"
    )
    raise InputError(msg)
