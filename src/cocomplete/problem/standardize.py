"""Columns brought to a common footing by a shift and a scale, and back to the user's units."""

from dataclasses import dataclass

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.engines.row_blocks import row_bounds

FAR = 8.0
"""A value this many robust standard deviations from the median is drawn to that limit while fitting."""

FURTHEST = 1e6
"""Only a value of a new row can be so many of its column's standard deviations from the mean; it counts as
this many, because the square of what lies far beyond may be no number."""

ABSURD = 100.0
"""A value this many away is an error of recording rather than a heavy tail."""

SORTED_AT_ONCE = 1_000_000
"""Numbers of a long table's columns that are worked on, and sorted, together."""


@dataclass(frozen=True, eq=False)
class Standardization:
    """An affine map per feature column.

    Attributes
    ----------
    center : ndarray of shape (n_features,)
        Subtracted from each feature: its observed mean, or 0.
    scale : ndarray of shape (n_features,)
        Divides each feature: its observed standard deviation, or 1.
    low, high : ndarray of shape (n_features,)
        Values beyond these count as these: one outlier must neither set the scale of its column nor drag
        a factor to itself. Infinite where columns are not scaled.
    """

    center: FloatArray
    scale: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, X: FloatArray, *, center: bool, scale: bool) -> "Standardization":
        """Estimate the map from the observed cells (NaN elsewhere) alone."""
        known, dtype = ~np.isnan(X), X.dtype
        count = known.sum(axis=0)
        low, high = limits(X, known, FAR if scale else np.inf)
        mean, spread = np.empty(X.shape[1]), np.empty(X.shape[1])
        for first, last in row_bounds(X.shape[1], len(X), SORTED_AT_ONCE):
            some = slice(first, last)
            part = np.clip(X[:, some], low[some], high[some])
            # np.nanmean would warn for a column with nothing observed, which is allowed here.
            mean[some] = np.nansum(part, axis=0) / np.maximum(count[some], 1)
            squares = np.nansum((part - mean[some]) ** 2, axis=0)
            spread[some] = np.sqrt(squares / np.maximum(count[some] - 1, 1))
        return cls.from_moments(mean, spread, (low, high), dtype, center=center, scale=scale)

    @classmethod
    def from_moments(
        cls,
        mean: FloatArray,
        spread: FloatArray,
        limits: tuple[FloatArray, FloatArray],
        dtype: np.dtype[np.floating],
        *,
        center: bool,
        scale: bool,
    ) -> "Standardization":
        """Make the map of columns with these means, standard deviations, and limits of what counts."""
        low, high = limits
        usable = spread > 10 * np.finfo(dtype).eps * np.abs(mean)
        units = np.where(usable, spread, 1.0) if scale else np.ones_like(spread)
        if scale:
            furthest = FURTHEST * np.where(usable, spread, np.maximum(np.abs(mean), 1.0))
            low, high = np.maximum(low, mean - furthest), np.minimum(high, mean + furthest)
        return cls(
            (mean if center else np.zeros_like(mean)).astype(dtype),
            units.astype(dtype),
            low.astype(dtype),
            high.astype(dtype),
        )

    def apply(self, X: FloatArray) -> FloatArray:
        """Standardise features; unknown stays unknown."""
        if not self.center.any() and (self.scale == 1).all() and np.isinf(self.low).all():
            return X
        standard: FloatArray = (np.clip(X, self.low, self.high) - self.center) / self.scale
        return standard

    def restore(self, X: FloatArray) -> FloatArray:
        """Bring whole standardised features back to the user's units."""
        units: FloatArray = X * self.scale + self.center
        return units

    def undo(self, column: int, t: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give mean and standard deviation, in the user's units, of a column whose t is normal."""
        scale = self.scale[column]
        return t * scale + self.center[column], np.sqrt(variance) * scale


def limits(X: FloatArray, known: BoolArray, far: float) -> tuple[FloatArray, FloatArray]:
    """Median plus and minus ``far`` robust deviations; infinite where more than half of a column is equal."""
    low, high = (np.full(X.shape[1], side, X.dtype) for side in (-np.inf, np.inf))
    if far == np.inf:
        return low, high
    enough = np.flatnonzero(known.sum(axis=0) > 2)
    step = max(1, SORTED_AT_ONCE // max(len(X), 1))
    for first in range(0, enough.size, step):
        some = enough[first : first + step]
        values = np.where(known[:, some], X[:, some], np.nan).T
        middle = _medians(values)
        reach = (far * 1.4826 * _medians(np.abs(values - middle[:, None]))).astype(X.dtype)
        spread = reach > 0
        low[some[spread]], high[some[spread]] = (middle - reach)[spread], (middle + reach)[spread]
    return low, high


def _medians(values: FloatArray) -> FloatArray:
    """Median of every row's numbers; NaN are none, and each row has some."""
    ordered = np.sort(values, axis=1)
    count = (~np.isnan(values)).sum(axis=1)
    each = np.arange(len(values))
    # Halves before the sum, which could overflow.
    return np.asarray(ordered[each, (count - 1) // 2] / 2 + ordered[each, count // 2] / 2)
