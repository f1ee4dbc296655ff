"""Dates, with or without times."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.table.containers import DateColumn
from cocomplete.table.kinds.kind import Column, OneNumber, Posterior

UNITS = {"D": 86_400_000_000, "h": 3_600_000_000, "m": 60_000_000, "s": 1_000_000, "ms": 1_000, "us": 1}
"""Microseconds of the units that dates are recorded in, from the coarsest."""


@dataclass(frozen=True)
class Date(OneNumber):
    """A column of dates: a number of days.

    Attributes
    ----------
    origin : int
        What days are counted from, in microseconds since 1970; near the column's own dates, so that a time
        of day keeps its digits.
    unit : str
        The coarsest unit in which all observed dates are whole: fills are rounded to it.
    """

    origin: int = 0
    unit: str = "D"
    name: ClassVar[str] = "date"

    @classmethod
    def of(cls, column: DateColumn) -> "Date":
        """Find the unit in which a column's dates are recorded."""
        moments = column.values[column.known].astype(np.int64)
        if not moments.size:
            return cls()
        unit = "D" if column.days else next(u for u, size in UNITS.items() if (moments % size == 0).all())
        middle = np.partition(moments, len(moments) // 2)[len(moments) // 2]
        return cls(int(middle // UNITS["D"]) * UNITS["D"], unit)

    def encode(self, column: Column) -> FloatArray:
        """Count days from the origin."""
        assert isinstance(column, DateColumn)
        days = (column.values.astype(np.int64) - self.origin) / UNITS["D"]
        return np.where(column.known, days, np.nan)[:, None]

    def fill(self, posterior: Posterior) -> NDArray[np.datetime64]:
        """Give the expected date, rounded to the unit of the column."""
        return self.drawn(posterior.mean)

    def expected(self, posterior: Posterior) -> NDArray[np.datetime64]:
        """Give the same: a date is expected to be one."""
        return self.fill(posterior)

    def drawn(self, encoded: FloatArray) -> NDArray[np.datetime64]:
        """Give the date so many days from the origin."""
        size = UNITS[self.unit]
        steps = np.round(encoded[:, 0] * (UNITS["D"] / size) + self.origin / size)
        return np.asarray((steps.astype(np.int64) * size).astype("datetime64[us]"))
