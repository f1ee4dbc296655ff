"""Tables and Hypothesis strategies shared by the tests."""

import cvxpy as cp
import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.utils import Bunch

from cocomplete.arrays import FloatArray
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations


def matrices(max_rows: int = 9, max_columns: int = 9, bound: float = 20.0) -> st.SearchStrategy[FloatArray]:
    shapes = st.tuples(st.integers(1, max_rows), st.integers(1, max_columns))
    values = st.floats(-bound, bound, allow_nan=False, width=32)
    return shapes.flatmap(lambda shape: arrays(np.float64, shape, elements=values))


def noisy_low_rank() -> Bunch:
    """A table of 160 rows, 15 features and 6 labels, of two factors and noise, 60 % observed."""
    table = make_low_rank_multilabel(160, 15, 6, rank=2, observed=0.6, random_state=1)
    noise = np.random.default_rng(0).normal(size=table.X.shape)
    table.X, table.X_true = table.X + noise, table.X_true + noise
    return table


def tiny_objective(
    seed: int,
    *,
    rank_penalty: float = 0.7,
    residual_penalty: float = 0.0,
    feature_weight: float = 0.3,
    offsets: bool = False,
    free_offsets: bool = False,
) -> Objective:
    """A random problem of 8 rows, 5 features, 3 labels with about two thirds observed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(8, 2)) @ rng.normal(size=(2, 5)) + 0.1 * rng.normal(size=(8, 5))
    Y = (rng.random((8, 3)) < 0.5).astype(float)
    X[rng.random(X.shape) < 0.3] = np.nan
    Y[rng.random(Y.shape) < 0.3] = np.nan
    offset = rng.normal(size=8) if offsets else np.zeros(8)
    observed = Observations(X, Y)
    if free_offsets:
        observed = observed.without_one_sided_labels()
    return Objective(observed, rank_penalty, residual_penalty, feature_weight, offset, free_offsets)


def cvxpy_minimum(objective: Objective) -> tuple[float, FloatArray]:
    """Minimum and minimiser of F, written in CVXPY's language from the definition, not from our code."""
    data, d = objective.table, objective.table.n_features
    M = cp.Variable(objective.shape)
    free = objective.free_offsets
    offsets = cp.Variable((1, objective.shape[1])) if free else objective.offsets[None, :]
    T = M + np.ones((objective.shape[0], 1)) @ offsets
    residual = cp.multiply(data.X_known.astype(float), T[:, :d] - np.nan_to_num(data.X))
    Y, Z = np.nan_to_num(data.Y), T[:, d:]
    log_loss = cp.sum(cp.multiply(data.Y_known.astype(float), cp.logistic(Z) - cp.multiply(Y, Z)))
    terms = [log_loss, objective.feature_weight * cp.sum_squares(residual)]
    terms.append(objective.rank_penalty * cp.normNuc(M))
    if objective.residual_penalty:
        terms.append(objective.residual_penalty * cp.normNuc(residual))
    problem = cp.Problem(cp.Minimize(sum(terms)))
    problem.solve(solver=cp.CLARABEL)
    return problem.value, M.value
