"""Where cells are missing: a small map whose order shows structure, and columns never seen together."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import leaves_list, linkage
from scipy.spatial.distance import squareform

from cocomplete.arrays import BoolArray
from cocomplete.report.record import HolesMap, NeverTogether
from cocomplete.report.sentences import holes_sentence, together_sentence
from cocomplete.report.source import spread

MAP_ROWS, MAP_COLUMNS = 100, 200
"""Rows and columns of the map, at most."""

LOOKED_AT = 20_000
"""Rows that the map is made of; of a longer table, so many spread evenly over it."""

CLUSTERED = 2_000
"""Columns that are ordered by their holes; more keep the table's order."""

MOST_PAIRS = 50
"""Pairs that are named."""


def holes_map(known: BoolArray) -> HolesMap:
    """Make the map.

    Parameters
    ----------
    known : ndarray of bool, shape (n_rows, n_columns)
    """
    n = len(known)
    missing = ~known[spread(n, LOOKED_AT)]
    columns = column_order(missing)
    rows, patterns, commonest = row_order(missing[:, columns])
    ordered = missing[np.ix_(rows, columns)]
    row_bounds, column_bounds = (
        np.linspace(0, size, min(size, most) + 1).astype(np.intp)
        for size, most in zip(ordered.shape, (MAP_ROWS, MAP_COLUMNS), strict=True)
    )
    sizes = np.diff(row_bounds)
    counts = np.add.reduceat(ordered.astype(np.int64), row_bounds[:-1], axis=0) if len(rows) else ordered
    counts = np.add.reduceat(counts, column_bounds[:-1], axis=1) if columns.size else counts
    share = counts / np.maximum(sizes[:, None] * np.diff(column_bounds), 1)
    return HolesMap(
        tuple(int(size) for size in _scaled(sizes, n)),
        tuple(tuple(int(j) for j in columns[first:last]) for first, last in pairwise(column_bounds)),
        tuple(tuple(int(per_cent) for per_cent in row) for row in _per_cent(share)),
        patterns,
        commonest,
        len(missing),
        holes_sentence(patterns, commonest, len(missing), n),
    )


def column_order(missing: BoolArray) -> NDArray[np.intp]:
    """Put columns that are missing in the same rows next to each other."""
    m = missing.shape[1]
    if not 2 < m <= CLUSTERED or not len(missing):
        return np.arange(m)
    table = missing.astype(np.float32)
    both = (table.T @ table).astype(np.float64)
    count = np.diag(both)
    # Rows in which one of the two is missing and the other is not.
    apart = count[:, None] + count[None, :] - 2 * both
    np.fill_diagonal(apart, 0)
    order = leaves_list(linkage(squareform(apart, checks=False), "average"))
    # From the fullest end to the emptiest.
    return np.asarray(order if count[order[0]] <= count[order[-1]] else order[::-1], np.intp)


def row_order(missing: BoolArray) -> tuple[NDArray[np.intp], int, float]:
    """Put rows with the same pattern of holes together, those with few holes first.

    Returns
    -------
    rows : ndarray of int
    patterns : int
        Number of different ones.
    commonest : float
        Share of the rows that have the commonest.
    """
    if not missing.size:
        return np.arange(len(missing)), min(len(missing), 1), 1.0
    packed = np.packbits(missing, axis=1)
    _, pattern, count = np.unique(packed, axis=0, return_inverse=True, return_counts=True)
    pattern = pattern.ravel()
    # Patterns are numbered in the order of their bits.
    rows = np.lexsort((pattern, missing.sum(axis=1)))
    return rows, len(count), float(count.max() / len(missing))


def never_together(known: BoolArray) -> NeverTogether:
    """Find pairs of columns that no row has both observed.

    Parameters
    ----------
    known : ndarray of bool, shape (n_rows, n_columns)
    """
    count = known.sum(axis=0)
    columns = np.flatnonzero(count)
    some = known[spread(len(known), LOOKED_AT)]
    apart = _apart(some[:, columns])
    # A pair that a sample does not have may be in other rows.
    left = np.flatnonzero(apart.any(axis=0))
    if len(some) < len(known) and left.size:
        apart[np.ix_(left, left)] &= _apart(known[:, columns[left]])
    first, second = np.nonzero(np.triu(apart, 1))
    pairs = columns[np.column_stack((first, second))[:MOST_PAIRS]]
    named = tuple((int(one), int(other)) for one, other in pairs)
    return NeverTogether(len(first), named, together_sentence(len(first)))


def _apart(known: BoolArray) -> BoolArray:
    """Which columns no row has both of; a column is never apart from itself."""
    table = known.astype(np.float32)
    apart: BoolArray = (table.T @ table) == 0
    np.fill_diagonal(apart, val=False)
    return apart


def _per_cent(share: NDArray[np.floating]) -> NDArray[np.intp]:
    """Give whole per cent; 0 and 100 mean none and all."""
    rounded = np.clip(np.round(100 * share), 1, 99)
    return np.where(share == 0, 0, np.where(share == 1, 100, rounded)).astype(np.intp)


def _scaled(sizes: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Let the numbers of rows add up to those of the table, where a sample served."""
    ends = np.concatenate(([0], np.cumsum(sizes)))
    whole = np.round(ends * (n / max(int(ends[-1]), 1))).astype(np.intp)
    return np.asarray(np.diff(whole), np.intp)
