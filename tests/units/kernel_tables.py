"""Seven features and three labels, for the tests of kernel members."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.members.average import Average
from cocomplete.members.kernel import (
    CompletedRows,
    KernelRegression,
    kernel_path,
)
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations

nan = np.nan


YES_NO = np.array([False, True, False, False, True, False, False])
"""Seven features, of which two are yes/no and stand among the numbers; three labels."""


FEATURES = np.concatenate((np.flatnonzero(~YES_NO), np.flatnonzero(YES_NO)))
"""Their order in completed rows: numbers first."""


VARIANCES = (0.5, 4.0)


def table(seed: int = 0, n: int = 90) -> Observations:
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 10))
    X = 5 * (T[:, :7] + rng.normal(size=(n, 7))) - 3
    X[:, YES_NO] = (T[:, :7][:, YES_NO] + rng.logistic(size=(n, 2)) > 0).astype(float)
    Y = (T[:, 7:] + rng.logistic(size=(n, 3)) > 0).astype(float)
    X[rng.random(X.shape) < 0.3], Y[rng.random(Y.shape) < 0.3] = nan, nan
    return Observations(X, Y)


def path(
    average: Average,
    observed: Observations,
    variances: Sequence[float] = VARIANCES,
    keys: NDArray[np.uint64] | None = None,
) -> list[KernelRegression]:
    """Fits to a table's own rows and labels."""
    rows = CompletedRows.of(average, observed)
    keys = np.arange(observed.n_samples, dtype=np.uint64) if keys is None else keys
    return list(kernel_path(average, rows, observed.Y, keys, variances))


def standardized(observed: Observations, encoding: Encoding) -> FloatArray:
    """Features as the regression has them, observed cells alone."""
    numbers = encoding.scale.apply(observed.X[:, ~YES_NO])
    rate = expit(encoding.log_odds[:2])
    return np.hstack((numbers, (observed.X[:, YES_NO] - rate) / np.sqrt(rate * (1 - rate))))
