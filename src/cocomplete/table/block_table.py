"""Tables that are read some rows at a time: on disk, on a cluster, or too long to be copied."""

from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from cocomplete.engines.row_blocks import row_bounds

BLOCK_NUMBERS = 4_000_000
"""Cells of a block, known or not: enough to be worth a task, few enough for several at once."""

COMPLETED_NUMBERS = 500_000
"""Cells that are completed at a time, by each thread: a cell takes up to seventy bytes meanwhile. Arrays of
this size are handed on from block to block; larger ones are given back and asked for anew, and eight times as
many cells take a third longer."""


class BlockRows(NamedTuple):
    """Some consecutive rows in a user's own containers: features, and labels if there are any."""

    X: Any
    y: Any


class BlockTable(ABC):
    """Features and labels of which some consecutive rows can be asked for.

    How rows are cut into blocks depends on the numbers of rows and columns alone, not on how the table is
    stored, so that the same table has the same answer wherever it lies. Pickled, it is a reference to what is
    stored and not the cells, unless these are in memory anyway.
    """

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Numbers of rows, and of columns, features and labels together."""

    @abstractmethod
    def read(self, first: int, last: int) -> BlockRows:
        """Give some consecutive rows."""

    def bounds(self) -> list[tuple[int, int]]:
        """Give the first row of every block and the one after its last."""
        return row_bounds(*self.shape, BLOCK_NUMBERS)

    def completed_bounds(self) -> list[tuple[int, int]]:
        """Give the like of the smaller blocks in which rows are completed."""
        return row_bounds(*self.shape, COMPLETED_NUMBERS)


class ArrayBlocks(BlockTable):
    """A table in memory, without copying it.

    Parameters
    ----------
    X, y : containers that were checked
        Anything that can be sliced by rows.
    """

    def __init__(self, X: Any, y: Any = None) -> None:
        self.X, self.y = X, y

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        labels = 0 if self.y is None else (1 if np.ndim(self.y) == 1 else self.y.shape[1])
        return self.X.shape[0], self.X.shape[1] + labels

    def read(self, first: int, last: int) -> BlockRows:
        """Give some consecutive rows, as views."""
        X, y = (each.iloc if hasattr(each, "iloc") else each for each in (self.X, self.y))
        return BlockRows(X[first:last], None if y is None else y[first:last])
