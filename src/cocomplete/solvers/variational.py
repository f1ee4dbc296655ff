"""The objective as a probability: factors averaged over their posterior instead of set to their best values.

Up to constants, F with λ2 = 0 is minus the logarithm of a density: u_i and v_j are normal, a feature is
normal around o_j + u_i · v_j, a label is 1 with probability σ(o_j + u_i · v_j). The minimiser of F is the
mode of that density. With few observed cells per row the mode is overconfident; the posterior mean predicts
better and has a variance. Here the posterior is approximated by independent normal distributions for every
u_i and v_j (variational Bayes), such that the *evidence lower bound* rises with every sweep.

Nothing is searched. The bound itself sets the noise of every feature and the prior precision of every factor,
apart for numbers and for 0/1 columns (automatic relevance determination); factors that the data do not
support shrink to nothing and are dropped where that raises the bound; a fit that goes on from another begins
with a few more, of what that one leaves unexplained; and the fit ends when the bound stands still.

A sweep is one pass over blocks of rows (:mod:`cocomplete.solvers.row_block`), which gives the bound at the
current state together with the sums that the next one is made of.
"""

from functools import reduce
from math import lgamma, log
from typing import NamedTuple

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.checkpoint import Reached, Stage
from cocomplete.engines.engine import Reference
from cocomplete.interrupts import stop_requested
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.cells import Cells
from cocomplete.solvers.ascent_state import AscentState, put_back, taken
from cocomplete.solvers.basis import (
    MOST_FACTORS,
    START_LENGTH,
    congruent,
    first_factors,
    most_factors,
    residual_factors,
    rotation,
    whitening,
)
from cocomplete.solvers.factor_state import START_PRECISION, FactorState, Spread
from cocomplete.solvers.moments import normal_posteriors
from cocomplete.solvers.packed import pack, unpack, weights
from cocomplete.solvers.posterior import PACE, FactorPosterior, begun
from cocomplete.solvers.row_block import Columns, RowBlock, Sums
from cocomplete.solvers.solution import Progress

WARM_UP, GROWTH_WARM_UP = 10, 5
"""Sweeps before precisions are updated, of a fit's first factors and of those added to it: updated sooner,
they prune factors that are still growing."""

PRECISION_PRIOR = (1.0, 0.03)
"""Shape, less one, and rate of the Gamma prior of a factor's precision. Without it mean-field fits prune too
much."""

LOG_PRECISION_PRIOR = (PRECISION_PRIOR[0] + 1) * log(PRECISION_PRIOR[1]) - lgamma(PRECISION_PRIOR[0] + 1)
"""Its constant, which counts: without it a factor would be rewarded for being there."""

OFFSET_PRECISION = (0.01, 1.0)
"""Prior precision of an offset's distance from the observed mean of a feature, log-odds of a label."""

NOISE_PRIOR = (0.1, 2.0)
"""Prior mean of a feature's noise variance, and how many observed cells that prior is worth."""

WIDEST = (MOST_FACTORS + 1) * (MOST_FACTORS + 2) // 2
"""Numbers per row that a pass works with, at most."""

SWEEPS, BOUND_TOL = 50, 3e-5
"""Most sweeps, and the gain of the bound per observed cell and sweep at which a fit ends. With 40 sweeps, or
80, the tables to choose with are predicted alike (every median ratio of errors 1.000). With a third of that
gain fits take 1.4 times as long and predict no better; with twice the gain a surplus factor may stay."""

SLOWEST = 0.05
"""Share of the way of a label's site at which a sweep that still lowers the bound ends the fit. The share is
halved where the bound would fall."""


def fit_variational(
    cells: Cells | CellBlocks,
    base: FloatArray,
    *,
    start: FactorPosterior | None = None,
    growth: int = 0,
    spare: int | None = None,
    max_iter: int = SWEEPS,
    progress: Progress | None = None,
    stage: Stage | None = None,
) -> FactorPosterior:
    """Raise the evidence lower bound until it stands still.

    Parameters
    ----------
    cells : Cells or CellBlocks
        Observed cells, in memory or in blocks elsewhere; numbers centred and scaled.
    base : ndarray of shape (m,)
        Offsets to start from: 0 for centred numbers, log-odds for 0/1 columns.
    start : FactorPosterior, optional
        A fit to other cells, or another encoding, of the same columns, to go on from.
    growth : int, default=0
        Factors that are added to those of ``start``, from what these leave unexplained.
    spare : int, optional
        How many of them noise alone may have made; all of them if not given.
    max_iter : int, default=SWEEPS
        Most sweeps.
    progress : callable, optional
        Called with a record per sweep.
    stage : Stage, optional
        Where the state is stored after some of the sweeps, and the result in the end; a fit that finds one
        of them there goes on from it, on whatever engine it was made.
    """
    reached = None if stage is None else stage.load()
    if reached is not None and isinstance(reached.head, FactorPosterior):
        return reached.head
    fit = _Ascent(cells, base, start, growth, spare, reached=reached)
    fit.run(max_iter, progress, stage)
    state = fit.reached.state
    posterior = FactorPosterior(
        base,
        state.V,
        state.second,
        state.noise,
        state.precision,
        tuple(fit.bounds),
        fit.sweeps,
        converged=fit.converged,
        interrupted=fit.interrupted,
    )
    if stage is not None and not fit.interrupted:
        stage.store(posterior, ended=True)
    return posterior


class _Point(NamedTuple):
    """A state, what the pass over the rows there has added up, Σ E[(x − t)²] of numbers, and the bound."""

    state: FactorState
    sums: Sums
    squares: FloatArray
    bound: float


class _Ascent:
    """Coordinate ascent on the evidence lower bound."""

    def __init__(
        self,
        cells: Cells | CellBlocks,
        base: FloatArray,
        start: FactorPosterior | None = None,
        growth: int = 0,
        spare: int | None = None,
        reached: Reached | None = None,
    ) -> None:
        cells = CellBlocks.of(cells, WIDEST) if isinstance(cells, Cells) else cells
        self.cells, self.base, self.engine = cells, base, cells.engine
        self.n, self.m = cells.shape
        self.blocks = self.engine.derive(RowBlock, cells.blocks, base=base)
        # A start that is to be refined, and not to grow, has columns that rows and sites can settle by.
        settled = start if growth == 0 else None
        states, censuses = self.engine.advance(begun, self.blocks, settled=settled)
        self.count, self.squares = (sum(each) for each in zip(*censuses, strict=True))
        self.is_label = np.arange(self.m) >= cells.n_features
        # Numbers, then 0/1 columns.
        self.groups = slice(cells.n_features), slice(cells.n_features, None)
        self.sizes = np.array([cells.n_features, self.m - cells.n_features])
        # References to the sites that every pass since the one at the point reached began with, that one
        # first, and to those that the last of them has left.
        self.sites: list[list[Reference]] = [states]
        self.converged = self.interrupted = False
        self.reached: _Point
        if reached is not None:
            self._go_on(reached)
            return
        # The posterior that it starts from is wider or narrower than these cells make it; the first sweep
        # sets that, and the bound counts from there.
        self.left_to_warm_up = WARM_UP if start is None else GROWTH_WARM_UP
        self.next = self._first_state() if start is None else self._continued(start, growth, spare)
        self.bounds: list[float] = []
        self.pace = PACE
        self.removes = True
        self.shrunk = self.fresh = False
        self.sweeps = 0

    def _go_on(self, reached: Reached) -> None:
        """Go on from what an earlier fit has reached: the pass there is made once more."""
        found: AscentState = reached.head
        self._forget(self.sites)
        self.sites = [put_back(self.engine, self.cells.blocks, reached.parts)]
        for name in AscentState._fields[1:]:
            setattr(self, name, getattr(found, name))
        self.reached = self._visit(found.there)

    def _store(self, stage: Stage) -> None:
        """Store what a later fit needs to go on from here."""
        if len(self.sites) > 2:
            # Factors have been taken out; the next pass decides whether that is right.
            return
        state = AscentState(self.reached.state, *(getattr(self, name) for name in AscentState._fields[1:]))
        stage.store(state, taken(self.engine, self.sites[0]))

    def _continued(self, start: FactorPosterior, growth: int, spare: int | None = None) -> FactorState:
        """Begin with another fit's factors, and some of what they leave unexplained here."""
        state = FactorState(start.V, start.second, 0.0, start.noise, start.precision)
        room = min(growth, most_factors(self.n, self.m) - start.rank)
        if growth == 0:
            self.left_to_warm_up = 1
        if room <= 0:
            return state
        left = self.engine.derive(RowBlock.residuals, self.blocks, columns=start.columns)
        added = START_LENGTH * residual_factors(left, room, spare=spare, engine=self.engine)
        if not added.shape[1]:
            # What has grown already needs one sweep for its posterior to have the width of these cells.
            self.left_to_warm_up = 1
        return state.with_factors(added)

    def _first_state(self) -> FactorState:
        V = first_factors(self.cells, self.base)
        precision = np.repeat(np.array(START_PRECISION)[:, None], V.shape[1] - 1, axis=1)
        return FactorState(
            V, pack(V[:, :, None] * V[:, None, :]), 0.0, np.ones(self.cells.n_features), precision
        )

    def run(self, most: int, progress: Progress | None = None, stage: Stage | None = None) -> None:
        """Sweep until the bound stands still, or so many sweeps were done in all."""
        while self.sweeps < most and not self.converged and not self.interrupted:
            self.sweep()
            if progress is not None:
                progress({"stage": "averaging", "iteration": self.sweeps, "bound": self.reached.bound})
            self.interrupted = stop_requested()
            if stage is not None and not self.converged:
                self._store(stage)

    def sweep(self) -> None:
        """Visit all rows at the next state; go on from there, or find another way from the last one.

        From the end of the warm-up on, a state with a lower bound than the last one is given up: first the
        removal of factors, then, step by step, the pace of the sites.
        """
        self.sweeps += 1
        point = self._visit(self.next)
        if self.left_to_warm_up:
            self.left_to_warm_up -= 1
            self._reach(point)
            self.next = self._updated(point, learns=False)
            return
        if self.fresh:
            # Factors have just been taken out: the others get one update to make up for it.
            self.fresh, self.next = False, self._updated(point, learns=True)
            return
        self._judge(point)
        self.next = self._updated(self.reached, learns=True)
        dead = self.next.unsupported(self.groups) if self.removes else np.zeros(0, np.intp)
        self.shrunk = self.fresh = bool(dead.size)
        if dead.size:
            self.next = self.next.without(dead)

    def _judge(self, point: _Point) -> None:
        """Accept a point, or go back to before what has lowered the bound."""
        before = self.bounds[-1] if self.bounds else -np.inf
        if point.bound >= before:
            self.converged = bool(point.bound - before < BOUND_TOL * max(self._cell_count, 1))
            self.bounds.append(point.bound)
            self._reach(point)
            return
        if self.shrunk:
            self._restore(1)
            self.removes = False
        else:
            self._restore(0)
            self.pace /= 2
            self.converged = self.pace < SLOWEST
            self.reached = self._visit(self.reached.state)

    @property
    def _cell_count(self) -> int:
        return self.cells.size

    def _visit(self, state: FactorState) -> _Point:
        """Pass over the rows at some state; sites move on."""
        columns = Columns(state.V, state.second, state.noise)
        states, results = self.engine.advance(
            RowBlock.visit, self.blocks, self.sites[-1], columns=columns, pace=self.pace
        )
        sums = reduce(Sums.plus, results)
        self.sites.append(states)
        squares = self._expected_squares(state, sums)
        return _Point(state, sums, squares, self._bound(state, sums, squares))

    def _reach(self, point: _Point) -> None:
        """Go on from the point of the last pass."""
        self._forget(self.sites[:-2])
        self.reached, self.sites = point, self.sites[-2:]

    def _restore(self, passes: int) -> None:
        """Put the sites back to before the pass at the point reached (0), or to after it (1)."""
        self._forget(self.sites[passes + 1 :])
        del self.sites[passes + 1 :]

    def _forget(self, sites: list[list[Reference]]) -> None:
        for each in sites:
            self.engine.release(each)

    def _updated(self, point: _Point, *, learns: bool) -> FactorState:
        """Update noise, columns, precisions and the factors' basis, in this order."""
        state, sums = point.state, point.sums
        noise = self._noise(point.squares)
        scale = np.ones(self.m)
        scale[: noise.size] = 1 / noise
        second, V = scale[:, None] * sums.H, scale[:, None] * sums.g
        log_det = normal_posteriors(second, V, self._precision(state.precision), fixed=0)
        updated = state._replace(V=V, second=second, log_det=float(log_det.sum()), noise=noise)
        if learns:
            return self._in_better_basis(updated, sums)
        return self._stretched(updated, whitening(unpack(sums.second_u, state.width) / self.n))

    def _expected_squares(self, state: FactorState, sums: Sums) -> FloatArray:
        """Σ E[(x − t)²] of every number column, from sums alone."""
        d = self.cells.n_features
        fitted = np.einsum("jk,jk->j", sums.g[:d], state.V[:d])
        powers = np.einsum("jp,jp->j", sums.H[:d], state.second[:d] * weights(state.width))
        return np.asarray(np.maximum(self.squares - 2 * fitted + powers, 0))

    def _noise(self, squares: FloatArray) -> FloatArray:
        """Each feature's expected squared residual, with a little prior: where the bound is highest."""
        guess, worth = NOISE_PRIOR
        return np.asarray((squares + guess * worth) / (self.count + worth))

    def _precision(self, of_factors: FloatArray) -> FloatArray:
        """Prior precision of every entry of V, offsets included."""
        precision = np.empty((self.m, of_factors.shape[1] + 1))
        precision[:, 0] = np.asarray(OFFSET_PRECISION)[self.is_label.astype(int)]
        precision[:, 1:] = of_factors[self.is_label.astype(int)]
        return precision

    # -- the bound -------------------------------------------------------------------------------------

    def _bound(self, state: FactorState, sums: Sums, squares: FloatArray) -> float:
        """Evidence lower bound at a state and the rows that follow from it."""
        numbers = -0.5 * (self.count * np.log(2 * np.pi * state.noise) + squares / state.noise).sum()
        guess, worth = NOISE_PRIOR
        numbers -= 0.5 * worth * (np.log(state.noise) + guess / state.noise).sum()
        return float(numbers + sums.log_likelihood) - self._divergence(
            state.precision, self._spread(state, sums)
        )

    def _spread(self, state: FactorState, sums: Sums) -> Spread:
        """Give the second moments at a state."""
        columns = [state.second[group].sum(axis=0) for group in self.groups]
        whole = unpack(np.stack((*columns, sums.second_u)), state.width)
        return Spread(whole[:-1], whole[-1], state.log_det + sums.log_det_u)

    def _divergence(self, of_factors: FloatArray, spread: Spread) -> float:
        """Divergence of U and V from their priors, less the log-prior of precisions."""
        width = len(spread.rows)
        precision = np.empty((2, width))
        precision[:, 0], precision[:, 1:] = OFFSET_PRECISION, of_factors
        logs = np.log(precision)
        moments = spread.rows.trace() - spread.rows[0, 0] - self.n * (width - 1) - self.m * width
        moments += (
            (precision * spread.columns_diagonal).sum() - self.sizes @ logs.sum(axis=1) + spread.log_det
        )
        shape, rate = PRECISION_PRIOR
        used = self.sizes > 0
        hyper = (shape * logs[used, 1:] - rate * of_factors[used] + LOG_PRECISION_PRIOR).sum()
        return float(0.5 * moments - hyper)

    # -- the factors' basis and precisions ---------------------------------------------------------------

    def _learnt(self, spread: Spread) -> FloatArray:
        """Precisions that the bound is highest at, given second moments."""
        shape, rate = PRECISION_PRIOR
        return np.asarray((self.sizes[:, None] + 2 * shape) / (spread.columns_diagonal[:, 1:] + 2 * rate))

    def _in_better_basis(self, state: FactorState, sums: Sums) -> FactorState:
        """Update precisions, in the basis of those tried that has the highest bound.

        Cells do not change with the basis. The rows' factors are centred and whitened, which they come to by
        themselves only slowly, and turned to where the columns' second moments are most nearly diagonal.
        """
        spread = self._spread(state, sums)
        plain = self._learnt(spread)
        least = self._divergence(plain, spread)
        white = whitening(spread.rows / self.n)
        whitened = spread.stretched(white, self.n - self.m)
        turn = rotation(whitened.columns, self.sizes)
        for stretch, there in ((white @ turn, whitened.turned(turn)), (white, whitened)):
            precision = self._learnt(there)
            if self._divergence(precision, there) < least:
                return self._stretched(state, stretch)._replace(precision=precision)
        return state._replace(precision=plain)

    def _stretched(self, state: FactorState, B: FloatArray) -> FactorState:
        """Change the basis: v ← Bᵀ v, with u ← B⁻¹ u, whose first coordinate stays 1."""
        return state._replace(
            V=state.V @ B,
            second=congruent(state.second, B.T, len(B)),
            log_det=state.log_det - 2 * self.m * float(np.linalg.slogdet(B)[1]),
        )
