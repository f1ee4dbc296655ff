"""Columns made normal by their ranks, and back by their observed quantiles."""

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri

from cocomplete.arrays import FloatArray
from cocomplete.problem.standardize import ABSURD, limits

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()


@dataclass(frozen=True, eq=False)
class NormalScores:
    """A monotone map per feature column that sends its observed values to normal quantiles.

    With it a low-rank model becomes a Gaussian copula: skewed and heavy-tailed columns are modelled on a
    scale where they are not.

    Attributes
    ----------
    values : tuple of ndarray
        Observed values of each column, sorted.
    """

    values: tuple[FloatArray, ...]

    @classmethod
    def of(cls, X: FloatArray) -> "NormalScores":
        """Learn the map from the observed cells (NaN elsewhere) alone; outliers are held back."""
        within = np.clip(X, *limits(X, ~np.isnan(X), ABSURD))
        return cls(tuple(np.sort(column[~np.isnan(column)]) for column in within.T))

    def apply(self, X: FloatArray) -> FloatArray:
        """Give known cells their normal scores; ties share one, values between observed ones interpolate."""
        out = np.full_like(X, np.nan)
        for j, values in enumerate(self.values):
            known = ~np.isnan(X[:, j])
            n = len(values)
            if n == 0 or values[0] == values[-1]:
                out[known, j] = 0
                continue
            distinct, first = np.unique(values, return_index=True)
            middle = (first + np.diff(np.append(first, n)) / 2) / n
            share = np.interp(X[known, j], distinct, middle)
            out[known, j] = ndtri(np.clip(share, 0.5 / n, 1 - 0.5 / n))
        return out

    def undo(self, column: int, t: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give mean and standard deviation, in the user's units, of a column whose t is normal."""
        values = self.values[column]
        n = len(values)
        if n == 0:
            return np.zeros_like(t), np.ones_like(t)
        # Squares of what is far from zero would drown the variance.
        origin = values[n // 2]
        nodes = t + np.sqrt(variance) * NODES[:, None]
        value = np.interp(ndtr(nodes), (np.arange(n) + 0.5) / n, values - origin)
        mean = WEIGHTS @ value
        return mean + origin, np.sqrt(np.maximum(WEIGHTS @ value**2 - mean**2, 0))
