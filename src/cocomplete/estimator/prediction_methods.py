"""Methods of a fitted estimator: rows in, completed tables and probabilities out."""

from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from cocomplete.arrays import FloatArray
from cocomplete.completion import Completion, Reconstruction
from cocomplete.containers import Table, fill_like, frame_like
from cocomplete.estimator.columns import check_labels, check_n_features, with_unknown_labels
from cocomplete.estimator.settings import seed_of
from cocomplete.exceptions import InputError
from cocomplete.fitted.model import Model
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS
from cocomplete.parameter_checks import check_count
from cocomplete.problem.observations import Observations


class PredictionMethods(OneToOneFeatureMixin, TransformerMixin, BaseEstimator):
    """The half of :class:`cocomplete.CoCompleter` that reads what its fit has left and changes nothing."""

    _model: Model
    random_state: Any
    n_features_in_: int
    n_labels_: int
    thresholds_: FloatArray

    def complete(self, X: Any, y: Any = None) -> Completion:
        """Fill the holes of any rows, those of the fit or new ones, and leave the model as it is.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            Labels as far as they are known; None if none is.

        Returns
        -------
        Completion
            X and Y in the containers they came in, Y_proba, X_std. Where ``y`` is None, Y is a frame like X,
            or an array.
        """
        check_is_fitted(self)
        observed = self._read(X, y)
        answer = self._model.answer(observed)
        probability: FloatArray = expit(answer.Z)
        Y: Any = (probability > self.thresholds_).astype(observed.X.dtype)
        if y is not None:
            Y = fill_like(y, "y", Y, observed.Y_known)
        elif self.n_labels_:
            Y = frame_like(X, Y, getattr(self, "label_names_in_", None))
        return Completion(
            fill_like(X, "X", self._model.inside(answer.X), observed.X_known),
            Y if self.n_labels_ else None,
            probability,
            np.where(observed.X_known, 0.0, answer.X_std),
        )

    def sample_completions(
        self, n: int = 5, X: Any = None, y: Any = None, *, random_state: Any = None
    ) -> list[Completion]:
        """Draw completed tables, for multiple imputation.

        A drawn table is one draw: the same factors, from their posterior, make its features and its labels,
        noise included; the margins are those of all members together. Observed cells stay as they are.
        :func:`cocomplete.pool` pools what is estimated from several of them.

        Parameters
        ----------
        n : int, default=5
            Number of tables.
        X, y : tables, optional
            Rows to complete; those of the fit if None.
        random_state : int, Generator or None, default=None
            None takes the estimator's own.

        Returns
        -------
        list of Completion
            X and Y in the containers they came in (arrays, for the rows of the fit); Y_proba the model's
            probabilities; X_std None.
        """
        check_is_fitted(self)
        check_count("n", n)
        observed = self._model.observed if X is None else self._read(X, y)
        tables = (observed.X if X is None else X, observed.Y if X is None else y)
        rng = np.random.default_rng(seed_of(self.random_state) if random_state is None else random_state)
        probability: FloatArray = expit(self._model.answer(observed, std=False, parts=LABEL_PARTS).Z)
        return [
            self._completion(observed, *tables, *drawn, probability)
            for drawn in self._model.draws(observed, rng, n)
        ]

    def reconstruct(self) -> Reconstruction:
        """Give the model's own value for every cell of the training rows (what the paper scores)."""
        check_is_fitted(self)
        observed = self._model.observed
        answer = self._model.answer(observed, std=False, known=True)
        return Reconstruction(answer.X.astype(observed.X.dtype, copy=False), answer.Z)

    def transform(self, X: Any) -> FloatArray:
        """Fill the holes of any rows' features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Or what :meth:`set_output` asks for.
        """
        check_is_fitted(self)
        observed = self._read(X, None)
        answer = self._model.answer(observed, std=False, parts=FEATURE_PARTS)
        filled = self._model.inside(answer.X)
        whole: FloatArray = np.where(observed.X_known, observed.X, filled).astype(
            observed.X.dtype, copy=False
        )
        return whole

    def decision_function(self, X: Any) -> FloatArray:
        """Give the labels' scores Z of any rows, from their features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Log-odds.
        """
        check_is_fitted(self)
        self._need_labels("decision_function")
        return self._model.answer(self._read(X, None), std=False, parts=LABEL_PARTS).Z

    def predict_proba(self, X: Any) -> FloatArray:
        """Give the probability that each label is 1, from the features of any rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        probability: FloatArray = expit(self.decision_function(X))
        return probability

    def predict(self, X: Any) -> Any:
        """Give the labels of any rows from their features.

        Returns
        -------
        ndarray of int, shape (n_samples, n_labels)
        """
        return (self.predict_proba(X) > self.thresholds_).astype(int)

    def predict_feature_proba(self, X: Any, y: Any = None) -> FloatArray:
        """Give the probability that each yes/no feature is 1, observed or not.

        Returns
        -------
        ndarray of shape (n_samples, number of yes/no features)
            In the order of the features that ``feature_types_`` calls "yes-no".
        """
        check_is_fitted(self)
        answer = self._model.answer(self._read(X, y), std=False, parts=FEATURE_PARTS)
        return answer.X[:, self._model.yes_no]

    def score(self, X: Any, y: Any) -> float:
        """Give the share of known labels that are predicted right from the features alone."""
        check_is_fitted(self)
        self._need_labels("score")
        observed = self._read(X, y)
        if not observed.Y_known.any():
            msg = "y has no known label, so there is nothing to score; pass the rows' labels"
            raise InputError(msg)
        return float((self.predict(X) == observed.Y)[observed.Y_known].mean())

    def _read(self, X: Any, y: Any) -> Observations:
        """Validate rows against the columns of the fit."""
        observed = Observations.from_tables(X, y)
        if not isinstance(X, Table):
            validate_data(self, X, skip_check_array=True, reset=False)
        check_n_features(observed, self.n_features_in_, type(self).__name__)
        if y is None:
            return with_unknown_labels(observed, self.n_labels_)
        check_labels(observed, self.n_labels_, getattr(self, "label_names_in_", None))
        return observed

    def _need_labels(self, method: str) -> None:
        if not self.n_labels_:
            msg = f"{method} needs labels, but the model was fitted without; pass y to fit"
            raise InputError(msg)

    def _completion(
        self,
        observed: Observations,
        X: Any,
        y: Any,
        filled: FloatArray,
        labels: FloatArray,
        probability: FloatArray,
    ) -> Completion:
        """Put drawn cells into the user's containers."""
        Y: Any = labels.astype(observed.X.dtype)
        if y is not None:
            Y = fill_like(y, "y", Y, observed.Y_known)
        return Completion(
            fill_like(X, "X", filled, observed.X_known), Y if self.n_labels_ else None, probability, None
        )
