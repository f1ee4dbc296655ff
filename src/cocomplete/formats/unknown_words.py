"""Words for unknown, and numbers that look like one."""

from collections.abc import Iterable

import polars as pl

LETTERS = ("na", "n/a", "n.a.", "n.a", "nan", "-nan", "nat", "null", "nil", "<na>")
MARKS = ("", "?", "-", "--", "---", ".", "..")
SPREADSHEETS = ("#n/a", "#na", "#nv", "#null!", "#value!", "#div/0!", "#ref!", "#name?", "#num!")
UNKNOWN = frozenset((*LETTERS, *MARKS, *SPREADSHEETS))
"""What an unknown cell looks like in a text file, in any case of letters."""

SOMETIMES = frozenset(("none", "unknown", "missing"))
"""Words for unknown, except in a column of text without other holes, where they are an answer."""

NINES = (9.0, 99.0, 999.0, 9999.0, 99999.0, 999999.0, 9.99, 99.9, 999.9)
SENTINELS = frozenset((*NINES, *(-value for value in NINES), -1.0, 88.0, 888.0, 8888.0))


def unknown_cells(stripped: pl.Series, missing: Iterable[str]) -> pl.Series:
    """Mark the cells that are unknown, whatever the column holds beside.

    Parameters
    ----------
    stripped : Series of str
        Cells without spaces around them.
    missing : iterable of str
        The caller's own words, letter for letter.
    """
    own = [word.strip() for word in missing]
    return (stripped.str.to_lowercase().is_in(list(UNKNOWN)) | stripped.is_in(own)).fill_null(value=True)


def sometimes_unknown(stripped: pl.Series) -> pl.Series:
    """Mark the cells that hold one of the words that may also be an answer."""
    return stripped.str.to_lowercase().is_in(list(SOMETIMES)).fill_null(value=False)


def without_words(frame: pl.DataFrame, missing: Iterable[str]) -> pl.DataFrame:
    """Make the caller's own words, and numbers among them, unknown in columns that have types already."""
    words = [word.strip() for word in missing]
    numbers = pl.Series(words, dtype=pl.String).cast(pl.Float64, strict=False).drop_nulls().to_list()
    changed = []
    for name, dtype in frame.schema.items():
        column = pl.col(name)
        if dtype.is_numeric() and numbers:
            changed.append(pl.when(~column.cast(pl.Float64).is_in(numbers)).then(column).alias(name))
        elif dtype == pl.String or isinstance(dtype, pl.Enum | pl.Categorical):
            text = column.cast(pl.String).str.strip_chars()
            changed.append(pl.when(~text.is_in(words)).then(column).alias(name))
    return frame.with_columns(changed)


def sentinel_notes(frame: pl.DataFrame, source: str) -> tuple[str, ...]:
    """Name the columns in which a number such as -999 looks like a word for unknown."""
    found = {name: sentinel(frame[name]) for name, dtype in frame.schema.items() if dtype.is_numeric()}
    return tuple(
        f"{source}: {number:g} in column {name!r} looks like a word for unknown; "
        f"if it is one, say so with --missing={number:g}"
        for name, number in found.items()
        if number is not None
    )


def sentinel(values: pl.Series) -> float | None:
    """Find a number such as -999 that looks like a word for unknown.

    It is one of the usual ones, occurs twice at least, and lies beyond all others by more than their
    range; or is negative where nothing else is.
    """
    known = values.drop_nulls().cast(pl.Float64)
    for candidate in (known.min(), known.max()):
        if not isinstance(candidate, float) or candidate not in SENTINELS:
            continue
        others = known.filter(known != candidate)
        if len(known) - len(others) < 2 or others.n_unique() < 2:
            continue
        low, high = float(others.min()), float(others.max())  # type: ignore[arg-type]
        gap = low - candidate if candidate < low else candidate - high
        if gap > high - low or (
            candidate < 0 <= low and candidate in (-9.0, -99.0, -999.0, -9999.0, -99999.0)
        ):
            return candidate
    return None
