"""Table files by their ending: what can be read, what may be written, and never half a file."""

import sys
from pathlib import Path
from typing import NamedTuple

import polars as pl

from cocomplete.atomic import write_atomically
from cocomplete.exceptions import InputError
from cocomplete.formats import delimited, parquet

STREAM = "-"
"""The path that means standard input or standard output."""

DELIMITED_ENDINGS = (".csv", ".tsv", ".txt")
PARQUET_ENDINGS = (".parquet", ".pq")


class TableFile(NamedTuple):
    """What a file held.

    Attributes
    ----------
    frame : polars.DataFrame
        CSV as text columns, Parquet with its types; nulls are unknown.
    separator : str
        What stood between the cells of a text file, so that a result can look the same.
    """

    frame: pl.DataFrame
    separator: str


def read_table(path: str) -> TableFile:
    """Read a table file.

    Raises
    ------
    InputError
        If the file is missing, empty, unreadable or of no known kind.
    """
    kind = "delimited" if path == STREAM else _kind(path)
    source = "standard input" if path == STREAM else path
    try:
        content = sys.stdin.buffer.read() if path == STREAM else Path(path).read_bytes()
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}; check the path"
        raise InputError(msg) from error
    if not content.strip():
        msg = f"{source} is empty; a table needs a line of column names and at least one row"
        raise InputError(msg)
    frame = parquet.read(content, source) if kind == "parquet" else delimited.read(content, source)
    if frame.height == 0 or frame.width == 0:
        msg = f"{source} has {frame.width} column(s) and {frame.height} row(s); a table needs some of each"
        raise InputError(msg)
    return TableFile(frame, "," if kind == "parquet" else delimited.separator_of(content))


def check_target(path: str, *, force: bool) -> None:
    """Refuse a target before any work is done for it.

    Raises
    ------
    InputError
        If the file exists and ``force`` is off, or could not be written.
    """
    if path == STREAM:
        return
    _kind(path)
    file = Path(path)
    if file.is_dir():
        msg = f"{path} is a folder; name a file in it, such as {file / 'completed.csv'}"
        raise InputError(msg)
    if file.exists() and not force:
        msg = f"{path} exists already and was left as it is; choose another name or add --force to replace it"
        raise InputError(msg)
    if not file.parent.is_dir():
        msg = f"{path} cannot be written: the folder {file.parent} does not exist; make it first"
        raise InputError(msg)


def write_table(table: TableFile, path: str) -> None:
    """Write a table whole or not at all: to a temporary file beside the target, then renamed."""
    if path == STREAM:
        sys.stdout.buffer.write(delimited.encode(*table))
        sys.stdout.buffer.flush()
        return
    content = parquet.encode(table.frame) if _kind(path) == "parquet" else delimited.encode(*table)
    write_atomically(Path(path), content)


def _kind(path: str) -> str:
    ending = Path(path).suffix.lower()
    if ending in DELIMITED_ENDINGS:
        return "delimited"
    if ending in PARQUET_ENDINGS:
        return "parquet"
    known = ", ".join(DELIMITED_ENDINGS + PARQUET_ENDINGS)
    msg = f"{path} ends in {ending or 'nothing'!r}, which is no known kind of table; use one of {known}"
    raise InputError(msg)
