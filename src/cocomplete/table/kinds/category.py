"""Categories: one of several values that have no order."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.table.containers import DateColumn, TextColumn
from cocomplete.table.kinds.kind import Column, Posterior, chance_of_being_right, level_text

MOST_ENCODED = 50
"""Values that have a 0/1 column of their own, the most frequent ones; others are never filled in."""


@dataclass(frozen=True)
class Category:
    """A column with one of several values in every cell: one 0/1 column for each, or one for two of them.

    Attributes
    ----------
    levels : tuple
        Values, str or float, that are filled in.
    """

    levels: tuple[Any, ...]
    name: ClassVar[str] = "category"
    binary: ClassVar[bool] = True

    @classmethod
    def of(cls, column: Column) -> "Category":
        """Find the values of a column, the most frequent if there are many, in alphabetical order."""
        assert not isinstance(column, DateColumn)
        values = column.values if isinstance(column, TextColumn) else column
        known = column.known if isinstance(column, TextColumn) else ~np.isnan(np.asarray(values, float))
        counts = Counter(values[known].tolist())
        common = sorted(counts, key=lambda value: (-counts[value], value))[:MOST_ENCODED]
        return cls(tuple(sorted(common)))

    @property
    def parts(self) -> tuple[str, ...]:
        """What each 0/1 column stands for."""
        encoded = self._encoded
        return ("",) if not encoded else tuple(level_text(level) for level in encoded)

    @property
    def _encoded(self) -> tuple[Any, ...]:
        """Values with a 0/1 column: of two the second alone, of one none."""
        return self.levels if len(self.levels) > 2 else self.levels[1:]

    @property
    def codes(self) -> FloatArray | None:
        """No order."""
        return None

    @property
    def values(self) -> tuple[Any, ...]:
        """The levels."""
        return self.levels

    def encode(self, column: Column) -> FloatArray:
        """Mark every cell's value with a 1; a value that was never seen in a fit is unknown."""
        values = column.values if isinstance(column, TextColumn) else column
        assert isinstance(values, np.ndarray)
        known = np.isin(values, np.array(self.levels, values.dtype)) if len(values) else np.zeros(0, bool)
        encoded = np.zeros((len(values), len(self.parts)))
        for k, level in enumerate(self._encoded):
            encoded[:, k] = values == level
        encoded[~known] = np.nan
        return encoded

    def fill(self, posterior: Posterior) -> NDArray[Any]:
        """Give the likeliest value."""
        return self._named(np.argmax(self.probabilities(posterior), axis=1))

    def expected(self, posterior: Posterior) -> NDArray[Any]:
        """Give the likeliest value: there is no mean of them."""
        return self.fill(posterior)

    def std(self, posterior: Posterior) -> FloatArray:
        """Give the standard deviation of whether the likeliest value is right."""
        return chance_of_being_right(self.probabilities(posterior))

    def probabilities(self, posterior: Posterior) -> FloatArray:
        """Give those of all values; they add up to 1."""
        p = np.clip(posterior.mean, 1e-12, 1.0)
        if len(self.levels) <= 2:
            p = np.column_stack((1 - posterior.mean[:, 0], posterior.mean[:, 0]))[:, : len(self.levels)]
            p = np.maximum(p, 1e-12)
        return np.asarray(p / p.sum(axis=1, keepdims=True))

    def drawn(self, encoded: FloatArray) -> NDArray[Any]:
        """Give the value that is marked."""
        if len(self.levels) > 2:
            return self._named(np.argmax(encoded, axis=1))
        second = encoded[:, 0] > 0.5 if len(self.levels) == 2 else np.zeros(len(encoded))
        return self._named(second.astype(np.intp))

    def chosen(self, probability: FloatArray, thresholds: FloatArray) -> NDArray[Any]:
        """Give the likeliest value, whatever the thresholds of its columns are."""
        return self.fill(Posterior(probability, probability))

    def _named(self, position: Any) -> NDArray[Any]:
        words = bool(self.levels) and isinstance(self.levels[0], str)
        return np.asarray(np.array(self.levels, object if words else np.float64)[position])
