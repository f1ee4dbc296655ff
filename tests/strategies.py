"""Hypothesis strategies shared by the tests: small tables with holes."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations


def matrices(max_rows: int = 9, max_columns: int = 9, bound: float = 20.0):
    shapes = st.tuples(st.integers(1, max_rows), st.integers(1, max_columns))
    values = st.floats(-bound, bound, allow_nan=False, width=32)
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=values))


def tiny_objective(seed: int, *, rank_penalty=0.7, residual_penalty=0.0, feature_weight=0.3, offsets=False):
    """A random problem of 8 rows, 5 features, 3 labels with about two thirds observed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(8, 5))
    Y = (rng.random((8, 3)) < 0.5).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    Y[rng.random(Y.shape) < 0.3] = np.nan
    offset = rng.normal(size=8) if offsets else np.zeros(8)
    return Objective(Observations(X, Y), rank_penalty, residual_penalty, feature_weight, offset)
