"""Minimises F on a sparse table, on factors, in few passes over its cells.

Where every absent cell is unknown, the observed cells are few and the Newton solver of
:mod:`cocomplete.solvers.factored` takes them as they are. Where absent cells are zeros a pass is over all
cells, so that a product with the Hessian costs more than twice a gradient: limited-memory BFGS needs
gradients alone. Its rank is bounded from the start; with more factors than the minimiser has, what is not
needed shrinks to nothing. A long table starts from the answer for a part of its rows, and so does that part.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from time import perf_counter
from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.checkpoint import Reached, Stage
from cocomplete.interrupts import stop_requested
from cocomplete.problem.sparse_objective import SparseObjective
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.factors import FactoredObjective, Point
from cocomplete.solvers.lbfgs import lbfgs
from cocomplete.solvers.solution import History, Progress, Solution
from cocomplete.solvers.sparse_dual import SlopeOperator
from cocomplete.solvers.sparse_losses import LEAST_CURVATURE, SparseLosses, SparseSlopes
from cocomplete.solvers.sparse_rows import Columns, solved_rows
from cocomplete.solvers.sparse_start import in_single_precision, of_rows, one_sided, scaled_start
from cocomplete.solvers.sparse_state import SparseState

Stages = Callable[[str], Stage]
"""From the name of a part of a fit to the stage that its state is stored by."""

MOST_FACTORS = 63
"""Rank where none is given: with the offsets, whole registers."""

DOUBLE = 20_000_000
"""Cells, absent ones included, beyond which passes are in single precision."""

ROUND = 25
"""Steps between two balances of the factors."""

SHORT_ROUND = 10
"""The same where no certificate is asked for: a round that gains little is the last, and cheaper so."""

STEPS = 200
"""Most steps where no number is given."""

NEARLY = 5.0
"""A certificate is worked out where a round gained less than so many tolerances."""

EXHAUSTED = 1e-3
"""Share of the tolerance below which a round's gain says that there is nothing left to gain."""

CAPPED = 1.0
"""The same where the rank's bound, and no gap, is what the answer ends at, or no gap is asked for."""

ROW_STEPS = 8
"""Steps that a start's rows are solved by, given its columns: they need not be exact."""

SHORT = 6_000
"""Rows up to which a table is solved as it is; longer ones start from the answer for so many rows, or for a
quarter of theirs."""

QUARTER = 4
"""A step on a quarter of the rows costs a quarter, and what it gains is nearly that of one on all."""

SHORT_TOL = 5e-3
"""Gap to which that answer is found."""


def solve_sparse(
    objective: SparseObjective,
    *,
    tol: float = 1e-3,
    max_iter: int | None = None,
    max_rank: int | None = None,
    start: Solution | None = None,
    certify: bool = True,
    progress: Progress | None = None,
    stages: Stages | None = None,
) -> Solution:
    """Minimise F on a sparse table.

    Parameters
    ----------
    objective : SparseObjective
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int or None, default=None
        Most rounds of the Newton solver (100 if None), or most steps of L-BFGS (200).
    max_rank : int or None, default=None
        Upper bound on the rank; where absent cells are zeros 63 if None. Below the minimiser's rank, ``tol``
        cannot be reached.
    start : Solution, optional
        An answer for the same columns, of whatever rows, at a nearby λ1; its offsets and right factors are
        used.
    certify : bool, default=True
        Whether to work the duality gap out where that takes passes of its own; otherwise the end of the gains
        decides, the gap is infinite, and ``converged`` says whether the gains had ended.
    progress : callable, optional
        See :mod:`cocomplete.solvers.solution`.
    stages : callable, optional
        Stages where states are stored after some of the rounds, and solutions in the end; what is found there
        is gone on from.
    """
    table = objective.stored
    n, m = objective.shape
    stage = None if stages is None else stages(f"minimiser-{n}")
    if table.features is None and table.labels is None:
        return solve_factored(
            objective,
            tol=tol,
            max_iter=100 if max_iter is None else max_iter,
            max_rank=max_rank,
            start=start if start is not None and start.M.shape == objective.shape else None,
            cells=table.explicit,
            progress=progress,
            stage=stage,
        )
    started = perf_counter()
    reached = None if stage is None else stage.load()
    if reached is not None and isinstance(reached.head, Solution):
        return reached.head
    steps = STEPS if max_iter is None else max_iter
    rank = min(n, m, MOST_FACTORS if max_rank is None else max_rank)
    if n * m > DOUBLE:
        objective = in_single_precision(objective)
    if start is None and n > SHORT and reached is None:
        start = _of_some_rows(
            objective,
            tol=max(tol, SHORT_TOL),
            max_iter=max_iter,
            max_rank=max_rank,
            certify=False,
            progress=progress,
            stages=stages,
        )
    run = SparseRun(objective, tol, rank, started, certify=certify, stage=stage)
    solution = run.solve(start, steps, progress, reached)
    if stage is not None and not solution.interrupted:
        stage.store(solution, ended=True)
    return solution


def _of_some_rows(objective: SparseObjective, **how: Any) -> Solution:
    """Solve for some rows, and bring their answer to the scale of all."""
    n = objective.shape[0]
    # A quarter that is hardly longer than a short table would be one level too many.
    count = n // QUARTER if n > 2 * QUARTER * SHORT else SHORT
    rows = np.linspace(0, n - 1, count).astype(np.intp)
    some = of_rows(objective, rows)
    found = solve_sparse(some, **how)
    known = np.where(one_sided(some.stored), objective.offsets, np.nan)
    return scaled_start(found, n / len(rows), known)


def with_gap(objective: SparseObjective, solution: Solution, tol: float) -> Solution:
    """Work out the duality gap of a solution that came without."""
    if np.isfinite(solution.duality_gap):
        return solution
    if objective.shape[0] * objective.shape[1] > DOUBLE:
        objective = in_single_precision(objective)
    run = SparseRun(objective, tol, solution.M.rank, perf_counter())
    root = np.sqrt(solution.M.s)
    W = run.function.pack(solution.M.U * root, solution.M.Vt.T * root, solution.offsets)
    gap = run.gap(W, solution.objective)
    return replace(solution, duality_gap=gap, converged=gap <= tol)


def largest_penalty(objective: SparseObjective) -> float:
    """λ_max: for every λ1 at or above it, M = 0 is a minimiser, but for the offsets' own rounding."""
    run = SparseRun(objective, 1.0, 0, perf_counter())
    W = run.function.pack(*run.no_factors(), objective.offsets_alone)
    operator = SlopeOperator(run.losses, W, run.function.rho, free_offsets=objective.free_offsets)
    return operator.norm()


@dataclass(frozen=True, eq=False)
class _Round:
    """Where a round ended: balanced factors, their singular values, and what the round gained."""

    W: FloatArray
    s: FloatArray
    gained: float
    steps: int


class SparseRun:
    """A solve by L-BFGS.

    Parameters
    ----------
    objective : SparseObjective
    tol : float
    rank : int
        Number of factors.
    started : float
        Clock reading that ``seconds`` in the history count from.
    certify : bool, default=True
        Whether to work the duality gap out.
    stage : Stage, optional
        Where rounds are stored.
    """

    def __init__(
        self,
        objective: SparseObjective,
        tol: float,
        rank: int,
        started: float,
        *,
        certify: bool = True,
        stage: Stage | None = None,
    ) -> None:
        self.objective, self.tol, self.rank, self.started = objective, tol, rank, started
        self.certify, self.stage = certify, stage
        self.losses = SparseLosses(objective.stored)
        self.function = FactoredObjective(objective, self.losses, self.losses.dtype.type)
        self.highest = -np.inf

    def solve(
        self, start: Solution | None, steps: int, progress: Progress | None, reached: Reached | None = None
    ) -> Solution:
        """Run to the tolerance, the end of the gains, the last step or a request to stop."""
        function, history = self.function, History(self.started, None, progress)
        if reached is not None:
            assert isinstance(reached.head, SparseState)
            W, taken, gap, self.highest = reached.head.put_back(history)
        else:
            W, taken, gap = self._first() if start is None else self._from(start), 0, np.inf
        length = ROUND if self.certify else SHORT_ROUND
        while True:
            ended = self._round(W, min(length, steps - taken))
            W, s, taken = ended.W, ended.s, taken + ended.steps
            value = function.value(W)[0]
            share = ended.gained / max(self.tol * abs(value), np.finfo(np.float64).tiny)
            capped = len(s) == self.rank < min(self.objective.shape)
            exhausted = share <= (CAPPED if capped or not self.certify else EXHAUSTED) or ended.steps == 0
            last = exhausted or taken >= steps or stop_requested()
            if self.certify and (last or (share <= NEARLY and not capped)):
                gap = self.gap(W, value)
            self._note(history, taken, value, ended, gap)
            if last or gap <= self.tol:
                break
            if self.stage is not None and not stop_requested():
                self.stage.store(SparseState.of(W, taken, gap, self.highest, history))
        return Solution(
            function.low_rank(W, s),
            function.offsets(W),
            value,
            gap,
            taken,
            converged=gap <= self.tol if self.certify else exhausted,
            history=history.records,
            interrupted=stop_requested(),
        )

    def _note(self, history: History, taken: int, value: float, ended: _Round, gap: float) -> None:
        function, W, s = self.function, ended.W, ended.s
        offsets = function.offsets(W)
        history.add(taken, value, lambda: function.low_rank(W, s), offsets, rank=len(s), duality_gap=gap)

    def no_factors(self) -> tuple[FloatArray, FloatArray]:
        """Give factors of rank 0."""
        U, V = (np.empty((rows, 0), self.losses.dtype) for rows in (self.losses.n, self.losses.m))
        return U, V

    def _round(self, W: FloatArray, steps: int) -> _Round:
        """Take some steps with one preconditioner, then balance."""
        function = self.function
        point = function.evaluate(W)
        before = point.value
        point, taken = lbfgs(function.evaluate, point, self._inverse(point), steps)
        W, s = function.balance(point.W, 2e-7 * abs(point.value) / function.ridge)
        return _Round(W, s, before - point.value, taken)

    def _inverse(self, point: Point) -> FloatArray:
        assert isinstance(point.slopes, SparseSlopes)
        diagonal = self.losses.preconditioner(point.W, point.slopes, self.function.rho)
        diagonal[:, 1:] += self.function.ridge
        inverse = np.asarray(1 / np.maximum(diagonal, LEAST_CURVATURE))
        self.function.freeze(inverse)
        return inverse

    def gap(self, W: FloatArray, value: float) -> float:
        """Relative duality gap; the best lower bound so far stays."""
        operator = SlopeOperator(self.losses, W, self.function.rho, free_offsets=self.objective.free_offsets)
        self.highest = max(self.highest, operator.bound(self.function.ridge))
        return (value - self.highest) / max(abs(value), np.finfo(np.float64).tiny)

    # -- start ---------------------------------------------------------------------------------------

    def _first(self) -> FloatArray:
        """Start from offsets alone."""
        return self._grown(self.function.pack(*self.no_factors(), self.objective.offsets_alone))

    def _from(self, start: Solution) -> FloatArray:
        """Take offsets and right factors, solve the rows for them, and add what they lack."""
        n, dtype = self.losses.n, self.losses.dtype
        k, table, objective = min(start.M.rank, self.rank), self.objective.stored, self.objective
        V = (start.M.Vt[:k].T * np.sqrt(start.M.s[:k])).astype(dtype)
        offsets = start.offsets.astype(dtype)
        if table.features is not None:
            # What features alone say of rows costs no pass over the labels.
            columns = Columns(V, offsets, objective.rank_penalty, objective.feature_weight)
            return self._grown(self.function.pack(columns.rows_by_features(table.features), V, offsets), k)
        W = self.function.pack(np.zeros((n, k), dtype), V, offsets)
        return self._grown(solved_rows(self.function, W, ROW_STEPS), k)

    def _grown(self, W: FloatArray, k: int = 0) -> FloatArray:
        """Add leading directions of the slopes, each as long as its own parabola has it."""
        function, n, count = self.function, self.losses.n, self.rank - k
        if count <= 0:
            return W
        slopes = function.value(W)[1]
        assert isinstance(slopes, SparseSlopes)
        operator = SlopeOperator(self.losses, W, function.rho, free_offsets=self.objective.free_offsets)
        vectors = operator.leading(count // 3 + 4, 4)[1][:, : self.rank]
        # Of what the factors have already nothing is added.
        own = np.linalg.qr(W[n:, 1 : k + 1])[0]
        vectors, lengths, _ = np.linalg.svd(vectors - own @ (own.T @ vectors), full_matrices=False)
        vectors = np.ascontiguousarray(vectors[:, :count][:, lengths[:count] > 0.5])
        images = operator.images(vectors)
        values = np.linalg.norm(images, axis=0)
        curvature = self.losses.preconditioner(W, slopes, function.rho)[n:, 0] / n
        bend = np.maximum(curvature @ vectors**2, 1e-12)
        # Directions below λ1 start next to nothing, in case that others make room for them.
        length = np.maximum(values - function.ridge, 1e-3 * values) / bend
        root = np.sqrt(length).astype(W.dtype)
        left = -images * (root / np.maximum(values, np.finfo(values.dtype).tiny))
        U, V = np.hstack((W[:n, 1 : k + 1], left)), np.hstack((W[n:, 1 : k + 1], vectors * root))
        return function.pack(U, V, function.offsets(W))
