"""The paper's network with one hidden layer: scikit-learn's, with settings that give the paper's figure."""

import warnings
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.neural_network import MLPClassifier
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.baselines.classifier_input import full_features, full_labels
from cocomplete.parameter_checks import check_count, check_positive, legacy_generator


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """One hidden layer of rectifiers and a sigmoid per label, trained by Adam on the cross-entropy.

    The paper gives only "single hidden layer"; the rest is a choice that gives its figure on clean data.

    Parameters
    ----------
    hidden : int, default=100
        Units of the hidden layer.
    epochs : int, default=50
        Passes over the rows; the figures on recovered data move with it.
    batch_size : int, default=32
        Rows per step.
    learning_rate : float, default=1e-3
        Adam's first step size.
    weight_decay : float, default=1e-4
        Weight of the squared weights.
    random_state : int, RandomState or None, default=None
        Draws weights and batches.

    Attributes
    ----------
    network_ : sklearn.neural_network.MLPClassifier
    n_features_in_ : int

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).normal(size=(60, 3))
    >>> NetworkClassifier(epochs=5, random_state=0).fit(X, X[:, :2] > 0).predict(X[:2]).shape
    (2, 2)
    """

    def __init__(
        self,
        *,
        hidden: int = 100,
        epochs: int = 50,
        batch_size: int = 32,
        learning_rate: float = 1e-3,
        weight_decay: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.hidden = hidden
        self.epochs = epochs
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Train on features (n_samples × n_features) and labels 0 or 1 (n_samples × n_labels), no holes."""
        for name in ("hidden", "epochs", "batch_size"):
            check_count(name, getattr(self, name))
        for name in ("learning_rate", "weight_decay"):
            check_positive(name, getattr(self, name))
        legacy_generator("random_state", self.random_state)
        features = full_features(X)
        labels = full_labels(y, features.shape[0])
        self.n_features_in_ = int(features.shape[1])
        # One output more, always 0, keeps scikit-learn in its multi-label mode when there is one label.
        padded = np.hstack((labels, np.zeros((len(labels), 1))))
        self.network_ = MLPClassifier(
            hidden_layer_sizes=(self.hidden,),
            max_iter=self.epochs,
            batch_size=min(self.batch_size, len(labels)),
            learning_rate_init=self.learning_rate,
            alpha=self.weight_decay,
            tol=0.0,
            n_iter_no_change=self.epochs,
            random_state=self.random_state,
        )
        with warnings.catch_warnings():
            # The number of epochs is the setting, not a failure to converge.
            warnings.simplefilter("ignore", ConvergenceWarning)
            self.network_.fit(features, padded)
        return self

    def predict_proba(self, X: Any) -> FloatArray:
        """Give the probability of a 1, shape (n_samples, n_labels)."""
        check_is_fitted(self)
        probability: FloatArray = self.network_.predict_proba(full_features(X, self.n_features_in_))[:, :-1]
        return probability

    def predict(self, X: Any) -> FloatArray:
        """Give labels 0 or 1, shape (n_samples, n_labels)."""
        return (self.predict_proba(X) > 0.5).astype(np.float64)
