"""Observed cells that are held out to judge by, chosen by what the table holds and not by where.

A cell's key is made of its row's and its column's (:mod:`cocomplete.problem.content_keys`), so that the same
table has the same answer however it is written down.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.fitted.parts import PARTS, Part
from cocomplete.losses import log_loss
from cocomplete.problem.content_keys import content_keys, mix, uniform
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import FAR, Standardization, limits

HELD_SHARE = 0.15
"""Share of the observed features that one fold holds out; of labels as much, half of it as whole rows."""

ENOUGH, MOST_FOLDS = 300, 6
"""Cells of every part that folds should have together, about, and the most folds for that."""

MOST_CELLS = 60_000
"""Observed cells that all folds together may have, so that a large table has few of them."""

CLEARLY, LEAST_COMPANY = 4.0, 0.2
"""Two columns are missing together if the excess is so many standard errors, and at least this."""


@dataclass(frozen=True, eq=False)
class Fold:
    """Some observed cells held out, with their truth.

    Attributes
    ----------
    visible : Observations
        The table without them.
    row, column : ndarray of int
        Where they are; labels are counted after the features.
    value : ndarray
        What they hold.
    part : ndarray of int
        Position in ``PARTS``.
    """

    visible: Observations
    row: NDArray[np.intp]
    column: NDArray[np.intp]
    value: FloatArray
    part: NDArray[np.intp]

    def log_loss(self, log_odds: FloatArray) -> float:
        """Mean log-loss of the held-out labels; 0 if there are none.

        Parameters
        ----------
        log_odds : ndarray
            One number per held-out cell.
        """
        labels = self.part >= PARTS.index("labels")
        if not labels.any():
            return 0.0
        return float(log_loss(log_odds[labels], self.value[labels]).mean())


@dataclass(frozen=True, eq=False)
class Units:
    """What errors of a column are measured in.

    Attributes
    ----------
    scale : ndarray of shape (n_features,)
        Observed spread.
    low, high : ndarray of shape (n_features,)
        Limits beyond which a value counts as an outlier: no one of them may decide which member is best.
    """

    scale: FloatArray
    low: FloatArray
    high: FloatArray

    @classmethod
    def of(cls, observed: Observations) -> "Units":
        """Estimate them from a table."""
        units = Standardization.of(observed.X, center=True, scale=True)
        # Where more than half of a column is one value, limits are infinite: its spread serves for them.
        wide = FAR * units.scale
        low, high = (
            np.where(np.isinf(side), units.center + sign * wide, side)
            for side, sign in zip(limits(observed.X, observed.X_known, FAR), (-1, 1), strict=True)
        )
        return cls(units.scale, low, high)

    def standardized(self, column: NDArray[np.intp], value: FloatArray) -> FloatArray:
        """Bring features to units of their columns' spread, outliers held back."""
        within = np.clip(value, self.low[column], self.high[column])
        out: FloatArray = within / self.scale[column]
        return out


def folds(
    observed: Observations, yes_no: BoolArray, seed: int = 0, groups: NDArray[np.intp] | None = None
) -> list[Fold]:
    """Hold out cells of every part, as often as it takes for about enough of each.

    Parameters
    ----------
    observed : Observations
    yes_no : ndarray of bool, shape (n_features,)
    seed : int, default=0
        Other cells for another seed.
    groups : ndarray of int, shape (n_features + n_labels,), optional
        Columns with the same number encode one of the user's, and are held out together.
    """
    rows, columns = content_keys(observed, seed)
    if groups is not None:
        columns = _group_keys(columns, groups)
    row_chance = uniform(rows)
    cell_chance = uniform(mix(rows[:, None] + mix(columns)[None, :]))
    encoded, company = _encoded_together(groups), _companions(observed.X_known)

    def fold(number: int) -> Fold:
        return _fold(observed, yes_no, row_chance, cell_chance, number, encoded, company)

    found = [fold(0)]
    counts = _counts(found[0])
    fewest = min((count for count in counts.values() if count), default=ENOUGH)
    affordable = MOST_CELLS // max(int(observed.X_known.sum() + observed.Y_known.sum()), 1)
    # To the nearest number: a fold costs as much as all before it where it is the second.
    more = min(max(round(ENOUGH / fewest), 1), MOST_FOLDS, max(affordable, 1))
    found += [fold(k) for k in range(1, more)]
    return [one for one in found if one.value.size]


def _fold(
    observed: Observations,
    yes_no: BoolArray,
    row_chance: FloatArray,
    cell_chance: FloatArray,
    number: int,
    encoded: list[NDArray[np.intp]],
    company: FloatArray,
) -> Fold:
    d = observed.n_features
    seeds = observed.X_known & _between(cell_chance[:, :d], _seed_share(company), number)
    X_held = observed.X_known & _with_companions(seeds, cell_chance[:, :d], company)
    # Half of the labels as whole rows, half beside others; a label alone is always a whole row's.
    alone = observed.n_labels == 1
    blind = _between(row_chance, HELD_SHARE if alone else HELD_SHARE / 2, number)
    Y_held = observed.Y_known & blind[:, None]
    if not alone:
        Y_held |= observed.Y_known & _between(cell_chance[:, d:], HELD_SHARE / 2, number)
    _keep_both_values(observed.Y, Y_held)
    _keep_both_values(observed.X, X_held, yes_no)
    # A number must keep two values, for a mean and a spread.
    low, high = (
        reduce(np.where(X_held | ~observed.X_known, start, observed.X), axis=0, initial=start)
        for reduce, start in ((np.min, np.inf), (np.max, -np.inf))
    )
    X_held &= low < high
    _hold_whole_cells(X_held, Y_held, encoded)
    visible = observed.without(X_held, Y_held)
    x, y = np.nonzero(X_held), np.nonzero(Y_held)
    unlabelled = np.asarray(~visible.Y_known.any(axis=1))
    return Fold(
        visible,
        np.concatenate((x[0], y[0])),
        np.concatenate((x[1], y[1] + d)),
        np.concatenate((observed.X[X_held], observed.Y[Y_held])),
        np.concatenate((yes_no[x[1]].astype(np.intp), 2 + unlabelled[y[0]].astype(np.intp))),
    )


def _group_keys(columns: NDArray[np.uint64], groups: NDArray[np.intp]) -> NDArray[np.uint64]:
    """Give columns that encode one the sum of their keys, which depends on no order."""
    total = np.zeros(int(groups.max(initial=-1)) + 1, np.uint64)
    np.add.at(total, groups, columns)
    return total[groups]


def _encoded_together(groups: NDArray[np.intp] | None) -> list[NDArray[np.intp]]:
    """Columns that encode one of the user's, where these are several."""
    if groups is None:
        return []
    return [np.flatnonzero(groups == one) for one in np.flatnonzero(np.bincount(groups) > 1)]


def _hold_whole_cells(X_held: BoolArray, Y_held: BoolArray, encoded: list[NDArray[np.intp]]) -> None:
    """Hold a cell out in all columns that encode it, or in none: one of them would give it away."""
    d = X_held.shape[1]
    for columns in encoded:
        held, own = (X_held, columns) if columns[0] < d else (Y_held, columns - d)
        held[:, own] = held[:, own].all(axis=1, keepdims=True)


def _companions(known: BoolArray) -> FloatArray:
    """How much likelier each column is missing where another is: what is held out along with a cell of it.

    A cell that is missing because a whole block is has no neighbour from that block to be predicted by. One
    that is held out alone would have them all, and would be predicted far better than it will be.

    Returns
    -------
    ndarray of shape (n_columns, n_columns)
        Row: the column of the cell; 0 where the two are missing independently, within the error.
    """
    missing = (~known[known.any(axis=1)]).astype(np.float64)
    n = len(missing)
    count = missing.sum(axis=0)
    both = missing.T @ missing
    given = both / np.maximum(count, 1)[:, None]
    otherwise = (count - both) / np.maximum(n - count, 1)[:, None]
    rate = count / max(n, 1)
    error = np.sqrt(
        (rate * (1 - rate))[None, :] * (1 / np.maximum(count, 1) + 1 / np.maximum(n - count, 1))[:, None]
    )
    excess = given - otherwise
    # A column that is always, or never, missing is not missing together with anything.
    varied = (count > 0) & (count < n)
    found = np.where(
        (excess > CLEARLY * error) & (excess > LEAST_COMPANY) & varied[:, None] & varied, excess, 0.0
    )
    np.fill_diagonal(found, 0.0)
    return np.clip(found, 0.0, 1.0)


def _seed_share(company: FloatArray) -> float:
    """Share of cells to begin with, so that with their companions about the share to hold out is reached."""
    return HELD_SHARE / (1 + float(company.sum(axis=1).mean() if company.size else 0.0))


def _with_companions(seeds: BoolArray, chance: FloatArray, company: FloatArray) -> BoolArray:
    """Hold out, beside some cells, what tends to be missing together with them."""
    if not company.any():
        return seeds
    log_kept = np.log(np.maximum(1 - company, 1e-9))
    joined = 1 - np.exp(seeds.astype(np.float64) @ log_kept)
    # The fraction that is left of a chance is as good as a new one.
    return np.asarray(seeds | ((chance * 2.0**20) % 1 < joined))


def _between(chance: FloatArray, share: float, number: int) -> BoolArray:
    found: BoolArray = (chance >= share * number) & (chance < share * (number + 1))
    return found


def _keep_both_values(Y: FloatArray, held: BoolArray, columns: BoolArray | None = None) -> None:
    """Give a 0/1 column its last zeros or its last ones back: without, it could not be fitted."""
    for value in (0, 1):
        last = ((value == Y) & ~held).sum(axis=0) == 0
        if columns is not None:
            last &= columns
        held &= ~(last & (value == Y))


def _counts(fold: Fold) -> dict[Part, int]:
    """Effective number of each part's cells: of rare ones, or rare zeros, each counts for two."""
    counts = {}
    for k, part in enumerate(PARTS):
        own = fold.value[fold.part == k]
        ones = int((own == 1).sum())
        rare = max(2 * min(ones, own.size - ones), 1) if own.size else 0
        counts[part] = own.size if part == "numbers" else rare
    return counts
