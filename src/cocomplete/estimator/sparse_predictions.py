"""What a model of a sparse table answers: as much as was asked for, and nothing dense by surprise."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.special import expit, logit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.completion import Completion
from cocomplete.engines.row_blocks import row_bounds
from cocomplete.estimator.columns import check_n_features
from cocomplete.estimator.sparse_input import stored
from cocomplete.exceptions import InputError
from cocomplete.fitted.sparse_model import PANEL_NUMBERS, SparseModel, TopLabels
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.table.refill import fill_like
from cocomplete.table.sparse_matrix import SparseMatrix, is_sparse

LARGEST_DENSE = 2**27
"""Cells of a dense answer: a gibibyte in double precision. What would be larger is refused."""


class SparsePredictions:
    """A fitted model of a sparse table, asked in a user's containers.

    Parameters
    ----------
    model : SparseModel
    thresholds : ndarray of shape (n_labels,)
    rule : {"zero", "unknown"} or None
        What absent cells of sparse rows mean.
    estimator_name : str
        For messages.
    """

    def __init__(
        self, model: SparseModel, thresholds: FloatArray, rule: str | None, estimator_name: str
    ) -> None:
        self.model, self.thresholds, self.rule = model, thresholds, rule
        self.estimator_name = estimator_name

    def read(self, X: Any, y: Any = None) -> SparseTable:
        """Validate rows against the columns of the fit; without ``y``, labels are unknown."""
        features = stored(X, "X", self.rule)[0]
        check_n_features(features.shape[1], self.model.n_features, self.estimator_name)
        if y is None:
            return SparseTable.checked(
                features,
                SparseMatrix.nothing(features.shape[0], self.model.n_labels, features.matrix.dtype),
            )
        labels = stored(y, "y", self.rule)[0]
        if labels.shape[1] != self.model.n_labels:
            msg = f"y has {labels.shape[1]} labels, but the model was fitted with {self.model.n_labels}"
            raise InputError(msg)
        return SparseTable.checked(features, labels)

    def top(self, X: Any, k: int) -> TopLabels:
        """Find the most probable labels of every row."""
        return self.model.top(self.read(X), k)

    def log_odds(self, X: Any, method: str) -> FloatArray:
        """Give log-odds of all labels of any rows."""
        table = self.read(X)
        self._check_size(table.n_samples, self.model.n_labels, method, "use predict_top for the best labels")
        out = np.empty((table.n_samples, self.model.n_labels), self.model.columns.V.dtype)
        for rows, z in self.model.panels(table):
            out[rows] = z
        return out

    def labels(self, X: Any) -> Any:
        """Give 0/1 labels of any rows: sparse if those of the fit were."""
        table = self.read(X)
        if self.model.label_interface is None:
            self._check_size(table.n_samples, self.model.n_labels, "predict", "pass fewer rows at a time")
        chosen = self._ones(table)
        return chosen.toarray() if self.model.label_interface is None else self._in_interface(chosen)

    def score(self, X: Any, y: Any) -> float:
        """Give the share of known labels that are predicted right from the features alone."""
        table = self.read(X, y)
        known = float(table.Y.known_counts().sum())
        if not known:
            msg = "y has no known label, so there is nothing to score; pass the rows' labels"
            raise InputError(msg)
        chosen = self._ones(table.with_features_alone())
        truth = table.Y.matrix
        hidden = truth.copy()
        hidden.data = np.isnan(truth.data).astype(float)
        ones = truth.copy()
        ones.data = (truth.data == 1).astype(float)
        if table.Y.zeros:
            chosen = chosen - chosen * hidden
        else:
            stored_cells = truth.copy()
            stored_cells.data = np.ones_like(truth.data)
            chosen = chosen * stored_cells
        wrong = chosen.sum() + ones.sum() - 2 * (chosen * ones).sum()
        return float(1 - wrong / known)

    def features(self, X: Any) -> Any:
        """Fill the holes of any rows' features; sparse ones stay sparse where absent cells are zeros."""
        return self._filled(X, self.read(X), "transform")

    def complete(self, X: Any, y: Any) -> Completion:
        """Fill the holes of features and labels."""
        table = self.read(X, y)
        n_labels, cure = self.model.n_labels, "use predict_top for the best labels, transform for features"
        self._check_size(table.n_samples, n_labels, "complete", cure)
        U = self._factors(table)
        log_odds = self.log_odds(X, "complete") if y is None else self.model.log_odds(U)
        probability = expit(log_odds)
        filled = self._filled(X, table, "complete", U)
        if not is_sparse(X):
            filled = fill_like(X, "X", filled, _known(table.X), {})
        chosen = (probability > self.thresholds).astype(float)
        if not n_labels:
            return Completion(filled, None, probability, None)
        if y is None:
            labels = chosen if self.model.label_interface is None else self._in_interface(chosen)
            return Completion(filled, labels, probability, None)
        return Completion(filled, self._refilled(y, table.Y, chosen), probability, None)

    # -- parts -------------------------------------------------------------------------------------------

    def _factors(self, table: SparseTable) -> FloatArray:
        bounds = row_bounds(table.n_samples, max(self.model.n_labels, self.model.n_features), PANEL_NUMBERS)
        return np.concatenate([self.model.rows(table.rows(*each)) for each in bounds])

    def _ones(self, table: SparseTable) -> sparse.csr_array:
        """Predicted ones, row block by row block."""
        bound = logit(self.thresholds)
        parts = [sparse.csr_array((z > bound).astype(np.int64)) for _, z in self.model.panels(table)]
        return sparse.csr_array(sparse.vstack(parts, format="csr"))

    def _in_interface(self, labels: Any) -> Any:
        return (
            sparse.csr_matrix(labels) if self.model.label_interface == "matrix" else sparse.csr_array(labels)
        )

    def _filled(self, X: Any, table: SparseTable, method: str, U: FloatArray | None = None) -> Any:
        """Give features with their holes filled, in a container as they came in where it can hold them."""
        stored_table = table.X
        if is_sparse(X) and stored_table.zeros:
            filled = X.tocsr(copy=True)
            filled.sum_duplicates()
            gone = np.isnan(filled.data) if filled.dtype.kind == "f" else np.zeros(filled.nnz, bool)
            if gone.any():
                U = self._factors(table) if U is None else U
                row = np.repeat(np.arange(filled.shape[0]), np.diff(filled.indptr))[gone]
                filled.data[gone] = self.model.feature_cells(U, row, filled.indices[gone])
            return filled.asformat(X.format)
        n, d = stored_table.shape
        self._check_size(n, d, method, "pass fewer rows at a time")
        U = self._factors(table) if U is None else U
        out = self.model.features(U).astype(stored_table.matrix.dtype)
        row = np.repeat(np.arange(n), np.diff(stored_table.matrix.indptr))
        out[row, stored_table.matrix.indices] = stored_table.matrix.data
        return out

    def _refilled(self, y: Any, given: SparseMatrix, chosen: FloatArray) -> Any:
        """Put known labels back over those that were chosen, in the container they came in."""
        known = given.matrix
        row = np.repeat(np.arange(known.shape[0]), np.diff(known.indptr))
        if given.zeros:
            filled = known.copy()
            gone = np.isnan(filled.data)
            filled.data[gone] = chosen[row[gone], known.indices[gone]]
            filled.eliminate_zeros()
            return self._like(y, filled)
        chosen[row, known.indices] = known.data
        return (
            self._like(y, sparse.csr_array(chosen))
            if is_sparse(y)
            else fill_like(y, "y", chosen, _known(given), {})
        )

    @staticmethod
    def _like(y: Any, filled: sparse.csr_array) -> Any:
        whole = filled if isinstance(y, sparse.sparray) else sparse.csr_matrix(filled)
        return whole.asformat(y.format)

    @staticmethod
    def _check_size(n: int, m: int, method: str, cure: str) -> None:
        if n * m > LARGEST_DENSE:
            msg = (
                f"{method} of {n} rows would make {n} x {m} dense numbers, "
                f"{n * m * 8 / 2**30:.1f} GiB in double precision; {cure}"
            )
            raise InputError(msg)


def _known(table: SparseMatrix) -> BoolArray:
    """Where a dense table's cells are known."""
    known = np.zeros(table.shape, bool)
    known[np.repeat(np.arange(len(known)), np.diff(table.matrix.indptr)), table.matrix.indices] = True
    return known


def refuse(method: str) -> None:
    """Refuse a method that needs a dense table.

    Raises
    ------
    InputError
    """
    msg = (
        f"{method} is not there for a model of a sparse table; predict_top, predict, predict_proba, "
        "transform and complete are, or fit a dense table"
    )
    raise InputError(msg)
