"""Dates that files of numbers may hold and no calendar has."""

import polars as pl

from cocomplete.exceptions import InputError

DAYS = (-719_162, 2_932_896)
"""From the first day of the year 1 to the last of 9999, counted from 1970."""

TICKS = {"ms": 86_400_000, "us": 86_400_000_000, "ns": 86_400_000_000_000}
"""Of a day, by the unit of a column."""


def check_dates(frame: pl.DataFrame, source: str) -> None:
    """Refuse dates before the year 1 or after 9999, which damaged files hold and nobody can write.

    Raises
    ------
    InputError
        Naming the first column that has one.
    """
    for name, dtype in frame.schema.items():
        if not dtype.is_temporal():
            continue
        numbers = frame[name].to_physical().drop_nulls()
        if not len(numbers):
            continue
        low, high = _bounds(dtype)
        if bool((numbers < low).any()) or bool((numbers > high).any()):
            msg = f"{source}: column {name!r} holds dates or times that no calendar has; is the file whole?"
            raise InputError(msg)


def _bounds(dtype: pl.DataType) -> tuple[int, int]:
    if dtype == pl.Date:
        return DAYS
    if dtype == pl.Time:
        return 0, TICKS["ns"] - 1
    ticks = TICKS[getattr(dtype, "time_unit", None) or "us"]
    # What 64 bits cannot count, a column cannot hold either.
    return max(DAYS[0] * ticks, -(2**63)), min((DAYS[1] + 1) * ticks - 1, 2**63 - 1)
