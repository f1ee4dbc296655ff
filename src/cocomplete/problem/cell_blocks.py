"""The observed cells of a table in row blocks, wherever these are."""

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.engines.engine import Engine, Reference, Threads
from cocomplete.engines.row_blocks import InProcess
from cocomplete.problem.cells import Cells


@dataclass(frozen=True, eq=False)
class CellBlocks:
    """References to the cells of consecutive rows.

    Attributes
    ----------
    engine : Engine
        Where they are.
    blocks : list
        One reference to :class:`Cells` for each block.
    shape : tuple of int
        Of the whole table.
    n_features : int
    size : int
        Number of observed cells.
    dtype : numpy.dtype
        Of features.
    """

    engine: Engine
    blocks: list[Reference]
    shape: tuple[int, int]
    n_features: int
    size: int
    dtype: np.dtype[np.floating]

    @classmethod
    def of(cls, cells: Cells, width: int) -> "CellBlocks":
        """Cut cells in memory into blocks.

        Parameters
        ----------
        cells : Cells
        width : int
            Numbers per row that a pass works with.
        """
        blocks = InProcess.blocks(cells, width, lambda some: some)
        size = cells.x_value.size + cells.y_value.size
        return cls(Threads(), blocks, cells.shape, cells.n_features, size, cells.x_value.dtype)

    @classmethod
    def at(cls, engine: Engine, blocks: list[Reference]) -> "CellBlocks":
        """Take blocks of cells where they are."""
        found = list(engine.collect(_sizes, blocks))
        (_, m), n_features, _, dtype = found[0]
        n, size = sum(shape[0] for shape, *_ in found), sum(each[2] for each in found)
        return cls(engine, blocks, (n, m), n_features, size, dtype)

    def census(self) -> "ColumnCensus":
        """Count and add up the observed cells of every column."""
        found: ColumnCensus = reduce(ColumnCensus.plus, self.engine.collect(ColumnCensus.of, self.blocks))
        return found


class ColumnCensus(NamedTuple):
    """Observed cells of every column of M.

    Attributes
    ----------
    counts, totals, squares : ndarray of shape (n_features + n_labels,)
        How many there are, their sum, and that of their squares.
    """

    counts: FloatArray
    totals: FloatArray
    squares: FloatArray

    @classmethod
    def of(cls, cells: Cells) -> "ColumnCensus":
        """Count and add up those of some rows."""
        m = cells.shape[1]
        found = np.zeros((3, m))
        for column, value in ((cells.x_column, cells.x_value), (cells.y_column, cells.y_value)):
            found[0] += np.bincount(column, minlength=m)
            found[1] += np.bincount(column, value, m)
            found[2] += np.bincount(column, np.square(value, dtype=np.float64), m)
        return cls(*found)

    def plus(self, other: "ColumnCensus") -> "ColumnCensus":
        """Add those of further rows."""
        return ColumnCensus(*(one + each for one, each in zip(self, other, strict=True)))

    def one_sided(self, n_features: int) -> BoolArray:
        """Find the 0/1 columns of which some cells are observed, but zeros alone or ones alone."""
        count, ones = self.counts[n_features:], self.totals[n_features:]
        return np.asarray((count > 0) & ((ones == 0) | (ones == count)))


def _sizes(cells: Cells) -> tuple[tuple[int, int], int, int, np.dtype[np.floating]]:
    size = int(cells.x_value.size + cells.y_value.size)
    return cells.shape, cells.n_features, size, cells.x_value.dtype
