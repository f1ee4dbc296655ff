"""A fitted model of a sparse table: any rows' features and labels, some rows at a time."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.engines.row_blocks import InProcess, row_bounds
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.sparse_encoding import SparseEncoding
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.solvers.own_features import OwnFeatures
from cocomplete.solvers.sparse_rows import Columns
from cocomplete.table.sparse_matrix import SparseMatrix

PANEL_NUMBERS = 4_000_000
"""Cells of a panel of rows that is worked out at a time."""


class TopLabels(NamedTuple):
    """The most probable labels of some rows.

    Attributes
    ----------
    indices : ndarray of int, shape (n_samples, k)
        Columns of y, the most probable first.
    probabilities : ndarray of shape (n_samples, k)
    """

    indices: NDArray[np.intp]
    probabilities: FloatArray


@dataclass(frozen=True, eq=False)
class SparseModel(FieldsAlone):
    """A minimiser of F on a sparse table.

    Attributes
    ----------
    encoding : SparseEncoding
    columns : Columns
    low, high : ndarray of shape (n_features,)
        Ends between which filled features are kept.
    label_interface : {"array", "matrix"} or None
        SciPy's interface that labels came in; None if they were dense.
    own : OwnFeatures or None
        What answers for labels of rows of which features alone are known; None if the minimiser does.
    """

    encoding: SparseEncoding
    columns: Columns
    low: FloatArray
    high: FloatArray
    label_interface: str | None
    own: OwnFeatures | None = None

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return len(self.encoding.scale.center)

    @property
    def n_labels(self) -> int:
        """Number of labels, l."""
        return len(self.encoding.varied)

    def rows(self, table: SparseTable) -> FloatArray:
        """Give left factors of any rows, by what is known of them."""
        return self.columns.rows(self.encoding.apply(table))

    def log_odds(self, U: FloatArray) -> FloatArray:
        """Give the minimiser's log-odds of all labels of some rows, from their left factors."""
        d = self.n_features
        return self._widened(U @ self.columns.V[d:].T + self.columns.offsets[d:])

    def log_odds_by_features(self, X: SparseTable) -> FloatArray:
        """Give log-odds of all labels of rows of which features alone are known."""
        U = self.rows(X)
        return self.log_odds(U) if self.own is None else self._widened(self.own.log_odds(X.X, U))

    def _widened(self, z: FloatArray) -> FloatArray:
        """Put labels that do not vary in their places."""
        varied = self.encoding.varied
        if varied.all():
            return np.asarray(z)
        whole = np.tile(self.encoding.log_odds.astype(z.dtype), (len(z), 1))
        whole[:, varied] = z
        return whole

    def features(self, U: FloatArray) -> FloatArray:
        """Give all features of some rows in the user's units, from their left factors."""
        d = self.n_features
        standard = U @ self.columns.V[:d].T + self.columns.offsets[:d]
        return np.clip(self.encoding.scale.restore(standard), self.low, self.high)

    def feature_cells(
        self, U: FloatArray, row: NDArray[np.integer], column: NDArray[np.integer]
    ) -> FloatArray:
        """Give features in some cells in the user's units."""
        columns, scale = self.columns, self.encoding.scale
        standard = np.einsum("qr,qr->q", U[row], columns.V[column]) + columns.offsets[column]
        values: FloatArray = standard * scale.scale[column] + scale.center[column]
        return np.clip(values, self.low[column], self.high[column])

    def panels(self, table: SparseTable) -> Iterator[tuple[slice, FloatArray]]:
        """Give log-odds of all labels of rows without known ones, some rows at a time."""
        bounds = row_bounds(table.n_samples, max(self.n_labels, 1), PANEL_NUMBERS)

        def of_rows(each: tuple[int, int]) -> tuple[slice, FloatArray]:
            return slice(*each), self.log_odds_by_features(table.rows(*each))

        yield from InProcess.visit(bounds, of_rows)

    def top(self, table: SparseTable, k: int) -> TopLabels:
        """Find the most probable labels of any rows without keeping the others."""
        k = min(k, self.n_labels)
        indices = np.empty((table.n_samples, k), np.intp)
        best = np.empty((table.n_samples, k), self.columns.V.dtype)
        for rows, z in self.panels(table):
            indices[rows] = top_of(z, k)
            best[rows] = np.take_along_axis(z, indices[rows], axis=1)
        return TopLabels(indices, expit(best))


def top_of(z: FloatArray, k: int) -> NDArray[np.intp]:
    """Columns of the k largest numbers of every row, the largest first; of equal ones, the first first."""
    if k < z.shape[1]:
        least = -np.partition(-z, k - 1, axis=1)[:, k - 1 : k] if k else z[:, :0]
        # Those above the k-th are in; those equal to it fill up in their order.
        above, equal = z > least, z == least
        room = k - above.sum(axis=1, keepdims=True)
        inside = above | (equal & (np.cumsum(equal, axis=1) <= room)) if k else np.zeros(z.shape, bool)
        found = np.nonzero(inside)[1].reshape(len(z), k)
    else:
        found = np.tile(np.arange(z.shape[1]), (len(z), 1))
    order = np.argsort(-np.take_along_axis(z, found, axis=1), axis=1, kind="stable")
    return np.take_along_axis(found, order, axis=1)


def reach(X: SparseMatrix, *, clip: bool) -> tuple[FloatArray, FloatArray]:
    """Give the ends that filled features are kept between: those of the observed range, if any."""
    m = X.shape[1]
    largest = np.finfo(X.matrix.dtype).max
    if not clip:
        return np.full(m, -largest), np.full(m, largest)
    known = ~np.isnan(X.matrix.data)
    values, column = X.matrix.data[known], X.matrix.indices[known]
    low, high = np.full(m, np.inf), np.full(m, -np.inf)
    np.minimum.at(low, column, values)
    np.maximum.at(high, column, values)
    absent = X.known_counts() > np.bincount(column, minlength=m) if X.zeros else np.zeros(m, bool)
    low, high = np.where(absent, np.minimum(low, 0), low), np.where(absent, np.maximum(high, 0), high)
    # A column of which nothing is known has no range.
    return np.where(np.isinf(low), -largest, low), np.where(np.isinf(high), largest, high)
