"""All numbers of a report, and their text as JSON."""

from dataclasses import dataclass, fields, is_dataclass
from json import dumps
from math import isfinite
from typing import Any

from cocomplete.report.record.cells import FilledCells
from cocomplete.report.record.columns import ColumnReport
from cocomplete.report.record.given import Given
from cocomplete.report.record.labels import LabelReport
from cocomplete.report.record.model import Done, Found, Limits
from cocomplete.report.record.verdict import Verdict

SCHEMA = 1
"""Raised whenever a field changes its meaning or goes away."""


@dataclass(frozen=True)
class ReportRecord:
    """All numbers of a report, in the order in which it tells them.

    Attributes
    ----------
    schema : int
    title : str
        What the table is called.
    rows_looked_at : int
        Distributions, rates after completion, tipping points and filled cells are those of so many rows,
        spread evenly over the table; of all rows if it has no more.
    verdict : Verdict
    given : Given
    columns : tuple of ColumnReport
        One for every feature.
    labels : tuple of LabelReport
    found : Found
    done : Done
    limits : Limits
    filled : FilledCells
    """

    schema: int
    title: str
    rows_looked_at: int
    verdict: Verdict
    given: Given
    columns: tuple[ColumnReport, ...]
    labels: tuple[LabelReport, ...]
    found: Found
    done: Done
    limits: Limits
    filled: FilledCells


def as_json(record: ReportRecord) -> str:
    """Give a record as JSON in ASCII: keys sorted, numbers finite or null, the same text for the same."""
    return dumps(_plain(record), sort_keys=True, allow_nan=False, separators=(",", ":"))


def _plain(thing: Any) -> Any:
    """Turn records into dicts, tuples into lists, and what is no finite number into None."""
    if is_dataclass(thing) and not isinstance(thing, type):
        return {field.name: _plain(getattr(thing, field.name)) for field in fields(thing)}
    if isinstance(thing, tuple):
        return [_plain(one) for one in thing]
    if isinstance(thing, float):
        return thing if isfinite(thing) else None
    return thing
