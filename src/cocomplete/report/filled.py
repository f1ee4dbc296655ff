"""The table of filled cells: fill, interval or probability, certainty, and why."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.fitted.parts import Part
from cocomplete.report.columns import filled_values, is_number, level_interval, posterior_of
from cocomplete.report.held_out import Z90
from cocomplete.report.labels import chosen
from cocomplete.report.record import FilledCell, FilledCells
from cocomplete.report.sentences import filled_sentence
from cocomplete.report.source import Source
from cocomplete.report.texts import cut, short
from cocomplete.report.tipping import standard_deviation
from cocomplete.report.why import ExplainedRows, Explainer
from cocomplete.table.kinds import Category, Ordinal, Posterior, YesNo

MOST_CELLS = 1_000
"""Filled cells that are shown: half of them the least certain, half a sample of the others."""

ROWS_AT_ONCE = 100
"""Rows that are explained together."""


class Cell(NamedTuple):
    """A filled cell before it is explained.

    Attributes
    ----------
    text : str
    low, high : str or None
    probability : float or None
    target : int
        The encoded column that is explained.
    part : str
    opposite : bool
        Whether that column was filled with 0.
    """

    text: str
    low: str | None
    high: str | None
    probability: float | None
    target: int
    part: Part
    opposite: bool


def filled_cells(source: Source) -> FilledCells:
    """Choose filled cells to show, and explain each."""
    certainty = _certainty(source)
    row, column = np.nonzero(source.unknown)
    sure = certainty[row, column]
    total = int((~source.known).sum())
    least, others = _shown(sure)
    shown = np.sort(np.concatenate((least, others)))
    cells: list[FilledCell] = []
    explainer = Explainer(source)
    rows, place = np.unique(row[shown], return_inverse=True)
    for first in range(0, len(rows), ROWS_AT_ONCE):
        some = rows[first : first + ROWS_AT_ONCE]
        explained = explainer.rows(source.rows[some])
        for k in np.flatnonzero((place >= first) & (place < first + len(some))):
            at = shown[k]
            where = int(place[k]) - first, int(row[at]), int(column[at])
            cells.append(_cell(source, explained, *where, float(sure[at])))
    return FilledCells(
        total, len(least), len(others), tuple(cells), filled_sentence(total, len(least), len(others))
    )


def _shown(certainty: FloatArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Give the least certain cells, and a sample of the others."""
    if certainty.size <= MOST_CELLS:
        return np.arange(certainty.size), np.empty(0, np.intp)
    order = np.argsort(certainty, kind="stable")
    half = MOST_CELLS // 2
    rest = order[half:]
    return order[:half], rest[np.random.default_rng(0).choice(rest.size, half, replace=False)]


def _certainty(source: Source) -> FloatArray:
    """Give how certain every fill is, shape (number of rows looked at, n_columns)."""
    found = np.ones(source.unknown.shape)
    for j, kind in enumerate(source.features.kinds):
        posterior = posterior_of(source, j)
        if is_number(kind):
            known = source.some.X[source.known[source.rows, j], source.features.bounds[j]]
            known = known[~np.isnan(known)].astype(np.float64)
            spread = standard_deviation(known)
            share = posterior.std[:, 0] / spread if spread > 0 else np.ones(len(found))
            found[:, j] = 1 - np.clip(share, 0, 1)
        else:
            found[:, j] = kind.probabilities(posterior).max(axis=1, initial=0.0)
    d, yes = len(source.features.kinds), chosen(source)
    right = np.where(yes, source.probability, 1 - source.probability)
    for j, kind in enumerate(source.labels.kinds):
        own = slice(source.labels.bounds[j], source.labels.bounds[j + 1])
        if isinstance(kind, Category) and len(kind.parts) > 1:
            found[:, d + j] = source.probability[:, own].max(axis=1)
        else:
            # Of several tags the least certain one counts.
            found[:, d + j] = right[:, own].min(axis=1, initial=1.0)
    return found


def _cell(
    source: Source, explained: ExplainedRows, place: int, row: int, column: int, certainty: float
) -> FilledCell:
    """Describe one cell.

    Parameters
    ----------
    source : Source
    explained : ExplainedRows
    place : int
        Of the row among those that are explained.
    row : int
        Of the row among those that are looked at.
    column : int
        The user's.
    certainty : float
    """
    d = len(source.features.kinds)
    found = _feature_cell(source, row, column) if column < d else _label_cell(source, row, column - d)
    return FilledCell(
        source.row_name(int(source.rows[row])),
        column,
        cut(found.text),
        found.low,
        found.high,
        None if found.probability is None else short(found.probability, 4),
        short(certainty, 4),
        explained.why(place, found.target, found.part, _text_of(source), opposite=found.opposite),
        explained.similar(place),
    )


def _feature_cell(source: Source, row: int, j: int) -> Cell:
    kind, first = source.features.kinds[j], int(source.features.bounds[j])
    posterior = posterior_of(source, j, slice(row, row + 1))
    text = source.text(j, filled_values(source, kind, posterior)[0])
    if is_number(kind):
        low, high = (_end(source, j, posterior, sign) for sign in (-1, 1))
        return Cell(text, low, high, None, first, "numbers", opposite=False)
    chances = kind.probabilities(posterior)
    best = int(np.argmax(chances[0])) if chances.size else 0
    probability = float(chances[0, best]) if chances.size else None
    if isinstance(kind, Ordinal):
        ends = (int(end[0]) for end in level_interval(chances))
        low, high = (source.text(j, kind.levels[end]) for end in ends)
        return Cell(text, low, high, probability, first, "numbers", opposite=False)
    target, opposite = _target(kind, first, best)
    return Cell(text, None, None, probability, target, "yes-no", opposite=opposite)


def _end(source: Source, j: int, posterior: Posterior, sign: int) -> str:
    """Write one end of a 90 % interval."""
    at = posterior.mean[:, :1] + sign * Z90 * posterior.std[:, :1]
    return source.text(j, source.features.kinds[j].drawn(at)[0])


def _target(kind: Any, first: int, best: int) -> tuple[int, bool]:
    """Give the encoded column of a value, and whether the value is that column's 0."""
    if len(kind.parts) > 1:
        return first + best, False
    return first, best == 0


def _label_cell(source: Source, row: int, j: int) -> Cell:
    kind = source.labels.kinds[j]
    own = slice(source.labels.bounds[j], source.labels.bounds[j + 1])
    probability, thresholds = source.probability[row : row + 1, own], source.thresholds[own]
    value = kind.chosen(probability, thresholds)[0]
    first = source.observed.n_features + int(source.labels.bounds[j])
    part: Part = "labels" if source.some.Y_known[row].any() else "unlabelled"
    text = source.text(len(source.features.kinds) + j, value)
    if isinstance(kind, Category):
        chances = kind.probabilities(Posterior(probability, probability))[0]
        best = int(np.argmax(chances))
        target, opposite = _target(kind, first, best)
        return Cell(text, None, None, float(chances[best]), target, part, opposite=opposite)
    yes = probability[0] > thresholds
    right = np.where(yes, probability[0], 1 - probability[0])
    best = int(np.argmax(probability[0])) if right.size > 1 else 0
    text = text if isinstance(kind, YesNo) or text else "(none)"
    return Cell(text, None, None, float(right.min()), first + best, part, opposite=not yes[best])


def _text_of(source: Source) -> Any:
    """Give a function that writes an observed cell."""
    d = len(source.features.kinds)

    def text(row: int, column: int) -> str:
        raw, j = (source.raw_features, column) if column < d else (source.raw_labels, column - d)
        assert raw is not None
        if not source.known[row, column]:
            # Where only ones are recorded, the fit takes a missing label for a 0.
            return "not recorded"
        cell: Any = raw.others.get(j)
        value = raw.numbers[row, j] if cell is None else cell.values[row]
        return source.text(column, value if isinstance(value, str | np.datetime64) else float(value))

    return text
