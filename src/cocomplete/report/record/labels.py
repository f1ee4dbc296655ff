"""One label: its rates, and how far its probabilities can be relied on."""

from dataclasses import dataclass

from cocomplete.report.record.verdict import Compared


@dataclass(frozen=True)
class ReliabilityBin:
    """Held-out labels with probabilities between ``low`` and ``high``: how often they were 1.

    Attributes
    ----------
    low, high : float
    predicted : float
        Their mean probability.
    rate : float
        Share that is 1.
    cells : int
    """

    low: float
    high: float
    predicted: float
    rate: float
    cells: int


@dataclass(frozen=True)
class HeldOutLabel:
    """Held-out cells of a label.

    Attributes
    ----------
    cells, ones : int
    wrong, trivial_wrong : float
        Share wrong where the likelier value is taken; and with the commoner value.
    log_loss, trivial_log_loss : float
    compared : {"better", "level", "worse"}
        By log-loss.
    average_precision : float or None
        None without both zeros and ones.
    trivial_average_precision : float or None
        Of any fixed order: the rate of ones.
    reliability : tuple of ReliabilityBin
        Bins without cells are left out.
    """

    cells: int
    ones: int
    wrong: float
    trivial_wrong: float
    log_loss: float
    trivial_log_loss: float
    compared: Compared
    average_precision: float | None
    trivial_average_precision: float | None
    reliability: tuple[ReliabilityBin, ...]


@dataclass(frozen=True)
class LabelReport:
    """One label: a yes/no column, one value of a class, or one tag.

    Attributes
    ----------
    name : str
    column : int
        Position of the user's column.
    ones, zeros, unknown : int
        The three states, as given.
    filled_ones : int
        Unknown cells that were filled with 1; estimated from the rows looked at where these are a sample.
    rate_before : float or None
        Share of ones among known cells; None if there is none.
    rate_after : float
        Share of ones in the completed table: known ones and probabilities of the others.
    held_out, new_rows : HeldOutLabel or None
        Of rows in which other labels are known; of rows in which none is, as in new rows.
    sentence : str
    """

    name: str
    column: int
    ones: int
    zeros: int
    unknown: int
    filled_ones: int
    rate_before: float | None
    rate_after: float
    held_out: HeldOutLabel | None
    new_rows: HeldOutLabel | None
    sentence: str
