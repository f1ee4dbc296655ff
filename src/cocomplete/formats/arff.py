"""ARFF, dense or sparse, with the labels of Mulan (a list beside it) or MEKA (a number in its first line)."""

import os
import re
from datetime import date, datetime
from pathlib import Path
from typing import Any, NamedTuple

import arff
import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats import encodings
from cocomplete.formats.guarded import MAX_CELLS, one_sentence
from cocomplete.formats.header_names import own_names
from cocomplete.formats.mulan_xml import read_labels, write_labels
from cocomplete.formats.table_file import STREAM, ReadOptions, TableFile
from cocomplete.truth_words import meaning

NAME = "ARFF"
ENDINGS = (".arff",)
NUMERIC = ("NUMERIC", "REAL", "INTEGER")
MEKA_LABELS = re.compile(r"(?:^|[\s:])-C\s+(-?\d+)")
DATE = re.compile(
    r"""^(\s*@attribute\s+(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\S+)\s+)date\b(.*)$""", re.IGNORECASE
)

LARGEST_EXACT = 2.0**53
"""Up to here floats have every whole number."""


class ArffContent(NamedTuple):
    """An ARFF file's table.

    Attributes
    ----------
    frame : polars.DataFrame
        Numbers; nominal attributes as numbers or truth values where their categories are, else as Enum; text.
    relation : str
    notes : list of str
    """

    frame: pl.DataFrame
    relation: str
    notes: list[str]


def parse(content: bytes, source: str) -> ArffContent:
    """Read an ARFF file.

    Cells absent from a sparse row are 0 (for a nominal attribute, its first category), as the format defines.

    Raises
    ------
    InputError
        With the file, and the line where the reader knows it.
    """
    decoded = encodings.decode(content, source)
    if not decoded.text.strip():
        msg = f"{source} is empty; an ARFF file begins with @relation"
        raise InputError(msg)
    text, dates = _dates_as_text(decoded.text)
    sparse = _is_sparse(text)
    with one_sentence(f"{source} is not valid ARFF"):
        table = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
    attributes: list[tuple[str, str | list[str]]] = table["attributes"]
    rows = table["data"]
    if len(rows) * len(attributes) > MAX_CELLS:
        msg = f"{source} would be a table of {len(rows)} × {len(attributes)} cells, too many to complete"
        raise InputError(msg)
    if sparse:
        rows = [[row.get(j, _absent(kind)) for j, (_, kind) in enumerate(attributes)] for row in rows]
    # The reader leaves the backslash before a quote inside a quoted name.
    names, notes = own_names([re.sub(r"\\(.)", r"\1", name) for name, _ in attributes], source)
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    columns = [
        _column(name, kind, cells[j], source, is_date=j in dates)
        for j, (name, (_, kind)) in enumerate(zip(names, attributes, strict=True))
    ]
    return ArffContent(pl.DataFrame(columns), str(table["relation"]), [*decoded.notes, *notes])


def read(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read an ARFF file with the labels that MEKA's relation or Mulan's list names."""
    frame, relation, notes = parse(content, source)
    labels: list[str] | None = None
    found = MEKA_LABELS.search(relation)
    beside = find_labels(Path(options.path)) if options.path != STREAM else None
    if found:
        count = int(found[1])
        if not 0 < abs(count) <= frame.width:
            msg = f"{source}: its relation says -C {count}, but it has {frame.width} attribute(s)"
            raise InputError(msg)
        labels = frame.columns[:count] if count > 0 else frame.columns[count:]
    elif beside is not None:
        with one_sentence(f"{beside} cannot be read", "check the file"):
            listed = beside.read_bytes()
        labels = read_labels(listed, str(beside))
        absent = [name for name in labels if name not in frame.columns]
        if absent:
            msg = f"{beside} lists the label {absent[0]!r}, but {source} has no such attribute"
            raise InputError(msg)
    chosen = None if labels is None else tuple(labels)
    return TableFile(frame, source, labels=chosen, notes=tuple(notes), relation=relation)


def find_labels(path: Path) -> Path | None:
    """Find Mulan's list beside a table: of the same name, or of one that begins it (birds, birds-train)."""
    if not path.name:
        return None
    same = path.with_suffix(".xml")
    if os.path.exists(same):
        return same
    shorter = [xml for xml in path.parent.glob("*.xml") if path.stem.startswith(xml.stem)]
    return max(shorter, key=lambda xml: len(xml.stem), default=None)


def encode(done: pl.DataFrame, table: TableFile, target: str) -> list[tuple[str, bytes]]:
    """Write as ARFF; labels at one end of the table the way MEKA has them, others in a list beside it."""
    labels = tuple(name for name in table.labels or () if name in done.columns)
    relation = re.sub(r":?\s*-C\s+-?\d+", "", table.relation or "table").strip() or "table"
    mulan = bool(labels) and table.relation is not None and not MEKA_LABELS.search(table.relation)
    count = 0
    if labels and not mulan:
        count = len(labels) * (
            1
            if done.columns[: len(labels)] == list(labels)
            else -1
            if done.columns[-len(labels) :] == list(labels)
            else 0
        )
    lines = [f"@relation {_quoted(f'{relation}: -C {count}' if count else relation)}", ""]
    lines += [
        f"@attribute {_quoted(name)} {_kind(done[name], is_label=name in labels)}" for name in done.columns
    ]
    cells = [[_cell(value) for value in _plain(done[name], is_label=name in labels)] for name in done.columns]
    lines += ["", "@data", *(",".join(row) for row in zip(*cells, strict=True)), ""]
    written = [(target, "\n".join(lines).encode())]
    if labels and not count:
        written.append((str(Path(target).with_suffix(".xml")), write_labels(labels)))
    return written


def _is_sparse(text: str) -> bool:
    """Decide by the first row of data."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip().lower() == "@data":
            break
    for line in lines:
        row = line.strip()
        if row and not row.startswith("%"):
            return row.startswith("{")
    return False


def _dates_as_text(text: str) -> tuple[str, set[int]]:
    """Have dates read as text, which the reader knows; give their positions too."""
    lines, dates, position = text.split("\n"), set(), -1
    for i, line in enumerate(lines):
        start = line.lstrip()[:10].lower()
        if start.startswith("@data"):
            break
        if start.startswith("@attribute"):
            position += 1
            match = DATE.match(line.rstrip())
            if match:
                dates.add(position)
                lines[i] = f"{match[1]}STRING"
    return "\n".join(lines) if dates else text, dates


def _absent(kind: str | list[str]) -> Any:
    if isinstance(kind, str):
        return 0.0 if kind in NUMERIC else ""
    return kind[0]


def _column(
    name: str, kind: str | list[str], cells: tuple[Any, ...], source: str, *, is_date: bool
) -> pl.Series:
    if not isinstance(kind, str):
        return _nominal(name, kind, cells)
    if kind in NUMERIC:
        whole = kind == "INTEGER" and all(cell is None or float(cell).is_integer() for cell in cells)
        # NaN is a number to the reader; it is unknown to everybody else.
        numbers = [None if cell is None or cell != cell else cell for cell in cells]  # noqa: PLR0124
        column = pl.Series(name, numbers, dtype=pl.Float64)
        small = column.abs().max()
        return column.cast(pl.Int64) if whole and (small is None or float(small) < 2**62) else column  # type: ignore[arg-type]
    column = pl.Series(name, [None if cell is None else str(cell) for cell in cells], dtype=pl.String)
    if not is_date:
        return column
    try:
        return (
            column.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f")
            if column.str.contains("T").any()
            else column.str.to_date()
        )
    except pl.exceptions.PolarsError:
        return column


def _nominal(name: str, categories: list[str], cells: tuple[Any, ...]) -> pl.Series:
    """Give numbers or truth values where the categories are such, else an Enum."""
    # The reader takes a category ? for unknown.
    categories = [category for category in categories if category is not None]
    try:
        numbers = {category: float(category) for category in categories}
    except ValueError:
        means = meaning({category.lower() for category in categories})
        if means is not None and len(categories) == 2:
            return pl.Series(
                name, [None if cell is None else means[cell.lower()] for cell in cells], dtype=pl.Boolean
            )
        return pl.Series(name, cells, dtype=pl.Enum(list(dict.fromkeys(categories))))
    # Beyond 2⁵³ a float is no longer every whole number, and far beyond it no type of whole numbers has it.
    whole = all(
        number.is_integer() and abs(number) <= LARGEST_EXACT and "." not in category
        for category, number in numbers.items()
    )
    column = pl.Series(name, [None if cell is None else numbers[cell] for cell in cells], dtype=pl.Float64)
    return column.cast(pl.Int64) if whole else column.fill_nan(None)


def _kind(column: pl.Series, *, is_label: bool) -> str:
    dtype = column.dtype
    if dtype.is_temporal():
        return 'DATE "yyyy-MM-dd"' if dtype == pl.Date else """DATE "yyyy-MM-dd'T'HH:mm:ss\""""
    if isinstance(dtype, pl.Enum):
        return "{" + ",".join(map(_quoted, dtype.categories.to_list())) + "}"
    if is_label or dtype == pl.Boolean:
        return "{0,1}" if is_label else "{false,true}"
    if dtype.is_numeric() or dtype == pl.Null:
        return "INTEGER" if dtype.is_integer() else "REAL"
    return "STRING"


def _plain(column: pl.Series, *, is_label: bool) -> list[Any]:
    if is_label and (column.dtype.is_numeric() or column.dtype == pl.Boolean):
        return column.cast(pl.Int64).to_list()
    return column.to_list()


def _cell(value: Any) -> str:
    if value is None:
        return "?"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return "?" if value != value else repr(value)  # noqa: PLR0124
    if isinstance(value, datetime):
        return _quoted(value.replace(tzinfo=None).isoformat())
    return _quoted(value.isoformat() if isinstance(value, date) else str(value))


def _quoted(text: str) -> str:
    if re.fullmatch(r"[\w.+-]+", text) and text != "?":
        return text
    escaped = (
        text.replace("\\", "\\\\")
        .replace("'", "\\'")
        .replace("\n", "\\n")
        .replace("\r", "\\r")
        .replace("\t", "\\t")
    )
    return f"'{escaped}'"
