"""Ends of the observed range: of all rows by those of blocks, and how far beyond them fills may lie."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.estimator.block_rows import sample_places
from cocomplete.fitted.column_ends import BEYOND, ColumnEnds
from tests.blocks import Elsewhere, low_limits


def table(seed: int, n: int = 40, d: int = 4) -> FloatArray:
    """Few different values, so that ends are often shared; half unknown, the last column wholly."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 30, (n, d)).astype(float)
    X[rng.random(X.shape) < 0.5] = np.nan
    X[:, -1] = np.nan
    return X


@given(st.integers(0, 10_000), st.integers(0, 40))
def test_ends_of_blocks_make_up_those_of_all_rows(seed: int, cut: int) -> None:
    X = table(seed)
    whole, joined = ColumnEnds.of(X), ColumnEnds.of(X[:cut]).joined(ColumnEnds.of(X[cut:]))
    for name in ("low", "high", "lowest", "highest"):
        np.testing.assert_array_equal(getattr(whole, name), getattr(joined, name))


@given(st.integers(0, 10_000))
def test_ends_are_those_of_the_sorted_column(seed: int) -> None:
    X = table(seed)
    ends = ColumnEnds.of(X)
    low, high = ends.reach(X)
    for j, column in enumerate(X.T):
        values = np.sort(column[~np.isnan(column)])
        if not values.size:
            assert (low[j], high[j], ends.lowest[j], ends.highest[j]) == (-np.inf, np.inf, 0, 0)
            continue
        tenth = len(values) // 10
        assert ends.lowest[j] == np.count_nonzero(values == values[0])
        assert ends.highest[j] == np.count_nonzero(values == values[-1])
        beyond = np.array([values[tenth] - values[0], values[-1] - values[-1 - tenth]]) * BEYOND
        alone = np.array([ends.lowest[j] == 1, ends.highest[j] == 1])
        expected = np.array([values[0], values[-1]]) + np.where(alone, [-1, 1] * beyond, 0)
        np.testing.assert_allclose([low[j], high[j]], expected, rtol=1e-14)


def test_a_column_is_unlike_a_value_if_anything_else_was_observed() -> None:
    X = np.array([[1.0, 1.0, np.nan, 2.0], [1.0, 3.0, np.nan, 2.0]])
    unlike = ColumnEnds.of(X).unlike(np.array([1.0, 1.0, 1.0, np.nan]))
    np.testing.assert_array_equal(unlike, [False, True, False, True])


@pytest.mark.parametrize("given", [{}, {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}])
@pytest.mark.parametrize("place", [lambda X: X, Elsewhere])
def test_fills_of_a_long_table_stay_near_what_all_rows_show(
    given: dict[str, Any], place: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Three rows are far out, and none of them is in the sample; a fourth is not cut to what that shows."""
    low_limits(monkeypatch)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1_000, 1)) * np.ones((1, 12)) + 0.01 * rng.standard_normal((1_000, 12))
    X[rng.random(X.shape) < 0.3] = np.nan
    far = np.setdiff1d(np.arange(1_000), sample_places(X.shape, 0))[:3]
    X[far] = 6.0 + 0.01 * rng.standard_normal((3, 12))
    model = CoCompleter(**given, random_state=0).fit(place(X))
    assert not (model._model.observed.X > 5).any()
    row = np.full((1, 12), 5.8)
    row[0, 3] = np.nan
    assert model.transform(row)[0, 3] == pytest.approx(5.8, abs=0.3)
