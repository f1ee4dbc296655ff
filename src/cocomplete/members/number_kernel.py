"""Kernel ridge regression of numbers on completed rows: what no line through the factors can follow.

Every number column is regressed on all other columns, by a Gaussian process whose kernel is the sum of a
linear one and a radial one. What is missing of the others is filled with its posterior mean; the expected
radial kernel of two rows falls with the posterior variance of what was filled.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.lapack import dposv

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.frozen import FieldsAlone
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
"""Rows that a column is regressed on, at most, and multiplications of all columns' regressions."""

BLOCK = 512
"""Rows that are compared at a time: their kernels stay in the cache."""


@dataclass(frozen=True, eq=False)
class NumberKernel(FieldsAlone):
    """Regressions of number columns on completed rows.

    Attributes
    ----------
    average : Average
        Completes features.
    scale : Standardization
        Of the targets.
    columns : ndarray of int
        The number columns, in the user's order; regressions are stored in this order.
    landmarks : CompletedRows
        Rows that columns are fitted to.
    chosen : tuple of ndarray of int
        Which of the landmarks each column is fitted to.
    weights : tuple of ndarray
        Of every column's landmarks.
    noise : float
    n_labels : int
        Columns after the features.
    """

    average: Average
    scale: Standardization
    columns: NDArray[np.intp]
    landmarks: CompletedRows
    chosen: tuple[NDArray[np.integer], ...]
    weights: tuple[FloatArray, ...]
    noise: float
    n_labels: int
    name: str = "kernel of numbers"

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict numbers; yes/no features and labels are not predicted (NaN)."""
        return self.of(CompletedRows.of(self.average, observed))

    def of(self, rows: CompletedRows, asked: BoolArray | None = None) -> Prediction:
        """Predict numbers of rows whose features are completed already.

        Parameters
        ----------
        rows : CompletedRows
        asked : ndarray of bool, shape (n_rows, n_features), optional
            Which features are asked for; all of them if not given.
        """
        n, d = rows.X.shape
        mean, std = np.full((n, d + self.n_labels), np.nan), np.full((n, d), np.nan)
        for first in range(0, n, BLOCK):
            compared = _Compared.of(rows.take(slice(first, first + BLOCK)), self.landmarks)
            every, linear = np.arange(len(compared.product)), self._linear(compared.rows)
            for k, j in enumerate(self.columns):
                own = every if asked is None else np.flatnonzero(asked[first : first + BLOCK, j])
                mean[first + own, j] = self._from(self._radial(compared, own, k), linear[own, k], k)
                std[first + own, j] = self._std(k)
        return Prediction(mean, std)

    def _std(self, k: int) -> float:
        """Give the standard deviation of a column's noise."""
        return float(np.sqrt(self.noise) * self.scale.scale[k])

    @cached_property
    def _slopes(self) -> FloatArray:
        """What every feature of a row adds to each column by the linear kernel: none to its own."""
        weights = np.zeros((len(self.columns), len(self.landmarks.X)))
        for k, chosen in enumerate(self.chosen):
            weights[k, chosen] = self.weights[k]
        found = weights @ self.landmarks.X
        found[np.arange(len(found)), self.average.encoding.order[self.columns]] = 0
        return np.asarray(found * LINEAR_WEIGHT / max(found.shape[1] - 1, 1))

    def _linear(self, rows: CompletedRows) -> FloatArray:
        """Give what the linear kernel, and the constant one, add to every column of some rows."""
        return np.asarray(rows.X @ self._slopes.T + [weights.sum() for weights in self.weights])

    def _inner(self, k: int) -> int:
        """Where a column is among the completed features."""
        return int(self.average.encoding.order[self.columns[k]])

    def _radial(self, compared: "_Compared", some: NDArray[np.intp], k: int) -> FloatArray:
        """Radial kernel of some rows with the landmarks of a column."""
        return compared.radial(some, self.chosen[k], self._inner(k))

    def _from(self, radial: FloatArray, linear: FloatArray, k: int) -> FloatArray:
        """Predict a column of some rows by their radial kernel, and by what the linear one adds."""
        return np.asarray(self.scale.center[k] + self.scale.scale[k] * (radial @ self.weights[k] + linear))


def predict_cells(
    members: Sequence[NumberKernel], rows: CompletedRows, row: NDArray[np.intp], column: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Predict some cells, with standard deviations; NaN where they are not numbers.

    Parameters
    ----------
    members : sequence of NumberKernel
        Of several noises, and alike but for that.
    rows : CompletedRows
    row, column : ndarray of int, shape (n_cells,)

    Returns
    -------
    means, stds : ndarray of shape (number of members, n_cells)
    """
    means, stds = (np.full((len(members), row.size), np.nan) for _ in range(2))
    first = members[0]
    asked, place = np.unique(row, return_inverse=True)
    compared = _Compared.of(rows.take(asked), first.landmarks)
    linear = [one._linear(compared.rows) for one in members]
    for k, j in enumerate(first.columns):
        own = np.flatnonzero(column == j)
        if own.size:
            radial = first._radial(compared, place[own], k)
            for each, one in enumerate(members):
                means[each, own] = one._from(radial, linear[each][place[own], k], k)
                stds[each, own] = one._std(k)
    return means, stds


def number_kernels(
    average: Average,
    rows: CompletedRows,
    observed: Observations,
    yes_no: BoolArray,
    keys: NDArray[np.uint64],
    noises: Sequence[float] = NOISES,
    columns: NDArray[np.intp] | None = None,
) -> Iterator[NumberKernel]:
    """Regress number columns on the others, for several noises.

    Parameters
    ----------
    average : Average
        What completed the rows.
    rows : CompletedRows
    observed : Observations
    yes_no : ndarray of bool, shape (n_features,)
    keys : ndarray of shape (n_rows,)
        Where there are too many rows, those with the smallest keys are used.
    noises : sequence of float
    columns : ndarray of int, optional
        Which of the number columns; all of them if not given.
    """
    columns = np.flatnonzero(~yes_no) if columns is None else columns
    scale = Standardization.of(observed.X[:, columns], center=True, scale=True)
    targets = scale.apply(observed.X[:, columns])
    most = min(MOST_ROWS, int(np.cbrt(3 * LARGEST / max(len(columns), 1) / max(len(noises), 1))))
    order = np.argsort(keys, kind="stable")
    known = ~np.isnan(targets[order])
    learnt_from = known & (np.cumsum(known, axis=0) <= most)
    used = learnt_from.any(axis=1)
    landmarks = rows.take(order[used])
    compared = _Compared.of(landmarks, landmarks)
    chosen: list[NDArray[np.integer]] = []
    # A model keeps these: in as few bytes as they fit.
    index = np.min_scalar_type(len(landmarks.X))
    weights: list[list[FloatArray]] = [[] for _ in noises]
    for k, j in enumerate(columns):
        some = np.flatnonzero(learnt_from[used, k])
        chosen.append(some.astype(index))
        K = compared.kernel(some, some, int(average.encoding.order[j]))
        y = targets[order[used][some], k].astype(np.float64)
        for each, noise in zip(weights, noises, strict=True):
            each.append(_ridge(K, noise, y))
    for each, noise in zip(weights, noises, strict=True):
        yield NumberKernel(
            average, scale, columns, landmarks, tuple(chosen), tuple(each), noise, observed.n_labels
        )


def _ridge(K: FloatArray, noise: float, y: FloatArray) -> FloatArray:
    """Solve (K + noise I) w = y; K is a kernel, and positive semidefinite but for rounding."""
    shifted = K.copy()
    shifted.ravel()[:: len(K) + 1] += noise
    # Of a symmetric matrix the transpose is as good, and needs no copy in Fortran's order.
    _, weights, failed = dposv(shifted.T, y, overwrite_a=True)
    return np.asarray(np.linalg.solve(K + noise * np.eye(len(K)), y) if failed else weights)


class _Compared(NamedTuple):
    """Rows compared with landmarks by all columns; any one column can be left out again.

    Attributes
    ----------
    rows, landmarks : CompletedRows
    product, distance : ndarray of shape (n_rows, n_landmarks)
        Inner product, and expected squared distance given what is not known of both.
    """

    rows: CompletedRows
    landmarks: CompletedRows
    product: FloatArray
    distance: FloatArray

    @classmethod
    def of(cls, rows: CompletedRows, landmarks: CompletedRows) -> "_Compared":
        """Compare rows with landmarks."""
        product = rows.X @ landmarks.X.T
        lengths = [(one.X**2 + one.variances).sum(axis=1) for one in (rows, landmarks)]
        distance = lengths[0][:, None] + lengths[1] - 2 * product
        if rows is landmarks:
            # Whatever is not known of a row, it is like itself.
            np.fill_diagonal(distance, 0)
        return cls(rows, landmarks, product, distance)

    def radial(self, some: NDArray[np.intp], chosen: NDArray[np.integer], left_out: int) -> FloatArray:
        """Radial kernel of some rows with some landmarks, one column left out."""
        d = max(self.rows.X.shape[1] - 1, 1)
        x, z = self.rows.X[some, left_out], self.landmarks.X[chosen, left_out]
        spread = self.rows.variances[some, left_out], self.landmarks.variances[chosen, left_out]
        # The column's own part of the distance: a product of three columns.
        left = np.column_stack((x**2 + spread[0], np.ones(x.size), -2 * x))
        right = np.stack((np.ones(z.size), z**2 + spread[1], z))
        near = self.distance[some[:, None], chosen]
        near -= left @ right
        # Below zero is a row and itself.
        np.maximum(near, 0, out=near)
        near *= -1 / d
        return np.asarray(np.exp(near, out=near))

    def kernel(self, some: NDArray[np.intp], chosen: NDArray[np.integer], left_out: int) -> FloatArray:
        """Linear and radial kernel of some rows with some landmarks, one column left out."""
        linear = self.product[some[:, None], chosen]
        linear -= np.outer(self.rows.X[some, left_out], self.landmarks.X[chosen, left_out])
        linear *= LINEAR_WEIGHT / max(self.rows.X.shape[1] - 1, 1)
        linear += self.radial(some, chosen, left_out)
        linear += 1
        return np.asarray(linear)
