"""Values as the user would write them, and numbers short enough for a page."""

from math import isfinite
from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.report.record import Tick
from cocomplete.table.kinds import Date, UnixTime, level_text

DIGITS = 5
"""Significant digits of numbers in a record: more than a page shows, fewer than would fill it."""

EXACT_DIGITS = 12
"""Of values in steps, such as prices."""

WIDEST, SMALLEST = 1e15, 1e-4
"""Sizes between which numbers are written without an exponent."""

MOST_TICKS = 5
"""Places on an axis that are named."""

LONGEST = 80
"""Characters of a cell's text; what is longer ends in an ellipsis."""


def short(number: float, digits: int = DIGITS) -> float:
    """Round a number to a few significant digits."""
    number = float(number)
    return float(f"{number:.{digits}g}") if isfinite(number) else number


def shorts(numbers: FloatArray, digits: int = DIGITS) -> tuple[float, ...]:
    """Round numbers likewise."""
    return tuple(short(number, digits) for number in numbers.tolist())


def number_text(number: float, digits: int = 6) -> str:
    """Write a number with at most so many significant digits, without an exponent where that is usual.

    Of a large one all digits before the point are written.
    """
    if SMALLEST <= abs(number) < WIDEST:
        digits = max(digits, _magnitude(number) + 1)
    number = short(number, digits)
    if number != 0 and not SMALLEST <= abs(number) < WIDEST:
        return f"{number:g}"
    text = f"{number:.{max(0, digits - 1 - _magnitude(number))}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def _magnitude(number: float) -> int:
    return int(np.floor(np.log10(abs(number)))) if number else 0


def digits_for(low: float, high: float, resolution: int) -> int:
    """Give the significant digits that tell apart what lies between two numbers.

    Parameters
    ----------
    low, high : float
    resolution : int
        Digits of their difference; of numbers far from zero those before them are added.
    """
    size, span = max(abs(low), abs(high)), high - low
    if not (isfinite(span) and span > 0):
        return resolution
    return int(np.clip(resolution + np.ceil(np.log10(size) - np.log10(span)), resolution, 15))


def cut(text: str) -> str:
    """Shorten a text that is too long for a cell of a table."""
    return text if len(text) <= LONGEST else text[: LONGEST - 1] + "…"


def value_text(kind: Any, value: Any, digits: int = 6) -> str:
    """Write a value of a column: a word, a date or a number.

    Parameters
    ----------
    kind : Kind
    value : str, datetime64 or float
        As the kind fills it in.
    digits : int, default=6
        Significant ones, of numbers without steps.
    """
    if isinstance(value, str):
        return cut(value)
    if isinstance(value, np.datetime64):
        return date_text(kind, value)
    if kind.values is not None:
        return level_text(float(value))
    # What is in steps is written to the last of them.
    exact = isinstance(kind, UnixTime) or bool(getattr(kind, "step", 0.0))
    return number_text(float(value), EXACT_DIGITS if exact else digits)


def is_date(kind: Any) -> bool:
    """Whether a column holds dates, or numbers that count time."""
    return isinstance(kind, Date | UnixTime)


def date_text(kind: Any, moment: np.datetime64) -> str:
    """Write a date in the unit in which its column records them."""
    if np.isnat(moment):
        return ""
    unit: Any = getattr(kind.date if isinstance(kind, UnixTime) else kind, "unit", "s")
    return str(np.datetime_as_string(moment, unit=unit)).replace("T", " ")


def axis_text(kind: Any, number: float, digits: int = 6) -> str:
    """Write what stands at a place of a column's axis: a number, or days since 1970 as a date."""
    if is_date(kind):
        microseconds = np.clip(number * 86_400_000_000, -(2.0**62), 2.0**62)
        return date_text(kind, np.datetime64(int(microseconds), "us"))
    return number_text(number, digits)


def ticks(kind: Any, low: float, high: float) -> tuple[Tick, ...]:
    """Name a few places on the axis between two numbers: round numbers, or evenly spaced dates."""
    if not (isfinite(low) and isfinite(high) and isfinite(high - low)) or not low < high:
        return (Tick(short(low), axis_text(kind, low)),) if isfinite(low) else ()
    if is_date(kind):
        places = np.linspace(low, high, MOST_TICKS)
    else:
        rough = (high - low) / MOST_TICKS
        power = 10.0 ** np.floor(np.log10(rough))
        step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
        places = np.arange(np.ceil(low / step - 1e-9), np.floor(high / step + 1e-9) + 1) * step
    digits = digits_for(low, high, 6)
    return tuple(Tick(short(place, digits), axis_text(kind, place, digits)) for place in places.tolist())


def amount_text(number: float) -> str:
    """Write an error or a shift with two decimals; of small ones, two digits."""
    return f"{number:.2f}" if number == 0 or abs(number) >= 0.095 else f"{number:.2g}"


def share_text(share: float) -> str:
    """Write a share in per cent, whole where it is not near none or all."""
    if share in (0, 1) or 0.1 <= share <= 0.9:
        return f"{100 * share:.0f} %"
    per_cent = f"{100 * share:.1f} %"
    return {"0.0 %": "less than 0.1 %", "100.0 %": "more than 99.9 %"}.get(per_cent, per_cent)
