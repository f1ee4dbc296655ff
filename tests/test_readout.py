"""Labels read out of completed features."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from cocomplete import CoCompleter
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.posterior import Prior, fit_posterior
from cocomplete.solvers.readout import Readout, completed, cost, read_out

nan = np.nan
NUMBERS, FIRST_LABEL = 5, 7
"""Columns: five numbers, two yes/no features, three labels."""


def table(seed=0, n=90):
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 10))
    X = T[:, :NUMBERS] + rng.normal(size=(n, NUMBERS))
    Y = (T[:, NUMBERS:] + rng.logistic(size=(n, 5)) > 0).astype(float)
    X[rng.random(X.shape) < 0.3], Y[rng.random(Y.shape) < 0.3] = nan, nan
    return Observations(X, Y)


def fitted(observed):
    cells = Cells.of(observed)
    base = np.concatenate((np.zeros(NUMBERS), logit(np.nanmean(observed.Y, axis=0))))
    return cells, fit_posterior(cells, Prior(2, 1.0, 1.0), base, first_label=FIRST_LABEL)[0]


@pytest.fixture(scope="module")
def read():
    observed = table()
    cells, posterior = fitted(observed)
    strong, weak = read_out(posterior, cells, FIRST_LABEL, (30.0, 3.0))
    return observed, cells, posterior, strong, weak


def standardized(observed, base):
    """Features as the regression has them, observed cells alone."""
    rate = expit(base[NUMBERS:FIRST_LABEL])
    yes_no = (observed.Y[:, : FIRST_LABEL - NUMBERS] - rate) / np.sqrt(rate * (1 - rate))
    return np.hstack((observed.X, yes_no))


@given(st.integers(0, 10_000), st.integers(0, 8))
def test_cells_before_a_column_are_those_of_the_table_without_the_rest(seed, kept):
    observed = table(seed, 12)
    Y = observed.Y.copy()
    Y[:, kept:] = nan
    one, other = Cells.of(observed).before(NUMBERS + kept), Cells.of(replace(observed, Y=Y))
    for name in ("x_start", "x_column", "x_value", "y_start", "y_column", "y_value"):
        np.testing.assert_array_equal(getattr(one, name), getattr(other, name))
    assert one.shape == other.shape


def test_what_was_observed_is_kept_and_labels_are_not_looked_at(read):
    observed, cells, posterior, *_ = read
    X = completed(posterior, cells, FIRST_LABEL)
    known = standardized(observed, posterior.base)
    np.testing.assert_allclose(X[~np.isnan(known)], known[~np.isnan(known)])
    assert np.isfinite(X).all()
    Y = observed.Y.copy()
    Y[:, FIRST_LABEL - NUMBERS :] = 1 - Y[:, FIRST_LABEL - NUMBERS :]
    np.testing.assert_array_equal(completed(posterior, Cells.of(replace(observed, Y=Y)), FIRST_LABEL), X)


@pytest.mark.parametrize("which", [0, 1])
def test_coefficients_are_where_the_penalised_loss_is_least(read, which):
    observed, cells, posterior, *both = read
    readout, ridge = both[which], (30.0, 3.0)[which]
    A = np.hstack((np.ones((90, 1)), completed(posterior, cells, FIRST_LABEL)))
    penalty = np.array([1.0] + [ridge] * FIRST_LABEL)
    for j, w in enumerate(readout.coefficients):
        y = observed.Y[:, FIRST_LABEL - NUMBERS + j]
        known = ~np.isnan(y)
        p = expit(posterior.base[FIRST_LABEL + j] + A[known] @ w)
        gradient = A[known].T @ (p - y[known]) + penalty * w
        assert np.abs(gradient).max() < 1e-2
    assert np.abs(both[1].coefficients[:, 1:]).sum() > np.abs(both[0].coefficients[:, 1:]).sum()


def test_rows_that_are_complete_need_no_factors(read):
    _, _, posterior, _, readout = read
    rng = np.random.default_rng(3)
    X, yes_no = rng.normal(size=(6, NUMBERS)), rng.integers(2, size=(6, 2)).astype(float)
    row = Observations(X, np.hstack((yes_no, np.full((6, 3), nan))))
    score = readout.predict(Cells.of(row)).score[:, FIRST_LABEL:]
    W = readout.coefficients
    expected = posterior.base[FIRST_LABEL:] + W[:, 0] + standardized(row, posterior.base) @ W[:, 1:].T
    np.testing.assert_allclose(score, expected)
    # Nothing is missing, so nothing is drawn.
    np.testing.assert_allclose(readout.draw(Cells.of(row), rng)[:, FIRST_LABEL:], expected)


def test_what_is_missing_is_drawn(read):
    _, cells, _, _, readout = read
    draws = np.stack([readout.draw(cells, np.random.default_rng(seed)) for seed in range(40)])
    mean = readout.predict(cells).score
    holes = draws[:, :, FIRST_LABEL:].std(axis=0)
    assert (holes > 0).mean() > 0.8
    off = np.abs(draws.mean(axis=0) - mean)[:, FIRST_LABEL:]
    assert np.mean(off <= 4 * holes / np.sqrt(40) + 0.1) > 0.9


def test_the_cost_is_that_of_one_step(read):
    observed, cells, *_ = read
    known = (~np.isnan(observed.Y[:, FIRST_LABEL - NUMBERS :])).sum()
    assert cost(cells, FIRST_LABEL) == known * FIRST_LABEL**2


def labelled(seed=0, n=150, share=0.9):
    """A label for each of three features that have nothing in common."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    Y = (2 * X[:, :3] + rng.logistic(size=(n, 3)) > 0).astype(float)
    X[rng.random(X.shape) > share] = nan
    return X, Y


def test_features_of_their_own_are_read_out_and_the_share_grows_with_what_is_observed():
    shares = []
    for share in (0.4, 0.9):
        X, Y = labelled(share=share)
        model = CoCompleter(random_state=0).fit(X, Y)
        told = model.validation_["unlabelled"]
        assert told["method"] == "blend"
        assert told["ridge"] > 0
        members = model._model.unlabelled.model.members
        assert isinstance(members[-1], Readout)
        assert sum(model._model.unlabelled.model.shares) == pytest.approx(1)
        assert model._model.unlabelled.model.shares[-1] == pytest.approx(told["ridge_share"])
        shares.append(told["ridge_share"])
        # Where labels are known too, it has no say.
        assert not any(isinstance(one, Readout) for one in getattr(model._model.labels.model, "members", ()))
    assert shares[0] < shares[1] <= 0.75


def test_too_many_features_are_not_regressed_on(monkeypatch):
    monkeypatch.setattr("cocomplete.tuning.LARGEST", 10.0)
    X, Y = labelled(n=60)
    told = CoCompleter(random_state=0).fit(X, Y).validation_["unlabelled"]
    assert told["method"] == "blend"
    assert "ridge" not in told
