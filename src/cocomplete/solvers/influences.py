"""What every observed cell of a row adds to the posterior mean of its factors: exact, by the row step.

Given its sites, u_i is normal and its mean linear in the row's cells: P⁻¹ Σ_j a_j, with P its precision and
a_j = (what cell j pulls by) E[v_j] − (its weight) E[v_j0 v_j]. So every t_iq = o_q + v_q · u_i is a sum with
one term for each cell.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.solvers.packed import unpack, weights
from cocomplete.solvers.posterior import FactorPosterior
from cocomplete.solvers.row_block import Rows


@dataclass(frozen=True, eq=False)
class Influences:
    """Terms of the posterior means of some rows' factors.

    Attributes
    ----------
    start : ndarray of int, shape (n_samples + 1,)
        Where each row's cells begin.
    column : ndarray of int, shape (n_cells,)
        The solvers' columns of the observed cells.
    moves : ndarray of shape (n_cells, k)
        What each adds to the mean of its row's factors.
    rows : Rows
        Moments of the factors; the terms add up to the means.
    posterior : FactorPosterior
    """

    start: NDArray[np.int64]
    column: NDArray[np.int32]
    moves: FloatArray
    rows: Rows
    posterior: FactorPosterior

    @classmethod
    def of(cls, posterior: FactorPosterior, cells: Cells) -> "Influences":
        """Work them out for rows with these observed cells."""
        rows, block = posterior.settled(cells)
        width = posterior.V.shape[1]
        U = rows.U[:, 1:]
        covariance = unpack(rows.second, width)[:, 1:, 1:] - U[:, :, None] * U[:, None, :]
        pattern = block.pattern
        column = pattern.column
        scale = np.ones(len(posterior.V))
        scale[: posterior.noise.size] = 1 / posterior.noise
        # The first row of a packed triangle is E[v₀²], and each other one begins with E[v₀ v_c].
        with_offset = posterior.second[:, np.arange(1, width).cumsum()]
        pulls = scale[column, None] * (
            block.linear[:, None] * posterior.V[column, 1:] - block.weight[:, None] * with_offset[column]
        )
        for i, (first, last) in enumerate(pairwise(pattern.start)):
            pulls[first:last] = pulls[first:last] @ covariance[i]
        return cls(pattern.start, column, pulls, rows, posterior)

    def terms(self, row: int, target: int) -> tuple[NDArray[np.int32], FloatArray, float]:
        """Give the observed columns of a row, what each adds to t of one cell, and where that t starts."""
        own = slice(int(self.start[row]), int(self.start[row + 1]))
        V = self.posterior.V[target]
        return self.column[own], self.moves[own] @ V[1:], float(self.posterior.base[target] + V[0])

    def variance(self, row: int, target: int) -> float:
        """Give the posterior variance of t of one cell."""
        posterior = self.posterior
        doubled = posterior.second[target] * weights(posterior.V.shape[1])
        t = self.rows.U[row] @ posterior.V[target]
        return max(float(self.rows.second[row] @ doubled - t**2), 0.0)
