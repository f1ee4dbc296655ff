"""Rubin's rules against numbers worked by hand, limits, a simulation of coverage, and every message."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from cocomplete.exceptions import InputError
from cocomplete.pooling import pool


def test_numbers_worked_by_hand() -> None:
    # Q̄ = 2, B = (1 + 0 + 1) / 2 = 1, Ū = 2, T = 2 + 4/3 = 10/3, λ = (4/3) / (10/3) = 0.4, ν = 2 / 0.16 = 12.5
    pooled = pool([1.0, 2.0, 3.0], [1.0, 2.0, 3.0], confidence=0.9)
    assert pooled.n_tables == 3
    assert pooled.confidence == 0.9
    np.testing.assert_allclose(pooled.estimate, 2)
    np.testing.assert_allclose(pooled.within, 2)
    np.testing.assert_allclose(pooled.between, 1)
    np.testing.assert_allclose(pooled.std_error, np.sqrt(10 / 3))
    np.testing.assert_allclose(pooled.df, 12.5)
    # (r + 2 / (ν + 3)) / (r + 1) with r = (4/3) / 2
    np.testing.assert_allclose(pooled.fraction_missing, (2 / 3 + 2 / 15.5) / (5 / 3))
    half = stats.t.ppf(0.95, 12.5) * np.sqrt(10 / 3)
    np.testing.assert_allclose([pooled.low, pooled.high], [2 - half, 2 + half])
    np.testing.assert_allclose(pooled.p_value(pooled.high), 0.1)


def test_small_sample_degrees_of_freedom() -> None:
    # As mice's barnard.rubin(m, b, t, dfcom) writes them.
    rng = np.random.default_rng(0)
    Q, U = rng.normal(size=(7, 40)), rng.uniform(0.5, 3, (7, 40))
    pooled = pool(Q, U, complete_df=25)
    for column in range(40):
        b, t = np.var(Q[:, column], ddof=1), U[:, column].mean() + 8 / 7 * np.var(Q[:, column], ddof=1)
        share = (1 + 1 / 7) * b / t
        old = 6 / share**2
        observed = 26 / 28 * 25 * (1 - share)
        np.testing.assert_allclose(pooled.df[column], old * observed / (old + observed))
    assert (pooled.df < 25).all()
    np.testing.assert_allclose(pool(Q, U, complete_df=1e12).df, pool(Q, U).df, rtol=1e-6)
    np.testing.assert_array_equal(pool(Q, U, complete_df=np.inf).df, pool(Q, U).df)


def test_columns_are_pooled_apart() -> None:
    rng = np.random.default_rng(1)
    Q, U = rng.normal(size=(5, 3)), rng.uniform(1, 2, (5, 3))
    together = pool(Q, U, complete_df=50)
    for column in range(3):
        alone = pool(Q[:, column], U[:, column], complete_df=50)
        for name in ("estimate", "std_error", "within", "between", "df", "low", "high", "fraction_missing"):
            assert np.ndim(getattr(alone, name)) == 0
            np.testing.assert_allclose(getattr(together, name)[column], getattr(alone, name))
        np.testing.assert_allclose(together.p_value(1)[column], alone.p_value(1))


def test_equal_estimates_have_no_variance_between_tables() -> None:
    pooled = pool([0.1] * 3, [4.0] * 3)
    assert (pooled.between, pooled.fraction_missing) == (0, 0)  # type: ignore[comparison-overlap]
    assert np.isinf(pooled.df)
    np.testing.assert_allclose(pooled.std_error, 2)
    np.testing.assert_allclose([pooled.low, pooled.high], 0.1 + 2 * stats.norm.ppf([0.025, 0.975]))
    np.testing.assert_allclose(pooled.p_value(0.1 + 2 * stats.norm.ppf(0.975)), 0.05)
    np.testing.assert_allclose(pool([0.1] * 3, [4.0] * 3, complete_df=10).df, 11 / 13 * 10)


def test_estimates_without_any_error() -> None:
    pooled = pool([0.3, 0.3], [0.0, 0.0])
    assert (pooled.low, pooled.estimate, pooled.high) == (0.3, 0.3, 0.3)  # type: ignore[comparison-overlap]
    assert (pooled.p_value(0.3), pooled.p_value(0)) == (1, 0)  # type: ignore[comparison-overlap]


def test_nothing_known_beyond_the_missing_cells() -> None:
    pooled = pool([0.0, 1.0], [0.0, 0.0])
    np.testing.assert_allclose([pooled.df, pooled.fraction_missing], [1, 1])
    small = pool([0.0, 1.0], [0.0, 0.0], complete_df=9)
    assert (small.df, small.low, small.high, small.p_value()) == (0, -np.inf, np.inf, 1)  # type: ignore[comparison-overlap]


@pytest.mark.parametrize(("n", "complete_df"), [(200, None), (12, 11)])
def test_coverage_of_a_mean_with_missing_values(n: int, complete_df: float) -> None:
    # Normal values, 40 % missing completely at random; proper draws from the posterior predictive.
    rng = np.random.default_rng(2)
    trials, m, seen = 1500, 10, round(0.6 * n)
    observed = rng.normal(size=(trials, 1, seen))
    mean, scatter = observed.mean(axis=2), observed.var(axis=2) * seen
    sigma = np.sqrt(scatter / rng.chisquare(seen - 1, (trials, m)))
    mu = mean + sigma * rng.normal(size=(trials, m)) / np.sqrt(seen)
    drawn = mu[..., None] + sigma[..., None] * rng.normal(size=(trials, m, n - seen))
    table = np.concatenate([np.broadcast_to(observed, (trials, m, seen)), drawn], axis=2)
    pooled = pool(table.mean(axis=2).T, table.var(axis=2, ddof=1).T / n, complete_df=complete_df)
    coverage = np.mean((pooled.low < 0) & (pooled.high > 0))
    assert 0.93 < coverage < 0.98  # 0.95 ± 3 standard errors of the simulation, and wide rather than narrow
    if n == 200:
        assert abs(pooled.fraction_missing.mean() - 0.4) < 0.05
        assert abs(np.mean(pooled.p_value() < 0.05) - (1 - coverage)) < 1e-12


@pytest.mark.parametrize(
    ("estimates", "variances", "options", "message"),
    [
        ([1.0], [1.0], {}, r"estimates holds 1 completed tables, but pooling needs at least 2"),
        ([1.0, 2.0], [1.0], {}, r"variances holds 1 completed tables"),
        (1.0, 1.0, {}, r"estimates must have shape \(m,\) or \(m, p\) .* has shape \(\)"),
        (np.zeros((2, 2, 2)), np.zeros((2, 2, 2)), {}, r"has shape \(2, 2, 2\); flatten"),
        (np.zeros((2, 0)), np.zeros((2, 0)), {}, r"has shape \(2, 0\)"),
        (["a", "b"], [1.0, 1.0], {}, r"estimates must be numbers .* could not be read as such"),
        ([[1.0, 2.0], [1.0]], [1.0, 1.0], {}, r"estimates must be numbers"),
        ([1.0, np.nan], [1.0, 1.0], {}, r"estimates has 1 values that are NaN or infinite; leave out"),
        ([1.0, 2.0], [np.inf, np.nan], {}, r"variances has 2 values that are NaN"),
        ([1.0, 2.0], [1.0, 2.0, 3.0], {}, r"must have the shape of estimates, \(2,\), but has \(3,\)"),
        ([1.0, 2.0], [1.0, -0.5], {}, r"variances must not be negative, but the smallest is -0.5"),
        ([1.0, 2.0], [1.0, 1.0], {"confidence": 95}, r"confidence must be between 0 and 1, got 95"),
        ([1.0, 2.0], [1.0, 1.0], {"complete_df": 0}, r"complete_df must be positive, got 0; give"),
        ([1.0, 2.0], [1.0, 1.0], {"complete_df": np.nan}, r"complete_df must be positive, got nan"),
    ],
)
def test_messages(estimates: Any, variances: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pool(estimates, variances, **options)
