"""From a fitted model and its tables to the record of a report."""

from importlib.metadata import version
from typing import Literal

import numpy as np

from cocomplete.fitted.parts import PARTS
from cocomplete.problem.observations import Observations
from cocomplete.report.columns import column_reports
from cocomplete.report.filled import filled_cells
from cocomplete.report.found import found
from cocomplete.report.held_out import ErrorUnits, Predicted, held_out_of_fit, held_out_of_rows, new_rows
from cocomplete.report.holes_map import holes_map, never_together
from cocomplete.report.labels import label_reports
from cocomplete.report.reasons import reason
from cocomplete.report.record import (
    SCHEMA,
    CertificateReport,
    Done,
    Given,
    GivenColumn,
    MemberWeights,
    ReportRecord,
)
from cocomplete.report.sentences import done_sentence, given_sentence
from cocomplete.report.settings_in_words import settings_in_words
from cocomplete.report.source import Source
from cocomplete.report.texts import short
from cocomplete.report.tipping import limits
from cocomplete.report.verdict import verdict

Origin = Literal["fit", "sample", "none"]


def collect(source: Source, refitted: tuple[Predicted, int] | None = None, seed: int = 0) -> ReportRecord:
    """Collect all numbers of a report.

    Parameters
    ----------
    source : Source
    refitted : tuple of Predicted and int, optional
        Held-out cells of a refit, where the fit held out none, and the number of its rows.
    seed : int, default=0
        Which cells of new rows are held out.
    """
    held, sampled = held_out_of_fit(source.model), 0
    origin: Origin = "fit"
    if held is None:
        held, sampled = refitted if refitted is not None else (None, 0)
        origin = "none" if held is None else "sample"
    new, units = _new(source, seed), ErrorUnits(source.model)
    held, new = (None if cells is None else cells.by_columns() for cells in (held, new))
    return ReportRecord(
        SCHEMA,
        source.title,
        len(source.rows),
        verdict(source, held, new, units, origin, sampled),
        _given(source),
        column_reports(source, held, new, units),
        label_reports(source, held, new),
        found(source),
        _done(source),
        limits(source),
        filled_cells(source),
    )


def _new(source: Source, seed: int) -> Predicted | None:
    """Hold out cells of rows that the fit has not seen, if there are such."""
    if source.knows:
        return None
    own = new_rows(source.model, source.some)
    if not own.size:
        return None
    rows = Observations(source.some.X[own], source.some.Y[own])
    return held_out_of_rows(source.model, rows, seed)


def _given(source: Source) -> Given:
    known = source.known
    n, width = known.shape
    missing = n - source.n_known
    d = len(source.features.kinds)
    columns = tuple(
        GivenColumn(
            name,
            "feature" if j < d else "label",
            _kind_name(source, j),
            reason(source, j),
            int(missing[j]),
            short(missing[j] / n if n else 0.0),
        )
        for j, name in enumerate(source.names)
    )
    total = int(missing.sum())
    return Given(
        n,
        d,
        width - d,
        known.size,
        total,
        short(total / known.size if known.size else 0.0),
        columns,
        holes_map(known),
        never_together(known),
        given_sentence(n, d, width - d, total, known.size),
    )


def _kind_name(source: Source, j: int) -> str:
    d = len(source.features.kinds)
    if j < d:
        return str(source.features.kinds[j].name)
    name = str(source.labels.kinds[j - d].name)
    return {"category": "class"}.get(name, name)


def _done(source: Source) -> Done:
    ensemble, model = source.model.ensemble, source.model
    asked = {
        "numbers": bool((~model.yes_no).any()),
        "yes-no": bool(model.yes_no.any()),
        "labels": source.labels.width > 1,
        "unlabelled": source.labels.width > 0,
    }
    members = tuple(
        MemberWeights(
            one.name,
            *(short(float(ensemble.weights[part][k])) if asked[part] else None for part in PARTS),
        )
        for k, one in enumerate(ensemble.members)
    )
    certificate = None
    if source.certificate is not None:
        gap = float(source.certificate["duality_gap"])
        certificate = CertificateReport(
            str(source.certificate["solver"]),
            short(float(source.certificate["objective"]), 8),
            short(gap) if np.isfinite(gap) else None,
            bool(source.certificate["converged"]),
        )
    return Done(
        settings_in_words(source.parameters),
        members,
        certificate,
        source.seconds,
        version("cocomplete"),
        done_sentence(members, certificate, source.seconds),
    )
