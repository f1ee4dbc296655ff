"""From a label's probability to 0 or 1."""

from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import shown

RULES = ("f1", "cardinality")

FEWEST_ONES = 5
"""A label with fewer held-out ones than this takes the threshold of all labels together."""


def check_threshold(threshold: Any) -> None:
    """Refuse what can never be a threshold; how many there must be is known only with the labels.

    Raises
    ------
    InputError
    """
    if isinstance(threshold, str):
        if threshold not in RULES:
            msg = (
                "threshold must be a number, one number per label, 'f1' or 'cardinality', "
                f"got {shown(threshold)}"
            )
            raise InputError(msg)
        return
    try:
        values = np.asarray(threshold, dtype=float)
    except (TypeError, ValueError, OverflowError):
        values = np.array(np.nan)
    if isinstance(threshold, bool) or values.ndim > 1 or not ((values >= 0) & (values <= 1)).all():
        msg = (
            f"threshold must be a number between 0 and 1, one such number per label, 'f1' or 'cardinality', "
            f"got {shown(threshold)}"
        )
        raise InputError(msg)


def given_thresholds(threshold: Any, n_labels: int) -> FloatArray:
    """Give one number per label.

    Raises
    ------
    InputError
        If there are neither one nor ``n_labels`` of them.
    """
    values: FloatArray = np.asarray(threshold, dtype=float)
    if values.ndim == 1 and len(values) != n_labels:
        msg = f"threshold has {len(values)} numbers, but y has {n_labels} labels; give one number per label"
        raise InputError(msg)
    return np.broadcast_to(values, (n_labels,)).copy()


def f1_thresholds(column: Any, truth: FloatArray, probability: FloatArray, n_labels: int) -> FloatArray:
    """Thresholds with the best F1 on held-out cells: per label where it has enough ones, else pooled.

    Parameters
    ----------
    column, truth, probability : ndarray
        Label, value and predicted probability of every held-out cell.
    n_labels : int
    """
    if not (truth == 1).any():
        return np.full(n_labels, 0.5)
    thresholds = np.full(n_labels, _best_f1(truth, probability))
    for j in range(n_labels):
        own = column == j
        if (truth[own] == 1).sum() >= FEWEST_ONES:
            thresholds[j] = _best_f1(truth[own], probability[own])
    return thresholds


def cardinality_thresholds(rate: FloatArray, probability: FloatArray) -> FloatArray:
    """Thresholds at which each label is predicted as often as it was observed.

    Parameters
    ----------
    rate : ndarray of shape (n_labels,)
        Observed share of ones.
    probability : ndarray of shape (n_samples, n_labels)
    """
    thresholds = np.empty(len(rate))
    for j, share in enumerate(rate):
        ordered = np.sort(probability[:, j])[::-1]
        count = int(np.clip(round(share * len(ordered)), 0, len(ordered)))
        above = ordered[count - 1] if count else 1.0
        below = ordered[count] if count < len(ordered) else 0.0
        thresholds[j] = (above + below) / 2
    return thresholds


def _best_f1(truth: FloatArray, probability: FloatArray) -> float:
    order = np.argsort(-probability, kind="stable")
    ones = np.cumsum(truth[order] == 1)
    f1 = 2 * ones / (np.arange(1, len(ones) + 1) + ones[-1])
    # A threshold can only fall between different probabilities.
    ordered = probability[order]
    ends = np.append(ordered[1:] < ordered[:-1], True)
    best = int(np.argmax(np.where(ends, f1, -1)))
    below = ordered[best + 1] if best + 1 < len(ordered) else 0.0
    return float((ordered[best] + below) / 2)
