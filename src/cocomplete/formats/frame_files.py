"""Parquet and Arrow files that are one table together, of which some rows at a time are read."""

import os
from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import accumulate, pairwise
from pathlib import Path
from threading import Lock
from typing import Any

import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats import feather, parquet
from cocomplete.formats.calendar_bounds import check_dates
from cocomplete.formats.guarded import one_sentence, quiet_panics
from cocomplete.formats.unknown_words import without_words
from cocomplete.frozen import FieldsAlone

WINDOW_BYTES = 64 * 2**20
"""Of decoded rows that are kept. A page of a file holds more rows than a block of a wide table and is
unpacked as a whole: of 600 columns, windows of so many bytes are decoded three times as fast as blocks."""

GROUP_BYTES, MOST_GROUPS = 16 * 2**20, 32
"""Of a file whose columns are read at the same time, and into how many groups of columns it is cut."""

SAMPLE_ROWS = 1024
"""Whose size in memory shows that of a row; their cells are null."""

SCANS: dict[str, Callable[..., pl.LazyFrame]] = {parquet.NAME: pl.scan_parquet, feather.NAME: pl.scan_ipc}
ENDINGS: dict[str, str] = {ending: form.NAME for form in (parquet, feather) for ending in form.ENDINGS}


class _Kept:
    """Rows that were decoded last, and the file they are from, for one thread at a time; pickled, none.

    A scan knows the file's layout, which takes a while to read where there are many columns.
    """

    def __init__(self) -> None:
        self.lock = Lock()
        self.first = 0
        self.frame: pl.DataFrame | None = None
        self.file: Path | None = None
        self.scan = pl.LazyFrame()

    def __reduce__(self) -> tuple[Any, ...]:
        return _Kept, ()


@dataclass(frozen=True)
class FrameFiles(FieldsAlone):
    """Rows of several files, one after the other.

    Rows that were decoded are kept until others are asked for, so that blocks which lie in the same page of a
    file share the work. Pickled, it is the names of the files and what their columns are.

    Attributes
    ----------
    source : str
        The folder or file, as the user calls it.
    kind : str
        What the files are, a key of ``SCANS``.
    files : tuple of Path
        In the order of their rows.
    ends : tuple of int
        Rows up to the end of each file.
    schema : polars.Schema
        The columns that are read.
    missing : tuple of str
        Words and numbers for unknown, beside null and NaN.
    """

    source: str
    kind: str
    files: tuple[Path, ...]
    ends: tuple[int, ...]
    schema: pl.Schema
    missing: tuple[str, ...] = ()
    _kept: _Kept = field(default_factory=_Kept, repr=False, compare=False)

    @classmethod
    def of(cls, source: str, files: Sequence[Path], missing: Iterable[str] = ()) -> "FrameFiles":
        """Look at the columns and sizes of files, not at their cells.

        Raises
        ------
        InputError
            If a file cannot be read, or does not have the columns of the first.
        """
        kind = ENDINGS[files[0].suffix.lower()]
        looked = [_look(kind, file) for file in files]
        schema = _common_schema([(file.name, found) for file, (found, _) in zip(files, looked, strict=True)])
        ends = tuple(accumulate(height for _, height in looked))
        if not schema or not ends[-1]:
            msg = f"{source} has {len(schema)} column(s) and {ends[-1]} row(s); a table needs some of each"
            raise InputError(msg)
        paths = tuple(file.absolute() for file in files)
        return cls(source, kind, paths, ends, schema, tuple(missing))

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return list(self.schema)

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels, as far as the files say which they are: none."""
        return ()

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.ends[-1]

    def only(self, names: Sequence[str]) -> "FrameFiles":
        """Give the same rows with some columns."""
        return replace(self, schema=pl.Schema({name: self.schema[name] for name in names}), _kept=_Kept())

    def read(self, first: int, last: int) -> pl.DataFrame:
        """Give some consecutive rows.

        Raises
        ------
        InputError
            If a file is damaged, or was changed since it was looked at.
        """
        kept = self._kept
        with kept.lock:
            if kept.frame is None or first < kept.first or last > kept.first + kept.frame.height:
                # Given up first: two windows would take twice the memory.
                kept.frame = None
                kept.first, kept.frame = first, self._decode(first, self._window_end(first, last))
            rows = _copied(kept.frame.slice(first - kept.first, last - first))
            if last == self.height:
                # A pass ends here; what follows it may need the room.
                kept.frame = None
            return rows

    def _window_end(self, first: int, last: int) -> int:
        """Give where a window ends that has room for as many blocks like these rows as a window may hold."""
        # Blocks of a table may differ by a row.
        size = last - first + 1
        return max(last, min(self.height, first + self._window_rows // size * size))

    @cached_property
    def _window_rows(self) -> int:
        """Rows that a window has room for."""
        sample = pl.DataFrame(schema=self.schema).clear(SAMPLE_ROWS)
        return int(WINDOW_BYTES * SAMPLE_ROWS // max(sample.estimated_size(), 1))

    def _decode(self, first: int, last: int) -> pl.DataFrame:
        parts = []
        for index in range(bisect_right(self.ends, first), len(self.files)):
            start, end = self.ends[index - 1] if index else 0, self.ends[index]
            if start >= last:
                break
            low, high = max(first, start) - start, min(last, end) - start
            parts.append(self._decode_file(self.files[index], low, high))
        return pl.concat(parts) if parts else pl.DataFrame(schema=self.schema)

    def _called(self, file: Path) -> str:
        """Give the name of a file for messages."""
        place = Path(self.source)
        return self.source if place.name == file.name else str(place / file.name)

    def _decode_file(self, file: Path, first: int, last: int) -> pl.DataFrame:
        name = self._called(file)
        with one_sentence(f"{name} cannot be read as {self.kind}"):
            if self._kept.file != file:
                self._kept.scan, self._kept.file = _scan(self.kind, file), file
            scan = self._kept.scan.slice(first, last - first)
            parts = [scan.select(some).collect(engine="streaming") for some in _groups(self.names, file)]
            frame = pl.concat(parts, how="horizontal")
        if frame.height != last - first:
            msg = f"{name} has fewer rows than when it was opened; open it again"
            raise InputError(msg)
        with one_sentence(f"{name} was changed since it was opened", "open it again"):
            frame = frame.cast(self.schema)
        check_dates(frame, name)
        return without_words(frame, self.missing) if self.missing else frame


def _groups(names: list[str], file: Path) -> list[list[str]]:
    """Cut columns into groups, of which one is read at a time.

    A reader may take all bytes of these columns' row group at once, however few of its rows are asked for.
    """
    count = min(-(-file.stat().st_size // GROUP_BYTES), MOST_GROUPS, len(names))
    cuts = [len(names) * k // max(count, 1) for k in range(max(count, 1) + 1)]
    return [names[first:last] for first, last in pairwise(cuts)]


def _copied(rows: pl.DataFrame) -> pl.DataFrame:
    """Give rows that do not hold on to the window they are from, which would live as long as they do."""
    half = rows.height // 2
    # Two pieces become one only by copying.
    return pl.concat((rows[:half], rows[half:]), rechunk=True)


def _scan(kind: str, file: Path) -> pl.LazyFrame:
    options: dict[str, Any] = {"glob": False} if kind == parquet.NAME else {}
    return SCANS[kind](os.fspath(file), **options)


def _look(kind: str, file: Path) -> tuple[pl.Schema, int]:
    """Give the columns of a file and the number of its rows."""
    with one_sentence(f"{file} cannot be read as {kind}"), quiet_panics():
        if kind == feather.NAME and not _begins_with(file, feather.FILE_MAGIC):
            msg = (
                f"{file} is no Arrow file; a stream of Arrow's is read as a whole only, write Parquet instead"
            )
            raise InputError(msg)
        scan = _scan(kind, file)
        return scan.collect_schema(), int(scan.select(pl.len()).collect().item())


def _begins_with(file: Path, magic: bytes) -> bool:
    with file.open("rb") as stream:
        return stream.read(len(magic)) == magic


def _common_schema(found: list[tuple[str, pl.Schema]]) -> pl.Schema:
    """Give types that hold the columns of all files: a column of whole numbers may have holes in one of them.

    Raises
    ------
    InputError
        If files have different columns, or a column holds different things.
    """
    (first, schema), *others = found
    schema = pl.Schema(schema)
    for name, own in others:
        if own.keys() != schema.keys():
            more, less = (sorted(a.keys() - b.keys()) for a, b in ((own, schema), (schema, own)))
            what = f"a column {more[0]!r} that" if more else f"no column {less[0]!r}, which"
            has = "does not have" if more else "has"
            msg = f"{name} has {what} {first} {has}; files of one table need the same columns"
            raise InputError(msg)
        for column, dtype in own.items():
            common = _common_type(schema[column], dtype)
            if common is None:
                msg = (
                    f"column {column!r} holds {dtype} in {name} and {schema[column]} in {first}; files of "
                    "one table need the same columns"
                )
                raise InputError(msg)
            schema[column] = common
    return schema


def _common_type(one: pl.DataType, other: pl.DataType) -> pl.DataType | None:
    """Give a type that holds what both hold; None if they are different things."""
    if one == other:
        return one
    if pl.Null not in (one, other) and not (one.is_numeric() and other.is_numeric()):
        return None
    both = [pl.DataFrame(schema={"both": dtype}) for dtype in (one, other)]
    return pl.concat(both, how="vertical_relaxed").schema["both"]
