"""LIBSVM's multi-label text, and that of the extreme classification repository, which begins with sizes.

A row is ``labels index:value index:value …``, labels separated by commas; what is absent is 0. Unknown is
beyond the format: an unknown feature is written ``index:nan``, an unknown label ``?label``. A comment
``# columns: {…}`` has names and types; other readers skip it.
"""

import json
import math
import re
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats import encodings
from cocomplete.formats.guarded import MAX_CELLS, MAX_COLUMNS, one_sentence
from cocomplete.formats.npz import TYPES
from cocomplete.formats.table_file import ReadOptions, TableFile

NAME = "LIBSVM"
ENDINGS = (".libsvm", ".svmlight", ".svm", ".xmlc")
SIZES = re.compile(r"(\d+)\s+(\d+)\s+(\d+)")
COLUMNS = "# columns: "


class _Rows(NamedTuple):
    """Sparse rows: of each its labels, with True where they are unknown, and its features by index."""

    labels: list[dict[str, bool]]
    features: list[dict[int, float]]


def looks_like_sizes(content: bytes) -> bool:
    """Tell whether a text file begins as the extreme classification repository's do."""
    first, _, second = content[:4096].partition(b"\n")
    if not re.fullmatch(rb"\d+\s+\d+\s+\d+\s*", first):
        return False
    return re.match(rb"(?:\??\d+(?:,\??\d+)*)?(?:\s+\d+:\S+)+\s*(?:\n|$)", second) is not None


def read(content: bytes, source: str, options: ReadOptions) -> TableFile:
    """Read a LIBSVM file as a dense table, features first.

    Raises
    ------
    InputError
        With the line at which it is damaged, or if it has more cells than memory should be asked for.
    """
    text = encodings.decode(content, source, options.encoding).text
    sizes, described, rows = _parse(text, source)
    first = 0 if sizes or any(0 in row for row in rows.features) else 1
    highest = max((max(row, default=first - 1) for row in rows.features), default=first - 1)
    given = described.get("features", [])
    width = sizes[1] if sizes else max(highest - first + 1, len(given))
    labels = _labels(rows, sizes, described)
    _check_sizes(sizes, rows, width, highest, source)
    names = given if len(given) == width else [f"feature {j + first}" for j in range(width)]
    label_names = described.get("labels", [])
    if len(label_names) != len(labels):
        label_names = ["label"] if isinstance(labels, PlusMinus) else [f"label {value}" for value in labels]
    X = np.zeros((len(rows.features), width))
    Y = np.zeros((len(rows.labels), len(labels)))
    position = {label: j for j, label in enumerate(labels)}
    for i, (row, own) in enumerate(zip(rows.features, rows.labels, strict=True)):
        X[i, [index - first for index in row]] = list(row.values())
        for label, unknown in own.items():
            if label in position:
                Y[i, position[label]] = math.nan if unknown else 1.0
    types = described.get("types", {})
    columns = [_typed(pl.Series(name, X[:, j]), types.get(name)) for j, name in enumerate(names)]
    columns += [
        _typed(pl.Series(name, Y[:, j]), types.get(name, "Int64")) for j, name in enumerate(label_names)
    ]
    with one_sentence(f"{source} cannot be read as {NAME}", "every column needs a name of its own"):
        frame = pl.DataFrame(columns)
    order = described.get("order")
    if order is not None and sorted(order) == sorted(frame.columns):
        frame = frame.select(order)
    return TableFile(frame, source, labels=tuple(label_names) or None, relation="sizes" if sizes else None)


def encode(done: pl.DataFrame, table: TableFile, target: str) -> list[tuple[str, bytes]]:
    """Write as LIBSVM text; with the line of sizes if the file that was read had it or the ending is .xmlc.

    Raises
    ------
    InputError
        If a column holds something else than numbers and truth values.
    """
    for name in done.columns:
        if not (done[name].dtype.is_numeric() or done[name].dtype in (pl.Boolean, pl.Null)):
            what = f"column {name!r} holds {done[name].dtype}"
            msg = f"{target}: {what}, but {NAME} has numbers alone; write CSV or Parquet"
            raise InputError(msg)
    labels = [name for name in table.labels or () if name in done.columns]
    features = [name for name in done.columns if name not in set(labels)]
    sized = target.lower().endswith(".xmlc") or table.relation == "sizes"
    lines = [f"{done.height} {len(features)} {len(labels)}"] if sized else []
    first = 0 if sized else 1
    numbers = _usual_numbers(done, features, labels, first)
    if numbers is None:
        numbers = list(range(first, first + len(features))), list(range(len(labels)))
        types = {name: str(done[name].dtype) for name in done.columns}
        described = {"features": features, "labels": labels, "types": types, "order": done.columns}
        lines.append(COLUMNS + json.dumps(described, ensure_ascii=True))
    X = [
        done[name].cast(pl.Float64 if done[name].dtype != pl.Null else pl.Null).to_list() for name in features
    ]
    Y = [done[name].cast(pl.Float64).to_list() for name in labels]
    for i in range(done.height):
        own = [
            ("?" if y[i] is None else "") + str(j)
            for j, y in zip(numbers[1], Y, strict=True)
            if y[i] is None or y[i] > 0.5
        ]
        cells = [
            f"{j}:{_number(x[i])}" for j, x in zip(numbers[0], X, strict=True) if x[i] is None or x[i] != 0
        ]
        if X and (i == 0 or not cells) and not any(cell.startswith(f"{numbers[0][-1]}:") for cell in cells):
            # The last feature is named once, so that the width is known, and no row is a blank line.
            cells.append(f"{numbers[0][-1]}:{_number(X[-1][i])}")
        lines.append(" ".join([",".join(own), *cells]))
    return [(target, ("\n".join(lines) + "\n").encode())]


def _usual_numbers(
    done: pl.DataFrame, features: list[str], labels: list[str], first: int
) -> tuple[list[int], list[int]] | None:
    """Give the numbers in names such as this reader gives; None if others, or types, need a comment."""
    if done.columns != features + labels:
        return None
    found = [re.fullmatch(r"feature (\d+)", name) for name in features]
    own = [re.fullmatch(r"label (\d+)", name) for name in labels]
    numbers = [int(match[1]) for match in found if match]
    label_numbers = [int(match[1]) for match in own if match]
    inferred = all(
        _typed(done[name].cast(pl.Float64), None).dtype == done[name].dtype for name in done.columns
    )
    seen = all((done[name].is_null() | (done[name] > 0)).any() for name in labels)
    if not (inferred and seen and len(label_numbers) == len(labels)):
        return None
    if numbers != list(range(first, first + len(features))):
        return None
    # With sizes, labels count from 0; without, 0 and 1 alone would pass for no and yes.
    fits = label_numbers == list(range(len(labels))) if first == 0 else not set(label_numbers) <= {0, 1}
    return (numbers, label_numbers) if fits else None


def _parse(text: str, source: str) -> tuple[tuple[int, int, int] | None, dict[str, Any], _Rows]:
    sizes: tuple[int, int, int] | None = None
    described: dict[str, Any] = {}
    rows = _Rows([], [])
    for number, line in enumerate(text.splitlines(), start=1):
        if line.startswith(COLUMNS):
            described = _described(line.removeprefix(COLUMNS), source, number)
            continue
        row = line.partition("#")[0].rstrip()
        header = SIZES.fullmatch(row) if number == 1 else None
        if header:
            sizes = (int(header[1][:18]), int(header[2][:18]), int(header[3][:18]))
            continue
        # A row of no labels begins with a blank; one without anything is a blank line unless sizes count it.
        if not row.strip() and (sizes is None or not line.startswith(" ")):
            continue
        labels, features = _row(row, source, number)
        rows.labels.append(labels)
        rows.features.append(features)
    if not rows.labels:
        msg = f"{source} holds no row; a {NAME} row is labels, then index:value pairs"
        raise InputError(msg)
    return sizes, described, rows


def _row(row: str, source: str, number: int) -> tuple[dict[str, bool], dict[int, float]]:
    words = row.split()
    labelled = bool(words) and not row[0].isspace() and ":" not in words[0]
    first, pairs = (words[0], words[1:]) if labelled else ("", words)
    labels: dict[str, bool] = {}
    for label in filter(None, first.split(",")):
        name = label.removeprefix("?")
        if not re.fullmatch(r"[+-]?\d{1,15}(?:\.0{1,9})?", name):
            where = f"{source}, line {number}, column 1"
            msg = f"{where}: {label!r} is no label; labels are whole numbers between commas"
            raise InputError(msg)
        labels[str(int(float(name)))] = label.startswith("?")
    features: dict[int, float] = {}
    for column, pair in enumerate(pairs, start=2):
        index, colon, value = pair.partition(":")
        if index == "qid":
            continue
        if not colon or not re.fullmatch(r"\d{1,18}", index) or not _is_float(value):
            msg = f"{source}, line {number}, column {column}: {pair!r} is no pair index:value of two numbers"
            raise InputError(msg)
        if int(index) in features:
            msg = f"{source}, line {number}, column {column}: index {index} occurs twice in the row"
            raise InputError(msg)
        features[int(index)] = float(value)
    return labels, features


def _described(text: str, source: str, number: int) -> dict[str, Any]:
    try:
        found = json.loads(text)
        lists = [found.get(key, []) for key in ("features", "labels", "order")]
        good = all(isinstance(part, list) and all(isinstance(name, str) for name in part) for part in lists)
        good = good and isinstance(found.get("types", {}), dict)
    except (ValueError, AttributeError, RecursionError):
        good, found = False, {}
    if not good:
        msg = f"{source}, line {number}: the comment with names of columns is damaged; take the line out"
        raise InputError(msg)
    return dict(found)


class PlusMinus(list[str]):
    """The one label of a file that has +1 or -1, or 1 or 0, on every row."""


def _labels(rows: _Rows, sizes: tuple[int, int, int] | None, described: dict[str, Any]) -> list[str]:
    """Give the numbers of the label columns, as text."""
    values = sorted({label for row in rows.labels for label in row}, key=int)
    count = sizes[2] if sizes else len(described.get("labels", []))
    if sizes or described:
        beyond = values and (int(values[-1]) >= count or int(values[0]) < 0)
        # Sizes that do not fit are refused with a sentence; names are only a comment.
        return values if beyond and not sizes else list(map(str, range(min(count, MAX_COLUMNS))))
    if all(len(row) == 1 for row in rows.labels) and set(values) <= {"-1", "1", "0"}:
        return PlusMinus(["1"])
    return values


def _check_sizes(
    sizes: tuple[int, int, int] | None, rows: _Rows, width: int, highest: int, source: str
) -> None:
    """Compare the line of sizes with what follows, and all of it with what memory may hold."""
    labels = {label for row in rows.labels for label in row}
    count = len(labels) if sizes is None else sizes[2]
    height = len(rows.labels)
    if width + count > MAX_COLUMNS or height * (width + count) > MAX_CELLS:
        msg = f"{source} would be a table of {height} × {width + count} cells, too many to complete"
        raise InputError(msg)
    if sizes is None:
        return
    if sizes[0] != height:
        msg = f"{source}, line 1: it says {sizes[0]} rows, but {height} follow; is the file whole?"
        raise InputError(msg)
    if highest >= width:
        msg = f"{source}, line 1: it says {width} features, but one has the index {highest} (they begin at 0)"
        raise InputError(msg)
    beyond = [label for label in labels if not 0 <= int(label) < count]
    if beyond:
        msg = f"{source}, line 1: it says {count} labels, but one is {min(beyond)} (they begin at 0)"
        raise InputError(msg)


def _typed(column: pl.Series, kind: str | None) -> pl.Series:
    """Give a column the type it had; without one, whole numbers if it holds no others."""
    known = column.fill_nan(None)
    dtype = TYPES.get(kind) if isinstance(kind, str) else None
    whole = bool(((known == known.round()) & (known.abs() < 2**53)).fill_null(value=True).all())
    if dtype is None:
        return known.cast(pl.Int64) if whole else known
    return known.cast(dtype, strict=False) if dtype.is_float() or whole else known


def _is_float(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def _number(value: float | None) -> str:
    if value is None:
        return "nan"
    return repr(int(value)) if float(value).is_integer() and abs(value) < 2**53 else repr(value)
