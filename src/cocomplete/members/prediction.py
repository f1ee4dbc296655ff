"""What every ensemble member gives: a prediction of all columns of some rows."""

from typing import NamedTuple, Protocol

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.solvers.moments import Moments


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


def decode(encoding: Encoding, moments: Moments) -> Prediction:
    """Bring a solver's moments to the user's columns and units."""
    score = moments.score
    n, d = len(moments.mean), len(encoding.yes_no)
    mean, std = np.empty(moments.mean.shape), np.zeros((n, d))
    for j, inner in enumerate(encoding.order):
        if j >= d or encoding.yes_no[j]:
            mean[:, j] = score[:, inner]
        else:
            variance = moments.variance[:, inner] + moments.noise[inner]
            mean[:, j], std[:, j] = encoding.scale.undo(int(inner), moments.mean[:, inner], variance)
    return Prediction(mean, std)
