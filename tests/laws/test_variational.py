"""The variational fit: its bound is a bound and rises, rows are exact, intervals hold their share."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pytest
from cocomplete.solvers.likelihood import NOISE_PRIOR, CellLikelihood
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp, ndtri
from scipy.stats import gamma, multivariate_normal

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers import variational
from cocomplete.solvers.basis import whitening
from cocomplete.solvers.moments import Moments, Pattern, pack, unpack
from cocomplete.solvers.variational import (
    OFFSET_PRECISION,
    PRECISION_PRIOR,
    WARM_UP,
    FactorPosterior,
    _Ascent,
    _State,
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
        ascent.sweep()
        if ascent.sweeps > WARM_UP:
            bounds.append(ascent.bound())
    # The bound that is kept is that of the state, and it does not fall.
    np.testing.assert_allclose(bounds, ascent.bounds, rtol=1e-12)
    assert (np.diff(bounds) >= 0).all()
    assert np.isfinite(bounds).all()


@settings(max_examples=20)
@given(tables())
def test_a_fit_is_finite_ends_and_says_whether_the_bound_stood_still(observed: Observations) -> None:
    cells = Cells.of(observed)
    posterior = fitted(observed)
    told = posterior.predict(cells)
    for part in (told.mean, told.variance, told.score, posterior.V, posterior.second, posterior.precision):
        assert np.isfinite(part).all()
    assert (told.variance >= 0).all()
    assert (posterior.noise > 0).all()
    assert (posterior.precision > 0).all()
    assert posterior.n_iter == WARM_UP + len(posterior.bounds)
    gain = posterior.bounds[-1] - posterior.bounds[-2]
    cell_count = cells.x_value.size + cells.y_value.size
    assert posterior.converged == (gain < variational.BOUND_TOL * max(cell_count, 1))
    assert posterior.converged or posterior.n_iter == variational.SWEEPS


def test_the_bound_gains_while_precisions_are_learnt() -> None:
    posterior = fitted(modelled_table(0)[0])
    assert posterior.bounds[-1] > posterior.bounds[0] + 50


def test_steps_that_lower_the_bound_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _, _ = modelled_table(1, n=60)
    cells = Cells.of(observed)
    ascent = _Ascent(cells, np.zeros(16))
    for _ in range(WARM_UP + 2):
        ascent.sweep()
    state, bounds = ascent.state, list(ascent.bounds)

    def worse(self: _Ascent, *, learns: bool) -> None:
        self.state = self.state._replace(noise=100 * self.state.noise)

    monkeypatch.setattr(_Ascent, "_update", worse)
    ascent.sweep()
    assert ascent.state is state
    assert ascent.bounds == [*bounds, bounds[-1]]
    assert ascent.converged


# -- the bound is the bound ----------------------------------------------------------------------------


class Dense(NamedTuple):
    """Posteriors as plain means and covariance matrices, first coordinates included."""

    U: np.ndarray
    U_cov: np.ndarray
    V: np.ndarray
    V_cov: np.ndarray


class Recording(_Ascent):
    """An ascent that remembers which basis it has turned to."""

    def _stretched(self, state: _State, B: FloatArray) -> _State:
        turned = super()._stretched(state, B)
        self.bases = [*getattr(self, "bases", []), (turned.V, B)]
        return turned

    def basis(self) -> FloatArray:
        """B of the last sweep, found by the V that it made; none was better if it is not there."""
        found = [B for V, B in getattr(self, "bases", []) if V is self.state.V]
        return found[0] if found else np.eye(self.state.V.shape[1])


def prior_precision(ascent: _Ascent, state: _State) -> FloatArray:
    label = np.arange(ascent.m) >= ascent.pattern.n_features
    return np.column_stack(
        (np.where(label, OFFSET_PRECISION[1], OFFSET_PRECISION[0]), state.precision[label.astype(int)])
    )


def dense_update(ascent: _Ascent, observed: Observations) -> Dense:
    """Rows' and columns' posteriors that the next sweep comes to, by loops and inverses."""
    state, pattern = ascent.state, ascent.pattern
    n, m, k = ascent.n, ascent.m, state.V.shape[1]
    weight, pull = np.zeros((n, m)), np.zeros((n, m))
    row = np.repeat(np.arange(n), np.diff(pattern.start))
    weight[row, pattern.column], pull[row, pattern.column] = ascent.likelihood.coefficients(state.noise)
    E = unpack(state.second_v, k)
    U, U_cov = np.zeros((n, k)), np.zeros((n, k, k))
    U[:, 0] = 1
    for i in range(n):
        H = np.einsum("j,jrc->rc", weight[i], E)
        U_cov[i, 1:, 1:] = np.linalg.inv(np.eye(k - 1) + H[1:, 1:])
        U[i, 1:] = U_cov[i, 1:, 1:] @ (pull[i] @ state.V[:, 1:] - H[1:, 0])
    E = U_cov + U[:, :, None] * U[:, None, :]
    V, V_cov = np.zeros((m, k)), np.zeros((m, k, k))
    prior = prior_precision(ascent, state)
    for j in range(m):
        V_cov[j] = np.linalg.inv(np.diag(prior[j]) + np.einsum("i,irc->rc", weight[:, j], E))
        V[j] = V_cov[j] @ (pull[:, j] @ U)
    return Dense(U, U_cov, V, V_cov)


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
    expected = dense_update(ascent, observed)
    ascent._update(learns=True)
    expected = in_basis(expected, ascent.basis())
    state = ascent.state
    # Columns and the sum over rows are what normal equations give ...
    np.testing.assert_allclose(state.V, expected.V, atol=1e-6)
    np.testing.assert_allclose(covariances(state.V, state.second_v), expected.V_cov, atol=1e-6)
    second = expected.U_cov + expected.U[:, :, None] * expected.U[:, None, :]
    np.testing.assert_allclose(state.spread_u, second.sum(axis=0), rtol=1e-6, atol=1e-6)
    # ... and the bound is what it is defined as.
    entries = prior_precision(ascent, state)
    bound = dense_bound(expected, observed, base, state.noise, state.precision, entries)
    assert ascent.bound() == pytest.approx(bound, rel=1e-6, abs=1e-4)


@pytest.mark.parametrize("seed", range(4))
def test_the_bound_is_below_the_evidence_and_not_far(seed: int) -> None:
    """Two columns and one factor: rows are integrated out exactly, V's four numbers by sampling."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(6, 1)) @ rng.normal(size=(1, 2)) + 0.4 * rng.normal(size=(6, 2))
    cells = Cells.of(Observations(X, np.empty((6, 0))))
    ascent = _Ascent(cells, np.zeros(2))
    for _ in range(30):
        # Not a whole sweep: that would take the factor out, six rows being few.
        ascent._update(learns=True)
    state = ascent.state
    assert state.V.shape == (2, 2)
    bound = ascent.bound() - hyperpriors(state.precision[:1], state.noise)
    prior = [multivariate_normal(np.zeros(2), np.diag(1 / one)) for one in prior_precision(ascent, state)]
    cov = covariances(state.V, state.second_v)
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
    sites = CellLikelihood(Pattern.of(Cells.of(Observations(np.empty((4, 0)), Y))), base)
    t, variance = 2 * rng.normal(size=12), rng.uniform(0.05, 4, 12)
    curvature, pull = sites._site(t, variance)
    y, o = Y.ravel(), np.tile(base, 4)

    def expected(mean: FloatArray, var: FloatArray) -> FloatArray:
        return expectation(lambda z: y[:, None] * z - np.logaddexp(0, z), mean + o, var)

    assert sites.log_likelihood == pytest.approx(expected(t, variance).sum(), abs=1e-3)
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
    cells = Cells.of(observed)
    ascent = _Ascent(cells, np.zeros(cells.shape[1]))
    for _ in range(WARM_UP + 3):
        ascent.sweep()
    ascent._update(learns=True)
    highest, best = ascent.bound(), ascent.state
    used = [k for k, group in enumerate(ascent.groups) if group.size]
    for factor in (1 - off, 1 + off):
        for j in range(cells.n_features):
            noise = best.noise.copy()
            noise[j] *= factor
            ascent.state = best._replace(noise=noise)
            assert ascent.bound() < highest
        for k in used:
            for r in range(best.precision.shape[1]):
                precision = best.precision.copy()
                precision[k, r] *= factor
                ascent.state = best._replace(precision=precision)
                assert ascent.bound() < highest


# -- the factors' basis --------------------------------------------------------------------------------


def random_state(rng: np.random.Generator, ascent: _Ascent, k: int) -> tuple[Dense, _State]:
    """Some rows' and columns' moments and the state that belongs to them."""
    roots = [rng.normal(size=(size, k + 1, k + 1)) for size in (ascent.n, ascent.m)]
    U, V = rng.normal(size=(ascent.n, k + 1)), rng.normal(size=(ascent.m, k + 1))
    U[:, 0], roots[0][:, 0] = 1, 0
    dense = Dense(U, roots[0] @ roots[0].swapaxes(1, 2), V, roots[1] @ roots[1].swapaxes(1, 2))
    return dense, ascent.state._replace(
        spread_u=(dense.U_cov + U[:, :, None] * U[:, None, :]).sum(axis=0),
        log_det_u=-np.linalg.slogdet(dense.U_cov[:, 1:, 1:])[1].sum(),
        V=V,
        second_v=pack(dense.V_cov + V[:, :, None] * V[:, None, :]),
        log_det_v=-np.linalg.slogdet(dense.V_cov)[1].sum(),
        precision=rng.uniform(0.5, 2, (2, k)),
    )


@given(st.integers(0, 10_000))
def test_a_change_of_basis_leaves_every_cell_s_mean_and_variance_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (9, 6, 4, 4))
    ascent = _Ascent(Cells.of(random_rows(rng, n, d, labels)), np.zeros(d + labels))
    dense, state = random_state(rng, ascent, k)
    B = np.eye(k + 1)
    B[1:] = rng.normal(size=(k, k + 1)) + 2 * np.eye(k + 1)[1:]
    turned = ascent._stretched(state, B)
    # Rows are what they have to be for their sums to be those of the state.
    inverse = np.linalg.inv(B)
    U, U_cov = dense.U @ inverse.T, inverse @ dense.U_cov @ inverse.T
    np.testing.assert_allclose(U[:, 0], 1)
    spread = (U_cov + U[:, :, None] * U[:, None, :]).sum(axis=0)
    np.testing.assert_allclose(turned.spread_u, spread, rtol=1e-6, atol=1e-6)
    there = Dense(U, U_cov, turned.V, covariances(turned.V, turned.second_v))
    for one, other in zip(cell_moments(dense), cell_moments(there), strict=True):
        np.testing.assert_allclose(other, one, rtol=1e-6, atol=1e-6)
    # Entropies change with the volume.
    assert turned.log_det_u == pytest.approx(-np.linalg.slogdet(U_cov[:, 1:, 1:])[1].sum(), abs=1e-5)
    assert turned.log_det_v == pytest.approx(-np.linalg.slogdet(there.V_cov)[1].sum(), abs=1e-5)
    for name in ("noise", "precision"):
        np.testing.assert_array_equal(getattr(turned, name), getattr(state, name))


@given(st.integers(0, 10_000))
def test_whitened_rows_have_mean_zero_and_unit_second_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, k = (int(rng.integers(1, high)) for high in (6, 4))
    ascent = _Ascent(Cells.of(random_rows(rng, 9, d, 2)), np.zeros(d + 2))
    _, state = random_state(rng, ascent, k)
    white = ascent._whitened(state)
    np.testing.assert_allclose(white.spread_u / 9, np.eye(k + 1), atol=1e-7)
    np.testing.assert_allclose(whitening(np.eye(k + 1)), np.eye(k + 1), atol=1e-12)


@given(st.integers(0, 10_000))
def test_a_better_basis_has_no_lower_bound_than_the_old_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, labels, k = (int(rng.integers(1, high)) for high in (6, 4, 4))
    ascent = _Ascent(Cells.of(random_rows(rng, 9, d, labels)), np.zeros(d + labels))
    _, state = random_state(rng, ascent, k)
    plain = state._replace(precision=ascent._learnt(ascent._spread_v(state)))
    assert ascent._divergence(ascent._in_better_basis(state)) <= ascent._divergence(plain)
    assert ascent._divergence(plain) <= ascent._divergence(state)


# -- factors die ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(12, 4), (16, 0), (0, 16)])
def test_two_factors_are_found_where_there_are_two(seed: int, shape: tuple[int, int]) -> None:
    d, labels = shape
    # A label tells less than a number.
    n, share = (400, 0.8) if d == 0 else (150, 0.5)
    observed, _, _ = modelled_table(seed, n=n, d=d, labels=labels, share=share)
    assert fitted(observed).rank == 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(100, 10, 0), (100, 0, 10), (100, 10, 5)])
def test_in_pure_noise_next_to_nothing_is_found(seed: int, shape: tuple[int, int, int]) -> None:
    observed = pure_noise(seed, *shape)
    posterior = fitted(observed)
    assert posterior.rank <= 2
    told = posterior.predict(Cells.of(observed))
    # What is left hardly moves a cell from its offset, against a variance of 1.
    assert (told.mean - posterior.base - posterior.V[:, 0]).var() < 0.1


def test_a_factor_is_left_out_without_touching_the_others() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    dense, state = random_state(rng, ascent, 3)
    ascent.state = state
    left = ascent._without(np.array([2]))
    np.testing.assert_array_equal(left.V, dense.V[:, [0, 1, 3]])
    np.testing.assert_allclose(
        covariances(left.V, left.second_v), dense.V_cov[:, [0, 1, 3]][:, :, [0, 1, 3]], atol=1e-9
    )
    np.testing.assert_array_equal(left.precision, state.precision[:, [0, 2]])


def test_a_factor_is_supported_if_one_group_of_columns_supports_it() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    _, state = random_state(rng, ascent, 4)
    V, cov = np.zeros((7, 5)), np.tile(np.eye(5), (7, 1, 1))
    V[:4, 1], V[4:, 2], V[:, 3] = 1, 1, 0.4
    ascent.state = state._replace(V=V, second_v=pack(cov + V[:, :, None] * V[:, None, :]))
    # Half of the second moments in one group; a seventh in both; nothing.
    np.testing.assert_array_equal(ascent._unsupported(), [3, 4])


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


@given(st.integers(0, 10_000))
def test_a_table_is_predicted_by_its_rows_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (9, 6, 4, 4))
    posterior = random_posterior(rng, d, labels, k)
    cells = Cells.of(random_rows(rng, n, d, labels))
    rows, told = posterior.rows(cells), posterior.predict(cells)
    dense = Dense(rows.U, covariances(*rows), posterior.V, covariances(posterior.V, posterior.second))
    mean, variance = cell_moments(dense)
    np.testing.assert_allclose(told.mean, mean + posterior.base, atol=1e-10)
    np.testing.assert_allclose(told.variance, variance, atol=1e-9)
    assert told.averaged


@pytest.mark.parametrize("labels", [0, 5])
@pytest.mark.parametrize("chunk", [1, 40, 4_000_000])
def test_rows_do_not_depend_on_who_is_asked_with_them(
    monkeypatch: pytest.MonkeyPatch, chunk: int, labels: int
) -> None:
    rng = np.random.default_rng(5)
    posterior, observed = random_posterior(rng, 6, labels, 3), random_rows(rng, 23, 6, labels)
    cells = Cells.of(observed)
    alone = [posterior.predict(cells.rows(i, i + 1)) for i in range(23)]
    monkeypatch.setattr(variational, "CHUNK", chunk)
    together = posterior.predict(cells)
    # With labels, sweeps end when the rows together stand still.
    atol = 1e-4 if labels else 1e-12
    for name in ("mean", "variance"):
        apart = np.vstack([getattr(one, name) for one in alone])
        np.testing.assert_allclose(getattr(together, name), apart, rtol=1e-11, atol=atol)


def test_a_row_without_cells_gets_the_offsets_and_the_prior_s_variance() -> None:
    rng = np.random.default_rng(2)
    posterior = random_posterior(rng, 4, 3, 2, spread=0.0)
    told = posterior.predict(Cells.of(Observations(np.full((1, 4), nan), np.full((1, 3), nan))))
    np.testing.assert_allclose(told.mean[0], posterior.base + posterior.V[:, 0])
    np.testing.assert_allclose(told.variance[0], (posterior.V[:, 1:] ** 2).sum(axis=1))


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
    told, count = posterior.predict(cells), 1500
    draws = np.array([posterior.draw(cells, rng) for _ in range(count)])
    error = draws.std(axis=0) / np.sqrt(count)
    assert (np.abs(draws.mean(axis=0) - told.mean) < 5 * error).all()
    # A product of normals has heavier tails than a normal: its fourth moment sets the error of a variance.
    squares = (draws - draws.mean(axis=0)) ** 2
    assert (np.abs(squares.mean(axis=0) - told.variance) < 5 * squares.std(axis=0) / np.sqrt(count)).all()


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
    told = posterior.predict(cells)
    held_out = ~observed.X_known
    error = (told.mean[:, :12] - truth)[held_out]
    assert np.mean(error**2) < 0.6 * np.mean(truth[held_out] ** 2)
    std = np.sqrt(told.variance[:, :12] + told.noise)[held_out]
    assert np.mean(np.abs(error) < ndtri(0.95) * std) == pytest.approx(0.9, abs=0.04)
    assert np.mean(np.abs(error) < ndtri(0.75) * std) == pytest.approx(0.5, abs=0.06)
    # Seventy-odd cells per feature leave a standard error of a sixth, and factors add to it.
    assert np.corrcoef(posterior.noise, noise)[0, 1] > 0.85
    assert np.median(posterior.noise / noise) == pytest.approx(1, abs=0.2)
    # Labels too: their scores predict better than their rates, and are calibrated.
    unknown = ~observed.Y_known
    score, probability = told.score[:, 12:], expit(T[:, 12:])
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
    told = expit(Moments(mean, variance, np.empty(0), averaged=True).score)
    assert np.abs(told - expectation(expit, mean, variance)).max() < 0.02
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
    told = posterior.predict(cells)
    for part in (told.mean, told.variance, told.score, posterior.noise):
        assert np.isfinite(part).all()
    assert (told.variance >= 0).all()
    assert (told.score[:, 6] > 0).all()
    assert (told.score[:, 7] < 0).all()
    # Nothing is known of these but the offsets, which nothing moved.
    np.testing.assert_allclose(told.mean[:, [2, 8]], 0, atol=1e-8)
    np.testing.assert_allclose(told.mean[[3, 17]], np.tile(posterior.V[:, 0], (2, 1)), atol=1e-12)
    # The feature without cells has the noise of the prior.
    assert posterior.noise[2] == pytest.approx(NOISE_PRIOR[0])


# -- Ctrl-C --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("after", [1, WARM_UP, WARM_UP + 4])
def test_ctrl_c_keeps_what_was_reached(after: int) -> None:
    observed, _, _ = modelled_table(6, n=60)
    records = []

    def progress(record: Mapping[str, Any]) -> None:
        records.append(record)
        if len(records) == after:
            raise KeyboardInterrupt

    stopped = fitted(observed, progress=progress)
    assert stopped.interrupted
    assert not stopped.converged
    assert stopped.n_iter == after
    assert [one["iteration"] for one in records] == list(range(1, after + 1))
    assert {one["stage"] for one in records} == {"averaging"}
    # What was reached is what as many sweeps reach without anybody in between.
    same = fitted(observed, max_iter=after)
    assert not same.interrupted
    assert stopped.bounds == same.bounds
    np.testing.assert_array_equal(stopped.V, same.V)
    np.testing.assert_array_equal(stopped.noise, same.noise)
    if after > WARM_UP:
        assert records[-1]["bound"] == stopped.bounds[-1]


def test_ctrl_c_in_the_first_sweep_lets_it_end_and_a_second_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _, _ = modelled_table(6, n=60)
    sweep, calls = _Ascent.sweep, []

    def hasty(times: int) -> Callable[[_Ascent], None]:
        def once_more(self: _Ascent) -> None:
            calls.append(1)
            if len(calls) <= times:
                raise KeyboardInterrupt
            sweep(self)

        return once_more

    monkeypatch.setattr(_Ascent, "sweep", hasty(1))
    stopped = fitted(observed)
    assert stopped.interrupted
    assert stopped.n_iter == 1
    calls.clear()
    monkeypatch.setattr(_Ascent, "sweep", hasty(2))
    with pytest.raises(KeyboardInterrupt):
        fitted(observed)
