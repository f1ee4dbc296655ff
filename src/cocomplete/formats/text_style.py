"""Columns that stay text."""

from dataclasses import dataclass

import polars as pl


@dataclass(frozen=True)
class TextStyle:
    """Text is written as it is.

    Attributes
    ----------
    before, after : str
        Spaces around every cell.
    """

    before: str = ""
    after: str = ""

    def write(self, values: pl.Series) -> list[str]:
        """Write values of any type."""
        if values.dtype in (pl.Categorical, pl.Enum):
            values = values.cast(pl.String)
        return [f"{self.before}{value}{self.after}" for value in values.to_list()]
