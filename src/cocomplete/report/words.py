"""Numbers as readers of the page meet them."""

from cocomplete.report.record import Compared
from cocomplete.report.svg.frame import short

COMPARED: dict[Compared, tuple[str, str]] = {
    "better": ("✓", "better than"),
    "level": ("≈", "no better than"),
    "worse": ("✗", "worse than"),
}
"""A sign and words: colour says nothing here."""


def percent(share: float | None, digits: int = 2) -> str:
    """Give a share as per cent; what rounds to all or nothing but is neither says so.

    Examples
    --------
    >>> percent(0.1234), percent(1.0), percent(0.9999), percent(0.0001), percent(None)
    ('12 %', '100 %', 'over 99 %', 'under 1 %', 'unknown')
    """
    if share is None:
        return "unknown"
    if 0 < share < 0.005:
        return "under 1 %"
    if 0.995 <= share < 1:
        return "over 99 %"
    return f"{short(100 * share, digits)} %"


def count(number: int) -> str:
    """Give a whole number, its thousands apart."""
    return f"{number:,}".replace(",", "\u202f")


def counted(number: int, one: str, many: str = "") -> str:
    """Give a number with its noun: 1 cell, 2 cells."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def error_text(measure: str, error: float) -> str:
    """Give an error with its unit: "0.61 standard deviations" or "12 % wrong".

    Examples
    --------
    >>> error_text("off by, in standard deviations", 0.613), error_text("share wrong", 0.12)
    ('0.61 standard deviations', '12 % wrong')
    """
    number, unit = error_parts(measure, error)
    return f"{number} {unit}"


def error_parts(measure: str, error: float) -> tuple[str, str]:
    """Give an error's number and its unit apart, so that the page can set one larger."""
    if measure == "share wrong":
        return f"{short(100 * error, 2)} %", "wrong"
    return short(error, 2), measure.removeprefix("off by, in ")
