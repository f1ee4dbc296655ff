"""Scores of filled labels, cell by cell and label by label."""

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn import metrics as sklearn_metrics
from sklearn.exceptions import UndefinedMetricWarning

from cocomplete.exceptions import InputError
from cocomplete.metrics.cells import Cells, Score, listed, read_cells, read_labels, read_probabilities
from cocomplete.parameter_checks import shown


def hamming_error(
    Y_true: Any, Y_pred: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Share of labels that are wrong.

    Parameters
    ----------
    Y_true, Y_pred : array-like or DataFrame of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; unknown truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the labels without any.

    Returns
    -------
    float or Score
        The paper's Y error when neither ``observed`` nor ``mask`` is given.

    Examples
    --------
    >>> hamming_error([[1, 0], [0, float("nan")]], [[1, 1], [0, 1]])
    0.3333333333333333
    """
    cells = read_cells(Y_true, Y_pred, observed, mask)
    value = float(np.mean(cells.truth[cells.counted] != cells.predicted[cells.counted]))
    return cells.score(value).answer(return_counts=return_counts)


def log_loss(
    Y_true: Any, Y_proba: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Mean negative log-likelihood of the labels, in nats.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_proba : array-like or DataFrame, same shape
        Probability of a 1; 0 and 1 are moved inwards by the float's precision, as scikit-learn does.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the labels without any.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> round(log_loss([[1, None]], [[0.5, 0.9]]), 4)
    0.6931
    """
    cells = read_probabilities(Y_true, Y_proba, observed, mask)
    value = sklearn_metrics.log_loss(
        cells.truth[cells.counted], cells.predicted[cells.counted], labels=[0.0, 1.0]
    )
    return cells.score(float(value)).answer(return_counts=return_counts)


def brier(
    Y_true: Any, Y_proba: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Brier score: mean squared distance between a label and its probability.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_proba : array-like or DataFrame, same shape
        Probability of a 1.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the labels without any.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> brier([[1, 0]], [[0.5, 0.0]])
    0.125
    """
    cells = read_probabilities(Y_true, Y_proba, observed, mask)
    value = float(np.mean((cells.predicted[cells.counted] - cells.truth[cells.counted]) ** 2))
    return cells.score(value).answer(return_counts=return_counts)


def roc_auc(
    Y_true: Any,
    Y_score: Any,
    *,
    average: str | None = "macro",
    observed: Any = None,
    mask: Any = None,
    return_counts: bool = False,
) -> Any:
    """Area under the ROC curve: the chance that a 1 is scored above a 0.

    A label whose counted cells are all 0 or all 1 has no such chance. It is left out of the average, and a
    warning names it; if every label is left out, the answer is NaN.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_score : array-like or DataFrame, same shape
        Scores or probabilities; more means more likely a 1.
    average : {"macro", "micro", "none"} or None, default="macro"
        Mean over labels; all cells together as if they were one label; or one value per label, NaN for
        those left out.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the labels left out.

    Returns
    -------
    float, ndarray of shape (n_labels,) or Score

    Warns
    -----
    UndefinedMetricWarning
        Names the labels left out.

    Examples
    --------
    >>> Y, score = [[1, 0], [0, 1], [0, None]], [[0.9, 0.2], [0.3, 0.1], [0.4, 0.7]]
    >>> roc_auc(Y, score, average=None)
    array([1., 0.])
    """
    cells = read_labels(Y_true, Y_score, observed, mask)
    score = _averaged(sklearn_metrics.roc_auc_score, "ROC AUC", cells, average)
    return score.answer(return_counts=return_counts)


def average_precision(
    Y_true: Any,
    Y_score: Any,
    *,
    average: str | None = "macro",
    observed: Any = None,
    mask: Any = None,
    return_counts: bool = False,
) -> Any:
    """Average precision: the area under the precision–recall curve, without interpolation.

    As with :func:`roc_auc`, a label needs a 0 and a 1 among its counted cells, so both are averages over
    the same labels. (scikit-learn counts a label without a 1 as zero.)

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_score : array-like or DataFrame, same shape
        Scores or probabilities; more means more likely a 1.
    average : {"macro", "micro", "none"} or None, default="macro"
        Mean over labels; all cells together as if they were one label; or one value per label, NaN for
        those left out.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the labels left out.

    Returns
    -------
    float, ndarray of shape (n_labels,) or Score

    Warns
    -----
    UndefinedMetricWarning
        Names the labels left out.

    Examples
    --------
    >>> average_precision([[1], [0], [1]], [[0.9], [0.5], [0.6]])
    1.0
    """
    cells = read_labels(Y_true, Y_score, observed, mask)
    score = _averaged(sklearn_metrics.average_precision_score, "average precision", cells, average)
    return score.answer(return_counts=return_counts)


def _averaged(metric: Callable[..., Any], title: str, cells: Cells, average: str | None) -> Score:
    """Apply a metric of one label to each, or to all cells at once."""
    if average is not None and not (isinstance(average, str) and average in ("macro", "micro", "none")):
        msg = f"average must be 'macro', 'micro' or 'none', but is {shown(average)}"
        raise InputError(msg)
    truth, score, counted = cells.truth, cells.predicted, cells.counted
    if average == "micro":
        if np.ptp(truth[counted]) == 0:
            return _undefined(title, cells)
        return cells.score(float(metric(truth[counted], score[counted])))
    ones, known = (counted & (truth == 1)).sum(axis=0), counted.sum(axis=0)
    usable = (ones > 0) & (ones < known)
    if average == "macro" and not usable.any():
        return _undefined(title, cells)
    values = np.full(truth.shape[1], np.nan)
    for j in np.flatnonzero(usable):
        values[j] = metric(truth[counted[:, j], j], score[counted[:, j], j])
    skipped = cells.columns(np.flatnonzero(~usable))
    if skipped:
        msg = f"{title} needs a 0 and a 1 among a label's counted cells; skipped label(s) {listed(skipped)}"
        warnings.warn(msg, UndefinedMetricWarning, stacklevel=3)
    value = float(values[usable].mean()) if average == "macro" else values
    return Score(value, int(known[usable].sum()), skipped)


def _undefined(title: str, cells: Cells) -> Score:
    everything = cells.columns(range(cells.counted.shape[1]))
    msg = (
        f"{title} needs a 0 and a 1 among the counted cells, but there is no label to compute it for; "
        f"skipped label(s) {listed(everything)}, and the score is NaN"
    )
    warnings.warn(msg, UndefinedMetricWarning, stacklevel=4)
    return Score(float("nan"), 0, everything)
