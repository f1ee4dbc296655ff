"""What a table file held: typed columns, how they were written, and what a reader should know about them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

STREAM = "-"
"""The path that means standard input or standard output."""


class ColumnStyle(Protocol):
    """How a column of a text file writes its values."""

    def write(self, values: pl.Series) -> list[str]:
        """Write values, none of them null, as the column would."""


@dataclass(frozen=True)
class ReadOptions:
    """What the caller knows about a file.

    Attributes
    ----------
    missing : tuple of str
        Words for unknown, beside the usual ones.
    separator, decimal, encoding : str or None
        Of delimited text; None finds them in the file.
    day_first : bool or None
        Whether 01/02/2024 is in February; None decides by the file.
    checked : str or None
        A word such as ``x`` that ticks a box: in a column that holds nothing else, empty cells mean no.
    sheet : str or None
        Of a workbook; None takes the first.
    as_text : tuple of str
        Columns that stay text whatever they hold.
    skip_lines : int
        Lines of delimited text that stand above the line of names.
    path : str
        The file, for what may lie beside it.
    """

    missing: tuple[str, ...] = ()
    separator: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    day_first: bool | None = None
    checked: str | None = None
    sheet: str | None = None
    as_text: tuple[str, ...] = ()
    skip_lines: int = 0
    path: str = STREAM


@dataclass(frozen=True)
class Layout:
    """What stood around the cells of a delimited file.

    Attributes
    ----------
    separator, encoding, line_end : str
    byte_order_mark, final_line_end : bool
    header : tuple of str
        The names as they stood, quotes and spaces included; empty where there was none.
    tokens : polars.DataFrame or None
        The cells as they stood, quotes and spaces included.
    asides : mapping of int to tuple of str
        Comment and blank lines by the row they precede; -1 is the header.
    lines : ndarray of shape (n_rows,)
        The line of the file on which each row begins, counted from 1.
    """

    separator: str = ","
    encoding: str = "utf-8"
    line_end: str = "\n"
    byte_order_mark: bool = False
    final_line_end: bool = True
    header: tuple[str, ...] = ()
    tokens: pl.DataFrame | None = None
    asides: Mapping[int, tuple[str, ...]] = field(default_factory=dict)
    lines: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))


@dataclass(frozen=True)
class TableFile:
    """A file's table.

    Attributes
    ----------
    frame : polars.DataFrame
        Typed columns: whole numbers, floats, truth values, dates, text; null is unknown.
    source : str
        The file's name for messages.
    text : polars.DataFrame or None
        The same cells as text, for delimited files: what stood between separators, without quotes.
    styles : mapping of str to ColumnStyle
        How each column of a delimited file writes its values.
    layout : Layout
    labels : tuple of str or None
        The label columns, if the format says which they are.
    notes : tuple of str
        What was decided about the file and might have been decided otherwise, a sentence each.
    relation : str or None
        The name that an ARFF file gives to its table; ``sizes`` for a LIBSVM file that begins with them.
    """

    frame: pl.DataFrame
    source: str
    text: pl.DataFrame | None = None
    styles: Mapping[str, ColumnStyle] = field(default_factory=dict)
    layout: Layout = field(default_factory=Layout)
    labels: tuple[str, ...] | None = None
    notes: tuple[str, ...] = ()
    relation: str | None = None
