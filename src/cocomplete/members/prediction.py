"""What every ensemble member gives: a prediction of all columns of some rows."""

from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import Standardization
from cocomplete.solvers.moments import Moments, log_odds


class Prediction(NamedTuple):
    """Posterior mean and standard deviation of every cell.

    Attributes
    ----------
    mean : ndarray of shape (n_samples, n_features + n_labels)
        Numbers in the user's units; yes/no features and labels as log-odds.
    std : ndarray of shape (n_samples, n_features)
        Of numbers, noise included; 0 for yes/no features.
    """

    mean: FloatArray
    std: FloatArray


class Member(Protocol):
    """A fitted ensemble member; it may also predict alone."""

    @property
    def name(self) -> str:
        """What the member is called in reports."""

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict every cell of some rows from what is observed of them.

        Parameters
        ----------
        observed : Observations
            In the user's units and columns.
        training : bool, default=False
            Whether these are the rows of the fit.
        std : bool, default=True
            Whether standard deviations are needed; where they would cost more, they are NaN without.
        """


def decode_cells(
    encoding: Encoding, moments: Moments, row: NDArray[np.intp], column: NDArray[np.intp]
) -> tuple[FloatArray, FloatArray]:
    """Bring a solver's moments of some cells to the user's units: means, and standard deviations of features.

    Parameters
    ----------
    encoding : Encoding
    moments : Moments
    row, column : ndarray of int
        The cells, in the user's columns.
    """
    inner = encoding.order[column]
    d, numbers = len(encoding.yes_no), inner < encoding.n_numbers
    mean, variance = moments.mean[row, inner], moments.variance[row, inner]
    std = np.where(column < d, 0.0, np.nan)
    mean[~numbers] = log_odds(mean[~numbers], variance[~numbers], averaged=moments.averaged)
    own = inner[numbers]
    spread = variance[numbers] + moments.noise[own]
    mean[numbers], std[numbers] = number_cells(encoding, own, mean[numbers], spread)
    return mean, std


def number_cells(
    encoding: Encoding, inner: NDArray[np.intp], t: FloatArray, variance: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Give mean and standard deviation, in the user's units, of cells of number columns whose t are normal.

    Parameters
    ----------
    encoding : Encoding
    inner : ndarray of int, shape (n_cells,)
        The solvers' columns.
    t, variance : ndarray of shape (n_cells,)
    """
    mean, std = np.empty(t.size), np.empty(t.size)
    order = np.argsort(inner, kind="stable")
    bounds = np.searchsorted(inner[order], np.arange(encoding.n_numbers + 1))
    for k, (first, last) in enumerate(pairwise(bounds)):
        own = order[first:last]
        if own.size:
            mean[own], std[own] = encoding.scale.undo(k, t[own], variance[own])
    return mean, std


def decode(encoding: Encoding, moments: Moments, asked: BoolArray | None = None) -> Prediction:
    """Bring a solver's moments to the user's columns and units.

    Parameters
    ----------
    encoding : Encoding
    moments : Moments
    asked : ndarray of bool, shape (n_samples, n_features), optional
        Which numbers are asked for; others are NaN. All of them if not given.
    """
    n, d = len(moments.mean), len(encoding.yes_no)
    mean, std = np.full(moments.mean.shape, np.nan), np.zeros((n, d))
    binary = np.concatenate((encoding.yes_no, np.ones(len(encoding.order) - d, bool)))
    inner = encoding.order[binary]
    logistic = moments.mean[:, inner], moments.variance[:, inner]
    mean[:, binary] = log_odds(*logistic, averaged=moments.averaged)
    if asked is not None and not asked.any():
        return Prediction(mean, std)
    if asked is None and isinstance(encoding.scale, Standardization):
        # Numbers are the solvers' first columns, in their order.
        count, numbers = encoding.n_numbers, np.flatnonzero(~encoding.yes_no)
        own = slice(0, d) if count == d else numbers
        mean[:, own] = encoding.scale.restore(moments.mean[:, :count])
        std[:, own] = np.sqrt(moments.variance[:, :count] + moments.noise[:count]) * encoding.scale.scale
        return Prediction(mean, std)
    for j, inner in enumerate(encoding.order[:d]):
        if not encoding.yes_no[j]:
            some = slice(None) if asked is None else asked[:, j]
            variance = moments.variance[some, inner] + moments.noise[inner]
            mean[some, j], std[some, j] = encoding.scale.undo(int(inner), moments.mean[some, inner], variance)
    return Prediction(mean, std)
