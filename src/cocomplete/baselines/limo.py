"""LIMO: a linear multi-label classifier with margins between labels and between rows."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.svm import SVR
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.baselines.classifier_input import full_features, full_labels
from cocomplete.kernels.margins import margin_steps
from cocomplete.parameter_checks import check_count, check_not_negative, legacy_generator

CHUNK = 1 << 16
"""Iterations whose random numbers are drawn at a time."""


class LIMOClassifier(ClassifierMixin, BaseEstimator):
    """Label-wise and instance-wise margin optimisation (Wu and Zhou, 2017).

    Parameters
    ----------
    step : float, default=0.01
        Constant step size of the stochastic steps, below 1.
    epochs : int, default=10
        Passes; each has n · round(mean number of labels per row) iterations.
    label_margin, instance_margin : float, default=1.0
        λ₁ and λ₂, weights of the two margins; 0 leaves one out.
    random_state : int, RandomState or None, default=None
        Draws the first weights and every step; the same seed gives the same classifier.

    Attributes
    ----------
    coef_ : ndarray of shape (n_labels, n_features)
        W, averaged over all iterations.
    cut_ : sklearn.svm.SVR
        Predicts from its features where to cut a row's scores.
    n_iter_ : int
        Iterations done.
    n_features_in_ : int

    Notes
    -----
    Minimises, without a bias,

        Σ_j ‖w_j‖² + λ₁ Σ_i Σ_{u on, v off in row i} [1 − (w_u − w_v)ᵀx_i]₊
                   + λ₂ Σ_j Σ_{a on, b off in label j} [1 − w_jᵀ(x_a − x_b)]₊

    by steps on one random pair of labels and one random pair of rows each; weights decay only where a margin
    is violated. For every training row the cut with the fewest wrong labels is found, and a support vector
    regression (RBF, C = 1, γ = 1/d, ε = 0.1) learns these cuts. As published, features are used as they are;
    to bring them to a common scale put scikit-learn's ``MaxAbsScaler`` before it in a pipeline.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((60, 3))
    >>> y = (X @ [[1, -1, 0], [0, 1, -1], [1, 0, -1]] > 0).astype(int)
    >>> LIMOClassifier(random_state=0).fit(X, y).predict(X[:2]).shape
    (2, 3)
    """

    def __init__(
        self,
        *,
        step: float = 0.01,
        epochs: int = 10,
        label_margin: float = 1.0,
        instance_margin: float = 1.0,
        random_state: Any = None,
    ) -> None:
        self.step = step
        self.epochs = epochs
        self.label_margin = label_margin
        self.instance_margin = instance_margin
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> Self:
        """Learn weights and cuts.

        Parameters
        ----------
        X : array-like, DataFrame or sparse matrix of shape (n_samples, n_features)
            Features without holes.
        y : array-like, DataFrame or sparse matrix of shape (n_samples, n_labels)
            Labels 0 or 1 without holes; at least two.
        """
        self._check_parameters()
        features = full_features(X)
        # Labels are ranked against each other, which takes two.
        labels = full_labels(y, features.shape[0], at_least=2)
        rng = legacy_generator("random_state", self.random_state)
        self.n_features_in_ = int(features.shape[1])
        self.coef_, self.n_iter_ = self._train(sparse.csr_array(features), sparse.csr_array(labels), rng)
        self.cut_ = SVR(kernel="rbf", C=1.0, gamma="auto", epsilon=0.1)
        self.cut_.fit(features, best_cuts(self._scores(features), labels))
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Give scores of shape (n_samples, n_labels), those above 0 meaning 1."""
        check_is_fitted(self)
        features = full_features(X, self.n_features_in_)
        above: FloatArray = self._scores(features) - self.cut_.predict(features)[:, None]
        return above

    def predict(self, X: Any) -> FloatArray:
        """Give labels 0 or 1 of shape (n_samples, n_labels)."""
        return (self.decision_function(X) > 0).astype(np.float64)

    def _check_parameters(self) -> None:
        for name, top in (("step", 1.0), ("label_margin", np.inf), ("instance_margin", np.inf)):
            check_not_negative(name, getattr(self, name), below=top)
        check_count("epochs", self.epochs)

    def _scores(self, features: Any) -> FloatArray:
        return np.asarray(features @ self.coef_.T)

    def _train(
        self, X: sparse.csr_array, Y: sparse.csr_array, rng: np.random.RandomState
    ) -> tuple[FloatArray, int]:
        n, d = X.shape
        n_labels = Y.shape[1]
        of_rows, of_labels = _members(Y), _members(Y.T)
        V = rng.standard_normal((n_labels, d)) / np.sqrt(d)
        total = np.zeros_like(V)
        decay, mass, seen = np.ones(n_labels), np.zeros(n_labels), np.zeros(n_labels, np.int64)
        iterations = int(self.epochs) * n * max(round(Y.sum() / n), 1)
        for done in range(0, iterations, CHUNK):
            margin_steps(
                X.indptr.astype(np.int64),
                X.indices.astype(np.int64),
                X.data.astype(np.float64),
                *of_rows,
                *of_labels,
                rng.random_sample((min(CHUNK, iterations - done), 6)),
                done,
                float(self.step),
                float(self.label_margin),
                float(self.instance_margin),
                V,
                total,
                decay,
                mass,
                seen,
            )
        mass += decay * (iterations - seen)
        return (mass[:, None] * V + total) / iterations, iterations


def best_cuts(scores: FloatArray, Y: FloatArray) -> FloatArray:
    """Find for every row the cut that gets fewest of its labels wrong.

    Parameters
    ----------
    scores, Y : ndarray of shape (n_samples, n_labels)
        Scores and labels 0 or 1.

    Returns
    -------
    ndarray of shape (n_samples,)
        Below the smallest score, or half-way between a label that is off and the next score above it; the
        lowest of equally good ones. The largest score is never cut off.
    """
    order = np.argsort(scores, axis=1, kind="stable")
    s, y = np.take_along_axis(scores, order, axis=1), np.take_along_axis(Y, order, axis=1)
    below, above = s[:, :-1], s[:, 1:]
    off = y.shape[1] - y.sum(axis=1, keepdims=True)
    # A cut above the k-th score loses the labels up to it that are on and keeps the later ones that are off.
    wrong = off + np.cumsum(2 * y - 1, axis=1)[:, :-1]
    wrong[(y[:, :-1] == 1) | (above - below <= 1e-8)] = np.inf
    k = np.argmin(wrong, axis=1)
    rows = np.arange(len(s))
    middle = (below[rows, k] + above[rows, k]) / 2
    cuts: FloatArray = np.where(wrong[rows, k] < off[:, 0], middle, s[:, 0] - 1e-5)
    return cuts


def _members(table: sparse.csr_array) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where each row's nonzero columns begin, and the columns, ascending."""
    rows = sparse.csr_array(table)
    rows.sort_indices()
    return rows.indptr.astype(np.int64), rows.indices.astype(np.int64)
