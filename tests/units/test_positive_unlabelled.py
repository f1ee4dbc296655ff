"""The recorded share: derivatives, recovery on generated tables, what it cannot identify, invariances."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.special import expit

from cocomplete import positive_unlabelled as pu
from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.fitted.positive_labels import PositiveLabels, _factors, _features
from cocomplete.members.average import Average
from cocomplete.positive_unlabelled.label_model import RecordedCells, likelihood_terms, log_prior
from cocomplete.problem.observations import Observations


def described(X: FloatArray) -> tuple[Average, pu.RowFactors]:
    """A fit to features alone, and the rows' factors by it."""
    average = Average.fit(Observations(X, np.empty((len(X), 0))), np.zeros(X.shape[1], bool), gaussian=True)
    return average, _factors(average, Observations(X, np.empty((len(X), 0))))


def from_features(X: FloatArray, S: FloatArray) -> tuple[pu.RecordedShare, pu.RowFactors]:
    """The recorded share, and the rows' description that it was found with."""
    average, _ = described(X)
    observed = Observations(X, S)
    labels = PositiveLabels.fit(observed, average, None)
    return labels.found, (_features if labels.by_features else _factors)(average, observed)


def table(
    seed: int,
    share: float,
    *,
    n: int = 600,
    rate: float = -1.5,
    slope: float = 3.0,
    n_labels: int = 8,
    n_features: int = 15,
    missing: float = 0.2,
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Features and labels of three factors, some features missing, some ones recorded."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, 3))
    X = F @ rng.normal(size=(3, n_features)) / np.sqrt(3) + 0.7 * rng.normal(size=(n, n_features))
    A = rng.normal(size=(3, n_labels))
    T = F @ A * slope / np.linalg.norm(A, axis=0) + rate
    Y = rng.random(T.shape) < expit(T)
    S = Y & (rng.random(T.shape) < share)
    X[rng.random(X.shape) < missing] = np.nan
    return X, S.astype(np.float64), Y.astype(np.float64)


def small_problem(kind: str) -> tuple[Any, FloatArray]:
    rng = np.random.default_rng(3)
    n, k, n_labels = 40, 3, 4
    root = rng.normal(size=(n, k, k)) * 0.5
    C = {"none": None, "shared": root[0] @ root[0].T, "rows": root @ np.swapaxes(root, 1, 2)}[kind]
    S = (rng.random((n, n_labels)) < 0.3).astype(np.float64)
    return RecordedCells(rng.normal(size=(n, k)), C, S, np.array([0.5, 0.3, 0.2])), rng.normal(
        size=(n_labels, k + 1)
    )


def differences(function: Callable[[FloatArray], Any], theta: FloatArray, h: float = 1e-5) -> FloatArray:
    columns = []
    for a in range(theta.shape[1]):
        step = np.zeros_like(theta)
        step[:, a] = h
        columns.append((function(theta + step) - function(theta - step)) / (2 * h))
    return np.stack(columns, axis=-1)


@pytest.mark.parametrize("kind", ["none", "shared", "rows"])
@pytest.mark.parametrize("share", [0.3, 1.0])
def test_gradient_of_the_likelihood(kind: str, share: float) -> None:
    problem, theta = small_problem(kind)
    slopes = differences(lambda at: likelihood_terms(problem, share, at).log_likelihood, theta)
    np.testing.assert_allclose(likelihood_terms(problem, share, theta).gradient, slopes, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("kind", ["none", "rows"])
def test_information_is_the_mean_of_the_negative_hessian(kind: str) -> None:
    problem, theta = small_problem(kind)
    # The Hessian is linear in S, so its expectation is the Hessian at S = P.
    R, C, S, prior = problem
    found = pu.RecordedShare(0.4, 0, 1, True, 0, S, S, theta[:, 0], theta[:, 1:])
    P = 0.4 * pu.probability_of_one(R, found, covariance=C)
    total = 0
    for column in (0, 1):
        cells = RecordedCells(R, C, np.full_like(S, column), prior)
        # Weighted by cell: every row alone is a problem.
        for i in range(len(R)):
            row = RecordedCells(R[i : i + 1], None if C is None else C[i : i + 1], cells.S[i : i + 1], prior)
            weight = P[i] if column else 1 - P[i]
            hessian = differences(lambda at: likelihood_terms(row, 0.4, at).gradient, theta)  # noqa: B023
            total = total - weight[:, None, None] * hessian
    np.testing.assert_allclose(likelihood_terms(problem, 0.4, theta).information, total, rtol=1e-4, atol=1e-5)


def test_gradient_of_the_prior() -> None:
    _, theta = small_problem("none")
    precision = np.array([0.5, 1.0, 2.0])
    _, gradient, curvature = log_prior(theta, precision)
    np.testing.assert_allclose(
        gradient, differences(lambda at: log_prior(at, precision)[0], theta), atol=1e-8
    )
    second = differences(lambda at: log_prior(at, precision)[1], theta)
    np.testing.assert_allclose(np.diagonal(-second, axis1=1, axis2=2), curvature, atol=1e-8)


@pytest.mark.parametrize("share", [0.2, 0.4, 0.8])
def test_share_and_probabilities_are_recovered(share: float) -> None:
    errors, ratios = [], []
    for seed in (0, 1):
        X, S, Y = table(seed, share, n=800)
        found, rows = from_features(X, S)
        assert found.identified
        assert found.low < found.share < found.high
        errors.append(found.share - share)
        one = pu.probability_of_one(rows.mean, found, covariance=rows.covariance)
        unrecorded = S == 0
        ratios.append(
            pu.probability_if_unrecorded(one, found.share)[unrecorded].mean() / Y[unrecorded].mean()
        )
    assert np.abs(errors).max() < 0.1
    assert abs(np.mean(ratios) - 1) < 0.3


@pytest.mark.parametrize("share", [0.2, 0.4, 0.8])
@pytest.mark.parametrize("rate", [-5.7, -3.6, -0.8])
def test_with_a_given_share_unrecorded_ones_are_as_many_as_there_are(share: float, rate: float) -> None:
    # Rates of 5, 15 and 40 %. The share that was in fact recorded: that of few ones is not the one meant.
    for seed in (0, 1, 2):
        X, S, Y = table(seed, share, n=500, rate=rate)
        average, _ = described(X)
        labels = PositiveLabels.fit(Observations(X, S), average, float(S.sum() / Y.sum()))
        found = expit(labels.log_odds(Observations(X, S), unrecorded=True))
        assert found[S == 0].mean() == pytest.approx(Y[S == 0].mean(), rel=0.25)


def test_everything_recorded() -> None:
    X, S, _ = table(0, 1.0, n=500)
    found, _ = from_features(X, S)
    assert found.identified
    assert found.share > 0.9
    assert found.high > 0.97


def test_features_without_common_factors() -> None:
    rng = np.random.default_rng(5)
    X = rng.normal(size=(500, 6))
    Y = rng.random((500, 6)) < expit(X @ rng.normal(size=(6, 6)) * 1.3 - 1)
    found, rows = from_features(X, (Y & (rng.random(Y.shape) < 0.5)).astype(float))
    assert rows.mean.shape == (500, 6)
    assert abs(found.share - 0.5) < 0.1


@pytest.mark.parametrize("rate", [-2.0, 0.0])
def test_unpredictable_labels_do_not_identify_the_share(rate: float) -> None:
    X, S, _ = table(0, 0.5, n=500, rate=rate, slope=0.0)
    found, _ = from_features(X, S)
    assert not found.identified
    assert found.low < 0.5 < found.high
    assert found.high > 0.95


def test_nothing_recorded() -> None:
    found = pu.estimate_recorded_share(np.random.default_rng(0).normal(size=(50, 2)), np.zeros((50, 3)))
    assert not found.identified
    assert 0 < found.low < found.share < found.high <= 1


def test_everything_is_one() -> None:
    found = pu.estimate_recorded_share(np.random.default_rng(0).normal(size=(50, 2)), np.ones((50, 3)))
    assert not found.identified
    assert found.share > 0.99


def test_order_of_rows_and_labels_is_of_no_account() -> None:
    X, S, _ = table(2, 0.5, n=300, n_labels=5)
    _, rows = described(X)
    first = pu.estimate_recorded_share(rows.mean, S, covariance=rows.covariance)
    rng = np.random.default_rng(0)
    order, labels = rng.permutation(300), rng.permutation(5)
    again = pu.estimate_recorded_share(
        rows.mean[order], S[order][:, labels], covariance=rows.covariance[order]
    )
    np.testing.assert_allclose(
        [again.share, again.low, again.high], [first.share, first.low, first.high], atol=1e-3
    )
    np.testing.assert_allclose(again.slopes, first.slopes[labels], atol=0.02)


def test_coordinates_of_the_factors_are_of_no_account() -> None:
    X, S, _ = table(4, 0.5, n=300, n_labels=5)
    _, rows = described(X)
    k = rows.mean.shape[1]
    B = np.eye(k) + 0.3 * np.random.default_rng(0).normal(size=(k, k))
    first = pu.estimate_recorded_share(rows.mean, S, covariance=rows.covariance)
    again = pu.estimate_recorded_share(rows.mean @ B + 7, S, covariance=B.T @ rows.covariance @ B)
    np.testing.assert_allclose(again.share, first.share, atol=1e-3)
    np.testing.assert_allclose(
        pu.probability_of_one(rows.mean @ B + 7, again, covariance=B.T @ rows.covariance @ B),
        pu.probability_of_one(rows.mean, first, covariance=rows.covariance),
        atol=0.01,
    )


def test_a_share_that_is_known_is_taken() -> None:
    X, S, Y = table(0, 0.4)
    _, rows = described(X)
    found = pu.estimate_recorded_share(rows.mean, S, covariance=rows.covariance, share=0.4)
    assert found.identified
    assert found.share == found.low == found.high == 0.4
    one = pu.probability_of_one(rows.mean, found, covariance=rows.covariance)
    assert one.mean() == pytest.approx(Y.mean(), rel=0.1)


def test_the_description_with_the_larger_evidence_is_taken() -> None:
    rng = np.random.default_rng(0)
    good, noise = rng.normal(size=(400, 2)), rng.normal(size=(400, 2))
    S = ((rng.random((400, 3)) < expit(good @ rng.normal(size=(2, 3)) * 3)) * 1.0) * (
        rng.random((400, 3)) < 0.5
    )
    nothing = np.zeros((400, 2, 2))
    found, which = pu.best_described([pu.RowFactors(noise, nothing), pu.RowFactors(good, nothing)], S)
    assert which == 1
    assert abs(found.share - 0.5) < 0.15


@pytest.mark.parametrize(
    ("low", "high", "ratio"), [(0.5, 0.5, 1), (0.55, 0.75, 2), (0.4, 0.65, 2.25), (0.5, 0.61, 1.5)]
)
def test_how_many_more_ones_may_be_unrecorded(low: float, high: float, ratio: float) -> None:
    nothing = np.empty(0)
    found = pu.RecordedShare(0.6, low, high, True, 0.0, nothing, nothing, nothing, np.empty((0, 0)))
    assert found.unrecorded_ratio == pytest.approx(ratio)


def test_probabilities_of_cells_that_are_not_recorded() -> None:
    P = np.array([1e-12, 0.01, 0.2, 0.39])
    np.testing.assert_allclose(pu.probability_if_unrecorded(P / 0.4, 0.4), P / 0.4 * 0.6 / (1 - P), rtol=1e-9)
    np.testing.assert_array_equal(pu.probability_if_unrecorded(np.array([0.3, 1.0]), 1.0), [0, 1])


@pytest.mark.parametrize(
    ("R", "S", "options", "message"),
    [
        (np.ones((3, 2)), np.ones((4, 2)), {}, r"shapes are \(3, 2\) and \(4, 2\); give one row of R"),
        (np.ones(3), np.ones((3, 2)), {}, r"R and S must be matrices with the same rows"),
        (np.full((2, 2), np.nan), np.ones((2, 1)), {}, r"R must be finite, but 4 of its cells are not"),
        (
            np.ones((2, 2)),
            np.full((2, 1), np.nan),
            {},
            r"S must be 1 where .* holds nan; replace unknown by 0",
        ),
        (np.ones((2, 2)), np.full((2, 1), 0.5), {}, r"holds 0.5"),
        (
            np.ones((2, 2)),
            np.ones((2, 1)),
            {"covariance": np.ones(2)},
            r"covariance must be .* has shape \(2,\)",
        ),
        (np.ones((2, 2)), np.ones((2, 1)), {"confidence": 1}, r"confidence must be between 0 and 1, got 1"),
    ],
)
def test_messages(R: Any, S: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        pu.estimate_recorded_share(R, S, **options)


@pytest.mark.parametrize("share", [0, 1.2, np.nan])
def test_shares_outside_their_range(share: float) -> None:
    with pytest.raises(InputError, match=r"share must be above 0 and at most 1, got"):
        pu.probability_if_unrecorded(np.zeros(2), share)
