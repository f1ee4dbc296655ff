"""Observed cells as quadratics in their t: numbers as they are, labels through sites that follow the fit."""

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.solvers.moments import Pattern

NOISE_PRIOR = (0.1, 2.0)
"""A feature's noise variance before anything is seen, and how many cells that belief is worth."""

NODES, SHARES = np.polynomial.hermite_e.hermegauss(15)
SHARES = SHARES / SHARES.sum()
"""Quadrature of the labels' expected log-likelihood."""


class CellLikelihood:
    """Every observed cell as a quadratic in its t, and the expected log-likelihood of all of them.

    A number is quadratic as it is. A label's site, its weight and pull, follows the expected curvature and
    slope of its log-likelihood under the posterior of t: a natural-gradient step (Khan and Lin, 2017).
    """

    def __init__(self, pattern: Pattern, base: FloatArray) -> None:
        labels = pattern.labels
        self.numbers, self.labels = np.flatnonzero(~labels), np.flatnonzero(labels)
        self.column = pattern.column[self.numbers]
        self.value = pattern.value[self.numbers] - base[self.column]
        self.base = base[pattern.column[self.labels]].astype(np.float64)
        self.truth = pattern.value[self.labels]
        self.count = np.bincount(self.column, minlength=pattern.n_features).astype(np.float64)
        self.t: FloatArray = np.zeros(labels.size)
        self.log_likelihood = 0.0
        self.squares: FloatArray = np.zeros(pattern.n_features)
        self.site_weight, self.site_pull = self._site(np.zeros(self.labels.size), np.ones(self.labels.size))

    @property
    def has_labels(self) -> bool:
        """Whether some cells' quadratics depend on the means."""
        return bool(self.labels.size)

    def coefficients(self, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight and pull of every cell: it enters the bound as −½ weight t² + pull t."""
        weight, pull = np.empty(self.t.size), np.empty(self.t.size)
        weight[self.numbers] = (1 / noise)[self.column]
        pull[self.numbers] = weight[self.numbers] * self.value
        weight[self.labels], pull[self.labels] = self.site_weight, self.site_pull
        return weight, pull

    def update(self, t: FloatArray, variance: FloatArray, pace: float) -> float:
        """Take over the cells' new moments and move the sites; give the largest change of a mean."""
        change = float(np.abs(t - self.t).max(initial=0.0))
        self.t = t
        residual = self.value - t[self.numbers]
        squares = residual**2 + variance[self.numbers]
        self.squares = np.bincount(self.column, squares, self.count.size).astype(np.float64)
        weight, pull = self._site(t[self.labels], variance[self.labels])
        self.site_weight = self.site_weight + pace * (weight - self.site_weight)
        self.site_pull = self.site_pull + pace * (pull - self.site_pull)
        return change

    def _site(self, t: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Give expected curvature and pull of every label cell; keep its expected log-likelihood."""
        mean, spread = self.base + t, np.sqrt(variance)
        softplus = 0.0
        probability, curvature = np.zeros(t.size), np.zeros(t.size)
        for node, share in zip(NODES, SHARES, strict=True):
            z = mean + node * spread
            p = expit(z)
            softplus += share * float(np.logaddexp(0, z).sum())
            probability += share * p
            curvature += share * p * (1 - p)
        self.log_likelihood = float(self.truth @ mean) - softplus
        return curvature, curvature * t + self.truth - probability

    def noise(self) -> FloatArray:
        """Each feature's expected squared residual, with a little prior: where the bound is highest."""
        guess, worth = NOISE_PRIOR
        noise: FloatArray = (self.squares + guess * worth) / (self.count + worth)
        return noise

    def expected(self, noise: FloatArray) -> float:
        """Give the expected log-likelihood of all cells at the moments last taken over."""
        numbers = -0.5 * (self.count * np.log(2 * np.pi * noise) + self.squares / noise).sum()
        return float(numbers) + self.log_likelihood
