"""Tables and posteriors for the tests of the variational fit."""

from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.packed import pack, unpack
from cocomplete.solvers.posterior import FactorPosterior
from cocomplete.solvers.variational import (
    fit_variational,
)

nan = np.nan


GRID = np.linspace(-10, 10, 4001)


DENSITY = np.exp(-(GRID**2) / 2) / np.exp(-(GRID**2) / 2).sum()
"""Dense quadrature over a standard normal variable, against the fit's fifteen nodes."""


def expectation(
    function: Callable[[FloatArray], FloatArray], mean: FloatArray, variance: FloatArray
) -> FloatArray:
    """E[function(t)] of normal t, by brute force."""
    return function(np.asarray(mean)[..., None] + np.sqrt(variance)[..., None] * GRID) @ DENSITY


def random_posterior(
    rng: np.random.Generator, d: int, labels: int, k: int, spread: float = 0.3
) -> FactorPosterior:
    """Some distribution of V; ``spread`` 0 makes it a point."""
    m = d + labels
    V, root = rng.normal(size=(m, k + 1)), spread * rng.normal(size=(m, k + 1, k + 1))
    second = pack(V[:, :, None] * V[:, None, :] + root @ root.transpose(0, 2, 1))
    noise, precision = rng.uniform(0.2, 2, d), np.ones((2, k))
    return FactorPosterior(rng.normal(size=m), V, second, noise, precision, (), 1, converged=True)


def random_rows(rng: np.random.Generator, n: int, d: int, labels: int, share: float = 0.6) -> Observations:
    X, Y = rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.5).astype(float)
    X[rng.random(X.shape) > share] = nan
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y)


def low_rank_rows(rng: np.random.Generator, n: int, d: int, labels: int, share: float = 0.7) -> Observations:
    """Some structure, so that factors live, and holes."""
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d + labels))
    X = T[:, :d] + 0.5 * rng.normal(size=(n, d))
    Y = (T[:, d:] + rng.logistic(size=(n, labels)) > 0).astype(float)
    X[rng.random(X.shape) > share] = nan
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y)


def modelled_table(
    seed: int,
    *,
    n: int = 150,
    d: int = 12,
    labels: int = 4,
    noise: FloatArray | float = 0.5,
    share: float = 0.5,
) -> tuple[Observations, FloatArray, FloatArray]:
    """A table that the model describes: two factors, normal noise, logistic labels; and its truth."""
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d + labels))
    truth = T[:, :d] + np.sqrt(noise) * rng.normal(size=(n, d))
    Y = (rng.random((n, labels)) < expit(T[:, d:])).astype(float)
    X = np.where(rng.random(truth.shape) < share, truth, nan)
    Y[rng.random(Y.shape) > share] = nan
    return Observations(X, Y), truth, T


def pure_noise(seed: int, n: int, d: int, labels: int) -> Observations:
    rng = np.random.default_rng(seed)
    return Observations(rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.5).astype(float))


def fitted(observed: Observations, **options: Any) -> FactorPosterior:
    cells = Cells.of(observed)
    return fit_variational(cells, np.zeros(cells.shape[1]), **options)


def covariances(mean: FloatArray, second: FloatArray) -> FloatArray:
    return unpack(second, mean.shape[1]) - mean[:, :, None] * mean[:, None, :]


SHAPES = {"numbers": (8, 0), "labels": (0, 8), "both": (5, 4), "one label": (4, 1), "one column": (1, 0)}


@st.composite
def tables(draw: st.DrawFn, most_rows: int = 25) -> Observations:
    """Tables of every kind: with and without structure, from nearly empty to full, and tiny ones."""
    rng = np.random.default_rng(draw(st.integers(0, 10_000)))
    d, labels = SHAPES[draw(st.sampled_from(sorted(SHAPES)))]
    n = draw(st.integers(1, most_rows))
    share = draw(st.sampled_from((0.15, 0.6, 1.0)))
    make = draw(st.sampled_from((low_rank_rows, random_rows)))
    return make(rng, n, d, labels, share)
