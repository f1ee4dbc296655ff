"""The second trivial reference: every label as it mostly was, whatever the features."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.problem.observations import Observations


class LabelMajority(ClassifierMixin, BaseEstimator):
    """Predict for every label what most of its observed training cells are; 0 if they are divided equally.

    On CAL500 the paper's best figures on clean data are hardly better than this.

    Attributes
    ----------
    majority_ : ndarray of shape (n_labels,)
        0 or 1.
    n_features_in_ : int

    Examples
    --------
    >>> LabelMajority().fit([[1.0], [2.0], [4.0]], [[1, 0], [1, 1], [0, 0]]).predict([[3.0]])
    array([[1., 0.]])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn the majorities from the observed cells; holes are allowed."""
        observed = Observations.from_tables(X, y)
        self.n_features_in_ = observed.n_features
        ones = np.nansum(observed.Y, axis=0)
        self.majority_: FloatArray = (2 * ones > observed.Y_known.sum(axis=0)).astype(np.float64)
        return self

    def predict(self, X: Any) -> FloatArray:
        """Give labels 0 or 1 of shape (n_samples, n_labels)."""
        check_is_fitted(self)
        return np.tile(self.majority_, (Observations.from_tables(X).n_samples, 1))
