"""One label: its rates, and how far its probabilities can be relied on."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.metrics import average_precision_score

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.losses import log_loss
from cocomplete.report.held_out import Predicted, compared
from cocomplete.report.record import HeldOutLabel, LabelReport, ReliabilityBin
from cocomplete.report.sentences import label_sentence
from cocomplete.report.source import Source
from cocomplete.report.texts import short
from cocomplete.table.kinds import Category

BINS, FEW_BINS, MANY_LABELS = 10, 5, 100
"""Bins of the reliability curve; fewer where there are more labels than the third."""


def label_reports(source: Source, held: Predicted | None, new: Predicted | None) -> tuple[LabelReport, ...]:
    """Describe every label: each value of a class, and each tag, is one.

    Parameters
    ----------
    source : Source
    held, new : Predicted or None
        Held-out cells of rows of the fit, and of new ones.
    """
    Y, d = source.observed.Y, source.observed.n_features
    names, owner = source.encoded_names[d:], source.labels.groups + len(source.features.kinds)
    ones, zeros = (Y == 1).sum(axis=0), (Y == 0).sum(axis=0)
    unknown = ~source.some.Y_known
    after = np.where(unknown, source.probability, source.some.Y)
    yes = chosen(source) & unknown
    scale = source.n_rows / max(len(source.rows), 1)
    views, bins = _views(held, new), FEW_BINS if source.labels.width > MANY_LABELS else BINS
    found = []
    for k in range(source.labels.width):
        counts = int(ones[k]), int(zeros[k]), int(len(Y) - ones[k] - zeros[k])
        rates = short(counts[0] / sum(counts[:2])) if sum(counts[:2]) else None, short(after[:, k].mean())
        beside, alone = (_held_out(one, d + k, bins) for one in views)
        found.append(
            LabelReport(
                names[k],
                int(owner[k]),
                *counts,
                round(scale * int(yes[:, k].sum())),
                *rates,
                beside,
                alone,
                label_sentence(names[k], counts, rates, beside, alone),
            )
        )
    return tuple(found)


def chosen(source: Source) -> BoolArray:
    """Which labels are filled with 1, in the rows that are looked at; the likeliest value of a class."""
    found: BoolArray = source.probability > source.thresholds
    for j, kind in enumerate(source.labels.kinds):
        own = slice(source.labels.bounds[j], source.labels.bounds[j + 1])
        if isinstance(kind, Category):
            values = kind.chosen(source.probability[:, own], source.thresholds[own])
            found[:, own] = np.column_stack([values == level for level in kind.levels[-len(kind.parts) :]])
    return found


def _views(held: Predicted | None, new: Predicted | None) -> tuple[Predicted | None, Predicted | None]:
    """Cells of rows in which other labels were visible; and those of rows without any, or never seen."""
    beside = None if held is None else held.where(~held.alone)
    alone = None if held is None else held.where(held.alone)
    return beside, alone if new is None else new


def _held_out(cells: Predicted | None, column: int, bins: int) -> HeldOutLabel | None:
    if cells is None:
        return None
    own = cells.column == column
    if not own.any():
        return None
    truth, mean, trivial = cells.truth[own], cells.mean[own], cells.trivial[own]
    errors, plain = log_loss(mean, truth), log_loss(trivial, truth)
    both = 0 < truth.sum() < truth.size
    return HeldOutLabel(
        int(truth.size),
        int(truth.sum()),
        short(float(((mean > 0) != (truth == 1)).mean())),
        short(float(((trivial > 0) != (truth == 1)).mean())),
        short(float(errors.mean())),
        short(float(plain.mean())),
        compared(errors, plain),
        short(float(average_precision_score(truth, mean))) if both else None,
        short(float(truth.mean())) if both else None,
        reliability(truth, expit(mean), bins),
    )


def reliability(truth: FloatArray, probability: FloatArray, bins: int) -> tuple[ReliabilityBin, ...]:
    """Give the rate of ones by bins of their probability; bins without cells are left out."""
    edges = np.linspace(0, 1, bins + 1)
    place: NDArray[np.intp] = np.clip(np.searchsorted(edges, probability, side="right") - 1, 0, bins - 1)
    found = []
    for k in np.unique(place):
        own = place == k
        found.append(
            ReliabilityBin(
                short(edges[k]),
                short(edges[k + 1]),
                short(float(probability[own].mean())),
                short(float(truth[own].mean())),
                int(own.sum()),
            )
        )
    return tuple(found)
