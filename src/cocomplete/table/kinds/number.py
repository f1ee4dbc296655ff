"""Numbers: any, or those inside bounds, or in steps, such as whole ones."""

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
    step : float
        What all differences of the column's values are multiples of, and those of fills: 1 of whole numbers,
        0.01 of prices; 0 if there is no such step.
    origin : float
        A value, or one that it could hold, that steps are counted from.
    """

    low: float = -np.inf
    high: float = np.inf
    step: float = 0.0
    origin: float = 0.0
    name: ClassVar[str] = "number"

    def encode(self, column: Column) -> FloatArray:
        """Take the numbers as they are."""
        assert isinstance(column, np.ndarray)
        return column[:, None]

    def fill(self, posterior: Posterior) -> FloatArray:
        """Give the posterior mean, to the nearest step, inside the bounds."""
        return self.drawn(posterior.mean)

    def expected(self, posterior: Posterior) -> FloatArray:
        """Give the posterior mean, inside the bounds."""
        return np.clip(posterior.mean[:, 0], self.low, self.high)

    def drawn(self, encoded: FloatArray) -> FloatArray:
        """Give the number, to the nearest step, inside the bounds."""
        value = encoded[:, 0]
        if self.step:
            value = self.origin + np.round((value - self.origin) / self.step) * self.step
        return np.asarray(np.clip(value, self.low, self.high))
