"""Ordered levels: answers from 1 to 5, low to high."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.table.containers import TextColumn
from cocomplete.table.kinds.kind import Column, OneNumber, Posterior


@dataclass(frozen=True)
class Ordinal(OneNumber):
    """A column of levels in an order: steps of a number that the model explains.

    A level is observed where that number lies between two cuts, with logistic noise: P(level ≤ k) =
    σ((c_k − mean) / scale), as in ordered logistic regression; cuts and scale are found on held-out cells
    (:mod:`cocomplete.fitted.levels`). Trees for every level may have a share in these probabilities.

    Attributes
    ----------
    levels : tuple
        Values, str or float, from the lowest to the highest.
    """

    levels: tuple[Any, ...]
    name: ClassVar[str] = "ordinal"

    @property
    def codes(self) -> FloatArray:
        """Numbers themselves; words by their position."""
        words = isinstance(self.levels[0], str)
        return np.arange(len(self.levels), dtype=float) if words else np.array(self.levels, dtype=float)

    @property
    def values(self) -> tuple[Any, ...]:
        """The levels."""
        return self.levels

    def encode(self, column: Column) -> FloatArray:
        """Give the codes; a level that was never seen in a fit is unknown if it is a word."""
        if isinstance(column, TextColumn):
            place = {level: float(k) for k, level in enumerate(self.levels)}
            return np.array([[place.get(word, np.nan)] for word in column.values])
        assert isinstance(column, np.ndarray)
        return column[:, None]

    def fill(self, posterior: Posterior) -> NDArray[Any]:
        """Give the likeliest level."""
        return self._named(np.argmax(self.probabilities(posterior), axis=1))

    def expected(self, posterior: Posterior) -> NDArray[Any]:
        """Give the expected number; the likeliest level, of words."""
        if isinstance(self.levels[0], str):
            return self.fill(posterior)
        return np.asarray(np.clip(posterior.mean[:, 0], self.codes[0], self.codes[-1]))

    def probabilities(self, posterior: Posterior) -> FloatArray:
        """Give those of all levels; they add up to 1."""
        assert posterior.levels is not None
        return posterior.levels

    def drawn(self, encoded: FloatArray) -> NDArray[Any]:
        """Give the level whose code is nearest."""
        middle = (self.codes[1:] + self.codes[:-1]) / 2
        return self._named(np.searchsorted(middle, encoded[:, 0]))

    def _named(self, position: NDArray[np.intp]) -> NDArray[Any]:
        words = isinstance(self.levels[0], str)
        return np.array(self.levels, object if words else np.float64)[position]
