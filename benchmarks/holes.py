"""Ways in which cells go missing: four mechanisms behind one signature.

A mechanism takes complete features and labels, the share to hold out and a generator, and returns two boolean
masks, True where a cell is held out. The expected share of held-out cells is what was asked, for features and
for labels.

========  ============================================================================================
random    every cell with the same probability
other     the more, the higher the row ranks in a pilot column (missing at random given the pilot)
value     the more, the higher or the lower the cell itself ranks in its column (not at random)
blocks    groups of rows lack whole groups of columns, as when clinics or waves record different things
========  ============================================================================================
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import rankdata

Masks = tuple[np.ndarray, np.ndarray]

SLOPE = 2.5
"""Change of the log-odds of a hole from the middle of a column to its end; at a share of one half, the
probability goes from 0.08 to 0.92."""

PILOTS = 0.25
"""Share of the feature columns on whose ranks the holes of the others depend."""

MOST = 0.92
"""Highest share that is held out of a column that is no pilot; beyond it hardly anything would be left."""

ROW_GROUPS = 10
"""Groups of rows for blocks; the shares asked for are multiples of one in ten."""

COLUMN_GROUPS = 5
"""Most groups of columns for blocks, for features and for labels."""


def at_random(X: np.ndarray, Y: np.ndarray, share: float, rng: np.random.Generator) -> Masks:
    """Hold out every cell with the same probability.

    Parameters
    ----------
    X, Y : ndarray of shape (n_samples, n_features) and (n_samples, n_labels)
    share : float
        Expected share of held-out cells.
    rng : Generator

    Returns
    -------
    tuple of two ndarrays of bool
        True where a cell is held out.
    """
    return rng.random(X.shape) < share, rng.random(Y.shape) < share


def by_other_column(X: np.ndarray, Y: np.ndarray, share: float, rng: np.random.Generator) -> Masks:
    """Hold out cells with a probability that grows with the row's rank in a pilot column.

    Pilots are feature columns that are held out at random and less often than the rest, as far as the overall
    share allows. Every other column, and every label, gets a pilot by lot.
    """
    d = X.shape[1]
    pilots = rng.choice(d, max(1, round(PILOTS * d)), replace=False)
    others = np.setdiff1d(np.arange(d), pilots)
    of_pilots, of_others = _shares(share, len(pilots), len(others))
    ranks = _ranks(X[:, pilots])
    probability = np.full(X.shape, of_pilots)
    for j in others:
        probability[:, j] = _rising(ranks[:, rng.integers(len(pilots))], of_others)
    of_labels = [_rising(ranks[:, rng.integers(len(pilots))], share) for _ in range(Y.shape[1])]
    return rng.random(X.shape) < probability, rng.random(Y.shape) < np.column_stack(of_labels)


def by_own_value(X: np.ndarray, Y: np.ndarray, share: float, rng: np.random.Generator) -> Masks:
    """Hold out features with a probability that grows with their own rank, or falls; labels at random."""
    direction = rng.choice((-1, 1), X.shape[1])
    ranks = _ranks(X * direction)
    probability = np.column_stack([_rising(column, share) for column in ranks.T])
    return rng.random(X.shape) < probability, rng.random(Y.shape) < share


def in_blocks(X: np.ndarray, Y: np.ndarray, share: float, rng: np.random.Generator) -> Masks:
    """Hold out groups of columns in groups of rows; each of the former lacks as many of the latter."""
    row_group = rng.permutation(np.arange(len(X)) % ROW_GROUPS)
    return _blocks(row_group, X.shape[1], share, rng), _blocks(row_group, Y.shape[1], share, rng)


MECHANISMS: dict[str, Callable[[np.ndarray, np.ndarray, float, np.random.Generator], Masks]] = {
    "random": at_random,
    "other": by_other_column,
    "value": by_own_value,
    "blocks": in_blocks,
}


def keep_enough(held_out: np.ndarray, table: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Show one cell of each of two values in every column that would show fewer.

    Parameters
    ----------
    held_out : ndarray of bool, shape (n_samples, n_columns)
    table : ndarray of the same shape
        For labels, the two values are 0 and 1.
    rng : Generator

    Returns
    -------
    ndarray of bool, shape (n_samples, n_columns)
        ``held_out``, or less of it.
    """
    held_out = held_out.copy()
    for j, column in enumerate(table.T):
        while len(shown := np.unique(column[~held_out[:, j]])) < min(2, len(np.unique(column))):
            missing = np.flatnonzero(~np.isin(column, shown))
            held_out[rng.choice(missing), j] = False
    return held_out


def _shares(share: float, n_pilots: int, n_others: int) -> tuple[float, float]:
    """Shares to hold out of pilots and of others, ``share`` over all: a quarter of it where possible."""
    if not n_others:
        return share, share
    total = share * (n_pilots + n_others)
    of_others = min((total - share / 4 * n_pilots) / n_others, max(MOST, share))
    return (total - of_others * n_others) / n_pilots, of_others


def _ranks(table: np.ndarray) -> np.ndarray:
    """Ranks of every column, from -1 to 1; equal values have equal ranks."""
    return 2 * (rankdata(table, axis=0) - 0.5) / len(table) - 1


def _rising(ranks: np.ndarray, share: float) -> np.ndarray:
    """Probabilities, logistic in the ranks, whose mean is the share."""
    offset = brentq(lambda offset: expit(offset + SLOPE * ranks).mean() - share, -20, 20)
    return expit(offset + SLOPE * ranks)


def _blocks(row_group: np.ndarray, n_columns: int, share: float, rng: np.random.Generator) -> np.ndarray:
    n_groups = min(n_columns, max(2, min(COLUMN_GROUPS, round(n_columns / 3))))
    column_group = rng.permutation(np.arange(n_columns) % n_groups)
    lacking = np.zeros((ROW_GROUPS, n_groups), dtype=bool)
    for j in range(n_groups):
        lacking[rng.choice(ROW_GROUPS, round(share * ROW_GROUPS), replace=False), j] = True
    return lacking[np.ix_(row_group, column_group)]
