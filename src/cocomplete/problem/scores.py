"""Columns made normal by their ranks, and back by their observed quantiles."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri

from cocomplete.arrays import FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.kernels import interpolate
from cocomplete.problem.standardize import ABSURD, limits

NODES, WEIGHTS = np.polynomial.hermite_e.hermegauss(15)
WEIGHTS = WEIGHTS / WEIGHTS.sum()

TAIL = 0.1
"""Share of a column's values, at either end, whose slope against normal scores goes on past the range."""


KNOTS = 2_000
"""Values that a column's map is made of, at most: a model stays small however long the table is."""


@dataclass(frozen=True, eq=False)
class NormalScores(FieldsAlone):
    """A monotone map per feature column that sends its observed values to normal quantiles.

    With it a low-rank model becomes a Gaussian copula: skewed and heavy-tailed columns are modelled on a
    scale where they are not. Past the observed range the map goes on as a straight line, with the slope of
    the outer tenth: what is missing may lie where nothing was observed.

    Attributes
    ----------
    values : tuple of ndarray
        Observed values of each column, sorted; of many, as many quantiles as ``KNOTS``.
    low, high : ndarray of shape (n_columns,)
        Values beyond these are errors of recording rather than heavy tails, and count as these.
    """

    values: tuple[FloatArray, ...]
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, X: FloatArray) -> "NormalScores":
        """Estimate the map from the observed cells (NaN elsewhere) alone; outliers are held back."""
        low, high = limits(X, ~np.isnan(X), ABSURD)
        within = np.clip(X, low, high)
        return cls(tuple(_quantiles(column[~np.isnan(column)]) for column in within.T), low, high)

    def apply(self, X: FloatArray) -> FloatArray:
        """Give known cells their normal scores; ties share one, values between observed ones interpolate."""
        # Column by column, which in their own order lie far apart; what can be done for all cells at once is.
        columns = np.ascontiguousarray(X.T)
        known = ~np.isnan(columns)
        count = [np.count_nonzero(own) for own, _ in zip(known, self.values, strict=True)]
        of, end = np.repeat(np.arange(len(columns)), count), np.cumsum(count, dtype=np.int64)
        # In single precision a slope may be too small to be a number.
        asked = np.clip(columns[known], self.low[of], self.high[of]).astype(np.float64)
        share = np.full(asked.size, 0.5)
        interpolate(end, *self._knots, asked, share)
        score = ndtri(share)
        ends = self._ends[:, of]
        for beyond, (value, at, slope) in ((asked < ends[0], ends[:3]), (asked > ends[3], ends[3:])):
            score[beyond] = at[beyond] + (asked[beyond] - value[beyond]) / slope[beyond]
        out = np.full_like(columns, np.nan)
        out[known] = score
        return np.ascontiguousarray(out.T)

    def value(self, column: int, z: FloatArray) -> FloatArray:
        """Give the value in the user's units that has a normal score."""
        values = self.values[column]
        n = len(values)
        if n == 0:
            return np.zeros_like(z)
        inside = np.interp(ndtr(z), (np.arange(n) + 0.5) / n, values)
        end = ndtri(1 - 0.5 / n)
        low, high = self._slopes[column]
        beyond = high * np.maximum(z - end, 0) - low * np.maximum(-end - z, 0)
        return np.asarray(inside + beyond)

    def undo(self, column: int, t: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give mean and standard deviation, in the user's units, of a column whose t is normal."""
        values = self.values[column]
        if len(values) == 0:
            return np.zeros_like(t), np.ones_like(t)
        # Squares of what is far from zero would drown the variance.
        origin = values[len(values) // 2]
        value = self.value(column, t + np.sqrt(variance) * NODES[:, None]) - origin
        mean = WEIGHTS @ value
        return mean + origin, np.sqrt(np.maximum(WEIGHTS @ value**2 - mean**2, 0))

    @cached_property
    def _ranks(self) -> list[tuple[FloatArray, FloatArray]]:
        """Each column's distinct values, and the share of all that lies below the middle of each."""
        found: list[tuple[FloatArray, FloatArray]] = []
        for values in self.values:
            distinct, first = np.unique(values, return_index=True)
            middle = first + np.diff(np.append(first, len(values))) / 2
            found.append((distinct, middle / max(len(values), 1)))
        return found

    @cached_property
    def _knots(self) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
        """Where each column's distinct values begin, all of them, and the share that lies below each."""
        first = np.cumsum([0, *(len(distinct) for distinct, _ in self._ranks)], dtype=np.int64)
        knot, height = (np.concatenate([np.empty(0), *(each[k] for each in self._ranks)]) for k in range(2))
        return first, knot, height

    @cached_property
    def _ends(self) -> FloatArray:
        """Lowest value of each column, its score and the slope below it; the same of the highest."""
        found = np.tile([[-np.inf], [0], [1], [np.inf], [0], [1]], len(self.values))
        for j, (distinct, middle) in enumerate(self._ranks):
            if len(distinct) > 1:
                low, high = self._slopes[j]
                found[:, j] = distinct[0], ndtri(middle[0]), low, distinct[-1], ndtri(middle[-1]), high
        return found

    @cached_property
    def _slopes(self) -> list[tuple[float, float]]:
        """Units per normal score past the lower and the upper end of each column."""
        return [_tail_slopes(values) for values in self.values]


def _quantiles(values: FloatArray) -> FloatArray:
    """Sort values; of many, take those at evenly spaced ranks, both ends included."""
    values = np.sort(values)
    if len(values) <= KNOTS:
        return values
    return np.asarray(values[np.round(np.linspace(0, len(values) - 1, KNOTS)).astype(np.intp)])


def _tail_slopes(values: FloatArray) -> tuple[float, float]:
    n = len(values)
    if n < 2 or values[0] == values[-1]:
        return 0.0, 0.0
    values = values.astype(np.float64)
    reach = max(1, int(TAIL * n))
    score = ndtri((np.arange(n) + 0.5) / n)
    whole = (values[-1] - values[0]) / (score[-1] - score[0])
    low = (values[reach] - values[0]) / (score[reach] - score[0])
    high = (values[-1] - values[-1 - reach]) / (score[-1] - score[-1 - reach])
    # A tie at an end has no slope of its own; a small one keeps the map invertible.
    return float(max(low, 1e-3 * whole)), float(max(high, 1e-3 * whole))
