"""How wrong held-out cells were, column by column, as lines of text."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cocomplete.report.record import ReportRecord

WIDEST = 40
"""Letters of a column's name that are shown."""


def quality_lines(record: "ReportRecord") -> Iterator[str]:
    """Give a line for every feature and label of which cells were held out, beside the trivial answer.

    Parameters
    ----------
    record : ReportRecord
        Whose numbers they are, as in the report.
    """
    rows: list[tuple[str, ...]] = []
    for column in record.columns:
        found = column.held_out
        if found is not None:
            given = record.given.columns[column.column]
            shares = found.measure == "share wrong"
            rows.append(
                (
                    given.name,
                    given.kind,
                    str(found.cells),
                    _error(found.error, shares=shares),
                    _error(found.trivial, shares=shares),
                    found.compared,
                )
            )
    for label in record.labels:
        for cells, what in ((label.held_out, "label"), (label.new_rows, "label alone")):
            if cells is not None:
                errors = (_error(each, shares=True) for each in (cells.wrong, cells.trivial_wrong))
                rows.append((label.name, what, str(cells.cells), *errors, cells.compared))
    if not rows:
        yield "no cells were held out: nothing can be said of single columns"
        return
    head = ("column", "kind", "held out", "error", "trivial", "")
    shown = [(_short(row[0]), *row[1:]) for row in (head, *rows)]
    widths = [max(len(row[k]) for row in shown) for k in range(len(head))]
    for name, kind, *figures, verdict in shown:
        numbers = "  ".join(text.rjust(width) for text, width in zip(figures, widths[2:-1], strict=True))
        yield f"{name.ljust(widths[0])}  {kind.ljust(widths[1])}  {numbers}  {verdict}".rstrip()


def _error(value: float, *, shares: bool) -> str:
    """Write a share wrong in per cent, a distance in standard deviations."""
    return f"{value:.1%} wrong" if shares else f"off by {value:.2f} sd"


def _short(name: str) -> str:
    return name if len(name) <= WIDEST else name[: WIDEST - 1] + "…"
