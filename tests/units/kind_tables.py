"""A small table with every kind of column, and what judges members on it."""

from collections.abc import Collection

import numpy as np

from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored

nan = np.nan
YES_NO = np.array([False, False, False, True, True])


def table(n: int = 120, seed: int = 0) -> Observations:
    """Numbers, one of them a step, yes/no features and four labels, of two factors."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, 2))
    X = F @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(n, 5))
    X[:, 2], X[:, 3:] = 2.0 * (X[:, 0] > 0) + 0.1 * X[:, 2], X[:, 3:] > 0
    Y = (F @ rng.normal(size=(2, 4)) + 0.3 * rng.normal(size=(n, 4)) > 0).astype(float)
    X, Y = (np.where(rng.random(part.shape) < 0.2, nan, part) for part in (X, Y))
    X[0] = rng.normal(size=5) > 0
    return Observations(X, Y)


def fit_of(observed: Observations, leave_out: Collection[str] = ()) -> EnsembleFit:
    return EnsembleFit(observed, YES_NO, seed=0, solve=solve_factored, leave_out=leave_out)
