"""Numbers: any, or those inside bounds, or whole ones."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.table.kinds.kind import Column, OneNumber, Posterior


@dataclass(frozen=True)
class Number(OneNumber):
    """A column of numbers: normal around the model's value, in its own units or those of normal scores.

    Attributes
    ----------
    low, high : float
        Bounds that fills keep to.
    whole : bool
        Whether the column holds whole numbers alone, and is filled with such.
    """

    low: float = -np.inf
    high: float = np.inf
    whole: bool = False
    name: ClassVar[str] = "number"

    def encode(self, column: Column) -> FloatArray:
        """Take the numbers as they are."""
        assert isinstance(column, np.ndarray)
        return column[:, None]

    def fill(self, posterior: Posterior) -> FloatArray:
        """Give the posterior mean, rounded where numbers are whole, inside the bounds."""
        return self.drawn(posterior.mean)

    def expected(self, posterior: Posterior) -> FloatArray:
        """Give the posterior mean, inside the bounds."""
        return np.clip(posterior.mean[:, 0], self.low, self.high)

    def drawn(self, encoded: FloatArray) -> FloatArray:
        """Give the number, rounded where numbers are whole, inside the bounds."""
        value = encoded[:, 0]
        return np.clip(np.round(value) if self.whole else value, self.low, self.high)
