"""The reference every method must beat: column means and label majorities."""

from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.completion import Completion, Reconstruction
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.observations import Observations
from cocomplete.table.containers import to_table
from cocomplete.table.refill import fill_like


class MeanMode(BaseEstimator):
    """Fill features with their observed mean and labels with their observed majority.

    Attributes
    ----------
    means_ : ndarray of shape (n_features,)
        Observed means; 0 for a column with nothing observed.
    rates_ : ndarray of shape (n_labels,)
        Observed share of ones, shrunken by half a one and half a zero.

    Examples
    --------
    >>> import numpy as np
    >>> done = MeanMode().fit([[1.0], [3.0], [np.nan]], [[1], [1], [0]]).complete([[np.nan]], [[None]])
    >>> done.X, done.Y
    ([[2.0]], [[1.0]])
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn means and rates from the observed cells."""
        observed = Observations.from_tables(X, y)
        observed.check_fittable()
        self.n_features_in_ = observed.n_features
        self._log_odds, self._n_samples = shrunken_log_odds(observed.Y), observed.n_samples
        count = np.maximum(observed.X_known.sum(axis=0), 1)
        with np.errstate(over="ignore"):
            sums = np.nansum(observed.X, axis=0)
        # Sums of the largest numbers are none; their means are.
        self.means_: FloatArray = np.where(
            np.isfinite(sums), sums / count, np.nansum(observed.X / count, axis=0)
        ).astype(sums.dtype, copy=False)
        self.rates_: FloatArray = expit(self._log_odds)
        return self

    def complete(self, X: Any, y: Any = None) -> Completion:
        """Fill the holes of any rows."""
        check_is_fitted(self)
        X_known = ~np.isnan(to_table(X, "X").values)
        means = np.broadcast_to(self.means_, X_known.shape)
        rates = np.broadcast_to(self.rates_, (len(X_known), self.rates_.size))
        Y = None
        if y is not None:
            Y = fill_like(y, "y", (rates > 0.5).astype(float), ~np.isnan(to_table(y, "y").values))
        return Completion(fill_like(X, "X", means, X_known), Y, rates.copy(), None)

    def reconstruct(self) -> Reconstruction:
        """Give means and log-odds for every cell of the training rows."""
        check_is_fitted(self)
        return Reconstruction(
            np.tile(self.means_, (self._n_samples, 1)), np.tile(self._log_odds, (self._n_samples, 1))
        )
