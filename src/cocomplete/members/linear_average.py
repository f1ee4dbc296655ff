"""The posterior average with 0/1 columns taken as numbers.

A sigmoid leaves something to chance even where a label all but follows from others, as the classes of one
column do, of which exactly one is 1. A number with a noise of its own does not.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit, log_ndtr, ndtri

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.average import Average
from cocomplete.members.prediction import Prediction
from cocomplete.problem.cells import Cells
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.observations import Observations
from cocomplete.solvers.packed import diagonals, pack, unpack
from cocomplete.solvers.posterior import FactorPosterior


@dataclass(frozen=True, eq=False)
class LinearAverage:
    """A variational fit of numbers alone; it predicts yes/no features and labels, or labels from each other.

    Attributes
    ----------
    average : Average
        Of features and labels as one table of numbers.
    binary : ndarray of bool, one per column that takes part
        The 0/1 columns.
    level : ndarray of shape (n_features + n_labels,)
        What a 0/1 column's number exceeds as often as the column is 1, in standard deviations of the number.
    features : bool
        Whether features take part, or labels alone.
    """

    average: Average
    binary: BoolArray
    level: FloatArray
    features: bool = True

    @property
    def name(self) -> str:
        """What the member is called in reports."""
        return "average of labels as numbers" if self.features else "average of labels alone"

    @classmethod
    def fit(
        cls,
        observed: Observations,
        yes_no: BoolArray,
        *,
        features: bool = True,
        start: FactorPosterior | None = None,
        growth: int = 0,
        spare: int | None = None,
    ) -> "LinearAverage":
        """Fit it to a table.

        Parameters
        ----------
        observed : Observations
        yes_no : ndarray of bool, shape (n_features,)
        features : bool, default=True
            Whether features take part. Where they are many, what labels have in common gets lost in them.
        start : FactorPosterior, optional
            Of the same columns as numbers, to go on from.
        growth : int, default=0
            Factors to add from what is left unexplained.
        spare : int, optional
            How many of them noise alone may have made; all of them if not given.
        """
        table = numbers_of(observed, features=features)
        own = yes_no if features else yes_no[:0]
        binary = np.concatenate((own, np.ones(observed.n_labels, bool)))
        some = table.X_known.any(axis=1)
        fitted = Observations(table.X[some], table.Y[some])
        nothing = np.zeros(binary.size, bool)
        average = Average.fit(fitted, nothing, gaussian=True, start=start, growth=growth, spare=spare)
        rate = expit(shrunken_log_odds(table.X.astype(np.float64)[:, binary]))
        level = np.zeros(binary.size)
        level[binary] = -ndtri(rate)
        return cls(average, binary, level, features)

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict 0/1 columns; numbers, or all features, are not predicted (NaN)."""
        own, posterior = self.binary, self.average.posterior
        table = self.average.encoding.apply(numbers_of(observed, features=self.features))
        moments = posterior.predict(Cells.of(table), own)
        # What the number varies by over all rows: its noise and its factors, of unit second moments.
        total = np.sqrt(posterior.noise + posterior.factor_variance)
        spread = np.sqrt(posterior.noise[own] + moments.variance)
        above = (moments.mean - (self.level * total)[own]) / spread
        mean = np.full((observed.n_samples, own.size), np.nan)
        mean[:, own] = log_ndtr(above) - log_ndtr(-above)
        nothing = np.full(observed.X.shape, np.nan)
        return Prediction(mean if self.features else np.hstack((nothing, mean)), nothing)


def numbers_of(observed: Observations, *, features: bool) -> Observations:
    """Features and labels, or labels alone, as one table of numbers."""
    table = np.hstack((observed.X, observed.Y)) if features else observed.Y
    return Observations(table, np.empty((observed.n_samples, 0)))


def as_numbers(average: Average) -> FactorPosterior:
    """Give an average's posterior as one of numbers alone, in the user's columns, to start from."""
    encoding, posterior = average.encoding, average.posterior
    numbers, width = encoding.n_numbers, posterior.V.shape[1]
    rate = expit(encoding.log_odds.astype(np.float64))
    # Where log-odds move by one, a standardised 0/1 column moves by the standard deviation of its values.
    slope = np.concatenate((np.ones(numbers), np.sqrt(rate * (1 - rate))))[encoding.order]
    V = slope[:, None] * posterior.V[encoding.order]
    second = slope[:, None] ** 2 * posterior.second[encoding.order]
    # An offset of log-odds is none of a standardised column.
    V[:, 0] = 0
    whole = unpack(second, width)
    whole[:, 0], whole[:, :, 0] = 0, 0
    explained = diagonals(second, width)[:, 1:].sum(axis=1)
    noise = np.maximum(1 - explained, 0.1)
    own = encoding.order < numbers
    noise[own] = posterior.noise[encoding.order[own]]
    precision = np.tile(len(V) / np.maximum(diagonals(second, width)[:, 1:].sum(axis=0), 1e-6), (2, 1))
    return FactorPosterior(np.zeros(len(V)), V, pack(whole), noise, precision, (), 0, converged=False)
