"""The table of filled cells, each with what pulled it."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Pull:
    """An observed cell of the row, and by how much it moved the fill.

    Attributes
    ----------
    column : int
        Position of the observed cell's column.
    value : str
        What it holds.
    amount : float
        In units of ``Why.unit``.
    """

    column: int
    value: str
    amount: float


@dataclass(frozen=True)
class Why:
    """Why a cell was filled as it was: ``start`` + the amounts of ``pulls`` + ``rest`` = ``end``, exactly.

    Attributes
    ----------
    unit : str
        "standard deviations" of the filled column, or "log-odds" of the filled value.
    start : float
        Where a row stands of which nothing is known.
    pulls : tuple of Pull
        The largest, by size.
    rest : float
        All other observed cells of the row together.
    end : float
    weight : float
        Share of the fill that this explains: the weight of the posterior average in the ensemble.
    """

    unit: str
    start: float
    pulls: tuple[Pull, ...]
    rest: float
    end: float
    weight: float


@dataclass(frozen=True)
class FilledCell:
    """A filled cell.

    Attributes
    ----------
    row : str
        Name of the row.
    column : int
        Position of the user's column.
    text : str
        The fill, as the user would write it.
    low, high : str or None
        Ends of the 90 % interval, of numbers, dates and ordered levels.
    probability : float or None
        That the fill is right, of all but numbers and dates.
    certainty : float
        Between 0 and 1. That probability; of numbers, by what share the standard deviation of the fill is
        below that of the column.
    why : Why or None
        None where no posterior average is among the members.
    similar : tuple of str
        Names of the most similar rows.
    """

    row: str
    column: int
    text: str
    low: str | None
    high: str | None
    probability: float | None
    certainty: float
    why: Why | None
    similar: tuple[str, ...]


@dataclass(frozen=True)
class FilledCells:
    """The table of filled cells.

    Attributes
    ----------
    total : int
        All that were filled.
    least_certain, sampled : int
        How many of the cells below are here as the least certain, and as a sample of the others; their sum
        is the number of cells below.
    cells : tuple of FilledCell
        In the order of the table's rows.
    sentence : str
    """

    total: int
    least_certain: int
    sampled: int
    cells: tuple[FilledCell, ...]
    sentence: str
