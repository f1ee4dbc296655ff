"""The posterior average: the low-rank model averaged over its factors by a variational fit."""

from dataclasses import dataclass, replace

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.members.prediction import Prediction, decode
from cocomplete.problem.cells import Cells
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.posterior import FactorPosterior
from cocomplete.solvers.solution import Progress
from cocomplete.solvers.variational import fit_variational


@dataclass(frozen=True, eq=False)
class Average:
    """A variational fit, on features as they are or on their normal scores.

    Attributes
    ----------
    encoding : Encoding
    posterior : FactorPosterior
    """

    encoding: Encoding
    posterior: FactorPosterior

    @property
    def name(self) -> str:
        """What the member is called in reports."""
        return "average of normal scores" if self.encoding.gaussian else "average"

    @classmethod
    def fit(
        cls,
        observed: Observations,
        yes_no: BoolArray,
        *,
        gaussian: bool,
        start: FactorPosterior | None = None,
        growth: int = 0,
        spare: int | None = None,
        progress: Progress | None = None,
    ) -> "Average":
        """Fit it to a table.

        Parameters
        ----------
        observed : Observations
        yes_no : ndarray of bool, shape (n_features,)
        gaussian : bool
            Whether numbers are made normal by ranks.
        start : FactorPosterior, optional
            Of the same columns, in the solvers' order, to go on from.
        growth : int, default=0
            Factors to add from what is left unexplained.
        spare : int, optional
            How many of them noise alone may have made; all of them if not given.
        progress : callable, optional
            Called with a record per sweep.
        """
        encoding = Encoding.of(observed, yes_no, center=True, scale=True, gaussian=gaussian)
        cells = Cells.of(encoding.apply(observed))
        base = encoding.offsets.astype(np.float64)
        posterior = fit_variational(cells, base, start=start, growth=growth, spare=spare, progress=progress)
        return cls(encoding, posterior)

    def moments(self, observed: Observations, *, numbers: bool = True) -> Moments:
        """Mean and variance of every cell on the fit's own scale, or of the 0/1 columns alone."""
        cells = Cells.of(self.encoding.apply(observed))
        if numbers or not self.encoding.n_numbers:
            return self.posterior.predict(cells)
        binary = slice(self.encoding.n_numbers, None)
        some = self.posterior.predict(cells, binary)
        mean, variance = np.zeros(cells.shape), np.zeros(cells.shape)
        mean[:, binary], variance[:, binary] = some.mean, some.variance
        return replace(some, mean=mean, variance=variance)

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict by the row step; rows of the fit have no other answer than others like them."""
        return decode(self.encoding, self.moments(observed))

    def draw(self, observed: Observations, rng: np.random.Generator) -> FloatArray:
        """Draw one t for every cell, on the fit's own scale: rows and columns from their posteriors."""
        return self.posterior.draw(Cells.of(self.encoding.apply(observed)), rng)
