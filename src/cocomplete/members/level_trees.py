"""Boosted trees for levels in an order: whether a cell holds a level, asked of every level apart.

The number that stands for a level is predicted near the middle where two levels apart are likely, and a level
that another column decides exactly is blurred. Trees for every level see both. Levels are predicted from the
other columns as they are, holes and all; the user's labels are among these.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.trees import BoostedTrees
from cocomplete.problem.content_keys import ContentKeys
from cocomplete.problem.observations import Observations

N_TREES = 60
"""Trees for a level, one of ``trees.STOPS``. With half as many, levels of the tables to choose with are right
1.6 % less often, with 100 of them 0.2 % more often."""

MOST_LEVELS = 12
"""Levels of a column, beyond which they are steps of its number alone."""

LARGEST = 1e8
"""Additions to histograms that bound how many rows levels are fitted to: without, trees for all levels of 60
questions with five answers would take twice as long as the rest of the fit, to end without a share."""

LEAST_KNOWN = 50
"""Known cells of a column from which on trees are grown for its levels."""


@dataclass(frozen=True, eq=False)
class LevelTrees:
    """Trees for the levels of some columns.

    Attributes
    ----------
    trees : BoostedTrees
        Their features are all columns of the table, their labels say whether a cell holds a level.
    codes : dict
        Codes of the levels, by feature. Of two levels the second alone has trees.
    """

    trees: BoostedTrees
    codes: dict[int, FloatArray]

    @classmethod
    def fit(
        cls,
        observed: Observations,
        keys: ContentKeys,
        codes: dict[int, FloatArray],
        groups: NDArray[np.intp] | None = None,
    ) -> "LevelTrees | None":
        """Grow trees for the levels of all columns that allow it; give None if there is no such column.

        Parameters
        ----------
        observed : Observations
        keys : ContentKeys
            As for :class:`BoostedTrees`.
        codes : dict
            Codes of the levels, by feature.
        groups : ndarray of int, shape (n_features + n_labels,), optional
            Columns with the same number encode one of the user's; none is predicted from another.
        """
        table = np.hstack((observed.X, observed.Y))
        apart = np.arange(table.shape[1]) if groups is None else groups
        known = observed.X_known.sum(axis=0)
        codes = {
            j: own
            for j, own in codes.items()
            if own.size <= MOST_LEVELS and known[j] >= LEAST_KNOWN and (apart != apart[j]).any()
        }
        if not codes:
            return None
        marks = np.hstack([_marks(observed.X[:, j], own) for j, own in codes.items()])
        width = table.shape[1]
        # What is predicted is not asked of, so that its keys are of no account.
        with_marks = ContentKeys(keys.rows, np.append(keys.columns, np.zeros(marks.shape[1], np.uint64)))
        trees = BoostedTrees.fit(
            Observations(table, marks.astype(table.dtype)),
            np.zeros(width, bool),
            with_marks,
            width + np.arange(marks.shape[1]),
            N_TREES,
            np.append(apart, np.repeat(apart[list(codes)], [_width(own) for own in codes.values()])),
            LARGEST,
        )
        return cls(trees, codes)

    def probabilities(self, observed: Observations, asked: BoolArray) -> dict[int, FloatArray]:
        """Give the probability of every level, by feature, shape (n_samples, n_levels); NaN where not asked.

        Parameters
        ----------
        observed : Observations
        asked : ndarray of bool, shape (n_samples, n_features)
        """
        table = np.hstack((observed.X, observed.Y))
        marks, first = {}, table.shape[1]
        for j, own in self.codes.items():
            marks[j] = range(first, first + _width(own))
            first = marks[j].stop
        rows = {j: np.flatnonzero(asked[:, j]) for j in marks}
        unknown = np.full((len(table), self.trees.n_labels), np.nan, table.dtype)
        log_odds = self.trees.of_rows(
            Observations(table, unknown), {mark: rows[j] for j, own in marks.items() for mark in own}
        )
        found = {}
        for j, own in self.codes.items():
            found[j] = np.full((len(table), own.size), np.nan)
            found[j][rows[j]] = _normalised(expit(np.column_stack([log_odds[mark] for mark in marks[j]])))
        return found


def _width(codes: FloatArray) -> int:
    """Count the levels that have trees: of two the second alone."""
    return codes.size if codes.size > 2 else 1


def _marks(column: FloatArray, codes: FloatArray) -> FloatArray:
    """Mark the level of every cell with a 1, NaN where unknown."""
    marks: FloatArray = (column[:, None] == codes[-_width(codes) :]).astype(np.float64)
    marks[np.isnan(column)] = np.nan
    return marks


def _normalised(chance: FloatArray) -> FloatArray:
    """Give probabilities of all levels, which add up to 1, from those of each apart."""
    if chance.shape[1] == 1:
        return np.column_stack((1 - chance, chance))
    chance = np.maximum(chance, 1e-12)
    return np.asarray(chance / chance.sum(axis=1, keepdims=True))
