"""Tables of which only some cells are stored: SciPy's sparse matrices and arrays."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError

RULES = ("zero", "unknown")
"""What a cell that is not stored may mean."""


def is_sparse(data: Any) -> bool:
    """Whether this is one of SciPy's sparse matrices or arrays."""
    return bool(sparse.issparse(data))


@dataclass(frozen=True, eq=False)
class SparseMatrix:
    """A table by its stored cells.

    Attributes
    ----------
    matrix : csr_array of shape (n_rows, n_columns)
        float64, or float32 if that is what came in; rows in the order of their columns, no cell twice. NaN is
        unknown.
    zeros : bool
        Whether cells that are not stored are observed zeros; otherwise they are unknown, and no NaN is.
    """

    matrix: sparse.csr_array
    zeros: bool

    @classmethod
    def read(cls, data: Any, argument: str, rule: str) -> "SparseMatrix":
        """Read a sparse matrix or array of any format, without making it dense.

        Parameters
        ----------
        data : scipy.sparse matrix or array
        argument : str
            What the caller calls it; error messages begin with it.
        rule : {"zero", "unknown"}
            What cells mean that are not stored.

        Raises
        ------
        InputError
            If it has other than two dimensions, or holds no real numbers.
        """
        if data.ndim != 2:
            msg = f"{argument} is a sparse array of {data.ndim} dimension(s); reshape it to two"
            raise InputError(msg)
        if data.dtype.kind not in "fiub":
            # scikit-learn's own checks look for these words.
            words = "complex numbers. Complex data not supported" if data.dtype.kind == "c" else "no numbers"
            msg = f"{argument} is a sparse matrix that holds {words}; pass real numbers"
            raise InputError(msg)
        dtype = np.float32 if data.dtype in (np.float32, np.float16) else np.float64
        # A copy: what is done to it is not done to the user's.
        matrix = sparse.csr_array(data.tocsr(copy=True)).astype(dtype)
        matrix.sum_duplicates()
        if rule == "zero":
            matrix.eliminate_zeros()
        # Loops are compiled for one type of places.
        index = np.int32 if max(matrix.nnz, *matrix.shape) <= np.iinfo(np.int32).max else np.int64
        matrix.indices, matrix.indptr = matrix.indices.astype(index), matrix.indptr.astype(index)
        if rule == "unknown" and np.isnan(matrix.data).any():
            return cls(_without(matrix, np.isnan(matrix.data)), zeros=False)
        return cls(matrix, zeros=rule == "zero")

    @classmethod
    def dense(cls, values: FloatArray) -> "SparseMatrix":
        """Take a dense table, NaN where unknown: its known cells are stored, the others are unknown."""
        known = ~np.isnan(values)
        start = np.concatenate(([0], np.cumsum(known.sum(axis=1))))
        column = np.broadcast_to(np.arange(values.shape[1], dtype=np.int32), values.shape)[known]
        return cls(sparse.csr_array((values[known], column, start), shape=values.shape), zeros=False)

    @classmethod
    def nothing(cls, n_rows: int, n_columns: int, dtype: np.dtype[np.floating]) -> "SparseMatrix":
        """Give a table of which nothing is known."""
        return cls(sparse.csr_array((n_rows, n_columns), dtype=dtype), zeros=False)

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        n, m = self.matrix.shape
        return int(n), int(m)

    @property
    def unknown(self) -> bool:
        """Whether a NaN is stored."""
        return bool(np.isnan(self.matrix.data).any())

    def known_counts(self) -> FloatArray:
        """Known cells of every column."""
        n, m = self.shape
        known = ~np.isnan(self.matrix.data)
        stored = np.bincount(self.matrix.indices[known], minlength=m)
        hidden = np.bincount(self.matrix.indices[~known], minlength=m)
        return np.asarray(n - hidden if self.zeros else stored, np.float64)

    def sums(self, values: FloatArray) -> FloatArray:
        """Add up numbers, one for every stored cell, over the columns; NaN do not count."""
        return np.bincount(self.matrix.indices, np.nan_to_num(values), self.shape[1]).astype(np.float64)

    def rows(self, first: int, last: int) -> "SparseMatrix":
        """Give some consecutive rows."""
        return SparseMatrix(self.matrix[first:last], self.zeros)

    def take(self, rows: Any) -> "SparseMatrix":
        """Give some rows."""
        return SparseMatrix(self.matrix[rows], self.zeros)


def _without(matrix: sparse.csr_array, gone: Any) -> sparse.csr_array:
    """Leave out some of the stored cells."""
    before = np.concatenate(([0], np.cumsum(~gone)))
    return sparse.csr_array(
        (matrix.data[~gone], matrix.indices[~gone], before[matrix.indptr]), shape=matrix.shape
    )
