"""Features and labels by their stored cells, checked against each other."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from cocomplete.exceptions import InputError
from cocomplete.problem.informative import usual_sizes
from cocomplete.problem.observations import check_same_rows, check_size
from cocomplete.table.sparse_matrix import SparseMatrix


@dataclass(frozen=True, eq=False)
class SparseTable:
    """What :class:`cocomplete.problem.observations.Observations` is to dense tables.

    Attributes
    ----------
    X, Y : SparseMatrix
        Features, and 0/1 labels; same rows, same float type.
    """

    X: SparseMatrix
    Y: SparseMatrix

    @classmethod
    def checked(cls, X: SparseMatrix, Y: SparseMatrix | None) -> "SparseTable":
        """Check both tables against each other and what they may hold.

        Raises
        ------
        InputError
            With one sentence that names the argument, what was found and what to do.
        """
        check_size(*X.shape)
        if Y is None:
            Y = SparseMatrix.nothing(X.shape[0], 0, X.matrix.dtype)
        check_same_rows(X.shape[0], Y.shape[0])
        _check_numbers(X)
        _check_labels(Y)
        dtype = X.matrix.dtype
        return cls(X, SparseMatrix(Y.matrix.astype(dtype, copy=False), Y.zeros))

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return self.X.shape[0]

    @property
    def n_features(self) -> int:
        """Number of features, d."""
        return self.X.shape[1]

    @property
    def n_labels(self) -> int:
        """Number of labels, l."""
        return self.Y.shape[1]

    def check_something_known(self) -> None:
        """Refuse a table without observed cells.

        Raises
        ------
        InputError
        """
        if not self.X.known_counts().any() and not self.Y.known_counts().any():
            msg = (
                f"X and y have no observed cell at all ({self.n_samples} rows, {self.n_features} features, "
                f"{self.n_labels} labels); at least one value is needed"
            )
            raise InputError(msg)

    def rows(self, first: int, last: int) -> "SparseTable":
        """Give some consecutive rows."""
        return SparseTable(self.X.rows(first, last), self.Y.rows(first, last))

    def take(self, rows: Any) -> "SparseTable":
        """Give some rows."""
        return SparseTable(self.X.take(rows), self.Y.take(rows))

    def with_features_alone(self) -> "SparseTable":
        """Give the same rows with unknown labels."""
        return SparseTable(self.X, SparseMatrix.nothing(self.n_samples, self.n_labels, self.X.matrix.dtype))


def _check_numbers(X: SparseMatrix) -> None:
    values = X.matrix.data
    infinite = np.isinf(values)
    if infinite.any():
        row, column = _place(X, int(np.argmax(infinite)))
        msg = (
            f"X must be finite or unknown, but column {column} holds inf in row {row} (counting from 0) and "
            f"{int(infinite.sum())} cell(s) in all are infinite; replace infinities by NaN if the value is "
            "unknown"
        )
        raise InputError(msg)
    most = float(usual_sizes(values.dtype)[1])
    large = np.abs(values) > most
    if large.any():
        row, column = _place(X, int(np.argmax(large)))
        msg = (
            f"X holds {values[large][0]:g} in column {column}, row {row} (counting from 0), beyond {most:g}: "
            "the squares of a sparse table's numbers must be numbers; use another unit"
        )
        raise InputError(msg)


def _check_labels(Y: SparseMatrix) -> None:
    values = Y.matrix.data
    bad = ~(np.isnan(values) | (values == 0) | (values == 1))
    if bad.any():
        row, column = _place(Y, int(np.argmax(bad)))
        msg = (
            f"y must hold 0, 1 or unknown, but column {column} holds {values[bad][0]:g} in row {row} "
            "(counting from 0); recode it to 0 and 1, with NaN for unknown"
        )
        raise InputError(msg)


def _place(table: SparseMatrix, cell: int) -> tuple[int, int]:
    """Row and column of a stored cell."""
    row = int(np.searchsorted(table.matrix.indptr, cell, side="right")) - 1
    return row, int(table.matrix.indices[cell])
