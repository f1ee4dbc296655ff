"""Table files: read whatever kind they are, written whole or not at all."""

import os
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import polars as pl

from cocomplete.atomic import write_atomically
from cocomplete.exceptions import InputError
from cocomplete.formats.calendar_bounds import check_dates
from cocomplete.formats.registry import DELIMITED, format_of, format_to_read
from cocomplete.formats.table_file import STREAM, ReadOptions, TableFile
from cocomplete.formats.unknown_words import sentinel_notes, without_words
from cocomplete.parameter_checks import as_path, check_flag, is_text, listed_words, shown


def read_table(
    path: str | os.PathLike[str],
    *,
    missing: Iterable[str] = (),
    separator: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    day_first: bool | None = None,
    checked: str | None = None,
    sheet: str | None = None,
    as_text: Iterable[str] = (),
    skip_lines: int = 0,
) -> TableFile:
    """Read a table file.

    Parameters
    ----------
    path : path
        Its ending says what it is; ``-`` reads delimited text from standard input.
    missing : iterable of str
        Words for unknown, beside the usual ones.
    separator, decimal, encoding : str, optional
        Of delimited text; found in the file by default.
    day_first : bool, optional
        Whether 01/02/2024 is in February; decided by the file by default.
    checked : str, optional
        A word that ticks a box, such as ``x``: in a column that holds nothing else, empty cells mean no.
    sheet : str, optional
        Of a workbook; the first by default.
    as_text : iterable of str
        Columns of delimited text that stay text whatever they hold, as codes that are digits.
    skip_lines : int, default=0
        Lines of delimited text, such as titles, that stand above the line of names. They are written back.

    Raises
    ------
    InputError
        If the file is missing, empty, damaged or of no known kind: one sentence with the file, and the line
        and column where they are known.
    """
    name = str(as_path("path", path))
    words = {"separator": separator, "encoding": encoding, "checked": checked, "sheet": sheet}
    for option, word in words.items():
        if word is not None and not is_text(word):
            msg = f"{option} must be None or text; found {shown(word)}"
            raise InputError(msg)
    check_flag("day_first", day_first, optional=True)
    if decimal is not None and not (isinstance(decimal, str) and decimal in (".", ",")):
        msg = f"decimal must be '.' or ','; found {shown(decimal)}"
        raise InputError(msg)
    if isinstance(skip_lines, bool) or not isinstance(skip_lines, int) or skip_lines < 0:
        msg = f"skip_lines must be 0 or more; found {shown(skip_lines)}"
        raise InputError(msg)
    options = ReadOptions(
        missing=listed_words("missing", missing),
        separator=separator,
        decimal=decimal,
        encoding=encoding,
        day_first=day_first,
        checked=checked,
        sheet=sheet,
        as_text=listed_words("as_text", as_text),
        skip_lines=skip_lines,
        path=name,
    )
    return parse_table(_content(name), "standard input" if name == STREAM else name, options)


def _content(name: str) -> bytes:
    if name == STREAM:
        return sys.stdin.buffer.read()
    format_of(name)
    try:
        return Path(name).read_bytes()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"{name} cannot be read: {reason}; check the path"
        raise InputError(msg) from error


def parse_table(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read a table from the bytes of a file.

    Raises
    ------
    InputError
        As ``read_table`` does.
    """
    if not content.strip():
        msg = f"{source} is empty; a table needs a line of column names and at least one row"
        raise InputError(msg)
    form = DELIMITED if options.path == STREAM else format_to_read(options.path, content)
    table = form.read(content, source, options)
    check_dates(table.frame, source)
    if options.missing and table.text is None:
        table = replace(table, frame=without_words(table.frame, options.missing))
    table = replace(table, notes=(*table.notes, *sentinel_notes(table.frame, source)))
    if table.frame.height == 0 or table.frame.width == 0:
        rows, columns = table.frame.height, table.frame.width
        msg = f"{source} has {columns} column(s) and {rows} row(s); a table needs some of each"
        raise InputError(msg)
    return table


def check_target(path: str, *, force: bool) -> None:
    """Refuse a target before any work is done for it.

    Raises
    ------
    InputError
        If the file exists and ``force`` is off, or could not be written.
    """
    if path == STREAM:
        return
    format_of(path)
    check_free(path, "completed.csv", force=force)
    file = Path(path)
    beside = file.with_suffix(".xml")
    if file.suffix.lower() == ".arff" and beside.exists() and not force:
        msg = f"{beside} exists already, where the labels of {path} would go; choose another name or --force"
        raise InputError(msg)


def check_free(path: str, example: str, *, force: bool) -> None:
    """Refuse a file that exists, a folder, or a name in a folder that does not exist.

    Parameters
    ----------
    path : str
    example : str
        A name that a file in a folder could have.
    force : bool
        Whether an existing file may be replaced.

    Raises
    ------
    InputError
    """
    file = Path(path)
    # os.path has an answer for names that are too long for the file system, too.
    if os.path.isdir(file):
        msg = f"{path} is a folder; name a file in it, such as {file / example}"
        raise InputError(msg)
    if os.path.exists(file) and not force:
        msg = f"{path} exists already and was left as it is; choose another name or add --force to replace it"
        raise InputError(msg)
    if not os.path.isdir(file.parent):
        msg = f"{path} cannot be written: the folder {file.parent} does not exist; make it first"
        raise InputError(msg)


def write_table(done: pl.DataFrame, table: TableFile, path: str | os.PathLike[str]) -> None:
    """Write a table in the manner of the file it came from.

    From text to text, cells whose value is as it was keep every letter, and the others are written as their
    column writes its values: its marks and signs, its words, its pattern of dates, and no more decimals than
    it uses. Formats with types get them.

    Parameters
    ----------
    done : DataFrame
        Typed, as ``table.frame`` is; it may have further columns, and other rows.
    table : TableFile
        What was read.
    path : path
        Its ending says what is written; ``-`` writes delimited text to standard output.

    Raises
    ------
    InputError
        If the format cannot hold the table or the file cannot be written.
    """
    name = str(as_path("path", path))
    form = DELIMITED if name == STREAM else format_of(name)
    parts = form.encode(done.fill_nan(None), table, name)
    if name == STREAM:
        sys.stdout.buffer.write(parts[0][1])
        sys.stdout.buffer.flush()
        return
    for target, content in reversed(parts):
        write_atomically(Path(target), content)
