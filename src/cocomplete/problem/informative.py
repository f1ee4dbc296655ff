"""The informative part of a table: columns that vary, rows of which something is known."""

from dataclasses import dataclass

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.observations import Observations


@dataclass(frozen=True, eq=False)
class Informative:
    """Which columns vary, and what the others hold.

    A column with one observed value, or none, can neither predict others nor be predicted; it takes no part
    in a fit, so that its presence changes nothing.

    Attributes
    ----------
    features : ndarray of bool, shape (n_features,)
    labels : ndarray of bool, shape (n_labels,)
    constant : ndarray of shape (n_features + n_labels,)
        What a column without variation is filled with: its value, 0 if there is none; log-odds of a label.
    """

    features: BoolArray
    labels: BoolArray
    constant: FloatArray

    @classmethod
    def of(cls, observed: Observations) -> "Informative":
        """Look at a table."""
        value, varied = zip(*(_only_value(part) for part in (observed.X, observed.Y)), strict=True)
        log_odds = shrunken_log_odds(observed.Y.astype(np.float64))
        return cls(varied[0], varied[1], np.concatenate((value[0], log_odds)))

    @classmethod
    def whole(cls, observed: Observations) -> "Informative":
        """Let every column take part."""
        d, n_labels = observed.n_features, observed.n_labels
        return cls(np.ones(d, bool), np.ones(n_labels, bool), np.zeros(d + n_labels))

    @property
    def columns(self) -> BoolArray:
        """Features and labels together."""
        return np.concatenate((self.features, self.labels))

    def narrow(self, observed: Observations) -> Observations:
        """Give the columns that vary, without names."""
        return Observations(observed.X[:, self.features], observed.Y[:, self.labels])

    def widen(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Put the other columns in their places; they have no spread.

        Parameters
        ----------
        mean : ndarray of shape (n_samples, number of columns that vary)
        std : ndarray of shape (n_samples, number of features that vary)
        """
        if self.columns.all():
            return mean, std
        whole = np.tile(self.constant, (len(mean), 1))
        whole[:, self.columns] = mean
        spread = np.zeros((len(std), len(self.features)))
        spread[:, self.features] = std
        return whole, spread


def rows_with_something(observed: Observations) -> BoolArray:
    """Rows of which some cell is known."""
    return np.asarray(observed.X_known.any(axis=1) | observed.Y_known.any(axis=1))


def _only_value(table: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Give the one value of each column (0 if it has none), and whether it has two."""
    known = ~np.isnan(table)
    low = np.where(known, table, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, table, -np.inf).max(axis=0, initial=-np.inf)
    varied = low < high
    return np.where(varied | np.isinf(low), 0.0, low), varied
