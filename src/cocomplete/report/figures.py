"""From the record to figures: a drawing, what stands under it, and its numbers as CSV has them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import isfinite

from cocomplete.report.record import (
    ColumnReport,
    Distribution,
    Found,
    HeldOutCells,
    HeldOutLabel,
    LabelReport,
    ReportRecord,
)
from cocomplete.report.svg.bars import label_states, loadings
from cocomplete.report.svg.distribution import observed_against_filled, wider_steps
from cocomplete.report.svg.frame import Drawing
from cocomplete.report.svg.heat_map import heat_map, strongest
from cocomplete.report.svg.held_out import truth_against_fill
from cocomplete.report.svg.hole_map import hole_map
from cocomplete.report.svg.reliability import reliability
from cocomplete.report.words import COMPARED, count, counted, error_parts, error_text, percent

Value = str | int | float | None

POINTS_OF_PAGE = 14_000
"""Held-out cells drawn in all charts together: they, not columns, make a page large."""
POINTS_OF_CHART = 150
"""More in one chart hide each other."""

HEADINGS = {
    "bins": ("from", "to", "observed cells", "filled cells"),
    "levels": ("value", "observed cells", "filled cells"),
    "points": ("truth", "fill", "90 % interval from", "to"),
    "confusion": ("truth", "fill", "cells"),
    "reliability": ("probability from", "to", "mean probability", "share of ones", "cells"),
    "states": ("state", "cells"),
    "holes": ("columns", "group of rows", "rows in it", "per cent missing"),
    "loadings": ("factor", "column", "loading"),
    "together": ("label", "other label", "share before", "share after"),
}
"""Headings of the numbers behind figures, by their kind; once in the page, not once per figure."""


@dataclass(frozen=True)
class Figure:
    """A drawing with its numbers.

    Attributes
    ----------
    key : str
        Unique on the page.
    title : str
        What it is, in a few words; also the name of the file of numbers.
    caption : str
        What to see in it.
    drawing : Drawing
    kind : str
        Key of `HEADINGS`.
    numbers : tuple of sequences
        Columns of the file of numbers.
    """

    key: str
    title: str
    caption: str
    drawing: Drawing
    kind: str
    numbers: tuple[Sequence[Value], ...]


def column_figures(record: ReportRecord, column: ColumnReport) -> list[Figure]:
    """Give the figures of a feature: its distributions, its held-out cells and those of new rows."""
    name = record.given.columns[column.column].name
    figures = [_distribution(f"d{column.column}", name, column.distribution)]
    drawn = points_per_chart(record)
    both = (("h", "Held-out cells", column.held_out), ("n", "Cells of new rows", column.new_rows))
    for letter, title, cells in both:
        if cells is not None and (cells.points or cells.confusion):
            figures.append(
                _held_out(f"{letter}{column.column}", title, name, cells, column.distribution, drawn)
            )
    return figures


def points_per_chart(record: ReportRecord) -> int:
    """Share the points of the page out among its charts."""
    charts = sum(
        cells is not None and bool(cells.points)
        for column in record.columns
        for cells in (column.held_out, column.new_rows)
    )
    return min(POINTS_OF_CHART, POINTS_OF_PAGE // max(charts, 1))


def _distribution(key: str, name: str, distribution: Distribution) -> Figure:
    drawing = observed_against_filled(name, distribution)
    numbers: tuple[Sequence[Value], ...] = (distribution.observed, distribution.filled)
    if distribution.levels:
        caption = "Plain bars: observed. Hatched bars: filled. Shares of each."
        return Figure(
            key, "Observed against filled", caption, drawing, "levels", (distribution.levels, *numbers)
        )
    few = len(wider_steps(distribution.edges, distribution.filled)[1]) < len(distribution.filled)
    outline = "filled, in wider steps as they are few" if few else "filled"
    caption = f"Bars: observed. Outline: {outline}. Each has the same area."
    ends = (_rounded(distribution.edges[:-1]), _rounded(distribution.edges[1:]))
    return Figure(key, "Observed against filled", caption, drawing, "bins", (*ends, *numbers))


def _held_out(key: str, title: str, name: str, cells: HeldOutCells, axis: Distribution, drawn: int) -> Figure:
    sign, words = COMPARED[cells.compared]
    caption = (
        f"{sign} {words.capitalize()} the trivial answer: {error_text(cells.measure, cells.error)}, the "
        f"trivial answer {error_parts(cells.measure, cells.trivial)[0]}, in {counted(cells.cells, 'cell')}."
    )
    if cells.inside is not None:
        caption += f" {percent(cells.inside)} of the truths lie inside the 90\u00a0% interval."
    if not cells.points:
        return _confusion(key, title, caption, name, cells)
    many = min(drawn, len(cells.points))
    # Every so many, so that the same record gives the same page.
    points = [cells.points[place * len(cells.points) // many] for place in range(many)]
    if len(points) < cells.cells:
        caption += f" Drawn: {len(points)}."
    numbers = tuple(
        _rounded(values)
        for values in zip(
            *((point.truth, point.fill, point.low, point.high) for point in points), strict=True
        )
    )
    return Figure(key, title, caption, truth_against_fill(name, points, axis.ticks), "points", numbers)


def _confusion(key: str, title: str, caption: str, name: str, cells: HeldOutCells) -> Figure:
    right = sum(row[place] for place, row in enumerate(cells.confusion))
    total = sum(map(sum, cells.confusion))
    alternative = (
        f"Truth against fill of {total} held-out cells of {name}: {right} were filled with their true value."
    )
    drawing = heat_map(alternative, cells.levels, cells.confusion, percent=False, corner="truth ↓ fill →")
    numbers: tuple[list[Value], ...] = ([], [], [])
    for truth, row in zip(cells.levels, cells.confusion, strict=True):
        for fill, many in zip(cells.levels, row, strict=True):
            numbers[0].append(truth)
            numbers[1].append(fill)
            numbers[2].append(many)
    return Figure(key, title, caption, drawing, "confusion", numbers)


def label_figures(place: int, label: LabelReport) -> list[Figure]:
    """Give the figures of a label: its states and its reliability curves."""
    numbers = (
        ("known 1", "filled 1", "filled 0", "known 0"),
        (label.ones, label.filled_ones, label.unknown - label.filled_ones, label.zeros),
    )
    caption = (
        f"Known: {counted(label.ones, 'one')} and {counted(label.zeros, 'zero')}. Filled with 1: "
        f"{count(label.filled_ones)} of {counted(label.unknown, 'unknown cell')}."
    )
    figures = [Figure(f"s{place}", "Before and after", caption, label_states(label), "states", numbers)]
    for letter, title, held in (
        ("r", "Held-out cells", label.held_out),
        ("q", "Rows without known labels", label.new_rows),
    ):
        if held is not None and held.reliability:
            figures.append(_reliability(f"{letter}{place}", title, label.name, held))
    return figures


def _reliability(key: str, title: str, name: str, held: HeldOutLabel) -> Figure:
    sign, words = COMPARED[held.compared]
    caption = (
        f"{sign} Probabilities {words} the trivial answer. {percent(held.wrong).capitalize()} wrong, "
        f"the trivial answer {percent(held.trivial_wrong)}, in {counted(held.cells, 'cell')}."
    )
    if held.average_precision is not None:
        caption += f" Average precision {held.average_precision:.2f}"
        if held.trivial_average_precision is not None:
            caption += f" (by chance {held.trivial_average_precision:.2f})"
        caption += "."
    rows = [(one.low, one.high, one.predicted, one.rate, one.cells) for one in held.reliability]
    numbers = tuple(_rounded(values) for values in zip(*rows, strict=True))
    return Figure(key, title, caption, reliability(name, held.reliability), "reliability", numbers)


def holes_figure(record: ReportRecord) -> Figure:
    """Give the map of the holes."""
    holes = record.given.holes
    numbers: tuple[list[Value], ...] = ([], [], [], [])
    for place, columns in enumerate(holes.columns):
        names = " + ".join(record.given.columns[one].name for one in columns)
        numbers[0].extend([names] * len(holes.rows))
        numbers[1].extend(range(1, len(holes.rows) + 1))
        numbers[2].extend(holes.rows)
        numbers[3].extend(missing[place] for missing in holes.missing)
    alone = all(len(columns) < 2 for columns in holes.columns)
    one = "column" if alone else "column or a group of columns alike"
    caption = (
        f"Each line is a {one}. Left to right: the rows of the table, those with alike holes together. "
        "The stronger the colour, the more is missing."
    )
    return Figure("holes", "Map of the holes", caption, hole_map(holes), "holes", numbers)


def factor_figures(found: Found) -> list[Figure]:
    """Give the loadings of the leading factors."""
    figures = []
    for place, factor in enumerate(found.factors, 1):
        title = f"Factor {place}"
        numbers = (
            [place] * len(factor.loadings),
            [one.name for one in factor.loadings],
            _rounded([one.loading for one in factor.loadings]),
        )
        caption = f"{percent(factor.share).capitalize()} of the sum of squared singular values."
        figures.append(Figure(f"f{place}", title, caption, loadings(title, factor), "loadings", numbers))
    return figures


def together_figures(found: Found) -> list[Figure]:
    """Give how often labels are 1 together, before and after."""
    together = found.together
    if together is None:
        return []
    numbers: tuple[list[Value], ...] = ([], [], [], [])
    for one, (before, after) in enumerate(zip(together.before, together.after, strict=True)):
        numbers[0].extend([together.labels[one]] * len(after))
        numbers[1].extend(together.labels)
        numbers[2].extend(None if value is None else _shortest(value) for value in before)
        numbers[3].extend(_rounded(after))
    figures = []
    both = (
        (
            "before",
            "Together before",
            together.before,
            "Per cent of the rows in which both are known; hatched: none.",
        ),
        ("after", "Together after", together.after, "Per cent of all rows, completed."),
    )
    for key, title, values, caption in both:
        said = f"{title}: {strongest(together.labels, values)}."
        drawing = heat_map(said, together.labels, values, percent=True)
        figures.append(Figure(key, title, caption, drawing, "together", numbers))
    return figures


def _rounded(values: Iterable[float]) -> list[Value]:
    """Keep four digits: more would only be bytes."""
    return [value if isinstance(value, int) else _shortest(value) for value in values]


def _shortest(value: float) -> Value:
    rounded = float(f"{value:.4g}")
    if not isfinite(rounded):
        return None
    return int(rounded) if rounded.is_integer() and abs(rounded) < 1e15 else rounded
