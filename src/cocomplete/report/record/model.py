"""What the model found, what was done, and what the result may not be used for."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Loading:
    """A column's part in a factor: the encoded column (``colour=red``) and its entry, between -1 and 1."""

    name: str
    loading: float


@dataclass(frozen=True)
class Factor:
    """A leading factor.

    Attributes
    ----------
    share : float
        Of the squared singular values.
    loadings : tuple of Loading
        The largest ones, by size.
    """

    share: float
    loadings: tuple[Loading, ...]


@dataclass(frozen=True)
class Near:
    """A column that behaves alike: position, and cosine of the columns' factors (negative: opposite)."""

    column: int
    similarity: float


@dataclass(frozen=True)
class Neighbours:
    """The columns nearest to one."""

    column: int
    nearest: tuple[Near, ...]


@dataclass(frozen=True)
class CoOccurrence:
    """How often two labels are 1 together.

    Attributes
    ----------
    labels : tuple of str
        The commonest ones, if there are many.
    before : tuple of tuple of (float or None)
        Share of the rows in which both are known; None if there is no such row.
    after : tuple of tuple of float
        Share of all rows, completed.
    """

    labels: tuple[str, ...]
    before: tuple[tuple[float | None, ...], ...]
    after: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class Found:
    """What the model found.

    Attributes
    ----------
    rank : int
    member : str or None
        The ensemble member whose factors these are; None if no member has any.
    factors : tuple of Factor
    neighbours : tuple of Neighbours
        One for every column that took part.
    together : CoOccurrence or None
        None with fewer than two labels.
    sentence : str
    """

    rank: int
    member: str | None
    factors: tuple[Factor, ...]
    neighbours: tuple[Neighbours, ...]
    together: CoOccurrence | None
    sentence: str


@dataclass(frozen=True)
class Setting:
    """A setting in words."""

    name: str
    text: str


@dataclass(frozen=True)
class MemberWeights:
    """Weights of an ensemble member in the parts of a table; None where the table has no such part."""

    name: str
    numbers: float | None
    yes_no: float | None
    labels: float | None
    unlabelled: float | None


@dataclass(frozen=True)
class CertificateReport:
    """Certificate of the minimiser of F."""

    solver: str
    objective: float
    duality_gap: float | None
    converged: bool


@dataclass(frozen=True)
class Done:
    """What was done.

    Attributes
    ----------
    settings : tuple of Setting
    members : tuple of MemberWeights
    certificate : CertificateReport or None
    seconds : float or None
        That the fit took; None unless whoever asked for the report gave them: they differ from run to run.
    version : str
        Of the package.
    sentence : str
    """

    settings: tuple[Setting, ...]
    members: tuple[MemberWeights, ...]
    certificate: CertificateReport | None
    seconds: float | None
    version: str
    sentence: str


@dataclass(frozen=True)
class TippingPoint:
    """What a shift of a column's filled values does to its mean, or to a label's rate.

    A shift of every filled value by δ standard deviations moves the mean by ``share_filled * δ * sd``. A rate
    stays between 0 and 1.

    Attributes
    ----------
    name : str
    column : int
        Position of the user's column.
    part : {"mean", "rate"}
        Of a feature that is a number or a date; of a label or a yes/no feature.
    mean : float
        Of the completed column, in the user's units; of a date, days since 1970-01-01.
    mean_text : str
        The same as the user would write it.
    standard_error : float
        Of the mean: ``sd / sqrt(observed cells)``.
    share_filled : float
    sd : float
        Of the observed cells.
    delta : float
        The tipping point: the size of the shift, in standard deviations, at which the mean has moved by one
        standard error.
    """

    name: str
    column: int
    part: Literal["mean", "rate"]
    mean: float
    mean_text: str
    standard_error: float
    share_filled: float
    sd: float
    delta: float


@dataclass(frozen=True)
class Limits:
    """What the report may not be used for: holes that depend on the value.

    Attributes
    ----------
    tipping : tuple of TippingPoint
        Of columns in which something was filled, the most fragile first.
    sentence : str
    """

    tipping: tuple[TippingPoint, ...]
    sentence: str
