"""Scores of a completed table against the truth; cells whose truth is unknown are never counted.

Every score takes ``observed`` (cells the method was shown: only the others count) and ``mask`` (cells to
count), and with ``return_counts=True`` gives how many cells it rests on and what it had to leave out.
"""

from cocomplete.metrics.calibration import Reliability, expected_calibration_error, reliability
from cocomplete.metrics.cells import Score
from cocomplete.metrics.features import interval_coverage, mae, relative_error, rmse, standardized_rmse
from cocomplete.metrics.labels import average_precision, brier, hamming_error, log_loss, roc_auc
from cocomplete.metrics.ranking import coverage, precision_at_k, ranking_loss

__all__ = [
    "Reliability",
    "Score",
    "average_precision",
    "brier",
    "coverage",
    "expected_calibration_error",
    "hamming_error",
    "interval_coverage",
    "log_loss",
    "mae",
    "precision_at_k",
    "ranking_loss",
    "relative_error",
    "reliability",
    "rmse",
    "roc_auc",
    "standardized_rmse",
]
