"""The columns' side of a variational fit: moments of their factors, noise and precisions."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.solvers.moments import pack, unpack

START_PRECISION = (30.0, 2.0)
"""Prior precision of an entry of v_j during the warm-up, for numbers and for 0/1 columns."""


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
