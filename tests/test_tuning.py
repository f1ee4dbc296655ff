"""Penalties chosen on hidden cells: what is hidden, what may not leak, what wins where."""

from dataclasses import replace

import numba
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from threadpoolctl import threadpool_limits

from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.hiding import Hidden
from cocomplete.problem.observations import Observations
from cocomplete.tuning import EXACT_PATH, FEATURE_WEIGHTS, PATH, Fixed, Search

FREE = Fixed(None, None, None)


def table(seed=0, noise=0.5):
    data = make_low_rank_multilabel(60, 12, 5, rank=2, observed=0.6, random_state=seed)
    X = data.X + noise * np.random.default_rng(seed).normal(size=data.X.shape)
    return Observations(X, data.Y)


def search(observed, **params):
    settings = {"center": True, "scale": True, "fixed": FREE, "averaging": True, "random_state": 0}
    return Search(observed, np.zeros(observed.n_features, bool), **(settings | params))


@given(st.integers(0, 10_000))
def test_hidden_cells_are_observed_ones_and_nothing_is_left_without_an_example(seed):
    observed = table(seed % 50)
    hidden = Hidden.of(observed, np.random.default_rng(seed))
    visible = hidden.visible
    for whole, rest, row, column, value in (
        (observed.X, visible.X, hidden.x_row, hidden.x_column, hidden.x_value),
        (observed.Y, visible.Y, hidden.y_row, hidden.y_column, hidden.y_value),
    ):
        np.testing.assert_array_equal(whole[row, column], value)
        assert np.isnan(rest[row, column]).all()
        back = rest.copy()
        back[row, column] = value
        np.testing.assert_array_equal(back, whole)
    for value in (0, 1):
        had, has = ((value == part.Y).any(axis=0) for part in (observed, visible))
        np.testing.assert_array_equal(had, has)
    assert (visible.X_known.sum(axis=0) >= 2).all()
    assert 0.05 < len(hidden.x_row) / observed.X_known.sum() < 0.25


@pytest.mark.parametrize("method", ["mode", "average"])
def test_hidden_truth_does_not_reach_the_models(monkeypatch, method):
    # With one hiding and one candidate the walk cannot depend on errors, so predictions can be compared.
    monkeypatch.setattr("cocomplete.tuning.MOST_HIDINGS", 1)
    fixed = Fixed(1.0, 0.0, 0.5) if method == "mode" else FREE
    observed = table()
    runs = []
    for shift in (0.0, 0.3):
        altered = observed.X.copy()
        if runs:
            hidden = runs[0].hidings[0]
            altered[hidden.x_row, hidden.x_column] += shift
        runs.append(search(replace(observed, X=altered), fixed=fixed, averaging=method == "average").run())
    first, second = (next(one for one in run.candidates if one.method == method) for run in runs)
    np.testing.assert_array_equal(first.x_mean, second.x_mean)
    np.testing.assert_array_equal(first.y_score, second.y_score)
    assert first.errors["features"] != second.errors["features"]
    assert first.errors["labels"] == second.errors["labels"]


def test_the_same_seed_tries_the_same_and_another_hides_others():
    one, two, three = (search(table(), random_state=seed).run() for seed in (3, 3, 4))
    assert [c.record() for c in one.candidates] == [c.record() for c in two.candidates]
    assert not np.array_equal(one.hidings[0].x_row, three.hidings[0].x_row)


def test_paths_stop_when_nothing_gets_better():
    done = search(table(noise=3.0), averaging=False).run()
    modes = [one for one in done.candidates if one.method == "mode"]
    assert 4 < len(modes) < len(FEATURE_WEIGHTS) * len(PATH) + len(EXACT_PATH)


def test_features_without_noise_are_met_exactly():
    data = make_low_rank_multilabel(120, 40, 8, rank=2, observed=0.5, random_state=1)
    done = search(Observations(data.X, data.Y), averaging=False).run()
    best = done.chosen("features")
    assert best.method == "mode"
    assert best.settings["residual_penalty"] == best.settings["rank_penalty"]
    assert best.errors["features"] < 1e-3


def test_given_penalties_are_kept():
    fixed = Fixed(2.0, None, 0.3)
    done = search(table(), fixed=fixed, averaging=False).run()
    for setting in done.settings().values():
        assert setting.rank_penalty == 2.0
        assert setting.feature_weight == 0.3
    tried = {one.settings["residual_penalty"] for one in done.candidates if one.method == "mode"}
    assert tried == {0.0, 2.0}


def test_too_little_to_judge_by():
    small = Observations(np.arange(6.0).reshape(3, 2), np.array([[0.0], [1.0], [np.nan]]))
    done = search(small, fixed=Fixed(None, 0.0, None)).run()
    assert done.parts == ()
    assert done.candidates == []
    assert {setting.rank_penalty for setting in done.settings().values()} == {None}


def test_ctrl_c_ends_the_search_with_what_there_is():
    seen = []

    def impatient(record):
        seen.append(record)
        if len(seen) == 3:
            raise KeyboardInterrupt

    done = search(table(), progress=impatient).run()
    assert done.interrupted
    assert len(done.candidates) == 3
    assert done.settings()["features"].prior is not None


def test_a_part_that_cannot_be_judged_follows_the_other():
    observed = table()
    few = np.full_like(observed.Y, np.nan)
    few[:4, 0] = [0, 1, 0, 1]
    done = search(replace(observed, Y=few)).run()
    assert done.parts == ("features",)
    settings = done.settings()
    assert settings["labels"] == settings["features"]


def test_choices_do_not_depend_on_the_number_of_threads():
    curves = []
    for threads in (1, 2):
        before = numba.get_num_threads()
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))
        try:
            with threadpool_limits(threads):
                done = search(table()).run()
        finally:
            numba.set_num_threads(before)
        curves.append([(one.method, one.errors["features"], one.errors["labels"]) for one in done.candidates])
    one, two = curves
    assert [point[0] for point in one] == [point[0] for point in two]
    np.testing.assert_allclose([point[1:] for point in one], [point[1:] for point in two], rtol=1e-6)
