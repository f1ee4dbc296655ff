"""Columns of text by what they hold: numbers, dates, yes and no, or text after all."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

import polars as pl

from cocomplete.formats import date_text, number_text
from cocomplete.formats.number_style import NumberStyle
from cocomplete.formats.table_file import ColumnStyle, ReadOptions
from cocomplete.formats.text_style import TextStyle
from cocomplete.formats.truth_words import TruthStyle, read_truth
from cocomplete.formats.unknown_words import sometimes_unknown, unknown_cells

UNORDERED = ("dmy", "short year")
"""Patterns of dates in which day and month may change places."""


@dataclass
class TypedColumns:
    """Typed columns, and what was decided on the way.

    Attributes
    ----------
    columns : list of Series
    styles : dict of str to ColumnStyle
    notes : list of str
    """

    columns: list[pl.Series] = field(default_factory=list)
    styles: dict[str, ColumnStyle] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class _Scanned:
    """A column before marks and orders of days are decided for the whole file."""

    name: str
    stripped: pl.Series
    done: tuple[pl.Series, Any] | None = None
    numbers: number_text.NumberScan | None = None
    dates: date_text.DateScan | None = None


def typed(
    text: pl.DataFrame, options: ReadOptions, separator: str, source: str, place: Callable[[int], str]
) -> TypedColumns:
    """Give the columns their types.

    Parameters
    ----------
    text : DataFrame of str
        Cells as they stood, without quotes.
    options : ReadOptions
    separator : str
        Of the file: where nothing else tells the decimal mark, a semicolon means a comma.
    source : str
        The file's name for notes.
    place : callable
        Where a row is, for notes.
    """
    result = TypedColumns()
    scanned = [_scan(text[name], options, source, result.notes) for name in text.columns]
    decimal = options.decimal or _decimal(scanned, separator)
    orders = [column.dates.day_first for column in scanned if column.dates and column.dates.kind in UNORDERED]
    decided = {order for order in (*orders, options.day_first) if order is not None}
    # Where columns differ among them, the day is first.
    day_first = decided != {False} if options.day_first is None else options.day_first
    for column in scanned:
        values, style = column.done or _read(column, decimal, day_first=day_first)
        if values.dtype == pl.Null:
            style = replace(style, decimal=decimal)
        result.columns.append(values)
        result.styles[column.name] = replace(style, **_padding(text[column.name], values))
        if options.decimal is None:
            result.notes.extend(_mark_note(column, values, decimal, source))
        if options.day_first is None and len(decided) != 1:
            result.notes.extend(_order_note(column, values, source))
        result.notes.extend(_year_note(column, values, source))
        if column.name not in options.as_text:
            result.notes.extend(_almost_numbers(values, source, place))
    return result


def _scan(cells: pl.Series, options: ReadOptions, source: str, notes: list[str]) -> _Scanned:
    """Look what a column holds, as far as the column alone shows it."""
    name = cells.name
    stripped = cells.str.strip_chars()
    empty = unknown_cells(stripped, options.missing)
    sometimes = sometimes_unknown(stripped)
    known = _without(stripped, empty | sometimes)
    if name in options.as_text:
        return _Scanned(name, known, (_without(stripped, empty), TextStyle()))
    truth = _signs_or_ticks(stripped, empty, options) or read_truth(known)
    if truth is not None:
        return _Scanned(name, known, truth)
    if known.null_count() == len(known):
        return _Scanned(name, known, (pl.Series(name, [None] * len(known), dtype=pl.Null), NumberStyle()))
    numbers = number_text.scan(known)
    dates = date_text.scan(known) if numbers is None else None
    if numbers is not None or dates is not None:
        return _Scanned(name, known, numbers=numbers, dates=dates)
    if sometimes.any() and not empty.any():
        words = sorted(set(stripped.filter(sometimes).to_list()))
        notes.append(
            f"{source}: in column {name!r} {', '.join(map(repr, words))} is taken for an answer like the "
            f"others, because the column has no other holes; --missing {words[0]} makes it unknown"
        )
        known = stripped
    return _Scanned(name, known)


def _signs_or_ticks(
    stripped: pl.Series, empty: pl.Series, options: ReadOptions
) -> tuple[pl.Series, TruthStyle] | None:
    """Read truth values whose no looks like unknown: + and -, or a tick and nothing."""
    if set(stripped.head(1000).unique().to_list()) >= {"+", "-"}:
        return read_truth(_without(stripped, empty & (stripped != "-")))
    if options.checked is None:
        return None
    ticks = stripped.str.to_lowercase() == options.checked.strip().lower()
    if not ticks.any() or not (ticks | empty).all():
        return None
    truth = pl.select(pl.when((stripped == "") | ticks).then(ticks)).to_series()
    return truth.rename(stripped.name), TruthStyle(options.checked, "")


def _read(column: _Scanned, decimal: str, *, day_first: bool) -> tuple[pl.Series, Any]:
    if column.numbers is not None:
        read = number_text.read(column.numbers, decimal, column.name)
        if read is not None:
            return read
    if column.dates is not None:
        moments = date_text.read(column.dates, column.name, column.stripped, day_first=day_first)
        if moments is not None:
            return moments
    return column.stripped, TextStyle()


def _decimal(scanned: list[_Scanned], separator: str) -> str:
    """Find the decimal mark that columns with only one reading use."""
    marks = [column.numbers.decimal for column in scanned if column.numbers is not None]
    comma, point = marks.count(","), marks.count(".")
    if comma == point:
        return "," if separator == ";" and _any_comma(scanned) else "."
    return "," if comma > point else "."


def _any_comma(scanned: list[_Scanned]) -> bool:
    return any(column.numbers is not None and (",", "") in column.numbers.marks for column in scanned)


def _without(stripped: pl.Series, unknown: pl.Series) -> pl.Series:
    return pl.select(pl.when(~unknown).then(stripped)).to_series().rename(stripped.name)


def _padding(cells: pl.Series, values: pl.Series) -> dict[str, str]:
    """Give the spaces that stand around every known cell."""
    known = cells.filter(values.is_not_null())
    if not len(known):
        return {}
    padding = {}
    for side, pattern in (("before", r"^(\s*)"), ("after", r"(\s*)$")):
        spaces = known.str.extract(pattern).unique()
        padding[side] = str(spaces[0] or "") if len(spaces) == 1 else ""
    return padding


def _mark_note(column: _Scanned, values: pl.Series, decimal: str, source: str) -> list[str]:
    if column.numbers is None or not column.numbers.ambiguous or not values.dtype.is_numeric():
        return []
    if decimal == "." and (".", "") in column.numbers.marks:
        return []
    example, shown = column.stripped.drop_nulls()[0], f"{float(values.drop_nulls()[0]):g}"
    return [
        f"{source}: {example!r} in column {column.name!r} was read as {shown}, {decimal!r} being the decimal "
        "mark; say which it is with --decimal if that is wrong"
    ]


def _order_note(column: _Scanned, values: pl.Series, source: str) -> list[str]:
    if column.dates is None or column.dates.kind not in UNORDERED or values.dtype == pl.String:
        return []
    if column.dates.day_first is not None:
        return []
    example = column.stripped.drop_nulls()[0]
    return [
        f"{source}: dates such as {example!r} in column {column.name!r} were read with the day first; "
        "no cell tells otherwise"
    ]


def _year_note(column: _Scanned, values: pl.Series, source: str) -> list[str]:
    if column.dates is None or column.dates.kind != "short year" or values.dtype == pl.String:
        return []
    return [f"{source}: two-digit years in column {column.name!r} were read as 1969 to 2068"]


def _almost_numbers(values: pl.Series, source: str, place: Callable[[int], str]) -> list[str]:
    """Name the cell that keeps a column of numbers from being one."""
    if values.dtype != pl.String:
        return []
    known = values.is_not_null()
    wrong = known & ~values.str.contains(number_text.PLAIN).fill_null(value=False)
    count, all_of_them = int(wrong.sum()), int(known.sum())
    if not 0 < count <= 0.2 * all_of_them:
        return []
    row = int(wrong.arg_max() or 0)
    return [
        f"{source}: column {values.name!r} was taken for text because of {count} cell(s) such as "
        f"{values[row]!r} ({place(row)}); if it means unknown, say so with --missing"
    ]
