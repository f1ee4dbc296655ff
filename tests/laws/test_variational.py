"""The variational fit: its bound is a bound and rises, rows are exact, intervals hold their share."""

import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit, logsumexp, ndtri
from scipy.stats import gamma, multivariate_normal

from cocomplete.arrays import FloatArray
from cocomplete.engines import row_blocks
from cocomplete.interrupts import interrupts
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers import posterior as posteriors
from cocomplete.solvers.basis import (
    MOST_FACTORS,
    NOISE_EDGE,
    START_LENGTH,
    most_factors,
    residual_factors,
    whitening,
)
from cocomplete.solvers.factor_state import START_PRECISION, FactorState
from cocomplete.solvers.moments import Moments, pack, unpack
from cocomplete.solvers.posterior import PACE, ROW_TOL, FactorPosterior
from cocomplete.solvers.row_block import RowBlock, Sites, Sums
from cocomplete.solvers.variational import (
    BOUND_TOL,
    GROWTH_WARM_UP,
    NOISE_PRIOR,
    OFFSET_PRECISION,
    PRECISION_PRIOR,
    SLOWEST,
    SWEEPS,
    WARM_UP,
    _Ascent,
    _Point,
    fit_variational,
)

nan = np.nan

GRID = np.linspace(-10, 10, 4001)
DENSITY = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
"""Dense quadrature over a standard normal variable, against the fit's fifteen nodes."""


def expectation(
    function: Callable[[FloatArray], FloatArray], mean: FloatArray, variance: FloatArray
) -> FloatArray:
    """E[function(t)] of normal t, by brute force."""
    return function(np.asarray(mean)[..., None] + np.sqrt(variance)[..., None] * GRID) @ DENSITY


# -- tables --------------------------------------------------------------------------------------------


def random_posterior(
    rng: np.random.Generator, d: int, labels: int, k: int, spread: float = 0.3
) -> FactorPosterior:
    """Some distribution of V; ``spread`` 0 makes it a point."""
    m = d + labels
    V, root = rng.normal(size=(m, k + 1)), spread * rng.normal(size=(m, k + 1, k + 1))
    second = pack(V[:, :, None] * V[:, None, :] + root @ root.transpose(0, 2, 1))
    noise, precision = rng.uniform(0.2, 2, d), np.ones((2, k))
    return FactorPosterior(rng.normal(size=m), V, second, noise, precision, (), 1, converged=True)


def random_rows(rng: np.random.Generator, n: int, d: int, labels: int, share: float = 0.6) -> Observations:
    X, Y = rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.5).astype(float)
    X[rng.random(X.shape) > share] = nan
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y)


def low_rank_rows(rng: np.random.Generator, n: int, d: int, labels: int, share: float = 0.7) -> Observations:
    """Some structure, so that factors live, and holes."""
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d + labels))
    X = T[:, :d] + 0.5 * rng.normal(size=(n, d))
    Y = (T[:, d:] + rng.logistic(size=(n, labels)) > 0).astype(float)
    X[rng.random(X.shape) > share] = nan
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y)


def modelled_table(
    seed: int,
    *,
    n: int = 150,
    d: int = 12,
    labels: int = 4,
    noise: FloatArray | float = 0.5,
    share: float = 0.5,
) -> tuple[Observations, FloatArray, FloatArray]:
    """A table that the model describes: two factors, normal noise, logistic labels; and its truth."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d + labels))
    truth = T[:, :d] + np.sqrt(noise) * rng.normal(size=(n, d))
    Y = (rng.random((n, labels)) < expit(T[:, d:])).astype(float)
    X = np.where(rng.random(truth.shape) < share, truth, nan)
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y), truth, T


def pure_noise(seed: int, n: int, d: int, labels: int) -> Observations:
    rng = np.random.default_rng(seed)
    return Observations(rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.5).astype(float))


def fitted(observed: Observations, **options: Any) -> FactorPosterior:
    cells = Cells.of(observed)
    return fit_variational(cells, np.zeros(cells.shape[1]), **options)


def covariances(mean: FloatArray, second: FloatArray) -> FloatArray:
    return unpack(second, mean.shape[1]) - mean[:, :, None] * mean[:, None, :]


SHAPES = {"numbers": (8, 0), "labels": (0, 8), "both": (5, 4), "one label": (4, 1), "one column": (1, 0)}


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 25) -> Observations:
    """Tables of every kind: with and without structure, from nearly empty to full, and tiny ones."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    d, labels = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    n = draw(st.integers(1, most_rows))
    share = draw(st.sampled_from((0.15, 0.6, 1.0)))
    make = draw(st.sampled_from((low_rank_rows, random_rows)))
    return make(rng, n, d, labels, share)


# -- the bound rises -----------------------------------------------------------------------------------


@settings(max_examples=40)
@given(tables())
def test_no_sweep_lowers_the_bound(observed: Observations) -> None:
    cells, bounds = Cells.of(observed), []
    ascent = _Ascent(cells, np.zeros(cells.shape[1]))
    for _ in range(WARM_UP + 40):
        judged = ascent.sweeps >= WARM_UP and not ascent.fresh
        before, count = getattr(ascent, "reached", None), len(ascent.bounds)
        ascent.sweep()
        if ascent.sweeps <= WARM_UP:
            assert not ascent.bounds
        elif not judged or len(ascent.bounds) == count:
            # Factors were just taken out, or the step was taken back: where it was is where it is.
            assert ascent.reached.state is before.state
        if ascent.bounds:
            bounds.append(ascent.reached.bound)
            assert ascent.bounds[-1] == pytest.approx(ascent.reached.bound, rel=1e-12)
    assert len(set(ascent.bounds)) <= len(set(bounds))
    assert (np.diff(bounds) >= -1e-12 * np.abs(bounds[:-1])).all()
    assert (np.diff(ascent.bounds) >= 0).all()
    assert np.isfinite(bounds).all()


@settings(max_examples=20)
@given(tables())
def test_a_fit_is_finite_ends_and_reports_whether_the_bound_stood_still(observed: Observations) -> None:
    cells = Cells.of(observed)
    posterior = fitted(observed)
    predicted = posterior.predict(cells)
    parts = (predicted.mean, predicted.variance, predicted.score)
    for part in (*parts, posterior.V, posterior.second, posterior.precision):
        assert np.isfinite(part).all()
    assert (predicted.variance >= 0).all()
    assert (posterior.noise > 0).all()
    assert (posterior.precision > 0).all()
    ascent = _Ascent(cells, np.zeros(cells.shape[1]))
    ascent.run(SWEEPS)
    np.testing.assert_array_equal(posterior.V, ascent.reached.state.V)
    assert posterior.bounds == tuple(ascent.bounds)
    assert posterior.n_iter == ascent.sweeps >= WARM_UP + len(posterior.bounds)
    gain = posterior.bounds[-1] - posterior.bounds[-2]
    cell_count = cells.x_value.size + cells.y_value.size
    stood_still = gain < BOUND_TOL * max(cell_count, 1) or ascent.pace < SLOWEST
    assert posterior.converged == stood_still
    assert posterior.converged or posterior.n_iter == SWEEPS


def test_the_bound_gains_while_precisions_are_updated() -> None:
    posterior = fitted(modelled_table(0)[0])
    assert posterior.bounds[-1] > posterior.bounds[0] + 50


def ascended(observed: Observations, sweeps: int = 2) -> _Ascent:
    """An ascent some sweeps after the warm-up, at a point that was accepted."""
    cells = Cells.of(observed)
    ascent = _Ascent(cells, np.zeros(cells.shape[1]))
    for _ in range(WARM_UP + sweeps):
        ascent.sweep()
    while ascent.shrunk:
        ascent.sweep()
    return ascent


def sites_of(ascent: _Ascent) -> list[Sites]:
    return [block.sites for block in ascent.blocks]


def assert_same_sites(ascent: _Ascent, sites: list[Sites]) -> None:
    for block, one in zip(ascent.blocks, sites, strict=True):
        np.testing.assert_array_equal(block.sites.weight, one.weight)
        np.testing.assert_array_equal(block.sites.pull, one.pull)


def worse(self: _Ascent, point: _Point, *, learns: bool) -> FactorState:
    """Stand in for the update: no feature is explained by anything."""
    return point.state._replace(noise=100 * point.state.noise)


def revisited(
    ascent: _Ascent, observed: Observations, sites: list[Sites], pace: float
) -> tuple[Sums, list[Sites]]:
    """Sums and sites that a pass at the point reached gives from some sites on."""
    again = _Ascent(Cells.of(observed), ascent.base)
    again.pace = pace
    for block, one in zip(again.blocks, sites, strict=True):
        block.place(one)
    return again._visit(ascent.reached.state).sums, sites_of(again)


def test_steps_that_lower_the_bound_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _, _ = modelled_table(1, n=60)
    ascent = ascended(observed)
    reached, bounds, (before,) = ascent.reached, list(ascent.bounds), ascent.sites
    monkeypatch.setattr(_Ascent, "_updated", worse)
    ascent.next = ascent._updated(reached, learns=True)
    paces = [PACE]
    while not ascent.converged:
        ascent.sweep()
        paces.append(paces[-1] / 2)
        assert ascent.pace == paces[-1]
        assert ascent.reached.state is reached.state
        assert ascent.reached.bound == reached.bound
        assert ascent.bounds == bounds
        # Sites have gone a smaller part of the same way, from where they were before the repeated pass.
        sums, sites = revisited(ascent, observed, before, ascent.pace)
        assert_same_sites(ascent, sites)
        for one, other in zip(ascent.reached.sums, sums, strict=True):
            np.testing.assert_array_equal(one, other)
    assert paces[-1] < SLOWEST <= paces[-2]


def test_a_removal_that_lowers_the_bound_is_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _, _ = modelled_table(1, n=60)
    ascent = ascended(observed)
    reached, bounds, (before,) = ascent.reached, list(ascent.bounds), ascent.sites
    after, strongest = sites_of(ascent), 1 + np.argmax((reached.state.V[:, 1:] ** 2).sum(axis=0))
    kept = ascent._updated(reached, learns=True)
    ascent.next = kept.without(np.array([strongest]))
    ascent.shrunk = ascent.fresh = True
    ascent.sweep()
    assert not ascent.fresh
    assert ascent.reached is reached
    assert ascent.next.width == kept.width - 1
    ascent.sweep()
    assert ascent.reached is reached
    assert ascent.bounds == bounds
    assert ascent.pace == PACE
    # It goes on from there with all factors, and tries no removal any more.
    assert not ascent.removes
    assert not ascent.shrunk
    assert_same_sites(ascent, after)
    for one, other in zip(ascent.next, kept, strict=True):
        np.testing.assert_array_equal(one, other)
    # A step that lowers the bound next goes back further: to before the pass at the point reached.
    monkeypatch.setattr(_Ascent, "_updated", worse)
    ascent.next = ascent._updated(reached, learns=True)
    ascent.sweep()
    assert ascent.reached.bound == reached.bound
    assert_same_sites(ascent, revisited(ascent, observed, before, PACE / 2)[1])


# -- the bound is the bound ----------------------------------------------------------------------------


class Dense(NamedTuple):
    """Posteriors as plain means and covariance matrices, first coordinates included."""

    U: np.ndarray
    U_cov: np.ndarray
    V: np.ndarray
    V_cov: np.ndarray


class Recording(_Ascent):
    """An ascent that remembers which bases it has tried."""

    def _stretched(self, state: FactorState, sums: Sums, B: FloatArray) -> tuple[FactorState, Sums]:
        turned, there = super()._stretched(state, sums, B)
        self.bases = [*getattr(self, "bases", []), (turned.V, B, there)]
        return turned, there

    def basis(self, state: FactorState, sums: Sums) -> tuple[FloatArray, Sums]:
        """B that has made a state, found by its V, and the sums there; none was better if it is not there."""
        found = [(B, there) for V, B, there in getattr(self, "bases", []) if V is state.V]
        return found[0] if found else (np.eye(state.width), sums)


def prior_precision(ascent: _Ascent, precision: FloatArray) -> FloatArray:
    label = np.arange(ascent.m) >= ascent.cells.n_features
    return np.column_stack(
        (np.where(label, OFFSET_PRECISION[1], OFFSET_PRECISION[0]), precision[label.astype(int)])
    )


def dense_sites(ascent: _Ascent, observed: Observations) -> tuple[FloatArray, FloatArray]:
    """Weight and pull of every observed cell, those of numbers without their noise; 0 where unknown."""
    d, known = observed.n_features, np.hstack((observed.X_known, observed.Y_known))
    weight = known.astype(float)
    linear = np.hstack((np.nan_to_num(observed.X - ascent.base[:d]), np.zeros_like(observed.Y)))
    linear[:, :d][~known[:, :d]] = 0
    sites = sites_of(ascent)
    weight[:, d:][known[:, d:]] = np.concatenate([one.weight for one in sites])
    linear[:, d:][known[:, d:]] = np.concatenate([one.pull for one in sites])
    return weight, linear


def dense_rows(state: FactorState, weight: FloatArray, linear: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows' posteriors given columns', by loops and inverses."""
    n, k, d = len(weight), state.width, state.noise.size
    scale = np.concatenate((1 / state.noise, np.ones(weight.shape[1] - d)))
    E = unpack(state.second, k)
    U, U_cov = np.zeros((n, k)), np.zeros((n, k, k))
    U[:, 0] = 1
    for i in range(n):
        H = np.einsum("j,jrc->rc", weight[i] * scale, E)
        U_cov[i, 1:, 1:] = np.linalg.inv(np.eye(k - 1) + H[1:, 1:])
        U[i, 1:] = U_cov[i, 1:, 1:] @ ((linear[i] * scale) @ state.V[:, 1:] - H[1:, 0])
    return U, U_cov


def dense_noise(dense: Dense, observed: Observations, base: FloatArray) -> FloatArray:
    """Expected squared residuals of each feature, and the prior's."""
    mean, variance = cell_moments(dense)
    d = observed.n_features
    squares = (observed.X - base[:d] - mean[:, :d]) ** 2 + variance[:, :d]
    guess, worth = NOISE_PRIOR
    return (np.nansum(squares, axis=0) + worth * guess) / (observed.X_known.sum(axis=0) + worth)


def dense_columns(
    U: FloatArray,
    U_cov: FloatArray,
    noise: FloatArray,
    prior: FloatArray,
    weight: FloatArray,
    linear: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Columns' posteriors given rows', by loops and inverses."""
    m, k, d = weight.shape[1], U.shape[1], noise.size
    scale = np.concatenate((1 / noise, np.ones(m - d)))
    E = U_cov + U[:, :, None] * U[:, None, :]
    V, V_cov = np.zeros((m, k)), np.zeros((m, k, k))
    for j in range(m):
        V_cov[j] = np.linalg.inv(np.diag(prior[j]) + scale[j] * np.einsum("i,irc->rc", weight[:, j], E))
        V[j] = V_cov[j] @ (scale[j] * linear[:, j] @ U)
    return V, V_cov


def dense_precisions(dense: Dense, observed: Observations) -> FloatArray:
    """Precisions of every factor at which the bound is highest, for numbers and for labels."""
    shape, rate = PRECISION_PRIOR
    second = np.einsum("jrr->jr", dense.V_cov)[:, 1:] + dense.V[:, 1:] ** 2
    groups = np.split(second, [observed.n_features])
    return np.array([(len(one) + 2 * shape) / (one.sum(axis=0) + 2 * rate) for one in groups])


def in_basis(dense: Dense, B: FloatArray) -> Dense:
    inverse = np.linalg.inv(B)
    return Dense(dense.U @ inverse.T, inverse @ dense.U_cov @ inverse.T, dense.V @ B, B.T @ dense.V_cov @ B)


def cell_moments(dense: Dense) -> tuple[FloatArray, FloatArray]:
    mean = dense.U @ dense.V.T
    U2 = dense.U_cov + dense.U[:, :, None] * dense.U[:, None, :]
    V2 = dense.V_cov + dense.V[:, :, None] * dense.V[:, None, :]
    return mean, np.einsum("irc,jrc->ij", U2, V2) - mean**2


def divergence(mean: FloatArray, cov: FloatArray, precision: FloatArray) -> float:
    """From N(0, 1/precision), of one normal distribution."""
    trace = (precision * (np.diag(cov) + mean**2)).sum()
    return 0.5 * (trace - len(mean) - np.linalg.slogdet(cov)[1] - np.log(precision).sum())


def hyperpriors(precision: FloatArray, noise: FloatArray) -> float:
    """Log-densities: Gamma of precisions; scaled inverse χ² of noise, up to a constant."""
    shape, rate = PRECISION_PRIOR
    guess, worth = NOISE_PRIOR
    return (
        gamma.logpdf(precision, shape + 1, scale=1 / rate).sum()
        - 0.5 * worth * (np.log(noise) + guess / noise).sum()
    )


def dense_bound(
    dense: Dense,
    observed: Observations,
    base: FloatArray,
    noise: FloatArray,
    precision: FloatArray,
    entry_precision: FloatArray,
) -> float:
    """Expected log-likelihood, less divergences, plus hyperpriors: from the definitions."""
    mean, variance = cell_moments(dense)
    d = observed.n_features
    residual = observed.X - base[:d] - mean[:, :d]
    density = -0.5 * np.log(2 * np.pi * noise) - 0.5 * (residual**2 + variance[:, :d]) / noise
    log_odds = base[d:] + mean[:, d:]
    softplus = expectation(lambda z: np.logaddexp(0, z), log_odds, variance[:, d:])
    likelihood = np.nansum(density) + np.nansum(observed.Y * log_odds - softplus)
    rows = sum(
        divergence(u[1:], cov[1:, 1:], np.ones(len(u) - 1))
        for u, cov in zip(dense.U, dense.U_cov, strict=True)
    )
    columns = sum(map(divergence, dense.V, dense.V_cov, entry_precision))
    groups = [d > 0, observed.n_labels > 0]
    return likelihood - rows - columns + hyperpriors(precision[groups], noise)


@settings(max_examples=20)
@given(tables(most_rows=15), st.integers(0, 12))
def test_the_bound_is_that_of_its_definition(observed: Observations, sweeps: int) -> None:
    cells = Cells.of(observed)
    base = np.linspace(-0.5, 0.5, cells.shape[1])
    ascent = Recording(cells, base)
    for _ in range(WARM_UP + sweeps):
        ascent.sweep()
    while ascent.fresh:
        ascent.sweep()
    state = ascent.next
    U, U_cov = dense_rows(state, *dense_sites(ascent, observed))
    dense = Dense(U, U_cov, state.V, covariances(state.V, state.second))
    point = ascent._visit(state)
    # The bound is that of the state and of the rows that follow from it.
    entries = prior_precision(ascent, state.precision)
    bound = dense_bound(dense, observed, base, state.noise, state.precision, entries)
    assert point.bound == pytest.approx(bound, rel=1e-6, abs=1e-4)


@settings(max_examples=20)
@given(tables(most_rows=15), st.integers(1, WARM_UP + 12), st.booleans())
def test_an_update_is_what_normal_equations_give(observed: Observations, sweeps: int, learns: bool) -> None:
    cells = Cells.of(observed)
    base = np.linspace(-0.5, 0.5, cells.shape[1])
    ascent = Recording(cells, base)
    for _ in range(sweeps):
        ascent.sweep()
    state = ascent.next
    U, U_cov = dense_rows(state, *dense_sites(ascent, observed))
    point = ascent._visit(state)
    # The sums are those of the rows, with the sites that they have moved to.
    weight, linear = dense_sites(ascent, observed)
    second = U_cov + U[:, :, None] * U[:, None, :]
    np.testing.assert_allclose(unpack(point.sums.second_u, state.width), second.sum(axis=0), atol=1e-6)
    H = np.einsum("ij,irc->jrc", weight, second)
    np.testing.assert_allclose(unpack(point.sums.H, state.width), H, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(point.sums.g, linear.T @ U, rtol=1e-6, atol=1e-6)
    log_det = -np.linalg.slogdet(U_cov[:, 1:, 1:])[1].sum()
    assert point.sums.log_det_u == pytest.approx(log_det, rel=1e-6, abs=1e-6)
    # Noise is updated first, then columns, then basis and precisions.
    dense = Dense(U, U_cov, state.V, covariances(state.V, state.second))
    noise = dense_noise(dense, observed, base)
    prior = prior_precision(ascent, state.precision)
    dense = Dense(U, U_cov, *dense_columns(U, U_cov, noise, prior, weight, linear))
    updated = ascent._updated(point, learns=learns)
    B, _ = ascent.basis(updated, point.sums)
    dense = in_basis(dense, B)
    np.testing.assert_allclose(updated.noise, noise, rtol=1e-6)
    np.testing.assert_allclose(updated.V, dense.V, atol=1e-6)
    np.testing.assert_allclose(covariances(updated.V, updated.second), dense.V_cov, atol=1e-6)
    log_det = -np.linalg.slogdet(dense.V_cov)[1].sum()
    assert updated.log_det == pytest.approx(log_det, rel=1e-6, abs=1e-5)
    precision = dense_precisions(dense, observed) if learns else state.precision
    np.testing.assert_allclose(updated.precision, precision, rtol=1e-6)
    if learns and not ascent.fresh and not observed.n_labels and sweeps > 1:
        # Where all is normal each of these updates raises the bound by itself.
        entries = prior_precision(ascent, updated.precision)
        bound = dense_bound(dense, observed, base, updated.noise, updated.precision, entries)
        assert bound >= point.bound - 1e-6 * abs(bound)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_evidence_and_not_far(seed: int) -> None:
    """Two columns and one factor: rows are integrated out exactly, V's four numbers by sampling."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 1)) @ rng.normal(size=(1, 2)) + 0.4 * rng.normal(size=(6, 2))
    cells = Cells.of(Observations(X, np.empty((6, 0))))
    ascent = _Ascent(cells, np.zeros(2))
    # Six rows being few, the factor would be taken out.
    ascent.removes = False
    for _ in range(WARM_UP + 30):
        ascent.sweep()
    state = ascent.reached.state
    assert state.V.shape == (2, 2)
    bound = ascent.reached.bound - hyperpriors(state.precision[:1], state.noise)
    entries = prior_precision(ascent, state.precision)
    prior = [multivariate_normal(np.zeros(2), np.diag(1 / one)) for one in entries]
    cov = covariances(state.V, state.second)
    # The posterior has a twin, with both signs turned; tails are covered by the prior and a wider copy.
    count, mirror = 20_000, np.array([1, -1])
    proposals = [
        [multivariate_normal(sign * mean, 2 * one) for mean, one in zip(state.V, cov, strict=True)]
        for sign in (np.ones(2), mirror)
    ]
    proposals.append(prior)
    draws = np.concatenate(
        [np.stack([column.rvs(count, random_state=rng) for column in one], axis=1) for one in proposals]
    )
    log_prior = sum(column.logpdf(draws[:, j]) for j, column in enumerate(prior))
    log_proposal = logsumexp(
        [sum(column.logpdf(draws[:, j]) for j, column in enumerate(one)) for one in proposals], axis=0
    ) - np.log(3)
    S = draws[:, :, None, 1] * draws[:, None, :, 1] + np.diag(state.noise)
    off = X[None] - draws[:, None, :, 0]
    fit = np.einsum("sni,sij,snj->s", off, np.linalg.inv(S), off)
    log_likelihood = -0.5 * (fit + 6 * np.linalg.slogdet(2 * np.pi * S)[1])
    evidence = logsumexp(log_likelihood + log_prior - log_proposal) - np.log(len(draws))
    assert bound < evidence
    # Half of the posterior is the twin, and rows and columns are taken apart: a nat or two.
    assert bound > evidence - 4


@given(st.integers(0, 10_000))
def test_sites_have_the_expected_slope_and_curvature_of_their_labels(seed: int) -> None:
    rng = np.random.default_rng(seed)
    Y = (rng.random((4, 3)) < 0.5).astype(float)
    base = rng.normal(size=3)
    block = RowBlock(Cells.of(Observations(np.empty((4, 0)), Y)), base)
    t, variance = 2 * rng.normal(size=12), rng.uniform(0.05, 4, 12)
    (curvature, pull), log_likelihood = block._target(t, variance)
    y, o = Y.ravel(), np.tile(base, 4)

    def expected(mean: FloatArray, var: FloatArray) -> FloatArray:
        return expectation(lambda z: y[:, None] * z - np.logaddexp(0, z), mean + o, var)

    assert log_likelihood == pytest.approx(expected(t, variance).sum(), abs=1e-3)
    step = 1e-4
    slope = (expected(t + step, variance) - expected(t - step, variance)) / (2 * step)
    by_variance = (expected(t, variance + step) - expected(t, variance - step)) / (2 * step)
    np.testing.assert_allclose(pull - curvature * t, slope, atol=2e-4)
    np.testing.assert_allclose(-curvature / 2, by_variance, atol=2e-4)
    # The quadratic's slope at t's own mean is the label's.
    np.testing.assert_allclose(slope, y - expectation(expit, t + o, variance), atol=1e-6)


@settings(max_examples=15)
@given(tables(), st.floats(0.05, 0.5))
def test_noise_and_precisions_are_where_the_bound_is_highest(observed: Observations, off: float) -> None:
    ascent = ascended(observed, 3)
    point = ascent._visit(ascent.next)
    updated = ascent._updated(point, learns=True)
    best = point.state._replace(noise=updated.noise)
    highest, least = ascent._bound(best, point.sums), ascent._divergence(updated, point.sums)
    used = [k for k, group in enumerate(ascent.groups) if group.size]
    for factor in (1 - off, 1 + off):
        for j in range(observed.n_features):
            noise = best.noise.copy()
            noise[j] *= factor
            assert ascent._bound(best._replace(noise=noise), point.sums) < highest
        for k in used:
            for r in range(updated.precision.shape[1]):
                precision = updated.precision.copy()
                precision[k, r] *= factor
                other = updated._replace(precision=precision)
                # What the bound has of precisions is in the divergence.
                assert ascent._divergence(other, point.sums) > least


# -- the factors' basis --------------------------------------------------------------------------------


def random_state(rng: np.random.Generator, ascent: _Ascent, k: int) -> tuple[Dense, FactorState, Sums]:
    """Some rows' and columns' moments and the state that belongs to them."""
    roots = [rng.normal(size=(size, k + 1, k + 1)) for size in (ascent.n, ascent.m)]
    U, V = rng.normal(size=(ascent.n, k + 1)), rng.normal(size=(ascent.m, k + 1))
    U[:, 0], roots[0][:, 0] = 1, 0
    dense = Dense(U, roots[0] @ roots[0].swapaxes(1, 2), V, roots[1] @ roots[1].swapaxes(1, 2))
    state = ascent.next._replace(
        V=V,
        second=pack(dense.V_cov + V[:, :, None] * V[:, None, :]),
        log_det=-np.linalg.slogdet(dense.V_cov)[1].sum(),
        precision=rng.uniform(0.5, 2, (2, k)),
    )
    sums = Sums(
        np.zeros_like(state.second),
        np.zeros_like(V),
        pack((dense.U_cov + U[:, :, None] * U[:, None, :]).sum(axis=0)),
        -np.linalg.slogdet(dense.U_cov[:, 1:, 1:])[1].sum(),
        0.0,
    )
    return dense, state, sums


@given(st.integers(0, 10_000))
def test_a_change_of_basis_leaves_every_cell_s_mean_and_variance_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (9, 6, 4, 4))
    ascent = _Ascent(Cells.of(random_rows(rng, n, d, labels)), np.zeros(d + labels))
    dense, state, sums = random_state(rng, ascent, k)
    B = np.eye(k + 1)
    B[1:] = rng.normal(size=(k, k + 1)) + 2 * np.eye(k + 1)[1:]
    turned, there = ascent._stretched(state, sums, B)
    # Rows are what they have to be for their sums to be those of the state.
    rows = in_basis(dense, B)
    np.testing.assert_allclose(rows.U[:, 0], 1)
    spread = (rows.U_cov + rows.U[:, :, None] * rows.U[:, None, :]).sum(axis=0)
    np.testing.assert_allclose(unpack(there.second_u, k + 1), spread, rtol=1e-6, atol=1e-6)
    other = Dense(rows.U, rows.U_cov, turned.V, covariances(turned.V, turned.second))
    for one, two in zip(cell_moments(dense), cell_moments(other), strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-6, atol=1e-6)
    # Entropies change with the volume.
    log_det = -np.linalg.slogdet(rows.U_cov[:, 1:, 1:])[1].sum()
    assert there.log_det_u == pytest.approx(log_det, abs=1e-5)
    assert turned.log_det == pytest.approx(-np.linalg.slogdet(other.V_cov)[1].sum(), abs=1e-5)
    for name in ("noise", "precision"):
        np.testing.assert_array_equal(getattr(turned, name), getattr(state, name))


@given(st.integers(0, 10_000))
def test_whitened_rows_have_mean_zero_and_unit_second_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, k = (int(rng.integers(1, high)) for high in (6, 4))
    ascent = _Ascent(Cells.of(random_rows(rng, 9, d, 2)), np.zeros(d + 2))
    _, state, sums = random_state(rng, ascent, k)
    white = whitening(unpack(sums.second_u, k + 1) / 9)
    _, there = ascent._stretched(state, sums, white)
    np.testing.assert_allclose(unpack(there.second_u, k + 1) / 9, np.eye(k + 1), atol=1e-7)
    np.testing.assert_allclose(whitening(np.eye(k + 1)), np.eye(k + 1), atol=1e-12)


@given(st.integers(0, 10_000))
def test_a_better_basis_has_no_lower_bound_than_the_old_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, labels, k = (int(rng.integers(1, high)) for high in (6, 4, 4))
    ascent = Recording(Cells.of(random_rows(rng, 9, d, labels)), np.zeros(d + labels))
    _, state, sums = random_state(rng, ascent, k)
    plain = state._replace(precision=ascent._learnt(ascent._spread_v(state)))
    better = ascent._in_better_basis(state, sums)
    _, there = ascent.basis(better, sums)
    assert ascent._divergence(better, there) <= ascent._divergence(plain, sums)
    assert ascent._divergence(plain, sums) <= ascent._divergence(state, sums)


# -- factors die ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(12, 4), (16, 0), (0, 16)])
def test_two_factors_are_found_where_there_are_two(seed: int, shape: tuple[int, int]) -> None:
    d, labels = shape
    # A label is less informative than a number.
    n, share = (400, 0.8) if d == 0 else (150, 0.5)
    observed, _, _ = modelled_table(seed, n=n, d=d, labels=labels, share=share)
    assert fitted(observed).rank == 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(100, 10, 0), (100, 0, 10), (100, 10, 5)])
def test_in_pure_noise_next_to_nothing_is_found(seed: int, shape: tuple[int, int, int]) -> None:
    observed = pure_noise(seed, *shape)
    posterior = fitted(observed)
    assert posterior.rank <= 2
    predicted = posterior.predict(Cells.of(observed))
    # What is left hardly moves a cell from its offset, against a variance of 1.
    assert (predicted.mean - posterior.base - posterior.V[:, 0]).var() < 0.1


def test_a_factor_is_left_out_without_touching_the_others() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    dense, state, _ = random_state(rng, ascent, 3)
    left = state.without(np.array([2]))
    np.testing.assert_array_equal(left.V, dense.V[:, [0, 1, 3]])
    np.testing.assert_allclose(
        covariances(left.V, left.second), dense.V_cov[:, [0, 1, 3]][:, :, [0, 1, 3]], atol=1e-9
    )
    np.testing.assert_array_equal(left.precision, state.precision[:, [0, 2]])


def test_a_factor_is_supported_if_one_group_of_columns_supports_it() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    _, state, _ = random_state(rng, ascent, 4)
    V, cov = np.zeros((7, 5)), np.tile(np.eye(5), (7, 1, 1))
    V[:4, 1], V[4:, 2], V[:, 3] = 1, 1, 0.4
    state = state._replace(V=V, second=pack(cov + V[:, :, None] * V[:, None, :]))
    # Half of the second moments in one group; a seventh in both; nothing.
    np.testing.assert_array_equal(ascent._unsupported(state), [3, 4])


# -- factors are added ---------------------------------------------------------------------------------


def test_added_factors_leave_the_others_moments_alone() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    dense, state, _ = random_state(rng, ascent, 2)
    born = rng.normal(size=(7, 3))
    grown = state.with_factors(born)
    np.testing.assert_array_equal(grown.V, np.hstack((dense.V, born)))
    second = unpack(grown.second, 6)
    np.testing.assert_array_equal(second[:, :3, :3], unpack(state.second, 3))
    # Their loadings are known: no variance, and no covariance with anything.
    np.testing.assert_allclose(covariances(grown.V, grown.second)[:, 3:], 0, atol=1e-12)
    np.testing.assert_array_equal(grown.precision[:, :2], state.precision)
    np.testing.assert_array_equal(grown.precision[:, 2:], np.repeat(np.array(START_PRECISION)[:, None], 3, 1))
    np.testing.assert_array_equal(grown.noise, state.noise)
    np.testing.assert_array_equal(grown.without(np.array([3, 4, 5])).second, state.second)


@pytest.mark.parametrize("growth", [1, 3])
def test_factors_are_added_along_what_others_leave_unexplained(growth: int) -> None:
    rng = np.random.default_rng(1)
    posterior, observed = random_posterior(rng, 6, 4, 2), random_rows(rng, 20, 6, 4)
    cells = Cells.of(observed)
    ascent = _Ascent(cells, posterior.base, posterior, growth)
    state = ascent._continued(posterior, 0)
    np.testing.assert_array_equal(ascent.next.V[:, :3], posterior.V)
    born = ascent.next.V[:, 3:]
    assert born.shape == (10, growth)
    # Of the rows given these columns and the sites that labels begin with.
    U, _ = dense_rows(state, *dense_sites(ascent, observed))
    T = U @ posterior.V.T + posterior.base
    left = np.nan_to_num(np.hstack((observed.X - T[:, :6], 4 * (observed.Y - expit(T[:, 6:])))))
    _, s, vectors = np.linalg.svd(left)
    share = (cells.x_value.size + cells.y_value.size) / left.size
    loadings = START_LENGTH * vectors[:growth].T * s[:growth] / (share * np.sqrt(20))
    # The sign of a factor means nothing.
    np.testing.assert_allclose(born @ born.T, loadings @ loadings.T, atol=1e-6)


@pytest.mark.parametrize("spare", [0, 2])
def test_a_fit_begins_with_factors_that_stand_out_of_noise(spare: int) -> None:
    rng = np.random.default_rng(0)
    T = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 40)) + rng.normal(size=(300, 40))
    seen, nothing = rng.random(T.shape) < 0.5, sparse.csr_array((300, 0))
    for table, clear in ((T, 3), (rng.normal(size=T.shape), 0)):
        X = sparse.csr_array(table * seen)
        s = np.linalg.svd(X.toarray(), compute_uv=False)
        edge = np.linalg.norm(X.toarray()) * (300**-0.5 + 40**-0.5)
        # Noise alone comes to the edge, and hardly over it.
        assert (s > 1.05 * edge).sum() == clear
        count = int((s > NOISE_EDGE * edge).sum())
        assert residual_factors([(X, nothing)], 20, spare=spare).shape == (40, count + spare)
        assert residual_factors([(X, nothing)], 20).shape == (40, 20)
        assert residual_factors([(X, nothing)], 2, spare=2).shape == (40, 2)


def test_no_more_factors_are_added_than_a_table_may_have() -> None:
    rng = np.random.default_rng(1)
    posterior, observed = random_posterior(rng, 6, 4, 2), random_rows(rng, 7, 6, 4)
    ascent = _Ascent(Cells.of(observed), posterior.base, posterior, 100)
    assert ascent.next.width - 1 == most_factors(7, 10) == 4


@settings(max_examples=25)
@given(tables())
def test_a_fit_continued_from_itself_does_not_end_lower(observed: Observations) -> None:
    first = fitted(observed)
    second = fitted(observed, start=first)
    assert (np.diff(second.bounds) >= 0).all()
    assert second.n_iter > GROWTH_WARM_UP
    assert second.rank <= first.rank
    cell_count = observed.X_known.sum() + observed.Y_known.sum()
    # Its warm-up does not watch the bound, and a fit may end ten such gains below its plateau.
    assert second.bounds[-1] >= first.bounds[-1] - 10 * BOUND_TOL * max(cell_count, 1)


@settings(max_examples=15)
@given(tables(), st.integers(1, 3))
def test_bounds_of_grown_fits_rise_too(observed: Observations, growth: int) -> None:
    second = fitted(observed, start=fitted(observed), growth=growth)
    assert (np.diff(second.bounds) >= 0).all()
    assert second.rank <= most_factors(*Cells.of(observed).shape)
    assert np.isfinite(second.predict(Cells.of(observed)).mean).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_missing_factor_grows_again(seed: int) -> None:
    observed, _, _ = modelled_table(seed)
    whole = fitted(observed)
    assert whole.rank == 2
    state = _Ascent(Cells.of(observed), whole.base, whole).next.without(np.array([2]))
    one = replace(whole, V=state.V, second=state.second, precision=state.precision)
    assert fitted(observed, start=one).rank == 1
    again = fitted(observed, start=one, growth=3)
    assert again.rank == 2
    cell_count = observed.X_known.sum() + observed.Y_known.sum()
    assert again.bounds[-1] >= whole.bounds[-1] - 10 * BOUND_TOL * cell_count
    cells = Cells.of(observed)
    there, here = again.predict(cells).mean, whole.predict(cells).mean
    assert np.abs(there - here).mean() < 0.05 * np.abs(here).mean()


def test_a_fit_to_other_rows_is_a_start() -> None:
    observed, _, _ = modelled_table(3, n=300)
    some = Observations(observed.X[:200], observed.Y[:200])
    alone = fitted(observed)
    continued = fitted(observed, start=fitted(some))
    assert continued.converged
    assert continued.n_iter < alone.n_iter
    assert continued.rank == alone.rank
    cell_count = observed.X_known.sum() + observed.Y_known.sum()
    assert continued.bounds[-1] >= alone.bounds[-1] - 10 * BOUND_TOL * cell_count


def test_a_start_is_left_alone() -> None:
    observed, _, _ = modelled_table(3, n=60)
    start = fitted(observed, max_iter=WARM_UP + 2)
    names = ("V", "second", "noise", "precision", "base")
    before = {name: getattr(start, name).copy() for name in names}
    fitted(observed, start=start, growth=2)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(start, name), value)


# -- row blocks ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 7, 20])
@settings(max_examples=8)
@given(table=tables())
def test_blocks_of_rows_add_up_to_the_table(rows: int, table: Observations) -> None:
    cells = Cells.of(table)
    base = np.linspace(-0.5, 0.5, cells.shape[1])
    ascent = _Ascent(cells, base)
    for _ in range(WARM_UP + 2):
        ascent.sweep()
    with pytest.MonkeyPatch.context() as patch:
        width = (MOST_FACTORS + 1) * (MOST_FACTORS + 2) // 2
        patch.setattr(row_blocks, "BLOCK_NUMBERS", rows * width)
        cut = _Ascent(cells, base)
    assert len(ascent.blocks) == 1
    assert len(cut.blocks) == -(-table.n_samples // rows)
    assert sum(block.cells.shape[0] for block in cut.blocks) == table.n_samples
    assert max(block.cells.shape[0] for block in cut.blocks) <= rows
    np.testing.assert_array_equal(cut.count, ascent.count)
    np.testing.assert_allclose(cut.squares, ascent.squares, rtol=1e-12)
    (sites,), first = sites_of(ascent), 0
    for block in cut.blocks:
        last = first + block.labels.size
        block.place(type(sites)(sites.weight[first:last], sites.pull[first:last]))
        first = last
    assert first == sites.weight.size
    cut.pace = ascent.pace
    one, other = ascent._visit(ascent.next), cut._visit(ascent.next)
    for name in Sums._fields:
        left, right = getattr(one.sums, name), getattr(other.sums, name)
        np.testing.assert_allclose(right, left, rtol=1e-10, atol=1e-10)
    assert other.bound == pytest.approx(one.bound, rel=1e-10)
    for name in ("weight", "pull"):
        moved = np.concatenate([getattr(each, name) for each in sites_of(cut)])
        np.testing.assert_allclose(moved, getattr(sites_of(ascent)[0], name), rtol=1e-10, atol=1e-12)


def test_a_fit_does_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _, _ = modelled_table(4, n=40, d=7, labels=5)
    one, cells = fitted(observed), Cells.of(observed)
    monkeypatch.setattr(row_blocks, "BLOCK_NUMBERS", 6_000)
    other = fitted(observed)
    np.testing.assert_allclose(other.bounds, one.bounds, rtol=1e-8)
    np.testing.assert_allclose(other.noise, one.noise, atol=1e-6)
    here, there = one.predict(cells), other.predict(cells)
    np.testing.assert_allclose(there.mean, here.mean, atol=1e-5)
    np.testing.assert_allclose(there.variance, here.variance, atol=1e-5)


# -- rows ----------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000))
def test_rows_are_the_gaussian_conditional_where_v_is_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, k = (int(rng.integers(1, high)) for high in (6, 8, 4))
    posterior = random_posterior(rng, d, 0, k, spread=0.0)
    observed = random_rows(rng, n, d, 0)
    rows = posterior.rows(Cells.of(observed))
    W, offset = posterior.V[:, 1:], posterior.V[:, 0] + posterior.base
    for i in range(n):
        known = observed.X_known[i]
        # Of the joint normal distribution of u and the observed x, by conditioning, not by precisions.
        S = W[known] @ W[known].T + np.diag(posterior.noise[known])
        gain = W[known].T @ np.linalg.inv(S)
        np.testing.assert_allclose(rows.U[i, 1:], gain @ (observed.X[i] - offset)[known], atol=1e-9)
        cov = np.zeros((k + 1, k + 1))
        cov[1:, 1:] = np.eye(k) - gain @ W[known]
        np.testing.assert_allclose(covariances(*rows)[i], cov, atol=1e-9)
    np.testing.assert_array_equal(rows.U[:, 0], 1)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_labels_of_rows_settle_where_the_expected_slope_is_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    posterior = random_posterior(rng, 3, 4, 2, spread=0.0)
    observed = random_rows(rng, 5, 3, 4)
    rows = posterior.rows(Cells.of(observed))
    T = rows.U @ posterior.V.T
    variance = np.einsum("jr,nrc,jc->nj", posterior.V, covariances(*rows), posterior.V)
    probability = expectation(expit, (T + posterior.base)[:, 3:], np.maximum(variance[:, 3:], 0))
    slope = np.hstack(
        ((observed.X - posterior.base[:3] - T[:, :3]) / posterior.noise, observed.Y - probability)
    )
    gradient = np.nan_to_num(slope) @ posterior.V[:, 1:] - rows.U[:, 1:]
    np.testing.assert_allclose(gradient, 0, atol=1e-3)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from((1.0, PACE)))
def test_rows_that_have_settled_stand_still(seed: int, pace: float) -> None:
    rng = np.random.default_rng(seed)
    posterior, cells = random_posterior(rng, 3, 4, 2), Cells.of(random_rows(rng, 9, 3, 4))
    block = RowBlock(cells, posterior.base)
    # A row without labels does not move at all.
    _, settled = block.settle(posterior.columns, pace, 2, ROW_TOL)
    np.testing.assert_array_equal(settled[np.diff(cells.y_start) == 0], True)
    rows, settled = block.settle(posterior.columns, pace, 200, ROW_TOL)
    assert settled.all()
    before, _ = block.label_moments(rows, posterior.columns)
    block.visit(posterior.columns, pace)
    after, _ = block.label_moments(block.rows(posterior.columns)[0], posterior.columns)
    np.testing.assert_allclose(after, before, atol=2 * ROW_TOL)


@given(st.integers(0, 10_000))
def test_a_table_is_predicted_by_its_rows_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (9, 6, 4, 4))
    posterior = random_posterior(rng, d, labels, k)
    cells = Cells.of(random_rows(rng, n, d, labels))
    rows, predicted = posterior.rows(cells), posterior.predict(cells)
    dense = Dense(rows.U, covariances(*rows), posterior.V, covariances(posterior.V, posterior.second))
    mean, variance = cell_moments(dense)
    np.testing.assert_allclose(predicted.mean, mean + posterior.base, atol=1e-10)
    np.testing.assert_allclose(predicted.variance, variance, atol=1e-9)
    assert predicted.averaged


@pytest.mark.parametrize("labels", [0, 5])
@pytest.mark.parametrize("chunk", [1, 40, 4_000_000])
def test_rows_do_not_depend_on_the_rows_predicted_with_them(
    monkeypatch: pytest.MonkeyPatch, chunk: int, labels: int
) -> None:
    rng = np.random.default_rng(5)
    posterior, observed = random_posterior(rng, 6, labels, 3), random_rows(rng, 23, 6, labels)
    cells = Cells.of(observed)
    alone = [posterior.predict(cells.rows(i, i + 1)) for i in range(23)]
    monkeypatch.setattr(posteriors, "CHUNK", chunk)
    together = posterior.predict(cells)
    # With labels, sweeps end when the rows together stand still.
    atol = 1e-4 if labels else 1e-12
    for name in ("mean", "variance"):
        apart = np.vstack([getattr(one, name) for one in alone])
        np.testing.assert_allclose(getattr(together, name), apart, rtol=1e-11, atol=atol)


def test_a_row_without_cells_gets_the_offsets_and_the_prior_s_variance() -> None:
    rng = np.random.default_rng(2)
    posterior = random_posterior(rng, 4, 3, 2, spread=0.0)
    predicted = posterior.predict(Cells.of(Observations(np.full((1, 4), nan), np.full((1, 3), nan))))
    np.testing.assert_allclose(predicted.mean[0], posterior.base + posterior.V[:, 0])
    np.testing.assert_allclose(predicted.variance[0], (posterior.V[:, 1:] ** 2).sum(axis=1))


def test_predicting_leaves_its_arguments_alone() -> None:
    rng = np.random.default_rng(0)
    posterior, observed = random_posterior(rng, 4, 3, 2), random_rows(rng, 6, 4, 3)
    cells = Cells.of(observed)
    parts = {"x_value", "y_value", "x_column", "y_column", "x_start", "y_start"}
    fields = {"V", "second", "noise", "base", "precision"}
    before = [
        {name: getattr(one, name).copy() for name in names}
        for one, names in ((cells, parts), (posterior, fields))
    ]
    posterior.predict(cells)
    posterior.draw(cells, rng)
    fit_variational(cells, posterior.base, max_iter=WARM_UP + 3)
    for one, kept in zip((cells, posterior), before, strict=True):
        for name, value in kept.items():
            np.testing.assert_array_equal(getattr(one, name), value)


def test_draws_have_the_predicted_moments() -> None:
    rng = np.random.default_rng(1)
    posterior, observed = random_posterior(rng, 3, 2, 2), random_rows(rng, 4, 3, 2)
    # Labels are drawn, but not known: rows with labels take many times as long.
    cells = Cells.of(replace(observed, Y=np.full((4, 2), nan)))
    predicted, count = posterior.predict(cells), 1500
    draws = np.array([posterior.draw(cells, rng) for _ in range(count)])
    error = draws.std(axis=0) / np.sqrt(count)
    assert (np.abs(draws.mean(axis=0) - predicted.mean) < 5 * error).all()
    # A product of normals has heavier tails than a normal: its fourth moment sets the error of a variance.
    squares = (draws - draws.mean(axis=0)) ** 2
    assert (
        np.abs(squares.mean(axis=0) - predicted.variance) < 5 * squares.std(axis=0) / np.sqrt(count)
    ).all()


def test_columns_and_rows_of_a_draw_are_drawn_once() -> None:
    """Cells of one row go together: the table of a draw has the rank of the factors."""
    rng = np.random.default_rng(3)
    posterior = random_posterior(rng, 8, 0, 2, spread=0.2)
    draw = posterior.draw(Cells.of(random_rows(rng, 9, 8, 0)), rng)
    s = np.linalg.svd(draw - posterior.base, compute_uv=False)
    assert s[2] > 1e-3
    assert s[3] < 1e-9


# -- on the model's own data ---------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(3))
def test_on_the_model_s_own_data_it_beats_nothing_covers_and_finds_the_noise(seed: int) -> None:
    noise = np.linspace(0.1, 1.0, 12)
    observed, truth, T = modelled_table(seed, noise=noise)
    cells = Cells.of(observed)
    posterior = fit_variational(cells, np.zeros(16))
    predicted = posterior.predict(cells)
    held_out = ~observed.X_known
    error = (predicted.mean[:, :12] - truth)[held_out]
    assert np.mean(error**2) < 0.6 * np.mean(truth[held_out] ** 2)
    std = np.sqrt(predicted.variance[:, :12] + predicted.noise)[held_out]
    assert np.mean(np.abs(error) < ndtri(0.95) * std) == pytest.approx(0.9, abs=0.04)
    assert np.mean(np.abs(error) < ndtri(0.75) * std) == pytest.approx(0.5, abs=0.06)
    # Seventy-odd cells per feature leave a standard error of a sixth, and factors add to it.
    assert np.corrcoef(posterior.noise, noise)[0, 1] > 0.85
    assert np.median(posterior.noise / noise) == pytest.approx(1, abs=0.2)
    # Labels too: their scores predict better than their rates, and are calibrated.
    unknown = ~observed.Y_known
    score, probability = predicted.score[:, 12:], expit(T[:, 12:])
    loss, nothing = (
        np.mean((np.logaddexp(0, z) - probability * z)[unknown]) for z in (score, np.zeros_like(score))
    )
    assert loss < 0.95 * nothing
    likely = expit(np.abs(score[unknown]))
    right = np.where(score[unknown] > 0, probability[unknown], 1 - probability[unknown])
    assert likely.mean() == pytest.approx(right.mean(), abs=0.06)


def test_order_of_rows_and_columns_does_not_matter() -> None:
    observed, _, _ = modelled_table(4, n=40, d=7, labels=5)
    rng = np.random.default_rng(0)
    base = np.concatenate((np.zeros(7), rng.normal(size=5)))
    row, feature, label = rng.permutation(40), rng.permutation(7), rng.permutation(5)
    column = np.concatenate((feature, 7 + label))
    shuffled = Observations(observed.X[row][:, feature], observed.Y[row][:, label])
    one = fit_variational(Cells.of(observed), base)
    other = fit_variational(Cells.of(shuffled), base[column])
    here, there = one.predict(Cells.of(observed)), other.predict(Cells.of(shuffled))
    np.testing.assert_allclose(there.mean, here.mean[row][:, column], atol=1e-5)
    np.testing.assert_allclose(there.variance, here.variance[row][:, column], atol=1e-5)
    np.testing.assert_allclose(other.noise, one.noise[feature], atol=1e-6)
    np.testing.assert_allclose(other.bounds, one.bounds, rtol=1e-8)


def test_what_numbers_count_from_is_a_shift() -> None:
    observed, _, _ = modelled_table(5, n=40)
    shift = np.linspace(-3, 3, 12)
    base = np.concatenate((shift, np.zeros(4)))
    one = fitted(observed)
    other = fit_variational(Cells.of(replace(observed, X=observed.X + shift)), base)
    np.testing.assert_allclose(other.bounds, one.bounds, rtol=1e-8)
    here, there = (
        fit.predict(Cells.of(table))
        for fit, table in ((one, observed), (other, replace(observed, X=observed.X + shift)))
    )
    np.testing.assert_allclose(there.mean, here.mean + base, atol=1e-6)


def test_a_score_is_close_to_the_averaged_probability() -> None:
    mean, variance = np.meshgrid(np.linspace(-12, 12, 49), np.geomspace(1e-3, 100, 20))
    predicted = expit(Moments(mean, variance, np.empty(0), averaged=True).score)
    assert np.abs(predicted - expectation(expit, mean, variance)).max() < 0.02
    np.testing.assert_array_equal(Moments(mean, variance, np.empty(0), averaged=False).score, mean)
    certain = Moments(mean, np.zeros_like(mean), np.empty(0), averaged=True)
    np.testing.assert_array_equal(certain.score, mean)


def test_one_sided_labels_and_empty_rows_and_columns_are_finite() -> None:
    observed, _, _ = modelled_table(9, n=30, d=6, labels=4)
    X, Y = observed.X.copy(), observed.Y.copy()
    X[:, 2] = nan
    Y[:, 0] = np.where(np.isnan(Y[:, 0]), nan, 1)
    Y[:, 1] = np.where(np.isnan(Y[:, 1]), nan, 0)
    Y[:, 2] = nan
    X[[3, 17]], Y[[3, 17]] = nan, nan
    cells = Cells.of(Observations(X, Y))
    posterior = fit_variational(cells, np.zeros(10))
    predicted = posterior.predict(cells)
    for part in (predicted.mean, predicted.variance, predicted.score, posterior.noise):
        assert np.isfinite(part).all()
    assert (predicted.variance >= 0).all()
    assert (predicted.score[:, 6] > 0).all()
    assert (predicted.score[:, 7] < 0).all()
    # Nothing is known of these but the offsets, which nothing moved.
    np.testing.assert_allclose(predicted.mean[:, [2, 8]], 0, atol=1e-8)
    np.testing.assert_allclose(predicted.mean[[3, 17]], np.tile(posterior.V[:, 0], (2, 1)), atol=1e-12)
    # The feature without cells has the noise of the prior.
    assert posterior.noise[2] == pytest.approx(NOISE_PRIOR[0])


# -- Ctrl-C --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [1, WARM_UP, WARM_UP + 4])
def test_a_request_to_stop_keeps_what_was_reached(after: int) -> None:
    observed, _, _ = modelled_table(6, n=60)
    records = []

    def progress(record: Mapping[str, Any]) -> None:
        records.append(record)
        if len(records) == after:
            signal.raise_signal(signal.SIGINT)

    with interrupts("keep"):
        stopped = fitted(observed, progress=progress)
    assert stopped.interrupted
    assert not stopped.converged
    assert stopped.n_iter == after
    assert [one["iteration"] for one in records] == list(range(1, after + 1))
    assert {one["stage"] for one in records} == {"averaging"}
    # What was reached is what as many sweeps reach without a request.
    same = fitted(observed, max_iter=after)
    assert not same.interrupted
    assert stopped.bounds == same.bounds
    for name in ("V", "second", "noise", "precision"):
        np.testing.assert_array_equal(getattr(stopped, name), getattr(same, name))
    assert len(stopped.bounds) <= max(after - WARM_UP, 0)
    if after > WARM_UP:
        assert records[-1]["bound"] == stopped.bounds[-1]


def test_a_pending_request_lets_the_first_sweep_end_and_a_second_does_not() -> None:
    observed, _, _ = modelled_table(6, n=60)
    with interrupts("keep"):
        signal.raise_signal(signal.SIGINT)
        stopped = fitted(observed)
    assert stopped.interrupted
    assert stopped.n_iter == 1
    assert np.isfinite(stopped.predict(Cells.of(observed)).mean).all()

    def hasty(record: Mapping[str, Any]) -> None:
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with interrupts("keep"), pytest.raises(KeyboardInterrupt):
        fitted(observed, progress=hasty)


def test_ctrl_c_is_raised_where_it_is_not_to_be_kept() -> None:
    observed, _, _ = modelled_table(6, n=60)
    with pytest.raises(KeyboardInterrupt):
        fitted(observed, progress=lambda record: signal.raise_signal(signal.SIGINT))
