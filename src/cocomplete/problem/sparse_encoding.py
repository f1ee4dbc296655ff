"""From a sparse table to the columns that the solvers see; centring and scaling stay implicit.

A feature that is not stored but observed as 0 has the same value in every row on the solvers' scale, its
background b = −c/s. What is stored differs from it by r = x/s: only these differences are kept.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.cells import Cells
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.problem.standardize import Standardization
from cocomplete.table.sparse_matrix import SparseMatrix

NUMBERS_AT_ONCE = 4_000_000
"""Numbers of columns that are made dense together, for their medians."""


@dataclass(frozen=True, eq=False)
class Background:
    """Features of which every cell is observed but those that are listed.

    Attributes
    ----------
    base : ndarray of shape (n_features,)
        What a cell that is not stored has.
    above : csr_array of shape (n_samples, n_features)
        What the others have beyond it.
    unknown : csr_array of shape (n_samples, n_features)
        1 in the cells that are not known.
    """

    base: FloatArray
    above: sparse.csr_array
    unknown: sparse.csr_array

    def take(self, rows: object) -> "Background":
        """Give some rows: a slice, or their numbers."""
        return Background(self.base, self.above[rows], self.unknown[rows])


@dataclass(frozen=True, eq=False)
class SparseCells:
    """A sparse table on the solvers' scale.

    Attributes
    ----------
    explicit : Cells
        The observed cells of tables in which a cell that is not stored is unknown.
    features : Background or None
        Features, where a cell that is not stored is an observed 0.
    labels : csr_array of shape (n_samples, n_labels) or None
        Labels likewise; NaN is unknown.
    """

    explicit: Cells
    features: Background | None
    labels: sparse.csr_array | None

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of M."""
        return self.explicit.shape

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.explicit.n_features

    def take(self, rows: NDArray[np.intp]) -> "SparseCells":
        """Give some rows."""
        return SparseCells(
            self.explicit.take(rows),
            None if self.features is None else self.features.take(rows),
            None if self.labels is None else self.labels[rows],
        )

    def astype(self, dtype: type) -> "SparseCells":
        """Give the same in another precision."""
        cells, features = self.explicit, self.features
        if features is not None:
            features = Background(
                *(part.astype(dtype) for part in (features.base, features.above, features.unknown))
            )
        return SparseCells(
            replace(cells, x_value=cells.x_value.astype(dtype), y_value=cells.y_value.astype(dtype)),
            features,
            None if self.labels is None else self.labels.astype(dtype),
        )


@dataclass(frozen=True, eq=False)
class SparseEncoding(FieldsAlone):
    """How a user's sparse table and the solvers' columns correspond.

    Attributes
    ----------
    scale : Standardization
        Of the features.
    log_odds : ndarray of shape (n_labels,)
        Shrunken log-odds of the observed rates, or 0.
    varied : ndarray of bool, shape (n_labels,)
        Labels that take part. One that is always 0, or always 1, has an offset and no more.
    """

    scale: Standardization
    log_odds: FloatArray
    varied: BoolArray

    @classmethod
    def of(cls, table: SparseTable, *, center: bool, scale: bool) -> "SparseEncoding":
        """Estimate the correspondence from the observed cells alone."""
        known, ones = table.Y.known_counts(), table.Y.sums(table.Y.matrix.data)
        log_odds = logit((ones + 0.5) / (known + 1))
        return cls(
            standardization(table.X, center=center, scale=scale),
            log_odds if center else np.zeros_like(log_odds),
            (ones > 0) & (ones < known) if center else np.ones(len(ones), bool),
        )

    @cached_property
    def offsets(self) -> FloatArray:
        """Where the solvers' columns start: 0 or log-odds."""
        return np.concatenate((np.zeros(len(self.scale.center)), self.log_odds[self.varied]))

    @cached_property
    def base(self) -> FloatArray:
        """What an observed 0 is on the solvers' scale, shape (n_features,)."""
        scale = self.scale
        at_zero = np.clip(0.0, scale.low, scale.high) - scale.center
        return np.asarray(at_zero / scale.scale, np.float64)

    def apply(self, table: SparseTable) -> SparseCells:
        """Give a table as the solvers see it."""
        (n, d), dtype = table.X.shape, table.X.matrix.dtype
        Y = table.Y.matrix if self.varied.all() else table.Y.matrix[:, self.varied]
        empty = sparse.csr_array((n, 0), dtype=dtype)
        x, y = (empty if table.X.zeros else table.X.matrix), (empty if table.Y.zeros else Y)
        values = self.standard(x.data, x.indices).astype(dtype)
        cells = Cells(
            x.indptr.astype(np.int64),
            x.indices.astype(np.int32),
            values,
            y.indptr.astype(np.int64),
            y.indices.astype(np.int32) + np.int32(d),
            y.data.astype(dtype, copy=False),
            (n, d + Y.shape[1]),
            d,
        )
        return SparseCells(
            cells, self._background(table.X) if table.X.zeros else None, Y if table.Y.zeros else None
        )

    def _background(self, X: SparseMatrix) -> Background:
        matrix, known = X.matrix, ~np.isnan(X.matrix.data)
        above = self.standard(matrix.data, matrix.indices) - self.base[matrix.indices]
        parts = []
        for values, kept in ((above, known), (np.ones_like(above), ~known)):
            start = np.concatenate(([0], np.cumsum(kept)))[matrix.indptr]
            cells = (values[kept].astype(matrix.dtype), matrix.indices[kept], start)
            parts.append(sparse.csr_array(cells, shape=matrix.shape))
        return Background(self.base.astype(matrix.dtype), *parts)

    def standard(self, values: FloatArray, column: NDArray[np.int32]) -> FloatArray:
        """Standardise stored numbers of these columns."""
        scale = self.scale
        inside = np.clip(values, scale.low[column], scale.high[column])
        return np.asarray((inside.astype(np.float64) - scale.center[column]) / scale.scale[column])


def standardization(X: SparseMatrix, *, center: bool, scale: bool) -> Standardization:
    """Do as :meth:`Standardization.of`, to the same numbers, without making a table dense.

    A column of which more than half is 0 has no robust deviation, so that its moments say all. The others,
    and the columns of a table whose absent cells are unknown, are looked at a few at a time.
    """
    n, m = X.shape
    dtype = X.matrix.dtype
    found = np.empty((4, m), dtype)
    known, stored = X.known_counts(), np.bincount(X.matrix.indices, minlength=m)
    by_moments = (2 * (known - stored) > known) if X.zeros else np.zeros(m, bool)
    if by_moments.any():
        mean = X.sums(X.matrix.data.astype(np.float64)) / np.maximum(known, 1)
        squares = X.sums((X.matrix.data - mean[X.matrix.indices]) ** 2)
        squares += (known - np.bincount(X.matrix.indices[~np.isnan(X.matrix.data)], minlength=m)) * mean**2
        spread = np.sqrt(squares / np.maximum(known - 1, 1))
        limits = np.full(m, -np.inf), np.full(m, np.inf)
        whole = Standardization.from_moments(mean, spread, limits, dtype, center=center, scale=scale)
        found[:] = whole.center, whole.scale, whole.low, whole.high
    rest = np.flatnonzero(~by_moments)
    by_column = X.matrix[:, rest].tocsc() if rest.size else None
    height = np.full(m, n) if X.zeros else np.maximum(stored, 1)
    # Columns of about the same length together, so that little of what is made dense is padding.
    rest_order = np.argsort(height[rest], kind="stable")
    while rest_order.size:
        assert by_column is not None
        count = int(
            np.searchsorted(np.arange(1, rest_order.size + 1) * height[rest][rest_order], NUMBERS_AT_ONCE)
        )
        some, rest_order = np.split(rest_order, [max(count, 1)])
        block = _dense_columns(by_column, some, zeros=X.zeros)
        own = Standardization.of(block, center=center, scale=scale)
        found[:, rest[some]] = own.center, own.scale, own.low, own.high
    return Standardization(*found)


def _dense_columns(matrix: sparse.csc_array, some: NDArray[np.intp], *, zeros: bool) -> FloatArray:
    """Give some columns with their zeros, or else their stored cells alone, NaN below them."""
    part = matrix[:, some]
    if zeros:
        return np.asarray(part.toarray())
    count = np.diff(part.indptr)
    block = np.full((max(int(count.max(initial=0)), 1), len(some)), np.nan, matrix.dtype)
    place = np.arange(part.data.size) - np.repeat(part.indptr[:-1], count)
    block[place, np.repeat(np.arange(len(some)), count)] = part.data
    return block
