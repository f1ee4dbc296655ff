"""Delimited text as rows of tokens, quotes and spaces as they stood."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from cocomplete.exceptions import InputError

# Nothing is ever given back, so that a quote left open costs one look at the rest of the file.
QUOTED = re.compile(r'[ \t]*+"([^"]*+(?:""[^"]*+)*+)"[ \t]*+')


class Row(NamedTuple):
    """A line of the file, or several if quotes hold line ends.

    Attributes
    ----------
    line : int
        Where it begins, counted from 1.
    raw : str
        All of it.
    tokens : list of str
        Its cells as they stood.
    """

    line: int
    raw: str
    tokens: list[str]


def rows(text: str, separator: str, source: str, first_line: int = 1) -> Iterator[Row]:
    r"""Split text into rows of tokens.

    Rows end in ``\n`` or ``\r\n``; in ``\r`` where the text has no ``\n``. ``first_line`` is the text's.

    Raises
    ------
    InputError
        With line and column, if a quote is not closed or something follows a closing quote.
    """
    end = "\n" if "\n" in text else "\r"
    start, line = 0, first_line
    while start < len(text):
        stop = text.find(end, start)
        stop = len(text) if stop < 0 else stop
        # A quote in a comment need not be closed.
        comment = text.startswith("#", start) and text.count('"', start, stop) % 2 == 1
        if text.find('"', start, stop) >= 0 and not comment:
            tokens, stop = _quoted_row(text, start, separator, end, source, line)
            raw = _without_return(text[start:stop])
        else:
            raw = _without_return(text[start:stop])
            tokens = raw.split(separator)
        yield Row(line, raw, tokens)
        line += text.count(end, start, stop) + 1
        start = stop + 1


def content(token: str) -> str:
    """Give what a token holds, without its quotes."""
    if '"' not in token:
        return token
    match = QUOTED.fullmatch(token)
    return match[1].replace('""', '"') if match else token


def token(cell: str, separator: str, *, quoted: bool = False) -> str:
    """Write a cell, in quotes where it would be read as something else without them."""
    special = separator in cell or any(mark in cell for mark in '"\r\n')
    if quoted or special:
        return '"' + cell.replace('"', '""') + '"'
    return cell


def _quoted_row(
    text: str, start: int, separator: str, end: str, source: str, line: int
) -> tuple[list[str], int]:
    """Read a row in which quotes occur, and where it stops."""
    tokens: list[str] = []
    position = start
    while True:
        opening = position
        while opening < len(text) and text[opening] in " \t" and text[opening] != separator:
            opening += 1
        if opening < len(text) and text[opening] == '"':
            match = QUOTED.match(text, position)
            where = f"{source}, line {line + text.count(end, start, opening)}, column {len(tokens) + 1}"
            if match is None:
                msg = f"{where}: a quote is opened and never closed; close it, or double it if it is meant"
                raise InputError(msg)
            stop = match.end()
            # Blanks may be separators themselves, and were then taken too many.
            while separator == "\t" and text[stop - 1] == "\t":
                stop -= 1
            after = text[stop : stop + 2]
            if after and after[0] not in (separator, end) and after not in ("\r\n", "\r"):
                msg = f"{where}: {after[0]!r} follows a closing quote; double quotes that are meant as such"
                raise InputError(msg)
        else:
            stop = text.find(end, position)
            stop = len(text) if stop < 0 else stop
            found = text.find(separator, position, stop)
            stop = stop if found < 0 else found
        tokens.append(text[position:stop])
        if stop < len(text) and text[stop] == "\r" and end == "\n":
            stop += 1
        if stop >= len(text) or text[stop] == end:
            tokens[-1] = _without_return(tokens[-1])
            return tokens, stop
        position = stop + len(separator)


def _without_return(text: str) -> str:
    return text[:-1] if text.endswith("\r") else text
