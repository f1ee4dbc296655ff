"""The observed cells alone, row by row."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import reduce

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.engines.row_blocks import InProcess, row_bounds
from cocomplete.problem.observations import Observations

PART_NUMBERS, LEAST_PARTS = 250_000, 16
"""Numbers of a dense block of rows: enough to be worth a visit, few enough for the processor's cache; and
how many blocks of more there are at least."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Ω_X and Ω_Y as two compressed-row patterns; nothing is stored for unknown cells.

    Attributes
    ----------
    x_start, y_start : ndarray of int64, shape (n_samples + 1,)
        Where each row's cells begin.
    x_column, y_column : ndarray of int32
        Column of each cell in M; labels are counted after the features.
    x_value, y_value : ndarray
        What was observed.
    shape : tuple of int
        Shape of M.
    n_features : int
    """

    x_start: NDArray[np.int64]
    x_column: NDArray[np.int32]
    x_value: FloatArray
    y_start: NDArray[np.int64]
    y_column: NDArray[np.int32]
    y_value: FloatArray
    shape: tuple[int, int]
    n_features: int

    @classmethod
    def of(cls, observed: Observations) -> "Cells":
        """Collect the observed cells."""
        d = observed.n_features
        x_start, x_column = _compress(observed.X_known, 0)
        y_start, y_column = _compress(observed.Y_known, d)
        return cls(
            x_start,
            x_column,
            observed.X[observed.X_known],
            y_start,
            y_column,
            observed.Y[observed.Y_known],
            (observed.n_samples, d + observed.n_labels),
            d,
        )

    def parts(self) -> "list[Part]":
        """Cut the rows into blocks, for the passes over their cells.

        How many depends on the table alone, so that sums, and with them every answer, do not depend on how
        many threads there are. A block has at least as many rows as the table has columns: sums for all
        columns then cost no more than the rows do. Those of a long table have up to four times as many, which
        Gram matrices are quicker with, as long as there are blocks for many threads.
        """
        n, m = self.shape
        parts = []
        for first, last in row_bounds(n, m, max(PART_NUMBERS, m * m, min(4 * m * m, n * m // LEAST_PARTS))):
            x, y = (slice(int(start[first]), int(start[last])) for start in (self.x_start, self.y_start))
            parts.append(Part(self.rows(first, last), slice(first, last), x, y))
        return parts

    def rows(self, first: int, last: int) -> "Cells":
        """Give the cells of some consecutive rows."""
        if first == 0 and last == self.shape[0]:
            return self
        x, y = (slice(start[first], start[last]) for start in (self.x_start, self.y_start))
        return replace(
            self,
            x_start=self.x_start[first : last + 1] - self.x_start[first],
            x_column=self.x_column[x],
            x_value=self.x_value[x],
            y_start=self.y_start[first : last + 1] - self.y_start[first],
            y_column=self.y_column[y],
            y_value=self.y_value[y],
            shape=(last - first, self.shape[1]),
        )

    def take(self, some: NDArray[np.intp]) -> "Cells":
        """Give the cells of some rows."""
        x_start, x = _gathered(self.x_start, some)
        y_start, y = _gathered(self.y_start, some)
        return replace(
            self,
            x_start=x_start,
            x_column=self.x_column[x],
            x_value=self.x_value[x],
            y_start=y_start,
            y_column=self.y_column[y],
            y_value=self.y_value[y],
            shape=(len(some), self.shape[1]),
        )

    def matrices(self, gx: FloatArray, gy: FloatArray) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Give values on Ω as two sparse matrices, features and labels, without copying them."""
        n, m = self.shape
        d = self.n_features
        left = _matrix(gx, self.x_column, self.x_start, (n, d))
        right = _matrix(gy, self.y_column - np.int32(d), self.y_start, (n, m - d))
        return left, right


@dataclass(frozen=True, eq=False)
class Part:
    """The cells of some consecutive rows, and where they are in the table.

    Attributes
    ----------
    cells : Cells
    rows : slice
        Of the table's rows.
    x, y : slice
        Of the table's observed features and labels, as :class:`Cells` orders them.
    """

    cells: Cells
    rows: slice
    x: slice
    y: slice

    @classmethod
    def whole(cls, cells: Cells) -> "Part":
        """Give all rows as one part."""
        return cls(
            cells, *(slice(0, size) for size in (cells.shape[0], cells.x_value.size, cells.y_value.size))
        )


def without_labels(cells: Cells, labels: BoolArray) -> Cells:
    """Leave the cells of some 0/1 columns out."""
    if not labels.any():
        return cells
    kept = ~labels[cells.y_column - cells.n_features]
    before = np.concatenate(([0], np.cumsum(kept)))
    return Cells(
        cells.x_start,
        cells.x_column,
        cells.x_value,
        before[cells.y_start].astype(np.int64),
        cells.y_column[kept],
        cells.y_value[kept],
        cells.shape,
        cells.n_features,
    )


def matrix_blocks(
    parts: Sequence[Part], gx: FloatArray, gy: FloatArray | None
) -> list[tuple[sparse.csr_array, sparse.csr_array]]:
    """Give values on Ω as pairs of sparse matrices, features and labels, one pair for each part.

    Parameters
    ----------
    gx, gy : ndarray
        One number for every observed feature, and label, of the table; without ``gy`` there are no labels.
    """
    blocks = []
    for part in parts:
        left, right = part.cells.matrices(gx[part.x], part.cells.y_value if gy is None else gy[part.y])
        blocks.append((left, right[:, :0] if gy is None else right))
    return blocks


def column_sums(parts: Sequence[Part], gx: FloatArray, gy: FloatArray) -> FloatArray:
    """Add up numbers on Ω over every column of M, block by block; see :func:`matrix_blocks`."""

    def of_part(part: Part) -> FloatArray:
        m = part.cells.shape[1]
        features = np.bincount(part.cells.x_column, gx[part.x], m)
        # Of no cells at all, bincount makes integers.
        return np.asarray(features + np.bincount(part.cells.y_column, gy[part.y], m), np.float64)

    return reduce(np.add, InProcess.visit(parts, of_part))


def column_counts(parts: Sequence[Part]) -> FloatArray:
    """Count the observed cells of every column of M."""

    def of_part(part: Part) -> FloatArray:
        m = part.cells.shape[1]
        features, labels = (
            np.bincount(each, minlength=m) for each in (part.cells.x_column, part.cells.y_column)
        )
        return np.asarray(features + labels, np.float64)

    return reduce(np.add, InProcess.visit(parts, of_part))


def _matrix(
    values: FloatArray, column: NDArray[np.int32], start: NDArray[np.int64], shape: tuple[int, int]
) -> sparse.csr_array:
    """Make a sparse matrix around its arrays; SciPy's constructor would copy parts of larger ones."""
    matrix = sparse.csr_array(shape, dtype=values.dtype)
    index = np.int32 if values.size <= np.iinfo(np.int32).max else np.int64
    matrix.data, matrix.indices, matrix.indptr = values, column.astype(index, copy=False), start.astype(index)
    return matrix


def _compress(known: BoolArray, first: int) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
    start = np.zeros(len(known) + 1, np.int64)
    np.cumsum(known.sum(axis=1), out=start[1:])
    numbers = np.arange(first, first + known.shape[1], dtype=np.int32)
    return start, np.broadcast_to(numbers, known.shape)[known]


def _gathered(
    start: NDArray[np.int64], some: NDArray[np.intp]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where some rows' cells begin once they are gathered, and where they are now."""
    count = start[some + 1] - start[some]
    new = np.concatenate(([0], np.cumsum(count)))
    return new, np.arange(new[-1]) + np.repeat(start[some] - new[:-1], count)
