"""The informative part of a table: columns that vary, in units that can be squared, and rows with cells."""

from dataclasses import dataclass

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.observations import Observations
from cocomplete.table.containers import column_label

# Of NumPy's own type: next to single precision a number of Python's is made single, and overflows.
SMALL, LARGE = np.float64(1e-60), np.float64(1e60)
"""Usual sizes of a column's values between which their squares, and the squares of these, are numbers."""

SMALL_SINGLE, LARGE_SINGLE = np.float64(1e-9), np.float64(1e9)
"""The same for single precision."""


@dataclass(frozen=True, eq=False)
class Informative:
    """Which columns vary, and what the others hold.

    A column with one observed value, or none, can neither predict others nor be predicted; it takes no part
    in a fit, so that its presence changes nothing.

    Attributes
    ----------
    features : ndarray of bool, shape (n_features,)
    labels : ndarray of bool, shape (n_labels,)
    constant : ndarray of shape (n_features + n_labels,)
        What a column without variation is filled with: its value, 0 if there is none; log-odds of a label.
    unit : ndarray of shape (n_features,)
        Powers of two that features are divided by; 1 but where their squares would overflow or vanish.
    """

    features: BoolArray
    labels: BoolArray
    constant: FloatArray
    unit: FloatArray

    @classmethod
    def of(cls, observed: Observations) -> "Informative":
        """Look at a table."""
        value, varied = zip(*(_only_value(part) for part in (observed.X, observed.Y)), strict=True)
        log_odds = shrunken_log_odds(observed.Y.astype(np.float64))
        return cls(varied[0], varied[1], np.concatenate((value[0], log_odds)), _units(observed.X))

    @classmethod
    def whole(cls, observed: Observations, *, units: bool = True) -> "Informative":
        """Let every column take part, in units of its own or, where the scale matters, as it is.

        Raises
        ------
        InputError
            If columns as they are hold numbers whose squares are not numbers.
        """
        d, n_labels = observed.n_features, observed.n_labels
        if not units:
            _check_sizes(observed)
        unit = _units(observed.X) if units else np.ones(d)
        return cls(np.ones(d, bool), np.ones(n_labels, bool), np.zeros(d + n_labels), unit)

    @property
    def columns(self) -> BoolArray:
        """Features and labels together."""
        return np.concatenate((self.features, self.labels))

    @property
    def is_everything(self) -> bool:
        """Whether all columns take part as they are."""
        return bool(self.columns.all() and (self.unit == 1).all())

    def narrow(self, observed: Observations) -> Observations:
        """Give the columns that vary, in their units, without names.

        What lies so far beyond the usual size that its square is no number counts as less.
        """
        X, most = observed.X[:, self.features], usual_sizes(observed.X.dtype)[1] ** 1.5
        if not (self.unit == 1).all():
            with np.errstate(over="ignore"):
                X = np.clip(X / self.unit[self.features], -most, most).astype(X.dtype)
        elif (np.abs(X) > most).any():
            X = np.clip(X, -most, most).astype(X.dtype)
        elif self.is_everything:
            return observed
        return Observations(X, observed.Y[:, self.labels])

    def widen(self, mean: FloatArray, std: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Put the other columns in their places; they have no spread.

        Parameters
        ----------
        mean : ndarray of shape (n_samples, number of columns that vary)
        std : ndarray of shape (n_samples, number of features that vary)
        """
        if self.is_everything:
            return mean, std
        whole = np.tile(self.constant, (len(mean), 1))
        whole[:, self.columns] = mean
        spread = np.zeros((len(std), len(self.features)))
        spread[:, self.features] = std
        # Columns that do not take part are as they are.
        unit = np.where(self.features, self.unit, 1)
        largest = np.finfo(np.float64).max
        with np.errstate(over="ignore"):
            whole[:, : len(unit)] = np.clip(whole[:, : len(unit)] * unit, -largest, largest)
            return whole, np.minimum(spread * unit, largest)


def usual_sizes(dtype: np.dtype[np.floating]) -> tuple[np.float64, np.float64]:
    """Sizes between which numbers of a type can be squared, and sums of these squares be multiplied."""
    return (SMALL_SINGLE, LARGE_SINGLE) if dtype == np.float32 else (SMALL, LARGE)


def _check_sizes(observed: Observations) -> None:
    size = np.abs(np.where(observed.X_known, observed.X, 0)).max(axis=0, initial=0)
    large = np.flatnonzero(size > usual_sizes(observed.X.dtype)[1])
    if large.size:
        where = column_label(observed.feature_names, int(large[0]))
        double = " as float64" if observed.X.dtype == np.float32 else ""
        msg = (
            f"X holds {size[large[0]]:g} in {where}, too large for scale=False: its square is no number; "
            f"use another unit{', or pass X' + double if double else ''}, or scale=True"
        )
        raise InputError(msg)


def _units(X: FloatArray) -> FloatArray:
    """Power of two near the usual size of every column's values, 1 where that is of no account."""
    units = np.ones(X.shape[1])
    small, large = usual_sizes(X.dtype)
    for j in range(X.shape[1]):
        size = np.abs(X[:, j].astype(np.float64))
        # Halves of the two in the middle: their sum may be too large to be a number.
        usual = np.median(0.5 * size[size > 0]) if (size > 0).any() else 0.5
        if not small < 2 * usual < large:
            exponent = np.frexp(usual)[1] if usual > 0 else -1074
            units[j] = 2.0 ** np.clip(exponent, -1000, 1000)
    return units


def rows_with_something(observed: Observations) -> BoolArray:
    """Rows of which some cell is known."""
    return np.asarray(observed.X_known.any(axis=1) | observed.Y_known.any(axis=1))


def _only_value(table: FloatArray) -> tuple[FloatArray, BoolArray]:
    """Give the one value of each column (0 if it has none), and whether it has two."""
    known = ~np.isnan(table)
    low = np.where(known, table, np.inf).min(axis=0, initial=np.inf)
    high = np.where(known, table, -np.inf).max(axis=0, initial=-np.inf)
    varied = low < high
    return np.where(varied | np.isinf(low), 0.0, low), varied
