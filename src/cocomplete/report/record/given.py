"""What was given: rows, columns and holes."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class GivenColumn:
    """A column of the user's tables.

    Attributes
    ----------
    name : str
    part : {"feature", "label"}
    kind : str
        "number", "yes-no", "category", "ordinal", "count", "date"; of labels "yes-no", "class" or "tags".
    why : str
        By what the kind was recognised.
    missing : int
    share_missing : float
    """

    name: str
    part: Literal["feature", "label"]
    kind: str
    why: str
    missing: int
    share_missing: float


@dataclass(frozen=True)
class HolesMap:
    """Where cells are missing: a small matrix of shares, rows and columns ordered to show structure.

    Attributes
    ----------
    rows : tuple of int
        Number of the table's rows in every row of the map; rows with alike holes stand together.
    columns : tuple of tuple of int
        Positions of the table's columns in every column of the map; columns with alike holes likewise.
    missing : tuple of tuple of int
        By row of the map, per cent of its cells that are missing: 0 none, 100 all.
    patterns : int
        Number of different patterns of holes among the rows that were looked at.
    commonest : float
        Share of these rows that have the commonest pattern.
    sampled : int
        Number of rows that were looked at; fewer than the table's where a sample served.
    sentence : str
    """

    rows: tuple[int, ...]
    columns: tuple[tuple[int, ...], ...]
    missing: tuple[tuple[int, ...], ...]
    patterns: int
    commonest: float
    sampled: int
    sentence: str


@dataclass(frozen=True)
class NeverTogether:
    """Pairs of columns that are in no row both observed.

    Attributes
    ----------
    count : int
        All of them; columns without any observed cell are not counted.
    pairs : tuple of (int, int)
        Positions of the first ones.
    sentence : str
    """

    count: int
    pairs: tuple[tuple[int, int], ...]
    sentence: str


@dataclass(frozen=True)
class Given:
    """What was given.

    Attributes
    ----------
    rows, features, labels : int
        Labels are the user's columns of labels.
    cells, missing : int
    share_missing : float
    columns : tuple of GivenColumn
        Features first, then labels.
    holes : HolesMap
    never_together : NeverTogether
    sentence : str
    """

    rows: int
    features: int
    labels: int
    cells: int
    missing: int
    share_missing: float
    columns: tuple[GivenColumn, ...]
    holes: HolesMap
    never_together: NeverTogether
    sentence: str
