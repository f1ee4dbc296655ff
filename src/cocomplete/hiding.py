"""Observed cells hidden from a fit, and what a model says of them."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, NamedTuple

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import ABSURD, Standardization, limits
from cocomplete.solvers.mode import Mode
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.readout import Completed, Readout
from cocomplete.solvers.solution import Solution

HIDDEN_SHARE = 0.15
"""Share of the observed cells that is hidden to judge by."""

ROUGH_ROWS = ((10, 30), 1e-4)
"""Newton and conjugate-gradient steps, and the smallest gain, of rows while searching."""

Part = Literal["features", "labels", "unlabelled"]
PARTS: tuple[Part, ...] = ("features", "labels", "unlabelled")
"""What is judged, and chosen, apart: features, labels, and labels of rows in which no label is known."""


@dataclass(frozen=True, eq=False)
class Hidden:
    """The cells that were hidden, with their truth.

    Attributes
    ----------
    visible : Observations
        The table without them.
    x_row, x_column, x_value, y_row, y_column, y_value : ndarray
        Where they are, in the user's columns, and what they hold.
    x_scale : ndarray
        Spread of each hidden feature's column.
    x_low, x_high : ndarray
        Limits beyond which a value counts as an outlier: no one of them may decide which model is best.
    """

    visible: Observations
    x_row: Any
    x_column: Any
    x_value: FloatArray
    x_scale: FloatArray
    x_low: FloatArray
    x_high: FloatArray
    y_row: Any
    y_column: Any
    y_value: FloatArray

    @classmethod
    def of(cls, observed: Observations, rng: np.random.Generator, share: float = HIDDEN_SHARE) -> "Hidden":
        """Hide a share of the observed cells of X and of Y."""
        X_hidden = observed.X_known & (rng.random(observed.X.shape) < share)
        Y_hidden = observed.Y_known & (rng.random(observed.Y.shape) < share)
        # A label must not lose its last 0 or its last 1: nothing could be learnt about it.
        for value in (0, 1):
            last = ((value == observed.Y) & ~Y_hidden).sum(axis=0) == 0
            Y_hidden &= ~(last & (value == observed.Y))
        # A feature must keep two values, for a mean and a spread.
        X_hidden &= ~((observed.X_known & ~X_hidden).sum(axis=0) < 2)
        x_row, x_column = np.nonzero(X_hidden)
        y_row, y_column = np.nonzero(Y_hidden)
        units = Standardization.of(observed.X, center=True, scale=True)
        low, high = limits(observed.X, observed.X_known, ABSURD)
        visible = replace(
            observed,
            X=np.where(X_hidden, np.nan, observed.X),
            Y=np.where(Y_hidden, np.nan, observed.Y),
        )
        return cls(
            visible,
            x_row,
            x_column,
            observed.X[X_hidden],
            units.scale[x_column],
            low[x_column],
            high[x_column],
            y_row,
            y_column,
            observed.Y[Y_hidden],
        )

    @property
    def sizes(self) -> dict[Part, int]:
        """How many cells of each part are hidden."""
        labels = self.y_value.size
        return {
            "features": self.x_value.size,
            "labels": labels,
            "unlabelled": labels if self.visible.X_known.any() else 0,
        }

    @property
    def weights(self) -> dict[Part, int]:
        """How much each part's hidden cells can tell: of rare ones, or rare zeros, each counts for two."""
        ones = int(self.y_value.sum())
        rare = 2 * min(ones, self.y_value.size - ones)
        return {"features": self.x_value.size, "labels": max(rare, 1), "unlabelled": max(rare, 1)}


class Truth(NamedTuple):
    """What was hidden: column, value, spread and limits of features, column and value of labels."""

    x_column: Any
    x_value: FloatArray
    x_scale: FloatArray
    x_low: FloatArray
    x_high: FloatArray
    y_column: Any
    y_value: FloatArray


class HiddenLabels(NamedTuple):
    """Column, truth and predicted log-odds of every hidden label."""

    column: Any
    truth: FloatArray
    score: FloatArray


class View:
    """The visible and the hidden cells as an encoding has them."""

    def __init__(self, hidden: Hidden, encoding: Encoding, *, free_offsets: bool) -> None:
        self.hidden, self.encoding, self.free_offsets = hidden, encoding, free_offsets
        self.observed = encoding.apply(hidden.visible)
        self.cells = Cells.of(self.observed)
        # In the order of the solvers' columns, so that one pattern serves both parts.
        self._x_column = encoding.order[hidden.x_column]
        self._y_column = encoding.order[hidden.y_column + len(encoding.yes_no)]

    def objective(self, feature_weight: float) -> Objective:
        """F on the visible cells with λ2 = 0; λ1 is still open."""
        observed = self.observed.without_one_sided_labels() if self.free_offsets else self.observed
        return Objective(observed, 1.0, 0.0, feature_weight, self.encoding.offsets, self.free_offsets)

    @cached_property
    def hidden_cells(self) -> Cells:
        """The hidden cells as a pattern; their values do not matter."""
        n, m = self.cells.shape
        marked = np.full((n, m), np.nan)
        marked[self.hidden.x_row, self._x_column] = 0
        marked[self.hidden.y_row, self._y_column] = 0
        split = self.encoding.n_numbers
        return Cells.of(Observations(marked[:, :split], marked[:, split:]))

    @cached_property
    def hidden_labels(self) -> Cells:
        """The hidden labels alone as a pattern."""
        n, m = self.cells.shape
        marked = np.full((n, m), np.nan)
        marked[self.hidden.y_row, self._y_column] = 0
        split = self.encoding.n_numbers
        return Cells.of(Observations(marked[:, :split], marked[:, split:]))

    @cached_property
    def blind_cells(self) -> Cells:
        """The visible features, without any label."""
        Y = self.observed.Y.copy()
        Y[:, len(self.encoding.yes_no) - self.encoding.n_numbers :] = np.nan
        return Cells.of(replace(self.observed, Y=Y))

    def in_order(self, labels: Moments) -> FloatArray:
        """Log-odds of hidden labels, from the order of their pattern to that of the truth."""
        order = np.lexsort((self._y_column, self.hidden.y_row))
        score = np.empty(len(order))
        score[order] = labels.score
        return score

    def read(self, readout: Readout, rows: Completed) -> FloatArray:
        """Give what is read out for the hidden labels, of all rows' completed features."""
        some, place = np.unique(self.hidden.y_row, return_inverse=True)
        return np.asarray(readout.of(rows.take(some)).mean[place, self._y_column])

    def of_labels(self, moments: Moments) -> Moments:
        """Those of all hidden cells' moments that are labels', by rows."""
        _, column = self._cells_by_row
        labels = column >= len(self.encoding.yes_no)
        return replace(moments, mean=moments.mean[labels], variance=moments.variance[labels])

    def blindly(self, objective: Objective, solution: Solution) -> Moments:
        """Give what a solution says of the hidden labels from the features of their rows alone."""
        cells = self.hidden_labels
        mode = Mode.of(objective, solution, self.cells)
        U = mode.rows(self.blind_cells, *ROUGH_ROWS)
        row = np.repeat(np.arange(len(U)), np.diff(cells.y_start))
        t = np.einsum("qr,qr->q", U[row], mode.V[cells.y_column]) + mode.offsets[cells.y_column]
        return Moments(t, np.zeros_like(t), np.zeros(cells.n_features), averaged=False)

    @cached_property
    def _place(self) -> tuple[Any, Any]:
        """Where each hidden feature and label is in the row-wise order of the hidden pattern."""
        n, m = self.cells.shape
        rank = np.zeros((n, m), np.int64)
        rank[self.hidden.x_row, self._x_column] = 1
        rank[self.hidden.y_row, self._y_column] = 1
        rank = np.cumsum(rank.ravel()).reshape(n, m) - 1
        return rank[self.hidden.x_row, self._x_column], rank[self.hidden.y_row, self._y_column]

    def with_doubt(self, objective: Objective, solution: Solution) -> Moments:
        """Give a solution's values in the hidden cells with the variance that new rows would have."""
        row, column = self._cells_by_row
        told = Mode.of(objective, solution, self.cells).predict(self.cells)
        return replace(told, mean=told.mean[row, column], variance=told.variance[row, column])

    def trivial(self) -> Moments:
        """Column means and label rates in the hidden cells."""
        _, column = self._cells_by_row
        t = self.encoding.offsets[column].astype(np.float64)
        return Moments(t, np.zeros_like(t), np.ones(self.encoding.n_numbers), averaged=False)

    def at(self, solution: Solution) -> Moments:
        """Give a solution's values in the hidden cells."""
        row, column = self._cells_by_row
        M = solution.M
        t = np.einsum("qr,qr->q", M.U[row] * M.s, M.Vt.T[column]) + solution.offsets[column]
        fitted = np.einsum("qr,qr->q", M.U[self._x_row] * M.s, M.Vt.T[self.cells.x_column])
        residual = self.cells.x_value - fitted - solution.offsets[self.cells.x_column]
        d = self.encoding.n_numbers
        count = np.bincount(self.cells.x_column, minlength=d)
        noise = np.bincount(self.cells.x_column, residual**2, d) / np.maximum(count, 1)
        return Moments(t, np.zeros_like(t), noise, averaged=False)

    @cached_property
    def _x_row(self) -> Any:
        return np.repeat(np.arange(self.cells.shape[0]), np.diff(self.cells.x_start))

    @cached_property
    def _cells_by_row(self) -> tuple[Any, Any]:
        hidden = self.hidden
        row = np.concatenate((hidden.x_row, hidden.y_row))
        column = np.concatenate((self._x_column, self._y_column))
        order = np.lexsort((column, row))
        return row[order], column[order]

    def decode(self, moments: Moments) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean and standard deviation of the hidden features in the user's units; log-odds of the labels."""
        x_place, y_place = self._place
        score = moments.score
        t, spread = moments.mean[x_place], moments.variance[x_place]
        mean, std = np.empty_like(t), np.empty_like(t)
        for column, where in _groups(self.hidden.x_column):
            inner = int(self.encoding.order[column])
            noise = 0.0 if self.encoding.yes_no[column] else moments.noise[inner]
            mean[where], std[where] = self.encoding.feature(
                column, t[where], score[x_place][where], spread[where] + noise
            )
        return mean, std, score[y_place]


def _groups(column: Any) -> Iterator[tuple[int, Any]]:
    """Each distinct value and where it stands."""
    if not len(column):
        return
    order = np.argsort(column, kind="stable")
    values, first = np.unique(column[order], return_index=True)
    for value, where in zip(values, np.split(order, first[1:]), strict=True):
        yield int(value), where
