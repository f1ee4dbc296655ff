"""Unix times: dates as whole numbers of seconds since 1970, or of thousandths or millionths of them."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.table.containers import DateColumn
from cocomplete.table.kinds.date import Date
from cocomplete.table.kinds.kind import Column, OneNumber, Posterior

SIZES = (1_000_000, 1_000, 1)
"""Microseconds that a unit may have: seconds, milliseconds, microseconds."""

EARLIEST, LATEST = 315_532_800, 4_102_444_800
"""Seconds from 1970 to 1980 and to 2100: numbers beyond are no Unix times."""


LARGEST = 2.0**62
"""Microseconds that a date may be away from 1970."""


@dataclass(frozen=True)
class UnixTime(OneNumber):
    """A column of Unix times, which are modelled as dates and come back in their own unit.

    Attributes
    ----------
    date : Date
        The same as dates.
    size : int
        Microseconds of the column's unit.
    """

    date: Date
    size: int = 1_000_000
    name: ClassVar[str] = "date"

    @classmethod
    def of(cls, column: FloatArray) -> "UnixTime | None":
        """Find the unit in which a column's numbers are times from 1980 to 2100; None if there is none."""
        known = column[~np.isnan(column)]
        if not known.size or (known != np.round(known)).any():
            return None
        for size in SIZES:
            seconds = known * (size / 1e6)
            if seconds.min() >= EARLIEST and seconds.max() < LATEST:
                return cls(Date.of(_moments(column, size)), size)
        return None

    def encode(self, column: Column) -> FloatArray:
        """Count days from the origin of the dates."""
        assert isinstance(column, np.ndarray)
        # What is no number of times is left for the check of the whole table to refuse.
        return np.where(np.isinf(column)[:, None], np.inf, self.date.encode(_moments(column, self.size)))

    def fill(self, posterior: Posterior) -> FloatArray:
        """Give the expected time, rounded to the unit in which all observed ones are whole."""
        return self.drawn(posterior.mean)

    def expected(self, posterior: Posterior) -> FloatArray:
        """Give the same: a time is expected to be one."""
        return self.fill(posterior)

    def drawn(self, encoded: FloatArray) -> FloatArray:
        """Give the time so many days from the origin."""
        return np.asarray(self.date.drawn(encoded).astype(np.int64) / self.size)


def _moments(column: FloatArray, size: int) -> DateColumn:
    known = ~np.isnan(column)
    # New rows may hold anything: what is too large for a date is the largest.
    micros = np.clip(np.where(known, column, 0).astype(np.float64) * size, -LARGEST, LARGEST)
    moments = micros.astype(np.int64).astype("datetime64[us]")
    return DateColumn(np.where(known, moments, np.datetime64("NaT", "us")))
