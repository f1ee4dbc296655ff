"""Titles that stand above the line of names of a delimited file."""

from itertools import islice

from cocomplete.exceptions import InputError
from cocomplete.formats import csv_rows
from cocomplete.formats.separators import DECLARED, LOOKED_AT, SEPARATORS, checked_separator


def split(text: str, count: int) -> tuple[tuple[str, ...], str]:
    """Give the first lines of a text, without their ends, and the rest of it."""
    if not count:
        return (), text
    end = "\n" if "\n" in text else "\r"
    *above, rest = text.split(end, count) if text.count(end) >= count else (*text.split(end), "")
    return tuple(line.removesuffix("\r") for line in above), rest


def refuse(text: str, separator: str | None, source: str) -> None:
    """Refuse a file whose first lines hold one cell each, above a line that names the columns of all others.

    Parameters
    ----------
    text : str
    separator : str or None
        None tries all.
    source : str

    Raises
    ------
    InputError
        With the line that looks like the one of names.
    """
    marks = SEPARATORS if separator is None else (checked_separator(separator, source),)
    for mark in marks:
        line = _line_of_names(text, mark, source)
        if line is not None:
            msg = (
                f"{source}: line {line} looks like the line of column names, with a title above it; "
                f"say --skip-lines {line - 1} if it is, or delete what stands above"
            )
            raise InputError(msg)


def _line_of_names(text: str, mark: str, source: str) -> int | None:
    """Find the line of names below a title; None if the file has no title, or is damaged."""
    try:
        rows = [
            row
            for row in islice(csv_rows.rows(text, mark, source), LOOKED_AT)
            if any(map(str.strip, row.tokens))
            and not row.raw.startswith("#")
            and not DECLARED.fullmatch(row.raw)
        ]
    except InputError:
        return None
    filled = [sum(bool(token.strip()) for token in row.tokens) for row in rows]
    place = next((place for place, count in enumerate(filled) if count > 1), 0)
    if not 0 < place < len(rows) - 1:
        return None
    names = [csv_rows.content(token).strip() for token in rows[place].tokens]
    below = [[csv_rows.content(token).strip() for token in row.tokens] for row in rows[place + 1 :]]
    if not all(names) or any(map(_begins_as_number, names)) or any(len(row) != len(names) for row in below):
        return None
    # Prose below a single name has commas of its own, but no cells that begin as numbers.
    return rows[place].line if mark != "," or any(map(_begins_as_number, below[0])) else None


def _begins_as_number(word: str) -> bool:
    return word[:1].isdigit() or (word[:1] in ("-", "+", ".") and word[1:2].isdigit())
