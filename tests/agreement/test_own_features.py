"""Labels by factors and by features of their own: gradients, what is listed, and that it helps."""

import numpy as np
import pytest
from scipy import sparse

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.losses import log_loss
from cocomplete.solvers.own_features import OwnFeatures, _listed, _Problem
from cocomplete.table.sparse_matrix import SparseMatrix
from tests.sparse_tables import Pair


def words_and_labels(n: int, seed: int = 0) -> Pair:
    """Forty words; label j follows from word j, and from nothing else."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((n, 40), density=0.1, random_state=rng, format="csr")
    X.data[:] = 2
    rate = np.where(X.toarray()[:, :12] > 0, 0.7, 0.03)
    return X, sparse.csr_array((rng.random(rate.shape) < rate).astype(float))


def parts(n: int = 300) -> tuple[sparse.csr_array, sparse.csr_array, FloatArray, FloatArray, FloatArray]:
    X, Y = words_and_labels(n)
    Y.data[:3] = np.nan
    rng = np.random.default_rng(1)
    return X, Y, rng.standard_normal((n, 3)), 0.3 * rng.standard_normal((12, 3)), np.full(12, -3.0)


def test_the_gradient_is_that_of_finite_differences() -> None:
    X, Y, U, V, offsets = parts()
    start, label, _ = _listed(X, Y, U, V, offsets)
    problem = _Problem(X, Y, U, 2.0, start, label, V.shape)
    rng = np.random.default_rng(2)
    W = np.concatenate((V.ravel(), offsets, 0.2 * rng.standard_normal(label.size)))
    step = 1e-6 * rng.standard_normal(W.shape)
    slope = (problem.evaluate(W + step).value - problem.evaluate(W - step).value) / 2
    assert slope == pytest.approx(float(problem.evaluate(W).gradient @ step), rel=1e-6)


def test_a_label_lists_the_word_it_follows_from() -> None:
    X, Y, U, _, _ = parts(1000)
    start, label, variance = _listed(X, Y, U, np.zeros((12, 3)), np.full(12, -2.3))
    feature = np.repeat(np.arange(40), np.diff(start))
    found = set(zip(feature.tolist(), label.tolist(), strict=True))
    assert {(j, j) for j in range(12)} <= found
    assert len(found) <= 16
    assert (variance > 0).all()


def test_a_label_lists_no_more_than_the_features_that_stand_out_most(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocomplete.solvers.own_features.MOST", 1)
    X, Y, U, _, _ = parts(1000)
    start, label, _ = _listed(X, Y, U, np.zeros((12, 3)), np.full(12, -2.3))
    assert sorted(label.tolist()) == list(range(12))
    assert np.repeat(np.arange(40), np.diff(start)).tolist() == label.tolist()


def test_the_listed_pairs_do_not_depend_on_how_labels_are_cut(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = _listed(*parts())
    monkeypatch.setattr("cocomplete.solvers.own_features.CHUNK_NUMBERS", 100)
    for one, other in zip(whole, _listed(*parts()), strict=True):
        np.testing.assert_allclose(np.asarray(one, float), np.asarray(other, float), rtol=1e-9)


def test_log_odds_are_factors_and_words_together() -> None:
    X, Y, U, V, offsets = parts()
    own = OwnFeatures.fit(SparseMatrix.read(X, "X", "zero"), Y, U, V, offsets, 2.0)
    S = sparse.csr_array((own.weight, own.label, own.start), shape=(40, 12)).toarray()
    expected = U @ own.V.T + own.offsets + (X.toarray() / own.unit) @ S
    np.testing.assert_allclose(own.log_odds(SparseMatrix.read(X, "X", "zero"), U), expected, atol=1e-9)
    np.testing.assert_allclose(own.unit, 2)


@pytest.mark.filterwarnings("ignore:the duality gap is")
def test_words_of_a_label_are_found_that_few_factors_cannot_hold() -> None:
    X, Y = words_and_labels(800)
    new_X, new_Y = words_and_labels(400, seed=9)
    truth = new_Y.toarray()
    losses = [
        log_loss(
            CoCompleter(sparse_missing="zero", averaging=each, max_rank=4).fit(X, Y).decision_function(new_X),
            truth,
        )
        for each in (True, False)
    ]
    assert losses[0].mean() < 0.8 * losses[1].mean()
