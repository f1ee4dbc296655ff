"""One feature: what was observed, what was filled, and how wrong that was where the truth is known."""

from dataclasses import dataclass

from cocomplete.report.record.verdict import Compared


@dataclass(frozen=True)
class Tick:
    """A place on a column's axis and what stands there, in the user's units, words or dates."""

    value: float
    text: str


@dataclass(frozen=True)
class Distribution:
    """Observed against filled values of a column, on common bins.

    Attributes
    ----------
    edges : tuple of float
        Of numbers and dates: of the bins, one more than bins; empty for levels.
    levels : tuple of str
        Of categories, ordered levels and yes/no: the values; "(others)" at the end for rare ones. Empty for
        numbers.
    observed, filled : tuple of int
        Cells in every bin, or with every level.
    ticks : tuple of Tick
        A few places on the axis of numbers and dates; points of held-out cells have the same axis.
    """

    edges: tuple[float, ...]
    levels: tuple[str, ...]
    observed: tuple[int, ...]
    filled: tuple[int, ...]
    ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class Point:
    """A held-out cell: its truth, its fill and the fill's 90 % interval, on the axis of the column."""

    truth: float
    fill: float
    low: float
    high: float


@dataclass(frozen=True)
class HeldOutCells:
    """Held-out cells of a feature.

    Attributes
    ----------
    cells : int
    measure : str
        "off by, in standard deviations" or "share wrong".
    error, trivial : float
    compared : {"better", "level", "worse"}
    inside : float or None
        Share of the truths inside the 90 % interval of their fill; None for values without an order.
    points : tuple of Point
        Of numbers, dates and counts: a sample of the cells. Empty for values that are words or 0/1.
    levels : tuple of str
        Of these: values, "(others)" at the end for rare ones.
    confusion : tuple of tuple of int
        By true level, cells that were filled with every level.
    """

    cells: int
    measure: str
    error: float
    trivial: float
    compared: Compared
    inside: float | None
    points: tuple[Point, ...]
    levels: tuple[str, ...]
    confusion: tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class ColumnReport:
    """One feature.

    Attributes
    ----------
    column : int
        Its position; name, kind and missing cells are those of ``given.columns[column]``.
    observed, filled : int
        Numbers of cells.
    distribution : Distribution
    held_out, new_rows : HeldOutCells or None
        Cells of rows that the fit has seen, without them; and of rows that it has never seen.
    sentence : str
    """

    column: int
    observed: int
    filled: int
    distribution: Distribution
    held_out: HeldOutCells | None
    new_rows: HeldOutCells | None
    sentence: str
