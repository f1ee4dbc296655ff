"""Counts: whole numbers from zero on."""

from dataclasses import dataclass
from typing import ClassVar

from cocomplete.table.kinds.number import Number


@dataclass(frozen=True)
class Count(Number):
    """A column of counts; skewed ones are normal on the scale of normal scores."""

    low: float = 0.0
    step: float = 1.0
    name: ClassVar[str] = "count"
