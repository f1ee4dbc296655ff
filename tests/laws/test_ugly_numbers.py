"""Numbers as large and as small as there are, of any byte order: finite answers, or one clear sentence."""

import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError

nan = np.nan

SETTINGS: tuple[dict[str, Any], ...] = (
    {},
    {"averaging": False},
    {"center": False},
    {"certify": True},
    {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5},
    {"rank_penalty": 1e-3, "residual_penalty": 1e3, "feature_weight": 0.5},
    {"rank_penalty": 1.0, "residual_penalty": 0.5, "feature_weight": 0.1, "scale": False},
    {"rank_penalty": 1.0, "residual_penalty": 1.0, "feature_weight": 0.1, "solver": "factored"},
    {"rank_penalty": 1.0, "residual_penalty": 1.0, "feature_weight": 0.1, "solver": "primal-dual"},
    {"rank_penalty": 1.0, "residual_penalty": 1.0, "feature_weight": 0.1, "solver": "paper"},
)


def ugly(rng: np.random.Generator) -> tuple[FloatArray, FloatArray | None]:
    """A small table of numbers that few tables hold."""
    n, d, n_labels = (int(rng.integers(low, high)) for low, high in ((1, 25), (1, 6), (0, 4)))
    X = rng.normal(size=(n, d))
    X = [
        lambda: X * 10.0 ** rng.integers(-300, 300, d),
        lambda: X * 1e155,
        lambda: np.where(rng.random(X.shape) < 0.5, 5e-324, 1e-310),
        lambda: np.round(X)[:, [0] * d],
        lambda: np.full((n, d), 3.0),
        lambda: np.exp(20 * X),
        lambda: (X > 0).astype(float),
        lambda: np.where(rng.random(X.shape) < 0.05, 1e300, X),
    ][rng.integers(8)]()
    Y = (rng.random((n, n_labels)) < 0.4).astype(float)
    X[rng.random(X.shape) < rng.choice((0, 0.3, 0.8))] = nan
    Y[rng.random(Y.shape) < rng.choice((0, 0.3, 0.8))] = nan
    X = X.astype(rng.choice(("<f8", ">f8")))
    X.flags.writeable = False
    return X, Y if n_labels else None


@given(st.integers(0, 100_000), st.sampled_from(SETTINGS))
@settings(max_examples=120, deadline=None)
def test_answers_are_finite(seed: int, params: dict[str, Any]) -> None:
    X, y = ugly(np.random.default_rng(seed))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            model = CoCompleter(**params, max_iter=20).fit(X, y)
        except InputError as error:
            assert "\n" not in str(error)  # noqa: PT017
            return
        done = model.complete(X, y)
        drawn = model.sample_completions(1)[0]
    for table in (done.X, done.X_std, drawn.X, *(() if y is None else (done.Y_proba, drawn.Y))):
        assert np.isfinite(np.asarray(table, float)).all()
    known = ~np.isnan(X)
    np.testing.assert_array_equal(np.asarray(done.X)[known], X[known])


def test_units_of_any_size_change_units_alone() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 2)) @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(40, 4))
    X[rng.random(X.shape) < 0.3] = nan
    unit = 2.0 ** np.array([-900, 900, 0, 300])
    one, other = (CoCompleter().fit(table) for table in (X, X * unit))
    np.testing.assert_allclose(other.complete(X * unit).X / unit, one.complete(X).X, rtol=1e-9)
    np.testing.assert_allclose(other.complete(X * unit).X_std / unit, one.complete(X).X_std, rtol=1e-9)
    np.testing.assert_allclose(other.offsets_ / unit, one.offsets_, rtol=1e-9)


def test_what_cannot_be_squared_is_refused_where_it_is_not_scaled() -> None:
    X = np.array([[1.0, 2e200], [2.0, 1e200], [3.0, nan]])
    with pytest.raises(InputError, match=r"X holds 2e\+200 in column 1, too large for scale=False"):
        CoCompleter(rank_penalty=1.0, scale=False).fit(X)
