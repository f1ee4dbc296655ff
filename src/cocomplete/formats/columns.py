"""Columns of a file as numbers, and filled numbers back in the column's own clothes."""

import fnmatch
from collections.abc import Iterable

import numpy as np
import polars as pl

from cocomplete.arrays import FloatArray
from cocomplete.containers import Table, fill_like, to_table
from cocomplete.exceptions import InputError

TRUTH_WORDS = {"true": 1.0, "yes": 1.0, "false": 0.0, "no": 0.0}


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


def to_numbers(frame: pl.DataFrame, columns: list[str], source: str) -> Table:
    """Give the columns as one float64 table with NaN for unknown.

    Text is read as numbers or as true/false, yes/no.

    Raises
    ------
    InputError
        Naming the column and the first row that holds something else.
    """
    table = to_table(frame.select(_parsed(frame[name], source) for name in columns), source)
    return table._replace(values=table.values.astype(np.float64))


def _parsed(column: pl.Series, source: str) -> pl.Series:
    """Read text as numbers; any other column that holds numbers is left as it is."""
    if column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null):
        return column
    text = column.cast(pl.String, strict=False).str.strip_chars()
    values = text.cast(pl.Float64, strict=False)
    if _in_words(text):
        values = text.str.to_lowercase().replace_strict(TRUTH_WORDS, default=None, return_dtype=pl.Float64)
    wrong = column.is_not_null() & values.is_null()
    if wrong.any():
        row = int(wrong.arg_max() or 0)
        msg = (
            f"{source}: column {column.name!r} must hold numbers, but row {row + 2} (the header is row 1) "
            f"holds {column[row]!r}; correct the cell, leave it empty if unknown, "
            f"or set the column aside with --ignore '{column.name}'"
        )
        raise InputError(msg)
    return values


def _in_words(text: pl.Series) -> bool:
    known = text.drop_nulls().str.to_lowercase()
    return len(known) > 0 and bool(known.is_in(list(TRUTH_WORDS)).all())


def fill(column: pl.Series, filled: FloatArray) -> pl.Series:
    """Put numbers into a column's holes; what was there stays letter for letter.

    Text columns get text: words where the column holds words, otherwise six significant digits.
    Whole-number and truth-value columns keep their type if the filled numbers allow it.
    """
    holes = column.is_null() | (column.is_nan() if column.dtype.is_float() else False)
    if not holes.any():
        return column
    if column.dtype != pl.String:
        known = ~holes.to_numpy()
        whole: pl.DataFrame = fill_like(column.to_frame(), column.name, filled[:, None], known[:, None])
        return whole.to_series()
    text = column.str.strip_chars()
    fresh = _words(text, filled) if _in_words(text) else [f"{value:.6g}" for value in filled]
    return pl.Series(column.name, fresh, dtype=pl.String).zip_with(holes, column)


def _words(text: pl.Series, filled: FloatArray) -> list[str]:
    """Use the words the column itself uses; an opposite that never occurs is spelt in lower case."""
    words = text.drop_nulls().unique(maintain_order=True).to_list()
    # The first spelling of each wins.
    seen = {TRUTH_WORDS[word.lower()]: word for word in reversed(words)}
    pair = (
        ("false", "true")
        if any(word.lower() in ("true", "false") for word in seen.values())
        else ("no", "yes")
    )
    return [seen.get(float(value > 0.5), pair[int(value > 0.5)]) for value in filled]
