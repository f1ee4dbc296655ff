"""Several models that answer for labels together.

Models that differ in kind err in different places, and their weighted log-odds err less, as a rule, than the
best of them; that one is hard to tell from the others anyway, by the few labels that can be hidden.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.posterior import Posterior
from cocomplete.solvers.readout import Readout

TRUST = 10.0
"""Pull towards equal shares: a share that is off by one costs as much as so many nats."""


@dataclass(frozen=True, eq=False)
class Blend:
    """Models of one table, each with its share in what is said of labels.

    Attributes
    ----------
    members : tuple of Posterior or Readout
        At least one is a posterior.
    shares : tuple of float
        What each one's log-odds, counted from the labels' own, are multiplied by before they are added up.
    """

    members: tuple[Posterior | Readout, ...]
    shares: tuple[float, ...]

    @property
    def noise(self) -> FloatArray:
        """Variance of each feature, as the first member has it; a blend is not asked for features."""
        return next(one.noise for one in self.members if isinstance(one, Posterior))

    def predict(self, cells: Cells) -> Moments:
        """Give the log-odds of every cell of rows with these observed cells, their doubt included."""
        base = self.members[0].base
        score = np.tile(base, (cells.shape[0], 1))
        for share, one in zip(self.shares, self.members, strict=True):
            if share > 0:
                score += share * (one.predict(cells).score - base)
        return Moments(score, np.zeros_like(score), self.noise, averaged=False)

    def draw(self, cells: Cells, rng: np.random.Generator) -> FloatArray:
        """Draw one t for every cell from one of the members, as often as its share has it.

        How far shares stretch log-odds, all together, draws are stretched too.
        """
        shares, base = np.asarray(self.shares), self.members[0].base
        if not shares.any():
            return np.tile(base, (cells.shape[0], 1))
        member = self.members[rng.choice(len(shares), p=shares / shares.sum())]
        return np.asarray(base + shares.sum() * (member.draw(cells, rng) - base))


def best_shares(scores: Sequence[FloatArray], base: FloatArray, truth: FloatArray) -> tuple[float, ...]:
    """Find the shares, none negative, with which log-odds predict labels best.

    Parameters
    ----------
    scores : sequence of ndarray of shape (n_labels,)
        Log-odds as each member has them.
    base : ndarray of shape (n_labels,)
        What they count from: shares of zero leave this.
    truth : ndarray of shape (n_labels,)
        0 or 1. With few of them the shares stay near equal ones.
    """
    S = np.stack(scores) - base
    equal = np.full(len(S), 1 / len(S))

    def loss(shares: FloatArray) -> tuple[float, FloatArray]:
        total, off = base + shares @ S, shares - equal
        value = np.sum(np.logaddexp(0, total) - truth * total) + TRUST * off @ off
        return float(value), S @ (expit(total) - truth) + 2 * TRUST * off

    found = minimize(loss, equal, jac=True, bounds=[(0, None)] * len(S), method="L-BFGS-B")
    return tuple(float(share) for share in found.x)
