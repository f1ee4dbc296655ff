"""Kinds of columns, one a file."""

from cocomplete.table.kinds.category import Category
from cocomplete.table.kinds.count import Count
from cocomplete.table.kinds.date import Date
from cocomplete.table.kinds.kind import Column, Kind, Posterior, level_text
from cocomplete.table.kinds.number import Number
from cocomplete.table.kinds.ordinal import Ordinal
from cocomplete.table.kinds.tags import Tags
from cocomplete.table.kinds.unix_time import UnixTime
from cocomplete.table.kinds.yes_no import YesNo

__all__ = [
    "Category",
    "Column",
    "Count",
    "Date",
    "Kind",
    "Number",
    "Ordinal",
    "Posterior",
    "Tags",
    "UnixTime",
    "YesNo",
    "level_text",
]
