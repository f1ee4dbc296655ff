"""The first trivial reference: no label is ever on."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.problem.observations import Observations


class AllZero(ClassifierMixin, BaseEstimator):
    """Predict 0 for every label of every row.

    Attributes
    ----------
    n_labels_ : int
    n_features_in_ : int

    Examples
    --------
    >>> AllZero().fit([[1.0], [2.0]], [[1, 0], [1, 1]]).predict([[3.0]])
    array([[0., 0.]])
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Note how many labels there are; holes are allowed."""
        observed = Observations.from_tables(X, y)
        self.n_features_in_, self.n_labels_ = observed.n_features, observed.n_labels
        return self

    def predict(self, X: Any) -> FloatArray:
        """Give zeros of shape (n_samples, n_labels)."""
        check_is_fitted(self)
        return np.zeros((Observations.from_tables(X).n_samples, self.n_labels_))
