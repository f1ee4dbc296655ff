"""Labels read out of completed features by logistic regression.

Factors hold what features have in common, and labels of new rows are predicted from that alone. Where a row's
features are all there, a plain classifier that sees each of them knows something else, and the two together
often err less than either. What is missing of a row's features is filled in by a posterior, from the others.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.posterior import OFFSET_PRECISION, Posterior

STEPS, STEP_TOL = 8, 1e-3
"""Most Newton steps for a label, and the change of a coefficient at which they end."""

LARGEST = 3e9
"""Multiplications of one Newton step for all labels above which features are too many to regress on."""


@dataclass(frozen=True, eq=False)
class Readout:
    """Coefficients of every label, for features as a posterior completes them.

    Attributes
    ----------
    posterior : Posterior
    coefficients : ndarray of shape (n_labels, 1 + n_columns)
        What is added to a label's log-odds, and what each column before the labels is multiplied by.
    """

    posterior: Posterior
    coefficients: FloatArray

    @property
    def base(self) -> FloatArray:
        """Log-odds that the labels' first coefficients count from."""
        return self.posterior.base

    def predict(self, cells: Cells) -> Moments:
        """Give the labels' log-odds in rows with these observed features; labels are not looked at."""
        return self._moments(completed(self.posterior, cells, self._first_label))

    def draw(self, cells: Cells, rng: np.random.Generator) -> FloatArray:
        """Give the same for features that are drawn where they are missing."""
        first = self._first_label
        t = self.posterior.draw(cells.before(first), rng)[:, :first]
        d = len(self.posterior.noise)
        t[:, :d] += np.sqrt(self.posterior.noise) * rng.standard_normal((len(t), d))
        t[:, d:] = rng.random((len(t), first - d)) < expit(t[:, d:])
        return self._moments(_with_observed(_standardized(t, self.posterior), self.posterior, cells)).mean

    @property
    def _first_label(self) -> int:
        return int(self.coefficients.shape[1]) - 1

    def _moments(self, X: FloatArray) -> Moments:
        score = np.tile(self.base, (len(X), 1))
        score[:, self._first_label :] += self.coefficients[:, 0] + X @ self.coefficients[:, 1:].T
        return Moments(score, np.zeros_like(score), self.posterior.noise, averaged=False)


def completed(posterior: Posterior, cells: Cells, first_label: int) -> FloatArray:
    """Give the columns before the labels, observed or expected from the others, all standardised."""
    moments = posterior.predict(cells.before(first_label))
    t = moments.mean[:, :first_label]
    d = cells.n_features
    t[:, d:] = expit(moments.score[:, d:first_label])
    return _with_observed(_standardized(t, posterior), posterior, cells)


def read_out(
    posterior: Posterior, cells: Cells, first_label: int, ridges: Sequence[float]
) -> Iterator[Readout]:
    """Fit the regression for falling ridges, each from the one before.

    Parameters
    ----------
    posterior : Posterior
        Of these cells.
    cells : Cells
        Features and labels to learn from.
    first_label : int
        Columns before it are features.
    ridges : sequence of float
        Prior precisions of the coefficients.
    """
    X = completed(posterior, cells, first_label)
    A = np.hstack((np.ones((len(X), 1)), X))
    row = np.repeat(np.arange(len(X)), np.diff(cells.y_start))
    base = posterior.base
    W = np.zeros((len(base) - first_label, A.shape[1]))
    for ridge in ridges:
        penalty = np.full(A.shape[1], ridge)
        penalty[0] = OFFSET_PRECISION[1]
        for j in range(len(W)):
            known = cells.y_column == first_label + j
            W[j] = _regress(A[row[known]], cells.y_value[known], base[first_label + j], penalty, W[j])
        yield Readout(posterior, W.copy())


def cost(cells: Cells, first_label: int) -> float:
    """Give the multiplications of one Newton step for all labels."""
    return float((cells.y_column >= first_label).sum()) * first_label**2


def _regress(A: FloatArray, y: FloatArray, base: float, penalty: FloatArray, w: FloatArray) -> FloatArray:
    """Penalised logistic regression by Newton steps."""
    for _ in range(STEPS):
        p = expit(base + A @ w)
        H = (A * (p * (1 - p))[:, None]).T @ A
        H.flat[:: len(w) + 1] += penalty
        step = np.linalg.solve(H, A.T @ (y - p) - penalty * w)
        w = w + step
        if np.abs(step).max() < STEP_TOL:
            break
    return w


def _standardized(t: FloatArray, posterior: Posterior) -> FloatArray:
    """Bring 0/1 columns to the scale of the others, which are standardised already."""
    d = len(posterior.noise)
    rate = expit(posterior.base[d : t.shape[1]])
    t[:, d:] = (t[:, d:] - rate) / np.sqrt(rate * (1 - rate))
    return t


def _with_observed(t: FloatArray, posterior: Posterior, cells: Cells) -> FloatArray:
    """Put what was observed in its place."""
    rows = np.arange(len(t))
    t[np.repeat(rows, np.diff(cells.x_start)), cells.x_column] = cells.x_value
    features = cells.y_column < t.shape[1]
    column = cells.y_column[features]
    rate = expit(posterior.base[column])
    value = (cells.y_value[features] - rate) / np.sqrt(rate * (1 - rate))
    t[np.repeat(rows, np.diff(cells.y_start))[features], column] = value
    return t
