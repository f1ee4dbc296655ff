"""How far filled values would have to be off before a column's mean, or a label's rate, is another."""

from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.report.columns import is_number, on_axis, posterior_of
from cocomplete.report.record import Limits, TippingPoint
from cocomplete.report.sentences import limits_sentence
from cocomplete.report.source import Source
from cocomplete.report.texts import axis_text, share_text, short
from cocomplete.table.kinds import Ordinal, YesNo

MOST_POINTS = 1_000
"""Columns whose tipping point is kept: the most fragile ones."""


def limits(source: Source) -> Limits:
    """Give the tipping points of numbers, dates, yes/no features and labels, the most fragile first."""
    found = [point for j in range(len(source.features.kinds)) if (point := _feature(source, j)) is not None]
    found += [point for k in range(source.labels.width) if (point := _label(source, k)) is not None]
    found.sort(key=lambda point: point.delta)
    kept = tuple(found[:MOST_POINTS])
    return Limits(kept, limits_sentence(kept))


def tipping_point(
    observed: FloatArray, n_observed: int, filled: FloatArray, n_filled: int
) -> tuple[float, float, float, float, float] | None:
    """Give mean, its standard error, the share filled, the standard deviation, and the tipping point.

    Parameters
    ----------
    observed : ndarray
        Observed values, or those of a sample of rows.
    n_observed : int
        How many there are in all rows.
    filled : ndarray
        Filled values of the same rows.
    n_filled : int
        How many there are in all rows.

    Returns
    -------
    tuple of float or None
        None where nothing was filled, or the observed values do not vary: a shift has no unit then.
    """
    if not n_filled or observed.size < 2 or not filled.size:
        return None
    origin = float(observed[0])
    with np.errstate(over="ignore", invalid="ignore"):
        sd = standard_deviation(observed)
        share = n_filled / (n_observed + n_filled)
        mean = (
            origin + (1 - share) * float((observed - origin).mean()) + share * float((filled - origin).mean())
        )
    if not (0 < sd < np.inf and np.isfinite(mean)):
        return None
    error = sd / np.sqrt(n_observed)
    return mean, error, share, sd, error / (share * sd)


def standard_deviation(values: FloatArray) -> float:
    """Give that of numbers of any size: squares of the largest would be no numbers, of the smallest 0."""
    size = float(np.abs(values).max(initial=0))
    return size * float((values / size).std(ddof=1)) if size and values.size > 1 else 0.0


def _feature(source: Source, j: int) -> TippingPoint | None:
    kind = source.features.kinds[j]
    numeric = is_number(kind) or (isinstance(kind, Ordinal) and not isinstance(kind.levels[0], str))
    if not numeric and not isinstance(kind, YesNo):
        return None
    known, unknown = source.known[source.rows, j], source.unknown[:, j]
    seen = source.some.X[known, source.features.bounds[j]].astype(np.float64)
    filled = posterior_of(source, j, unknown).mean[:, 0]
    observed = int(source.n_known[j])
    found = tipping_point(
        on_axis(kind, seen[~np.isnan(seen)]), observed, on_axis(kind, filled), source.n_rows - observed
    )
    return None if found is None else _point(source.names[j], j, kind, found)


def _label(source: Source, k: int) -> TippingPoint | None:
    name = source.encoded_names[source.observed.n_features + k]
    known = source.some.Y_known[:, k]
    observed = int(source.observed.Y_known[:, k].sum())
    found = tipping_point(
        source.some.Y[known, k].astype(np.float64),
        observed,
        source.probability[~known, k],
        source.n_rows - observed,
    )
    column = len(source.features.kinds) + int(source.labels.groups[k])
    return None if found is None else _point(name, column, YesNo(), found)


def _point(
    name: str, column: int, kind: Any, found: tuple[float, float, float, float, float]
) -> TippingPoint:
    mean, *others = found
    rate = isinstance(kind, YesNo)
    text = share_text(mean) if rate else axis_text(kind, mean)
    error, share, sd, delta = (short(each) for each in others)
    return TippingPoint(
        name, column, "rate" if rate else "mean", short(mean, 8), text, error, share, sd, delta
    )
