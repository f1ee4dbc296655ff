"""The minimiser of F (the MAP estimate) for new rows, and a posterior variance of every cell.

A new row keeps V and the offsets and minimises its own share of F: one row step. The curvature of that share
is the inverse of the row's posterior covariance (Laplace's approximation).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.engines.row_blocks import InProcess, row_bounds
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.cells import Cells, Part
from cocomplete.problem.objective import Objective
from cocomplete.solvers.factored_losses import PADDING
from cocomplete.solvers.loss_block import LossBlock, RowStep
from cocomplete.solvers.moments import CHUNK, Moments, Pattern
from cocomplete.solvers.packed import pack, unpack, weights
from cocomplete.solvers.solution import Solution

STEPS = (50, 200)
"""Newton steps for a new row, and conjugate-gradient steps in each; a few are enough as a rule."""

DECREMENT = 1e-12
"""A new row is done when a Newton step would gain less."""

CONSTRAINT = 1e3
"""Weight of a new row's features, in units of λ1, where the fit meets observed features exactly."""

OUTWEIGHS = 1e10
"""How many times as much as λ1 a cell may weigh in its row's curvature."""


@dataclass(frozen=True, eq=False)
class Mode(FieldsAlone):
    """A minimiser of F, ready for new rows.

    Attributes
    ----------
    V : ndarray of shape (m, k)
        Right factor, √s included.
    offsets : ndarray of shape (m,)
    ridge : float
        λ1.
    rho : float
        2w, or the weight that stands for a constraint.
    cells : Cells
        Those of the fit; the noise is estimated on them.
    """

    V: FloatArray
    offsets: FloatArray
    ridge: float
    rho: float
    cells: Cells

    @classmethod
    def of(cls, objective: Objective, solution: Solution, cells: Cells) -> "Mode":
        """Prepare a solution for new rows."""
        V = solution.M.Vt.T * np.sqrt(solution.M.s)
        exact = objective.regime == "interpolation"
        rho = CONSTRAINT * objective.rank_penalty if exact else 2 * objective.feature_weight
        return cls(V, solution.offsets, objective.rank_penalty, rho, cells)

    def predict(self, cells: Cells, *, variance: bool = True) -> Moments:
        """Give the value of every cell of rows with these observed cells, and on request its variance."""
        n, m = cells.shape
        mean = np.empty((n, m), self.V.dtype)
        spread = np.zeros((n, m), self.V.dtype)
        second = self._outer * weights(self.V.shape[1])

        def of_rows(bounds: tuple[int, int]) -> None:
            part, some = slice(*bounds), cells.rows(*bounds)
            U = self.rows(some)
            np.matmul(U, self.V.T, out=mean[part])
            mean[part] += self.offsets
            if variance and self.V.shape[1]:
                spread[part] = self._covariance(some, U) @ second.T

        InProcess.each(row_bounds(n, self.V.shape[1] ** 2, CHUNK), of_rows)
        return self._moments(mean, np.maximum(spread, 0, out=spread), variance=variance)

    def at(self, M: FloatArray, cells: Cells, *, variance: bool = True) -> Moments:
        """Take the fit's own values for its rows; only the variance is worked out."""
        spread = self.predict(cells).variance if variance else np.zeros_like(M)
        return self._moments(M + self.offsets, spread, variance=variance)

    def _moments(self, mean: FloatArray, spread: FloatArray, *, variance: bool) -> Moments:
        noise = self.noise if variance else np.zeros(self.cells.n_features)
        return Moments(mean, spread, noise, averaged=False)

    def draw(self, cells: Cells, rng: np.random.Generator) -> FloatArray:
        """Draw one t for every cell: rows from their normal approximation, V as it is."""
        U = self.rows(cells)
        if self.V.shape[1]:
            values, vectors = np.linalg.eigh(unpack(self._covariance(cells, U), U.shape[1]))
            noise = rng.standard_normal(U.shape) * np.sqrt(np.maximum(values, 0))
            U = U + np.einsum("nrc,nc->nr", vectors, noise)
        return np.asarray(U @ self.V.T + self.offsets)

    @cached_property
    def _outer(self) -> FloatArray:
        V = self.V.astype(np.float64, copy=False)
        return pack(V[:, :, None] * V[:, None, :])

    def rows(self, cells: Cells, steps: tuple[int, int] = STEPS, decrement: float = DECREMENT) -> FloatArray:
        """Minimise over every row, given V, until a step would gain less than ``decrement``."""
        n, m = cells.shape
        k = self.V.shape[1]
        width = -(-(k + 1) // PADDING) * PADDING
        U, V = np.zeros((n, width)), np.zeros((m, width))
        U[:, 0] = 1
        V[:, 0] = self.offsets
        V[:, 1 : k + 1] = self.V
        how = RowStep(self.rho, self.ridge, decrement, steps)
        LossBlock(Part.whole(cells)).row_step(U, V, np.empty(0, V.dtype), how)
        return U[:, 1 : k + 1].astype(cells.x_value.dtype, copy=False)

    def _covariance(self, cells: Cells, U: FloatArray) -> FloatArray:
        """Inverse curvature of every row's share of F at its minimum, packed."""
        pattern = Pattern.of(cells)
        row = np.repeat(np.arange(len(U)), np.diff(pattern.start))
        t = np.einsum("qr,qr->q", U[row], self.V[pattern.column]) + self.offsets[pattern.column]
        # σ' = ¼ sech²(t/2), which neither overflows nor loses its small end.
        curvature = 0.25 / np.cosh(np.clip(t, -60, 60) / 2) ** 2
        weight = np.where(pattern.labels, curvature, self.rho).astype(np.float64)
        # A cell that outweighs λ1 by more leaves its direction no variance, and the matrix no inverse.
        length = np.maximum(
            np.einsum("mr,mr->m", self.V, self.V, dtype=np.float64), np.finfo(np.float64).tiny
        )
        with np.errstate(over="ignore"):
            weight = np.minimum(weight, OUTWEIGHS * float(self.ridge) / length[pattern.column])
        _, second, _ = pattern.row_posteriors(
            weight,
            np.zeros_like(weight),
            self.V.astype(np.float64, copy=False),
            self._outer,
            np.full(U.shape, float(self.ridge)),
            offsets=False,
        )
        return second

    @cached_property
    def noise(self) -> FloatArray:
        """Variance of each feature around the model, shape (n_features,).

        The mean square of its residuals, had each observed cell been left out of its row's fit. Worked out
        when first asked for: with the many directions of an unfinished fit it costs more than the fit.
        """
        cells = self.cells
        d, k = cells.n_features, self.V.shape[1]
        total, count = np.zeros(d), np.bincount(cells.x_column, minlength=d)
        twice = self._outer * weights(k)

        def of_rows(bounds: tuple[int, int]) -> FloatArray:
            some = cells.rows(*bounds)
            U = self.rows(some)
            row = np.repeat(np.arange(len(U)), np.diff(some.x_start))
            V = self.V[some.x_column]
            residual = some.x_value - np.einsum("qr,qr->q", U[row], V) - self.offsets[some.x_column]
            if k:
                spread = np.einsum("qp,qp->q", self._covariance(some, U)[row], twice[some.x_column])
                # The leverage: how far the cell pulls its own prediction.
                residual = residual / (1 - np.minimum(self.rho * spread, 0.99))
            return np.bincount(some.x_column, residual**2, d).astype(np.float64)

        # Every observed cell has a covariance of its own here.
        width = k**2 * max(1, cells.x_value.size // max(cells.shape[0], 1))
        for squares in InProcess.visit(row_bounds(cells.shape[0], width, CHUNK), of_rows):
            total += squares
        pooled = total.sum() / max(int(count.sum()), 1)
        noise: FloatArray = (total + pooled) / (count + 1)
        return noise
