"""The kind of a column, from its type and what it holds."""

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.table.containers import DateColumn, TextColumn
from cocomplete.table.kinds import Category, Column, Count, Date, Kind, Number, Ordinal, YesNo
from cocomplete.truth_words import truth_pair

MOST_LEVELS, CELLS_PER_LEVEL = 10, 5
"""Whole numbers are levels in an order if they are no more, and no farther apart, than this, and each occurs
so often on average."""

FEWEST_WHOLE = 10
"""Known cells from which on a column of whole numbers is filled with whole numbers: of fewer it is chance."""

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
    if not _are_whole(values):
        return Number()
    levels = np.unique(values)
    if np.array_equal(levels, (0, 1)):
        return YesNo()
    near = 1 < levels.size <= MOST_LEVELS and levels[-1] - levels[0] <= MOST_LEVELS
    if near and values.size >= CELLS_PER_LEVEL * levels.size:
        return Ordinal(tuple(float(level) for level in levels))
    if values.size < FEWEST_WHOLE:
        return Number()
    return Count() if levels[0] >= 0 else Number(whole=True)


def _are_whole(values: FloatArray) -> bool:
    """Whether there are numbers, all of them whole; looks at a few first."""
    if not values.size:
        return False
    with np.errstate(invalid="ignore"):
        return all(
            bool(((some == np.round(some)) & (np.abs(some) < LARGEST_WHOLE)).all())
            for some in (values[:100], values)
        )
