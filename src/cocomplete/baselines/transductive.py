"""What all rivals share: they complete the rows they are fitted on, and no others."""

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.baselines.sizes import check_sizes
from cocomplete.completion import Completion, Reconstruction
from cocomplete.exceptions import InputError
from cocomplete.problem.observations import Observations
from cocomplete.table.refill import fill_like


class TransductiveCompleter(BaseEstimator, ABC):
    """A completer whose model is a value for every cell of its training rows.

    A rival defines how it checks its parameters, how it finds the values and how its label scores become
    probabilities; reading tables, putting observed cells back and naming columns are done here.
    """

    def fit(self, X: Any, y: Any = None) -> Self:
        """Complete a table and keep the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Features; NaN, None, NA or null where unknown.
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            Labels 0 or 1; unknown likewise.
        """
        self._check_parameters()
        observed = Observations.from_tables(X, y)
        observed.check_fittable()
        check_sizes(observed.X)
        X_model, Z = self._solve(observed)
        dtype = observed.X.dtype
        self._model = Reconstruction(X_model.astype(dtype, copy=False), Z.astype(dtype, copy=False))
        self._trained_on = observed.fingerprint
        self.n_features_in_ = observed.n_features
        for attribute, names in (
            ("feature_names_in_", observed.feature_names),
            ("label_names_in_", observed.label_names),
        ):
            if names is not None:
                setattr(self, attribute, np.asarray(names, dtype=object))
            elif hasattr(self, attribute):
                delattr(self, attribute)
        return self

    def complete(self, X: Any, y: Any = None) -> Completion:
        """Fill the holes of the rows the model was fitted on.

        Parameters
        ----------
        X, y : the tables given to :meth:`fit`

        Returns
        -------
        Completion
            X and Y in the containers they came in with observed cells bit-equal; Y_proba; X_std is None.
        """
        check_is_fitted(self)
        observed = Observations.from_tables(X, y)
        if observed.fingerprint != self._trained_on:
            msg = (
                f"{type(self).__name__} completes only the rows it was fitted on, and X and y differ from "
                "those; fit on all rows together, or use CoCompleter for new ones"
            )
            raise InputError(msg)
        model = self.reconstruct()
        labels = None
        if y is not None:
            labels = fill_like(y, "y", (model.Z > 0).astype(observed.X.dtype), observed.Y_known)
        return Completion(
            fill_like(X, "X", model.X, observed.X_known), labels, self._probability(model.Z), None
        )

    def reconstruct(self) -> Reconstruction:
        """Give the model's own value for every cell of the training rows (what the paper scores).

        Returns
        -------
        Reconstruction
            X in the user's units; Z, label scores: a label is 1 where its score is above 0.
        """
        check_is_fitted(self)
        return self._model

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse what cannot be."""

    @abstractmethod
    def _solve(self, observed: Observations) -> Reconstruction:
        """Find the model and set what is peculiar to it, in attributes that end in an underscore."""

    def _probability(self, Z: FloatArray) -> FloatArray:
        """Read least-squares scores, on the scale where −1 means 0 and +1 means 1, as probabilities."""
        probability: FloatArray = np.clip((1 + Z) / 2, 0, 1)
        return probability
