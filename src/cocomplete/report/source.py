"""What a report is made of: a fitted model, the user's tables, and the rows that are looked at."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.fitted.describe import Description
from cocomplete.fitted.model import Answer, Model
from cocomplete.problem.observations import Observations
from cocomplete.report.texts import cut, digits_for, value_text
from cocomplete.table.containers import RawTable
from cocomplete.table.kinds import Category
from cocomplete.table.schema import Schema

Text = Callable[[Any], str]
"""How a column writes a value: a word, a date (datetime64) or a number; 0 and 1 for no and yes."""

MOST_ROWS = 5_000
"""Rows whose fills are looked at; of a longer table, so many spread evenly over it."""


@dataclass(frozen=True, eq=False)
class Source:
    """A model and the tables that it fills.

    Attributes
    ----------
    model : Model
    features, labels : Schema
    raw_features : RawTable
    raw_labels : RawTable or None
        As the user gave them.
    observed : Observations
        The same, encoded.
    thresholds : ndarray of shape (n_labels,)
    expected : bool
        Whether expected values are filled in.
    found : Description
        The low-rank matrix behind the answer.
    parameters : mapping
        The estimator's, by name.
    validation : dict or None
        Errors on held-out cells, as the fit summarised them.
    certificate : mapping or None
        Solver, objective, relative duality gap and whether it is below ``tol``.
    row_names : sequence of str or None
    title : str
    seconds : float or None
        That the fit took.
    texts : mapping of str to callable
        How some columns write a value, by name; others have a plain way.
    """

    model: Model
    features: Schema
    labels: Schema
    raw_features: RawTable
    raw_labels: RawTable | None
    observed: Observations
    thresholds: FloatArray
    expected: bool
    found: Description
    parameters: Mapping[str, Any] = field(default_factory=dict)
    validation: Mapping[str, Any] | None = None
    certificate: Mapping[str, Any] | None = None
    row_names: tuple[str, ...] | None = None
    title: str = "table"
    seconds: float | None = None
    texts: Mapping[str, Text] = field(default_factory=dict)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the user's columns, features first."""
        labels = None if self.raw_labels is None else self.raw_labels.names
        return _names(self.features, self.raw_features.names, "column") + _names(self.labels, labels, "label")

    @cached_property
    def encoded_names(self) -> tuple[str, ...]:
        """Names of the encoded columns, features first."""
        found: list[str] = []
        for schema, names in (
            (self.features, self.names),
            (self.labels, self.names[len(self.features.kinds) :]),
        ):
            for kind, name in zip(schema.kinds, names, strict=False):
                found += [f"{name}={part}" if part else name for part in kind.parts]
        return tuple(found)

    @cached_property
    def known(self) -> BoolArray:
        """Where the user's cells are known, features first; shape (n_rows, n_columns)."""
        features = self.raw_features.known
        if self.raw_labels is None:
            nothing = np.zeros((len(features), len(self.labels.kinds)), bool)
            return np.hstack((features, nothing))
        return np.hstack((features, self.raw_labels.known))

    @cached_property
    def n_known(self) -> NDArray[np.intp]:
        """Known cells of each of the user's columns."""
        return np.asarray(self.known.sum(axis=0))

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.observed.n_samples

    @cached_property
    def rows(self) -> NDArray[np.intp]:
        """Rows whose fills are looked at."""
        return spread(self.n_rows, MOST_ROWS)

    @cached_property
    def knows(self) -> bool:
        """Whether these are the rows of the fit."""
        return self.model.knows(self.observed)

    @cached_property
    def some(self) -> Observations:
        """The rows that are looked at."""
        return Observations(self.observed.X[self.rows], self.observed.Y[self.rows])

    @cached_property
    def answer(self) -> Answer:
        """The model's predictions of the rows that are looked at; numbers near their range."""
        found = self.model.answer_rows(self.rows) if self.knows else self.model.answer(self.some)
        return found._replace(X=self.model.inside(found.X))

    @cached_property
    def probability(self) -> FloatArray:
        """Probabilities of encoded labels in the rows that are looked at."""
        return self.labels.normalised(expit(self.answer.Z))

    @cached_property
    def unknown(self) -> BoolArray:
        """Which of the user's cells are filled, in the rows that are looked at."""
        return ~self.known[self.rows]

    @cached_property
    def labels_exclude(self) -> BoolArray:
        """Of which of the user's columns of labels only one value is true: classes."""
        return np.array([isinstance(kind, Category) for kind in self.labels.kinds], bool)

    def kind(self, column: int) -> Any:
        """Give the kind of one of the user's columns, features first."""
        d = len(self.features.kinds)
        return self.features.kinds[column] if column < d else self.labels.kinds[column - d]

    def text(self, column: int, value: Any) -> str:
        """Write a value as its column does.

        Parameters
        ----------
        column : int
            Position of the user's column, features first.
        value : str, datetime64 or float
        """
        own = self.texts.get(self.names[column])
        if own is not None:
            return cut(own(value))
        digits = self._digits[self.features.bounds[column]] if column < len(self.features.kinds) else 6
        return value_text(self.kind(column), value, int(digits))

    @cached_property
    def _digits(self) -> NDArray[np.intp]:
        """Significant digits that tell an encoded feature's observed values apart."""
        X, known = self.some.X, self.some.X_known
        low, high = np.where(known, X, np.inf).min(axis=0), np.where(known, X, -np.inf).max(axis=0)
        return np.array([digits_for(float(a), float(b), 6) for a, b in zip(low, high, strict=True)], np.intp)

    def row_name(self, row: int) -> str:
        """Name a row, counting from 1 where it has no name."""
        return f"row {row + 1}" if self.row_names is None else self.row_names[row]


def spread(n: int, most: int) -> NDArray[np.intp]:
    """Give at most so many of n places, evenly spread."""
    if n <= most:
        return np.arange(n)
    return (np.arange(most) * n // most).astype(np.intp)


def _names(schema: Schema, given: tuple[str, ...] | None, what: str) -> tuple[str, ...]:
    """Names of the fit, or those of the rows, or numbers."""
    return schema.names or given or tuple(f"{what} {j}" for j in range(len(schema.kinds)))
