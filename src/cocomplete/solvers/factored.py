"""The exact solver: factors, Newton steps, a rank that finds itself, and a certificate.

1. Start from the spectrum of the observed features (or from an earlier answer).
2. Newton steps on the factors (:mod:`cocomplete.solvers.newton`); rows are solved exactly after each.
3. Balance the factors, drop dead ones, and compute the duality gap from the slopes on Ω.
4. If the gap is too large, add every direction in which the dual matrix exceeds λ1, and go on.

With enough columns the factored problem has no bad local minimum, and the gap proves the answer whatever
the path. Where λ2 ≥ λ1 the observed features are constraints, met by an augmented Lagrangian.
"""

from time import perf_counter

import numpy as np
from scipy.special import logit

from cocomplete.arrays import FloatArray
from cocomplete.engines.local import LocalEngine, Slopes
from cocomplete.problem.cells import Cells
from cocomplete.problem.certificate import DualPoint, lower_bound, relative_gap, shaved
from cocomplete.problem.objective import Objective
from cocomplete.solvers.factors import FactoredObjective
from cocomplete.solvers.newton import TrustRegion, newton_step
from cocomplete.solvers.solution import Monitor, Progress, Record, Solution
from cocomplete.solvers.start import spectral_start
from cocomplete.spectral import LowRank, SparseSpectrum

SHAVING_PAYS = 20.0
"""A better dual point is worth its price once the gap is within this factor of the tolerance."""

SMALL = 20_000
"""Below this many cells the search runs in double precision: it costs nothing there."""


def solve_factored(
    objective: Objective,
    *,
    tol: float = 1e-3,
    max_iter: int = 60,
    max_rank: int | None = None,
    start: Solution | None = None,
    monitor: Monitor | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Minimise F to a relative duality gap of ``tol``, on the observed cells alone.

    Parameters
    ----------
    objective : Objective
        With λ2 = 0 or λ2 ≥ λ1.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int, default=60
        Most rounds of two Newton steps and one certificate.
    max_rank : int or None, default=None
        Upper bound on the rank. Below the minimiser's rank, ``tol`` cannot be reached.
    start : Solution, optional
        An answer for a nearby objective on the same cells.
    monitor, progress : callable, optional
        See :mod:`cocomplete.solvers.solution`.

    Raises
    ------
    ValueError
        If 0 < λ2 < λ1: that regime needs the primal-dual solver.
    """
    if objective.regime == "between":
        msg = "the factored solver needs residual_penalty = 0 or at least rank_penalty"
        raise ValueError(msg)
    run = _Run(objective, tol, max_rank, perf_counter())
    return run.solve(start, max_iter, monitor, progress)


class _Run:
    """One solve: what is fixed, and the best bounds so far."""

    def __init__(self, objective: Objective, tol: float, max_rank: int | None, started: float) -> None:
        self.objective, self.tol, self.started = objective, tol, started
        self.engine = LocalEngine(Cells.of(objective.observed))
        cells = self.engine.cells
        careful = tol < 1e-5 or cells.x_value.size + cells.y_value.size < SMALL
        self.function = FactoredObjective(
            objective, self.engine, self.engine.dtype.type if careful else np.float32
        )
        self.max_rank = min(objective.shape) if max_rank is None else min(max_rank, *objective.shape)
        self.highest = -np.inf
        self.growth = 10.0

    def solve(
        self, start: Solution | None, max_iter: int, monitor: Monitor | None, progress: Progress | None
    ) -> Solution:
        zero = self._zero()
        if zero is not None:
            return zero
        function = self.function
        W = self._first(start)
        function.row_step(W, 1e-5)
        point, region = function.evaluate(W), TrustRegion()
        history: list[Record] = []
        for iteration in range(1, max_iter + 1):
            for _ in range(2):
                point, predicted = newton_step(function, point, region, cg_steps=15 if iteration <= 2 else 30)
                if predicted < 1e-3 * self.tol * abs(point.value):
                    break
            W, s = function.balance(point.W, drop=2e-7 * abs(point.value) / max(function.ridge, 1e-300))
            slopes = function.value(W)[1]
            value, gap, spectrum = self._certify(W, s, slopes)
            record: Record = {
                "iteration": iteration,
                "objective": value,
                "seconds": perf_counter() - self.started,
                "rank": len(s),
                "duality_gap": gap,
            }
            if monitor is not None:
                record |= monitor(function.low_rank(W))
            history.append(record)
            if progress is not None:
                progress(record)
            if gap <= self.tol or iteration == max_iter:
                break
            if function.interpolates:
                function.multiplier = slopes.gx
            W, grown = self._grow(W, s, slopes, spectrum)
            if grown:
                region.radius = None
                function.row_step(W, 1e-5)
                W, _ = function.balance(W)
            point = function.evaluate(W)
        return self._finish(W, slopes, history)

    # -- start ---------------------------------------------------------------------------------------

    def _zero(self) -> Solution | None:
        """Give M = 0 if that is the minimiser, which λ1 ≥ λ_max makes it."""
        if self.function.interpolates:
            return None
        cells, m = self.engine.cells, self.engine.m
        offsets = self._offsets_alone() if self.objective.free_offsets else self.objective.offsets
        U, V = (np.empty((rows, 0), self.engine.dtype) for rows in (self.engine.n, m))
        W = self.function.pack(U, V, offsets)
        slopes = self.function.value(W)[1]
        # A column's length bounds the spectral norm from below and settles most cases for nothing.
        lengths = np.bincount(cells.x_column, slopes.gx**2, m) + np.bincount(cells.y_column, slopes.gy**2, m)
        if lengths.max() > self.function.ridge**2:
            return None
        value, gap, spectrum = self._certify(W, np.empty(0, self.engine.dtype), slopes)
        if spectrum.largest() > self.function.ridge * (1 + 1e-9):
            return None
        record: Record = {
            "iteration": 0,
            "objective": value,
            "seconds": perf_counter() - self.started,
            "rank": 0,
            "duality_gap": gap,
        }
        M = LowRank.zero(self.objective.shape, self.engine.dtype)
        return Solution(M, offsets, value, gap, 0, converged=gap <= self.tol, history=[record])

    def _offsets_alone(self) -> FloatArray:
        """Best offsets where M = 0: observed means and observed log-odds."""
        cells, m = self.engine.cells, self.engine.m
        offsets = self.objective.offsets.astype(self.engine.dtype, copy=True)
        for column, value, link in (
            (cells.x_column, cells.x_value, None),
            (cells.y_column, cells.y_value, logit),
        ):
            count = np.bincount(column, minlength=m)
            mean = np.bincount(column, value, m)[count > 0] / count[count > 0]
            offsets[count > 0] = mean if link is None else link(mean)
        return offsets

    def _first(self, start: Solution | None) -> FloatArray:
        function = self.function
        if start is not None and start.M.rank > 0:
            root = np.sqrt(start.M.s)
            W = function.pack(start.M.U * root, start.M.Vt.T * root, start.offsets)
            if function.interpolates:
                self._set_rho(1.0)
                if start.multiplier is not None:
                    function.multiplier = start.multiplier
            return W
        if function.interpolates:
            self._set_rho(3.0)
        W = spectral_start(function, self.max_rank)
        if function.interpolates:
            # Keep what the sweeps say of the multipliers; a smaller ρ then conditions Newton better.
            function.multiplier = function.value(W)[1].gx
            self._set_rho(1.0)
        return W

    def _set_rho(self, factor: float) -> None:
        """Set the constraints' weight so that a residual of a thousandth of the data is about as dear as λ1."""
        cells = self.engine.cells
        side = np.sqrt(min(self.engine.n, cells.n_features))
        length = max(float(np.linalg.norm(cells.x_value)), 1e-300)
        self.function.rho = factor * 600 * self.function.ridge * side / length

    # -- certificate ---------------------------------------------------------------------------------

    def _certify(self, W: FloatArray, s: FloatArray, slopes: Slopes) -> tuple[float, float, SparseSpectrum]:
        """Give the true objective, the relative gap and the spectrum of the dual matrix."""
        function, cells = self.function, self.engine.cells
        spectrum = SparseSpectrum(*cells.matrices(slopes.gx, slopes.gy))
        value = slopes.label_cost + self.objective.feature_weight * slopes.squares
        value += self.objective.rank_penalty * float(s.sum(dtype=np.float64))
        self._raise_bound(W, slopes.gx, slopes.gy, spectrum)
        if function.interpolates:
            value += self.objective.residual_penalty * self._residual_norm(slopes, value)
        gap = relative_gap(value, self.highest)
        if self.tol < gap <= SHAVING_PAYS * self.tol:
            gx, gy = shaved(cells, slopes.gx, slopes.gy, spectrum, function.ridge)
            self._raise_bound(W, gx, gy, SparseSpectrum(*cells.matrices(gx, gy)))
            gap = relative_gap(value, self.highest)
        return value, gap, spectrum

    def _raise_bound(self, W: FloatArray, gx: FloatArray, gy: FloatArray, spectrum: SparseSpectrum) -> None:
        """Try a dual matrix; the best lower bound so far stays."""
        zero = np.zeros_like(gx)
        point = DualPoint(zero, gx, gy) if self.function.interpolates else DualPoint(gx, zero, gy)
        offsets = self.function.offsets(W)
        bound = lower_bound(self.objective, self.engine.cells, point, offsets, spectrum=spectrum)
        self.highest = max(self.highest, bound)

    def _residual_norm(self, slopes: Slopes, rest: float) -> float:
        """Trace norm of the residual: its bound √d‖·‖_F where that is tight enough, else exact."""
        bound = float(np.sqrt(min(self.engine.n, self.engine.cells.n_features) * slopes.squares))
        if self.objective.residual_penalty * bound <= max(0.2 * (rest - self.highest), 0.0):
            return bound
        residual = (slopes.gx - self.function.multiplier) / self.function.rho
        left, right = self.engine.cells.matrices(residual, slopes.gy)
        return min(bound, SparseSpectrum(left, right[:, :0]).trace_norm())

    # -- rank ----------------------------------------------------------------------------------------

    def _grow(
        self, W: FloatArray, s: FloatArray, slopes: Slopes, spectrum: SparseSpectrum
    ) -> tuple[FloatArray, bool]:
        """Add the directions in which the dual matrix exceeds λ1, scaled by a search along all of them."""
        n, ridge, k = self.engine.n, self.function.ridge, len(s)
        top = spectrum.largest()
        if top <= ridge * (1 + 0.3 * self.tol) or k >= self.max_rank:
            return W, False
        values, vectors = spectrum.above(ridge + 0.5 * (top - ridge), self.max_rank - k)
        # What lies in the span of the present V the row step can reach by itself.
        strong = s > 1.0 * ridge
        present = W[n:, 1 : k + 1][:, strong] / np.sqrt(s[strong])
        fresh = 1 - ((present.T @ vectors) ** 2).sum(axis=0) > 0.3
        values, vectors = values[fresh], vectors[:, fresh]
        if not values.size:
            return W, False
        left, right = self.engine.cells.matrices(slopes.gx, slopes.gy)
        d = self.engine.cells.n_features
        images = (left @ vectors[:d] + right @ vectors[d:]) / values

        def trial(size: float) -> tuple[float, FloatArray]:
            root = np.sqrt(size * (values - ridge))
            U = np.hstack((W[:n, 1 : k + 1], images * root))
            V = np.hstack((W[n:, 1 : k + 1], -vectors * root))
            grown = self.function.pack(U, V, self.function.offsets(W))
            return self.function.value(grown)[0], grown

        before = self.function.value(W)[0]
        size = self.growth
        best, grown = trial(size)
        while best >= before and size > 1e-6 * self.growth:
            size /= 3
            best, grown = trial(size)
        for _ in range(6):
            longer, candidate = trial(3 * size)
            if longer >= best:
                break
            best, grown, size = longer, candidate, 3 * size
        self.growth = size
        return grown, top > 1.01 * ridge

    # -- end -----------------------------------------------------------------------------------------

    def _finish(self, W: FloatArray, slopes: Slopes, history: list[Record]) -> Solution:
        last = history[-1]
        if self.function.interpolates:
            # Bounds were enough on the way; the answer's own objective is reported exactly.
            value = slopes.label_cost + self.objective.feature_weight * slopes.squares
            value += self.objective.rank_penalty * self.function.low_rank(W).trace_norm
            value += self.objective.residual_penalty * self._residual_norm(slopes, -np.inf)
            last |= {"objective": value, "duality_gap": relative_gap(value, self.highest)}
        return Solution(
            self.function.low_rank(W),
            self.function.offsets(W),
            last["objective"],
            last["duality_gap"],
            last["iteration"],
            converged=last["duality_gap"] <= self.tol,
            history=history,
            multiplier=self.function.multiplier if self.function.interpolates else None,
        )
