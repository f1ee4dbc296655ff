"""One feature: observed against filled, truth against fill on held-out cells."""

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.fitted.model import Model
from cocomplete.report.held_out import UNIT_ROWS, Z90, ErrorUnits, Predicted, compared
from cocomplete.report.record import ColumnReport, Distribution, HeldOutCells, Point, Tick
from cocomplete.report.sentences import column_sentence
from cocomplete.report.source import Source, Text, spread
from cocomplete.report.texts import digits_for, short, shorts, ticks
from cocomplete.table.kinds import Date, Ordinal, Posterior, UnixTime

MOST_POINTS, ALL_POINTS = 200, 6_000
"""Held-out cells of one column that are shown, and of all columns together."""

BINS, FEW_BINS, MANY_COLUMNS = 20, 12, 100
"""Bins of a histogram; fewer where there are more columns than the third."""

MOST_LEVELS = 12
"""Values of a column that are counted apart; rarer ones are "(others)"."""

OTHERS = "(others)"

DAY = 86_400_000_000
"""Microseconds of a day."""

OFF_BY, WRONG = "off by, in standard deviations", "share wrong"


def column_reports(
    source: Source, held: Predicted | None, new: Predicted | None, units: ErrorUnits
) -> tuple[ColumnReport, ...]:
    """Describe every feature.

    Parameters
    ----------
    source : Source
    held, new : Predicted or None
        Held-out cells of rows of the fit, and of new ones.
    units : ErrorUnits
    """
    d = len(source.features.kinds)
    points = int(np.clip(ALL_POINTS // max(d, 1), 1, MOST_POINTS))
    found = []
    for j in range(d):
        observed = int(source.n_known[j])
        parts = (
            observed,
            source.n_rows - observed,
            _distribution(source, j, FEW_BINS if d > MANY_COLUMNS else BINS),
            None if held is None else _held_out(source, j, held, units, points),
            None if new is None else _held_out(source, j, new, units, points),
        )
        found.append(ColumnReport(j, *parts, column_sentence(source.names[j], *parts)))
    return tuple(found)


def posterior_of(source: Source, j: int, rows: Any = slice(None)) -> Posterior:
    """Give what is predicted of a feature in the rows that are looked at, or some of them."""
    levels = source.answer.levels.get(int(source.features.bounds[j]))
    own = slice(source.features.bounds[j], source.features.bounds[j + 1])
    answer = source.answer
    return Posterior(answer.X[rows, own], answer.X_std[rows, own], None if levels is None else levels[rows])


def filled_values(source: Source, kind: Any, posterior: Posterior) -> NDArray[Any]:
    """Give the values that are filled in."""
    return np.asarray(kind.expected(posterior) if source.expected else kind.fill(posterior))


def is_number(kind: Any) -> bool:
    """Whether a column's cells lie on an axis: numbers, counts and dates."""
    return kind.values is None


def on_axis(kind: Any, encoded: FloatArray) -> FloatArray:
    """Give numbers as they are, and dates as days since 1970."""
    if isinstance(kind, UnixTime):
        kind = kind.date
    return encoded + kind.origin / DAY if isinstance(kind, Date) else encoded


# -- distributions ---------------------------------------------------------------------------------------


def _distribution(source: Source, j: int, n_bins: int) -> Distribution:
    kind, first = source.features.kinds[j], int(source.features.bounds[j])
    known, unknown = source.known[source.rows, j], source.unknown[:, j]
    filled = filled_values(source, kind, posterior_of(source, j, unknown))
    if not is_number(kind):
        values = source.features.kinds[j].drawn(source.some.X[known, first : source.features.bounds[j + 1]])
        return level_counts(kind, values, filled, partial(source.text, j))
    seen = on_axis(kind, source.some.X[known, first].astype(np.float64))
    seen = seen[~np.isnan(seen)]
    found = histogram(kind, seen, _numbers(kind, filled), n_bins)
    if not isinstance(kind, Date):
        return found
    # Dates on the axis stand as in the table; round numbers have no need of its decimals.
    return replace(found, ticks=tuple(Tick(one.value, _date(source, j, one.value)) for one in found.ticks))


def _date(source: Source, j: int, day: float) -> str:
    """Write a day of the axis as its column writes dates."""
    moment = np.datetime64(round(day * DAY), "us")
    return source.text(j, moment)


def _numbers(kind: Any, filled: NDArray[Any]) -> FloatArray:
    """Give filled numbers or dates as places on the axis."""
    if filled.dtype.kind == "M":
        return filled.astype("datetime64[us]").astype(np.int64) / DAY
    if isinstance(kind, UnixTime):
        return filled.astype(np.float64) * (kind.size / DAY)
    return filled.astype(np.float64)


def histogram(kind: Any, observed: FloatArray, filled: FloatArray, n_bins: int) -> Distribution:
    """Count observed and filled numbers in common bins, which one far value does not decide."""
    both = np.concatenate((observed, filled)).astype(np.float64)
    if not both.size:
        return Distribution((), (), (), (), ())
    low, high = (float(end) for end in np.quantile(both, (0.0, 1.0)))
    inner = np.quantile(both, (0.005, 0.995))
    reach = float(inner[1] - inner[0])
    # Values far beyond all others are counted in the outer bins.
    low, high = max(low, float(inner[0]) - reach), min(high, float(inner[1]) + reach)
    if not (np.isfinite(high - low) and low < high):
        edges = np.array((low, low))
        return Distribution(shorts(edges, 8), (), (len(observed),), (len(filled),), ticks(kind, low, low))
    edges, digits = np.linspace(low, high, n_bins + 1), digits_for(low, high, 6)
    counts = [
        tuple(int(n) for n in np.histogram(np.clip(values, low, high), edges)[0])
        for values in (observed, filled)
    ]
    return Distribution(shorts(edges, digits), (), counts[0], counts[1], ticks(kind, low, high))


def level_counts(kind: Any, observed: NDArray[Any], filled: NDArray[Any], text: Text) -> Distribution:
    """Count observed and filled values; rare ones together."""
    counts = [_counts(kind, values) for values in (observed, filled)]
    kept = _commonest(kind, counts[0] + counts[1])
    texts = tuple(text(kind.values[k]) for k in kept)
    rest = [int(count.sum() - count[kept].sum()) for count in counts]
    rows = [tuple(int(n) for n in count[kept]) for count in counts]
    if len(kept) == len(kind.values):
        return Distribution((), texts, rows[0], rows[1], ())
    return Distribution((), (*texts, OTHERS), (*rows[0], rest[0]), (*rows[1], rest[1]), ())


def _counts(kind: Any, values: NDArray[Any]) -> NDArray[np.intp]:
    return np.bincount(_places(kind, values), minlength=len(kind.values) + 1)[: len(kind.values)]


def _places(kind: Any, values: NDArray[Any]) -> NDArray[np.intp]:
    """Position of every value among those of the kind; one more for anything else, such as means."""
    if values.dtype.kind == "f" and len(kind.values):
        codes = np.array(kind.values, np.float64)
        order = np.argsort(codes)
        middles = (codes[order][1:] + codes[order][:-1]) / 2
        return np.asarray(order[np.searchsorted(middles, values)], np.intp)
    place = {value: k for k, value in enumerate(kind.values)}
    return np.array([place.get(value, len(kind.values)) for value in values], np.intp)


def _commonest(kind: Any, counts: NDArray[np.intp]) -> NDArray[np.intp]:
    """Positions of the values that are counted apart, in the order of the kind."""
    if len(counts) <= MOST_LEVELS:
        return np.arange(len(counts))
    return np.sort(np.argsort(-counts, kind="stable")[: MOST_LEVELS - 1])


# -- held-out cells --------------------------------------------------------------------------------------


def _held_out(source: Source, j: int, held: Predicted, units: ErrorUnits, points: int) -> HeldOutCells | None:
    first, last = (int(end) for end in source.features.bounds[j : j + 2])
    truth, mean, std, trivial, place = held.of_columns(first, last)
    if not len(truth):
        return None
    kind = source.features.kinds[j]
    levels = held.levels.get(first)
    posterior = _posterior(source.model, kind, first, mean, std)
    if levels is not None:
        posterior = posterior._replace(levels=levels[place[:, 0]])
    if is_number(kind):
        plain = _posterior(source.model, kind, first, trivial, std)
        return _numbers_held_out(source, j, truth[:, 0], posterior, plain, units, points)
    return _levels_held_out(source, j, kind.drawn(truth), posterior, trivial)


def _posterior(model: Model, kind: Any, first: int, mean: FloatArray, std: FloatArray) -> Posterior:
    """Give predictions of held-out cells as a kind reads them."""
    if kind.binary:
        chance = expit(mean)
        return Posterior(chance, np.sqrt(chance * (1 - chance)))
    return Posterior(model.inside_column(first, mean), np.where(np.isnan(std), 0.0, std))


def _numbers_held_out(
    source: Source,
    j: int,
    truth: FloatArray,
    posterior: Posterior,
    plain: Posterior,
    units: ErrorUnits,
    points: int,
) -> HeldOutCells:
    kind = source.features.kinds[j]
    column = np.full(len(truth), int(source.features.bounds[j]))
    fill = _numbers(kind, filled_values(source, kind, posterior))
    mean, std = on_axis(kind, posterior.mean[:, 0]), posterior.std[:, 0]
    low, high = mean - Z90 * std, mean + Z90 * std
    real = on_axis(kind, truth)
    origin = on_axis(kind, np.zeros(1))[0]
    errors = units.squared(column, fill - origin, truth)
    trivial = units.squared(column, plain.mean[:, 0], truth)
    shown, digits = spread(len(truth), points), digits_for(float(real.min()), float(real.max()), 5)
    ends = [np.clip(end, getattr(kind, "low", -np.inf), getattr(kind, "high", np.inf)) for end in (low, high)]
    return HeldOutCells(
        len(truth),
        OFF_BY,
        short(np.sqrt(errors.mean())),
        short(np.sqrt(trivial.mean())),
        compared(errors, trivial),
        short(float(((real >= low) & (real <= high)).mean())) if std.any() else None,
        tuple(Point(*(short(each[i], digits) for each in (real, fill, *ends))) for i in shown),
        (),
        (),
    )


def _levels_held_out(
    source: Source, j: int, truth: NDArray[Any], posterior: Posterior, trivial: FloatArray
) -> HeldOutCells:
    kind = source.features.kinds[j]
    fill = np.asarray(kind.fill(posterior))
    real, guess = _places(kind, truth), _places(kind, fill)
    wrong = (real != guess).astype(np.float64)
    commonest = _places(kind, np.asarray(_trivial_fill(source, j, trivial)))
    plain = (real != commonest).astype(np.float64)
    count = len(kind.values)
    kept = _commonest(kind, np.bincount(real, minlength=count) + np.bincount(guess, minlength=count))
    place = np.full(count, len(kept))
    place[kept] = np.arange(len(kept))
    size = len(kept) + (len(kept) < count)
    table = np.zeros((size, size), int)
    np.add.at(table, (place[real], place[guess]), 1)
    texts = tuple(source.text(j, kind.values[k]) for k in kept)
    return HeldOutCells(
        len(truth),
        WRONG,
        short(float(wrong.mean())),
        short(float(plain.mean())),
        compared(wrong, plain),
        _levels_inside(kind, real, posterior),
        (),
        texts if len(kept) == count else (*texts, OTHERS),
        tuple(tuple(int(n) for n in row) for row in table),
    )


def _trivial_fill(source: Source, j: int, trivial: FloatArray) -> NDArray[Any]:
    """Give the commonest value; of levels in an order, the commonest in the rows that give the units."""
    kind = source.features.kinds[j]
    if not isinstance(kind, Ordinal):
        chance = expit(trivial)
        return np.asarray(kind.fill(Posterior(chance, chance)))
    table = source.model.observed.X
    observed = table[spread(len(table), UNIT_ROWS), source.features.bounds[j]]
    codes, counts = np.unique(observed[~np.isnan(observed)], return_counts=True)
    return np.asarray(kind.drawn(np.full((len(trivial), 1), codes[np.argmax(counts)])))


def _levels_inside(kind: Any, real: NDArray[np.intp], posterior: Posterior) -> float | None:
    """Share of true levels inside the 90 % interval, of levels in an order."""
    if not isinstance(kind, Ordinal):
        return None
    low, high = level_interval(kind.probabilities(posterior))
    return short(float(((real >= low) & (real <= high)).mean()))


def level_interval(probabilities: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give positions of the levels at which the cumulated probability reaches 5 % and 95 %."""
    below = np.cumsum(probabilities, axis=1)
    low, high = ((below < share - 1e-12).sum(axis=1) for share in (0.05, 0.95))
    return low, np.minimum(high, probabilities.shape[1] - 1)
