"""Several averages answering together."""

from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, logit

from cocomplete import CoCompleter
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.blend import TRUST, Blend, best_shares
from cocomplete.solvers.posterior import Prior, fit_posterior

nan = np.nan


def cost(shares, scores, base, truth):
    total = base + shares @ (np.stack(scores) - base)
    return np.sum(np.logaddexp(0, total) - truth * total) + TRUST * np.sum((shares - 1 / len(shares)) ** 2)


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_shares_are_the_best_there_are(seed, count):
    rng = np.random.default_rng(seed)
    base, scores = rng.normal(size=60), 2 * rng.normal(size=(count, 60))
    truth = (rng.random(60) < expit(base + scores[0])).astype(float)
    shares = np.array(best_shares(list(scores), base, truth))
    assert (shares >= 0).all()
    lowest = cost(shares, scores, base, truth)
    for _ in range(20):
        other = np.maximum(shares + 0.1 * rng.normal(size=count), 0)
        assert cost(other, scores, base, truth) >= lowest - 1e-5


def test_with_little_to_go_by_shares_are_near_equal_and_with_much_the_better_has_more():
    rng = np.random.default_rng(0)
    told, noise = 2 * rng.normal(size=(2, 5000))
    truth = (rng.random(5000) < expit(told)).astype(float)
    base = np.zeros(5000)
    few = best_shares([told[:6], noise[:6]], base[:6], truth[:6])
    many = best_shares([told, noise], base, truth)
    assert few == pytest.approx([0.5, 0.5], abs=0.2)
    assert many == pytest.approx([1, 0], abs=0.1)


@pytest.fixture(scope="module")
def pair():
    rng = np.random.default_rng(1)
    T = rng.normal(size=(80, 2)) @ rng.normal(size=(2, 9))
    X, Y = T[:, :6] + rng.normal(size=(80, 6)), (T[:, 6:] > 0).astype(float)
    Y[rng.random(Y.shape) < 0.4] = nan
    cells = Cells.of(Observations(X, Y))
    base = np.concatenate((np.zeros(6), logit(np.nanmean(Y, axis=0))))
    priors = Prior(2, 1.0, 1.0), Prior(2, 1.0, 1.0, label_rank=1, linear=True)
    return cells, tuple(fit_posterior(cells, prior, base)[0] for prior in priors)


def test_log_odds_are_added_up_by_shares_from_the_labels_own(pair):
    cells, members = pair
    one, other = (member.predict(cells).score for member in members)
    base = members[0].base
    np.testing.assert_allclose(Blend(members, (1.0, 0.0)).predict(cells).score, one)
    np.testing.assert_allclose(Blend(members, (0.0, 1.0)).predict(cells).score, other)
    np.testing.assert_allclose(Blend(members, (0.5, 0.5)).predict(cells).score, (one + other) / 2)
    np.testing.assert_allclose(Blend(members, (0.0, 0.0)).predict(cells).score, np.tile(base, (80, 1)))
    np.testing.assert_allclose(
        Blend(members, (0.9, 0.6)).predict(cells).score, base + 0.9 * (one - base) + 0.6 * (other - base)
    )


def test_draws_come_from_members_as_often_as_their_shares_have_it(pair):
    cells, members = pair
    rng = np.random.default_rng(0)
    base = members[0].base
    np.testing.assert_array_equal(Blend(members, (0.0, 0.0)).draw(cells, rng), np.tile(base, (80, 1)))
    numbered = tuple(SimpleNamespace(draw=lambda *_, k=k: base + k, base=base) for k in (0, 1))
    drawn = [(Blend(numbered, (1.5, 0.5)).draw(cells, rng) - base)[0] for _ in range(400)]
    # Twice as long as they were drawn, because the shares add up to two.
    assert np.allclose(np.unique(np.round(drawn, 9)), [0, 2])
    assert np.mean(drawn) == pytest.approx(0.5, abs=0.14)


def test_a_fitted_blend_answers_for_labels_and_says_so():
    rng = np.random.default_rng(2)
    T = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 12))
    X, Y = T[:, :8] + rng.normal(size=(120, 8)), (T[:, 8:] + rng.logistic(size=(120, 4)) > 0).astype(float)
    X[rng.random(X.shape) < 0.2], Y[rng.random(Y.shape) < 0.4] = nan, nan
    model = CoCompleter(random_state=0).fit(X, Y)
    told = model.validation_["unlabelled"]
    assert told["method"] == "blend"
    assert sum(one["unlabelled_share"] for one in told["members"]) == pytest.approx(1)
    proba = model.predict_proba(X)
    assert proba.shape == (120, 4)
    assert (model.predict(X) == (proba > 0.5)).all()
    drawn = [table.Y for table in model.sample_completions(3, X, Y, random_state=0)]
    known = ~np.isnan(Y)
    for table in drawn:
        assert np.isin(table, (0, 1)).all()
        np.testing.assert_array_equal(np.asarray(table)[known], Y[known])
