"""The verdict: how wrong held-out cells were, beside the trivial answer."""

from dataclasses import dataclass
from typing import Literal

Compared = Literal["better", "level", "worse"]
"""Than the trivial answer: level where the difference is within two standard errors of itself."""


@dataclass(frozen=True)
class Judged:
    """Errors on held-out cells of one part of the table, beside the trivial answer's.

    Attributes
    ----------
    part : str
        "features", "yes/no features", "labels" of rows in which others are known, "labels of rows without
        any"; and of rows that the fit has never seen "features of new rows", "yes/no features of new rows",
        "labels of new rows beside others", "labels of new rows".
    measure : str
        What the errors are: "off by, in standard deviations", "share wrong" or "log-loss". The part of 0/1
        columns has one of each of the last two.
    error, trivial : float
    trivial_name : str
        What the trivial answer is: "column means", "the commoner value", "observed rates".
    cells : int
    compared : {"better", "level", "worse"}
    """

    part: str
    measure: str
    error: float
    trivial: float
    trivial_name: str
    cells: int
    compared: Compared


@dataclass(frozen=True)
class Verdict:
    """How wrong held-out cells were.

    Attributes
    ----------
    judged : tuple of Judged
        Empty if nothing could be held out.
    source : {"fit", "sample", "none"}
        Whether the fit held cells out, or the report did and fitted again on a sample of rows.
    caveat : str
        What is to be known of these cells: that weights were chosen on them, or how large the sample was.
    sentence : str
    """

    judged: tuple[Judged, ...]
    source: Literal["fit", "sample", "none"]
    caveat: str
    sentence: str
