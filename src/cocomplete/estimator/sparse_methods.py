"""The most probable labels, and what a fitted estimator does otherwise where its table was sparse."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.estimator.sparse_predictions import SparsePredictions, refuse
from cocomplete.exceptions import InputError
from cocomplete.fitted.sparse_model import SparseModel, TopLabels, top_of
from cocomplete.parameter_checks import check_count


class SparseMethods:
    """What :class:`cocomplete.estimator.prediction_methods.PredictionMethods` builds on."""

    _model: Any
    sparse_missing: str | None
    n_labels_: int
    thresholds_: FloatArray
    predict_proba: Callable[..., FloatArray]

    def predict_top(self, X: Any, k: int = 20) -> TopLabels:
        """Give the most probable labels of any rows from their features, without keeping all of them.

        Parameters
        ----------
        X : array-like, DataFrame or SciPy sparse table of shape (n_samples, n_features)
        k : int, default=20
            How many; all where there are fewer.

        Returns
        -------
        TopLabels
            ``indices`` of labels, the most probable first (of equals, the first), and their
            ``probabilities``; both of shape (n_samples, k).
        """
        check_is_fitted(self)
        self._need_labels("predict_top")
        check_count("k", k)
        if self._is_sparse:
            return self._sparse.top(X, k)
        probability = self.predict_proba(X)
        indices = top_of(probability, min(k, self.n_labels_))
        return TopLabels(indices, np.take_along_axis(probability, indices, axis=1))

    @property
    def _is_sparse(self) -> bool:
        return isinstance(self._model, SparseModel)

    @property
    def _sparse(self) -> SparsePredictions:
        """What answers for a sparse table."""
        return SparsePredictions(self._model, self.thresholds_, self.sparse_missing, type(self).__name__)

    def _need_dense(self, method: str) -> None:
        if self._is_sparse:
            refuse(method)

    def _need_labels(self, method: str) -> None:
        if not self.n_labels_:
            msg = f"{method} needs labels, but the model was fitted without; pass y to fit"
            raise InputError(msg)
