"""The rounds of the exact solver (:mod:`.factored`): a start, Newton steps, a certificate, more factors."""

from dataclasses import replace
from time import perf_counter
from typing import NamedTuple

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.checkpoint import Stage
from cocomplete.engines.blas import one_thread
from cocomplete.interrupts import stop_requested
from cocomplete.problem.cells import Cells, column_sums
from cocomplete.problem.certificate import DualPoint, lower_bound, relative_gap, shaved
from cocomplete.problem.objective import Objective
from cocomplete.solvers.augmented_lagrangian import FeatureConstraints
from cocomplete.solvers.factored_losses import FactoredLosses, Slopes
from cocomplete.solvers.factors import FactoredObjective
from cocomplete.solvers.newton import newton_step
from cocomplete.solvers.rank_growth import add_directions
from cocomplete.solvers.round_state import RoundState
from cocomplete.solvers.solution import History, Monitor, Progress, Record, Solution
from cocomplete.solvers.start import LONG, START_ROUNDS, START_TOL, sampled_start, spectral_start
from cocomplete.solvers.trust_region import TrustRegion
from cocomplete.spectral import LowRank, SparseSpectrum

NEARLY = 3.0
"""Within this factor of the tolerance a round does one Newton step instead of two."""

SHAVING_PAYS = 20.0
"""A better dual point is worth its price once the gap is within this factor of the tolerance."""

ROW_DECREMENT = 1e-5
"""A row is not worth a Newton step that gains less."""

FLOOR = 0.5
"""Directions of the dual matrix are kept down to this share of λ1, for the next λ1 of a path."""

SMALL = 20_000
"""Below this many cells the search runs in double precision: it costs nothing there."""


class _End(NamedTuple):
    """Where a solve ended: balanced factors, singular values, spectrum of the dual matrix."""

    W: FloatArray
    s: FloatArray
    spectrum: SparseSpectrum | None


class FactoredRun:
    """A solve, or a row of them for falling λ1 on the same cells.

    Parameters
    ----------
    objective, cells, tol, max_rank
        As for :func:`solve_factored`.
    started : float
        Clock reading that ``seconds`` in the history count from.
    continues : bool, default=False
        Whether :meth:`lower` and another solve may follow, so that the end of each is kept.
    stage : Stage, optional
        Where rounds are stored.
    grows : bool, default=True
        Whether factors may be added to those that it starts with.
    """

    ended: _End | None

    def __init__(
        self,
        objective: Objective,
        cells: Cells,
        tol: float,
        max_rank: int | None,
        *,
        started: float,
        continues: bool = False,
        stage: Stage | None = None,
        grows: bool = True,
    ) -> None:
        self.objective, self.tol, self.started, self.stage = objective, tol, started, stage
        self.losses = FactoredLosses(cells)
        careful = tol < 1e-5 or cells.x_value.size + cells.y_value.size < SMALL
        self.function = FactoredObjective(
            objective, self.losses, self.losses.dtype.type if careful else np.float32
        )
        self.constraints = FeatureConstraints(self.function) if self.function.interpolates else None
        self.max_rank = min(objective.shape) if max_rank is None else min(max_rank, *objective.shape)
        self.highest = -np.inf
        self.growth, self.exact = 10.0, False
        self.spectrum: SparseSpectrum | None = None
        self.continues, self.ended, self.grows = continues, None, grows

    def lower(self, rank_penalty: float, residual_penalty: float) -> None:
        """Turn to a smaller λ1; the next solve goes on from the end of the last."""
        function = self.function
        if function.interpolates:
            # Multipliers are as long as λ1 allows, so they follow it.
            function.multiplier = function.multiplier * (rank_penalty / function.ridge)
        self.objective = replace(self.objective, rank_penalty=rank_penalty, residual_penalty=residual_penalty)
        function.objective, function.ridge = self.objective, rank_penalty
        self.highest, self.started = -np.inf, perf_counter()

    def solve(
        self,
        start: Solution | None,
        max_iter: int,
        monitor: Monitor | None = None,
        progress: Progress | None = None,
        reached: RoundState | None = None,
    ) -> Solution:
        """Run to the tolerance, the end of the gains, the last iteration or a request to stop."""
        cold = start is None and self.ended is None and reached is None
        # Rows are shared out among threads; those of BLAS would be beside them, and add up in other orders.
        with one_thread():
            if cold and (zero := self._zero()) is not None:
                return zero
            return self._solve(start, max_iter, History(self.started, monitor, progress), reached)

    def _solve(
        self, start: Solution | None, max_iter: int, history: History, reached: RoundState | None
    ) -> Solution:
        """Run the rounds."""
        function = self.function
        if reached is None:
            W, region, gap = self._begin(start, history), TrustRegion(), np.inf
            if not self.grows:
                self.max_rank = history.records[0]["rank"]
        else:
            W, region, gap = reached.put_back(self, history)
        # A warm start is near the answer but for directions it lacks: it is certified, and grows, at once.
        first = int(start is None) if reached is None else reached.iteration
        slopes: Slopes | None
        for iteration in range(first, max_iter + 1):
            drop, exhausted = 0.0, False
            if iteration > 0:
                # Close to the end, as after some rows' own solve, a step may be one that is not needed.
                near = gap <= NEARLY * self.tol or (iteration == 1 and self._is_long)
                W, drop, exhausted = self._descend(W, region, iteration, steps=1 if near else 2)
            W, s = function.balance(W, drop)
            slopes = function.value(W)[1]
            value, gap, self.spectrum = self._certify(W, s, slopes)
            self._note(history, iteration, value, s, gap, W)
            interrupted = stop_requested()
            if gap <= self.tol or iteration == max_iter or interrupted:
                break
            if exhausted and self._capped(len(s), slopes):
                break
            self._constrain(slopes, len(s), value, iteration)
            W, grown = self._grow(W, s, self.spectrum)
            # The spectrum holds on to the slopes, which are as large as the table.
            self.spectrum = slopes = None
            if grown:
                region.reset()
                function.row_step(W, ROW_DECREMENT)
                W, _ = function.balance(W)
            if self.stage is not None:
                self.stage.store(RoundState.of(self, history, iteration + 1, W, region, gap))
        if self.continues:
            self.ended = _End(W, s, self.spectrum)
        self.spectrum = None
        assert slopes is not None
        if not self.exact:
            value = self._objective_value(s, slopes, exact=True)
        return replace(self._finish(W, s, value, history.records), interrupted=interrupted)

    def _constrain(self, slopes: Slopes, rank: int, value: float, iteration: int) -> None:
        """Where features are constraints, set their multipliers and their weight for the next round."""
        if self.constraints is not None and self.spectrum is not None:
            full = rank >= self.max_rank
            self.constraints.take_over(slopes, self.spectrum, full=full)
            if iteration > 1:
                self.constraints.adapt_rho(value - self.highest, slopes, full=full)

    def _begin(self, start: Solution | None, history: History) -> FloatArray:
        """Give the first factors, rows solved: those of the last end, or of a start."""
        if self.ended is not None:
            # The directions to add are known from the last certificate.
            W, _ = self._grow(self.ended.W, self.ended.s, self.ended.spectrum)
            self.ended = None
        else:
            W, s = self.function.balance(self._first(start))
            if start is None:
                slopes = self.function.value(W)[1]
                self._note(history, 0, self._objective_value(s, slopes), s, np.inf, W)
        self.function.row_step(W, ROW_DECREMENT)
        return W

    def _note(
        self, history: History, iteration: int, value: float, s: FloatArray, gap: float, W: FloatArray
    ) -> None:
        function = self.function
        history.add(
            iteration,
            value,
            lambda: function.low_rank(W, s),
            function.offsets(W),
            rank=len(s),
            duality_gap=gap,
        )

    def _descend(
        self, W: FloatArray, region: TrustRegion, iteration: int, steps: int
    ) -> tuple[FloatArray, float, bool]:
        """Do Newton steps; give the size of singular values to drop, and whether all is gained."""
        point = self.function.evaluate(W)
        for _ in range(steps):
            # Early directions only need to find the subspace; what is hard later needs better ones.
            cg_steps = 15 if iteration <= 2 else 30 * (1 + iteration // 10)
            point, predicted = newton_step(self.function, point, region, cg_steps=cg_steps)
            W = point.W
            exhausted = predicted < 1e-3 * self.tol * abs(point.value)
            if exhausted:
                break
        return W, 2e-7 * abs(point.value) / self.function.ridge, exhausted

    # -- start ---------------------------------------------------------------------------------------

    def _zero(self) -> Solution | None:
        """Give M = 0 if that is the minimiser, which λ1 ≥ λ_max makes it."""
        if self.function.interpolates:
            return None
        offsets = self.objective.offsets_alone
        U, V = (np.empty((rows, 0), self.losses.dtype) for rows in (self.losses.n, self.losses.m))
        W = self.function.pack(U, V, offsets)
        slopes = self.function.value(W)[1]
        # A column's length bounds the spectral norm from below and settles most cases for nothing.
        lengths = column_sums(self.losses.parts, np.square(slopes.gx), np.square(slopes.gy))
        if lengths.max() > self.function.ridge**2:
            return None
        value, gap, spectrum = self._certify(W, np.empty(0, self.losses.dtype), slopes)
        if spectrum.largest() > self.function.ridge * (1 + 1e-9):
            return None
        history = History(self.started, None, None)
        M = LowRank.zero(self.objective.shape, self.losses.dtype)
        history.add(0, value, lambda: M, offsets, rank=0, duality_gap=gap)
        return Solution(M, offsets, value, gap, 0, converged=gap <= self.tol, history=history.records)

    def _first(self, start: Solution | None) -> FloatArray:
        function = self.function
        if start is not None and start.M.rank > 0:
            root = np.sqrt(start.M.s)
            W = function.pack(start.M.U * root, start.M.Vt.T * root, start.offsets)
            if self.constraints is not None:
                self.constraints.set_rho(1.0)
                if start.multiplier is not None:
                    function.multiplier = start.multiplier
            return W
        if self.constraints is not None:
            self.constraints.set_rho(3.0)
        if self._is_long:
            W = sampled_start(function, self._solved)
        else:
            W = spectral_start(function, self.max_rank)
        if self.constraints is not None:
            # Keep the multipliers that the sweeps found; a smaller ρ then conditions Newton better.
            function.multiplier = self.constraints.short_enough(function.value(W)[1].gx)
            self.constraints.set_rho(1.0)
        return W

    @property
    def _is_long(self) -> bool:
        return self.losses.n >= LONG

    def _solved(self, objective: Objective) -> Solution:
        """Minimise the objective of some rows, well enough to start from."""
        run = FactoredRun(
            objective, objective.cells, START_TOL, self.max_rank, started=self.started, grows=False
        )
        return run.solve(None, START_ROUNDS)

    # -- certificate ---------------------------------------------------------------------------------

    def _certify(self, W: FloatArray, s: FloatArray, slopes: Slopes) -> tuple[float, float, SparseSpectrum]:
        """Give the true objective, the relative gap and the spectrum of the dual matrix."""
        function, cells = self.function, self.losses.cells
        point = self._dual_point(slopes.gx, slopes.gy)
        if self.objective.free_offsets:
            # One matrix for the bound and for directions to add: offsets do by themselves what balancing
            # takes away.
            point = point.balanced(cells)
        spectrum = self.losses.spectrum(point.features, point.labels, FLOOR * function.ridge)
        self._raise_bound(W, point, spectrum)
        value = self._objective_value(s, slopes)
        gap = relative_gap(value, self.highest)
        if self.tol < gap <= SHAVING_PAYS * self.tol:
            better = shaved(cells, point.features, point.labels, spectrum, function.ridge)
            self._raise_bound(W, self._dual_point(*better), in_place=better[0] is not point.features)
            gap = relative_gap(value, self.highest)
        return value, gap, spectrum

    def _dual_point(self, gx: FloatArray, gy: FloatArray) -> DualPoint:
        return DualPoint(gx, None if self.function.interpolates else gx, gy)

    def _raise_bound(
        self,
        W: FloatArray,
        point: DualPoint,
        spectrum: SparseSpectrum | None = None,
        *,
        in_place: bool = False,
    ) -> None:
        """Try a dual matrix; the best lower bound so far stays."""
        offsets, cells = self.function.offsets(W), self.losses.cells
        bound = lower_bound(self.objective, cells, point, offsets, spectrum=spectrum, in_place=in_place)
        self.highest = max(self.highest, bound)

    def _objective_value(self, s: FloatArray, slopes: Slopes, *, exact: bool = False) -> float:
        """F from singular values and slopes.

        The residual's trace norm is replaced by its bound √d‖·‖_F where that hardly matters for the gap;
        ``self.exact`` tells whether it was not.
        """
        value = slopes.label_cost + self.objective.feature_weight * slopes.squares
        value += self.objective.rank_penalty * float(s.sum(dtype=np.float64))
        self.exact = True
        if not self.function.interpolates:
            return value
        norm = float(np.sqrt(min(self.losses.n, self.losses.cells.n_features) * slopes.squares))
        negligible = self.objective.residual_penalty * norm <= 0.2 * (value - self.highest)
        if exact or not negligible:
            found = self.losses.trace_norm(slopes.gx, self.function.multiplier)
            norm = min(norm, found / float(self.function.rho))
        else:
            self.exact = False
        return value + self.objective.residual_penalty * norm

    # -- rank ----------------------------------------------------------------------------------------

    def _grow(self, W: FloatArray, s: FloatArray, spectrum: SparseSpectrum | None) -> tuple[FloatArray, bool]:
        """Add directions unless none is missing; give whether the dual matrix clearly exceeded λ1."""
        if spectrum is None:
            return W, False
        grown, self.growth, exceeded = add_directions(
            self.function, W, s, spectrum, self.max_rank, self.growth, least_excess=0.3 * self.tol
        )
        return grown, exceeded

    def _capped(self, rank: int, slopes: Slopes) -> bool:
        """Whether the rank's bound is all that stands between this answer and the minimum."""
        if rank < self.max_rank or self.max_rank == min(self.objective.shape):
            return False
        if not self.function.interpolates:
            return True
        values = self.losses.cells.x_value
        return slopes.squares <= 1e-8 * float(values @ values)

    # -- end -----------------------------------------------------------------------------------------

    def _finish(self, W: FloatArray, s: FloatArray, value: float, history: list[Record]) -> Solution:
        gap = relative_gap(value, self.highest)
        history[-1] |= {"objective": value, "duality_gap": gap}
        return Solution(
            self.function.low_rank(W, s),
            self.function.offsets(W),
            value,
            gap,
            history[-1]["iteration"],
            converged=gap <= self.tol,
            history=history,
            multiplier=self.function.multiplier if self.function.interpolates else None,
        )
