"""Cells that were held out of fits, and what was predicted of them without them."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.fitted.parts import PARTS
from cocomplete.problem.informative import Informative
from cocomplete.problem.observations import Observations

LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True, eq=False)
class JudgedCells:
    """Held-out cells and their predictions, in a compact form that a model keeps.

    What the cells hold is not kept: the model has the table.

    Attributes
    ----------
    row, column : ndarray of int, shape (n_cells,)
        Where they are; labels are counted after the features.
    fold : ndarray of int, shape (n_cells,)
        Which fit they were held out of.
    part : ndarray of int, shape (n_cells,)
        Position in ``PARTS``.
    mean : ndarray of shape (n_cells,)
        Predictions: numbers in the user's units, 0/1 columns as log-odds.
    std : ndarray of float32, shape (n_cells,)
        Standard deviations of numbers; NaN where there is none.
    trivial : ndarray of shape (n_folds, n_features + n_labels)
        The trivial answer likewise, by fold; NaN where nothing was held out.
    by_trees : dict
        Probabilities of levels in an order by trees, where these have a share: by feature, of its cells in
        their order.
    """

    row: NDArray[np.integer]
    column: NDArray[np.integer]
    fold: NDArray[np.integer]
    part: NDArray[np.integer]
    mean: FloatArray
    std: FloatArray
    trivial: FloatArray
    by_trees: dict[int, FloatArray] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        row: NDArray[np.intp],
        column: NDArray[np.intp],
        fold: NDArray[np.intp],
        part: NDArray[np.intp],
        mean: FloatArray,
        std: FloatArray,
        trivial: FloatArray,
        n_columns: int,
    ) -> "JudgedCells":
        """Keep cells of which something was predicted, their numbers as small as they can be.

        Parameters
        ----------
        row, column, fold, part : ndarray of int, shape (n_cells,)
        mean, std, trivial : ndarray of shape (n_cells,)
            NaN where nothing was predicted.
        n_columns : int
        """
        kept = np.flatnonzero(~np.isnan(mean))
        base = np.full((int(fold.max(initial=-1)) + 1, n_columns), np.nan)
        base[fold[kept], column[kept]] = trivial[kept]
        places = [_small(each[kept]) for each in (row, column, fold, part)]
        means = mean[kept].astype(np.float64)
        return cls(places[0], places[1], places[2], places[3], means, _single(std[kept]), base)

    def widened(self, informative: Informative, rows: NDArray[np.intp]) -> "JudgedCells":
        """Give the same in the user's rows, columns and units.

        Parameters
        ----------
        informative : Informative
            Which columns these were judged among.
        rows : ndarray of int
            The user's rows that were judged.
        """
        place = np.flatnonzero(informative.columns)
        column = place[self.column]
        unit = np.concatenate((informative.unit, np.ones(informative.labels.size)))
        wide = np.full((len(self.trivial), len(unit)), np.nan)
        # What is beyond the largest number in the user's units is that number.
        with np.errstate(over="ignore"):
            wide[:, place] = np.clip(self.trivial * unit[place], -LARGEST, LARGEST)
            std = _single(np.minimum(self.std.astype(np.float64) * unit[column], LARGEST))
            mean = np.clip(self.mean * unit[column], -LARGEST, LARGEST)
        return JudgedCells(_small(rows[self.row]), _small(column), self.fold, self.part, mean, std, wide)

    def truth(self, observed: Observations) -> FloatArray:
        """Give what the cells hold.

        Parameters
        ----------
        observed : Observations
            The table of the fit.
        """
        d, column = observed.n_features, self.column.astype(np.intp)
        label = column >= d
        found = np.empty(len(self.row))
        found[~label] = observed.X[self.row[~label], column[~label]]
        found[label] = observed.Y[self.row[label], column[label] - d]
        return found

    def trivial_means(self) -> FloatArray:
        """Give the trivial answer of every cell."""
        return np.asarray(self.trivial[self.fold, self.column])

    @property
    def alone(self) -> NDArray[np.bool_]:
        """Labels of rows in which none was visible."""
        return np.asarray(self.part == PARTS.index("unlabelled"))


def _single(stds: FloatArray) -> FloatArray:
    """Give standard deviations in single precision: nobody reads their eighth digit."""
    with np.errstate(over="ignore", under="ignore"):
        return stds.astype(np.float32)


def _small(numbers: NDArray[np.integer]) -> NDArray[np.integer]:
    """Give whole numbers from 0 on in the smallest type that holds them."""
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))
