"""What kernels know that factors do not."""

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.members.average import Average
from cocomplete.members.kernel import (
    KERNELS,
    KernelRegression,
)
from cocomplete.problem.observations import Observations
from tests.units.kernel_tables import path

nan = np.nan


def regressions(X: FloatArray, Y: FloatArray) -> dict[str, KernelRegression]:
    observed = Observations(X, Y)
    average = Average.fit(observed, np.zeros(X.shape[1], bool), gaussian=False)
    found: dict[str, KernelRegression] = {}
    for kind in KERNELS:
        *_, found[kind] = path(average, observed, kind, (0.1, 1.0, 10.0))
    return found


def log_loss(Y: FloatArray, z: FloatArray) -> float:
    return float(np.mean(np.logaddexp(0, z) - Y * z))


def test_features_of_their_own_are_found() -> None:
    """A label for each of three features that have nothing in common."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    Y = (2 * X[:, :3] + rng.logistic(size=(300, 3)) > 0).astype(float)
    X[rng.random(X.shape) < 0.1] = nan
    found = regressions(X[:150], Y[:150])
    new = Observations(X[150:], np.full((150, 3), nan))
    losses = {kind: log_loss(Y[150:], fit.predict(new).mean[:, 8:]) for kind, fit in found.items()}
    assert losses["linear"] < 0.75 * log_loss(Y[150:], np.zeros((150, 3)))
    assert losses["linear"] < 0.95 * losses["rbf"]


def test_labels_that_no_line_separates_are_predicted_by_distance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X[:, :1] * X[:, 1:] + 0.2 * rng.normal(size=(300, 3)) > 0).astype(float)
    X[rng.random(X.shape) < 0.05] = nan
    found = regressions(X[:200], Y[:200])
    new = Observations(X[200:], np.full((100, 3), nan))
    wrong = {kind: np.mean((fit.predict(new).mean[:, 2:] > 0) != Y[200:]) for kind, fit in found.items()}
    assert wrong["rbf"] < 0.25
    assert wrong["linear"] > 0.35
