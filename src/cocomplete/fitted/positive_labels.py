"""Labels of which only ones are recorded: what an unrecorded cell may be, by the rows' features."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from cocomplete.arrays import FloatArray
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows
from cocomplete.positive_unlabelled import (
    RecordedShare,
    RowFactors,
    best_described,
    probability_if_unrecorded,
    probability_of_one,
)
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.packed import unpack

MOST_FEATURES = 30
"""Up to so many features may predict labels each by itself; of more, only the factors they share."""

LEAST_PROBABILITY = 1e-6
"""Probabilities are kept this far from 0 and 1."""


@dataclass(frozen=True, eq=False)
class PositiveLabels:
    """A logistic model of labels that saturates at the recorded share.

    Attributes
    ----------
    average : Average
        A fit to features alone, which describes rows.
    by_features : bool
        Whether rows are described by their completed features instead of their factors.
    found : RecordedShare
        The share, and the labels' model.
    """

    average: Average
    by_features: bool
    found: RecordedShare

    @classmethod
    def fit(cls, observed: Observations, average: Average, share: float | None) -> "PositiveLabels":
        """Find the share, unless it is known, and the labels' model.

        Parameters
        ----------
        observed : Observations
            Labels are 1 where a one is recorded and 0 elsewhere.
        average : Average
            Fitted to the features alone.
        share : float or None
        """
        candidates = [_factors(average, observed)]
        if observed.n_features <= MOST_FEATURES:
            candidates.append(_features(average, observed))
        found, which = best_described(candidates, np.nan_to_num(observed.Y), share=share)
        return cls(average, which == 1, found)

    def log_odds(self, observed: Observations, *, unrecorded: bool) -> FloatArray:
        """Give the log-odds of being 1 of all labels of some rows.

        Parameters
        ----------
        observed : Observations
        unrecorded : bool
            Whether these rows were open to recording, so that a cell without a record is less likely a 1.
        """
        rows = (_features if self.by_features else _factors)(self.average, observed)
        probability = probability_of_one(rows.mean, self.found, covariance=rows.covariance)
        if unrecorded:
            probability = np.where(
                observed.Y == 1, probability, probability_if_unrecorded(probability, self.found.share)
            )
        return np.asarray(logit(np.clip(probability, LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)))


def _alone(observed: Observations) -> Observations:
    """Features without labels."""
    return Observations(observed.X, np.empty((observed.n_samples, 0), observed.X.dtype))


def _factors(average: Average, observed: Observations) -> RowFactors:
    rows = average.posterior.rows(Cells.of(average.encoding.apply(_alone(observed))))
    width = rows.U.shape[1]
    if width == 1:
        n = len(rows.U)
        return RowFactors(np.zeros((n, 1)), np.ones((n, 1, 1)))
    cov = unpack(rows.second, width) - rows.U[:, :, None] * rows.U[:, None, :]
    return RowFactors(rows.U[:, 1:], cov[:, 1:, 1:])


def _features(average: Average, observed: Observations) -> RowFactors:
    rows = CompletedRows.of(average, _alone(observed))
    return RowFactors(rows.X, rows.variances[:, :, None] * np.eye(rows.X.shape[1]))
