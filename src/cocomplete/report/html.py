"""From the record to one HTML file that fetches nothing: the same bytes for the same record.

Names and values are the user's. Templates escape them by default; what scripts need lies in a block of JSON
in which no character can end the block; scripts put it on the page as text, never as HTML. Should one of them
fail, the content-security policy still lets no script run but those of the report, known by their hashes.
"""

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files
from json import dumps
from typing import Any
from zlib import compress

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from cocomplete.report.figures import (
    HEADINGS,
    Figure,
    column_figures,
    factor_figures,
    holes_figure,
    label_figures,
    together_figures,
)
from cocomplete.report.page_data import cells_data, column_data, tipping_data
from cocomplete.report.record import Judged, LabelReport, ReportRecord
from cocomplete.report.svg.bars import beside_trivial, share_bar
from cocomplete.report.svg.frame import short
from cocomplete.report.svg.hole_map import NAMED
from cocomplete.report.words import (
    COMPARED,
    count,
    counted,
    error_parts,
    error_text,
    headline,
    judged_parts,
    percent,
)

STYLES = ("page.css", "parts.css", "cards.css", "charts.css", "cells.css", "print.css")
SCRIPTS = ("page.js", "figures.js", "finder.js", "tipping.js", "cells.js", "why.js", "start.js")

DRAWN = 60
"""Up to so many columns and labels are drawn in the page; of more, the script draws those that are opened:
packed, drawings take a quarter of the bytes."""
OPENED = 12
"""Up to so many columns, or labels, are open when the page is; of more, the first."""
LISTED = 30
"""Filled cells, the least certain ones, that are printed, and shown where scripts do not run."""


def render(record: ReportRecord) -> str:
    """Render a record.

    Parameters
    ----------
    record : ReportRecord

    Returns
    -------
    str
        A whole HTML page: style sheet, scripts, drawings and numbers are in it.
    """
    columns = [(column, column_figures(record, column)) for column in record.columns]
    labels = [(label, label_figures(place, label)) for place, label in enumerate(record.labels)]
    holes, factors, together = (
        holes_figure(record),
        factor_figures(record.found),
        together_figures(record.found),
    )
    of_cards = [figure for _, figures in (*columns, *labels) for figure in figures]
    wide = len(columns) + len(labels) > DRAWN
    style, script = _style(), _script()
    page = (
        _environment()
        .get_template("page.html.j2")
        .render(
            record=record,
            columns=columns,
            labels=labels,
            wide=wide,
            holes=holes,
            hole_names=_hole_names(record),
            factors=factors,
            together=together,
            least_certain=sorted(record.filled.cells, key=lambda cell: cell.certainty)[:LISTED],
            opened=OPENED,
            style=Markup(style),
            script=Markup(script),
            policy=_policy(style, script),
            numbers=Markup(_harmless(_json(_numbers(record)))),
            packed=_packed([holes, *factors, *together, *of_cards], of_cards if wide else []),
        )
    )
    # Halves of characters, which no encoding can write, come as the sign for them.
    return page.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("cocomplete.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters |= {"short": short, "percent": percent, "count": count, "counted": counted}
    environment.globals |= {
        "COMPARED": COMPARED,
        "error_parts": error_parts,
        "headline": headline,
        "judged_parts": judged_parts,
        "error_text": error_text,
        "judged_bars": _judged_bars,
        "weight_bar": _weight_bar,
        "drawn": _drawn,
        "label_name": _label_name,
    }
    return environment


def _judged_bars(judged: Judged) -> Markup:
    return Markup(beside_trivial(judged).svg())


def _drawn(figure: Figure) -> Markup:
    return Markup(figure.drawing.svg())


def _weight_bar(name: str, weight: float) -> Markup:
    return Markup(share_bar(name, weight).svg())


def _label_name(record: ReportRecord, label: LabelReport) -> str:
    """Give the user's column of a label where the label is only one value of it."""
    column = record.given.columns[label.column].name
    return "" if column == label.name else column


def _hole_names(record: ReportRecord) -> list[str]:
    """Give the names beside the lines of the map of the holes; none where there is no room for them."""
    holes = record.given.holes
    if len(holes.columns) > NAMED:
        return []
    names = []
    for places in holes.columns:
        first = record.given.columns[places[0]].name if places else ""
        names.append(first if len(places) < 2 else f"{first} + {len(places) - 1}")
    return names


def _numbers(record: ReportRecord) -> dict[str, Any]:
    """Give what scripts need at once: names, tipping points, filled cells."""
    return {"columns": column_data(record), "tipping": tipping_data(record), "cells": cells_data(record)}


def _packed(figures: list[Figure], drawn_later: list[Figure]) -> str:
    """Give what scripts need when somebody asks: numbers of figures, and drawings not in the page."""
    data = {
        "headings": HEADINGS,
        "numbers": {figure.key: [figure.kind, *figure.numbers] for figure in figures},
        "drawings": {
            figure.key: [figure.title, figure.caption, *figure.drawing.packed()] for figure in drawn_later
        },
    }
    return b64encode(compress(_json(data).encode("utf-8", "replace"), 9)).decode()


def _json(data: dict[str, Any]) -> str:
    return dumps(data, ensure_ascii=False, allow_nan=False, separators=(",", ":"))


def _harmless(json: str) -> str:
    """Leave no character in JSON with which a block of it could end, or a comment begin."""
    for character in "<>&\u2028\u2029":
        json = json.replace(character, f"\\u{ord(character):04x}")
    return json


@cache
def _style() -> str:
    return "\n".join(_asset(name) for name in STYLES)


@cache
def _script() -> str:
    """Join the scripts inside one function, so that they share names with nothing else."""
    inside = "\n".join(_asset(name) for name in SCRIPTS)
    return f'(function () {{\n"use strict";\n{inside}}})();\n'


def _asset(name: str) -> str:
    return files("cocomplete.report").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(style: str, script: str) -> str:
    """Allow nothing but this style sheet and this script; ``data:`` serves the empty icon of the page."""
    hashes = [b64encode(sha256(text.encode()).digest()).decode() for text in (style, script)]
    return (
        f"default-src 'none'; style-src 'sha256-{hashes[0]}'; script-src 'sha256-{hashes[1]}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )
