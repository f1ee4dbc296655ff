"""Probabilities of levels in an order, from the prediction of the number that stands for them.

P(level ≤ k) = σ((c_k − mean) / scale), as in ordered logistic regression, where mean is the ensemble's
prediction of a cell's code and scale its standard deviation, times a factor. The factor is the likeliest one
for held-out cells. Given it, each cut follows from the observed rates: over these cells level k or less is
expected as often as it was observed. So the cuts cost nothing to estimate, and where nothing is known of a
row, its levels have the observed rates.

Where trees were grown for the levels (:mod:`cocomplete.members.level_trees`), the probabilities are a mixture
of both readings, with the share that is the likeliest for held-out cells.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import expit, logit

from cocomplete.arrays import FloatArray

LOGISTIC = np.sqrt(3) / np.pi
"""Scale of a logistic variable with unit variance."""

LOG_FACTORS = (-3.0, 1.5)
"""Logarithms of the factors that are tried: a sharper scale than the ensemble's own turns it into steps."""

FACTOR_TRUST = 2.0
"""Nats that a factor of e, or 1/e, costs: with few held-out cells the ensemble's own scale is kept."""

SHARE_TRUST = 0.5
"""Held-out cells that count for either reading: with few of them their shares are near a half. With ten times
as many the levels of the tables to choose with are right 0.5 % less often."""

HALVINGS = 60
"""Steps of bisection for a cut."""


class HeldOutNumbers(NamedTuple):
    """Column and truth of held-out numbers, and their predicted means and standard deviations."""

    column: NDArray[np.intp]
    truth: FloatArray
    mean: FloatArray
    std: FloatArray


@dataclass(frozen=True, eq=False)
class LevelCuts:
    """Cuts between the levels of a column.

    Attributes
    ----------
    codes : ndarray of shape (n_levels,)
        Of the levels, rising.
    cuts : ndarray of shape (n_levels - 1,)
    factor : float
        What the standard deviation of a cell's code is multiplied by.
    share : float
        Part of the probabilities that trees for the levels have.
    """

    codes: FloatArray
    cuts: FloatArray
    factor: float
    share: float = 0.0

    @classmethod
    def of(
        cls, codes: FloatArray, rates: FloatArray, mean: FloatArray, std: FloatArray, truth: FloatArray | None
    ) -> "LevelCuts":
        """Find cuts, and the factor if there is a truth to find it by.

        Parameters
        ----------
        codes, rates : ndarray of shape (n_levels,)
            Observed shares of the levels; none is 0.
        mean, std : ndarray of shape (n_cells,)
            Predictions of some cells.
        truth : ndarray of shape (n_cells,) or None
            Their codes, where they were held out.
        """
        below = np.cumsum(rates)[:-1]
        if truth is None or not truth.size:
            return cls(codes, _cuts(below, mean, LOGISTIC * std), 1.0)
        level = np.searchsorted(codes, truth)

        def loss(log_factor: float) -> float:
            found = cls(codes, _cuts(below, mean, np.exp(log_factor) * LOGISTIC * std), np.exp(log_factor))
            chance = found.probabilities(mean, std)[np.arange(level.size), level]
            return float(-np.log(np.maximum(chance, 1e-12)).sum() + FACTOR_TRUST * log_factor**2)

        best = minimize_scalar(loss, bounds=LOG_FACTORS, method="bounded", options={"xatol": 1e-3})
        factor = float(np.exp(best.x))
        return cls(codes, _cuts(below, mean, factor * LOGISTIC * std), factor)

    def in_units(self, unit: float) -> "LevelCuts":
        """Give the same for codes that are counted in another unit."""
        return self if unit == 1 else replace(self, codes=self.codes / unit, cuts=self.cuts / unit)

    def probabilities(
        self, mean: FloatArray, std: FloatArray, by_trees: FloatArray | None = None
    ) -> FloatArray:
        """Give the probability of every level, shape (n_cells, n_levels).

        Parameters
        ----------
        mean, std : ndarray of shape (n_cells,)
            Predictions of the codes.
        by_trees : ndarray of shape (n_cells, n_levels), optional
            Probabilities by trees; NaN where the codes alone are to decide.
        """
        scale = self.factor * LOGISTIC * np.maximum(std, 1e-12)
        with np.errstate(over="ignore"):
            below = expit((self.cuts - mean[:, None]) / scale[:, None])
        found: FloatArray = np.diff(below, axis=1, prepend=0.0, append=1.0)
        if by_trees is None or not self.share:
            return found
        mixed = (1 - self.share) * found + self.share * by_trees
        return np.asarray(np.where(np.isnan(by_trees), found, mixed))

    def with_share(
        self, mean: FloatArray, std: FloatArray, by_trees: FloatArray, truth: FloatArray
    ) -> "LevelCuts":
        """Find the share of trees that is likeliest for held-out cells; none if they are likelier without."""
        level = np.arange(truth.size), np.searchsorted(self.codes, truth)
        apart = self.probabilities(mean, std)[level], by_trees[level]

        def loss(share: float) -> float:
            chance = (1 - share) * apart[0] + share * apart[1]
            return -float(np.log(np.maximum(chance, 1e-12)).sum())

        def cautious(share: float) -> float:
            return loss(share) - SHARE_TRUST * float(np.log(share) + np.log1p(-share))

        best = minimize_scalar(cautious, bounds=(1e-3, 1 - 1e-3), method="bounded", options={"xatol": 1e-3})
        return replace(self, share=float(best.x) if loss(best.x) < loss(0) else 0.0)

    def drawn(
        self, mean: FloatArray, std: FloatArray, uniform: FloatArray, by_trees: FloatArray | None = None
    ) -> FloatArray:
        """Give the codes at which the cumulated probabilities reach uniform draws."""
        below = np.cumsum(self.probabilities(mean, std, by_trees), axis=1)[:, :-1]
        return np.asarray(self.codes[(uniform[:, None] > below).sum(axis=1)])


def level_cuts(
    codes: dict[int, FloatArray],
    X: FloatArray,
    mean: FloatArray,
    std: FloatArray,
    held_out: HeldOutNumbers | None = None,
    by_trees: Mapping[int, FloatArray] | None = None,
) -> dict[int, LevelCuts]:
    """Find the cuts of every column with levels in an order.

    Parameters
    ----------
    codes : dict
        Codes of the levels, by column.
    X : ndarray of shape (n_samples, n_features)
        Observed features, NaN where unknown.
    mean, std : ndarray of shape (n_samples, n_features)
        Predictions of all cells, for columns of which nothing was held out.
    held_out : HeldOutNumbers, optional
    by_trees : mapping, optional
        Probabilities of the levels of held-out cells by trees, in their order, by column.
    """
    found = {}
    for j, own in codes.items():
        known = ~np.isnan(X[:, j])
        # Half a cell more of each keeps the cuts of levels that were never observed finite.
        counts = np.array([(X[known, j] == code).sum() for code in own]) + 0.5
        rates = counts / counts.sum()
        cells = np.zeros(0, bool) if held_out is None else held_out.column == j
        if held_out is not None and cells.any():
            judged = (held_out.mean[cells], held_out.std[cells], held_out.truth[cells])
            found[j] = LevelCuts.of(own, rates, *judged)
            if by_trees is not None and j in by_trees:
                found[j] = found[j].with_share(*judged[:2], by_trees[j], judged[2])
        else:
            some = known if known.all() else ~known
            found[j] = LevelCuts.of(own, rates, mean[some, j], std[some, j], None)
    return found


def _cuts(below: FloatArray, mean: FloatArray, scale: FloatArray) -> FloatArray:
    """Cuts at which cells are expected below in given shares, by bisection."""
    scale = np.maximum(scale, 1e-12)
    # Levels may be as large as numbers go.
    with np.errstate(over="ignore"):
        reach = scale.max(initial=1e-12) * (np.abs(logit(below)).max(initial=0.0) + 1)
        low = np.full(below.size, np.nan_to_num(mean.min(initial=np.inf) - reach))
        high = np.full(below.size, np.nan_to_num(mean.max(initial=-np.inf) + reach))
    for _ in range(HALVINGS):
        middle = low / 2 + high / 2
        with np.errstate(over="ignore"):
            share = expit((middle[:, None] - mean) / scale).mean(axis=1)
        low, high = np.where(share < below, middle, low), np.where(share < below, high, middle)
    return np.asarray(low / 2 + high / 2)
