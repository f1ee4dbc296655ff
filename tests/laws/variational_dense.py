"""The variational fit on dense matrices, from its definition: what the tests compare sweeps with."""

from typing import NamedTuple

import numpy as np
from scipy.stats import gamma

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factor_state import FactorState
from cocomplete.solvers.packed import pack, unpack
from cocomplete.solvers.row_block import Sites, Sums
from cocomplete.solvers.variational import (
    NOISE_PRIOR,
    OFFSET_PRECISION,
    PRECISION_PRIOR,
    WARM_UP,
    _Ascent,
)
from tests.laws.variational_tables import expectation


def ascended(observed: Observations, sweeps: int = 2) -> _Ascent:
    """An ascent some sweeps after the warm-up, at a point that was accepted."""
    cells = Cells.of(observed)
    ascent = _Ascent(cells, np.zeros(cells.shape[1]))
    for _ in range(WARM_UP + sweeps):
        ascent.sweep()
    while ascent.shrunk:
        ascent.sweep()
    return ascent


def sites_of(ascent: _Ascent) -> list[Sites]:
    return list(ascent.sites[-1])


class Dense(NamedTuple):
    """Posteriors as plain means and covariance matrices, first coordinates included."""

    U: np.ndarray
    U_cov: np.ndarray
    V: np.ndarray
    V_cov: np.ndarray


class Recording(_Ascent):
    """An ascent that remembers which basis it has gone to."""

    def _stretched(self, state: FactorState, B: FloatArray) -> FactorState:
        turned = super()._stretched(state, B)
        self.last = (turned.V, B)
        return turned

    def basis(self, state: FactorState) -> FloatArray:
        """B that has made a state, known by its V; none was better if it is another's."""
        V, B = getattr(self, "last", (None, None))
        return B if V is state.V else np.eye(state.width)


def factor_divergence(ascent: _Ascent, state: FactorState, sums: Sums) -> float:
    """Of factors from their priors, in the basis of the sums."""
    return ascent._divergence(state.precision, ascent._spread(state, sums))


def prior_precision(ascent: _Ascent, precision: FloatArray) -> FloatArray:
    label = np.arange(ascent.m) >= ascent.cells.n_features
    return np.column_stack(
        (np.where(label, OFFSET_PRECISION[1], OFFSET_PRECISION[0]), precision[label.astype(int)])
    )


def dense_sites(ascent: _Ascent, observed: Observations) -> tuple[FloatArray, FloatArray]:
    """Weight and pull of every observed cell, those of numbers without their noise; 0 where unknown."""
    d, known = observed.n_features, np.hstack((observed.X_known, observed.Y_known))
    weight = known.astype(float)
    linear = np.hstack((np.nan_to_num(observed.X - ascent.base[:d]), np.zeros_like(observed.Y)))
    linear[:, :d][~known[:, :d]] = 0
    sites = sites_of(ascent)
    weight[:, d:][known[:, d:]] = np.concatenate([one.weight for one in sites])
    linear[:, d:][known[:, d:]] = np.concatenate([one.pull for one in sites])
    return weight, linear


def dense_rows(state: FactorState, weight: FloatArray, linear: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rows' posteriors given columns', by loops and inverses."""
    n, k, d = len(weight), state.width, state.noise.size
    scale = np.concatenate((1 / state.noise, np.ones(weight.shape[1] - d)))
    E = unpack(state.second, k)
    U, U_cov = np.zeros((n, k)), np.zeros((n, k, k))
    U[:, 0] = 1
    for i in range(n):
        H = np.einsum("j,jrc->rc", weight[i] * scale, E)
        U_cov[i, 1:, 1:] = np.linalg.inv(np.eye(k - 1) + H[1:, 1:])
        U[i, 1:] = U_cov[i, 1:, 1:] @ ((linear[i] * scale) @ state.V[:, 1:] - H[1:, 0])
    return U, U_cov


def dense_noise(dense: Dense, observed: Observations, base: FloatArray) -> FloatArray:
    """Expected squared residuals of each feature, and the prior's."""
    mean, variance = cell_moments(dense)
    d = observed.n_features
    squares = (observed.X - base[:d] - mean[:, :d]) ** 2 + variance[:, :d]
    guess, worth = NOISE_PRIOR
    return (np.nansum(squares, axis=0) + worth * guess) / (observed.X_known.sum(axis=0) + worth)


def dense_columns(
    U: FloatArray,
    U_cov: FloatArray,
    noise: FloatArray,
    prior: FloatArray,
    weight: FloatArray,
    linear: FloatArray,
) -> tuple[FloatArray, FloatArray]:
    """Columns' posteriors given rows', by loops and inverses."""
    m, k, d = weight.shape[1], U.shape[1], noise.size
    scale = np.concatenate((1 / noise, np.ones(m - d)))
    E = U_cov + U[:, :, None] * U[:, None, :]
    V, V_cov = np.zeros((m, k)), np.zeros((m, k, k))
    for j in range(m):
        V_cov[j] = np.linalg.inv(np.diag(prior[j]) + scale[j] * np.einsum("i,irc->rc", weight[:, j], E))
        V[j] = V_cov[j] @ (scale[j] * linear[:, j] @ U)
    return V, V_cov


def dense_precisions(dense: Dense, observed: Observations) -> FloatArray:
    """Precisions of every factor at which the bound is highest, for numbers and for labels."""
    shape, rate = PRECISION_PRIOR
    second = np.einsum("jrr->jr", dense.V_cov)[:, 1:] + dense.V[:, 1:] ** 2
    groups = np.split(second, [observed.n_features])
    return np.array([(len(one) + 2 * shape) / (one.sum(axis=0) + 2 * rate) for one in groups])


def in_basis(dense: Dense, B: FloatArray) -> Dense:
    inverse = np.linalg.inv(B)
    return Dense(dense.U @ inverse.T, inverse @ dense.U_cov @ inverse.T, dense.V @ B, B.T @ dense.V_cov @ B)


def cell_moments(dense: Dense) -> tuple[FloatArray, FloatArray]:
    mean = dense.U @ dense.V.T
    U2 = dense.U_cov + dense.U[:, :, None] * dense.U[:, None, :]
    V2 = dense.V_cov + dense.V[:, :, None] * dense.V[:, None, :]
    return mean, np.einsum("irc,jrc->ij", U2, V2) - mean**2


def divergence(mean: FloatArray, cov: FloatArray, precision: FloatArray) -> float:
    """From N(0, 1/precision), of one normal distribution."""
    trace = (precision * (np.diag(cov) + mean**2)).sum()
    return 0.5 * (trace - len(mean) - np.linalg.slogdet(cov)[1] - np.log(precision).sum())


def hyperpriors(precision: FloatArray, noise: FloatArray) -> float:
    """Log-densities: Gamma of precisions; scaled inverse χ² of noise, up to a constant."""
    shape, rate = PRECISION_PRIOR
    guess, worth = NOISE_PRIOR
    return (
        gamma.logpdf(precision, shape + 1, scale=1 / rate).sum()
        - 0.5 * worth * (np.log(noise) + guess / noise).sum()
    )


def dense_bound(
    dense: Dense,
    observed: Observations,
    base: FloatArray,
    noise: FloatArray,
    precision: FloatArray,
    entry_precision: FloatArray,
) -> float:
    """Expected log-likelihood, less divergences, plus hyperpriors: from the definitions."""
    mean, variance = cell_moments(dense)
    d = observed.n_features
    residual = observed.X - base[:d] - mean[:, :d]
    density = -0.5 * np.log(2 * np.pi * noise) - 0.5 * (residual**2 + variance[:, :d]) / noise
    log_odds = base[d:] + mean[:, d:]
    softplus = expectation(lambda z: np.logaddexp(0, z), log_odds, variance[:, d:])
    likelihood = np.nansum(density) + np.nansum(observed.Y * log_odds - softplus)
    rows = sum(
        divergence(u[1:], cov[1:, 1:], np.ones(len(u) - 1))
        for u, cov in zip(dense.U, dense.U_cov, strict=True)
    )
    columns = sum(map(divergence, dense.V, dense.V_cov, entry_precision))
    groups = [d > 0, observed.n_labels > 0]
    return likelihood - rows - columns + hyperpriors(precision[groups], noise)


def random_state(rng: np.random.Generator, ascent: _Ascent, k: int) -> tuple[Dense, FactorState, Sums]:
    """Some rows' and columns' moments and the state that belongs to them."""
    roots = [rng.normal(size=(size, k + 1, k + 1)) for size in (ascent.n, ascent.m)]
    U, V = rng.normal(size=(ascent.n, k + 1)), rng.normal(size=(ascent.m, k + 1))
    U[:, 0], roots[0][:, 0] = 1, 0
    dense = Dense(U, roots[0] @ roots[0].swapaxes(1, 2), V, roots[1] @ roots[1].swapaxes(1, 2))
    state = ascent.next._replace(
        V=V,
        second=pack(dense.V_cov + V[:, :, None] * V[:, None, :]),
        log_det=-np.linalg.slogdet(dense.V_cov)[1].sum(),
        precision=rng.uniform(0.5, 2, (2, k)),
    )
    sums = Sums(
        np.zeros_like(state.second),
        np.zeros_like(V),
        pack((dense.U_cov + U[:, :, None] * U[:, None, :]).sum(axis=0)),
        -np.linalg.slogdet(dense.U_cov[:, 1:, 1:])[1].sum(),
        0.0,
    )
    return dense, state, sums
