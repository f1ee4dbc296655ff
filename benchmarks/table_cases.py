"""The cases of the benchmark on many tables: which holes each table gets, and what a method is shown.

A case is a table, a mechanism, a share of held-out cells and a seed. Every table gets four of the sixteen
pairs of mechanism and share: each mechanism once and each share once (:func:`combinations`).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from collection import TABLES, load, stable_seed
from holes import MECHANISMS, keep_enough

SHARES = (0.1, 0.3, 0.5, 0.8)
"""Shares of held-out cells."""

SEEDS = (0, 1, 2)

NEW_ROWS = 0.2
"""Share of the rows that no method is trained on: their features have holes and their labels are unknown."""


class Key(NamedTuple):
    """What names a case."""

    table: str
    mechanism: str
    share: float
    seed: int


@dataclass(frozen=True)
class TableCase:
    """A table with its truth: methods are given ``X``, ``Y`` and ``X_new`` alone.

    Attributes
    ----------
    X, Y, X_new : ndarray
        NaN where a cell is held out.
    X_true, Y_true, X_true_new, Y_true_new : ndarray
    yes_no : ndarray of bool, shape (n_features,)
        Features that hold only 0 and 1.
    """

    X: np.ndarray
    Y: np.ndarray
    X_new: np.ndarray
    X_true: np.ndarray
    Y_true: np.ndarray
    X_true_new: np.ndarray
    Y_true_new: np.ndarray
    yes_no: np.ndarray


def combinations(table: str) -> list[tuple[str, float]]:
    """Pairs of mechanism and share for a table: a Latin square, rotated by its place among the sorted names.

    Four neighbours in the list of names have all sixteen pairs between them.
    """
    place = sorted(TABLES).index(table)
    return [(mechanism, SHARES[(place + i) % len(SHARES)]) for i, mechanism in enumerate(MECHANISMS)]


def make_case(key: Key) -> TableCase:
    """Split a table by rows and hold out cells, always the same ones.

    Parameters
    ----------
    key : Key

    Returns
    -------
    TableCase

    Notes
    -----
    Holes are drawn for all rows at once, so that the ranks, pilots and blocks of new rows are those of the
    training rows.
    """
    X, Y = load(key.table)
    rng = np.random.default_rng([stable_seed(f"{key.table} {key.mechanism} {key.share}"), key.seed])
    rows = rng.permutation(len(X))
    X, Y = X[rows], Y[rows]
    held_out_X, held_out_Y = MECHANISMS[key.mechanism](X, Y, key.share, rng)
    n = round((1 - NEW_ROWS) * len(X))
    held_out_X[:n] = keep_enough(held_out_X[:n], X[:n], rng)
    held_out_Y[:n] = keep_enough(held_out_Y[:n], Y[:n], rng)
    X_seen, Y_seen = np.where(held_out_X, np.nan, X), np.where(held_out_Y, np.nan, Y)
    yes_no = np.isin(X, (0.0, 1.0)).all(axis=0)
    return TableCase(X_seen[:n], Y_seen[:n], X_seen[n:], X[:n], Y[:n], X[n:], Y[n:], yes_no)
