"""Predictions of the held-out cells by candidates, and their errors."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from cocomplete.arrays import FloatArray
from cocomplete.choosing.held_out import Fold, Units
from cocomplete.fitted.judged_cells import JudgedCells
from cocomplete.fitted.parts import PARTS, Part
from cocomplete.losses import log_loss
from cocomplete.members.prediction import Prediction

SMALLEST_FACTOR = 0.25
"""Standard deviations are not made smaller than this share of what the members give."""

FACTOR_TRUST, COLUMN_TRUST = 50, 20
"""Held-out numbers that the members' own standard deviations count for, against the held-out quantile; and
that all columns together count for, against a column's own."""

PART_NAMES: dict[Part, str] = {
    "numbers": "features",
    "yes-no": "yes_no_features",
    "labels": "labels",
    "unlabelled": "unlabelled",
}
"""What the parts are called in ``validation_``."""


class HeldOutLabels(NamedTuple):
    """Column, truth and predicted log-odds of every held-out label."""

    column: NDArray[np.intp]
    truth: FloatArray
    score: FloatArray


@dataclass(frozen=True, eq=False)
class HeldOut:
    """All held-out cells, one fold after the other.

    Attributes
    ----------
    column, part : ndarray of int
    value : ndarray
        Truth, in the user's units.
    units : Units
    """

    column: NDArray[np.intp]
    part: NDArray[np.intp]
    value: FloatArray
    units: Units

    @classmethod
    def of(cls, folds: list[Fold], units: Units) -> "HeldOut":
        """Put the folds' cells together."""
        column, part, value = (
            np.concatenate([getattr(fold, name) for fold in folds] or [np.empty(0, np.intp)])
            for name in ("column", "part", "value")
        )
        return cls(column, part, value.astype(np.float64), units)

    def where(self, part: Part) -> NDArray[np.intp]:
        """Positions of a part's cells."""
        return np.flatnonzero(self.part == PARTS.index(part))

    def errors(self, part: Part, predictions: FloatArray) -> FloatArray:
        """Error of every cell of a part: squared, in units of spread; or log-loss.

        Parameters
        ----------
        part : str
        predictions : ndarray of shape (…, number of the part's cells)
        """
        where = self.where(part)
        if part != "numbers":
            with np.errstate(invalid="ignore"):
                return log_loss(predictions, self.value[where])
        column = self.column[where]
        errors = self.units.standardized(column, predictions) - self.units.standardized(
            column, self.value[where]
        )
        return np.asarray(errors**2)


class Contest:
    """Predictions of the held-out cells by candidates that were fitted to the visible ones of every fold.

    Parameters
    ----------
    held : HeldOut
    sizes : sequence of int
        Held-out cells of every fold.

    Attributes
    ----------
    means, stds : dict
        By candidate, one number per held-out cell; NaN where it does not predict.
    """

    def __init__(self, held: HeldOut, sizes: Sequence[int]) -> None:
        self.held = held
        self.bounds = np.concatenate(([0], np.cumsum(sizes))).astype(int)
        self.means: dict[Any, FloatArray] = {}
        self.stds: dict[Any, FloatArray] = {}

    def keep(self, candidates: Collection[Any]) -> None:
        """Forget all others."""
        for kept in (self.means, self.stds):
            for one in [one for one in kept if one not in candidates]:
                del kept[one]

    def candidates(self) -> list[Any]:
        """All that were judged."""
        return list(self.means)

    def add(self, candidate: Any, number: int, fold: Fold, prediction: Prediction) -> None:
        """Keep a candidate's prediction of a fold's rows, in its held-out cells."""
        features = fold.column < prediction.std.shape[1]
        stds = np.full(fold.row.size, np.nan)
        stds[features] = prediction.std[fold.row[features], fold.column[features]]
        self.add_means(candidate, number, prediction.mean[fold.row, fold.column], stds)

    def add_means(
        self, candidate: Any, number: int, means: FloatArray, stds: FloatArray | None = None
    ) -> None:
        """Keep a candidate's predictions of a fold's held-out cells; NaN where it has none."""
        part = slice(self.bounds[number], self.bounds[number + 1])
        for kept, values in ((self.means, means), (self.stds, np.nan if stds is None else stds)):
            kept.setdefault(candidate, np.full(self.bounds[-1], np.nan))[part] = values

    def total(self, candidate: Any, part: Part) -> float:
        """Give the summed error of a candidate on a part."""
        where = self.held.where(part)
        total = float(self.held.errors(part, self.means[candidate][where]).sum())
        # A candidate without a prediction cannot be the best.
        return np.inf if np.isnan(total) else total

    def loss(self, candidate: Any, part: Part) -> float:
        """Mean error of a candidate on a part."""
        return self.total(candidate, part) / max(self.held.where(part).size, 1)


def judged_cells(
    folds: Sequence[Fold], mean: FloatArray, std: FloatArray, trivial: FloatArray, n_columns: int
) -> JudgedCells:
    """Keep the held-out cells of all folds with what was predicted of them.

    Parameters
    ----------
    folds : sequence of Fold
    mean, std, trivial : ndarray of shape (n_cells,)
        One fold after the other; NaN where nothing was predicted.
    n_columns : int
    """
    row, column, part = (
        np.concatenate([getattr(fold, name) for fold in folds] or [np.empty(0, np.intp)])
        for name in ("row", "column", "part")
    )
    number = np.repeat(np.arange(len(folds)), [fold.row.size for fold in folds])
    return JudgedCells.of(row, column, number, part, mean, std, trivial, n_columns)


def error_summary(held: HeldOut, part: Part, mean: FloatArray, trivial: FloatArray) -> dict[str, float]:
    """Summarise errors on the held-out cells of a part, beside those of the trivial prediction.

    Numbers: root mean square, in units of each column's spread. 0/1 columns: log-loss, and the share that is
    wrong if the likelier value is taken.
    """
    truth = held.value[held.where(part)]
    found: dict[str, float] = {"cells": truth.size}
    for prefix, predictions in (("", mean), ("trivial_", trivial)):
        error = float(held.errors(part, predictions).mean())
        if part == "numbers":
            found[f"{prefix}rmse"] = float(np.sqrt(error))
        else:
            found[f"{prefix}log_loss"] = error
            found[f"{prefix}wrong"] = float(((predictions > 0) != (truth == 1)).mean())
    return found


def calibrated(ratios: FloatArray, column: NDArray[np.intp], n_columns: int) -> FloatArray:
    """Give each column's factor of standard deviations for 90 % intervals to hold 90 % of held-out numbers.

    Parameters
    ----------
    ratios : ndarray
        Errors of held-out numbers in units of their standard deviations.
    column : ndarray of int
        Where they are. With few in a column its factor is near that of all, with few in all near 1.
    n_columns : int
    """
    whole = _shrunken_factor(ratios, 1.0, FACTOR_TRUST)
    factors = np.full(n_columns, whole)
    for j in np.unique(column):
        factors[j] = _shrunken_factor(ratios[column == j], whole, COLUMN_TRUST)
    return factors


def _shrunken_factor(ratios: FloatArray, towards: float, trust: int) -> float:
    if not ratios.size:
        return towards
    factor = max(float(np.quantile(ratios, 0.9) / ndtri(0.95)), SMALLEST_FACTOR)
    share = ratios.size / (ratios.size + trust)
    return float(factor**share * towards ** (1 - share))
