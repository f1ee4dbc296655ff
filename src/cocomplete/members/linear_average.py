"""The posterior average with 0/1 columns taken as numbers.

A sigmoid leaves something to chance even where a label all but follows from others, as the classes of one
column do, of which exactly one is 1. A number with a noise of its own does not.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr, ndtri

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.average import Average
from cocomplete.members.prediction import Prediction
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.observations import Observations
from cocomplete.solvers.solution import Progress


@dataclass(frozen=True, eq=False)
class LinearAverage:
    """A variational fit of numbers alone; it predicts yes/no features and labels.

    Attributes
    ----------
    average : Average
        Of features and labels as one table of numbers.
    binary : ndarray of bool, shape (n_features + n_labels,)
        The 0/1 columns.
    level : ndarray of shape (n_features + n_labels,)
        What a 0/1 column's number exceeds as often as the column is 1, in standard deviations of the number.
    """

    average: Average
    binary: BoolArray
    level: FloatArray
    name: str = "average of labels as numbers"

    @classmethod
    def fit(
        cls, observed: Observations, yes_no: BoolArray, *, progress: Progress | None = None
    ) -> "LinearAverage":
        """Fit it to a table."""
        table = _as_numbers(observed)
        binary = np.concatenate((yes_no, np.ones(observed.n_labels, bool)))
        average = Average.fit(table, np.zeros(binary.size, bool), gaussian=True, progress=progress)
        rate = expit(shrunken_log_odds(table.X.astype(np.float64)[:, binary]))
        level = np.zeros(binary.size)
        level[binary] = -ndtri(rate)
        return cls(average, binary, level)

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict 0/1 columns; numbers are not predicted (NaN)."""
        moments = self.average.moments(_as_numbers(observed))
        posterior = self.average.posterior
        # What the number varies by over all rows: its noise and its factors, of unit second moments.
        total = np.sqrt(posterior.noise + posterior.factor_variance)
        spread = np.sqrt(posterior.noise + moments.variance)
        above = (moments.mean - self.level * total) / spread
        mean = log_ndtr(above) - log_ndtr(-above)
        mean[:, ~self.binary] = np.nan
        return Prediction(mean, np.full(observed.X.shape, np.nan))


def _as_numbers(observed: Observations) -> Observations:
    """Features and labels as one table of numbers."""
    return Observations(np.hstack((observed.X, observed.Y)), np.empty((observed.n_samples, 0)))
