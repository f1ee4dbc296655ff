"""Values in a report as the file writes them: 1.852,77 €, 03.04.2024, ja."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.formats.table_file import ColumnStyle, TableFile


def value_texts(read: "TableFile") -> dict[str, Callable[[Any], str]]:
    """Give, for every column of a delimited file that has a style of its own, how it writes a value."""
    from cocomplete.formats.text_style import TextStyle

    return {
        name: partial(_text, style, read.frame[name].dtype)
        for name, style in read.styles.items()
        if name in read.frame.columns and not isinstance(style, TextStyle)
    }


def _text(style: "ColumnStyle", dtype: "pl.DataType", value: Any) -> str:
    """Write one value: a number, 0 or 1 of a column of truth values, a word or a date."""
    import numpy as np
    import polars as pl

    if isinstance(value, np.datetime64):
        if not np.datetime64("0001-01-01") <= value <= np.datetime64("9999-12-31"):
            # Beyond the calendar of dates that can be written.
            return str(value.astype("datetime64[D]"))
        column = pl.Series([value.astype("datetime64[us]").item()], dtype=pl.Datetime("us")).cast(dtype)
    elif isinstance(value, str):
        return value
    elif dtype == pl.Boolean:
        column = pl.Series([value > 0.5])
    else:
        column = pl.Series([int(value) if dtype.is_integer() and float(value).is_integer() else value])
    return style.write(column)[0].strip()
