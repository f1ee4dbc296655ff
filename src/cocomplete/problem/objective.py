"""The paper's objective: what it is worth, and which way is down.

    F(M) =  Σ_{Ω_Y} [ log(1 + e^z) − y z ]         labels
          + w ‖P_ΩX(X̂ − X)‖_F²                     features
          + λ1 ‖M‖_* + λ2 ‖P_ΩX(X̂ − X)‖_*          trace norms

with M = [X̂, Z]. With offsets o, every loss sees T = M + 1oᵀ while the first trace norm sees M alone.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.special import expit, logit

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Threads
from cocomplete.engines.row_blocks import InProcess
from cocomplete.frozen import FieldsAlone
from cocomplete.kernels import blend, descend, slopes
from cocomplete.problem.cell_blocks import CellBlocks, ColumnCensus
from cocomplete.problem.cells import Cells, Part
from cocomplete.problem.observations import Observations
from cocomplete.spectral import DENSE_GRAM, LowRank, Pair, SparseSpectrum, polar, spectral_norm, trace_norm

Regime = Literal["smooth", "interpolation", "between"]
"""λ2 = 0; λ2 ≥ λ1, where the minimiser passes through every observed feature; or 0 < λ2 < λ1."""


@dataclass(frozen=True, eq=False)
class Objective(FieldsAlone):
    """The function F of an n × (d + l) matrix M.

    Attributes
    ----------
    observed : Observations, Cells or CellBlocks
        The data, Ω included. Of cells only what needs no whole matrix can be asked for.
    rank_penalty : float
        λ1, weight of the trace norm of M.
    residual_penalty : float
        λ2, weight of the trace norm of the feature residual.
    feature_weight : float
        w, weight of the squared feature residual.
    offsets : ndarray of shape (n_features + n_labels,)
        Added to every row of M before the losses.
    free_offsets : bool, default=False
        Whether the offsets are optimised together with M, unpenalised; then ``offsets`` is a start.
    """

    observed: Observations | Cells | CellBlocks
    rank_penalty: float
    residual_penalty: float
    feature_weight: float
    offsets: FloatArray
    free_offsets: bool = False

    @property
    def regime(self) -> Regime:
        """Which of the three problems this is, by λ2 against λ1."""
        if self.residual_penalty == 0 or not self._has_features:
            return "smooth"
        return "interpolation" if self.residual_penalty >= self.rank_penalty else "between"

    @cached_property
    def _has_features(self) -> bool:
        """Whether any feature is observed."""
        data = self.observed
        if isinstance(data, CellBlocks):
            return bool(self.census.counts[: data.n_features].any())
        return bool(data.x_value.size if isinstance(data, Cells) else data.X_known.any())

    @property
    def table(self) -> Observations:
        """The data as whole matrices, which solvers of dense problems need."""
        assert isinstance(self.observed, Observations)
        return self.observed

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of M."""
        data = self.observed
        if isinstance(data, Observations):
            return data.n_samples, data.n_features + data.n_labels
        return data.shape

    @property
    def dtype(self) -> np.dtype[np.floating]:
        """Float type of M."""
        data = self.observed
        if isinstance(data, CellBlocks):
            return data.dtype
        return data.x_value.dtype if isinstance(data, Cells) else data.X.dtype

    @cached_property
    def cells(self) -> Cells:
        """The observed cells alone."""
        assert not isinstance(self.observed, CellBlocks)
        return self.observed if isinstance(self.observed, Cells) else Cells.of(self.observed)

    @cached_property
    def blocks(self) -> CellBlocks:
        """The observed cells in row blocks, wherever these are."""
        if isinstance(self.observed, CellBlocks):
            return self.observed
        return CellBlocks.at(Threads(), [part.cells for part in self._parts])

    @cached_property
    def census(self) -> ColumnCensus:
        """How many cells of every column are observed, and what they add up to."""
        return self.blocks.census()

    @cached_property
    def _parts(self) -> list[Part]:
        return self.cells.parts()

    @cached_property
    def smoothness(self) -> float:
        """Lipschitz constant of the smooth part's gradient: max(2w, 1/4)."""
        has_labels = bool(self.cells.y_value.size)
        return max(2 * self.feature_weight, 0.25 if has_labels else 0.0)

    @cached_property
    def offsets_alone(self) -> FloatArray:
        """Best offsets where M = 0 and λ2 = 0: observed means and log-odds, if they are free."""
        if not self.free_offsets:
            return self.offsets
        d = self.observed.n_features
        best = self.offsets.astype(self.dtype, copy=True)
        count, total, _ = self.census
        seen, label = count > 0, np.arange(len(best)) >= d
        mean = np.divide(total, count, out=np.zeros_like(total), where=seen)
        best[seen & ~label], best[seen & label] = mean[seen & ~label], logit(mean[seen & label])
        return best

    def residual(self, T: FloatArray) -> FloatArray:
        """P_ΩX(X̂ − X), shape (n_samples, n_features), zero off Ω_X."""
        data = self.table
        return np.where(data.X_known, T[:, : data.n_features] - data.X, 0)

    def smooth(self, T: FloatArray, out: FloatArray | None = None) -> tuple[float, FloatArray]:
        """Value and gradient of the differentiable part, the paper's f.

        Parameters
        ----------
        T : ndarray of shape (n_samples, n_features + n_labels)
            The model's value in every cell, M + 1oᵀ.
        out : ndarray of the same shape, optional
            Where to write the gradient: one that was given out before, or zeros.

        Returns
        -------
        value : float
        gradient : ndarray of shape (n_samples, n_features + n_labels)
            Zero off Ω.
        """
        return self._slopes(T, 2 * self.feature_weight, out)

    def _slopes(self, T: FloatArray, weight: float, out: FloatArray | None) -> tuple[float, FloatArray]:
        """Do as :meth:`smooth`, but with ``weight`` times the residual in place of its slope."""
        gradient = np.zeros(self.shape, self.dtype) if out is None else out
        T = np.ascontiguousarray(T, self.dtype)

        def of_part(part: Part) -> tuple[float, float]:
            some = part.cells
            x = (some.x_start, some.x_column, some.x_value, float(weight))
            y = (some.y_start, some.y_column, some.y_value)
            result: tuple[float, float] = slopes(*x, *y, T[part.rows], gradient[part.rows])
            return result

        squares, log_loss = np.sum(list(InProcess.visit(self._parts, of_part)), axis=0)
        return float(self.feature_weight * squares + log_loss), gradient

    def loss(self, T: FloatArray, out: FloatArray | None = None) -> tuple[float, FloatArray]:
        """Value and a subgradient of everything but λ1‖M‖_*: the paper's f + λ2 h; see :meth:`smooth`.

        Notes
        -----
        The subgradient of h = ‖P_ΩX(X̂ − X)‖_* is P_ΩX(U_h V_hᵀ), with U_h Σ_h V_hᵀ the SVD of the residual.
        """
        if self.residual_penalty == 0:
            return self.smooth(T, out)
        value, gradient = self._slopes(T, 1.0, out)
        factor, norm = polar(gradient[:, : self.observed.n_features])
        weights = float(2 * self.feature_weight), float(self.residual_penalty)
        factor = np.ascontiguousarray(factor)

        def of_part(part: Part) -> None:
            some = part.cells
            blend(some.x_start, some.x_column, *weights, factor[part.rows], gradient[part.rows])

        InProcess.each(self._parts, of_part)
        return value + self.residual_penalty * norm, gradient

    def descend(self, T: FloatArray, gradient: FloatArray, step: float) -> None:
        """Take a step down the gradient, T ← T − η G, in place; only cells of Ω change."""

        def of_part(part: Part) -> None:
            some = part.cells
            pattern = (some.x_start, some.x_column, some.y_start, some.y_column)
            descend(*pattern, float(step), gradient[part.rows], T[part.rows])

        InProcess.each(self._parts, of_part)

    def value(self, M: LowRank | FloatArray, offsets: FloatArray | None = None) -> float:
        """F at M, with these offsets or the objective's own."""
        shift = self.offsets if offsets is None else offsets
        if isinstance(M, LowRank):
            return self.loss(M.dense() + shift)[0] + self.rank_penalty * M.trace_norm
        return self.loss(M + shift)[0] + self.rank_penalty * trace_norm(M)

    @cached_property
    def rank_penalty_max(self) -> float:
        """λ_max: for every λ1 at or above it, M = 0 is a minimiser.

        Notes
        -----
        M = 0 is optimal when a subgradient of the rest at 0 has spectral norm at most λ1. With λ2 = 0 there
        is one, and λ_max is exact. With λ2 > 0 and observed features of full column rank it is unique
        too; otherwise the one of smallest norm is taken and λ_max is an upper bound. With λ2 > 0 and free
        offsets it is an estimate, taken at the offsets that are best for λ2 = 0.
        """
        start = self.offsets_alone
        dense = self.residual_penalty > 0 or self.shape[1] > DENSE_GRAM
        if dense and not isinstance(self.observed, CellBlocks):
            return spectral_norm(self.loss(np.broadcast_to(start, self.shape))[1])
        engine, blocks = self.blocks.engine, self.blocks.blocks
        slopes = engine.map(_slopes_at, blocks, offsets=start, feature_weight=self.feature_weight)
        found = SparseSpectrum(slopes, engine=engine).largest()
        engine.release(slopes)
        return found


def _slopes_at(cells: Cells, offsets: FloatArray, feature_weight: float) -> Pair:
    """Slopes of the losses where M = 0, as sparse matrices of features and labels."""
    gx = 2 * feature_weight * (offsets[cells.x_column] - cells.x_value)
    gy = expit(offsets[cells.y_column]) - cells.y_value
    dtype = cells.x_value.dtype
    return cells.matrices(gx.astype(dtype), gy.astype(dtype))
