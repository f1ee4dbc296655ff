"""Keys of rows and columns that depend on what a table holds and not on where.

A key is a hash of content: of ranks within columns, not of positions, names or units. Permuting rows or
columns, adding rows of which nothing is known or changing units, the sign of a feature or which value of a
label is called 1 gives every row and column the key it had.
What must be picked, or put in some order, is picked and ordered by keys.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.problem.observations import Observations

ROUNDS = 3
"""Times that rows take up their columns' keys and columns their rows'; two distinguish equal columns in
different surroundings."""

Keys = NDArray[np.uint64]


class ContentKeys(NamedTuple):
    """Keys of a table's rows and columns, features before labels."""

    rows: Keys
    columns: Keys


def content_keys(observed: Observations, seed: int = 0) -> ContentKeys:
    """Give every row and every column, features before labels, a key that follows from ranks alone.

    Parameters
    ----------
    observed : Observations
    seed : int, default=0
        Other keys for another seed.
    """
    table = np.hstack((observed.X, observed.Y))
    known = np.hstack((observed.X_known, observed.Y_known))
    kind = (np.arange(table.shape[1]) >= observed.n_features).astype(np.uint64)
    hashing = _Hashing(known, kind, mix(kind + np.uint64((2 * seed + 1) % 2**63)))
    upwards, downwards = _rank_codes(table, known)
    # Codes that are the same from either end give rows keys by which the two ends of a column differ; the
    # end whose sum is larger is then the one to count from, whichever way the column is written down.
    rows, _ = hashing.keys(upwards + downwards)
    turned = hashing.of_columns(upwards, rows) < hashing.of_columns(downwards, rows)
    rows, columns = hashing.keys(np.where(turned, downwards, upwards))
    # Equal rows are interchangeable, but must not all be held out together: they are counted.
    return ContentKeys(mix(rows + _occurrences(rows)), mix(columns + np.uint64(2)))


class _Hashing(NamedTuple):
    """Sums of hashes, which do not depend on the order of what is added up.

    Attributes
    ----------
    known : ndarray of bool, shape (n_rows, n_columns)
    kind : ndarray of uint64, shape (n_columns,)
        0 of features, 1 of labels.
    start : ndarray of uint64, shape (n_columns,)
        The first keys of columns.
    """

    known: BoolArray
    kind: Keys
    start: Keys

    def keys(self, codes: Keys) -> tuple[Keys, Keys]:
        """Give keys of rows and of columns from the codes of cells."""
        columns = self.start
        for _ in range(ROUNDS):
            rows = self.of_rows(codes, columns)
            columns = self.of_columns(codes, rows)
        return rows, columns

    def of_rows(self, codes: Keys, columns: Keys) -> Keys:
        """Give keys of rows by the keys of their columns."""
        cells = np.where(self.known, mix(codes + columns), np.uint64(0))
        return np.asarray(cells.sum(axis=1, dtype=np.uint64))

    def of_columns(self, codes: Keys, rows: Keys) -> Keys:
        """Give keys of columns by the keys of their rows."""
        cells = np.where(self.known, mix(codes + mix(rows)[:, None]), np.uint64(0))
        return np.asarray(cells.sum(axis=0, dtype=np.uint64) + mix(self.kind))


def _rank_codes(table: FloatArray, known: BoolArray) -> tuple[Keys, Keys]:
    """Give the hash of every cell's rank in its column, counted from the lowest and from the highest."""
    upwards, downwards = np.zeros(table.shape, np.uint64), np.zeros(table.shape, np.uint64)
    for j in range(table.shape[1]):
        levels, ranks = np.unique(table[known[:, j], j], return_inverse=True)
        upwards[known[:, j], j] = mix(ranks.astype(np.uint64))
        downwards[known[:, j], j] = mix((len(levels) - 1 - ranks).astype(np.uint64))
    return upwards, downwards


def _occurrences(keys: Keys) -> Keys:
    """How many equal keys stand before each, plus one."""
    order = np.argsort(keys, kind="stable")
    ordered = keys[order]
    first = np.concatenate(([True], ordered[1:] != ordered[:-1])) if len(keys) else np.empty(0, bool)
    places = np.arange(len(keys))
    found = np.empty(len(keys), np.uint64)
    found[order] = (places - np.maximum.accumulate(np.where(first, places, 0)) + 1).astype(np.uint64)
    return found


def mix(keys: Keys) -> Keys:
    """Scramble the bits (the finaliser of SplitMix64; Steele, Lea and Flood, 2014)."""
    keys = keys + np.uint64(0x9E3779B97F4A7C15)
    keys = (keys ^ (keys >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    keys = (keys ^ (keys >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return keys ^ (keys >> np.uint64(31))


def uniform(keys: Keys) -> FloatArray:
    """Turn keys into numbers that are as good as uniform on [0, 1)."""
    uniform: FloatArray = (keys >> np.uint64(11)).astype(np.float64) / 2.0**53
    return uniform
