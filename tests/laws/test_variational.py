"""The whole variational fit: its own data, orders, shifts, one-sided labels, and requests to stop."""

import signal
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, ndtri

from cocomplete.interrupts import interrupts
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.variational import (
    NOISE_PRIOR,
    WARM_UP,
    fit_variational,
)
from tests.laws.variational_tables import expectation, fitted, modelled_table, nan


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
