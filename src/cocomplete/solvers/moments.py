"""Posterior moments of every cell, and the observed cells as one pattern."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.kernels import gaussians, weighted_sums
from cocomplete.problem.cells import Cells
from cocomplete.solvers.places import Places

CHUNK = 4_000_000
"""Numbers of row moments held at once where a whole table is predicted."""


@dataclass(frozen=True, eq=False)
class Moments:
    """Mean and variance of t_ij = o_j + u_i · v_j, on the solvers' scale.

    Attributes
    ----------
    mean, variance : ndarray, one number per cell
    noise : ndarray of shape (n_features,)
        Variance of each feature around its t.
    averaged : bool
        Whether a label's probability is an average over t, or taken at t's mean.
    """

    mean: FloatArray
    variance: FloatArray
    noise: FloatArray
    averaged: bool

    @property
    def score(self) -> FloatArray:
        """Log-odds of every cell: E[σ(t)] turned back by MacKay's approximation, or t itself."""
        return log_odds(self.mean, self.variance, averaged=self.averaged)


def log_odds(mean: FloatArray, variance: FloatArray, *, averaged: bool) -> FloatArray:
    """Give the log-odds of E[σ(t)] by MacKay's approximation, or t's mean itself."""
    return np.asarray(mean / np.sqrt(1 + np.pi / 8 * variance)) if averaged else mean


@dataclass(frozen=True, eq=False)
class Pattern:
    """Ω as one pattern, features and labels together, by rows and by columns.

    Attributes
    ----------
    start, column : CSR pattern
    value : ndarray
        What was observed, by rows.
    labels : ndarray of bool
        Which cells are under logistic loss.
    shape : tuple of int
        Of the table: (n_samples, m).
    n_features : int
    """

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    value: FloatArray
    labels: BoolArray
    shape: tuple[int, int]
    n_features: int

    @classmethod
    def of(cls, cells: Cells) -> "Pattern":
        """Merge the two patterns of some cells."""
        counts = cells.x_value.size, cells.y_value.size
        # Ranks instead of values, because stored zeros must not be dropped.
        ranks = np.arange(1.0, sum(counts) + 1)
        merged = sparse.hstack(cells.matrices(ranks[: counts[0]], ranks[counts[0] :]), format="csr")
        value = np.concatenate((cells.x_value, cells.y_value)).astype(np.float64)
        column = merged.indices.astype(np.int32)
        return cls(
            merged.indptr.astype(np.int64),
            column,
            value[merged.data.astype(np.int64) - 1],
            column >= cells.n_features,
            cells.shape,
            cells.n_features,
        )

    @cached_property
    def flipped(self) -> "ColumnPattern":
        """The same cells column by column."""
        return ColumnPattern.of(self)

    @cached_property
    def _places(self) -> Places:
        return Places.of(self.start, self.column, self.shape[1])

    def row_sums(
        self, weight: FloatArray, linear: FloatArray, mean: FloatArray, second: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Add up each row's cells: Σ weight E[v_j v_jᵀ], packed, and Σ linear E[v_j].

        Parameters
        ----------
        weight, linear : ndarray, one number per cell
            A cell's log-likelihood is linear t − ½ weight t² of its t = u_i · v_j.
        mean, second : ndarray of shape (m, k) and (m, k(k+1)/2)
        """
        if not self._places.dense:
            return _sums(self.start, self.column, weight, linear, mean, second)
        matrix = self._places.matrix
        return matrix(weight) @ second, matrix(linear) @ mean

    def column_sums(
        self, weight: FloatArray, linear: FloatArray, mean: FloatArray, second: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Add up each column's cells likewise, over E[u_i u_iᵀ] and E[u_i]."""
        if not self._places.dense:
            by, order = self.flipped, self.flipped.order
            return _sums(by.start, by.row, weight[order], linear[order], mean, second)
        # In this order BLAS shares the work between threads; in the other they wait for each other.
        matrix = self._places.matrix
        sums = (second.T @ matrix(weight)).T, (mean.T @ matrix(linear)).T
        return np.ascontiguousarray(sums[0]), np.ascontiguousarray(sums[1])

    def row_posteriors(
        self,
        weight: FloatArray,
        linear: FloatArray,
        mean: FloatArray,
        second: FloatArray,
        precision: FloatArray,
        *,
        offsets: bool = True,
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """First and packed second moments of every u_i, given those of every v_j, and log |precision|.

        Parameters
        ----------
        weight, linear, mean, second : ndarray
            As for :meth:`row_sums`.
        precision : ndarray of shape (n_samples, k)
            Of u_i's prior.
        offsets : bool, default=True
            Whether u_i's first coordinate is 1, the partner of an offset.
        """
        H, g = self.row_sums(weight, linear, mean, second)
        return g, H, normal_posteriors(H, g, precision, int(offsets))


@dataclass(frozen=True, eq=False)
class ColumnPattern:
    """A pattern column by column.

    Attributes
    ----------
    start, row : CSC pattern
    order : ndarray of int
        Brings what is stored by rows into the order by columns.
    """

    start: NDArray[np.int64]
    row: NDArray[np.int32]
    order: NDArray[np.int64]

    @classmethod
    def of(cls, pattern: Pattern) -> "ColumnPattern":
        """Transpose a pattern."""
        # Ranks instead of values, because stored zeros must not be dropped.
        ranks = np.arange(1.0, pattern.value.size + 1)
        flipped = sparse.csr_array((ranks, pattern.column, pattern.start), shape=pattern.shape).tocsc()
        return cls(
            flipped.indptr.astype(np.int64),
            flipped.indices.astype(np.int32),
            flipped.data.astype(np.int64) - 1,
        )


def normal_posteriors(H: FloatArray, g: FloatArray, precision: FloatArray, fixed: int) -> FloatArray:
    """Turn sums into posterior moments, in place; log |precision| of each is given.

    Parameters
    ----------
    H, g : ndarray
        As :meth:`Pattern.row_sums` gives them; on return packed second moments and means.
    precision : ndarray, shape of ``g``
        Of the prior.
    fixed : int
        1 if the first coordinate is known to be 1, else 0.
    """
    log_det = np.empty(len(g))
    gaussians(H, g, precision, fixed, log_det)
    return log_det


def _sums(
    start: NDArray[np.int64],
    partner: NDArray[np.int32],
    weight: FloatArray,
    linear: FloatArray,
    mean: FloatArray,
    second: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    n = len(start) - 1
    H, g = np.empty((n, second.shape[1])), np.empty((n, mean.shape[1]))
    weighted_sums(start, partner, weight, linear, mean, second, H, g)
    return H, g
