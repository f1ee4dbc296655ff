"""Ensemble members beside the averages: what each sees that others do not, and what it leaves alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members import number_kernel
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows
from cocomplete.members.linear_average import LinearAverage, as_numbers
from cocomplete.members.minimiser import Minimiser, Penalties
from cocomplete.members.number_kernel import LINEAR_WEIGHT, number_kernels, predict_cells
from cocomplete.members.prediction import Member, decode, decode_cells
from cocomplete.members.trivial import Trivial
from cocomplete.problem.content_keys import content_keys
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.packed import unpack

nan = np.nan


def curved(seed: int = 0, n: int = 200, missing: float = 0.1) -> tuple[FloatArray, Observations]:
    """Two columns on a parabola, one beside them, and a label."""
    rng = np.random.default_rng(seed)
    x = rng.normal(size=n)
    truth = np.column_stack([x, x**2 + 0.2 * rng.normal(size=n), rng.normal(size=n)])
    X = np.where(rng.random(truth.shape) < missing, nan, truth)
    return truth, Observations(X, (rng.random((n, 1)) < 0.5).astype(float))


def kernel_of(observed: Observations, noise: float = 0.2) -> tuple[Any, ...]:
    yes_no = np.zeros(observed.n_features, bool)
    average = Average.fit(observed, yes_no, gaussian=True)
    rows = CompletedRows.of(average, observed)
    return (
        average,
        rows,
        next(number_kernels(average, rows, observed, yes_no, content_keys(observed).rows, [noise])),
    )


def test_a_kernel_of_numbers_follows_what_no_line_does() -> None:
    truth, observed = curved()
    average, _, kernel = kernel_of(observed)
    holes = np.isnan(observed.X[:, 1])
    errors = [
        np.sqrt(np.mean((member.predict(observed).mean[holes, 1] - truth[holes, 1]) ** 2))
        for member in (average, kernel)
    ]
    assert errors[1] < 0.7 * errors[0]


def test_a_number_has_no_part_in_its_own_prediction() -> None:
    _, observed = curved()
    _, _, kernel = kernel_of(observed)
    whole = Observations(np.array([[0.5, 0.3, -1.0]]), np.array([[nan]]))
    moved = Observations(np.array([[0.5, 9.0, -1.0]]), np.array([[nan]]))
    one, other = (kernel.predict(rows).mean[0] for rows in (whole, moved))
    assert one[1] == pytest.approx(other[1], abs=1e-9)
    assert abs(one[0] - other[0]) > 0.1
    assert np.isnan(one[3])


def test_a_kernel_of_numbers_is_ridge_regression_in_its_feature_space() -> None:
    _, observed = curved(missing=0.0)
    average, rows, kernel = kernel_of(observed, noise=0.5)
    order, d = np.argsort(content_keys(observed).rows, kind="stable"), 2
    chosen = order[kernel.chosen[0]]
    np.testing.assert_array_equal(kernel.landmarks.X, rows.X[order])
    X = rows.X[chosen][:, [k for k in range(3) if k != average.encoding.order[0]]]
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    K = 1 + LINEAR_WEIGHT * X @ X.T / d + np.exp(-distance / d)
    y = kernel.scale.apply(observed.X)[chosen, 0]
    np.testing.assert_allclose(K @ kernel.weights[0] + 0.5 * kernel.weights[0], y, atol=1e-8)
    (found,), (std,) = predict_cells([kernel], rows, chosen[:4], np.zeros(4, int))
    expected = kernel.scale.center[0] + kernel.scale.scale[0] * (K @ kernel.weights[0])[:4]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(std, np.sqrt(0.5) * kernel.scale.scale[0])
    assert np.isnan(predict_cells([kernel], rows, chosen[:1], np.array([3]))).all()


@pytest.mark.parametrize("most", [30, 400])
def test_every_column_of_a_kernel_of_numbers_is_learnt_from_rows_of_its_own(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Where cells are missing: rows with the smallest keys of those in which the column is known."""
    monkeypatch.setattr(number_kernel, "MOST_ROWS", most)
    _, observed = curved(missing=0.3)
    average, rows, kernel = kernel_of(observed, noise=0.2)
    order = np.argsort(content_keys(observed).rows, kind="stable")
    predicted = kernel.predict(observed).mean
    for j in range(3):
        known = order[~np.isnan(observed.X[order, j])][:most]
        others = [k for k in range(3) if k != average.encoding.order[j]]
        X, variances = rows.X[:, others], rows.variances[:, others]
        distance = ((X[:, None] - X[known]) ** 2 + variances[:, None] + variances[known]).sum(axis=2)
        own = distance.copy()
        own[known, np.arange(known.size)] = 0
        linear = 1 + LINEAR_WEIGHT * X @ X[known].T / 2
        y = kernel.scale.apply(observed.X)[known, j]
        K = (linear + np.exp(-own / 2))[known]
        weights = np.linalg.solve(K + 0.2 * np.eye(known.size), y)
        np.testing.assert_allclose(kernel.weights[j], weights, atol=1e-8)
        np.testing.assert_array_equal(kernel.landmarks.X[kernel.chosen[j]], rows.X[known])
        expected = kernel.scale.center[j] + kernel.scale.scale[j] * (linear + np.exp(-distance / 2)) @ weights
        np.testing.assert_allclose(predicted[:, j], expected, atol=1e-7)
        (found,), _ = predict_cells([kernel], rows, np.arange(5, 25), np.full(20, j))
        np.testing.assert_allclose(found, expected[5:25], atol=1e-7)


# -- averages that go on from others -------------------------------------------------------------------


def mixed(seed: int = 0, n: int = 250) -> tuple[Observations, BoolArray]:
    """Numbers, a yes/no feature between them and two labels, of two factors."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 8)) + 0.5 * rng.normal(size=(n, 8))
    X, Y = T[:, :6].copy(), (T[:, 6:] > 0).astype(float)
    X[:, 2] = X[:, 2] > 0
    X, Y = (np.where(rng.random(part.shape) < 0.3, nan, part) for part in (X, Y))
    return Observations(X, Y), np.arange(6) == 2


@pytest.mark.parametrize("gaussian", [False, True])
def test_an_average_as_numbers_has_the_factors_of_the_average(gaussian: bool) -> None:
    observed, yes_no = mixed()
    average = Average.fit(observed, yes_no, gaussian=gaussian)
    posterior, numbers = average.posterior, as_numbers(average)
    width = posterior.V.shape[1]
    rate = expit(average.encoding.log_odds)
    assert not numbers.base.any()
    # In the user's columns: numbers as they are, 0/1 columns at the slope of the sigmoid, standardised.
    for j in range(8):
        inner = average.encoding.order[j]
        slope = 1.0 if inner < 5 else np.sqrt(rate[inner - 5] * (1 - rate[inner - 5]))
        np.testing.assert_allclose(numbers.V[j, 1:], slope * posterior.V[inner, 1:])
        cov, original = (
            unpack(one.second[row], width) - np.outer(one.V[row], one.V[row])
            for one, row in ((numbers, j), (posterior, inner))
        )
        np.testing.assert_allclose(cov[1:, 1:], slope**2 * original[1:, 1:], atol=1e-12)
        assert not cov[0].any()
        if inner < 5:
            assert numbers.noise[j] == posterior.noise[inner]
        else:
            explained = np.trace(unpack(numbers.second[j], width)[1:, 1:])
            assert numbers.noise[j] == pytest.approx(max(1 - explained, 0.1))
    second = np.einsum("jrr->jr", unpack(numbers.second, width))[:, 1:]
    np.testing.assert_allclose(numbers.precision, np.tile(8 / second.sum(axis=0), (2, 1)))


@pytest.mark.parametrize("seed", range(3))
def test_averages_that_go_on_from_others_come_to_the_same(seed: int) -> None:
    observed, yes_no = mixed(seed)
    raw = Average.fit(observed, yes_no, gaussian=False)
    alone, continued = (
        Average.fit(observed, yes_no, gaussian=True, start=start) for start in (None, raw.posterior)
    )
    linear, after = (LinearAverage.fit(observed, yes_no, start=start) for start in (None, as_numbers(alone)))
    for one, other in ((alone, continued), (linear.average, after.average)):
        assert other.posterior.converged
        assert other.posterior.n_iter < one.posterior.n_iter
        cells = observed.X_known.sum() + observed.Y_known.sum()
        assert other.posterior.bounds[-1] > one.posterior.bounds[-1] - 1e-3 * cells
    compared: list[tuple[Member, Member, Any]] = [
        (alone, continued, slice(8)),
        (linear, after, [2, 6, 7]),
    ]
    for first, second, columns in compared:
        here, there = (member.predict(observed).mean[:, columns] for member in (first, second))
        assert np.abs(here - there).mean() < 0.05 * here.std()


def test_labels_as_numbers_keep_their_rates_where_nothing_is_known() -> None:
    rng = np.random.default_rng(1)
    Y = (rng.random((400, 4)) < [0.05, 0.2, 0.5, 0.9]).astype(float)
    member = LinearAverage.fit(Observations(rng.normal(size=(400, 2)), Y), np.zeros(2, bool))
    blank = Observations(np.full((1, 2), nan), np.full((1, 4), nan))
    prediction = member.predict(blank).mean[0]
    np.testing.assert_allclose(expit(prediction[2:]), Y.mean(axis=0), atol=0.03)
    assert np.isnan(prediction[:2]).all()


def test_labels_as_numbers_predict_the_one_of_several_classes_that_is_left() -> None:
    rng = np.random.default_rng(2)
    Y = np.eye(4)[rng.integers(4, size=300)]
    seen = np.where(rng.random(Y.shape) < 0.15, nan, Y)
    observed = Observations(rng.normal(size=(300, 2)), seen)
    yes_no = np.zeros(2, bool)
    alone = np.isnan(seen) & (np.isnan(seen).sum(axis=1, keepdims=True) == 1)
    losses = []
    for member in (LinearAverage.fit(observed, yes_no), Average.fit(observed, yes_no, gaussian=True)):
        z = member.predict(observed).mean[:, 2:][alone]
        losses.append(np.mean(np.logaddexp(0, z) - Y[alone] * z))
    assert losses[0] < 0.1
    assert losses[0] < losses[1]


@pytest.mark.parametrize("kind", ["trivial", "average", "minimiser"])
def test_members_predict_every_cell_and_leave_their_input_alone(kind: str) -> None:
    truth, observed = curved(n=40)
    yes_no = np.zeros(3, bool)
    fits: dict[str, Callable[[], Member]] = {
        "trivial": lambda: Trivial.fit(observed, yes_no),
        "average": lambda: Average.fit(observed, yes_no, gaussian=False),
        "minimiser": lambda: Minimiser.fit(observed, yes_no, Penalties(share=0.2), solve_factored),
    }
    member = fits[kind]()
    before = observed.X.copy(), observed.Y.copy()
    prediction = member.predict(observed)
    assert prediction.mean.shape == (40, 4)
    assert prediction.std.shape == (40, 3)
    assert np.isfinite(prediction.mean).all()
    assert (prediction.std > 0).all()
    np.testing.assert_array_equal(observed.X, before[0])
    np.testing.assert_array_equal(observed.Y, before[1])
    # In units: the trivial prediction is the mean, the others are nearer to the truth where it is observed.
    assert np.abs(prediction.mean[:, :3] - truth).mean() <= np.abs(truth - truth.mean(axis=0)).mean() + 0.05


@pytest.mark.parametrize("gaussian", [False, True])
def test_some_cells_are_decoded_as_they_are_among_all(gaussian: bool) -> None:
    observed, yes_no = mixed()
    average = Average.fit(observed, yes_no, gaussian=gaussian)
    moments = average.moments(observed)
    row, column = np.random.default_rng(0).permutation(np.argwhere(np.ones(moments.mean.shape)))[:300].T
    whole = decode(average.encoding, moments)
    mean, std = decode_cells(average.encoding, moments, row, column)
    np.testing.assert_allclose(mean, whole.mean[row, column], rtol=1e-12)
    features = column < observed.n_features
    np.testing.assert_allclose(std[features], whole.std[row[features], column[features]], rtol=1e-12)
    assert np.isnan(std[~features]).all()
