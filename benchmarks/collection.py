"""Real tables as numeric features and 0/1 labels, in two halves.

``catalogue.py`` lists the tables and where they come from; ``halves.json`` has their halves. Every table is
prepared by the same rules (:func:`prepare`):

- a label column with two values is one label, one with more values is one label per value;
- features are numbers; a column with two values, text or not, becomes 0 and 1; other text is left out;
- rows with unknown cells are left out, because their truth cannot be scored;
- a column or label whose commonest value covers all but a few rows is left out;
- at most ``rows`` rows are kept, always the same ones.
"""

import hashlib
import json
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from catalogue import TABLES, Entry

HALVES = Path(__file__).with_name("halves.json")

RARE = 5
"""A column or label needs this many rows off its commonest value; with fewer, most seeds score none."""


class Prepared(NamedTuple):
    """A table without holes.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
    Y : ndarray of shape (n_samples, n_labels)
        0 or 1.
    """

    X: np.ndarray
    Y: np.ndarray


@cache
def load(name: str) -> Prepared:
    """Read a table and prepare it.

    Parameters
    ----------
    name : str
        A key of :data:`TABLES`.

    Returns
    -------
    Prepared
    """
    return prepare(TABLES[name].read(), TABLES[name], name)


def prepare(source: Any, entry: Entry, name: str) -> Prepared:
    """Bring a frame, or a pair of arrays, into the form the module describes.

    Parameters
    ----------
    source : DataFrame or pair of ndarrays
    entry : Entry
    name : str
        Decides which rows are kept.

    Returns
    -------
    Prepared
    """
    X, Y = source if isinstance(source, tuple) else _numeric(source, entry)
    kept = _kept_rows(len(X), entry.rows, name)
    X, Y = X[kept], Y[kept]
    return Prepared(X[:, _varied(X)], Y[:, _varied(Y)])


def half(name: str) -> str:
    """Tell whether a table serves to choose a method or to confirm the choice.

    The parity of a hash decides, so nobody picks the tables that a method is confirmed on.

    Returns
    -------
    {"choose", "confirm"}
    """
    return ("choose", "confirm")[hashlib.sha256(name.encode()).digest()[0] % 2]


def written_halves() -> dict[str, str]:
    """Read the halves as they were written down."""
    halves: dict[str, str] = json.loads(HALVES.read_text())
    return halves


def is_available(name: str, folder: str | None) -> bool:
    """Tell whether what a table comes from is there.

    Parameters
    ----------
    name : str
    folder : str or None
        The value of COCOMPLETE_DATA.
    """
    package = TABLES[name].package
    return bool(folder) if package == "folder" else find_spec(package) is not None


def stable_seed(text: str) -> int:
    """Make a seed of a text, the same on every machine (``hash`` is not)."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:4], "big")


def _numeric(frame: Any, entry: Entry) -> tuple[np.ndarray, np.ndarray]:
    """Turn a frame's columns into features and labels."""
    frame = frame.drop(columns=list(entry.drop)).dropna()
    Y = [column for label in entry.labels for column in _indicators(frame[label])]
    features = frame.drop(columns=list(entry.labels))
    X = [_feature(features[column]) for column in features.columns]
    return np.column_stack([column for column in X if column is not None]), np.column_stack(Y)


def _indicators(column: Any) -> list[np.ndarray]:
    """One 0/1 column per class; a single one, for the greater value, if there are two."""
    values = np.unique(column)
    return [
        np.asarray(column == value, dtype=float) for value in (values[1:] if len(values) == 2 else values)
    ]


def _feature(column: Any) -> np.ndarray | None:
    """Give a column as numbers, or None if it is text of more than two values."""
    values = np.unique(column)
    if len(values) == 2:
        return np.asarray(column == values[1], dtype=float)
    return column.to_numpy(dtype=float) if column.dtype.kind in "iufb" else None


def _varied(table: np.ndarray) -> np.ndarray:
    """Tell which columns have at least ``RARE`` rows off their commonest value."""
    commonest = [np.unique(column, return_counts=True)[1].max() for column in table.T]
    return len(table) - np.array(commonest) >= RARE


def _kept_rows(n: int, most: int, name: str) -> np.ndarray:
    if n <= most:
        return np.arange(n)
    return np.sort(np.random.default_rng(stable_seed(name)).choice(n, most, replace=False))
