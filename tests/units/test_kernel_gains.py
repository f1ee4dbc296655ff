"""What kernels know that factors do not."""

import numpy as np

from cocomplete.members.average import Average
from cocomplete.problem.observations import Observations
from tests.units.kernel_tables import path

nan = np.nan


def test_labels_that_no_line_separates_are_predicted_by_distance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X[:, :1] * X[:, 1:] + 0.2 * rng.normal(size=(300, 3)) > 0).astype(float)
    X[rng.random(X.shape) < 0.05] = nan
    observed, new = Observations(X[:200], Y[:200]), Observations(X[200:], np.full((100, 3), nan))
    average = Average.fit(observed, np.zeros(2, bool), gaussian=False)
    *_, fit = path(average, observed, (0.1, 1.0, 10.0))
    wrong = [np.mean((one.predict(new).mean[:, 2:] > 0) != Y[200:]) for one in (fit, average)]
    assert wrong[0] < 0.25
    assert wrong[1] > 0.35
