"""The posterior of a table's factors, and its predictive moments of any rows."""

from dataclasses import dataclass
from functools import reduce

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.engines.row_blocks import InProcess, row_bounds
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.cells import Cells
from cocomplete.solvers.moments import CHUNK, Moments
from cocomplete.solvers.packed import diagonals, unpack, weights
from cocomplete.solvers.row_block import Columns, RowBlock, Rows, Sites

QUICK_SWEEPS, ROW_SWEEPS, ROW_TOL = 8, 40, 1e-6
"""Updates of the labels' sites of rows that are predicted, all of the way; most updates of those that have
not settled by then, at a slower pace; and the change of a row's labels' means at which it has."""

START_TOL = 0.01
"""The like of rows that sweeps are to follow for: with 1e-6 it takes twice as long, to the same bounds."""

PACE = 0.7
"""Share of the way that a label's site moves per update, where it must not overshoot."""


@dataclass(frozen=True, eq=False)
class FactorPosterior(FieldsAlone):
    """The distribution of V and the offsets; all that new rows need.

    Attributes
    ----------
    base : ndarray of shape (m,)
        Offsets that the first coordinate of V counts from.
    V : ndarray of shape (m, k + 1)
        Means; column 0 holds the offsets, less ``base``.
    second : ndarray of shape (m, (k + 1)(k + 2) / 2)
        E[v_j v_jᵀ], packed: the lower triangle, row after row.
    noise : ndarray of shape (n_numbers,)
        Variance of each number around t_ij.
    precision : ndarray of shape (2, k)
        Prior precision of every factor, for numbers and for 0/1 columns.
    bounds : tuple of float
        The evidence lower bound after every sweep that was kept since precisions are updated.
    n_iter : int
        Sweeps done.
    converged : bool
        Whether the bound stood still.
    interrupted : bool
        Whether Ctrl-C ended the sweeps.
    """

    base: FloatArray
    V: FloatArray
    second: FloatArray
    noise: FloatArray
    precision: FloatArray
    bounds: tuple[float, ...]
    n_iter: int
    converged: bool
    interrupted: bool = False

    @property
    def rank(self) -> int:
        """Number of factors that the bound has kept."""
        return int(self.V.shape[1]) - 1

    @property
    def factor_variance(self) -> FloatArray:
        """Variance over all rows that each column has from its factors."""
        return np.asarray(diagonals(self.second, self.V.shape[1])[:, 1:].sum(axis=1))

    @property
    def columns(self) -> Columns:
        """What a pass over rows needs to know."""
        return Columns(self.V, self.second, self.noise)

    def rows(self, cells: Cells) -> Rows:
        """Give the moments of u_i for rows with these cells, by the row step alone."""
        return self.settled(cells)[0]

    def settled(self, cells: Cells) -> tuple[Rows, RowBlock]:
        """Give the moments of u_i likewise, and the block with the sites that made them."""
        columns, block = self.columns, RowBlock(cells, self.base)
        rows, settled = block.settle(columns, 1.0, QUICK_SWEEPS, ROW_TOL)
        left = np.flatnonzero(~settled)
        if left.size:
            some = RowBlock(cells.take(left), self.base)
            slower, _ = some.settle(columns, PACE, ROW_SWEEPS, ROW_TOL)
            rows.U[left], rows.second[left] = slower
            own = np.repeat(~settled, np.diff(cells.y_start))
            for each, other in zip(sites := block.sites, some.sites, strict=True):
                each[own] = other
            block.place(sites)
        return rows, block

    def predict(self, cells: Cells, columns: BoolArray | slice = slice(None)) -> Moments:
        """Give mean and variance of every cell of rows with these observed cells, in all or some columns."""
        V, base = self.V[columns], self.base[columns]
        n, m = cells.shape[0], len(V)
        mean, variance = np.empty((n, m)), np.empty((n, m))
        second_v = self.second[columns] * weights(V.shape[1])

        def of_rows(bounds: tuple[int, int]) -> None:
            part = slice(*bounds)
            U, second = self.rows(cells.rows(*bounds))
            np.matmul(U, V.T, out=mean[part])
            np.matmul(second, second_v.T, out=variance[part])
            variance[part] -= mean[part] ** 2

        InProcess.each(row_bounds(n, max(second_v.shape[1], m), CHUNK), of_rows)
        mean += base
        return Moments(mean, np.maximum(variance, 0, out=variance), self.noise, averaged=True)

    def row_products(self, cells: Cells) -> FloatArray:
        """Σ E[u_i] E[u_i]ᵀ over rows with these observed cells, shape (k + 1, k + 1)."""

        def of_rows(bounds: tuple[int, int]) -> FloatArray:
            U = self.rows(cells.rows(*bounds)).U
            return np.asarray(U.T @ U)

        bounds = row_bounds(cells.shape[0], max(self.second.shape[1], cells.shape[1]), CHUNK)
        return reduce(np.add, InProcess.visit(bounds, of_rows))

    def draw(self, cells: Cells, rng: np.random.Generator) -> FloatArray:
        """Draw one t for every cell: rows and columns from their posteriors."""
        (n, m), width = cells.shape, self.V.shape[1]
        V = _drawn(self.V, self.second, rng.standard_normal(self.V.shape))
        # Drawn before the rows are shared out, so that the draw does not depend on how.
        noise, found = rng.standard_normal((n, width)), np.empty((n, m))

        def of_rows(bounds: tuple[int, int]) -> None:
            part = slice(*bounds)
            rows = self.rows(cells.rows(*bounds))
            np.matmul(_drawn(rows.U, rows.second, noise[part]), V.T, out=found[part])

        InProcess.each(row_bounds(n, max(width**2, m), CHUNK), of_rows)
        found += self.base
        return found


def begun(block: RowBlock, settled: FactorPosterior | None) -> tuple[Sites, tuple[FloatArray, FloatArray]]:
    """Give a block's first sites; counts of its numbers, and sums of their squares, by column."""
    if settled is None:
        return block.sites, block.census()
    start = RowBlock(block.cells, settled.base)
    start.settle(settled.columns, 1.0, QUICK_SWEEPS, START_TOL)
    return start.sites, block.census()


def _drawn(mean: FloatArray, second: FloatArray, noise: FloatArray) -> FloatArray:
    """One draw per row from normals with these moments, of standard normal noise; what is known stays."""
    cov = unpack(second, mean.shape[1]) - mean[:, :, None] * mean[:, None, :]
    values, vectors = np.linalg.eigh(cov)
    return np.asarray(mean + np.einsum("nrc,nc->nr", vectors, noise * np.sqrt(np.maximum(values, 0))))
