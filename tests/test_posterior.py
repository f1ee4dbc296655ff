"""The average over factors: exact where the answer is known, honest where it is not."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, ndtri

from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.moments import Moments, pack, unpack
from cocomplete.solvers.posterior import Posterior, Prior, Rows, _whiten, fit_posterior

nan = np.nan


def random_posterior(rng, d, labels, k, spread=0.3):
    """Some distribution of V; ``spread`` 0 makes it a point."""
    m = d + labels
    V, root = rng.normal(size=(m, k + 1)), spread * rng.normal(size=(m, k + 1, k + 1))
    second = pack(V[:, :, None] * V[:, None, :] + root @ root.transpose(0, 2, 1))
    noise = rng.uniform(0.2, 2, d)
    label_noise = rng.uniform(0.2, 2, labels)
    prior, base = Prior(k, 1.0, 1.0, 0.8), rng.normal(size=m)
    return Posterior(prior, base, V, second, noise, label_noise, 1, converged=True)


def random_rows(rng, n, d, labels, share=0.6):
    X, Y = rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.5).astype(float)
    X[rng.random(X.shape) > share] = nan
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y)


def every_cell(n, d, labels):
    return Cells.of(Observations(np.zeros((n, d)), np.zeros((n, labels))))


def covariance(rows):
    k = rows.U.shape[1]
    return unpack(rows.second, k) - rows.U[:, :, None] * rows.U[:, None, :]


def modelled_table(seed, *, n=150, d=12, labels=4, noise=0.5, share=0.5):
    """A table that the model describes: two factors, normal noise, logistic labels; and its truth."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d + labels))
    truth = T[:, :d] + np.sqrt(noise) * rng.normal(size=(n, d))
    Y = (rng.random((n, labels)) < expit(T[:, d:])).astype(float)
    X = np.where(rng.random(truth.shape) < share, truth, nan)
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y), truth, T


@given(st.integers(0, 10_000))
def test_rows_are_the_gaussian_conditional_where_v_is_known(seed):
    rng = np.random.default_rng(seed)
    n, d, k = (int(rng.integers(1, high)) for high in (6, 8, 4))
    posterior = random_posterior(rng, d, 0, k, spread=0.0)
    observed = random_rows(rng, n, d, 0)
    rows = posterior.rows(Cells.of(observed))
    W, offset = posterior.V[:, 1:], posterior.V[:, 0] + posterior.base
    for i in range(n):
        known = observed.X_known[i]
        # Of the joint normal distribution of u and the observed x, by conditioning, not by precisions.
        S = W[known] @ W[known].T + np.diag(posterior.noise[known] / posterior.prior.feature_weight)
        gain = W[known].T @ np.linalg.inv(S)
        np.testing.assert_allclose(rows.U[i, 1:], gain @ (observed.X[i] - offset)[known], atol=1e-9)
        cov = np.zeros((k + 1, k + 1))
        cov[1:, 1:] = np.eye(k) - gain @ W[known]
        np.testing.assert_allclose(covariance(rows)[i], cov, atol=1e-9)
    np.testing.assert_array_equal(rows.U[:, 0], 1)


@given(st.integers(0, 10_000))
def test_labels_of_rows_settle_where_the_expected_slope_is_zero(seed):
    rng = np.random.default_rng(seed)
    posterior = random_posterior(rng, 3, 4, 2, spread=0.0)
    observed = random_rows(rng, 5, 3, 4)
    rows = posterior.rows(Cells.of(observed), sweeps=500, tol=1e-13)
    T = rows.U @ posterior.V.T
    variance = np.einsum("jr,nrc,jc->nj", posterior.V, covariance(rows), posterior.V)
    probability = expit((T + posterior.base)[:, 3:] / np.sqrt(1 + np.pi / 8 * variance[:, 3:]))
    slope = np.hstack(
        (
            posterior.prior.feature_weight * (observed.X - posterior.base[:3] - T[:, :3]) / posterior.noise,
            observed.Y - probability,
        )
    )
    gradient = np.nan_to_num(slope) @ posterior.V[:, 1:] - rows.U[:, 1:]
    np.testing.assert_allclose(gradient, 0, atol=1e-8)


@given(st.integers(0, 10_000))
def test_a_table_is_predicted_as_its_cells_are(seed):
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (9, 6, 4, 4))
    posterior = random_posterior(rng, d, labels, k)
    cells = Cells.of(random_rows(rng, n, d, labels))
    whole = posterior.predict(cells)
    at = posterior.at(posterior.rows(cells), every_cell(n, d, labels))
    np.testing.assert_allclose(whole.mean.ravel(), at.mean, atol=1e-10)
    np.testing.assert_allclose(whole.variance.ravel(), at.variance, atol=1e-9)
    np.testing.assert_allclose(whole.score.ravel(), at.score, atol=1e-9)


@pytest.mark.parametrize("chunk", [1, 40, 4_000_000])
def test_rows_do_not_depend_on_who_is_asked_with_them(monkeypatch, chunk):
    rng = np.random.default_rng(5)
    # Features alone: with labels, sweeps end when the rows together stand still.
    posterior, observed = random_posterior(rng, 6, 0, 3), random_rows(rng, 23, 6, 0)
    cells = Cells.of(observed)
    alone = [posterior.predict(cells.rows(i, i + 1)) for i in range(23)]
    monkeypatch.setattr("cocomplete.solvers.posterior.CHUNK", chunk)
    together = posterior.predict(cells)
    np.testing.assert_allclose(together.mean, np.vstack([one.mean for one in alone]), rtol=1e-12, atol=1e-13)
    np.testing.assert_allclose(
        together.variance, np.vstack([one.variance for one in alone]), rtol=1e-11, atol=1e-12
    )


def test_labels_of_rows_do_not_depend_on_who_is_asked_with_them_beyond_the_sweeps_tolerance(monkeypatch):
    rng = np.random.default_rng(6)
    posterior, observed = random_posterior(rng, 4, 5, 3), random_rows(rng, 30, 4, 5)
    cells = Cells.of(observed)
    together = posterior.predict(cells)
    monkeypatch.setattr("cocomplete.solvers.posterior.CHUNK", 1)
    apart = posterior.predict(cells)
    np.testing.assert_allclose(apart.mean, together.mean, atol=3e-3)
    np.testing.assert_allclose(apart.variance, together.variance, atol=3e-3)


def test_predicting_leaves_its_arguments_alone():
    rng = np.random.default_rng(0)
    posterior, observed = random_posterior(rng, 4, 3, 2), random_rows(rng, 6, 4, 3)
    cells = Cells.of(observed)
    before = [getattr(cells, name).copy() for name in ("x_value", "y_value", "x_column", "y_column")]
    V, second, noise, base = (
        part.copy() for part in (posterior.V, posterior.second, posterior.noise, posterior.base)
    )
    posterior.predict(cells)
    posterior.draw(cells, rng)
    fit_posterior(cells, Prior(2, 1.0, 1.0), posterior.base, start=posterior, max_iter=3)
    after = [getattr(cells, name) for name in ("x_value", "y_value", "x_column", "y_column")]
    for one, other in zip(before, after, strict=True):
        np.testing.assert_array_equal(one, other)
    for one, other in (
        (V, posterior.V),
        (second, posterior.second),
        (noise, posterior.noise),
        (base, posterior.base),
    ):
        np.testing.assert_array_equal(one, other)


def test_draws_have_the_predicted_moments():
    rng = np.random.default_rng(1)
    posterior, observed = random_posterior(rng, 3, 2, 2), random_rows(rng, 4, 3, 2)
    cells = Cells.of(observed)
    told, count = posterior.predict(cells), 1500
    draws = np.array([posterior.draw(cells, rng) for _ in range(count)])
    error = draws.std(axis=0) / np.sqrt(count)
    assert (np.abs(draws.mean(axis=0) - told.mean) < 5 * error).all()
    # A product of normals has heavier tails than a normal: its fourth moment sets the error of a variance.
    squares = (draws - draws.mean(axis=0)) ** 2
    assert (np.abs(squares.mean(axis=0) - told.variance) < 5 * squares.std(axis=0) / np.sqrt(count)).all()


@pytest.mark.parametrize("seed", [0, 1])
def test_on_the_model_s_own_data_it_beats_nothing_covers_and_finds_the_noise(seed):
    noise = np.linspace(0.1, 1.0, 12)
    observed, truth, T = modelled_table(seed, noise=noise)
    posterior, rows = fit_posterior(Cells.of(observed), Prior(2, 1.0, 1.0), np.zeros(16))
    told = posterior.at(rows, every_cell(150, 12, 4))
    mean, variance = (part.reshape(150, 16) for part in (told.mean, told.variance))
    hidden = ~observed.X_known
    error = (mean[:, :12] - truth)[hidden]
    assert np.mean(error**2) < 0.6 * np.mean(truth[hidden] ** 2)
    std = np.sqrt(variance[:, :12] + posterior.noise)[hidden]
    assert np.mean(np.abs(error) < ndtri(0.95) * std) == pytest.approx(0.9, abs=0.04)
    assert np.mean(np.abs(error) < ndtri(0.75) * std) == pytest.approx(0.5, abs=0.06)
    # Seventy-odd cells per feature leave a sixth of doubt about its variance, and factors add to it.
    assert np.corrcoef(posterior.noise, noise)[0, 1] > 0.85
    assert np.median(posterior.noise / noise) == pytest.approx(1, abs=0.2)
    assert posterior.noise.mean() == pytest.approx(noise.mean(), rel=0.15)
    # Labels too: their score says more than their rate.
    unknown = ~observed.Y_known
    score = told.score.reshape(150, 16)[:, 12:]
    probability = expit(T[:, 12:])
    loss, nothing = (
        np.mean((np.logaddexp(0, z) - probability * z)[unknown]) for z in (score, np.zeros_like(score))
    )
    assert loss < 0.95 * nothing


def test_the_scale_of_the_table_is_learnt():
    """Thrice the signal, nine times the noise: thrice the answer, where the prior has next to no say."""
    observed, _, _ = modelled_table(3, labels=0, share=0.8)
    cells = Cells.of(observed)
    fits = []
    for factor in (1.0, 3.0):
        scaled = replace(cells, x_value=factor * cells.x_value)
        fits.append(
            fit_posterior(scaled, Prior(2, 1e-3 / factor**2, 1.0), np.zeros(12), tol=1e-6, max_iter=300)
        )
    (one, rows), (three, other) = fits
    asked = every_cell(150, 12, 0)
    np.testing.assert_allclose(three.noise, 9 * one.noise, rtol=0.06)
    np.testing.assert_allclose(three.at(other, asked).mean, 3 * one.at(rows, asked).mean, atol=0.15)


def test_order_of_rows_and_columns_does_not_matter():
    observed, _, _ = modelled_table(4, n=40, d=7, labels=5)
    rng = np.random.default_rng(0)
    base = np.concatenate((np.zeros(7), rng.normal(size=5)))
    prior = Prior(3, 2.0, 1.0, 0.7)
    row, feature, label = rng.permutation(40), rng.permutation(7), rng.permutation(5)
    column = np.concatenate((feature, 7 + label))
    shuffled = Observations(observed.X[row][:, feature], observed.Y[row][:, label])
    one, _ = fit_posterior(Cells.of(observed), prior, base, max_iter=20)
    other, _ = fit_posterior(Cells.of(shuffled), prior, base[column], max_iter=20)
    here, there = one.predict(Cells.of(observed)), other.predict(Cells.of(shuffled))
    np.testing.assert_allclose(there.mean, here.mean[row][:, column], atol=1e-7)
    np.testing.assert_allclose(there.variance, here.variance[row][:, column], atol=1e-7)
    np.testing.assert_allclose(other.noise, one.noise[feature], atol=1e-8)


@given(st.integers(0, 10_000))
def test_whitening_gives_rows_unit_variance_and_leaves_the_cells_alone(seed):
    rng = np.random.default_rng(seed)
    posterior, observed = random_posterior(rng, 5, 3, 3), random_rows(rng, 9, 5, 3)
    rows = posterior.rows(Cells.of(observed))
    V, second = _whiten(rows.second, posterior.V, posterior.second)
    # The change of V, read off its means, tells what the rows have to become for t to stay.
    stretch = np.linalg.lstsq(posterior.V, V, rcond=None)[0].T
    squeeze = np.linalg.inv(stretch).T
    np.testing.assert_allclose(stretch[0], [1, 0, 0, 0], atol=1e-9)
    np.testing.assert_allclose(stretch[1:, 0], 0, atol=1e-9)
    average = (squeeze @ unpack(rows.second, 4) @ squeeze.T).mean(axis=0)
    np.testing.assert_allclose(average[1:, 1:], np.eye(3), atol=1e-8)
    np.testing.assert_allclose(
        unpack(second, 4), stretch @ unpack(posterior.second, 4) @ stretch.T, atol=1e-8
    )


@given(st.integers(0, 10_000), st.sampled_from((0.25, 0.5, 2.0)))
def test_weighing_features_is_the_same_as_changing_their_noise(seed, weight):
    rng = np.random.default_rng(seed)
    posterior, observed = random_posterior(rng, 6, 3, 2), random_rows(rng, 7, 6, 3)
    cells = Cells.of(observed)
    heavier = replace(posterior.prior, feature_weight=weight * posterior.prior.feature_weight)
    weighted = replace(posterior, prior=heavier).rows(cells)
    noisier = replace(posterior, noise=posterior.noise / weight).rows(cells)
    np.testing.assert_allclose(weighted.U, noisier.U, atol=1e-12)
    np.testing.assert_allclose(weighted.second, noisier.second, atol=1e-12)


@given(st.integers(0, 10_000))
def test_labels_as_numbers_are_features_once_standardised(seed):
    rng = np.random.default_rng(seed)
    d, labels, k = 4, 3, 2
    posterior = random_posterior(rng, d, labels, k)
    posterior = replace(posterior, prior=replace(posterior.prior, feature_weight=1.0, linear=True))
    observed = random_rows(rng, 6, d, labels)
    rate = expit(posterior.base[d:])
    numbers = (observed.Y - rate) / np.sqrt(rate * (1 - rate))
    glued = Observations(np.hstack((observed.X, numbers)), np.empty((6, 0)))
    as_features = replace(
        posterior,
        prior=replace(posterior.prior, linear=False),
        base=np.concatenate((posterior.base[:d], np.zeros(labels))),
        noise=np.concatenate((posterior.noise, posterior.label_noise)),
        label_noise=np.empty(0),
    )
    one, other = posterior.rows(Cells.of(observed)), as_features.rows(Cells.of(glued))
    np.testing.assert_allclose(one.U, other.U, atol=1e-10)
    np.testing.assert_allclose(one.second, other.second, atol=1e-10)


@pytest.mark.parametrize("linear", [False, True])
def test_features_beyond_the_usual_number_count_for_less(linear):
    observed, whole, _ = modelled_table(3)
    n, d = whole.shape
    prior = Prior(2, 1.0, 1.0, feature_weight=0.6, linear=linear)
    posterior, _ = fit_posterior(Cells.of(observed), prior, np.zeros(d + 4), first_label=d)
    assert posterior.usual == observed.X_known.sum() / n
    wary = replace(posterior, overlap=0.5)
    # With as many features as usual, nothing changes.
    few = whole.copy()
    few[:, int(posterior.usual) :] = nan
    one, other = (model.rows(Cells.of(Observations(few, observed.Y))) for model in (posterior, wary))
    np.testing.assert_array_equal(one.U, other.U)
    # With all of them, each is believed as much as if it were that much noisier.
    noisier = 1 + 0.5 * 0.6 * (d / posterior.usual - 1)
    assert noisier > 1.2
    cells = Cells.of(Observations(whole, observed.Y))
    one, other = wary.rows(cells), replace(posterior, noise=noisier * posterior.noise).rows(cells)
    np.testing.assert_allclose(one.U, other.U, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(one.second, other.second, rtol=1e-9, atol=1e-9)


def test_yes_no_features_are_counted_and_labels_are_not():
    observed, whole, _ = modelled_table(3)
    n, d = whole.shape
    posterior, _ = fit_posterior(Cells.of(observed), Prior(2, 1.0, 1.0), np.zeros(d + 4), first_label=d + 1)
    assert posterior.usual == (observed.X_known.sum() + observed.Y_known[:, 0].sum()) / n
    wary = replace(posterior, overlap=1e9)
    # If features beyond the usual number say nothing, and there are more, the labels alone are heard.
    Y = observed.Y.copy()
    one = wary.rows(Cells.of(Observations(whole, Y)))
    Y[:, 0] = nan
    other = posterior.rows(Cells.of(Observations(np.full_like(whole, nan), Y)))
    np.testing.assert_allclose(one.U, other.U, atol=1e-3)


@pytest.mark.parametrize("noise", [0.01, 0.3, 1.0])
@pytest.mark.parametrize("loading", [0.0, 0.5, 2.0])
def test_labels_taken_as_numbers_are_ones_as_often_as_their_rates_have_it(noise, loading):
    """In a row of which nothing is known, and on average over rows of which everything is."""
    rate = np.array([0.02, 0.1, 0.5, 0.7, 0.95])
    base = np.concatenate((np.zeros(2), np.log(rate / (1 - rate))))
    V = np.zeros((7, 2))
    V[2:, 1] = loading
    second = pack(V[:, :, None] * V[:, None, :])
    prior = Prior(1, 1.0, 1.0, linear=True)
    posterior = Posterior(prior, base, V, second, np.ones(2), np.full(5, noise), 1, True)
    row = Cells.of(Observations(np.full((1, 2), nan), np.full((1, 5), nan)))
    np.testing.assert_allclose(expit(posterior.predict(row).score[0, 2:]), rate, rtol=1e-6)
    u = ndtri((np.arange(999) + 0.5) / 999)
    rows = Rows(np.column_stack((np.ones_like(u), u)), np.column_stack((np.ones_like(u), u, u**2)))
    asked = Cells.of(Observations(np.full((999, 2), nan), np.zeros((999, 5))))
    known = expit(posterior.at(rows, asked).score).reshape(999, 5)
    np.testing.assert_allclose(known.mean(axis=0), rate, atol=0.001)


@pytest.mark.parametrize("linear", [False, True])
def test_features_have_no_part_in_factors_of_the_labels_own(linear):
    observed, _, _ = modelled_table(3)
    prior = Prior(2, 1.0, 1.0, label_rank=3, own_precision=0.5, linear=linear)
    # The first 0/1 column is a yes/no feature.
    posterior, _ = fit_posterior(Cells.of(observed), prior, np.zeros(16), first_label=13)
    assert posterior.V.shape == (16, 6)
    assert np.abs(posterior.V[:13, 3:]).max() < 1e-6
    assert np.abs(posterior.V[13:, 3:]).max() > 0.1
    blind = Cells.of(replace(observed, Y=np.full(observed.Y.shape, nan)))
    rows = posterior.rows(blind)
    np.testing.assert_allclose(rows.U[:, 3:], 0, atol=1e-6)
    np.testing.assert_allclose(
        covariance(rows)[:, 3:, 3:], np.broadcast_to(np.eye(3), (150, 3, 3)), atol=1e-6
    )


@pytest.mark.parametrize("linear", [False, True])
def test_what_labels_have_in_common_alone_is_found_without_bending_the_features(linear):
    """Labels that copy one another, and features that know nothing of them."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(300, 2)) @ rng.normal(size=(2, 10)) + 0.3 * rng.normal(size=(300, 10))
    Y = np.repeat((rng.random((300, 1)) < 0.4).astype(float), 4, axis=1)
    seen = rng.random(Y.shape) < 0.6
    cells = Cells.of(Observations(X, np.where(seen, Y, nan)))
    prior = Prior(2, 1.0, 30.0, label_rank=2, own_precision=0.1, linear=linear)
    posterior, _ = fit_posterior(cells, prior, np.zeros(14), max_iter=200)
    moments = posterior.predict(cells)
    some = seen.any(axis=1, keepdims=True) & ~seen
    assert ((moments.score[:, 10:] > 0) == (Y == 1))[some].mean() > 0.99
    alone, _ = fit_posterior(
        Cells.of(Observations(X, np.full(Y.shape, nan))),
        replace(prior, label_rank=0),
        np.zeros(14),
        max_iter=200,
    )
    np.testing.assert_allclose(moments.mean[:, :10], alone.predict(cells).mean[:, :10], atol=0.1)
    # Of a row without labels the features say nothing: every label has about its rate.
    blind = Cells.of(Observations(X, np.full(Y.shape, nan)))
    told = expit(posterior.predict(blind).score[:, 10:])
    assert np.abs(told - 0.4).max() < 0.15


def test_a_score_is_close_to_the_averaged_probability():
    mean, variance = np.meshgrid(np.linspace(-12, 12, 97), np.geomspace(1e-3, 100, 40))
    grid = np.linspace(-9, 9, 4001)
    weight = np.exp(-(grid**2) / 2)
    exact = expit(mean[..., None] + np.sqrt(variance)[..., None] * grid) @ (weight / weight.sum())
    told = expit(Moments(mean, variance, np.empty(0), averaged=True).score)
    assert np.abs(told - exact).max() < 0.02
    np.testing.assert_array_equal(Moments(mean, variance, np.empty(0), averaged=False).score, mean)
    sure = Moments(mean, np.zeros_like(mean), np.empty(0), averaged=True)
    np.testing.assert_array_equal(sure.score, mean)


def test_a_warm_start_ends_where_a_cold_one_does():
    observed, _, _ = modelled_table(7, n=80, share=0.8)
    cells, base, prior = Cells.of(observed), np.zeros(16), Prior(2, 1.0, 1.0)
    cold, _ = fit_posterior(cells, prior, base, tol=1e-7, max_iter=2000)
    near, _ = fit_posterior(cells, Prior(2, 3.0, 2.0), base)
    warm, _ = fit_posterior(cells, prior, base, start=near, tol=1e-7, max_iter=2000)
    assert cold.converged
    assert warm.converged
    assert warm.n_iter <= cold.n_iter
    there, here = warm.predict(cells), cold.predict(cells)
    np.testing.assert_allclose(there.mean, here.mean, atol=1e-3)
    np.testing.assert_allclose(there.variance, here.variance, atol=1e-3)
    np.testing.assert_allclose(warm.noise, cold.noise, atol=1e-4)


def test_the_rows_of_the_fit_are_the_rows_that_folding_in_gives():
    observed, _, _ = modelled_table(8, n=60)
    cells = Cells.of(observed)
    posterior, rows = fit_posterior(cells, Prior(2, 1.0, 1.0), np.zeros(16), tol=1e-8, max_iter=2000)
    again = posterior.rows(cells, sweeps=500, tol=1e-10)
    np.testing.assert_allclose(again.U, rows.U, atol=2e-3)
    np.testing.assert_allclose(again.second, rows.second, atol=2e-3)


def test_one_sided_labels_and_empty_rows_and_columns_are_finite():
    observed, _, _ = modelled_table(9, n=30, d=6, labels=4)
    X, Y = observed.X.copy(), observed.Y.copy()
    X[:, 2] = nan
    Y[:, 0] = np.where(np.isnan(Y[:, 0]), nan, 1)
    Y[:, 1] = np.where(np.isnan(Y[:, 1]), nan, 0)
    Y[:, 2] = nan
    X[[3, 17]], Y[[3, 17]] = nan, nan
    cells = Cells.of(Observations(X, Y))
    posterior, rows = fit_posterior(cells, Prior(4, 1.0, 1.0), np.zeros(10))
    told = posterior.predict(cells)
    for part in (told.mean, told.variance, told.score, posterior.noise, rows.U, rows.second):
        assert np.isfinite(part).all()
    assert (told.variance >= 0).all()
    assert (posterior.noise > 0).all()
    assert (told.mean[:, 6] > 0).all()
    assert (told.mean[:, 7] < 0).all()
    # Nothing is known of these but the offsets, which nothing moved.
    np.testing.assert_allclose(told.mean[:, [2, 8]], 0, atol=1e-8)
    np.testing.assert_allclose(told.mean[[3, 17]], np.tile(posterior.V[:, 0], (2, 1)), atol=1e-12)


@pytest.mark.parametrize("part", ["features", "labels"])
def test_half_a_table_is_enough(part):
    observed, _, _ = modelled_table(10, n=25, d=6, labels=4)
    if part == "features":
        observed = Observations(observed.X, np.empty((25, 0)))
    else:
        observed = Observations(np.empty((25, 0)), observed.Y)
    cells = Cells.of(observed)
    posterior, _ = fit_posterior(cells, Prior(3, 1.0, 1.0), np.zeros(cells.shape[1]))
    told = posterior.predict(cells)
    assert told.mean.shape == cells.shape
    assert np.isfinite(told.mean).all()
    assert np.isfinite(told.variance).all()
