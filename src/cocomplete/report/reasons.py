"""By what a column was recognised as what it is."""

from collections.abc import Mapping
from typing import Any

from cocomplete.report.source import Source


def reason(source: Source, j: int) -> str:
    """Say by what one of the user's columns was recognised.

    Parameters
    ----------
    source : Source
    j : int
        Position, features first.
    """
    d = len(source.features.kinds)
    own, place = ("feature_types", j) if j < d else ("label_types", j - d)
    kind = source.features.kinds[j] if j < d else source.labels.kinds[place]
    asked = source.parameters.get(own, "auto")
    if isinstance(asked, Mapping):
        asked = asked.get(source.names[j], asked.get(place, "auto"))
    elif not isinstance(asked, str):
        asked = list(asked)[place]
    if not isinstance(asked, str) or asked != "auto":
        return "as asked for"
    return kind_reason(kind, len(kind.values or ()))


def kind_reason(kind: Any, distinct: int, order: str = "an order") -> str:
    """Say by what a kind is recognised.

    Parameters
    ----------
    kind : Kind
    distinct : int
        Different values of the column.
    order : str
        What levels in an order have it from.
    """
    return {
        "number": f"numbers in steps of {kind.step:g}" if getattr(kind, "step", 0) else "numbers",
        "count": "whole numbers from zero on",
        "yes-no": "0 and 1, or words for yes and no",
        "category": f"{distinct} different values",
        "ordinal": f"{distinct} levels in {order}",
        "date": "dates",
        "tags": "lists of tags",
    }[str(kind.name)]
