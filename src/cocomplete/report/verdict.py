"""The verdict: errors on held-out cells of every part of the table, beside the trivial answer's."""

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.judge import PART_NAMES
from cocomplete.fitted.parts import Part
from cocomplete.losses import log_loss
from cocomplete.report.held_out import ErrorUnits, Predicted, compared
from cocomplete.report.record import Judged, Verdict
from cocomplete.report.sentences import LOG_LOSS, OFF_BY, caveat_sentence, verdict_sentence
from cocomplete.report.source import Source
from cocomplete.report.texts import short

WRONG = "share wrong"

PARTS = {
    "numbers": "features",
    "yes-no": "yes/no features",
    "labels": "labels",
    "unlabelled": "labels of rows without any",
}
"""What the parts of a table are called."""

NEW_PARTS = {
    "numbers": "features of new rows",
    "yes-no": "yes/no features of new rows",
    "labels": "labels of new rows beside others",
    "unlabelled": "labels of new rows",
}
"""The same of rows that the fit has never seen."""


def verdict(
    source: Source,
    held: Predicted | None,
    new: Predicted | None,
    units: ErrorUnits,
    origin: Literal["fit", "sample", "none"],
    sampled: int,
) -> Verdict:
    """Judge every part.

    Parameters
    ----------
    source : Source
    held, new : Predicted or None
        Held-out cells of rows of the fit, and of new ones.
    units : ErrorUnits
    origin : {"fit", "sample", "none"}
        Where the first come from.
    sampled : int
        Rows of a refit.
    """
    judged: list[Judged] = []
    if held is not None:
        summary = source.validation if origin == "fit" else None
        judged += _parts(source, held, units, PARTS, summary or {})
    if new is not None:
        judged += _parts(source, new, units, NEW_PARTS, {})
    weighted = not source.model.transductive
    return Verdict(
        tuple(judged),
        origin,
        caveat_sentence(
            origin, sampled, source.n_rows, weighted=weighted, only_ones=source.model.positive is not None
        ),
        verdict_sentence(judged),
    )


def _parts(
    source: Source, cells: Predicted, units: ErrorUnits, names: Mapping[str, str], summary: Mapping[str, Any]
) -> list[Judged]:
    d = source.observed.n_features
    yes_no = np.concatenate((source.model.yes_no, np.zeros(source.labels.width, bool)))
    feature = cells.column < d
    wheres: dict[Part, BoolArray] = {
        "numbers": feature & ~yes_no[cells.column],
        "yes-no": feature & yes_no[cells.column],
        "labels": ~feature & ~cells.alone,
        "unlabelled": ~feature & cells.alone,
    }
    found = []
    for part, where in wheres.items():
        if where.any():
            one = cells.where(where)
            own = units if part == "numbers" else None
            found += _judged(one, own, names[part], summary.get(PART_NAMES[part]))
    return found


def _judged(
    cells: Predicted, units: ErrorUnits | None, part: str, summary: Mapping[str, Any] | None
) -> list[Judged]:
    """Judge one part; figures that the fit has summarised are those."""
    summary = summary or {}

    def judged(measure: str, key: str, errors: FloatArray, trivial: FloatArray, name: str) -> Judged:
        values = [float(each.mean()) for each in (errors, trivial)]
        values = [np.sqrt(value) for value in values] if measure == OFF_BY else values
        return Judged(
            part,
            measure,
            short(summary.get(key, values[0])),
            short(summary.get(f"trivial_{key}", values[1])),
            name,
            len(cells.truth),
            compared(errors, trivial),
        )

    if units is not None:
        errors, plain = (
            units.squared(cells.column, each, cells.truth) for each in (cells.mean, cells.trivial)
        )
        return [judged(OFF_BY, "rmse", errors, plain, "column means")]
    wrong, plain_wrong = (
        ((each > 0) != (cells.truth == 1)).astype(np.float64) for each in (cells.mean, cells.trivial)
    )
    loss, plain_loss = (log_loss(each, cells.truth) for each in (cells.mean, cells.trivial))
    return [
        judged(WRONG, "wrong", wrong, plain_wrong, "the commoner value"),
        judged(LOG_LOSS, "log_loss", loss, plain_loss, "observed rates"),
    ]
