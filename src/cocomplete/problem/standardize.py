"""Columns brought to a common footing, and back to the user's units."""

from dataclasses import dataclass, replace

import numpy as np
from scipy.special import logit

from cocomplete.arrays import FloatArray
from cocomplete.problem.observations import Observations


@dataclass(frozen=True, eq=False)
class Standardization:
    """An affine map per feature column, and a starting offset per label.

    Attributes
    ----------
    center : ndarray of shape (n_features,)
        Subtracted from each feature: its observed mean, or 0.
    scale : ndarray of shape (n_features,)
        Divides each feature: its observed standard deviation, or 1.
    log_odds : ndarray of shape (n_labels,)
        Offset of each label's score Z: the log-odds of its observed rate, or 0.
    """

    center: FloatArray
    scale: FloatArray
    log_odds: FloatArray

    @classmethod
    def of(cls, observed: Observations, *, center: bool, scale: bool) -> "Standardization":
        """Learn the map from the observed cells alone."""
        dtype = observed.X.dtype
        count = observed.X_known.sum(axis=0)
        # np.nanmean would warn for a column with nothing observed, which is allowed here.
        mean = np.nansum(observed.X, axis=0) / np.maximum(count, 1)
        spread = np.sqrt(np.nansum((observed.X - mean) ** 2, axis=0) / np.maximum(count, 1))
        usable = spread > 10 * np.finfo(dtype).eps * np.abs(mean)
        known_labels = observed.Y_known.sum(axis=0)
        # Half a success and half a failure keep the odds of a one-sided label finite.
        rate = (np.nansum(observed.Y, axis=0) + 0.5) / (known_labels + 1)
        return cls(
            (mean if center else np.zeros_like(mean)).astype(dtype),
            (np.where(usable, spread, 1.0) if scale else np.ones_like(spread)).astype(dtype),
            (logit(rate) if center else np.zeros_like(rate)).astype(dtype),
        )

    def apply(self, observed: Observations) -> Observations:
        """Give the observations with standardised features."""
        if not self.center.any() and bool((self.scale == 1).all()):
            return observed
        return replace(observed, X=(observed.X - self.center) / self.scale)

    def undo(self, X: FloatArray) -> FloatArray:
        """Bring standardised features back to the user's units."""
        units: FloatArray = X * self.scale + self.center
        return units
