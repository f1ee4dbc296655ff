"""Scores of the benchmark on many tables, over held-out cells only.

=============  =====================================================================================
rmse           number features: RMSE, each column divided by its true standard deviation
robust         the same with truth and fill brought into the median ± 8 robust deviations
yes_no         yes/no features: log-loss
log_loss       labels: log-loss
hamming        labels: share wrong
ap             labels: average precision, all cells together
coverage       number features: share within 1.645 standard deviations of the fill, mean over columns
band           number features: share inside the 5 % to 95 % band of drawn tables, mean over columns
=============  =====================================================================================

Those of new rows have the prefix ``new_``. Standard deviations, medians and robust deviations are those of
the true training rows. A score is None where a method does not give it or no cell asks for it.
"""

from typing import NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score

from table_cases import TableCase

LEAST_PROBABILITY = 1e-3
"""Probabilities are kept this far from 0 and 1 in the log-loss."""

ROBUST_DEVIATIONS = 8
"""Bound of the robust RMSE, in robust deviations from the median: no single cell decides it."""

Scores = dict[str, float | None]


class Filled(NamedTuple):
    """What a method makes of some rows of a case; None where it does not give it.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features) or None
        Number features filled, yes/no features as the probability of a 1.
    Y_proba : ndarray of shape (n_rows, n_labels)
    Y : ndarray of the same shape or None
        Labels; where the probability exceeds one half if None.
    X_std : ndarray of shape (n_rows, n_features) or None
    X_draws : ndarray of shape (n_draws, n_rows, n_features) or None
    """

    X: np.ndarray | None
    Y_proba: np.ndarray
    Y: np.ndarray | None = None
    X_std: np.ndarray | None = None
    X_draws: np.ndarray | None = None


def score(case: TableCase, training: Filled, new: Filled) -> Scores:
    """Score the held-out cells of the training rows and of the new rows.

    Parameters
    ----------
    case : TableCase
    training, new : Filled

    Returns
    -------
    dict
    """
    old_rows = _features(case, case.X_true, np.isnan(case.X), training)
    old_rows |= _labels(case.Y_true, np.isnan(case.Y), training)
    new_rows = _features(case, case.X_true_new, np.isnan(case.X_new), new)
    new_rows |= _labels(case.Y_true_new, np.ones(case.Y_true_new.shape, dtype=bool), new)
    return {**old_rows, **{f"new_{name}": value for name, value in new_rows.items()}}


def _features(case: TableCase, truth: np.ndarray, held_out: np.ndarray, filled: Filled) -> Scores:
    scores: Scores = dict.fromkeys(("rmse", "robust", "yes_no", "coverage", "band"))
    if filled.X is None:
        return scores
    if not np.isfinite(filled.X[held_out]).all():
        msg = "a held-out feature is filled with NaN or infinity"
        raise ValueError(msg)
    asked = held_out & case.yes_no
    if asked.any():
        scores["yes_no"] = _log_loss(truth[asked], filled.X[asked])
    asked = held_out & ~case.yes_no
    if not asked.any():
        return scores
    scores["rmse"] = _rmse(truth, filled.X, asked, case.X_true.std(axis=0))
    low, high = robust_bounds(case.X_true)
    inside = [np.clip(table, low, high) for table in (truth, filled.X, case.X_true)]
    scores["robust"] = _rmse(*inside[:2], asked, inside[2].std(axis=0))
    if filled.X_std is not None:
        within = np.abs(truth - filled.X) <= 1.645 * filled.X_std
        scores["coverage"] = _column_share(within, asked)
    if filled.X_draws is not None:
        lower, upper = np.quantile(filled.X_draws, (0.05, 0.95), axis=0)
        scores["band"] = _column_share((lower <= truth) & (truth <= upper), asked)
    return scores


def _labels(truth: np.ndarray, held_out: np.ndarray, filled: Filled) -> Scores:
    if not held_out.any():
        return dict.fromkeys(("log_loss", "hamming", "ap"))
    expected, probability = truth[held_out], filled.Y_proba[held_out]
    labels = probability > 0.5 if filled.Y is None else filled.Y[held_out]
    return {
        "log_loss": _log_loss(expected, probability),
        "hamming": float(np.mean(expected != labels)),
        "ap": float(average_precision_score(expected, probability)) if expected.any() else None,
    }


def robust_bounds(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Give median ± 8 robust deviations of every column.

    The robust deviation is that of the absolute deviations' median, in units of a Gaussian's standard
    deviation; where more than half of a column is one value, it is 0 and the standard deviation stands in.
    """
    median = np.median(table, axis=0)
    deviation = 1.4826 * np.median(np.abs(table - median), axis=0)
    deviation = np.where(deviation > 0, deviation, table.std(axis=0))
    return median - ROBUST_DEVIATIONS * deviation, median + ROBUST_DEVIATIONS * deviation


def _rmse(truth: np.ndarray, filled: np.ndarray, asked: np.ndarray, spread: np.ndarray) -> float:
    # A column that is constant in the training rows has no scale of its own.
    errors = (truth - filled) / np.where(spread > 0, spread, 1.0)
    return float(np.sqrt(np.mean(errors[asked] ** 2)))


def _log_loss(truth: np.ndarray, probability: np.ndarray) -> float:
    p = np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
    return -float(np.mean(np.log(np.where(truth == 1, p, 1 - p))))


def _column_share(hits: np.ndarray, asked: np.ndarray) -> float:
    return float(np.mean([hits[cells, j].mean() for j, cells in enumerate(asked.T) if cells.any()]))
