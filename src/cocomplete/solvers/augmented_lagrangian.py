"""Observed features as constraints (λ2 ≥ λ1): multipliers and weight of the augmented Lagrangian."""

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.engines.row_blocks import InProcess
from cocomplete.solvers.factored_losses import Slopes
from cocomplete.solvers.factors import FactoredObjective
from cocomplete.spectral import SparseSpectrum

LOW_SHARE, HIGH_SHARE = 0.03, 0.5
"""The constraints' share of the gap outside of which their weight is changed."""

TOO_LONG = 2.0
"""Multipliers this many times as long as λ1 allows show that the factors are not there yet."""


class FeatureConstraints:
    """Sets the multipliers λ and the weight ρ of a factored objective, on which Newton's method then runs.

    Parameters
    ----------
    function : FactoredObjective
        Its ``multiplier`` and ``rho`` are written.
    """

    def __init__(self, function: FactoredObjective) -> None:
        self.function = function
        self.first_rho = function.rho

    def take_over(self, slopes: Slopes, spectrum: SparseSpectrum, *, full: bool) -> None:
        """Take over multipliers from the slopes (``full``: the largest rank allowed is reached)."""
        # Most often the certificate has shown already that they are short enough; and at the largest rank
        # allowed no more factors will come, so that longer ones may be right.
        enough = full or spectrum.largest() <= TOO_LONG * self.function.ridge
        self.function.multiplier = slopes.gx if enough else self.short_enough(slopes.gx)

    def short_enough(self, multiplier: FloatArray) -> FloatArray:
        """Bring multipliers back to the spectral norm that λ1 allows, if they are far above it.

        They are where factors are too few to meet the features, and would push offsets out of reach.
        """
        losses = self.function.losses
        excess = losses.spectrum(multiplier, None).largest() / self.function.ridge
        if excess <= TOO_LONG:
            return multiplier
        shorter = np.empty_like(multiplier)
        share = multiplier.dtype.type(1 / excess)
        InProcess.each(losses.parts, lambda part: _scale(multiplier[part.x], share, shorter[part.x]))
        return shorter

    def set_rho(self, factor: float) -> None:
        """Set the constraints' weight, this many times the usual one."""
        losses = self.function.losses
        side = min(losses.n, losses.cells.n_features)
        length = float(np.linalg.norm(losses.cells.x_value))
        self.first_rho = self.function.rho = factor * usual_rho(self.function.ridge, side, length)

    def adapt_rho(self, gap: float, slopes: Slopes, *, full: bool) -> None:
        """Balance the constraints against the rest; see :func:`adapted_rho`."""
        function = self.function
        side = min(function.losses.n, function.losses.cells.n_features)
        norm = function.objective.residual_penalty * float(np.sqrt(side * slopes.squares))
        function.rho = adapted_rho(function.rho, self.first_rho, norm / max(gap, 1e-300), full=full)


def usual_rho(ridge: float, side: int, length: float) -> float:
    """Give the weight at which a residual of a thousandth of the data is about as dear as λ1.

    Parameters
    ----------
    ridge : float
        λ1.
    side : int
        The smaller of the numbers of rows and of features.
    length : float
        Frobenius norm of the observed features.
    """
    return 600 * ridge * float(np.sqrt(side)) / (length or 1.0)


def adapted_rho(rho: float, first: float, share: float, *, full: bool) -> float:
    """Balance the constraints against the rest: neither should make up all of the gap.

    Parameters
    ----------
    rho, first : float
        Weight of the constraints, now and at the beginning.
    share : float
        Of the gap, what the residual's trace norm is at most.
    full : bool
        Whether the largest rank allowed is reached: then the gap is the cap's doing and carries no
        information on the constraints, which must not be let go for it.
    """
    if share < LOW_SHARE and not full:
        return max(rho / 3, 1e-3 * first)
    return min(rho * 3, 1e3 * first) if share > HIGH_SHARE else rho


def _scale(values: FloatArray, share: np.floating, out: FloatArray) -> None:
    np.multiply(values, share, out=out)
