"""What every kind of column offers: how it is encoded as numbers and 0/1 columns, and how it is read back."""

from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.table.containers import DateColumn, TextColumn

Column = FloatArray | TextColumn | DateColumn
"""A user's column as it was read: numbers (NaN where unknown), words or dates."""


class Posterior(NamedTuple):
    """What the model predicts of a column's cells.

    Attributes
    ----------
    mean, std : ndarray of shape (n_rows, width)
        Of the column's encoded columns; of 0/1 columns the probability of a 1, and its standard deviation.
    levels : ndarray of shape (n_rows, number of levels) or None
        Probability of every level, of a column that has levels in an order.
    """

    mean: FloatArray
    std: FloatArray
    levels: FloatArray | None = None


class Kind(Protocol):
    """A kind of column, with what it needs to know of one.

    A column is encoded as one or several columns that the solvers know: numbers, under squared loss, or 0/1
    columns, under logistic loss.
    """

    name: ClassVar[str]
    """What ``feature_types`` calls it."""

    binary: ClassVar[bool]
    """Whether it is encoded as 0/1 columns."""

    @property
    def parts(self) -> tuple[str, ...]:
        """What its encoded columns stand for; one empty string for a column that is encoded as one."""

    @property
    def codes(self) -> FloatArray | None:
        """Encoded values of levels in an order; None if it has none."""

    @property
    def values(self) -> tuple[Any, ...] | None:
        """What its cells may hold, in the order of :meth:`probabilities`; None if there is no end to it."""

    def encode(self, column: Column) -> FloatArray:
        """Give the encoded columns, NaN where unknown; shape (n_rows, len(parts))."""

    def fill(self, posterior: Posterior) -> NDArray[Any]:
        """Give the value that is to stand in every cell: one that the column could hold."""

    def expected(self, posterior: Posterior) -> NDArray[Any]:
        """Give the expected value of every cell, where the column has such; otherwise as :meth:`fill`."""

    def std(self, posterior: Posterior) -> FloatArray:
        """Give the standard deviation of every cell; of a word, that of its being right."""

    def probabilities(self, posterior: Posterior) -> FloatArray | None:
        """Give the probability of every value; None if there is no end to them."""

    def drawn(self, encoded: FloatArray) -> NDArray[Any]:
        """Give a draw of the encoded columns as values of the column."""


class OneNumber:
    """A kind that is encoded as one column of numbers."""

    binary: ClassVar[bool] = False

    @property
    def parts(self) -> tuple[str, ...]:
        """One column."""
        return ("",)

    @property
    def codes(self) -> FloatArray | None:
        """No levels."""
        return None

    @property
    def values(self) -> tuple[Any, ...] | None:
        """Without end."""
        return None

    def std(self, posterior: Posterior) -> FloatArray:
        """Give that of the number."""
        return posterior.std[:, 0]

    def probabilities(self, posterior: Posterior) -> FloatArray | None:
        """None: there is no end to its values."""
        return None


def chance_of_being_right(probabilities: FloatArray) -> FloatArray:
    """Give the standard deviation of whether the likeliest value is right."""
    p = probabilities.max(axis=1)
    return np.asarray(np.sqrt(p * (1 - p)))


def level_text(level: Any) -> str:
    """Give a value as it stands in the name of an encoded column."""
    return level if isinstance(level, str) else f"{level:g}"
