"""Which mark stands between the cells of a delimited file."""

import re
from itertools import islice

from cocomplete.exceptions import InputError
from cocomplete.formats import csv_rows
from cocomplete.parameter_checks import shown

SEPARATORS = (",", ";", "\t", "|")
NAMES = {",": "comma", ";": "semicolon", "\t": "tab", "|": "bar"}
LOOKED_AT = 60
"""Rows by which a separator is judged."""

DECLARED = re.compile(r"sep=(.)\r?", re.IGNORECASE)
"""The line with which spreadsheets announce a separator."""


def checked_separator(separator: str, source: str) -> str:
    """Give the separator that the caller names, by mark or by word.

    Raises
    ------
    InputError
        If it is not one character that can stand between cells.
    """
    words = {name: mark for mark, name in NAMES.items()} | {"\\t": "\t"}
    mark = words.get(separator.lower(), separator)
    if len(mark) != 1 or mark in '"\r\n':
        msg = (
            f"{source}: the separator must be one character or one of {', '.join(words)}; "
            f"found {shown(separator)}"
        )
        raise InputError(msg)
    return mark


def find_separator(text: str, source: str) -> str:
    """Find the mark that splits the first rows most evenly, then into most cells."""
    first = text.lstrip("\r\n").partition("\n")[0]
    declared = DECLARED.fullmatch(first)
    if declared and declared[1] not in '"\r\n':
        return declared[1]
    # max keeps the first of equals, so a single column is read as CSV.
    return max(SEPARATORS, key=lambda mark: _evenness(text, mark, source))


def _evenness(text: str, mark: str, source: str) -> tuple[bool, float, int]:
    counts = []
    try:
        for row in islice(csv_rows.rows(text, mark, source), LOOKED_AT):
            if row.raw.strip() and not row.raw.startswith("#"):
                counts.append(len(row.tokens))
    except InputError:
        # Quotes that make no sense under this mark may under another.
        if not counts:
            return (False, 0.0, 0)
    if not counts:
        return (False, 0.0, 0)
    width = counts[0]
    even = sum(count == width for count in counts) / len(counts)
    return (width > 1, even if width > 1 else 0.0, width)
