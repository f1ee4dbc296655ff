"""LIMO with its lazy averages, the network and the trivial references."""

import pickle
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler

from cocomplete import InputError
from cocomplete.arrays import FloatArray
from cocomplete.baselines import AllZero, LabelMajority, LIMOClassifier, NetworkClassifier
from cocomplete.baselines.limo import best_cuts
from cocomplete.kernels.margins import margin_steps

nan = np.nan


def clean(
    seed: int = 0, n: int = 60, d: int = 5, n_labels: int = 4, rank: int = 2
) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    X = rng.random((n, d))
    Z = (X - 0.5) @ rng.normal(size=(d, rank)) @ rng.normal(size=(rank, n_labels))
    return X, (Z > 0).astype(float)


def limo_objective(W: FloatArray, X: FloatArray, Y: FloatArray) -> float:
    """LIMO's objective, pair by pair as printed."""
    scores, value = X @ W.T, float(np.sum(W**2))
    for i, (row, y) in enumerate(zip(scores, Y, strict=True)):
        assert i < len(X)
        value += sum(
            max(0.0, 1 - row[u] + row[v]) for u, v in product(np.flatnonzero(y), np.flatnonzero(1 - y))
        )
    for column, y in zip(scores.T, Y.T, strict=True):
        off = np.flatnonzero(1 - y)
        value += sum(max(0.0, 1 - column[a] + column[b]) for a, b in product(np.flatnonzero(y), off))
    return value


def plain_steps(
    X: FloatArray,
    Y: FloatArray,
    W: FloatArray,
    draws: FloatArray,
    step: float,
    label_weight: float,
    instance_weight: float,
) -> tuple[FloatArray, FloatArray]:
    """The authors' steps on dense weights, every iterate added to a plain sum."""
    W, total = W.copy(), np.zeros_like(W)
    n = len(X)
    for r in draws:
        i = int(r[0] * n)
        on, off = np.flatnonzero(Y[i]), np.flatnonzero(Y[i] == 0)
        if on.size and off.size and label_weight > 0:
            u, v = on[int(r[1] * on.size)], off[int(r[2] * off.size)]
            if W[v] @ X[i] > W[u] @ X[i] - 1:
                W[u] = W[u] - step * (W[u] - label_weight * X[i])
                W[v] = W[v] - step * (W[v] + label_weight * X[i])
        i = int(r[3] * n)
        on = np.flatnonzero(Y[i])
        if on.size and instance_weight > 0:
            j = on[int(r[4] * on.size)]
            without = np.flatnonzero(Y[:, j] == 0)
            if not without.size:
                W[j] = W[j] - step * (W[j] - instance_weight * X[i])
            else:
                b = without[int(r[5] * without.size)]
                if W[j] @ X[b] > W[j] @ X[i] - 1:
                    W[j] = W[j] - step * (W[j] + instance_weight * (X[b] - X[i]))
        total += W
    return W, total


def compiled_steps(
    X: FloatArray, Y: FloatArray, W: FloatArray, draws: FloatArray, *weights: float
) -> tuple[FloatArray, FloatArray]:
    rows, of_rows, of_labels = sparse.csr_array(X), sparse.csr_array(Y), sparse.csr_array(Y.T)
    V, total = W.copy(), np.zeros_like(W)
    decay, mass, seen = np.ones(len(W)), np.zeros(len(W)), np.zeros(len(W), np.int64)
    half = len(draws) // 2
    for done, part in ((0, draws[:half]), (half, draws[half:])):
        margin_steps(  # type: ignore[call-arg]
            *(each.astype(np.int64) for each in (rows.indptr, rows.indices)),
            rows.data,
            *(part.astype(np.int64) for of in (of_rows, of_labels) for part in (of.indptr, of.indices)),
            part,
            done,
            *weights,
            V,
            total,
            decay,
            mass,
            seen,
        )
    mass += decay * (len(draws) - seen)
    return decay[:, None] * V, mass[:, None] * V + total


@given(
    st.integers(0, 10_000),
    st.sampled_from([0.01, 0.3, 0.9]),
    st.sampled_from([(1.0, 1.0), (0.0, 2.0), (0.5, 0.0)]),
)
def test_lazily_averaged_weights_are_the_plainly_averaged_ones(
    seed: int, step: float, weights: tuple[float, float]
) -> None:
    rng = np.random.default_rng(seed)
    n, d, n_labels = rng.integers(2, 9), rng.integers(1, 6), rng.integers(2, 6)
    X = np.where(rng.random((n, d)) < 0.6, rng.normal(size=(n, d)), 0)
    Y = (rng.random((n, n_labels)) < rng.choice([0.2, 0.5, 0.95])).astype(float)
    W, draws = rng.normal(size=(n_labels, d)), rng.random((200, 6))
    plain, lazy = (steps(X, Y, W, draws, step, *weights) for steps in (plain_steps, compiled_steps))
    for ours, theirs in zip(lazy, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-7, atol=1e-9 * len(draws))


def test_limo_s_objective_falls() -> None:
    X, Y = clean()
    values = [
        limo_objective(LIMOClassifier(epochs=epochs, random_state=0).fit(X, Y).coef_, X, Y)
        for epochs in (1, 5, 30)
    ]
    start = limo_objective(np.random.RandomState(0).standard_normal((4, 5)) / np.sqrt(5), X, Y)
    assert start > values[0] > values[1] > values[2]


def test_limo_learns_and_the_seed_decides() -> None:
    X, Y = clean(n=200)
    model = LIMOClassifier(random_state=3, epochs=50).fit(X, Y)
    error = np.mean(model.predict(X) != Y)
    assert error < 0.6 * np.mean(LabelMajority().fit(X, Y).predict(X) != Y)
    again, other = (LIMOClassifier(random_state=seed, epochs=50).fit(X, Y) for seed in (3, 4))
    np.testing.assert_array_equal(model.coef_, again.coef_)
    assert (model.coef_ != other.coef_).any()
    np.testing.assert_array_equal(model.predict(X), model.decision_function(X) > 0)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(X), model.predict(X))


def test_limo_takes_sparse_tables_and_frames() -> None:
    X, Y = clean()
    X[X < 0.4] = 0
    dense = LIMOClassifier(random_state=0).fit(X, Y)
    for features, labels in ((sparse.csr_array(X), sparse.csr_array(Y)), (sparse.coo_array(X), Y)):
        thin = LIMOClassifier(random_state=0).fit(features, labels)
        np.testing.assert_allclose(thin.coef_, dense.coef_)
        np.testing.assert_array_equal(thin.predict(sparse.csr_array(X)), dense.predict(X))
    frame = LIMOClassifier(random_state=0).fit(
        pd.DataFrame(X, columns=list("abcde")), pd.DataFrame(Y, columns=list("uvwx"))
    )
    np.testing.assert_array_equal(frame.coef_, dense.coef_)


def test_limo_skips_rows_without_labels_and_full_labels() -> None:
    X, Y = clean()
    Y[:20], Y[:, 1], Y[:, 2], Y[30] = 0, 1, 0, 1
    model = LIMOClassifier(random_state=0).fit(X, Y)
    assert np.isfinite(model.coef_).all()
    assert np.isfinite(LIMOClassifier(random_state=0).fit(X, np.zeros_like(Y)).coef_).all()


def test_classifiers_join_pipelines_and_searches() -> None:
    X, Y = clean()
    pipe = make_pipeline(MaxAbsScaler(), LIMOClassifier(epochs=2, random_state=0)).fit(X, Y)
    assert pipe.predict(X).shape == Y.shape
    search = GridSearchCV(LIMOClassifier(random_state=0), {"epochs": [1, 3]}, cv=2).fit(X, Y)
    assert search.best_params_["epochs"] in (1, 3)


@given(st.integers(0, 10_000))
def test_cuts_are_the_best_of_all_allowed(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n_labels = int(rng.integers(2, 8))
    scores = np.round(rng.normal(size=(6, n_labels)), 1)
    Y = (rng.random((6, n_labels)) < rng.choice([0.0, 0.3, 0.8])).astype(float)
    for row, y, cut in zip(scores, Y, best_cuts(scores, Y), strict=True):
        levels = np.unique(row)
        candidates = [row.min() - 1e-5, *((levels[1:] + levels[:-1]) / 2)]
        wrong = [np.sum((row > candidate) != y) for candidate in candidates]
        assert np.sum((row > cut) != y) == min(wrong)
        assert (row > cut).any()


def test_network_learns_and_handles_one_label() -> None:
    X, Y = clean(n=200)
    model = NetworkClassifier(random_state=0).fit(X, Y)
    assert np.mean(model.predict(X) != Y) < 0.6 * np.mean(LabelMajority().fit(X, Y).predict(X) != Y)
    probability = model.predict_proba(X)
    assert probability.shape == Y.shape
    np.testing.assert_array_equal(model.predict(X), probability > 0.5)
    assert model.network_.n_iter_ == 50
    single = NetworkClassifier(epochs=3, random_state=0).fit(X, Y[:, 0])
    assert single.predict(X).shape == (200, 1)
    constant = NetworkClassifier(epochs=3, random_state=0).fit(X, np.ones((200, 2)))
    assert constant.predict(X).shape == (200, 2)
    assert clone(model).get_params() == model.get_params()


def test_references_take_holes() -> None:
    X = [[1.0], [nan], [2.0]]
    y = [[1, nan, 0], [1, 0, 1], [nan, 1, nan]]
    np.testing.assert_array_equal(LabelMajority().fit(X, y).predict([[0.0], [nan]]), [[1, 0, 0]] * 2)
    np.testing.assert_array_equal(AllZero().fit(X, y).predict([[0.0], [nan]]), np.zeros((2, 3)))


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (
            LIMOClassifier(),
            [[1.0], [nan]],
            [[1, 0], [0, 1]],
            r"X has 1 unknown or infinite .* complete the table",
        ),
        (
            LIMOClassifier(),
            [[1.0], [2.0]],
            [[1, nan], [0, 1]],
            r"y must hold 0 or 1 .* 1 cell\(s\) are unknown",
        ),
        (LIMOClassifier(), [[1.0], [2.0]], [[1, 0]], r"X has 2 rows but y has 1"),
        (
            LIMOClassifier(),
            [[1.0], [2.0]],
            [1, 0],
            r"y has 1 label\(s\), but this classifier needs at least 2",
        ),
        (LIMOClassifier(step=1.0), [[1.0]], [[1, 0]], r"step must be a number .* below 1, got 1.0"),
        (LIMOClassifier(label_margin=-1), [[1.0]], [[1, 0]], r"label_margin must be .* not negative, got -1"),
        (LIMOClassifier(epochs=0), [[1.0]], [[1, 0]], r"epochs must be a whole number of at least 1, got 0"),
        (NetworkClassifier(), [[nan]], [[1]], r"X has 1 unknown"),
        (NetworkClassifier(hidden=0), [[1.0]], [[1]], r"hidden must be a whole number of at least 1, got 0"),
        (
            NetworkClassifier(learning_rate=0),
            [[1.0]],
            [[1]],
            r"learning_rate must be a finite number above 0",
        ),
    ],
)
def test_bad_input_is_named(model: Any, X: Any, y: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit(X, y)


@pytest.mark.parametrize("model", [LIMOClassifier(), NetworkClassifier(), AllZero(), LabelMajority()])
def test_not_fitted_and_wrong_columns(model: Any) -> None:
    model = clone(model)
    with pytest.raises(NotFittedError):
        model.predict([[1.0]])
    X, Y = clean(n=40)
    model.fit(X, Y)
    if hasattr(model, "random_state"):
        with pytest.raises(InputError, match=r"X has 2 features, but the classifier was trained on 5"):
            model.predict(X[:, :2])
