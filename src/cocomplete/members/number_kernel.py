"""Kernel ridge regression of numbers on completed rows: what no line through the factors can follow.

Every number column is regressed on all other columns, by a Gaussian process whose kernel is the sum of a
linear one and a radial one. What is missing of the others is filled with its posterior mean; the expected
radial kernel of two rows falls with the posterior variance of what was filled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows
from cocomplete.members.prediction import Prediction
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import Standardization

NOISES = (0.03, 0.2, 1.0)
"""Noise variances that are tried, in units of a column's own variance."""

LINEAR_WEIGHT = 10.0
"""Prior variance of the linear part, where that of the radial part is 1."""

MOST_ROWS, LARGEST = 400, 1.5e9
"""Rows that a column is learnt from, at most, and multiplications of all columns' regressions."""


@dataclass(frozen=True, eq=False)
class NumberKernel:
    """Regressions of number columns on completed rows.

    Attributes
    ----------
    average : Average
        Completes features.
    scale : Standardization
        Of the targets.
    columns : ndarray of int
        The number columns, in the user's order; regressions are stored in this order.
    chosen : tuple of ndarray of int
        Rows that each column is learnt from.
    rows : CompletedRows
        The table's rows.
    weights : tuple of ndarray
        Of every column's rows.
    noise : float
    n_labels : int
        Columns after the features.
    """

    average: Average
    scale: Standardization
    columns: NDArray[np.intp]
    chosen: tuple[NDArray[np.intp], ...]
    rows: CompletedRows
    weights: tuple[FloatArray, ...]
    noise: float
    n_labels: int
    name: str = "kernel of numbers"

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict numbers; yes/no features and labels are not predicted (NaN)."""
        return self.of(CompletedRows.of(self.average, observed))

    def of(self, rows: CompletedRows) -> Prediction:
        """Predict numbers of rows whose features are completed already."""
        n, d = rows.X.shape
        mean, std = np.full((n, d + self.n_labels), np.nan), np.full((n, d), np.nan)
        everyone = np.arange(n)
        for k, j in enumerate(self.columns):
            mean[:, j], std[:, j] = self._column(rows, everyone, k), self._std(k)
        return Prediction(mean, std)

    def at(
        self, rows: CompletedRows, row: NDArray[np.intp], column: NDArray[np.intp]
    ) -> tuple[FloatArray, FloatArray]:
        """Predict some cells, with standard deviations; NaN where they are not numbers."""
        mean, std = np.full(row.size, np.nan), np.full(row.size, np.nan)
        for k, j in enumerate(self.columns):
            asked = np.flatnonzero(column == j)
            if asked.size:
                mean[asked], std[asked] = self._column(rows, row[asked], k), self._std(k)
        return mean, std

    def _std(self, k: int) -> float:
        """Give the standard deviation of a column's noise."""
        return float(np.sqrt(self.noise) * self.scale.scale[k])

    def _column(self, rows: CompletedRows, some: NDArray[np.intp], k: int) -> FloatArray:
        inner = int(self.average.encoding.order[self.columns[k]])
        K = _kernel(rows.take(some), self.rows.take(self.chosen[k]), inner)
        return np.asarray(self.scale.center[k] + self.scale.scale[k] * (K @ self.weights[k]))


def number_kernels(
    average: Average,
    rows: CompletedRows,
    observed: Observations,
    yes_no: BoolArray,
    keys: NDArray[np.uint64],
    noises: Sequence[float] = NOISES,
) -> Iterator[NumberKernel]:
    """Regress every number column on the others, for several noises.

    Parameters
    ----------
    average : Average
        What completed the rows.
    rows : CompletedRows
    observed : Observations
    yes_no : ndarray of bool, shape (n_features,)
    keys : ndarray of shape (n_rows,)
        Where there are too many rows, those with the smallest keys are learnt from.
    noises : sequence of float
    """
    columns = np.flatnonzero(~yes_no)
    scale = Standardization.of(observed.X[:, columns], center=True, scale=True)
    targets = scale.apply(observed.X[:, columns])
    most = min(MOST_ROWS, int(np.cbrt(3 * LARGEST / max(len(columns), 1) / max(len(noises), 1))))
    order = np.argsort(keys, kind="stable")
    chosen: list[NDArray[np.intp]] = []
    weights: list[list[FloatArray]] = [[] for _ in noises]
    for k, j in enumerate(columns):
        known = order[~np.isnan(targets[order, k])][:most]
        some = np.sort(known)
        chosen.append(some)
        own = rows.take(some)
        K = _kernel(own, own, int(average.encoding.order[j]))
        y = targets[some, k].astype(np.float64)
        for each, noise in zip(weights, noises, strict=True):
            each.append(np.linalg.solve(K + noise * np.eye(len(some)), y))
    for each, noise in zip(weights, noises, strict=True):
        yield NumberKernel(
            average, scale, columns, tuple(chosen), rows, tuple(each), noise, observed.n_labels
        )


def _kernel(one: CompletedRows, other: CompletedRows, left_out: int) -> FloatArray:
    """Linear and radial kernel of rows with each other, one column left out."""
    d = max(one.X.shape[1] - 1, 1)
    x, z = one.X[:, left_out], other.X[:, left_out]
    product = one.X @ other.X.T - np.outer(x, z)
    squares = [(rows.X**2).sum(axis=1) - rows.X[:, left_out] ** 2 for rows in (one, other)]
    variances = [rows.variances.sum(axis=1) - rows.variances[:, left_out] for rows in (one, other)]
    distance = np.maximum(squares[0][:, None] + squares[1] - 2 * product, 0)
    if one is not other:
        distance += variances[0][:, None] + variances[1]
    else:
        # Whatever is not known of a row, it is like itself.
        apart = variances[0][:, None] + variances[1]
        np.fill_diagonal(apart, 0)
        distance += apart
    return np.asarray(1 + LINEAR_WEIGHT * product / d + np.exp(-distance / d))
