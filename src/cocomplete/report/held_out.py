"""Held-out cells with their truth, from wherever they come: of the fit, of a refit, or of new rows."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.held_out import Fold, Units, folds
from cocomplete.fitted.model import Model
from cocomplete.fitted.parts import PARTS
from cocomplete.members.trivial import Trivial
from cocomplete.problem.observations import Observations
from cocomplete.report.record import Compared
from cocomplete.report.source import spread

Z90 = 1.6448536269514722
"""Standard deviations to either side that hold 90 % of a normal distribution."""

CERTAIN = 1e-12
"""A probability is not nearer to 0 or 1 than this where its log-odds are taken."""

UNIT_ROWS = 5_000
"""Rows by which the units of errors are estimated."""


class Predicted(NamedTuple):
    """Held-out cells and predictions of them, in encoded columns.

    Attributes
    ----------
    case : ndarray of int
        Cells of one row that were held out together have the same number.
    column : ndarray of int
        Labels are counted after the features.
    truth, mean, std, trivial : ndarray
        Numbers in the user's units; log-odds of 0/1 columns. The trivial answer has the observed means.
    alone : ndarray of bool
        Labels of rows in which none was visible.
    place : ndarray of int
        Of the cell among those of its column, in ``levels``.
    levels : dict
        Probabilities of levels in an order: by feature, of its cells.
    """

    case: NDArray[np.intp]
    column: NDArray[np.intp]
    truth: FloatArray
    mean: FloatArray
    std: FloatArray
    trivial: FloatArray
    alone: BoolArray
    place: NDArray[np.intp]
    levels: dict[int, FloatArray]

    def where(self, some: NDArray[Any]) -> "Predicted":
        """Give some of the cells, in the order that is asked for."""
        return Predicted._make((*(each[some] for each in self[:-1]), self.levels))

    def by_columns(self) -> "Predicted":
        """Give the cells column by column, which :meth:`of_columns` needs."""
        return self.where(np.argsort(self.column, kind="stable"))

    def of_columns(self, first: int, last: int) -> list[Any]:
        """Give truth, mean, std, trivial answer and place of neighbouring columns that encode one.

        Returns
        -------
        list of ndarray of shape (n_cells, last - first)
        """
        own = np.arange(*np.searchsorted(self.column, (first, last)))
        own = own[np.lexsort((self.column[own], self.case[own]))]
        width = last - first
        # A cell is held out in all columns that encode it.
        _, start, count = np.unique(self.case[own], return_index=True, return_counts=True)
        places = own[start[count == width, None] + np.arange(width)]
        parts = (self.truth, self.mean, self.std, self.trivial, self.place)
        return [np.asarray(each[places]) for each in parts]


def held_out_of_fit(model: Model) -> Predicted | None:
    """Give the cells that the fit held out; None if it held out none.

    Where only ones are recorded, a label that is not known was fitted as a 0: nobody knows whether it is one,
    so labels cannot be judged.
    """
    kept = model.judged
    if kept is None or not len(kept.row):
        return None
    case = kept.fold.astype(np.intp) * model.observed.n_samples + kept.row
    column, std = kept.column.astype(np.intp), kept.std.astype(np.float64)
    owns = {j: np.flatnonzero(column == j) for j in model.levels}
    found = Predicted(
        case,
        column,
        kept.truth(model.fitted_as(model.observed)),
        kept.mean,
        std,
        kept.trivial_means(),
        kept.alone,
        _places(column),
        {
            j: cuts.probabilities(kept.mean[owns[j]], std[owns[j]], kept.by_trees.get(j))
            for j, cuts in model.levels.items()
        },
    )
    return found if model.positive is None else found.where(found.column < model.observed.n_features)


def held_out_of_rows(model: Model, observed: Observations, seed: int) -> Predicted | None:
    """Hold out cells of rows that a model has never seen, and let it predict them from the others.

    Parameters
    ----------
    model : Model
    observed : Observations
        The rows.
    seed : int
        Which cells.
    """
    trivial = Trivial.fit(model.fitted_as(model.observed), model.yes_no).mean
    found = [
        predicted_by(model, fold, trivial, number * observed.n_samples)
        for number, fold in enumerate(folds(observed, model.yes_no, seed, model.groups))
    ]
    if not found:
        return None
    cells = [np.concatenate(each) for each in zip(*(one[:-2] for one in found), strict=True)]
    levels = {j: np.concatenate([one.levels[j] for one in found]) for j in model.levels}
    whole = Predicted._make((*cells, _places(cells[1]), levels))
    return whole if model.positive is None else whole.where(whole.column < observed.n_features)


def predicted_by(model: Model, fold: Fold, trivial: FloatArray, first_case: int = 0) -> Predicted:
    """Give the held-out cells of a fold with a model's predictions of them from the visible ones.

    Parameters
    ----------
    model : Model
        Has not seen the held-out cells.
    fold : Fold
    trivial : ndarray of shape (n_features + n_labels,)
        The trivial answer: means, and log-odds of 0/1 columns.
    first_case : int
        What cases are counted from.
    """
    answer = model.answer(fold.visible)
    X = answer.X.copy()
    X[:, model.yes_no] = logit(np.clip(X[:, model.yes_no], CERTAIN, 1 - CERTAIN))
    std = np.where(model.yes_no, np.nan, answer.X_std)
    mean = np.hstack((X, answer.Z))[fold.row, fold.column]
    spread_out = np.hstack((std, np.full(answer.Z.shape, np.nan)))[fold.row, fold.column]
    return Predicted(
        first_case + fold.row,
        fold.column,
        fold.value.astype(np.float64),
        mean,
        spread_out,
        trivial[fold.column].astype(np.float64),
        np.asarray(fold.part == PARTS.index("unlabelled")),
        _places(fold.column),
        {j: each[fold.row[fold.column == j]] for j, each in answer.levels.items()},
    )


def _places(column: NDArray[np.intp]) -> NDArray[np.intp]:
    """Give the place of every cell among those of its column, in their order."""
    order = np.argsort(column, kind="stable")
    first = np.searchsorted(column[order], column[order])
    found = np.empty(len(column), np.intp)
    found[order] = np.arange(len(column)) - first
    return found


def new_rows(model: Model, observed: Observations) -> NDArray[np.intp]:
    """Give the rows that are not among those of the fit."""
    seen = {row.tobytes() for row in _together(model.observed)}
    own = _together(observed)
    return np.array([i for i, row in enumerate(own) if row.tobytes() not in seen], np.intp)


def _together(observed: Observations) -> FloatArray:
    """Features and labels as one table whose equal rows have equal bytes."""
    table = np.hstack((observed.X, observed.Y)).astype(np.float64) + 0.0
    return np.ascontiguousarray(np.where(np.isnan(table), np.nan, table))


class ErrorUnits:
    """What errors of features are measured in: the observed spread, outliers held back.

    Parameters
    ----------
    model : Model
        Of a long table, a sample of rows serves.
    """

    def __init__(self, model: Model) -> None:
        some = spread(model.observed.n_samples, UNIT_ROWS)
        rows = Observations(model.observed.X[some], model.observed.Y[some])
        self._unit = model.informative.unit
        self._place = np.cumsum(model.informative.features) - 1
        self._units = Units.of(model.informative.narrow(rows))

    def squared(self, column: NDArray[np.intp], one: FloatArray, other: FloatArray) -> FloatArray:
        """Give squared differences of features in units of their columns' spread."""
        place, unit = self._place[column], self._unit[column]
        with np.errstate(over="ignore"):
            one, other = (self._units.standardized(place, each / unit) for each in (one, other))
        return np.asarray((one - other) ** 2)


def compared(errors: FloatArray, trivial: FloatArray) -> Compared:
    """Compare errors of the same cells, pair by pair: level within two standard errors of the difference."""
    difference = errors - trivial
    if difference.size < 2:
        return "level"
    error = float(difference.std(ddof=1)) / np.sqrt(difference.size)
    mean = float(difference.mean())
    if abs(mean) <= 2 * error or mean == 0:
        return "level"
    return "better" if mean < 0 else "worse"
