"""Workbooks of Excel, by the packages of the extra ``cocomplete[excel]``."""

import re
import zipfile
from datetime import date, datetime, time
from importlib import import_module
from io import BytesIO
from typing import Any

import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats.guarded import MAX_BYTES, MAX_CELLS, one_sentence
from cocomplete.formats.header_names import own_names
from cocomplete.formats.table_file import ReadOptions, TableFile
from cocomplete.formats.text_columns import typed

NAME = "an Excel workbook"
ENDINGS = (".xlsx",)
MAX_LETTERS = 32_767
"""Of a cell: Excel holds no more."""
REFERENCE = re.compile(rb'<(?:\w+:)?c\b[^>]*?\br="([A-Z]{1,3})(\d{1,7})"')


def read(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read one sheet: its first row that is not empty has the names.

    Raises
    ------
    InputError
        If the extra is not installed, or the workbook is damaged, larger than it looks or has no such sheet.
    """
    calamine = _package("python_calamine", source)
    with one_sentence(f"{source} cannot be read as {NAME}"):
        _check_sizes(content, source)
        book = calamine.CalamineWorkbook.from_filelike(BytesIO(content))
        sheets = list(book.sheet_names)
    if options.sheet is not None and options.sheet not in sheets:
        msg = f"{source} has no sheet {options.sheet!r}; its sheets are {', '.join(map(repr, sheets))}"
        raise InputError(msg)
    with one_sentence(f"{source} cannot be read as {NAME}"):
        rows = book.get_sheet_by_name(options.sheet or sheets[0]).to_python(skip_empty_area=True)
    while rows and all(cell == "" for cell in rows[0]):
        rows = rows[1:]
    if not rows:
        msg = (
            f"{source}: sheet {options.sheet or sheets[0]!r} is empty; its first row should name the columns"
        )
        raise InputError(msg)
    names, notes = own_names([_text(cell) for cell in rows[0]], source)
    body = [row for row in rows[1:] if any(cell != "" for cell in row)]
    if len(sheets) > 1 and options.sheet is None:
        notes.append(
            f"{source} has {len(sheets)} sheets; {sheets[0]!r} was read, another is chosen with --sheet"
        )
    columns = []
    for j, name in enumerate(names):
        column, more = _column(name, [row[j] for row in body], options, source)
        columns.append(column)
        notes += more
    return TableFile(pl.DataFrame(columns), source, notes=tuple(notes))


def encode(done: pl.DataFrame, table: TableFile, target: str) -> list[tuple[str, bytes]]:
    """Write one sheet with numbers, truth values and dates as such."""
    xlsxwriter = _package("xlsxwriter", target)
    if done.height >= 1_048_576 or done.width > 16_384:
        msg = f"{target} cannot be written: a sheet has 1048576 rows and 16384 columns; write CSV or Parquet"
        raise InputError(msg)
    buffer = BytesIO()
    with xlsxwriter.Workbook(buffer, {"in_memory": True}) as book:
        sheet = book.add_worksheet("table")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for j, name in enumerate(done.columns):
            sheet.write_string(0, j, name)
            longest = done[name].cast(pl.String, strict=False).str.len_chars().max()
            if longest is not None and int(str(longest)) > MAX_LETTERS:
                what = f"column {name!r} has a cell of more than {MAX_LETTERS} letters"
                msg = f"{target} cannot be written: {what}; write CSV or Parquet"
                raise InputError(msg)
            for i, value in enumerate(done[name].to_list(), start=1):
                if value is not None:
                    _write(sheet, i, j, value, day, moment)
    return [(target, buffer.getvalue())]


def _write(sheet: Any, i: int, j: int, value: Any, day: Any, moment: Any) -> None:
    """Write a cell with its type; as text what a sheet has no type for."""
    if isinstance(value, bool):
        sheet.write_boolean(i, j, value)
    elif isinstance(value, int | float) and abs(value) <= 2**53:
        sheet.write_number(i, j, value)
    elif isinstance(value, date) and value.year < 1900:
        sheet.write_string(i, j, value.isoformat())
    elif isinstance(value, datetime):
        sheet.write_datetime(i, j, value.replace(tzinfo=None), moment)
    elif isinstance(value, date):
        sheet.write_datetime(i, j, value, day)
    else:
        sheet.write_string(i, j, str(value))


def _package(name: str, source: str) -> Any:
    try:
        return import_module(name)
    except ImportError as error:
        package = name.replace("_", "-")
        msg = f"{source}: Excel needs the package {package}; install it with pip install 'cocomplete[excel]'"
        raise InputError(msg) from error


def _check_sizes(content: bytes, source: str) -> None:
    """Refuse a workbook that unpacks to too much, or whose cells span more than any table."""
    with zipfile.ZipFile(BytesIO(content)) as archive:
        parts = archive.infolist()
        if sum(part.file_size for part in parts) > MAX_BYTES:
            msg = f"{source} says it unpacks to more than {MAX_BYTES >> 30} GB; so much is not read"
            raise InputError(msg)
        for part in parts:
            if not part.filename.startswith("xl/worksheets/") or not part.filename.endswith(".xml"):
                continue
            columns, rows = 1, 1
            for match in REFERENCE.finditer(archive.read(part)):
                columns, rows = max(columns, _position(match[1])), max(rows, int(match[2]))
            if columns * rows > MAX_CELLS:
                msg = f"{source}: the cells of {part.filename} span {rows} × {columns}, too many to complete"
                raise InputError(msg)


def _position(letters: bytes) -> int:
    position = 0
    for letter in letters:
        position = position * 26 + letter - 64
    return position


def _column(name: str, cells: list[Any], options: ReadOptions, source: str) -> tuple[pl.Series, list[str]]:
    """Give a column the type that all its cells have; where they differ, that of their text."""
    known = [cell for cell in cells if cell != ""]
    kinds = {type(cell) for cell in known}
    unknown_as_null = [None if cell == "" else cell for cell in cells]
    if kinds == {bool}:
        return pl.Series(name, unknown_as_null, dtype=pl.Boolean), []
    if kinds and kinds <= {int, float}:
        whole = all(float(cell).is_integer() and abs(cell) < 2**53 for cell in known)
        text = [None if cell is None else int(cell) if whole else float(cell) for cell in unknown_as_null]
        return pl.Series(name, text, dtype=pl.Int64 if whole else pl.Float64), []
    if kinds == {date}:
        return pl.Series(name, unknown_as_null, dtype=pl.Date), []
    if kinds and kinds <= {date, datetime}:
        moments = [
            datetime(cell.year, cell.month, cell.day) if type(cell) is date else cell
            for cell in unknown_as_null
        ]
        return pl.Series(name, moments, dtype=pl.Datetime("us")), []
    cells_as_text = pl.DataFrame({name: [_text(cell) for cell in cells]}, schema={name: pl.String})
    result = typed(cells_as_text, options, ",", source, lambda row: f"row {row + 2}")
    return result.columns[0], result.notes


def _text(cell: Any) -> str:
    """Give a cell as a spreadsheet would show it."""
    if isinstance(cell, bool):
        return "TRUE" if cell else "FALSE"
    if isinstance(cell, float) and cell.is_integer() and abs(cell) < 2**53:
        return str(int(cell))
    if isinstance(cell, date | datetime | time):
        return cell.isoformat()
    return str(cell)
