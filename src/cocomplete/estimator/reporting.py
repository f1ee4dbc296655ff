"""What a report needs beyond the fitted model: cells held out where the fit held out none."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cocomplete.choosing.held_out import folds
from cocomplete.estimator.fitting import fit_model
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.settings import Settings, seed_of
from cocomplete.estimator.training import TrainingTable
from cocomplete.exceptions import InputError
from cocomplete.fitted.model import Model
from cocomplete.members.trivial import Trivial
from cocomplete.parameter_checks import check_not_negative, shown
from cocomplete.problem.observations import Observations
from cocomplete.report.held_out import Predicted, predicted_by
from cocomplete.report.source import spread
from cocomplete.table.schema import Schema

REFIT_ROWS = 2_000
"""Rows that a report fits once more, where the fit held out nothing."""


def refitted(
    parameters: Mapping[str, Any], model: Model, features: Schema, labels: Schema
) -> tuple[Predicted, int] | None:
    """Hold out cells, fit once without them by the same settings, and predict them.

    On a sample of rows, given penalties are made smaller by the root of its share: so are singular values,
    and what a penalty takes away of them stays the same share.

    Parameters
    ----------
    parameters : mapping
        The estimator's.
    model : Model
        The fitted one, whose table it is.
    features, labels : Schema

    Returns
    -------
    tuple of Predicted and int, or None
        The cells, and the number of rows; None where the fit held cells out, or too few are observed.
    """
    settings = Settings.checked({**parameters, "checkpoint": None})
    if settings.wants_ensemble or (model.judged is not None and len(model.judged.row)):
        return None
    rows = spread(model.observed.n_samples, REFIT_ROWS)
    some = Observations(model.observed.X[rows], model.observed.Y[rows])
    found = folds(some, model.yes_no, seed_of(settings.random_state), model.groups)
    if not found:
        return None
    fold = found[0]
    # No certificate, and thresholds that need no cells: only predictions are asked for.
    plain = replace(
        settings,
        certify=False,
        threshold=0.5,
        rank_penalty=_for_rows(settings.rank_penalty, len(rows), model.observed.n_samples),
        residual_penalty=_for_rows(settings.residual_penalty, len(rows), model.observed.n_samples),
    )
    table = TrainingTable.of(fold.visible, features, labels, plain)
    again = fit_model(plain, table, Messages(0), None).model
    trivial = Trivial.fit(table.observed, model.yes_no).mean
    cells = predicted_by(again, fold, trivial)
    if model.positive is not None:
        cells = cells.where(cells.column < some.n_features)
    return cells, len(rows)


def _for_rows(penalty: Any, some: int, whole: int) -> Any:
    """Give a penalty for a sample of rows; one that is to be chosen stays so."""
    return penalty if isinstance(penalty, str) else penalty * np.sqrt(some / whole)


def check_about(title: Any, seconds: Any, texts: Any) -> None:
    """Refuse what cannot be said of a table.

    Raises
    ------
    InputError
    """
    if not isinstance(title, str):
        msg = f"title must be text, got {shown(title)}"
        raise InputError(msg)
    if seconds is not None:
        check_not_negative("seconds", seconds)
    callables = isinstance(texts, Mapping) and all(callable(write) for write in texts.values())
    if texts is not None and not callables:
        msg = f"texts must map names of columns to functions that write a value, got {shown(texts)}"
        raise InputError(msg)


def row_names(given: Any, X: Any, n: int) -> tuple[str, ...] | None:
    """Give the rows' names: those that were given, or a pandas index that is more than a count.

    Raises
    ------
    InputError
        If there are more or fewer names than rows.
    """
    index: Any = getattr(X, "index", None)
    if given is None:
        plain = index is None or callable(index) or type(index).__name__ == "RangeIndex"
        return None if plain else tuple(str(name) for name in index)
    names = tuple(str(name) for name in np.asarray(given, dtype=object).ravel())
    if len(names) != n:
        msg = f"row_names has {len(names)} names, but X has {n} rows; give one for each row"
        raise InputError(msg)
    return names
