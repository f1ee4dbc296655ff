"""Directions in which the rows' factors are uncorrelated, and how reliably features determine each."""

from typing import NamedTuple

import numpy as np

from cocomplete.arrays import FloatArray

# Directions of R whose reliability is less carry next to nothing of the factors and are dropped.
_LEAST_RELIABILITY = 0.02


class Directions(NamedTuple):
    """A basis in which factors have unit variance and R is uncorrelated, R's mean and reliabilities."""

    basis: FloatArray
    center: FloatArray
    reliability: FloatArray

    def to_original(self, theta: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give intercepts and slopes for R itself of those for its coordinates in this basis."""
        slopes = theta[:, 1:] @ self.basis.T
        return theta[:, 0] - slopes @ self.center, slopes


def reliable_directions(R: FloatArray, C: FloatArray | None) -> Directions:
    """Find the directions of R that carry something of the factors.

    The variance of R in units of the factor's is its reliability; for an exact R, whose reliability is 1, the
    share of the total variance takes its place, so that the prior is that of a ridge penalty on R.
    """
    center = R.mean(axis=0)
    signal = (R - center).T @ (R - center) / len(R)
    tiny = 1e-9 * max(float(np.trace(signal)), 1e-9) * np.eye(len(signal))
    if C is None:
        values, vectors = np.linalg.eigh(signal + tiny)
        basis, reliability = vectors / np.sqrt(values), values / values.max()
    else:
        total = signal + (C if C.ndim == 2 else C.mean(axis=0)) + tiny
        inverse = np.linalg.inv(np.linalg.cholesky(total))
        reliability, vectors = np.linalg.eigh(inverse @ signal @ inverse.T)
        basis = inverse.T @ vectors
    kept = reliability >= min(_LEAST_RELIABILITY, reliability.max())
    return Directions(basis[:, kept], center, np.maximum(reliability[kept], 1e-6))
