"""The objective as a probability: factors averaged over their posterior instead of set to their best values.

Up to constants, F with λ2 = 0 is minus the logarithm of a density: u_i and v_j are normal, a feature is
normal around o_j + u_i · v_j, a label is 1 with probability σ(o_j + u_i · v_j). The minimiser of F is the
mode of that density. With few observed cells per row the mode is overconfident; the posterior mean predicts
better and has a variance. Here the posterior is approximated by independent normal distributions for every
u_i and v_j (variational Bayes), such that the *evidence lower bound* rises with every sweep.

Nothing is searched. The bound itself sets the noise of every feature and the prior precision of every factor,
apart for numbers and for 0/1 columns (automatic relevance determination); factors that the data do not
support shrink to nothing and are dropped where that raises the bound; and the fit ends when the
bound stands still.
"""

from copy import copy
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

from cocomplete.arrays import FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.cells import Cells
from cocomplete.solvers.basis import congruent, first_factors, rotation, whitening
from cocomplete.solvers.likelihood import NOISE_PRIOR, CellLikelihood
from cocomplete.solvers.moments import CHUNK, Moments, Pattern, diagonals, pack, unpack, weights
from cocomplete.solvers.solution import Progress

WARM_UP = 10
"""Sweeps before precisions are learnt: learnt sooner, they prune factors that are still growing."""

START_PRECISION = (30.0, 2.0)
"""Prior precision of an entry of v_j during the warm-up, for numbers and for 0/1 columns."""

PRECISION_PRIOR = (1.0, 0.03)
"""Shape, less one, and rate of the Gamma prior of a factor's precision. Without it mean-field fits prune too
much."""

OFFSET_PRECISION = (0.01, 1.0)
"""Prior precision of an offset's distance from the observed mean of a feature, log-odds of a label."""

SWEEPS, BOUND_TOL = 100, 1e-5
"""Most sweeps, and the gain of the bound per observed cell and sweep at which a fit ends."""

SUPPORTED = 0.2
"""A factor is a candidate for removal where its posterior means hold less than this share of its second
moments; the bound decides. Trying the weakest of the others, whatever it holds, raises the bound further and
makes predictions worse (features of four real tables by up to 1 %)."""

ROW_SWEEPS, ROW_TOL = 20, 1e-6
"""Most updates of the labels' sites of a row that is predicted, and the change of its cells' means at which
they end."""

PACE, SLOWEST = 0.7, 0.05
"""Share of the way that a label's site moves per sweep, and the share at which a sweep that still lowers the
bound ends the fit. It is halved where the bound would fall."""


class Rows(NamedTuple):
    """Moments of the rows' factors.

    Attributes
    ----------
    U : ndarray of shape (n_samples, k + 1)
        Means; column 0 is 1, the offset's partner.
    second : ndarray of shape (n_samples, (k + 1)(k + 2) / 2)
        E[u_i u_iᵀ], packed.
    """

    U: FloatArray
    second: FloatArray


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
        The evidence lower bound after every sweep since precisions are learnt.
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

    def rows(self, cells: Cells) -> Rows:
        """Give the moments of u_i for rows with these cells, by the row step alone."""
        pattern = Pattern.of(cells)
        likelihood = CellLikelihood(pattern, self.base)
        precision = np.ones((cells.shape[0], self.V.shape[1]))
        for _ in range(ROW_SWEEPS if likelihood.has_labels else 1):
            U, second, _ = pattern.row_posteriors(
                *likelihood.coefficients(self.noise), self.V, self.second, precision
            )
            moments = pattern.moments(U, second, self.V, self.second)
            if likelihood.update(*moments, pace=PACE) < ROW_TOL:
                break
        return Rows(U, second)

    def predict(self, cells: Cells) -> Moments:
        """Give mean and variance of every cell of rows with these observed cells."""
        n, m = cells.shape
        mean, variance = np.empty((n, m)), np.empty((n, m))
        second_v = self.second * weights(self.V.shape[1])
        step = max(1, CHUNK // second_v.shape[1])
        for first in range(0, n, step):
            part = slice(first, min(first + step, n))
            U, second = self.rows(cells.rows(part.start, part.stop))
            np.matmul(U, self.V.T, out=mean[part])
            np.matmul(second, second_v.T, out=variance[part])
            variance[part] -= mean[part] ** 2
        mean += self.base
        return Moments(mean, np.maximum(variance, 0, out=variance), self.noise, averaged=True)

    def draw(self, cells: Cells, rng: np.random.Generator) -> FloatArray:
        """Draw one t for every cell: rows and columns from their posteriors."""
        rows = self.rows(cells)
        V, U = _draw(self.V, self.second, rng), _draw(*rows, rng)
        return np.asarray(U @ V.T + self.base)


def fit_variational(
    cells: Cells,
    base: FloatArray,
    *,
    max_iter: int = SWEEPS,
    progress: Progress | None = None,
) -> FactorPosterior:
    """Raise the evidence lower bound until it stands still; Ctrl-C gives what was reached.

    Parameters
    ----------
    cells : Cells
        Observed cells; numbers centred and scaled.
    base : ndarray of shape (m,)
        Offsets to start from: 0 for centred numbers, log-odds for 0/1 columns.
    max_iter : int, default=SWEEPS
        Most sweeps.
    progress : callable, optional
        Called with a record per sweep.
    """
    fit = _Ascent(cells, base)
    interrupted = False
    while fit.sweeps < max_iter and not fit.converged and not (interrupted and fit.sweeps):
        try:
            fit.sweep()
            if progress is not None:
                progress({"stage": "averaging", "iteration": fit.sweeps, "bound": fit.bound()})
        except KeyboardInterrupt:
            # Before the first sweep there is nothing to give out: it is done, unless Ctrl-C comes again.
            if interrupted:
                raise
            interrupted = True
    state = fit.state
    return FactorPosterior(
        base,
        state.V,
        state.second_v,
        state.noise,
        state.precision,
        tuple(fit.bounds),
        fit.sweeps,
        converged=fit.converged,
        interrupted=interrupted,
    )


class _State(NamedTuple):
    """All that an ascent step changes, but for the labels' sites.

    Of the rows only what the bound needs is kept, Σ_i E[u_i u_iᵀ]: they are updated first in every sweep.
    """

    spread_u: FloatArray
    log_det_u: float
    V: FloatArray
    second_v: FloatArray
    log_det_v: float
    noise: FloatArray
    precision: FloatArray


class _Ascent:
    """Coordinate ascent on the evidence lower bound."""

    def __init__(self, cells: Cells, base: FloatArray) -> None:
        self.pattern = Pattern.of(cells)
        self.likelihood = CellLikelihood(self.pattern, base)
        self.n, self.m = cells.shape
        self.is_label = np.arange(self.m) >= cells.n_features
        self.groups = tuple(np.flatnonzero(self.is_label == label) for label in (False, True))
        V = first_factors(cells, base)
        precision = np.repeat(np.array(START_PRECISION)[:, None], V.shape[1] - 1, axis=1)
        self.state = _State(
            np.empty((0, 0)),
            0.0,
            V,
            pack(V[:, :, None] * V[:, None, :]),
            0.0,
            np.ones(cells.n_features),
            precision,
        )
        self.sweeps = 0
        self.bounds: list[float] = []
        self.pace = PACE
        self.stubborn = self.converged = False

    def _stands_still(self) -> bool:
        """Whether the last sweep raised the bound by next to nothing."""
        if len(self.bounds) < 2:
            return False
        return bool(self.bounds[-1] - self.bounds[-2] < BOUND_TOL * max(self.pattern.value.size, 1))

    def sweep(self) -> None:
        """Update rows, columns, noise, the labels' sites, precisions and the factors' basis, in this order.

        From the end of the warm-up on, a sweep that would lower the bound is taken back: first the removal of
        factors, then, step by step, the pace of the sites.
        """
        if self.sweeps < WARM_UP:
            self._update(learns=False)
        else:
            self._rise()
        self.sweeps += 1
        self.converged = self._stands_still()

    def _rise(self) -> None:
        """Do a sweep that does not lower the bound, or find that there is none."""
        before = self.bounds[-1] if self.bounds else -np.inf
        state, likelihood = self.state, self.likelihood
        dead = self._unsupported() if not self.stubborn else np.zeros(0, np.intp)
        while self.pace >= SLOWEST:
            self.likelihood = copy(likelihood)
            self.state = self._without(dead) if dead.size else state
            self._update(learns=True)
            bound = self.bound()
            if bound >= before:
                self.bounds.append(bound)
                return
            if dead.size:
                dead, self.stubborn = dead[:0], True
            else:
                self.pace /= 2
        self.state, self.likelihood = state, likelihood
        self.bounds.append(before)

    def _update(self, *, learns: bool) -> None:
        pattern, state = self.pattern, self.state
        coefficients = self.likelihood.coefficients(state.noise)
        ones = np.ones((self.n, state.V.shape[1]))
        U, second_u, log_u = pattern.row_posteriors(*coefficients, state.V, state.second_v, ones)
        V, second_v, log_v = pattern.column_posteriors(*coefficients, U, second_u, self._precision(state))
        self.likelihood.update(*pattern.moments(U, second_u, V, second_v), pace=self.pace)
        state = state._replace(
            spread_u=unpack(second_u.sum(axis=0), state.V.shape[1]),
            log_det_u=float(log_u.sum()),
            V=V,
            second_v=second_v,
            log_det_v=float(log_v.sum()),
            noise=self.likelihood.noise(),
        )
        self.state = self._in_better_basis(state) if learns else self._whitened(state)

    def _precision(self, state: _State) -> FloatArray:
        """Prior precision of every entry of V, offsets included."""
        precision = np.empty(state.V.shape)
        precision[:, 0] = np.asarray(OFFSET_PRECISION)[self.is_label.astype(int)]
        precision[:, 1:] = state.precision[self.is_label.astype(int)]
        return precision

    # -- the bound -------------------------------------------------------------------------------------

    def bound(self) -> float:
        """Evidence lower bound at the current state."""
        state = self.state
        return self.likelihood.expected(state.noise) - self._divergence(state)

    def _divergence(self, state: _State) -> float:
        """Divergence of U and V from their priors, less the log-prior of noise and precisions."""
        width = state.V.shape[1]
        rows = np.diag(state.spread_u)[1:].sum() + state.log_det_u - self.n * (width - 1)
        precision = self._precision(state)
        columns = (precision * diagonals(state.second_v, width)).sum() - np.log(precision).sum()
        columns += state.log_det_v - self.m * width
        shape, rate = PRECISION_PRIOR
        used = state.precision[[group.size > 0 for group in self.groups]]
        hyper = shape * np.log(used).sum() - rate * used.sum()
        # Its constant counts: without it a factor would be rewarded for being there.
        hyper += used.size * ((shape + 1) * np.log(rate) - gammaln(shape + 1))
        guess, worth = NOISE_PRIOR
        hyper -= 0.5 * worth * (np.log(state.noise) + guess / state.noise).sum()
        return float(0.5 * (rows + columns) - hyper)

    # -- the factors' basis and precisions ---------------------------------------------------------------

    def _spread_v(self, state: _State) -> list[FloatArray]:
        """Sum of E[v vᵀ] over each group of columns."""
        width = state.V.shape[1]
        return [unpack(state.second_v[group].sum(axis=0), width) for group in self.groups]

    def _learnt(self, groups: list[FloatArray]) -> FloatArray:
        """Precisions that the bound is highest at, given second moments."""
        shape, rate = PRECISION_PRIOR
        return np.stack(
            [
                (group.size + 2 * shape) / (np.diag(second)[1:] + 2 * rate)
                for group, second in zip(self.groups, groups, strict=True)
            ]
        )

    def _whitened(self, state: _State) -> _State:
        """Stretch V so that the rows' factors are uncorrelated with unit variance, as their prior has it."""
        return self._stretched(state, whitening(state.spread_u / self.n))

    def _in_better_basis(self, state: _State) -> _State:
        """Learn precisions, in the basis of those tried that has the highest bound.

        Cells do not change with the basis. The rows' factors are centred and whitened, which they come to by
        themselves only slowly, and turned to where the columns' second moments are most nearly diagonal.
        """
        groups = self._spread_v(state)
        plain = state._replace(precision=self._learnt(groups))
        least = self._divergence(plain)
        white = whitening(state.spread_u / self.n)
        for stretch in (white @ rotation(white, groups, self.groups), white):
            turned = self._stretched(state, stretch)
            turned = turned._replace(precision=self._learnt(self._spread_v(turned)))
            if self._divergence(turned) < least:
                return turned
        return plain

    def _stretched(self, state: _State, B: FloatArray) -> _State:
        """Change the basis: v ← Bᵀ v, u ← B⁻¹ u, with u's first coordinate staying 1."""
        width = len(B)
        inverse = np.linalg.inv(B)
        log_det = float(np.linalg.slogdet(B)[1])
        return state._replace(
            spread_u=inverse @ state.spread_u @ inverse.T,
            log_det_u=state.log_det_u + 2 * self.n * log_det,
            V=state.V @ B,
            second_v=congruent(state.second_v, B.T, width),
            log_det_v=state.log_det_v - 2 * self.m * log_det,
        )

    # -- factors die -------------------------------------------------------------------------------------

    def _unsupported(self) -> NDArray[np.intp]:
        """Factors whose posterior is little more than their prior, in every group of columns."""
        state = self.state
        width = state.V.shape[1]
        second = diagonals(state.second_v, width)
        supported = np.zeros(width, bool)
        supported[0] = True
        for group in self.groups:
            held = (state.V[group] ** 2).sum(axis=0)
            supported |= held > SUPPORTED * np.maximum(second[group].sum(axis=0), 1e-300)
        return np.flatnonzero(~supported)

    def _without(self, dead: NDArray[np.intp]) -> _State:
        """Leave factors out; rows and columns are updated next, so that only V's moments matter."""
        state = self.state
        width = state.V.shape[1]
        left = np.setdiff1d(np.arange(width), dead)
        second = unpack(state.second_v, width)[:, left[:, None], left]
        return state._replace(
            V=np.ascontiguousarray(state.V[:, left]),
            second_v=pack(second),
            precision=state.precision[:, left[1:] - 1],
        )


def _draw(mean: FloatArray, second: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw per row from normals with these moments; a known coordinate stays what it is."""
    cov = unpack(second, mean.shape[1]) - mean[:, :, None] * mean[:, None, :]
    values, vectors = np.linalg.eigh(cov)
    noise = rng.standard_normal(mean.shape) * np.sqrt(np.maximum(values, 0))
    return np.asarray(mean + np.einsum("nrc,nc->nr", vectors, noise))
