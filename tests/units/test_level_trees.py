"""Trees for levels: they follow what decides a level, keep to what they are asked, and see no answer."""

from pathlib import Path

import numpy as np
import pytest

import cocomplete
from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.members.level_trees import LEAST_KNOWN, MOST_LEVELS, LevelTrees
from cocomplete.problem.content_keys import content_keys
from cocomplete.problem.observations import Observations

CODES = np.array([1.0, 2.0, 3.0, 4.0])


def grades(seed: int = 0, n: int = 400) -> tuple[FloatArray, Observations]:
    """Levels that go up and down along another column, which no straight line follows; holes, and a label."""
    rng = np.random.default_rng(seed)
    x = rng.uniform(0, 8, n)
    X = np.column_stack((CODES[(3 * np.floor(x)).astype(int) % 4], x, rng.normal(size=n)))
    shown = X.copy()
    shown[rng.random(n) < 0.3, 0] = np.nan
    return X, Observations(shown, (x > 4).astype(float)[:, None])


def fitted(observed: Observations, codes: dict[int, FloatArray]) -> LevelTrees | None:
    return LevelTrees.fit(observed, content_keys(observed), codes)


def test_they_follow_what_decides_a_level() -> None:
    X, observed = grades()
    trees = fitted(observed, {0: CODES})
    assert trees is not None
    asked = ~observed.X_known
    found = trees.probabilities(observed, asked)[0]
    np.testing.assert_allclose(found[asked[:, 0]].sum(axis=1), 1)
    assert np.isnan(found[~asked[:, 0]]).all()
    right = CODES[found[asked[:, 0]].argmax(axis=1)] == X[asked[:, 0], 0]
    assert right.mean() > 0.9


def test_a_level_is_not_predicted_from_itself() -> None:
    _, observed = grades()
    trees = fitted(observed, {0: CODES})
    assert trees is not None
    everything = np.ones(observed.X.shape, bool)
    hidden = Observations(np.where([True, False, False], np.nan, observed.X), observed.Y)
    np.testing.assert_array_equal(
        trees.probabilities(observed, everything)[0], trees.probabilities(hidden, everything)[0]
    )


def test_of_two_levels_one_has_trees() -> None:
    X, observed = grades()
    two = Observations(np.where(np.isnan(observed.X), np.nan, 1.0 + (observed.X > 2)), observed.Y)
    trees = fitted(Observations(np.column_stack((two.X[:, 0], X[:, 1:])), two.Y), {0: np.array([1.0, 2.0])})
    assert trees is not None
    assert trees.trees.n_labels == 1
    found = trees.probabilities(observed, ~observed.X_known)[0]
    assert found.shape == (len(X), 2)


@pytest.mark.parametrize(
    ("observed", "codes"),
    [
        (grades()[1], np.arange(1.0, MOST_LEVELS + 2)),
        (grades(n=LEAST_KNOWN)[1], CODES),
        (Observations(grades()[1].X[:, :1], np.empty((400, 0))), CODES),
    ],
    ids=["too many levels", "too few known cells", "no other column"],
)
def test_where_there_are_none(observed: Observations, codes: FloatArray) -> None:
    assert fitted(observed, {0: codes}) is None


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_model_fills_such_levels_right(dtype: type) -> None:
    X, observed = grades()
    shown: FloatArray = observed.X.astype(dtype)
    model = CoCompleter(feature_types=["ordinal", "number", "number"]).fit(shown)
    hidden = np.isnan(shown[:, 0])
    right = {
        "fills": model.complete(shown).X,
        "draws": model.sample_completions(1, shown, random_state=0)[0].X,
    }
    assert (right["fills"][hidden, 0] == X[hidden, 0]).mean() > 0.85
    assert (right["draws"][hidden, 0] == X[hidden, 0]).mean() > 0.6
    chance = model.predict_feature_proba(shown)
    np.testing.assert_allclose(chance.sum(axis=1), 1, rtol=1e-6)
    np.testing.assert_array_equal(
        CODES[chance[hidden].argmax(axis=1)], model.complete(shown).X[hidden, 0].astype(float)
    )


def test_new_rows_have_them_too_and_files_keep_them(tmp_path: Path) -> None:
    _, observed = grades()
    model = CoCompleter(feature_types=["ordinal", "number", "number"]).fit(observed.X)
    others, _ = grades(seed=1)
    shown = np.where([True, False, False], np.nan, others)
    assert (model.transform(shown)[:, 0] == others[:, 0]).mean() > 0.85
    model.save(tmp_path / "model")
    loaded = cocomplete.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_feature_proba(shown), model.predict_feature_proba(shown))


def test_order_and_units_of_columns_do_not_matter() -> None:
    _, observed = grades()
    types = np.array(["ordinal", "number", "number"])
    one = CoCompleter(feature_types=list(types)).fit(observed.X).predict_feature_proba(observed.X)
    order, large = [2, 0, 1], observed.X * [2.0**40, 1, 1]
    other = CoCompleter(feature_types=list(types[order])).fit(large[:, order])
    np.testing.assert_allclose(other.predict_feature_proba(large[:, order]), one, atol=1e-6)
