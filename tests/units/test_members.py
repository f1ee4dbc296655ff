"""Ensemble members beside the averages: what each sees that others do not, and what it leaves alone."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows
from cocomplete.members.linear_average import LinearAverage
from cocomplete.members.minimiser import Minimiser, Penalties
from cocomplete.members.number_kernel import LINEAR_WEIGHT, number_kernels
from cocomplete.members.prediction import Member
from cocomplete.members.trivial import Trivial
from cocomplete.problem.content_keys import content_keys
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored

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
    chosen, d = kernel.chosen[0], 2
    X = rows.X[chosen][:, [k for k in range(3) if k != average.encoding.order[0]]]
    distance = ((X[:, None] - X) ** 2).sum(axis=2)
    K = 1 + LINEAR_WEIGHT * X @ X.T / d + np.exp(-distance / d)
    y = kernel.scale.apply(observed.X)[chosen, 0]
    np.testing.assert_allclose(K @ kernel.weights[0] + 0.5 * kernel.weights[0], y, atol=1e-8)
    found, std = kernel.at(rows, chosen[:4], np.zeros(4, int))
    expected = kernel.scale.center[0] + kernel.scale.scale[0] * (K @ kernel.weights[0])[:4]
    np.testing.assert_allclose(found, expected)
    np.testing.assert_allclose(std, np.sqrt(0.5) * kernel.scale.scale[0])
    assert np.isnan(kernel.at(rows, chosen[:1], np.array([3]))).all()


def test_labels_as_numbers_keep_their_rates_where_nothing_is_known() -> None:
    rng = np.random.default_rng(1)
    Y = (rng.random((400, 4)) < [0.05, 0.2, 0.5, 0.9]).astype(float)
    member = LinearAverage.fit(Observations(rng.normal(size=(400, 2)), Y), np.zeros(2, bool))
    blank = Observations(np.full((1, 2), nan), np.full((1, 4), nan))
    prediction = member.predict(blank).mean[0]
    np.testing.assert_allclose(expit(prediction[2:]), Y.mean(axis=0), atol=0.03)
    assert np.isnan(prediction[:2]).all()


def test_labels_as_numbers_know_that_one_of_several_classes_is_left() -> None:
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
    # In units: the trivial answer is the mean, the others are nearer to the truth where it is observed.
    assert np.abs(prediction.mean[:, :3] - truth).mean() <= np.abs(truth - truth.mean(axis=0)).mean() + 0.05
