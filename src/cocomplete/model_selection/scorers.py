"""Scorers for ``cross_val_score`` and ``GridSearchCV`` that skip unknown truth."""

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from types import MappingProxyType
from typing import Any

from cocomplete.exceptions import InputError
from cocomplete.metrics import (
    average_precision,
    brier,
    coverage,
    expected_calibration_error,
    hamming_error,
    log_loss,
    precision_at_k,
    ranking_loss,
    roc_auc,
)
from cocomplete.parameter_checks import shown


@dataclass(frozen=True)
class MaskedScorer:
    """A metric of labels as scikit-learn's scorers are: called with an estimator, greater is better.

    ``make_scorer`` of scikit-learn 1.7, the oldest supported, refuses ``predict_proba`` of an estimator that
    is not marked as a classifier, and one so marked cannot be cross-validated with unknown labels.

    Attributes
    ----------
    metric : callable
        Called with truth and response; takes ``return_counts``.
    response : {"predict", "predict_proba"}
        Method of the estimator to ask, whose answer has shape (n_samples, n_labels).
    greater_is_better : bool
        If False the score is the metric's negative.
    """

    metric: Callable[..., Any]
    response: str
    greater_is_better: bool

    def __call__(self, estimator: Any, X: Any, y: Any, *, return_counts: bool = False) -> Any:
        """Score an estimator on rows whose labels may be partly unknown.

        Parameters
        ----------
        estimator : fitted estimator
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like or DataFrame of shape (n_samples, n_labels)
        return_counts : bool, default=False
            Return a :class:`~cocomplete.metrics.Score`.

        Returns
        -------
        float or Score
        """
        score = self.metric(y, getattr(estimator, self.response)(X), return_counts=True)
        if not self.greater_is_better:
            score = score._replace(value=-score.value)
        return score.answer(return_counts=return_counts)


def _loss(metric: Callable[..., Any], response: str = "predict_proba") -> MaskedScorer:
    return MaskedScorer(metric, response, greater_is_better=False)


def _gain(metric: Callable[..., Any]) -> MaskedScorer:
    return MaskedScorer(metric, "predict_proba", greater_is_better=True)


SCORERS = MappingProxyType(
    {
        "masked_hamming": _loss(hamming_error, "predict"),
        "masked_roc_auc_macro": _gain(roc_auc),
        "masked_roc_auc_micro": _gain(partial(roc_auc, average="micro")),
        "masked_average_precision_macro": _gain(average_precision),
        "masked_average_precision_micro": _gain(partial(average_precision, average="micro")),
        "masked_precision_at_1": _gain(partial(precision_at_k, k=1)),
        "masked_precision_at_3": _gain(partial(precision_at_k, k=3)),
        "masked_precision_at_5": _gain(partial(precision_at_k, k=5)),
        "masked_ranking_loss": _loss(ranking_loss),
        "masked_coverage": _loss(coverage),
        "masked_log_loss": _loss(log_loss),
        "masked_brier": _loss(brier),
        "masked_calibration_error": _loss(expected_calibration_error),
    }
)
"""Scorers by name. Errors and losses are negated, so that greater is better."""


def get_scorer(name: str) -> MaskedScorer:
    """Look a scorer up by its name.

    Parameters
    ----------
    name : str
        A key of :data:`SCORERS`.

    Examples
    --------
    >>> get_scorer("masked_hamming").greater_is_better
    False
    """
    if isinstance(name, str) and name in SCORERS:
        return SCORERS[name]
    close = get_close_matches(name, SCORERS, n=1) if isinstance(name, str) else []
    hint = f"did you mean {close[0]!r}?" if close else f"choose one of {', '.join(SCORERS)}"
    msg = f"there is no scorer called {shown(name)}; {hint}"
    raise InputError(msg)
