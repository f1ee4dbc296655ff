"""The trivial answer: column means and label rates, the same for every row."""

from dataclasses import dataclass

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.prediction import Prediction
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.observations import Observations


@dataclass(frozen=True, eq=False)
class Trivial:
    """Column means and log-odds of observed rates.

    Attributes
    ----------
    mean : ndarray of shape (n_features + n_labels,)
        Means of numbers; log-odds of yes/no features and labels.
    std : ndarray of shape (n_features,)
        Observed standard deviations of numbers; 0 for yes/no features.
    """

    mean: FloatArray
    std: FloatArray
    name: str = "trivial"

    @classmethod
    def fit(cls, observed: Observations, yes_no: BoolArray) -> "Trivial":
        """Take them from the observed cells."""
        X, count = observed.X.astype(np.float64), observed.X_known.sum(axis=0)
        mean = np.nansum(X, axis=0) / np.maximum(count, 1)
        std = np.sqrt(np.nansum((X - mean) ** 2, axis=0) / np.maximum(count - 1, 1))
        mean[yes_no], std[yes_no] = shrunken_log_odds(X[:, yes_no]), 0.0
        return cls(np.concatenate((mean, shrunken_log_odds(observed.Y.astype(np.float64)))), std)

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Give the same for every row."""
        n = observed.n_samples
        return Prediction(np.tile(self.mean, (n, 1)), np.tile(self.std, (n, 1)))
