"""The columns' side of a variational fit: moments of their factors, noise and precisions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.solvers.packed import diagonals, pack, unpack

START_PRECISION = (30.0, 2.0)
"""Prior precision of an entry of v_j during the warm-up, for numbers and for 0/1 columns."""

SUPPORTED = 0.2
"""A factor is a candidate for removal where its posterior means hold less than this share of its second
moments; the bound decides. Trying the weakest of the others, whatever it holds, raises the bound further and
makes predictions worse (features of four real tables by up to 1 %)."""


class FactorState(NamedTuple):
    """All that a sweep changes, but for the labels' sites.

    Attributes
    ----------
    V, second : ndarray
        Means and packed second moments of the columns' factors.
    log_det : float
        Σ log |precision of v_j|.
    noise : ndarray of shape (n_numbers,)
    precision : ndarray of shape (2, k)
        Prior precision of every factor, for numbers and for 0/1 columns.
    """

    V: FloatArray
    second: FloatArray
    log_det: float
    noise: FloatArray
    precision: FloatArray

    @property
    def width(self) -> int:
        """Factors, and one for the offset."""
        return int(self.V.shape[1])

    def without(self, dead: NDArray[np.intp]) -> "FactorState":
        """Leave factors out."""
        left = np.setdiff1d(np.arange(self.width), dead)
        second = unpack(self.second, self.width)[:, left[:, None], left]
        return self._replace(
            V=np.ascontiguousarray(self.V[:, left]),
            second=pack(second),
            precision=self.precision[:, left[1:] - 1],
        )

    def with_factors(self, loadings: FloatArray) -> "FactorState":
        """Add factors with known loadings."""
        width, k = self.width, loadings.shape[1]
        V = np.hstack((self.V, loadings))
        second = V[:, :, None] * V[:, None, :]
        second[:, :width, :width] = unpack(self.second, width)
        precision = np.repeat(np.array(START_PRECISION)[:, None], k, axis=1)
        return self._replace(V=V, second=pack(second), precision=np.hstack((self.precision, precision)))

    def unsupported(self, groups: tuple[slice, ...]) -> NDArray[np.intp]:
        """Give the factors whose posterior is little more than their prior, in every group of columns."""
        second = diagonals(self.second, self.width)
        supported = np.zeros(self.width, bool)
        supported[0] = True
        for group in groups:
            held = (self.V[group] ** 2).sum(axis=0)
            supported |= held > SUPPORTED * np.maximum(second[group].sum(axis=0), 1e-300)
        return np.flatnonzero(~supported)


class Spread(NamedTuple):
    """Second moments of factors that the divergence from their priors depends on.

    Attributes
    ----------
    columns : ndarray of shape (2, k + 1, k + 1)
        Σ E[v vᵀ] over numbers, and over 0/1 columns.
    rows : ndarray of shape (k + 1, k + 1)
        Σ E[u uᵀ].
    log_det : float
        Σ log |precision| of all of them.
    """

    columns: FloatArray
    rows: FloatArray
    log_det: float

    @property
    def columns_diagonal(self) -> FloatArray:
        """Σ E[v²] of every factor over numbers, and over 0/1 columns."""
        return self.columns.diagonal(axis1=1, axis2=2)

    def stretched(self, B: FloatArray, surplus: int) -> "Spread":
        """Change the basis: v ← Bᵀ v, u ← B⁻¹ u; there are so many more rows than columns."""
        inverse = np.linalg.inv(B)
        return Spread(
            B.T @ self.columns @ B,
            inverse @ self.rows @ inverse.T,
            self.log_det + 2 * surplus * float(np.linalg.slogdet(B)[1]),
        )

    def turned(self, R: FloatArray) -> "Spread":
        """Change the basis by a rotation, of which no determinant changes."""
        return Spread(R.T @ self.columns @ R, R.T @ self.rows @ R, self.log_det)
