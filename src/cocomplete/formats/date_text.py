"""Dates in text, by the pattern that all cells of a column share."""

import re
from collections.abc import Mapping
from datetime import UTC, date, datetime
from typing import NamedTuple

import polars as pl

from cocomplete.formats.date_style import DateStyle, zone
from cocomplete.formats.month_names import LANGUAGES, language_of, month_number, names_like

NAME = r"[^\W\d_]{3,10}\.?"
TIME = (
    r"(?:(?P<between>[ T])(?P<hour>\d{1,2}):(?P<minute>\d{2})"
    r"(?::(?P<second>\d{2})(?:\.(?P<fraction>\d{1,9}))?)?"
    r"(?P<noon> ?[AaPp][Mm])?(?P<offset>[Zz]|[+-]\d{2}(?::?\d{2})?)?)?"
)
DATES = {
    "ymd": r"(?P<y>\d{4})(?P<mark>[-/.])(?P<m>\d{1,2})(?P<mark2>(?P=mark))(?P<d>\d{1,2})",
    # Which of the first two is the day is decided by the column.
    "dmy": r"(?P<d>\d{1,2})(?P<mark>[-/.])(?P<m>\d{1,2})(?P<mark2>(?P=mark))(?P<y>\d{4})",
    "short year": r"(?P<d>\d{2})(?P<mark>[-/.])(?P<m>\d{2})(?P<mark2>(?P=mark))(?P<y>\d{2})",
    "named day first": rf"(?P<d>\d{{1,2}})(?P<mark> de |\.? |-)(?P<m>{NAME})"
    r"(?P<mark2> del? | |-)(?P<y>\d{4})",
    "named month first": rf"(?P<m>{NAME})(?P<mark> )(?P<d>\d{{1,2}})(?P<mark2>, ?| )(?P<y>\d{{4}})",
}
PATTERNS = {kind: re.compile(pattern + TIME, re.IGNORECASE) for kind, pattern in DATES.items()}


class DateScan(NamedTuple):
    """A column whose cells all look like dates of one pattern.

    Attributes
    ----------
    kind : str
        The key of its pattern.
    cells : mapping of str to re.Match
        By the text of the cell.
    day_first : bool or None
        None if the cells allow both.
    language : str or None
        Of the names of months, where they have names.
    """

    kind: str
    cells: Mapping[str, re.Match[str]]
    day_first: bool | None
    language: str | None = None


def scan(stripped: pl.Series) -> DateScan | None:
    """Look whether a column holds dates.

    Parameters
    ----------
    stripped : Series of str
        Cells without spaces around them; null is unknown.
    """
    known = stripped.drop_nulls()
    head = known.head(5).to_list()
    for kind, pattern in PATTERNS.items():
        if not all(pattern.fullmatch(cell) for cell in head):
            continue
        cells = {cell: pattern.fullmatch(cell) for cell in known.unique().to_list()}
        matches = {cell: match for cell, match in cells.items() if match is not None}
        if len(matches) < len(cells) or not _alike(matches):
            continue
        if kind == "ymd":
            return DateScan(kind, matches, None)
        if kind.startswith("named"):
            of_spanish = any(" de " in match["mark"] for match in matches.values())
            languages = ("Spanish",) if of_spanish else tuple(LANGUAGES)
            language = language_of({match["m"] for match in matches.values()}, languages)
            if language is None:
                continue
            return DateScan(kind, matches, kind == "named day first", language)
        firsts = max(int(match["d"]) for match in matches.values())
        seconds = max(int(match["m"]) for match in matches.values())
        if firsts > 12 and seconds > 12:
            continue
        dots = any(match["mark"] == "." for match in matches.values())
        return DateScan(kind, matches, True if firsts > 12 or dots else False if seconds > 12 else None)
    return None


def read(
    scanned: DateScan, name: str, stripped: pl.Series, *, day_first: bool
) -> tuple[pl.Series, DateStyle] | None:
    """Read a scanned column as Date, Datetime or Datetime in UTC; None if a day does not exist.

    Parameters
    ----------
    scanned : DateScan
    name : str
        The column's.
    stripped : Series of str
    day_first : bool
        Used where the cells allow both.
    """
    first = scanned.day_first if scanned.day_first is not None else day_first
    swapped = scanned.kind in ("dmy", "short year") and not first
    try:
        values = {
            cell: _moment(match, scanned.language, swapped=swapped) for cell, match in scanned.cells.items()
        }
    except (ValueError, OverflowError):
        return None
    some = next(iter(scanned.cells.values()))
    dtype: pl.DataType = pl.Date()
    if some["between"]:
        dtype = pl.Datetime("us", "UTC" if some["offset"] else None)
    column = pl.Series(
        name, [None if cell is None else values[cell] for cell in stripped.to_list()], dtype=dtype
    )
    return column, _style(scanned, swapped=swapped)


def _alike(matches: Mapping[str, re.Match[str]]) -> bool:
    """Tell whether all have a time or none, a zone or none, and the same marks."""
    shapes = {
        (match["mark"], match["mark2"], match["between"], bool(match["offset"]), bool(match["noon"]))
        for match in matches.values()
    }
    return len(shapes) <= 1


def _moment(match: re.Match[str], language: str | None, *, swapped: bool) -> date:
    day, month = (match["m"], match["d"]) if swapped else (match["d"], match["m"])
    number = int(month) if language is None else month_number(month, language)
    year = int(match["y"])
    if len(match["y"]) == 2:
        year += 2000 if year < 69 else 1900
    if not match["between"]:
        return date(year, number, int(day))
    hour = int(match["hour"])
    if match["noon"]:
        if not 1 <= hour <= 12:
            msg = "an hour beside AM or PM is 1 to 12"
            raise ValueError(msg)
        hour = hour % 12 + (12 if match["noon"].strip().lower() == "pm" else 0)
    micro = int((match["fraction"] or "0")[:6].ljust(6, "0"))
    moment = datetime(year, number, int(day), hour, int(match["minute"]), int(match["second"] or 0), micro)
    return moment.replace(tzinfo=zone(match["offset"])).astimezone(UTC) if match["offset"] else moment


def _style(scanned: DateScan, *, swapped: bool) -> DateStyle:
    matches = list(scanned.cells.values())
    some = matches[0]
    numbers = [text for match in matches for text in (match["d"], match["m"]) if text.isdigit()]
    order = {"ymd": "ymd", "named day first": "dmy", "named month first": "mdy"}.get(scanned.kind)
    offsets = {match["offset"] for match in matches}
    language = scanned.language
    months = () if language is None else names_like([match["m"] for match in matches], language)
    return DateStyle(
        order=order or ("mdy" if swapped else "dmy"),
        marks=(some["mark"], some["mark2"]),
        months=months,
        padded=not any(len(text) == 1 for text in numbers),
        year_digits=len(some["y"]),
        between=some["between"] or "",
        padded_hour=not any(len(match["hour"] or "00") == 1 for match in matches),
        seconds=any(match["second"] for match in matches),
        fraction=max(len(match["fraction"] or "") for match in matches),
        noon=some["noon"] or "",
        # Where zones differ, what is filled is given in UTC.
        offset=(some["offset"] or "") if len(offsets) == 1 else "Z",
    )
