"""Columns of the table of the fit: their names, and whether new rows have the same ones."""

from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import validate_data

from cocomplete.estimator.tables import UserTables
from cocomplete.exceptions import InputError
from cocomplete.problem.observations import Observations
from cocomplete.table.containers import RawTable, Table, column_label
from cocomplete.table.schema import Schema


def column_attributes(tables: UserTables, features: Schema, labels: Schema) -> dict[str, Any]:
    """Give the attributes that describe a table's columns."""
    found: dict[str, Any] = {
        "n_features_in_": len(features.kinds),
        "feature_types_": np.array([kind.name for kind in features.kinds]),
        "_features": features,
        "_labels": labels,
        "_flat_labels": tables.y is not None and np.ndim(tables.y) == 1,
    }
    if isinstance(tables.X, Table):
        names = None if features.names is None else np.asarray(features.names, dtype=object)
    else:
        # scikit-learn leaves names in an estimator; in the user's they would outlive a fit that fails.
        scratch = BaseEstimator()
        validate_data(scratch, tables.X, skip_check_array=True, reset=True)
        names = getattr(scratch, "feature_names_in_", None)
    if names is not None:
        found["feature_names_in_"] = names
    if labels.names is not None:
        found["label_names_in_"] = np.asarray(labels.names, dtype=object)
    if features.names is not None and (labels.names is not None or not labels.kinds):
        encoded = (features.encoded_names or ()) + (labels.encoded_names or ())
        found["encoded_names_"] = np.asarray(encoded, dtype=object)
    return found


def check_n_features(found: int, n_features: int, estimator_name: str) -> None:
    """Refuse rows with more or fewer features than those of the fit.

    Raises
    ------
    InputError
    """
    if found != n_features:
        msg = f"X has {found} features, but {estimator_name} is expecting {n_features} features as input"
        raise InputError(msg)


def with_unknown_labels(observed: Observations, n_labels: int) -> Observations:
    """Give rows the labels of the fit, all of them unknown."""
    return replace(observed, Y=np.full((observed.n_samples, n_labels), np.nan, observed.X.dtype))


def check_labels(found: RawTable, labels: Schema) -> None:
    """Refuse other columns of labels than those of the fit.

    Raises
    ------
    InputError
    """
    count, names = found.numbers.shape[1], labels.names
    if count != len(labels.kinds):
        msg = f"y has {count} labels, but the model was fitted with {len(labels.kinds)}"
        raise InputError(msg)
    if names is None or found.names is None or names == found.names:
        return
    wrong = next(j for j, name in enumerate(names) if name != found.names[j])
    msg = (
        f"y's {column_label(found.names, wrong)} stands where the model was fitted with "
        f"{names[wrong]!r}; give the labels in the order of the fit"
    )
    raise InputError(msg)
