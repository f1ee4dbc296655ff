"""Rows that kernels compare: what was observed is kept, the rest has its posterior mean and variance."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit

from cocomplete.members.average import Average
from cocomplete.members.kernel import (
    CompletedRows,
)
from cocomplete.problem.observations import Observations
from tests.units.kernel_tables import FEATURES, YES_NO, standardized, table

nan = np.nan


@pytest.fixture(scope="module", params=[False, True], ids=["units", "scores"])
def averaged(request: pytest.FixtureRequest) -> tuple[Observations, Average]:
    observed = table()
    return observed, Average.fit(observed, YES_NO, gaussian=request.param)


def test_what_was_observed_is_kept_and_the_rest_is_filled(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    rows = CompletedRows.of(average, observed)
    known = standardized(observed, average.encoding)
    seen = ~np.isnan(known)
    assert seen.any()
    assert not seen.all()
    np.testing.assert_allclose(rows.X[seen], known[seen])
    assert np.isfinite(rows.X).all()
    # Filled in with more than the column's mean: what is known of a row predicts the rest.
    assert rows.X[~seen].std() > 0.2


def test_labels_are_not_looked_at(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    rows = CompletedRows.of(average, observed)
    again = CompletedRows.of(average, replace(observed, Y=1 - observed.Y))
    np.testing.assert_array_equal(again.X, rows.X)
    np.testing.assert_array_equal(again.variances, rows.variances)


def test_variance_is_that_of_what_is_missing(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    observed = Observations(observed.X[:25], np.full((25, 3), nan))
    rows = CompletedRows.of(average, observed)
    known = observed.X_known[:, FEATURES]
    assert not rows.variances[known].any()
    assert (rows.variances[~known] > 0).all()
    # By draws of what is missing: factors, and noise on top of them.
    rng, count = np.random.default_rng(0), 200
    noise, rate = average.posterior.noise, expit(average.encoding.log_odds[:2])
    drawn = np.empty((count, 25, 7))
    for draw in drawn:
        t = average.draw(observed, rng)[:, :7]
        draw[:, :5] = t[:, :5] + np.sqrt(noise) * rng.standard_normal((25, 5))
        draw[:, 5:] = (t[:, 5:] + rng.logistic(size=(25, 2)) > 0) - rate
        draw[:, 5:] /= np.sqrt(rate * (1 - rate))
    variances = np.where(known, 0, drawn.var(axis=0))
    np.testing.assert_allclose(rows.variance, variances.mean(axis=1), rtol=0.3, atol=0.03)


def test_of_an_empty_row_nothing_is_known_but_means_and_unit_variance(
    averaged: tuple[Observations, Average],
) -> None:
    _, average = averaged
    empty = Observations(np.full((1, 7), nan), np.full((1, 3), nan))
    rows = CompletedRows.of(average, empty)
    assert np.abs(rows.X).max() < 0.5
    assert rows.variance[0] == pytest.approx(1, abs=0.25)


def test_completing_leaves_the_table_alone(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    X, Y = observed.X.copy(), observed.Y.copy()
    CompletedRows.of(average, observed)
    np.testing.assert_array_equal(observed.X, X)
    np.testing.assert_array_equal(observed.Y, Y)


def test_the_kernel_falls_with_what_is_not_known() -> None:
    rng = np.random.default_rng(0)
    X, variances = rng.normal(size=(4, 6)), rng.random((3, 6))
    other = CompletedRows(rng.normal(size=(3, 6)), variances)
    certain, vague = (CompletedRows(X, np.full((4, 6), each)) for each in (0.0, 0.5))
    np.testing.assert_allclose(other.variance, variances.mean(axis=1))
    distance = ((X[:, None] - other.X) ** 2).mean(axis=2)
    np.testing.assert_allclose(certain.radial(other), np.exp(-distance - other.variance))
    np.testing.assert_allclose(vague.radial(other), np.exp(-distance - other.variance - 0.5))
    np.testing.assert_allclose(np.diag(certain.radial(certain)), 1)
    some = vague.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.radial(other), vague.radial(other)[[2, 0]])
