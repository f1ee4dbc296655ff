"""The columns of a table, each with its kind: from what the user has to what the solvers see, and back."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError
from cocomplete.frozen import FieldsAlone
from cocomplete.table.containers import DateColumn, RawTable, TextColumn
from cocomplete.table.feature_types import column_of
from cocomplete.table.kinds import Category, Date, Kind, Number, Ordinal, Posterior, YesNo, level_text
from cocomplete.table.kinds.category import MOST_ENCODED

SHOWN = 3
"""Columns, and values of each, that a message names."""


class Filled(NamedTuple):
    """Values for every cell of a table.

    Attributes
    ----------
    numbers : ndarray of shape (n_rows, n_columns)
        NaN in columns of words and dates.
    others : dict
        Words and dates, by position.
    """

    numbers: FloatArray
    others: dict[int, NDArray[Any]]


@dataclass(frozen=True, eq=False)
class Schema(FieldsAlone):
    """Kinds of the columns of a table, in their order.

    Attributes
    ----------
    kinds : tuple of Kind
    names : tuple of str or None
        Of the user's columns.
    """

    kinds: tuple[Any, ...]
    names: tuple[str, ...] | None = None

    @cached_property
    def bounds(self) -> NDArray[np.intp]:
        """Where each column's encoded ones begin, and where the last ends."""
        return np.concatenate(([0], np.cumsum([len(kind.parts) for kind in self.kinds]))).astype(np.intp)

    @property
    def width(self) -> int:
        """Number of encoded columns."""
        return int(self.bounds[-1])

    @cached_property
    def groups(self) -> NDArray[np.intp]:
        """The user's column of every encoded one."""
        return np.repeat(np.arange(len(self.kinds)), np.diff(self.bounds))

    @cached_property
    def binary(self) -> BoolArray:
        """Which encoded columns are 0/1."""
        return np.array([self.kinds[j].binary for j in self.groups], bool)

    @cached_property
    def codes(self) -> dict[int, FloatArray]:
        """Codes of levels in an order, by encoded column."""
        return {
            int(self.bounds[j]): kind.codes for j, kind in enumerate(self.kinds) if isinstance(kind, Ordinal)
        }

    @cached_property
    def encoded_names(self) -> tuple[str, ...] | None:
        """Names of the encoded columns: ``colour=red``."""
        if self.names is None:
            return None
        return tuple(
            f"{self.names[j]}={part}" if part else self.names[j]
            for j, kind in enumerate(self.kinds)
            for part in kind.parts
        )

    @cached_property
    def is_plain(self) -> bool:
        """Whether every column is encoded as the numbers that it holds."""
        return all(
            not kind.binary or (isinstance(kind, YesNo) and kind.words is None) for kind in self.kinds
        ) and all(kind.name != "date" for kind in self.kinds)

    def encode(self, raw: RawTable, argument: str) -> FloatArray:
        """Give the encoded columns, NaN where unknown.

        Raises
        ------
        InputError
            If a column holds words where the fit had numbers, or the other way round.
        """
        if self.is_plain and not raw.others:
            return raw.numbers
        encoded = np.empty((len(raw.numbers), self.width), raw.numbers.dtype)
        for j, kind in enumerate(self.kinds):
            column = column_of(raw, j)
            if isinstance(column, np.ndarray) and np.isnan(column).all():
                # Nothing is known: whether it would be words cannot be seen.
                encoded[:, self.bounds[j] : self.bounds[j + 1]] = np.nan
                continue
            _check_form(kind, column, raw.label(j), argument)
            encoded[:, self.bounds[j] : self.bounds[j + 1]] = kind.encode(column)
        return encoded

    def without_strangers(self, encoded: FloatArray) -> FloatArray:
        """Take numbers of yes/no columns that are neither 0 nor 1 for unknown.

        Parameters
        ----------
        encoded : ndarray of shape (n_rows, width)
            As :meth:`encode` gives it.
        """
        own = encoded[:, self.binary]
        strange = ~np.isnan(own) & (own != 0) & (own != 1)
        if not strange.any():
            return encoded
        cleared = encoded.copy()
        cleared[:, self.binary] = np.where(strange, np.nan, own)
        return cleared

    def encoded(self, filled: Filled) -> FloatArray:
        """Give values of a kind that :meth:`chosen` gives as encoded columns."""
        words: dict[int, TextColumn | DateColumn] = {j: TextColumn(one) for j, one in filled.others.items()}
        return self.encode(RawTable(filled.numbers, self.names, words), "y")

    def strangers(self, raw: RawTable, encoded: FloatArray) -> dict[int, list[Any]]:
        """Give known values that the fit did not see and that count as unknown, by column.

        Parameters
        ----------
        raw : RawTable
        encoded : ndarray of shape (n_rows, width)
            The same as :meth:`encode` gives it.
        """
        found: dict[int, list[Any]] = {}
        if self.is_plain and not raw.others and not self.binary.any():
            return found
        known = raw.known
        for j, kind in enumerate(self.kinds):
            # Of a category with more values than are encoded the fit has seen others, too.
            if kind.values is None or len(kind.values) >= MOST_ENCODED:
                continue
            lost = known[:, j] & np.isnan(encoded[:, self.bounds[j]])
            if lost.any():
                column = column_of(raw, j)
                cells = column if isinstance(column, np.ndarray) else column.values
                found[j] = sorted(set(cells[lost].tolist()))
        return found

    def posterior(
        self, j: int, mean: FloatArray, std: FloatArray, levels: dict[int, FloatArray] | None = None
    ) -> Posterior:
        """Give what is predicted of one of the user's columns."""
        own = slice(self.bounds[j], self.bounds[j + 1])
        return Posterior(mean[:, own], std[:, own], (levels or {}).get(int(self.bounds[j])))

    def probabilities(
        self, mean: FloatArray, std: FloatArray, levels: dict[int, FloatArray]
    ) -> tuple[FloatArray, list[str] | None]:
        """Give the probabilities of the values of columns that have such, and what each is of.

        Parameters
        ----------
        mean, std, levels
            As for :meth:`fill`.

        Returns
        -------
        table : ndarray of shape (n_rows, number of probabilities)
            In the order of the columns: of a yes/no one that of a 1, of the others that of every value.
        names : list of str or None
            None if the columns have none.
        """
        columns, names = [np.empty((len(mean), 0))], []
        for j, kind in enumerate(self.kinds):
            found = kind.probabilities(self.posterior(j, mean, std, levels))
            if found is None:
                continue
            name = None if self.names is None else self.names[j]
            if kind.name == "yes-no":
                columns.append(found[:, 1:])
                names.append(str(name))
            else:
                columns.append(found)
                names += [f"{name}={level_text(value)}" for value in kind.values]
        return np.hstack(columns), None if self.names is None else names

    def fill(
        self, mean: FloatArray, std: FloatArray, levels: dict[int, FloatArray], *, expected: bool = False
    ) -> Filled:
        """Give the values to fill in.

        Parameters
        ----------
        mean, std : ndarray of shape (n_rows, width)
            Predictions of the encoded columns; probabilities of 0/1 ones.
        levels : dict
            Probabilities of levels in an order, by encoded column.
        expected : bool, default=False
            Expected values, where a column has such, instead of those that it could hold.
        """
        if self._bounds_of_numbers is not None:
            return Filled(np.clip(mean, *self._bounds_of_numbers), {})
        posteriors = (self.posterior(j, mean, std, levels) for j in range(len(self.kinds)))
        return self._collected(
            [
                kind.expected(each) if expected else kind.fill(each)
                for kind, each in zip(self.kinds, posteriors, strict=True)
            ],
            len(mean),
        )

    @cached_property
    def _bounds_of_numbers(self) -> tuple[FloatArray, FloatArray] | None:
        """Bounds of all columns, if each is a number without steps: they are filled together."""
        numbers = [kind for kind in self.kinds if type(kind) is Number and not kind.step]
        if len(numbers) < len(self.kinds):
            return None
        return np.array([kind.low for kind in numbers]), np.array([kind.high for kind in numbers])

    def drawn(self, encoded: FloatArray) -> Filled:
        """Give a draw of the encoded columns as values of the user's."""
        parts = [encoded[:, first:last] for first, last in zip(self.bounds, self.bounds[1:], strict=False)]
        return self._collected(
            [kind.drawn(part) for kind, part in zip(self.kinds, parts, strict=True)], len(encoded)
        )

    def chosen(self, probability: FloatArray, thresholds: FloatArray) -> Filled:
        """Give the values of labels from the probabilities of their encoded columns."""
        owns = [slice(first, last) for first, last in zip(self.bounds, self.bounds[1:], strict=False)]
        return self._collected(
            [
                kind.chosen(probability[:, own], thresholds[own])
                for kind, own in zip(self.kinds, owns, strict=True)
            ],
            len(probability),
        )

    def normalised(self, probability: FloatArray) -> FloatArray:
        """Let the probabilities of the values of each class add up to 1."""
        if self.is_plain:
            return probability
        found = probability.copy()
        for j, kind in enumerate(self.kinds):
            own = slice(self.bounds[j], self.bounds[j + 1])
            if isinstance(kind, Category) and len(kind.parts) > 1:
                found[:, own] = kind.probabilities(Posterior(probability[:, own], probability[:, own]))
        return found

    def decoded(self, encoded: FloatArray) -> NDArray[Any]:
        """Give encoded columns as an array of the user's values: None, or NaN in numbers, where unknown."""
        if self.is_plain:
            return encoded
        known = ~np.isnan(encoded[:, self.bounds[:-1]])
        values = self.drawn(np.where(np.isnan(encoded), 0.0, encoded))
        table = values.numbers.astype(object)
        for j, column in values.others.items():
            table[:, j] = column
        table[~known] = None
        return table

    def std(self, mean: FloatArray, std: FloatArray, levels: dict[int, FloatArray]) -> FloatArray:
        """Give standard deviations of the user's columns, shape (n_rows, n_columns)."""
        if self.is_plain:
            return std
        return np.column_stack(
            [kind.std(self.posterior(j, mean, std, levels)) for j, kind in enumerate(self.kinds)]
        )

    def _collected(self, columns: list[NDArray[Any]], n: int) -> Filled:
        numbers = np.full((n, len(columns)), np.nan)
        others: dict[int, NDArray[Any]] = {}
        for j, column in enumerate(columns):
            if column.dtype.kind == "f":
                numbers[:, j] = column
            else:
                others[j] = column
        return Filled(numbers, others)


def _check_form(kind: Kind, column: Any, label: str, argument: str) -> None:
    """Refuse words where the fit had numbers, and the like."""
    values = kind.values
    wanted = "words" if values and isinstance(values[0], str) else "numbers"
    if isinstance(kind, Date):
        wanted = "dates"
    forms = {TextColumn: "words", DateColumn: "dates"}
    found = forms.get(type(column), "numbers")
    if wanted != found:
        msg = f"{argument}: {label} holds {found}, but it held {wanted} when the model was fitted"
        raise InputError(msg)


def values_by_column(found: dict[str, list[Any]]) -> str:
    """Name some columns and some values of each, for a message."""
    shown = [f"{column} ({_first_few(values)})" for column, values in list(found.items())[:SHOWN]]
    more = f" and {len(found) - SHOWN} more column(s)" if len(found) > SHOWN else ""
    return ", ".join(shown) + more


def _first_few(values: list[Any]) -> str:
    shown = ", ".join(repr(value) if isinstance(value, str) else f"{value:g}" for value in values[:SHOWN])
    return shown + (f" and {len(values) - SHOWN} more" if len(values) > SHOWN else "")
