"""CSV and its relatives, read as text so that observed cells can be written back letter for letter."""

import csv
from io import BytesIO

import polars as pl

from cocomplete.exceptions import InputError

UNKNOWN = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "None", "<NA>", "?")
"""What an unknown cell may look like in a text file."""

SEPARATORS = (",", ";", "\t")


def separator_of(content: bytes) -> str:
    """Find the separator by counting candidates in the header line."""
    header = content.split(b"\n", 1)[0].decode("utf-8-sig", errors="replace")
    counts = {mark: len(next(csv.reader([header], delimiter=mark), [])) for mark in SEPARATORS}
    # max keeps the first of equals, so a single column is read as CSV.
    return max(counts, key=lambda mark: counts[mark])


def read(content: bytes, source: str) -> pl.DataFrame:
    """Read a delimited file; every column is text, unknown cells are null.

    Parameters
    ----------
    content : bytes
    source : str
        The file's name for messages.
    """
    separator = separator_of(content)
    names = _header(content, separator, source)
    try:
        frame = pl.read_csv(BytesIO(content), separator=separator, infer_schema=False, encoding="utf8")
    except (pl.exceptions.PolarsError, UnicodeDecodeError) as error:
        reason = str(error).splitlines()[0]
        msg = f"{source} cannot be read as a table: {reason}; has every row the same number of cells?"
        raise InputError(msg) from error
    frame.columns = names
    text = pl.all().str.strip_chars()
    return frame.with_columns(pl.when(text.is_in(list(UNKNOWN))).then(None).otherwise(pl.all()).name.keep())


def _header(content: bytes, separator: str, source: str) -> list[str]:
    """Read the names ourselves: the reader would quietly rename duplicates."""
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        msg = f"{source} is not UTF-8 text (byte {error.start}); save it as UTF-8 and try again"
        raise InputError(msg) from error
    names = next(csv.reader(text.splitlines(keepends=True), delimiter=separator))
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        msg = f"{source} has more than one column named {twice[0]!r}; give every column its own name"
        raise InputError(msg)
    return names


def encode(frame: pl.DataFrame, separator: str = ",") -> bytes:
    """Write as delimited text."""
    buffer = BytesIO()
    frame.write_csv(buffer, separator=separator)
    return buffer.getvalue()
