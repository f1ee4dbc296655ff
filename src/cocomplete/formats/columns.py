"""Columns of a table by name, as numbers, and filled."""

import fnmatch
from collections.abc import Iterable

import numpy as np
import polars as pl

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.formats.number_text import PLAIN


def select(names: list[str], patterns: Iterable[str], option: str, source: str) -> list[str]:
    """Choose columns by name or glob pattern, in the table's order.

    A pattern may hold several, separated by commas; a column whose name is exactly the pattern wins.

    Raises
    ------
    InputError
        If a pattern matches nothing.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        parts = [pattern] if pattern in names else [part.strip() for part in pattern.split(",")]
        for part in parts:
            found = [part] if part in names else [name for name in names if fnmatch.fnmatchcase(name, part)]
            if not found:
                shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
                msg = f"{option} {part!r} matches no column of {source}; its columns are {shown}"
                raise InputError(msg)
            chosen.update(found)
    return [name for name in names if name in chosen]


def to_numbers(frame: pl.DataFrame, columns: list[str], source: str) -> FloatArray:
    """Give the columns as one float64 matrix with NaN for unknown.

    Raises
    ------
    InputError
        Naming a column of text or dates, and the first row that is no number.
    """
    matrix = [_numbers(frame[name], source) for name in columns]
    return np.column_stack(matrix) if matrix else np.empty((frame.height, 0))


def _numbers(column: pl.Series, source: str) -> FloatArray:
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column.cast(pl.Float64).to_numpy()
    text = column.cast(pl.String, strict=False)
    wrong = column.is_not_null() & ~text.str.contains(PLAIN).fill_null(value=False)
    row = int(wrong.arg_max() or 0) if wrong.any() else int(column.is_not_null().arg_max() or 0)
    msg = (
        f"{source}: column {column.name!r} must hold numbers, but row {row + 2} (the header is row 1) "
        f"holds {text[row]!r}; correct the cell, leave it empty if unknown, "
        f"or set the column aside with --ignore '{column.name}'"
    )
    raise InputError(msg)


def fill(column: pl.Series, filled: FloatArray) -> pl.Series:
    """Put numbers into a column's holes.

    Truth values stay such; whole numbers keep their type if the filled numbers allow it.
    """
    holes = column.is_null()
    if not holes.any():
        return column
    new = pl.Series(column.name, filled, dtype=pl.Float64)
    fresh = new.filter(holes)
    if column.dtype == pl.Boolean:
        new = new > 0.5
    elif column.dtype.is_float():
        new = new.cast(column.dtype)
    elif column.dtype.is_integer() and bool((fresh == fresh.round()).all()):
        new = new.cast(column.dtype, strict=False)
    else:
        column = column.cast(pl.Float64)
    return new.zip_with(holes, column)
