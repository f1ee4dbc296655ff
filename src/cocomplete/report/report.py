"""A report as the user has it: its record, as JSON, as a page, in a file, in a notebook."""

from dataclasses import dataclass
from html import escape
from os import PathLike

from cocomplete.atomic import write_atomically
from cocomplete.parameter_checks import as_path
from cocomplete.report.record import ReportRecord, as_json

FRAME_HEIGHT = 800
"""Pixels that a notebook shows of a report."""


@dataclass(frozen=True, repr=False)
class Report:
    """What :meth:`cocomplete.CoCompleter.report` gives; a notebook shows it.

    Attributes
    ----------
    record : ReportRecord
        All its numbers.
    """

    record: ReportRecord

    def __repr__(self) -> str:
        given, filled = self.record.given, self.record.filled
        return f"Report({self.record.title!r}: {given.rows} rows, {filled.total} filled cells)"

    def to_json(self) -> str:
        """Give the numbers as JSON: the same text for the same report."""
        return as_json(self.record)

    def to_html(self) -> str:
        """Give the report as one self-contained page: the same text for the same report."""
        from cocomplete.report.html import render

        return render(self.record)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the page to a file, or the numbers if its name ends in ``.json``; whole or not at all.

        Parameters
        ----------
        path : path
            Replaced if it exists.
        """
        target = as_path("path", path)
        text = self.to_json() if target.suffix.lower() == ".json" else self.to_html()
        write_atomically(target, text.encode())

    def _repr_html_(self) -> str:
        """Show the page inside a notebook, apart from the notebook's own scripts and styles."""
        page = escape(self.to_html())
        return (
            f'<iframe srcdoc="{page}" title="Report" sandbox="allow-scripts allow-downloads" '
            f'style="width:100%;height:{FRAME_HEIGHT}px;border:0"></iframe>'
        )
