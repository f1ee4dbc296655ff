"""Lists of tags in one column of labels: ``rock;live``."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.table.containers import TextColumn
from cocomplete.table.kinds.kind import Column

SEPARATORS = (";", "|", ",")
"""Marks between tags, the first that occurs in the column."""


@dataclass(frozen=True)
class Tags:
    """A column of labels with any number of tags in every cell: one 0/1 column for each.

    Attributes
    ----------
    levels : tuple of str
        The tags, in alphabetical order.
    separator : str
    """

    levels: tuple[str, ...]
    separator: str = ";"
    name: ClassVar[str] = "tags"
    binary: ClassVar[bool] = True

    @classmethod
    def of(cls, column: TextColumn) -> "Tags":
        """Find the tags of a column."""
        words = [word for word in column.values if word is not None]
        separator = next((mark for mark in SEPARATORS if any(mark in word for word in words)), ";")
        return cls(tuple(sorted({tag for word in words for tag in _split(word, separator)})), separator)

    @property
    def parts(self) -> tuple[str, ...]:
        """The tags."""
        return self.levels

    @property
    def values(self) -> tuple[str, ...]:
        """The tags."""
        return self.levels

    def encode(self, column: Column) -> FloatArray:
        """Mark a cell's tags with 1, all others with 0; a cell without any text is unknown."""
        assert isinstance(column, TextColumn)
        place = {tag: k for k, tag in enumerate(self.levels)}
        encoded = np.zeros((len(column.values), len(self.levels)))
        for i, word in enumerate(column.values):
            if word is None:
                encoded[i] = np.nan
                continue
            for tag in _split(word, self.separator):
                if tag in place:
                    encoded[i, place[tag]] = 1
        return encoded

    def drawn(self, encoded: FloatArray) -> NDArray[Any]:
        """Give the tags that are marked."""
        return self.chosen(encoded, np.full(len(self.levels), 0.5))

    def chosen(self, probability: FloatArray, thresholds: FloatArray) -> NDArray[Any]:
        """Give the tags whose probability exceeds their threshold."""
        out = np.empty(len(probability), object)
        out[:] = [self.separator.join(np.array(self.levels, object)[row]) for row in probability > thresholds]
        return out


def _split(word: str, separator: str) -> list[str]:
    return [tag.strip() for tag in word.split(separator) if tag.strip()]
