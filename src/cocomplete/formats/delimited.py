"""CSV and its relatives: typed columns out of text, and text again that differs where cells were filled."""

from itertools import chain

import numpy as np
import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats import csv_rows, encodings, titles
from cocomplete.formats.date_style import DateStyle
from cocomplete.formats.header_names import own_names
from cocomplete.formats.number_style import style_of
from cocomplete.formats.separators import DECLARED, checked_separator, find_separator
from cocomplete.formats.table_file import ColumnStyle, Layout, ReadOptions, TableFile
from cocomplete.formats.text_columns import typed
from cocomplete.formats.text_style import TextStyle

NAME = "delimited text"
ENDINGS = (".csv", ".tsv", ".txt")


def read(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read a delimited file.

    Raises
    ------
    InputError
        With the line and column at which it is damaged.
    """
    decoded = encodings.decode(content, source, options.encoding)
    above, text = titles.split(decoded.text, options.skip_lines)
    if not options.skip_lines:
        titles.refuse(text, options.separator, source)
    if options.separator is not None:
        separator = checked_separator(options.separator, source)
    else:
        separator = (
            "\t" if options.path.lower().endswith(".tsv") and "\t" in text else find_separator(text, source)
        )
    header, body, asides = _sorted_rows(text, separator, source, above)
    tokens, header, notes = _rectangle(header, body, separator, source)
    contents = [csv_rows.content(token) for token in header]
    if header[0].startswith("#"):
        contents[0] = contents[0].lstrip("# ")
        notes.append(f"{source}: the names of its columns stand on a line that begins with #")
    names, name_notes = own_names(contents, source)
    if all(_is_number(cell) for cell in contents):
        name_notes.append(f"{source}: the first line holds numbers alone and was taken for names")
    raw = pl.DataFrame(dict(zip(names, tokens, strict=True)), schema=dict.fromkeys(names, pl.String))
    cells = raw
    if '"' in text:
        cells = raw.select(
            pl.Series(name, [csv_rows.content(token) for token in raw[name].to_list()], dtype=pl.String)
            for name in names
        )
    lines = np.array([row.line for row in body], dtype=np.int64)
    result = typed(cells, options, separator, source, lambda row: f"line {lines[row]}")
    layout = Layout(
        separator=separator,
        encoding=decoded.encoding,
        line_end="\r\n" if "\r\n" in text else "\n" if "\n" in text else "\r" if "\r" in text else "\n",
        byte_order_mark=decoded.byte_order_mark,
        final_line_end=text.endswith(("\n", "\r")),
        header=tuple(header),
        tokens=raw,
        asides=asides,
        lines=lines,
    )
    frame = pl.DataFrame(result.columns)
    every_note = (*decoded.notes, *notes, *name_notes, *result.notes)
    return TableFile(frame, source, text=cells, styles=result.styles, layout=layout, notes=every_note)


def encode(done: pl.DataFrame, table: TableFile, target: str) -> list[tuple[str, bytes]]:
    """Write a table as delimited text, in the manner of the file it came from if that was text too.

    Cells whose value is as it was keep every letter; others are written in the style of their column.
    """
    layout = table.layout
    separator = _separator_for(table, target)
    same_rows = layout.tokens is not None and layout.tokens.height == done.height
    columns, header = [], []
    for name in done.columns:
        old = layout.tokens[name] if layout.tokens is not None and name in layout.tokens.columns else None
        if old is not None and separator != layout.separator:
            old = pl.Series(name, [csv_rows.token(cell, separator) for cell in table.text[name]])  # type: ignore[index]
        position = table.frame.columns.index(name) if old is not None else -1
        header.append(_header_token(name, layout, position, separator))
        columns.append(_column(done[name], table, old if same_rows else None, separator))
    lines = pl.select(pl.concat_str(columns, separator=separator)).to_series().to_list() if columns else []
    first = [*layout.asides.get(-1, ()), separator.join(header)]
    if same_rows and layout.asides:
        between = ([*layout.asides.get(row, ()), line] for row, line in enumerate(lines))
        lines = [*chain.from_iterable(between), *layout.asides.get(len(lines), ())]
    text = layout.line_end.join([*first, *lines]) + (layout.line_end if layout.final_line_end else "")
    return [(target, encodings.encode(text, layout.encoding, byte_order_mark=layout.byte_order_mark))]


def plain(frame: pl.DataFrame) -> bytes:
    """Write a frame as plain CSV; numbers get the digits that tell them apart."""
    return encode(frame, TableFile(frame, "table"), "table.csv")[0][1]


def _sorted_rows(
    text: str, separator: str, source: str, above: tuple[str, ...] = ()
) -> tuple[list[str], list[csv_rows.Row], dict[int, tuple[str, ...]]]:
    """Tell the header, the rows, and the lines that are neither, those above the text among them."""
    header: list[str] | None = None
    body: list[csv_rows.Row] = []
    asides: dict[int, tuple[str, ...]] = {-1: above} if above else {}
    last_comment: csv_rows.Row | None = None
    for row in csv_rows.rows(text, separator, source, len(above) + 1):
        # Before the header, spreadsheets leave rows of nothing but separators.
        blank = not any(map(str.strip, row.tokens)) and (
            header is None or (len(row.tokens) == 1 and len(header) > 1)
        )
        comment = row.raw.startswith("#") and (header is None or len(row.tokens) != len(header))
        if blank or comment or (header is None and DECLARED.fullmatch(row.raw)):
            place = -1 if header is None else len(body)
            asides[place] = (*asides.get(place, ()), row.raw)
            last_comment = row if comment else None
        elif header is None:
            header = row.tokens
            if last_comment is not None and _names_above(last_comment, row):
                header = last_comment.tokens
                asides[-1] = asides[-1][:-1]
                body.append(row)
        else:
            body.append(row)
    if header is None:
        msg = f"{source} has no line of column names; a table needs one and at least one row"
        raise InputError(msg)
    while len(header) == 1 and body and not body[-1].raw.strip():
        # At the end of a single column, blank lines are nothing but that.
        asides[len(body) - 1] = (body.pop().raw, *asides.pop(len(body) + 1, ()))
    return header, body, asides


def _names_above(comment: csv_rows.Row, row: csv_rows.Row) -> bool:
    """Tell whether a comment names the columns: in as many words as the row of numbers below it has cells."""
    if len(comment.tokens) != len(row.tokens) or len(row.tokens) < 2:
        return False
    return any(map(_is_number, row.tokens)) and not any(map(_is_number, comment.tokens))


def _rectangle(
    header: list[str], body: list[csv_rows.Row], separator: str, source: str
) -> tuple[list[list[str]], list[str], list[str]]:
    """Give the tokens by column.

    Raises
    ------
    InputError
        At the first row that has more or fewer cells than there are names.
    """
    width, notes = len(header), []
    if width > 1 and body and all(len(row.tokens) == width + 1 for row in body):
        width += 1
        if all(not row.tokens[-1].strip() for row in body):
            header = [*header, ""]
            notes.append(f"{source}: every row ends in a separator, so there is a last column without a name")
        else:
            header = ["", *header]
            notes.append(f"{source}: rows have one cell more than there are names; the first column has none")
    for row in body:
        if len(row.tokens) != width:
            more = "more" if len(row.tokens) > width else "fewer"
            column = min(len(row.tokens), width) + 1
            msg = (
                f"{source}, line {row.line}, column {column}: the row has {len(row.tokens)} cell(s), {more} "
                f"than the {width} of the header; is {separator!r} the separator, and quoted elsewhere?"
            )
            raise InputError(msg)
    return (
        [list(column) for column in zip(*(row.tokens for row in body), strict=True)] or [[]] * width,
        header,
        notes,
    )


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _separator_for(table: TableFile, target: str) -> str:
    if target.lower().endswith(".tsv"):
        return "\t"
    was = table.layout.separator
    return "," if was == "\t" and target.lower().endswith(".csv") and table.source.endswith(".tsv") else was


def _header_token(name: str, layout: Layout, position: int, separator: str) -> str:
    """Give the name as it stood, unless another separator needs other quotes."""
    if 0 <= position < len(layout.header):
        old = layout.header[position]
        return old if separator == layout.separator else csv_rows.token(csv_rows.content(old), separator)
    return csv_rows.token(name, separator, quoted=name.startswith("#") or not name.strip())


def _column(values: pl.Series, table: TableFile, old: pl.Series | None, separator: str) -> pl.Series:
    """Write a column: what is as it was letter for letter, the rest in the column's style."""
    fresh = values.is_not_null()
    if old is not None:
        fresh &= ~_unchanged(values, table.frame[values.name])
    written = _style(values, table).write(values.filter(fresh))
    quoted = old is not None and _all_quoted(old.filter(table.frame[values.name].is_not_null()))
    tokens = iter([csv_rows.token(cell, separator, quoted=quoted) for cell in written])
    rest = [""] * len(values) if old is None else old.to_list()
    column = [next(tokens) if new else kept for new, kept in zip(fresh.to_list(), rest, strict=True)]
    return pl.Series(values.name, column, dtype=pl.String)


def _style(values: pl.Series, table: TableFile) -> ColumnStyle:
    """Give the style of the column, unless what is to be written is of another kind."""
    style = table.styles.get(values.name)
    numeric = values.dtype.is_numeric() or values.dtype == pl.Boolean
    if style is not None and not isinstance(style, TextStyle) and numeric != isinstance(style, DateStyle):
        return style
    if isinstance(style, TextStyle) and not values.dtype.is_float():
        return style
    known = table.frame[values.name] if values.name in table.frame.columns else values
    return style_of(known if known.dtype.is_float() else values) if values.dtype.is_float() else TextStyle()


def _all_quoted(tokens: pl.Series) -> bool:
    return len(tokens) > 0 and bool(tokens.str.starts_with('"').all())


def _unchanged(values: pl.Series, before: pl.Series) -> pl.Series:
    """Mark cells whose value is what the file held, unknown ones that still are included."""
    if values.dtype == before.dtype:
        return values.eq_missing(before)
    numeric = [column.dtype.is_numeric() or column.dtype == pl.Boolean for column in (values, before)]
    try:
        if all(numeric):
            return values.cast(pl.Float64).eq_missing(before.cast(pl.Float64))
        return values.cast(before.dtype).eq_missing(before)
    except pl.exceptions.PolarsError:
        return before.is_not_null() | values.is_null()
