"""Boosted trees for every column: steps and exceptions, which no factor and no smooth kernel can follow.

Every column is predicted from the others as they are, holes and all, by a sum of small oblivious trees
(:mod:`cocomplete.kernels.trees`). Features are predicted from all other columns, labels from features alone:
what labels have in common is known to other members.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.engines.row_blocks import InProcess
from cocomplete.kernels import boost, grow
from cocomplete.members.prediction import Prediction
from cocomplete.problem.content_keys import ContentKeys, mix
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import Standardization

STOPS = (15, 30, 60, 100)
"""Numbers of trees that are tried."""

DEPTH, PACE, RIDGE = 3, 0.1, 2.0
"""Questions of a tree, what is taken of its step, and cells that a leaf's value is shrunk by. Depths of 2 and
4, half the pace and four times the ridge predict half of the tables to choose with as well, within 0.6 %."""

BINS = 32
"""Most codes of a column; twice as many change nothing."""

OFFERED, MOST_OFFERED = 0.5, 64
"""Share of the features' number that a tree may ask of, picked anew for every tree, and the most."""

LARGEST = 3e9
"""Additions to histograms that bound how many rows a column is fitted to, if nothing else is given."""

DECIMALS = 6
"""Digits of standardised targets: rounding of another unit must not decide between equal questions."""


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """Trees for some columns.

    Attributes
    ----------
    cuts : tuple of ndarray
        Between the codes of every column.
    order : ndarray of int
        Columns as the trees see them, in an order that follows from their content.
    columns : ndarray of int
        What is predicted; features before labels.
    binary : ndarray of bool, shape (number of columns predicted,)
    base, center, scale : ndarray of the same shape
        What the first tree starts from; a number is ``center`` and ``scale`` times the sum of its trees.
    questions, values : ndarray
        As :func:`cocomplete.kernels.trees.boost` writes them.
    spread : ndarray of shape (len(STOPS), number of columns predicted)
        Standard deviation of a number's residuals in the rows that it was fitted to, after so many trees.
    n_trees : int
        How many of the trees answer; one of ``STOPS``.
    n_features, n_labels : int
    """

    cuts: tuple[FloatArray, ...]
    order: NDArray[np.intp]
    columns: NDArray[np.intp]
    binary: BoolArray
    base: FloatArray
    center: FloatArray
    scale: FloatArray
    questions: NDArray[np.int16]
    values: FloatArray
    spread: FloatArray
    n_trees: int
    n_features: int
    n_labels: int
    name: str = "boosted trees"

    @classmethod
    def fit(
        cls,
        observed: Observations,
        yes_no: BoolArray,
        keys: ContentKeys,
        columns: NDArray[np.intp],
        n_trees: int = STOPS[-1],
        groups: NDArray[np.intp] | None = None,
        largest: float = LARGEST,
    ) -> "BoostedTrees":
        """Boost some columns.

        Parameters
        ----------
        observed : Observations
            With at least one feature; another one, or a label, where features are to be predicted.
        yes_no : ndarray of bool, shape (n_features,)
        keys : ContentKeys
            Columns and rows are looked at in the order of their keys, and where there are too many rows,
            those with the smallest keys are used.
        columns : ndarray of int
            What to predict: features, and labels counted after them, rising.
        n_trees : int
            One of ``STOPS``.
        groups : ndarray of int, shape (n_features + n_labels,), optional
            Columns with the same number encode one of the user's; none is predicted from another.
        largest : float
            Additions to histograms that bound how many rows a column is fitted to.
        """
        table = np.hstack((observed.X, observed.Y)).astype(np.float64)
        cuts = tuple(_cuts(column) for column in table.T)
        order = np.argsort(keys.columns, kind="stable")
        codes = _codes(table, cuts, order)
        binary = np.concatenate((yes_no, np.ones(observed.n_labels, bool)))[columns]
        scale = Standardization.of(table[:, columns], center=True, scale=True)
        targets = np.where(binary, table[:, columns], np.round(scale.apply(table[:, columns]), DECIMALS))
        apart = np.arange(table.shape[1]) if groups is None else groups
        offered = _offered(keys.columns, order, columns, observed.n_features, n_trees, apart)
        work = len(columns) * n_trees * DEPTH * offered.shape[2]
        rows = np.argsort(keys.rows, kind="stable")[: max(int(largest / max(work, 1)), 2)]
        known = ~np.isnan(targets[rows])
        count = known.sum(axis=0)
        row = np.tile(rows, (len(columns), 1))[known.T]
        y = targets[rows].T[known.T]
        start = np.concatenate(([0], np.cumsum(count)))
        mean = np.nansum(targets[rows], axis=0) / np.maximum(count, 1)
        base = np.where(binary, shrunken_log_odds(targets[rows]), np.round(mean, DECIMALS))
        questions = np.empty((len(columns), n_trees, DEPTH, 3), np.int16)
        values = np.empty((len(columns), n_trees, 2**DEPTH))
        bins = _bins(cuts, order)

        def of_column(t: int) -> None:
            own = slice(start[t], start[t + 1])
            given = (row[own], y[own], bool(binary[t]), float(base[t]), PACE, RIDGE)
            boost(codes, bins, offered[t], *given, questions[t], values[t])

        InProcess.each(range(len(columns)), of_column)
        fitted = cls(
            cuts,
            order,
            columns,
            binary,
            base,
            np.where(binary, 0.0, scale.center),
            np.where(binary, 1.0, scale.scale),
            questions,
            values,
            np.zeros((len(STOPS), len(columns))),
            n_trees,
            observed.n_features,
            observed.n_labels,
        )
        for t in np.flatnonzero(~binary):
            own = slice(start[t], start[t + 1])
            residual = fitted._sums(codes, row[own], int(t), STOPS) - y[own]
            fitted.spread[:, t] = scale.scale[t] * np.sqrt((residual**2).mean(axis=1))
        return fitted

    def first(self, n_trees: int) -> "BoostedTrees":
        """Give the same with fewer trees."""
        return replace(self, n_trees=n_trees)

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict the columns that were boosted; NaN elsewhere."""
        table = np.hstack((observed.X, observed.Y)).astype(np.float64)
        codes, everyone = _codes(table, self.cuts, self.order), np.arange(len(table))
        mean = np.full(table.shape, np.nan)
        spread = np.full(observed.X.shape, np.nan)
        for t, j in enumerate(self.columns):
            mean[:, j] = self._units(self._sums(codes, everyone, t, (self.n_trees,))[0], t)
            if j < self.n_features:
                spread[:, j] = self.spread[STOPS.index(self.n_trees), t]
        return Prediction(mean, spread)

    def at(
        self, observed: Observations, row: NDArray[np.intp], column: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Predict some cells after every number of trees in ``STOPS``; NaN where a column was not boosted.

        Returns
        -------
        means, stds : ndarray of shape (len(STOPS), number of cells)
        """
        table = np.hstack((observed.X, observed.Y)).astype(np.float64)
        codes = _codes(table, self.cuts, self.order)
        means, stds = (np.full((len(STOPS), row.size), np.nan) for _ in range(2))
        for t, j in enumerate(self.columns):
            asked = np.flatnonzero(column == j)
            if asked.size:
                means[:, asked] = self._units(self._sums(codes, row[asked], t, STOPS), t)
                stds[:, asked] = self.spread[:, [t]]
        return means, stds

    def of_rows(self, observed: Observations, rows: Mapping[int, NDArray[np.intp]]) -> dict[int, FloatArray]:
        """Predict some rows of some columns, each its own ones.

        Parameters
        ----------
        observed : Observations
        rows : mapping
            By column, of those that were boosted.
        """
        codes = _codes(np.hstack((observed.X, observed.Y)).astype(np.float64), self.cuts, self.order)
        return {
            int(j): self._units(self._sums(codes, rows[int(j)], t, (self.n_trees,))[0], t)
            for t, j in enumerate(self.columns)
            if int(j) in rows
        }

    def _sums(
        self, codes: NDArray[np.uint8], row: NDArray[np.intp], t: int, stops: Sequence[int]
    ) -> FloatArray:
        out = np.full((len(stops), row.size), np.nan)
        # More trees than were grown are as many as were.
        within = np.minimum(stops, self.questions.shape[1])
        bins = _bins(self.cuts, self.order)
        grow(codes, bins, row, self.base[t], self.questions[t], self.values[t], within, out)
        return out

    def _units(self, sums: FloatArray, t: int) -> FloatArray:
        return np.asarray(self.center[t] + self.scale[t] * sums)


def _cuts(column: FloatArray) -> FloatArray:
    """Cut a column halfway between observed values, at its quantiles if there are many."""
    values = np.sort(column[~np.isnan(column)])
    distinct = np.unique(values)
    # Halves before the sum, which could overflow.
    halfway = distinct[1:] / 2 + distinct[:-1] / 2
    if len(halfway) < BINS:
        return np.asarray(halfway)
    quantiles = values[(np.arange(1, BINS) * len(values)) // BINS]
    return np.asarray(halfway[np.unique(np.minimum(np.searchsorted(distinct, quantiles), len(halfway) - 1))])


def _codes(table: FloatArray, cuts: tuple[FloatArray, ...], order: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Bin all columns, in the order of the trees."""
    codes = np.empty(table.shape[::-1], np.uint8)
    for place, j in enumerate(order):
        column = table[:, j]
        codes[place] = np.where(np.isnan(column), len(cuts[j]) + 1, np.searchsorted(cuts[j], column))
    return codes


def _bins(cuts: tuple[FloatArray, ...], order: NDArray[np.intp]) -> NDArray[np.intp]:
    """Count the codes of known values, in the order of the trees."""
    return np.array([len(cuts[j]) + 1 for j in order])


def _offered(
    keys: NDArray[np.uint64],
    order: NDArray[np.intp],
    columns: NDArray[np.intp],
    d: int,
    n_trees: int,
    groups: NDArray[np.intp],
) -> NDArray[np.intp]:
    """Pick the columns that each tree may ask of, as places in ``order``, by their keys.

    Those that encode the same column of the user's as what is predicted are left out. Where too few are left,
    they are offered again.

    Returns
    -------
    ndarray of int, shape (number of columns predicted, n_trees, k)
    """
    k = int(min(np.ceil(OFFERED * d), MOST_OFFERED))
    lots = mix(keys[order][None, :] + mix(np.arange(n_trees, dtype=np.uint64))[:, None])
    ranked = np.argsort(lots, axis=1, kind="stable")
    features = ranked[order[ranked] < d].reshape(n_trees, -1)
    offered = np.empty((len(columns), n_trees, k), np.intp)
    for t, j in enumerate(columns):
        among = features if j >= d else ranked
        others = among[groups[order[among]] != groups[j]].reshape(n_trees, -1)
        offered[t] = np.tile(others, -(-k // others.shape[1]))[:, :k]
    return offered
