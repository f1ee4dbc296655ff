"""Where observed cells are in a table; products with whole matrices where these are quicker than loops."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.kernels import cell_moments
from cocomplete.solvers.packed import weights

DENSE = 0.1
"""Share of observed cells from which products with whole matrices are faster than loops over cells: BLAS does
about ten times as much in the same time."""


class Places(NamedTuple):
    """Where cells are in a table of some rows and columns.

    Attributes
    ----------
    start, column : CSR pattern
    shape : tuple of int
    flat : ndarray of int, or None
        Their places among all cells of the table, if working with all of them pays.
    """

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    shape: tuple[int, int]
    flat: NDArray[np.int64] | None

    @classmethod
    def of(cls, start: NDArray[np.int64], column: NDArray[np.int32], m: int) -> "Places":
        """Find them."""
        n = len(start) - 1
        flat = None
        if column.size >= DENSE * n * m:
            flat = np.repeat(np.arange(n) * m, np.diff(start)) + column
        return cls(start, column, (n, m), flat)

    @property
    def dense(self) -> bool:
        """Whether products with whole matrices are quicker."""
        return self.flat is not None

    def matrix(self, values: FloatArray) -> FloatArray | sparse.csr_array:
        """Make a matrix of one number per cell, zeros elsewhere; a whole one where products are quicker."""
        if self.flat is None:
            return sparse.csr_array((values, self.column, self.start), shape=self.shape)
        table: FloatArray = np.zeros(self.shape)
        table.ravel()[self.flat] = values
        return table

    def moments(
        self, U: FloatArray, second_u: FloatArray, V: FloatArray, second_v: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of every cell's t = u_i · v_j, by first and packed second moments of both."""
        doubled = second_v * weights(V.shape[1])
        if self.flat is not None:
            t = (U @ V.T).ravel()[self.flat]
            return t, np.maximum((second_u @ doubled.T).ravel()[self.flat] - t**2, 0)
        t, variance = np.empty(self.column.size), np.empty(self.column.size)
        cell_moments(self.start, self.column, U, second_u, np.ascontiguousarray(V), doubled, t, variance)
        return t, variance
