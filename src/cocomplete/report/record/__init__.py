"""The numbers of a report, as a typed record: collected first, rendered afterwards.

Everything here is plain text and numbers. Names and values are the user's own, unescaped: whoever renders
them escapes them. Positions of columns count from 0 in ``ReportRecord.given.columns``, features first.
"""

from cocomplete.report.record.cells import FilledCell, FilledCells, Pull, Why
from cocomplete.report.record.columns import ColumnReport, Distribution, HeldOutCells, Point, Tick
from cocomplete.report.record.given import Given, GivenColumn, HolesMap, NeverTogether
from cocomplete.report.record.labels import HeldOutLabel, LabelReport, ReliabilityBin
from cocomplete.report.record.model import (
    CertificateReport,
    CoOccurrence,
    Done,
    Factor,
    Found,
    Limits,
    Loading,
    MemberWeights,
    Near,
    Neighbours,
    Setting,
    TippingPoint,
)
from cocomplete.report.record.verdict import Compared, Judged, Verdict
from cocomplete.report.record.whole import SCHEMA, ReportRecord, as_json

__all__ = [
    "SCHEMA",
    "CertificateReport",
    "CoOccurrence",
    "ColumnReport",
    "Compared",
    "Distribution",
    "Done",
    "Factor",
    "FilledCell",
    "FilledCells",
    "Found",
    "Given",
    "GivenColumn",
    "HeldOutCells",
    "HeldOutLabel",
    "HolesMap",
    "Judged",
    "LabelReport",
    "Limits",
    "Loading",
    "MemberWeights",
    "Near",
    "Neighbours",
    "NeverTogether",
    "Point",
    "Pull",
    "ReliabilityBin",
    "ReportRecord",
    "Setting",
    "Tick",
    "TippingPoint",
    "Verdict",
    "Why",
    "as_json",
]
