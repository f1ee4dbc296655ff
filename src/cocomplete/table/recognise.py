"""The kind of a column, from its type and what it holds."""

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.table.containers import DateColumn, TextColumn
from cocomplete.table.kinds import Category, Column, Count, Date, Kind, Number, Ordinal, YesNo
from cocomplete.truth_words import truth_pair

MOST_LEVELS, CELLS_PER_LEVEL = 10, 5
"""Numbers are levels in an order if they are no more than this, no more of their common step apart, and each
occurs so often on average."""

FEWEST_STEPS = 10
"""Known cells from which on a column in steps is filled in these steps: of fewer they are chance."""

MOST_STEPS, OFF_STEP = 1e7, 1e-6
"""Steps that a column may span, and how far from a multiple, in steps, its values may be by rounding."""

FEW_WORDS, LARGEST_SHARE = 20, 0.5
"""A column of more different words than this, that are more than this share of its cells, is free text or
names things: nothing can be learnt from the others of what it says."""

LARGEST_WHOLE = 2.0**53
"""Beyond it every float is whole."""


def recognise(column: Column, label: str) -> Kind:
    """Give the kind of a feature.

    Parameters
    ----------
    column : Column
        Numbers, words or dates.
    label : str
        What it is called in messages.

    Raises
    ------
    InputError
        If it is free text.
    """
    if isinstance(column, DateColumn):
        return Date.of(column)
    if isinstance(column, TextColumn):
        return _of_words(column, label)
    return _of_numbers(column)


def _of_words(column: TextColumn, label: str) -> Kind:
    known = column.values[column.known]
    words = set(known)
    if column.ordered and column.levels is not None and len(words) > 1:
        return Ordinal(column.levels)
    pair = truth_pair(words)
    if pair is not None:
        return YesNo(pair)
    if is_free_text(column):
        msg = (
            f"X: {label} holds {len(words)} different words in {known.size} cells, such as {known[0]!r}: "
            "free text or a name of the row, of which nothing can be learnt; leave the column out, or say "
            "feature_types={…: 'category'} if it is one"
        )
        raise InputError(msg)
    return Category.of(column)


def is_free_text(column: TextColumn) -> bool:
    """Whether a column holds so many different words that they cannot be categories."""
    known = column.values[column.known]
    words = len(set(known))
    return words > FEW_WORDS and words > LARGEST_SHARE * known.size


def _of_numbers(column: FloatArray) -> Kind:
    values = column[~np.isnan(column)]
    step = common_step(values)
    if not step:
        return Number()
    levels = np.unique(values).astype(np.float64)
    if np.array_equal(levels, (0, 1)):
        return YesNo()
    near = 1 < levels.size <= MOST_LEVELS and levels[-1] - levels[0] <= (MOST_LEVELS + OFF_STEP) * step
    if near and values.size >= CELLS_PER_LEVEL * levels.size:
        return Ordinal(tuple(float(level) for level in levels))
    if values.size < FEWEST_STEPS:
        return Number()
    origin = float(levels[0])
    if origin >= 0 and (levels == np.round(levels)).all():
        return Count(step=step, origin=origin)
    return Number(step=step, origin=origin)


def common_step(values: FloatArray) -> float:
    """Find what all differences of some numbers are multiples of; 0 if there is no such step.

    A change of units changes the step likewise. Whole numbers too far apart for one have a step of 1. A few
    values are looked at first: they rule most columns out.
    """
    step = 0.0
    for some in (values[:100], values):
        levels = np.unique(some).astype(np.float64)
        step = _step(levels)
        if not step:
            return 0.0
    return step


def _step(levels: FloatArray) -> float:
    """Find the step of some rising numbers."""
    if not levels.size:
        return 0.0
    whole = bool((levels == np.round(levels)).all() and np.abs(levels[[0, -1]]).max() < LARGEST_WHOLE)
    if levels.size == 1:
        return float(whole)
    with np.errstate(over="ignore", invalid="ignore"):
        gaps = np.diff(levels)
        step, span = gaps.min(), levels[-1] - levels[0]
        steps = np.round(span / step)
        if not (np.isfinite(span) and steps <= MOST_STEPS):
            return float(whole)
        # The whole span has the fewest rounding errors.
        step = span / steps
        ratios = gaps / step
    return float(step) if (np.abs(ratios - np.round(ratios)) < OFF_STEP).all() else float(whole)
