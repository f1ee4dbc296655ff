"""Judging and tuning with tables full of holes: splitters over cells and rows, and masked scorers."""

from cocomplete.model_selection.cross_validation import cross_val_entries
from cocomplete.model_selection.entries import EntryKFold, EntryShuffleSplit, EntrySplit
from cocomplete.model_selection.rows import RowKFold
from cocomplete.model_selection.scorers import SCORERS, MaskedScorer, get_scorer

__all__ = [
    "SCORERS",
    "EntryKFold",
    "EntryShuffleSplit",
    "EntrySplit",
    "MaskedScorer",
    "RowKFold",
    "cross_val_entries",
    "get_scorer",
]
