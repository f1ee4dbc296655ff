"""From the user's table to the columns that the solvers see, and back.

Features that are numbers are standardised, or made normal by ranks; features that are yes or no join the
labels, under the same logistic loss. The solvers' columns are: numbers, yes/no features, labels.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.observations import Observations
from cocomplete.problem.scores import NormalScores
from cocomplete.problem.standardize import Standardization


@dataclass(frozen=True, eq=False)
class Encoding(FieldsAlone):
    """How a user's table and the solvers' columns correspond.

    Attributes
    ----------
    yes_no : ndarray of bool, shape (n_features,)
        Features under logistic loss.
    scale : Standardization or NormalScores
        Map of the other features, in their order.
    log_odds : ndarray of shape (number of yes/no features + n_labels,)
        Shrunken log-odds of the observed rates, or 0.
    """

    yes_no: BoolArray
    scale: Standardization | NormalScores
    log_odds: FloatArray

    @classmethod
    def of(
        cls, observed: Observations, yes_no: BoolArray, *, center: bool, scale: bool, gaussian: bool = False
    ) -> "Encoding":
        """Estimate the correspondence from the observed cells alone.

        Parameters
        ----------
        observed : Observations
            In the user's units.
        yes_no : ndarray of bool, shape (n_features,)
        center, scale : bool
            As in :class:`cocomplete.CoCompleter`.
        gaussian : bool, default=False
            Normal scores instead of centring and scaling.
        """
        numbers = observed.X[:, ~yes_no]
        logistic = np.hstack((observed.X[:, yes_no], observed.Y))
        log_odds = shrunken_log_odds(logistic)
        return cls(
            yes_no,
            NormalScores.of(numbers) if gaussian else Standardization.of(numbers, center=center, scale=scale),
            (log_odds if center else np.zeros_like(log_odds)).astype(observed.X.dtype),
        )

    @property
    def gaussian(self) -> bool:
        """Whether columns are made normal by ranks."""
        return isinstance(self.scale, NormalScores)

    @cached_property
    def n_numbers(self) -> int:
        """Number of features that are not yes/no."""
        return int((~self.yes_no).sum())

    @cached_property
    def offsets(self) -> FloatArray:
        """Where every column of the solvers' starts: 0 or log-odds."""
        return np.concatenate((np.zeros(self.n_numbers, self.log_odds.dtype), self.log_odds))

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The solvers' column of each of the user's: features, then labels."""
        d, n_labels = len(self.yes_no), len(self.offsets) - len(self.yes_no)
        order = np.empty(d + n_labels, np.intp)
        order[np.flatnonzero(~self.yes_no)] = np.arange(self.n_numbers)
        order[np.flatnonzero(self.yes_no)] = np.arange(self.n_numbers, d)
        order[d:] = np.arange(d, d + n_labels)
        return order

    def apply(self, observed: Observations) -> Observations:
        """Give the observations as the solvers see them, without names."""
        numbers = self.scale.apply(observed.X[:, ~self.yes_no])
        if not self.yes_no.any():
            return Observations(numbers, observed.Y)
        return Observations(numbers, np.hstack((observed.X[:, self.yes_no], observed.Y)))

    def feature(
        self, column: int, t: FloatArray, score: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give a feature's mean and standard deviation in the user's units; a probability if it is yes/no.

        Parameters
        ----------
        column : int
            The user's column.
        t, variance : ndarray
            Mean and variance of the feature on the solvers' scale, noise included.
        score : ndarray
            Log-odds, for a yes/no feature.
        """
        if self.yes_no[column]:
            probability = expit(score)
            return probability, np.sqrt(probability * (1 - probability))
        return self.scale.undo(int(self.order[column]), t, variance)


def shrunken_log_odds(Y: FloatArray) -> FloatArray:
    """Log-odds of each column's observed rate; half a 0 and half a 1 more keep one-sided ones finite."""
    rate = (np.nansum(Y, axis=0) + 0.5) / ((~np.isnan(Y)).sum(axis=0) + 1)
    return np.asarray(logit(rate), Y.dtype)
