"""What a fit has predicted of its own rows, kept so that it is not worked out again."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.prediction import Prediction
from cocomplete.problem.observations import Observations

SMALLEST, LARGEST = 1e-30, 1e30
"""Standard deviations between these are kept in single precision."""


@dataclass(frozen=True, eq=False)
class FittedRows:
    """Predictions of the rows of a fit: of numbers where they are unknown, of 0/1 columns everywhere.

    Attributes
    ----------
    log_odds : ndarray of shape (n_samples, number of yes/no features + n_labels)
    numbers : ndarray of shape (number of unknown numbers,)
        Means in the user's units, row after row.
    stds : ndarray of the same shape
        Standard deviations, in single precision where that holds them: nobody reads their eighth digit.
    """

    log_odds: FloatArray
    numbers: FloatArray
    stds: FloatArray

    @classmethod
    def of(cls, prediction: Prediction, observed: Observations, yes_no: BoolArray) -> "FittedRows":
        """Keep what is needed of a prediction of all cells."""
        binary = np.concatenate((yes_no, np.ones(observed.n_labels, bool)))
        unknown = ~observed.X_known & ~yes_no
        stds = prediction.std[unknown]
        single = ((stds == 0) | ((stds > SMALLEST) & (stds < LARGEST))).all()
        return cls(
            prediction.mean[:, binary],
            prediction.mean[:, : len(yes_no)][unknown],
            stds.astype(np.float32) if single else stds,
        )

    def of_rows(
        self, rows: NDArray[np.intp], counts: NDArray[np.intp], observed: Observations, yes_no: BoolArray
    ) -> Prediction:
        """Give the prediction of some rows back.

        Parameters
        ----------
        rows : ndarray of int
        counts : ndarray of int, shape (n_samples,)
            Unknown numbers of every row of the fit.
        observed : Observations
            These rows alone.
        yes_no : ndarray of bool, shape (n_features,)
        """
        end = np.cumsum(counts)
        spans = [np.arange(end[i] - counts[i], end[i]) for i in rows]
        numbers = np.concatenate(spans or [np.empty(0, np.intp)])
        some = FittedRows(self.log_odds[rows], self.numbers[numbers], self.stds[numbers])
        return some.prediction(observed, yes_no)

    def prediction(self, observed: Observations, yes_no: BoolArray) -> Prediction:
        """Give the prediction back; known numbers are what was observed, without a standard deviation."""
        binary = np.concatenate((yes_no, np.ones(observed.n_labels, bool)))
        mean = np.hstack((observed.X, observed.Y)).astype(np.float64)
        std = np.zeros(observed.X.shape)
        unknown = ~observed.X_known & ~yes_no
        mean[:, binary] = self.log_odds
        mean[:, : len(yes_no)][unknown] = self.numbers
        std[unknown] = self.stds
        return Prediction(mean, std)
