"""Errors of held-out numbers are measured in the spread of their column."""

import numpy as np

from cocomplete.choosing.held_out import (
    Units,
)
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import FAR

nan = np.nan


def test_errors_are_measured_in_the_columns_spread() -> None:
    rng = np.random.default_rng(8)
    X = rng.normal(size=(200, 3)) * [1, 10, 0.01] + [0, 5, -100]
    X[rng.random(X.shape) < 0.2] = nan
    units = Units.of(Observations(X, np.empty((200, 0))))
    np.testing.assert_allclose(units.scale, np.nanstd(X, axis=0, ddof=1), rtol=1e-6)
    column = np.array([0, 1, 2])
    one, other = units.standardized(column, X[3]), units.standardized(column, X[3] + units.scale)
    known = ~np.isnan(X[3])
    np.testing.assert_allclose((other - one)[known], 1)


def test_an_outlier_counts_as_no_farther_than_the_limit() -> None:
    rng = np.random.default_rng(9)
    X = rng.normal(size=(100, 2))
    X[0, 0] = 1e12
    units = Units.of(Observations(X, np.empty((100, 0))))
    far, farther = units.standardized(np.zeros(2, int), np.array([1e6, 1e12]))
    assert far == farther
    assert far < 2 * FAR
    # What is not far off is left alone.
    np.testing.assert_allclose(units.standardized(np.zeros(99, int), X[1:, 0]), X[1:, 0] / units.scale[0])


def test_where_more_than_half_is_equal_the_spread_sets_the_limit() -> None:
    X = np.concatenate((np.zeros(60), np.random.default_rng(10).normal(size=40)))[:, None]
    units = Units.of(Observations(X, np.empty((100, 0))))
    reach = FAR * X.std(ddof=1)
    np.testing.assert_allclose([units.low[0], units.high[0]], [X.mean() - reach, X.mean() + reach])
