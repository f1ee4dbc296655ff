"""The evidence lower bound is one, is that of its definition, and no sweep lowers it."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factor_state import FactorState
from cocomplete.solvers.packed import unpack
from cocomplete.solvers.posterior import PACE
from cocomplete.solvers.row_block import RowBlock, Sites, Sums
from cocomplete.solvers.variational import (
    BOUND_TOL,
    SLOWEST,
    SWEEPS,
    WARM_UP,
    _Ascent,
    _Point,
)
from tests.laws.variational_dense import (
    Dense,
    Recording,
    ascended,
    dense_bound,
    dense_columns,
    dense_noise,
    dense_precisions,
    dense_rows,
    dense_sites,
    factor_divergence,
    hyperpriors,
    in_basis,
    prior_precision,
    sites_of,
)
from tests.laws.variational_tables import covariances, expectation, fitted, modelled_table, tables


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


def assert_same_sites(ascent: _Ascent, sites: list[Sites]) -> None:
    for own, one in zip(sites_of(ascent), sites, strict=True):
        np.testing.assert_array_equal(own.weight, one.weight)
        np.testing.assert_array_equal(own.pull, one.pull)


def worse(self: _Ascent, point: _Point, *, learns: bool) -> FactorState:
    """Stand in for the update: no feature is explained by anything."""
    return point.state._replace(noise=100 * point.state.noise)


def revisited(
    ascent: _Ascent, observed: Observations, sites: list[Sites], pace: float
) -> tuple[Sums, list[Sites]]:
    """Sums and sites that a pass at the point reached gives from some sites on."""
    again = _Ascent(Cells.of(observed), ascent.base)
    again.pace = pace
    again.sites = [sites]
    return again._visit(ascent.reached.state).sums, sites_of(again)


def test_steps_that_lower_the_bound_are_taken_back(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _, _ = modelled_table(1, n=60)
    ascent = ascended(observed)
    reached, bounds, (before, _) = ascent.reached, list(ascent.bounds), ascent.sites
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
    reached, bounds, (before, _) = ascent.reached, list(ascent.bounds), ascent.sites
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
    B = ascent.basis(updated)
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
    highest, least = ascent._bound(best, *point[1:3]), factor_divergence(ascent, updated, point.sums)
    used = np.flatnonzero(ascent.sizes)
    for factor in (1 - off, 1 + off):
        for j in range(observed.n_features):
            noise = best.noise.copy()
            noise[j] *= factor
            assert ascent._bound(best._replace(noise=noise), *point[1:3]) < highest
        for k in used:
            for r in range(updated.precision.shape[1]):
                precision = updated.precision.copy()
                precision[k, r] *= factor
                other = updated._replace(precision=precision)
                # What the bound has of precisions is in the divergence.
                assert factor_divergence(ascent, other, point.sums) > least
