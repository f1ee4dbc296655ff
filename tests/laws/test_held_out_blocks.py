"""Where blocks are missing, blocks are held out."""

import numpy as np
import pytest
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray
from cocomplete.choosing.held_out import (
    HELD_SHARE,
    _companions,
    folds,
)
from cocomplete.problem.observations import Observations
from tests.laws.held_out_tables import mask, same_folds, table

pytestmark = pytest.mark.usual_folds

nan = np.nan


def blocks(
    seed: int, n: int = 600, sizes: tuple[int, ...] = (3, 4, 2), share: float = 0.3
) -> tuple[Observations, BoolArray, NDArray[np.intp]]:
    """A table whose columns are missing in blocks: a row lacks all columns of one or has all of them."""
    rng = np.random.default_rng(seed)
    block = np.repeat(np.arange(len(sizes)), sizes)
    X = rng.normal(size=(n, len(block)))
    X[(rng.random((n, len(sizes))) < share)[:, block]] = nan
    return Observations(X, np.empty((n, 0))), np.zeros(len(block), bool), block


def test_columns_that_are_missing_together_are_found() -> None:
    observed, _, block = blocks(0)
    company = _companions(observed.X_known)
    same = (block[:, None] == block) & ~np.eye(len(block), dtype=bool)
    assert (company[same] > 0.95).all()
    assert not company[~same].any()


def test_columns_that_are_missing_independently_have_no_company() -> None:
    observed, _ = table(np.random.default_rng(1), 600, 9, 0, 0)
    assert not _companions(observed.X_known).any()
    # Nor have columns that are never missing, or of which one is missing where the other is not.
    known = np.ones((100, 3), bool)
    known[:50, 0] = known[50:, 1] = False
    assert not _companions(known).any()


def test_where_blocks_are_missing_blocks_are_held_out() -> None:
    observed, yes_no, block = blocks(2)
    found = folds(observed, yes_no)
    held = mask(found[0], observed.X.shape)
    for k in range(3):
        own = block == k
        rows = held[:, own].any(axis=1)
        # All of a block or nothing of it, and other blocks no more often than by chance.
        assert held[np.ix_(rows, own)].mean() > 0.9
        assert held[np.ix_(rows, ~own)].mean() < 0.35
    share = held.sum() / observed.X_known.sum()
    assert share == pytest.approx(HELD_SHARE, abs=0.06)


def test_blocks_follow_content_too() -> None:
    observed, yes_no, _ = blocks(3, n=80)
    rng = np.random.default_rng(0)
    row, column = rng.permutation(80), rng.permutation(9)
    X = 3 * observed.X[row][:, column] - 7
    other = Observations(X, np.empty((80, 0)))
    assert _companions(observed.X_known).any()
    assert same_folds(observed, yes_no, other, yes_no, row, column)
