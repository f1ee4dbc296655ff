"""scikit-learn's own checks, and the places where its users would put a completer."""

import numpy as np
import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from cocomplete import CoCompleter

EXPECTED_FAILURES = {
    "check_dtype_object": "a cell that is no number is an InputError naming row and column, not a TypeError",
}


def to_labels(y):
    """Make 0/1 labels of whatever targets a check hands in; leave alone what it wants refused."""
    values = np.asarray(y)
    if values.size == 0 or values.dtype.kind not in "iuf" or not np.isfinite(values).all():
        return y
    return (values > np.median(values)).astype(float)


class BinaryTargets(CoCompleter):
    """CoCompleter behind a door that accepts the many-valued targets of scikit-learn's checks."""

    def fit(self, X, y=None):
        return super().fit(X, y if y is None else to_labels(y))

    def score(self, X, y):
        return super().score(X, to_labels(y))


@pytest.mark.filterwarnings("ignore:nothing predicted hidden")
@parametrize_with_checks(
    [BinaryTargets(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.5), BinaryTargets()],
    expected_failed_checks=lambda _: EXPECTED_FAILURES,
)
def test_contract(estimator, check):
    check(estimator)
