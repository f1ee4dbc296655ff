"""The user's input, validated once and frozen."""

import hashlib
import warnings
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError
from cocomplete.frozen import FieldsAlone
from cocomplete.table.containers import Table, column_label, to_table


@dataclass(frozen=True, eq=False)
class Observations(FieldsAlone):
    """What is known of a table: features X and 0/1 labels Y, both with holes.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        The paper's **X**; NaN off Ω_X.
    Y : ndarray of shape (n_samples, n_labels)
        The paper's **Y**, 0 or 1; NaN off Ω_Y. Same float type as ``X``.
    feature_names, label_names : tuple of str or None
        Names, where the user's container had them.
    """

    X: FloatArray
    Y: FloatArray
    feature_names: tuple[str, ...] | None = None
    label_names: tuple[str, ...] | None = None

    @classmethod
    def from_tables(cls, X: Any, y: Any = None) -> "Observations":
        """Validate a user's tables.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Features; NaN, None, NA or null where unknown.
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            Labels 0 or 1; unknown likewise. None means there are no labels.

        Raises
        ------
        InputError
            With one sentence that names the argument, what was found and what to do.
        """
        return cls.checked(to_table(X, "X"), None if y is None else to_table(y, "y"))

    @classmethod
    def checked(cls, features: Table, labels: Table | None) -> "Observations":
        """Check two matrices, of features and of labels, against each other and what they may hold.

        Raises
        ------
        InputError
            With one sentence that names the argument, what was found and what to do.
        """
        n_samples, n_features = features.values.shape
        check_size(n_samples, n_features)
        if labels is None:
            labels = Table(np.empty((n_samples, 0), features.values.dtype), None)
        check_same_rows(n_samples, labels.values.shape[0])
        _check_finite(features)
        _check_labels(labels)
        # Compiled loops and sparse matrices take native numbers alone.
        dtype = features.values.dtype.newbyteorder("=")
        return cls(
            features.values.astype(dtype, copy=False),
            labels.values.astype(dtype, copy=False),
            features.names,
            labels.names,
        )

    def without_one_sided_labels(self) -> "Observations":
        """Leave out the labels whose observed cells are all 0 or all 1.

        With a free offset such a label carries no information on the rest: its offset would run to infinity
        and its loss to 0, whatever M is.
        """
        ones, known = np.nansum(self.Y, axis=0), self.Y_known.sum(axis=0)
        one_sided = (ones == 0) | (ones == known)
        if not (one_sided & (known > 0)).any():
            return self
        return replace(self, Y=np.where(one_sided, np.nan, self.Y))

    def without(self, X_held: BoolArray, Y_held: BoolArray) -> Self:
        """Give the table with these cells held out, unknown in it."""
        return replace(self, X=np.where(X_held, np.nan, self.X), Y=np.where(Y_held, np.nan, self.Y))

    def check_fittable(self, *, stacklevel: int = 4, rows: bool = True) -> None:
        """Refuse a table without observed cells, and name the columns without any.

        Parameters
        ----------
        stacklevel : int, default=4
            Which caller a warning points to.
        rows : bool, default=True
            Whether rows without any are named, too.

        Raises
        ------
        InputError
            If no cell at all is observed.

        Warns
        -----
        UserWarning
            If a row or column has nothing observed; its cells are filled with offsets alone.
        """
        _check_something_observed(self)
        _warn_of_empty(self, stacklevel, rows=rows)

    @property
    def n_samples(self) -> int:
        """Number of rows, n."""
        return int(self.X.shape[0])

    @property
    def n_features(self) -> int:
        """Number of feature columns, d."""
        return int(self.X.shape[1])

    @property
    def n_labels(self) -> int:
        """Number of label columns, l."""
        return int(self.Y.shape[1])

    @cached_property
    def X_known(self) -> BoolArray:
        """Mask of Ω_X, shape (n_samples, n_features)."""
        return ~np.isnan(self.X)

    @cached_property
    def Y_known(self) -> BoolArray:
        """Mask of Ω_Y, shape (n_samples, n_labels)."""
        return ~np.isnan(self.Y)

    @cached_property
    def fingerprint(self) -> bytes:
        """A digest by which the same cells are recognised without keeping a second copy of them."""
        digest = hashlib.blake2b(digest_size=16)
        for part in (self.X, self.Y):
            digest.update(str(part.shape).encode())
            digest.update(np.ascontiguousarray(part).tobytes())
        return digest.digest()


def check_same_rows(n_samples: int, n_labelled: int) -> None:
    """Refuse features and labels of different numbers of rows.

    Raises
    ------
    InputError
    """
    if n_labelled != n_samples:
        msg = (
            f"X has {n_samples} rows but y has {n_labelled}: "
            "inconsistent numbers of rows; every row needs its features and its labels, unknown or not"
        )
        raise InputError(msg)


def check_size(n_samples: int, n_features: int) -> None:
    """Refuse a table without rows, or without features.

    Raises
    ------
    InputError
    """
    for count, what, wanted in (
        (n_samples, "row(s)", "sample"),
        (n_features, "column(s)", "feature"),
    ):
        if count == 0:
            msg = (
                f"X has shape ({n_samples}, {n_features}): 0 {wanted}(s) (shape=({n_samples}, {n_features})) "
                f"while a minimum of 1 is required; pass a table with at least one of its {what}"
            )
            raise InputError(msg)


def _check_finite(features: Table) -> None:
    infinite = np.isinf(features.values)
    if infinite.any():
        row, column = (int(k) for k in np.argwhere(infinite)[0])
        msg = (
            f"X must be finite or unknown, but {column_label(features.names, column)} holds inf in row {row} "
            f"(counting from 0) and {int(infinite.sum())} cell(s) in all are infinite; "
            "replace infinities by NaN if the value is unknown"
        )
        raise InputError(msg)


def _check_labels(labels: Table) -> None:
    values = labels.values
    bad = ~(np.isnan(values) | (values == 0) | (values == 1))
    if not bad.any():
        return
    column = int(np.flatnonzero(bad.any(axis=0))[0])
    offenders = np.unique(values[bad[:, column], column])
    shown = ", ".join(f"{value:g}" for value in offenders[:5]) + (", …" if len(offenders) > 5 else "")
    msg = (
        f"y must hold 0, 1 or unknown, but {column_label(labels.names, column)} holds {shown} "
        f"(first in row {int(np.argmax(bad[:, column]))}, counting from 0); "
        "recode it to 0 and 1, with NaN for unknown, or move the column to the features"
    )
    raise InputError(msg)


def _check_something_observed(observed: Observations) -> None:
    if not observed.X_known.any() and not observed.Y_known.any():
        msg = (
            f"X and y have no observed cell at all ({observed.n_samples} rows, "
            f"{observed.n_features} features, {observed.n_labels} labels); at least one value is needed"
        )
        raise InputError(msg)


def _warn_of_empty(observed: Observations, stacklevel: int, *, rows: bool) -> None:
    parts = []
    for known, names, kind in (
        (observed.X_known, observed.feature_names, "feature"),
        (observed.Y_known, observed.label_names, "label"),
    ):
        empty = np.flatnonzero(~known.any(axis=0))
        if empty.size:
            shown = [column_label(names, int(j)).removeprefix("column ") for j in empty[:5]]
            parts.append(f"{kind} column(s) {_some(shown, empty.size)}")
    empty = np.flatnonzero(~(observed.X_known.any(axis=1) | observed.Y_known.any(axis=1)))
    if rows and empty.size:
        parts.append(f"row(s) {_some([str(i) for i in empty[:5]], empty.size)} (counting from 0)")
    if parts:
        msg = f"nothing is observed in {' and in '.join(parts)}; these cells are filled with offsets alone"
        warnings.warn(msg, UserWarning, stacklevel=stacklevel)


def _some(shown: list[str], count: int) -> str:
    return ", ".join(shown) + (f" and {count - len(shown)} more" if count > len(shown) else "")
