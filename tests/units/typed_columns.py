"""Columns of words and of dates, as tests of column kinds need them."""

from typing import Any

import numpy as np

from cocomplete.table.containers import DateColumn, TextColumn

DAY = 86_400_000_000
"""Microseconds of a day."""


def words(*values: Any) -> TextColumn:
    """Make a column of words."""
    return TextColumn(np.array(values, object))


def dates(*values: str) -> DateColumn:
    """Make a column of dates."""
    return DateColumn(np.array(values, "datetime64[us]"))
