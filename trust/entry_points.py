"""Entry points as functions, and their arguments: good ones to begin with, some of them then hostile."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from trust.hostile_values import WORDS, hostile_scalar, hostile_table

Make = Callable[[np.random.Generator], Any]

ROWS, FEATURES, LABELS = 8, 4, 2
"""Of the tables that are passed to models: calls take milliseconds."""


class Argument(NamedTuple):
    """How an argument is made: as it should be, and as it should not. Optional ones are left out at times."""

    good: Make
    hostile: Make
    optional: bool = False


@dataclass(frozen=True)
class Entry:
    """An entry point.

    Attributes
    ----------
    name : str
    call : callable
        Takes the arguments by name.
    arguments : mapping of str to Argument
    finite : bool
        Whether an answer must hold no NaN and no infinity.
    words : tuple of str
        What a refusal may name beside an argument.
    """

    name: str
    call: Callable[..., Any]
    arguments: Mapping[str, Argument]
    finite: bool = True
    words: tuple[str, ...] = ()


def table(rng: np.random.Generator, columns: int = FEATURES) -> Any:
    """Give a plain table with holes."""
    X = rng.normal(size=(ROWS, columns))
    X[rng.random(X.shape) < 0.2] = np.nan
    return X


def labels(rng: np.random.Generator, columns: int = LABELS) -> Any:
    """Give plain labels with holes."""
    Y = (rng.random((ROWS, columns)) < 0.5).astype(float)
    Y[rng.random(Y.shape) < 0.2] = np.nan
    return Y


def mixed(rng: np.random.Generator) -> pd.DataFrame:
    """Give a frame of numbers, words, truth values and dates."""
    frame = pd.DataFrame(
        {
            "size": rng.normal(size=ROWS),
            "colour": rng.choice(("red", "green", "blue"), ROWS),
            "sold": rng.random(ROWS) < 0.5,
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 99, ROWS), "D"),
        }
    )
    frame.loc[rng.integers(ROWS), "colour"] = None
    frame.loc[rng.integers(ROWS), "size"] = np.nan
    return frame


def features(make: Make = table) -> Argument:
    """Give features of rows."""
    return Argument(make, lambda rng: _spoilt(rng, make))


def _spoilt(rng: np.random.Generator, make: Make) -> Any:
    """Give something else altogether, or the table that is expected with a few cells or a column changed."""
    whole = make(rng)
    if not isinstance(whole, pd.DataFrame) or rng.random() < 0.5:
        return hostile_table(rng, (ROWS, FEATURES))
    name = rng.choice(list(whole))
    if rng.random() < 0.3:
        # pandas itself refuses names that are no text.
        other = str(rng.choice(WORDS)).replace("\ud800", "?")
        return whole.drop(columns=name) if rng.random() < 0.5 else whole.rename(columns={name: other})
    cells = whole[name].astype(object).tolist()
    cells[rng.integers(len(cells))] = hostile_scalar(rng, huge=True)
    whole[name] = pd.Series(cells, dtype=object)
    return whole


def targets(*, optional: bool = True) -> Argument:
    """Give labels of rows."""
    return Argument(labels, lambda rng: hostile_table(rng, (ROWS, LABELS), labels=True), optional)


def mask(columns: int = FEATURES) -> Argument:
    """Give a mask of cells."""
    return Argument(
        lambda rng: rng.random((ROWS, columns)) < 0.6,
        lambda rng: hostile_table(rng, (ROWS, columns)),
        optional=True,
    )


def choice(*good: Any, optional: bool = True) -> Argument:
    """Give one of some values; anything else is hostile, huge numbers included."""
    return Argument(
        lambda rng: good[rng.integers(len(good))], lambda rng: hostile_scalar(rng, huge=True), optional
    )


def amount(*good: Any, optional: bool = True) -> Argument:
    """Give a count that is worked through: the largest numbers would be taken at their word."""
    return Argument(
        lambda rng: good[rng.integers(len(good))], lambda rng: hostile_scalar(rng, huge=False), optional
    )


def drawn(entry: Entry, rng: np.random.Generator) -> dict[str, Any]:
    """Give arguments for an entry point: one, two or three hostile ones, the others good or left out."""
    names = list(entry.arguments)
    wanted = min(len(names), int(rng.choice((1, 2, 3), p=(0.7, 0.2, 0.1))))
    hostile = set(rng.choice(len(names), wanted, replace=False).tolist()) if names else set()
    given = {}
    for k, (name, argument) in enumerate(entry.arguments.items()):
        if k in hostile:
            given[name] = argument.hostile(rng)
        elif not argument.optional or rng.random() < 0.4:
            given[name] = argument.good(rng)
    if rng.random() < 0.02:
        given["colour_of_the_moon"] = 1
    return given
