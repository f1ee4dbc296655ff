"""The exact solver for tables in blocks, wherever these are: Newton steps on the columns, rows following.

1. Start from the columns that some of the rows show.
2. Newton steps on φ (:mod:`.column_objective`), each followed by every row's own minimum.
3. Bring the factors to the gauge of the SVD, drop dead ones, and compute the duality gap from the slopes.
4. If the gap is too large, add the directions in which the dual matrix exceeds λ1, and go on.

Rounds and minimiser are those of :mod:`.factored_run`. What differs is that no array as long as the table is
ever here, and that everything is a few passes over the blocks.
"""

from dataclasses import replace
from time import perf_counter

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.checkpoint import Stage
from cocomplete.engines.blas import one_thread
from cocomplete.engines.engine import Reference
from cocomplete.interrupts import stop_requested
from cocomplete.problem.block_certificate import BlockDual
from cocomplete.problem.cells import Cells
from cocomplete.problem.certificate import relative_gap
from cocomplete.problem.objective import Objective
from cocomplete.solvers.augmented_lagrangian import TOO_LONG, adapted_rho, usual_rho
from cocomplete.solvers.column_newton import newton_step
from cocomplete.solvers.column_objective import Basis, ColumnObjective, ColumnPoint
from cocomplete.solvers.column_state import ColumnState, put_back, taken
from cocomplete.solvers.eliminated_block import rows_of
from cocomplete.solvers.factored_run import FLOOR, NEARLY, SHAVING_PAYS, SMALL, FactoredRun
from cocomplete.solvers.rank_growth import line_search
from cocomplete.solvers.solution import History, Progress, Solution
from cocomplete.solvers.start import START_ROUNDS, START_TOL, sampled_columns
from cocomplete.solvers.trust_region import TrustRegion
from cocomplete.spectral import LowRank, SparseSpectrum

SLACK = 1e-5
"""Of the tolerance, what rows that are not quite at their minimum may take."""

ASTRAY = 10.0
"""A label whose log-odds the sample has this far from those of all its known cells is begun without it: some
rows may be separated where all of them are not."""


def solve_by_columns(
    objective: Objective,
    sample: Cells,
    rows: list[NDArray[np.intp]],
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    max_rank: int | None = None,
    progress: Progress | None = None,
    stage: Stage | None = None,
) -> Solution:
    """Minimise F on a table in blocks, to a relative duality gap of ``tol``.

    Parameters
    ----------
    objective : Objective
        Of :class:`~cocomplete.problem.cell_blocks.CellBlocks`, with λ2 = 0 or λ2 ≥ λ1.
    sample : Cells
        Those of some rows, which show what to start from.
    rows : list of ndarray of int
        Places in every block of the rows that are wanted.
    tol, max_iter, max_rank, progress, stage
        As for :func:`~cocomplete.solvers.factored.solve_factored`.

    Returns
    -------
    Solution
        Its M has the wanted rows of U, in the order of the blocks.

    Raises
    ------
    ValueError
        If 0 < λ2 < λ1.
    """
    if objective.regime == "between":
        msg = "tables in blocks need residual_penalty = 0 or at least rank_penalty"
        raise ValueError(msg)
    reached = None if stage is None else stage.load()
    if reached is not None and isinstance(reached.head, Solution):
        return reached.head
    # Blocks are shared out among threads, or workers; and one thread adds up in one order everywhere.
    with one_thread():
        run = _ColumnRun(objective, tol, max_rank, stage, progress)
        if reached is None:
            run.begin(sample)
        else:
            run.go_on(reached.head, put_back(run.function.engine, run.function.cells.blocks, reached.parts))
        solution = run.solve(max_iter, rows)
    if stage is not None and not solution.interrupted:
        stage.store(solution, ended=True)
    return solution


class _ColumnRun:
    """A solve.

    Attributes
    ----------
    point : ColumnPoint
        Where it is; its rows are the only ones that the blocks keep between rounds.
    """

    point: ColumnPoint

    def __init__(
        self,
        objective: Objective,
        tol: float,
        max_rank: int | None,
        stage: Stage | None,
        progress: Progress | None,
    ) -> None:
        self.objective, self.tol, self.stage = objective, tol, stage
        self.function = ColumnObjective(objective)
        self.max_rank = min(objective.shape) if max_rank is None else min(max_rank, *objective.shape)
        self.history = History(perf_counter(), None, progress)
        self.region, self.first, self.gap = TrustRegion(), 1, np.inf
        self.highest, self.growth = -np.inf, 10.0
        self.first_rho, self.exact = self.function.rho, True
        careful = tol < 1e-5 or self.function.cells.size < SMALL or objective.dtype == np.float64
        self.least_decrement = 1e-13 if careful else 1e-7

    # -- start ---------------------------------------------------------------------------------------

    def begin(self, sample: Cells) -> None:
        """Start from the columns that some rows show, at the minimum of all rows."""
        function = self.function
        V, offsets = self._columns_of(sample)
        if function.interpolates:
            self._set_rho(3.0)
        rows = function.begin()
        self.point = function.at(function.pack(V, offsets), V.shape[1], rows, self._decrement(np.inf))
        function.engine.release(rows)
        if function.interpolates:
            # Keep the multipliers that these rows show; a smaller ρ then conditions Newton better.
            slopes, _ = function.slopes(self.point)
            share = self._share(function.multiplier_norm(slopes))
            self._set_rho(1.0)
            self._take_over(slopes, share)
        basis = function.basis(self.point)
        self._note(0, self._upper(basis), len(basis.s))
        self._turn(basis)

    def _columns_of(self, sample: Cells) -> tuple[FloatArray, FloatArray]:
        """Give the columns that some rows show, labels about which they mislead without factors."""
        V, offsets = sampled_columns(self.objective, sample, self.function.n, self._solved)
        if not self.objective.free_offsets:
            return V, offsets
        d, alone = sample.n_features, self.objective.offsets_alone
        astray = np.flatnonzero(np.abs(offsets - alone)[d:] > ASTRAY) + d
        V, offsets = V.copy(), offsets.copy()
        V[astray], offsets[astray] = 0, alone[astray]
        return V, offsets

    def _solved(self, objective: Objective) -> Solution:
        """Minimise the objective of some rows, well enough to start from."""
        run = FactoredRun(
            objective, objective.cells, START_TOL, self.max_rank, started=self.history.started, grows=False
        )
        return run.solve(None, START_ROUNDS)

    def go_on(self, state: ColumnState, rows: list[Reference]) -> None:
        """Go on from where an earlier solve has come to."""
        self.first, self.gap, self.region = state.iteration, state.gap, state.region
        self.highest, self.growth = state.highest, state.growth
        self.function.rho, self.first_rho = state.rho, state.first_rho
        self.point = ColumnPoint(state.V, state.k, rows, state.sums, state.value)
        self.history.records = state.records
        self.history.started -= state.seconds

    def _set_rho(self, factor: float) -> None:
        function, d = self.function, self.function.cells.n_features
        length = float(np.sqrt(self.objective.census.squares[:d].sum()))
        self.first_rho = function.rho = factor * usual_rho(function.ridge, min(function.n, d), length)

    # -- rounds --------------------------------------------------------------------------------------

    def solve(self, max_iter: int, wanted: list[NDArray[np.intp]]) -> Solution:
        """Run to the tolerance, the end of the gains, the last iteration or a request to stop."""
        function = self.function
        for iteration in range(self.first, max_iter + 1):
            exhausted = self._descend(steps=1 if self.gap <= NEARLY * self.tol or iteration == 1 else 2)
            self._turn(function.basis(self.point, self._negligible()))
            basis = function.basis(self.point)
            slopes, _ = function.slopes(self.point)
            value, spectrum = self._certify(basis, slopes)
            self._note(iteration, value, len(basis.s))
            interrupted = stop_requested()
            last = self.gap <= self.tol or iteration == max_iter or interrupted
            if last or (exhausted and self._capped()):
                break
            self._constrain(slopes, spectrum, value, iteration)
            function.engine.release(slopes)
            self._grow(spectrum)
            if self.stage is not None:
                self.stage.store(ColumnState.of(self, iteration + 1), taken(function.engine, self.point.rows))
        if not self.exact:
            value = self._value(basis, slopes, exact=True)
        function.engine.release(slopes)
        return replace(self._finish(basis, value, wanted), interrupted=interrupted)

    def _descend(self, steps: int) -> bool:
        """Do Newton steps; give whether all is gained."""
        for _ in range(steps):
            self.point, predicted = newton_step(self.function, self.point, self.region, self._decrement)
            if predicted < 1e-3 * self.tol * abs(self.point.value):
                return True
        return False

    def _decrement(self, gain: float) -> float:
        """Give what a row's Newton step must gain where all rows together may miss this much."""
        return max(min(gain / self.function.n, 1e-5), self.least_decrement)

    @property
    def _slack(self) -> float:
        """What rows may miss of φ where no step says more: gradients follow its root."""
        return SLACK * self.tol * abs(self.point.value)

    def _turn(self, basis: Basis) -> None:
        """Go over to another basis, in which rows are brought to their minimum again."""
        before = self.point.rows
        self.point = self.function.at(basis.V, len(basis.s), before, self._decrement(self._slack), basis.turn)
        self.function.engine.release(before)

    def _negligible(self) -> float:
        """Give the size of singular values to drop."""
        return 2e-7 * abs(self.point.value) / self.function.ridge

    def _note(self, iteration: int, value: float, rank: int) -> None:
        self.history.add(iteration, value, self._nowhere, self.point.offsets, rank=rank, duality_gap=self.gap)

    @staticmethod
    def _nowhere() -> LowRank:
        msg = "M of all rows is nowhere"
        raise AssertionError(msg)

    # -- features as constraints ---------------------------------------------------------------------

    def _constrain(
        self, slopes: list[Reference], spectrum: SparseSpectrum, value: float, iteration: int
    ) -> None:
        """Where features are constraints, set their multipliers and their weight for the next round."""
        function = self.function
        if not function.interpolates:
            return
        full = self.point.k >= self.max_rank
        # Most often the certificate has shown already that they are short enough; and at the largest rank
        # allowed no more factors will come, so that longer ones may be right.
        enough = full or spectrum.largest() <= TOO_LONG * function.ridge
        share = 1.0 if enough else self._share(function.multiplier_norm(slopes))
        if iteration > 1:
            side = min(function.n, function.cells.n_features)
            norm = self.objective.residual_penalty * float(np.sqrt(side * self.point.sums.squares))
            part = norm / max(value - self.highest, 1e-300)
            function.rho = adapted_rho(function.rho, self.first_rho, part, full=full)
        self._take_over(slopes, share)

    def _share(self, norm: float) -> float:
        """Give by what multipliers are scaled down where they are far longer than λ1 allows."""
        excess = norm / self.function.ridge
        return 1.0 if excess <= TOO_LONG else 1 / excess

    def _take_over(self, slopes: list[Reference], share: float) -> None:
        """Take multipliers over; rows then have another minimum."""
        function, before = self.function, self.point
        rows = function.constrain(before, slopes, share)
        function.engine.release(before.rows)
        self.point = function.at(before.V, before.k, rows, self._decrement(self._slack))
        function.engine.release(rows)

    # -- certificate ---------------------------------------------------------------------------------

    def _certify(self, basis: Basis, slopes: list[Reference]) -> tuple[float, SparseSpectrum]:
        """Give the true objective, and the spectrum of the dual matrix; the gap is kept."""
        function = self.function
        dual = function.dual(slopes)
        spectrum = dual.spectrum(FLOOR * function.ridge)
        self._raise_bound(dual, spectrum)
        value = self._value(basis, slopes)
        self.gap = relative_gap(value, self.highest)
        if self.tol < self.gap <= SHAVING_PAYS * self.tol:
            better = dual.shaved(spectrum, function.ridge)
            if better is not dual:
                better = better.balanced() if self.objective.free_offsets else better
                self._raise_bound(better, better.spectrum(np.inf))
                self.gap = relative_gap(value, self.highest)
        return value, spectrum

    def _raise_bound(self, dual: BlockDual, spectrum: SparseSpectrum) -> None:
        """Try a dual matrix; the best lower bound so far stays."""
        top, ridge = spectrum.largest(), self.function.ridge
        largest = ridge / top if top > ridge else 1.0
        offsets = self.point.offsets.astype(np.float64)
        bound = dual.bound(offsets, float(self.objective.feature_weight), largest)
        self.highest = max(self.highest, bound)

    def _upper(self, basis: Basis) -> float:
        """F, but for the residual's trace norm."""
        sums, objective = self.point.sums, self.objective
        value = sums.label_cost + float(objective.feature_weight) * sums.squares
        return value + self.function.ridge * basis.trace_norm

    def _value(self, basis: Basis, slopes: list[Reference], *, exact: bool = False) -> float:
        """F; the residual's trace norm is replaced by a bound where that hardly matters for the gap."""
        value, function = self._upper(basis), self.function
        self.exact = True
        if not function.interpolates:
            return value
        side, penalty = min(function.n, function.cells.n_features), float(self.objective.residual_penalty)
        norm = float(np.sqrt(side * self.point.sums.squares))
        if exact or penalty * norm > 0.2 * (value - self.highest):
            norm = min(norm, function.residual_norm(self.point, slopes))
        else:
            self.exact = False
        return value + penalty * norm

    # -- rank ----------------------------------------------------------------------------------------

    def _grow(self, spectrum: SparseSpectrum) -> None:
        """Add directions in which the dual matrix exceeds λ1, unless none is missing."""
        function, before, k = self.function, self.point, self.point.k
        top, ridge = spectrum.largest(), self.function.ridge
        if k >= self.max_rank or top <= ridge * (1 + 0.3 * self.tol):
            return
        values, vectors = spectrum.above(ridge + 0.5 * (top - ridge), self.max_rank - k)
        # What lies in the span of the present V the rows reach by themselves.
        s = (before.V[:, 1 : k + 1].astype(np.float64) ** 2).sum(axis=0)
        strong = s > ridge
        present = before.V[:, 1 : k + 1][:, strong] / np.sqrt(s[strong])
        fresh = 1 - ((present.T @ vectors) ** 2).sum(axis=0) > 0.3
        values, vectors = values[fresh], vectors[:, fresh]
        if not values.size:
            return
        points: list[ColumnPoint] = []

        def trial(size: float) -> tuple[float, ColumnPoint]:
            added = -vectors * np.sqrt(size * (values - ridge))
            V = function.pack(np.hstack((before.V[:, 1 : k + 1], added)), before.offsets)
            decrement = self._decrement(self._slack)
            points.append(function.at(V, k + len(values), before.rows, decrement))
            return points[-1].value, points[-1]

        found = line_search(trial, before.value, self.growth)
        if found is not None:
            self.point, self.growth = found
            self.region.reset()
            self._turn(function.basis(self.point))
        for one in (*points, before):
            if one is not self.point:
                function.engine.release(one.rows)

    def _capped(self) -> bool:
        """Whether the rank's bound is all that stands between this answer and the minimum."""
        if self.point.k < self.max_rank or self.max_rank == min(self.objective.shape):
            return False
        if not self.function.interpolates:
            return True
        squares = float(self.objective.census.squares[: self.function.cells.n_features].sum())
        return self.point.sums.squares <= 1e-8 * squares

    # -- end -----------------------------------------------------------------------------------------

    def _finish(self, basis: Basis, value: float, wanted: list[NDArray[np.intp]]) -> Solution:
        function, point, records = self.function, self.point, self.history.records
        self.gap = relative_gap(value, self.highest)
        records[-1] |= {"objective": value, "duality_gap": self.gap}
        found = function.engine.collect(rows_of, point.rows, wanted, k=point.k)
        root = np.sqrt(basis.s).astype(function.dtype)
        U = (np.concatenate(list(found)) - basis.turn.mean) @ basis.turn.matrix / root
        Vt = (basis.V[:, 1 : len(basis.s) + 1] / root).T
        function.engine.release(point.rows)
        return Solution(
            LowRank(U, basis.s.astype(function.dtype), Vt),
            basis.V[:, 0].copy(),
            value,
            self.gap,
            records[-1]["iteration"],
            converged=self.gap <= self.tol,
            history=records,
        )
