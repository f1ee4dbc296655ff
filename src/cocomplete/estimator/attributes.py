"""Fitted attributes, worked out from the result of a fit before the estimator is touched."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.choosing.judge import HeldOutLabels
from cocomplete.estimator.settings import Settings
from cocomplete.estimator.thresholds import cardinality_thresholds, f1_thresholds, given_thresholds
from cocomplete.estimator.training import FitResult
from cocomplete.fitted.describe import describe, low_rank_member
from cocomplete.fitted.model import Model
from cocomplete.members.minimiser import Minimiser
from cocomplete.solvers.choice import choose
from cocomplete.solvers.solution import Solution


def fitted_attributes(settings: Settings, result: FitResult) -> dict[str, Any]:
    """Give every attribute that a fit sets, but for those of the columns."""
    model = result.model
    weights = model.ensemble.weights
    return {
        "_model": model,
        "n_labels_": model.observed.n_labels,
        "members_": tuple(
            {"name": one.name, **{part: float(share[k]) for part, share in weights.items()}}
            for k, one in enumerate(model.ensemble.members)
        ),
        "validation_": result.validation,
        **_low_rank_attributes(model, result.n_rows),
        **_certificate_attributes(settings, result),
        "recorded_share_": None if model.positive is None else model.positive.found.share,
        "thresholds_": _thresholds(settings.threshold, model, result.held_out),
    }


def without_fitted(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Leave out of an estimator's attributes those that its last fit set."""
    return {
        name: value
        for name, value in attributes.items()
        if name != "_model" and (name.startswith("_") or not name.endswith("_"))
    }


def _low_rank_attributes(model: Model, n_rows: int | None) -> dict[str, Any]:
    """Describe the member with the largest weight of those that have factors.

    Parameters
    ----------
    model : Model
    n_rows : int or None
        Of the table, if the model keeps a sample of them.
    """
    member = low_rank_member(model.ensemble)
    table = model.informative.narrow(model.fitted_as(model.observed))
    found = describe(member, table, model.informative)
    F = member.objective if isinstance(member, Minimiser) else None
    if n_rows is not None and F is None:
        # From the sample's singular values to those of all rows.
        larger = np.sqrt(n_rows / model.observed.n_samples)
        found = found._replace(singular_values=larger * found.singular_values)
    return {
        "rank_": len(found.singular_values),
        "singular_values_": found.singular_values,
        "components_": found.components,
        "offsets_": found.offsets,
        "n_iter_": found.n_iter,
        "rank_penalty_": None if F is None else F.rank_penalty,
        "residual_penalty_": None if F is None else F.residual_penalty,
        "feature_weight_": None if F is None else F.feature_weight,
    }


def _certificate_attributes(settings: Settings, result: FitResult) -> dict[str, Any]:
    """Describe the minimiser of F, where one was asked for; its certificate is that before polishing."""
    fit = result.certified
    if fit is None:
        return {"certified_": False}
    ensemble = result.model.ensemble
    leading = ensemble.members[int(np.argmax(ensemble.weights["numbers"]))]
    certified = fit.certified
    return {
        "certified_": True,
        "solver_": choose(settings.solver, fit.objective)[0],
        "feature_solution_": _whole_solution(leading if isinstance(leading, Minimiser) else fit),
        "label_solution_": _whole_solution(fit),
        "polished_": _polished(fit),
        "objective_": certified.objective,
        "duality_gap_": certified.duality_gap,
        "converged_": certified.converged,
        "history_": certified.history,
    }


def _polished(fit: Minimiser) -> bool:
    """Whether what answers is a refit of what was certified."""
    return fit.solution.M.s is not fit.certified.M.s


def _whole_solution(fit: Minimiser) -> Solution:
    """Give the solution for all rows; a model of a sample of them answers with these alone."""
    return fit.solution if _polished(fit) else fit.certified


def _thresholds(threshold: Any, model: Model, held_out: HeldOutLabels | None) -> FloatArray:
    """Give the probability above which each label is 1."""
    n_labels = model.observed.n_labels
    if not isinstance(threshold, str):
        return given_thresholds(threshold, n_labels)
    if threshold == "f1":
        if held_out is None:
            return np.full(n_labels, 0.5)
        return f1_thresholds(held_out.column, held_out.truth, expit(held_out.score), n_labels)
    Y, known = model.observed.Y, model.observed.Y_known
    if model.positive is not None:
        rate = np.minimum(np.nansum(Y, axis=0) / model.positive.found.share / len(Y), 1)
    else:
        rate = (np.nansum(Y, axis=0) + 0.5) / (known.sum(axis=0) + 1)
    return cardinality_thresholds(rate, expit(model.answer(model.observed, std=False).Z))
