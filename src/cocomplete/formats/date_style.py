"""How a column writes its dates."""

from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta, timezone, tzinfo

import polars as pl


@dataclass(frozen=True)
class DateStyle:
    """The pattern of a column of dates.

    Attributes
    ----------
    order : str
        ``ymd``, ``dmy`` or ``mdy``.
    marks : (str, str)
        What stands between the three.
    months : tuple of str
        Names of all months, as the column writes them; empty where it numbers them.
    padded : bool
        Whether days and months below ten have a zero.
    year_digits : int
        Two or four.
    between : str
        What stands between date and time; empty for dates alone.
    padded_hour : bool
    seconds : bool
    fraction : int
        Digits of the fraction of a second.
    noon : str
        ``AM`` or ``am``, with the space before it, for hours up to twelve.
    offset : str
        ``Z`` or ``+hh:mm``, with or without its colon; empty where no zone is given.
    before, after : str
        Spaces around every cell.
    """

    order: str
    marks: tuple[str, str]
    months: tuple[str, ...] = ()
    padded: bool = True
    year_digits: int = 4
    between: str = ""
    padded_hour: bool = True
    seconds: bool = False
    fraction: int = 0
    noon: str = ""
    offset: str = ""
    before: str = ""
    after: str = ""

    def write(self, values: pl.Series) -> list[str]:
        """Write dates or times in the column's pattern."""
        if values.dtype.is_numeric():
            values = values.cast(pl.Int64)
        return [self.before + self._cell(value) + self.after for value in values.to_list()]

    def _cell(self, value: date | datetime | int | str) -> str:
        if not isinstance(value, date):
            return str(value)
        moment = value if isinstance(value, datetime) else datetime.combine(value, time())
        if self.offset and moment.tzinfo is not None:
            moment = moment.astimezone(zone(self.offset))
        return self._date(moment) + (self.between + self._time(moment) if self.between else "")

    def _date(self, moment: datetime) -> str:
        width = "02d" if self.padded else "d"
        month = self.months[moment.month - 1] if self.months else format(moment.month, width)
        year = f"{moment.year % 100:02d}" if self.year_digits == 2 else f"{moment.year:04d}"
        parts = {"y": year, "m": month, "d": format(moment.day, width)}
        first, second, third = (parts[part] for part in self.order)
        return f"{first}{self.marks[0]}{second}{self.marks[1]}{third}"

    def _time(self, moment: datetime) -> str:
        hour = (moment.hour % 12 or 12) if self.noon else moment.hour
        text = f"{format(hour, '02d' if self.padded_hour else 'd')}:{moment.minute:02d}"
        if self.seconds:
            text += f":{moment.second:02d}"
        if self.fraction:
            text += "." + f"{moment.microsecond:06d}".ljust(self.fraction, "0")[: self.fraction]
        if self.noon:
            word = "PM" if moment.hour >= 12 else "AM"
            text += self.noon[:-2] + (word if self.noon[-2:].isupper() else word.lower())
        return text + self.offset


def zone(offset: str) -> tzinfo:
    """Give the zone of ``Z``, ``+hh:mm``, ``+hhmm`` or ``+hh``."""
    if offset in ("Z", "z"):
        return UTC
    digits = offset[1:].replace(":", "").ljust(4, "0")
    span = timedelta(hours=int(digits[:2]), minutes=int(digits[2:]))
    return timezone(-span if offset[0] in "-−" else span)
