"""What the page's scripts need, as short lists: names of fields would be half of the bytes."""

from math import isfinite
from typing import Any

from cocomplete.report.record import FilledCell, ReportRecord, Why


def column_data(record: ReportRecord) -> list[list[Any]]:
    """Give name and kind of every column."""
    return [[column.name, column.kind] for column in record.given.columns]


def tipping_data(record: ReportRecord) -> list[list[Any]]:
    """Give the slider name, column, part, mean, its words, its error, share filled, sd and tipping point."""
    return [
        [
            one.name,
            one.column,
            one.part,
            _digits(one.mean, 9),
            one.mean_text,
            *(_digits(number, 6) for number in (one.standard_error, one.share_filled, one.sd, one.delta)),
        ]
        for one in record.limits.tipping
    ]


def cells_data(record: ReportRecord) -> list[list[Any]]:
    """Give row, column, fill, interval, probability, certainty, why and similar rows of filled cells."""
    return [_cell(cell) for cell in record.filled.cells]


def _cell(cell: FilledCell) -> list[Any]:
    probability = None if cell.probability is None else _digits(cell.probability, 3)
    certainty = _digits(cell.certainty, 3) or 0
    why = 0 if cell.why is None else _why(cell.why)
    return [
        cell.row,
        cell.column,
        cell.text,
        cell.low,
        cell.high,
        probability,
        certainty,
        why,
        list(cell.similar),
    ]


def _why(why: Why) -> list[Any]:
    pulls = [[pull.column, pull.value, _digits(pull.amount, 3)] for pull in why.pulls]
    # The first letter is enough: "s" of standard deviations, "l" of log-odds.
    return [why.unit[:1], *(_digits(one, 3) for one in (why.start, why.rest, why.end, why.weight)), pulls]


def _digits(number: float, digits: int) -> float | int | None:
    """Round to so many digits; what is no finite number is unknown."""
    if not isfinite(number):
        return None
    rounded = float(f"{number:.{digits}g}")
    return int(rounded) if rounded.is_integer() else rounded
