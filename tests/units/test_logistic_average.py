"""Logistic regression averaged over its posterior: the mode, the evidence, and what is predicted."""

import numpy as np
import pytest
from numpy import nan
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.losses import log_loss
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows
from cocomplete.members.logistic_average import LogisticAverage, laplace
from cocomplete.problem.observations import Observations
from cocomplete.solvers.variational import OFFSET_PRECISION


def problem(seed: int, n: int = 25, d: int = 2) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    design = np.column_stack((np.ones(n), rng.normal(size=(n, d))))
    return design, (rng.random(n) < expit(design @ rng.normal(size=d + 1))).astype(float)


def log_posterior(design: FloatArray, y: FloatArray, offset: float, variance: float, w: FloatArray) -> float:
    off = w - np.eye(len(w))[0] * offset
    precision = np.r_[OFFSET_PRECISION[1], np.full(len(w) - 1, 1 / variance)]
    return float(-log_loss(design @ w, y).sum() - (precision * off**2).sum() / 2)


@pytest.mark.parametrize("variance", [0.1, 3.0, 100.0])
def test_mode_and_curvature(variance: float) -> None:
    design, y = problem(1)
    found = laplace(design, y, 0.4, variance)
    h = 1e-4

    def moved(*steps: FloatArray) -> float:
        return log_posterior(design, y, 0.4, variance, found.mean + h * sum(steps))

    axes = np.eye(3)
    slope = [(moved(a) - moved(-a)) / (2 * h) for a in axes]
    np.testing.assert_allclose(slope, 0, atol=1e-6)
    hessian = [
        [(moved(a, b) - moved(a, -b) - moved(-a, b) + moved(-a, -b)) / (4 * h**2) for b in axes] for a in axes
    ]
    np.testing.assert_allclose(np.linalg.inv(found.covariance), -np.array(hessian), rtol=1e-3, atol=1e-4)


def test_evidence_is_near_the_integral() -> None:
    design, y = problem(2, n=40, d=1)
    grid = np.linspace(-8, 8, 121)
    for variance in (0.3, 3.0):
        values = np.array(
            [[log_posterior(design, y, 0.0, variance, np.array([a, b])) for a in grid] for b in grid]
        )
        norm = np.log(OFFSET_PRECISION[1]) / 2 - np.log(variance) / 2 - np.log(2 * np.pi)
        integral = np.log(np.exp(values).sum() * (grid[1] - grid[0]) ** 2) + norm
        # Laplace's approximation leaves something to be desired of skewed posteriors, but not much.
        assert laplace(design, y, 0.0, variance).log_evidence == pytest.approx(integral, abs=0.15)


def test_separable_labels_and_one_value() -> None:
    design = np.column_stack((np.ones(12), np.linspace(-1, 1, 12)))
    for y in ((design[:, 1] > 0).astype(float), np.ones(12)):
        found = laplace(design, y, 0.0, 100.0)
        assert np.isfinite(found.mean).all()
        assert np.isfinite(found.log_evidence)


def fitted(seed: int, n: int = 60) -> tuple[Observations, LogisticAverage]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 4))
    Y = (rng.random((n, 2)) < expit(X[:, :2] * 2)).astype(float)
    X[rng.random(X.shape) < 0.2] = nan
    Y[rng.random(Y.shape) < 0.3] = nan
    observed = Observations(X, Y)
    average = Average.fit(observed, np.zeros(4, bool), gaussian=False)
    return observed, LogisticAverage.fit(average, CompletedRows.of(average, observed), Y)


def test_predictions_are_averages_over_the_posterior() -> None:
    observed, member = fitted(0)
    assert member.share.sum() == pytest.approx(1)
    rows = CompletedRows.of(member.average, observed)
    design = np.column_stack((np.ones(len(rows.X)), rows.X / 2))
    rng = np.random.default_rng(0)
    drawn = np.zeros((len(rows.X), 2))
    for share, mean, covariance in zip(member.share, member.mean, member.covariance, strict=True):
        for label in range(2):
            w = rng.multivariate_normal(mean[label], covariance[label], size=4000)
            drawn[:, label] += share * expit(design @ w.T).mean(axis=1)
    np.testing.assert_allclose(expit(member.predict(observed).mean[:, 4:]), drawn, atol=0.03)


def test_predictions_do_not_depend_on_the_label_itself() -> None:
    observed, member = fitted(1)
    without = Observations(observed.X, np.full_like(observed.Y, nan))
    np.testing.assert_allclose(member.predict(observed).mean, member.predict(without).mean)
    assert np.isnan(member.predict(observed).mean[:, :4]).all()


def test_unpredictable_labels_get_a_small_variance() -> None:
    rng = np.random.default_rng(3)
    observed, member = fitted(0)
    Y = (rng.random(observed.Y.shape) < 0.5).astype(float)
    noise = LogisticAverage.fit(member.average, CompletedRows.of(member.average, observed), Y)

    def spread(one: LogisticAverage) -> float:
        return float(one.predict(observed).mean[:, 4:].std())

    assert spread(noise) < 0.5 * spread(member)
