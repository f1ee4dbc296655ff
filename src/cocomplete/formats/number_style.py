"""How a column writes its numbers."""

import math
from dataclasses import dataclass
from decimal import Decimal

import polars as pl


@dataclass(frozen=True)
class NumberStyle:
    """The marks and the precision of a column of numbers.

    Attributes
    ----------
    decimal, thousands : str
        Marks; ``thousands`` is empty where digits are not grouped.
    decimals : int or None
        The most that were seen; None where nothing was.
    fixed : bool
        Whether every cell has that many, zeros included.
    scientific : str
        ``e`` or ``E`` where every cell has an exponent, with ``+`` if it is written as e+05 and not e5; ``g``
        where some have one, otherwise empty; ``r`` for the fewest digits that give the number rounded to
        ``decimals``.
    digits : int
        The most significant digits that were seen.
    prefix, suffix : str
        Currency or percent sign with the space beside it.
    negative : str
        ``{}`` stands for the number without its sign and without its affixes, ``<`` and ``>`` for those.
    plus : bool
        Whether positive numbers have a sign.
    before, after : str
        Spaces around every cell.
    """

    decimal: str = "."
    thousands: str = ""
    decimals: int | None = None
    fixed: bool = False
    scientific: str = ""
    digits: int = 6
    prefix: str = ""
    suffix: str = ""
    negative: str = "-<{}>"
    plus: bool = False
    before: str = ""
    after: str = ""

    def write(self, values: pl.Series) -> list[str]:
        """Write numbers with the column's marks and no more digits than it uses."""
        return [self.before + self._cell(value) + self.after for value in values.to_list()]

    def _cell(self, value: float | int | Decimal) -> str:
        number = value if isinstance(value, int) else float(value)
        if not math.isfinite(number):
            return str(number)
        body = self._body(abs(number))
        if number < 0 and any(digit in body for digit in "123456789"):
            shape = self.negative
        else:
            shape = "+<{}>" if self.plus and number > 0 else "<{}>"
        return shape.replace("<", self.prefix).replace(">", self.suffix).replace("{}", body)

    def _body(self, size: float | int) -> str:
        if self.scientific == "r":
            return repr(size if self.decimals is None else round(size, self.decimals))
        if self.scientific == "g":
            return f"{size:.{self.digits}g}".replace(".", self.decimal)
        if self.scientific:
            mantissa, _, exponent = f"{size:.{self.decimals or 0}e}".partition("e")
            if not self.scientific.endswith("+"):
                exponent = str(int(exponent))
            return mantissa.replace(".", self.decimal) + self.scientific[0] + exponent
        if self.decimals is None:
            return f"{size:.6g}".replace(".", self.decimal)
        if isinstance(size, int):
            # A whole number of any length, without a detour over floats.
            text = str(int(size)) + ("." + "0" * self.decimals if self.decimals else "")
        else:
            text = f"{size:.{self.decimals}f}"
        whole, _, fraction = text.partition(".")
        if not self.fixed:
            fraction = fraction.rstrip("0")
        if self.thousands and len(whole) > 3:
            whole = f"{int(whole):,}".replace(",", self.thousands)
        return whole + (self.decimal + fraction if fraction else "")


def style_of(values: pl.Series) -> NumberStyle:
    """Give the style of floats that never were text: a point, and at most the decimals that they have."""
    known = values.drop_nulls().cast(pl.Float64).unique().to_list()
    exponents = [int(Decimal(repr(value)).as_tuple().exponent) for value in known if math.isfinite(value)]
    return NumberStyle(scientific="r", decimals=max(1, -min(exponents)) if exponents else None)
