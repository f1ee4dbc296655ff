"""Some rows of a table as a variational fit sees them: the unit of every pass over the cells.

A number is quadratic in its t as it is. A label's *site*, its weight and pull, is the quadratic that follows
the expected curvature and slope of its log-likelihood under the posterior of t: a natural-gradient step (Khan
and Lin, 2017). Sites are all that a block keeps from one pass to the next; rows are worked out anew.
"""

from functools import cached_property
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import expit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.kernels import label_integrals, products
from cocomplete.problem.cells import Cells
from cocomplete.solvers.moments import Pattern, normal_posteriors
from cocomplete.solvers.places import Places

NODES, SHARES = np.polynomial.hermite_e.hermegauss(15)
SHARES = SHARES / SHARES.sum()
"""Quadrature of the labels' expected log-likelihood."""


class Columns(NamedTuple):
    """Moments of the columns' factors, all that a pass needs to know of them.

    Attributes
    ----------
    V : ndarray of shape (m, k + 1)
        Means; column 0 holds the offsets.
    second : ndarray of shape (m, (k + 1)(k + 2) / 2)
        E[v_j v_jᵀ], packed.
    noise : ndarray of shape (n_numbers,)
        Variance of each number around t_ij.
    """

    V: FloatArray
    second: FloatArray
    noise: FloatArray


class Rows(NamedTuple):
    """Moments of the rows' factors.

    Attributes
    ----------
    U : ndarray of shape (n_samples, k + 1)
        Means; column 0 is 1, the offset's partner.
    second : ndarray of shape (n_samples, (k + 1)(k + 2) / 2)
        E[u_i u_iᵀ], packed.
    """

    U: FloatArray
    second: FloatArray


class Sites(NamedTuple):
    """Quadratics that stand for the labels' log-likelihoods: pull t − ½ weight t²."""

    weight: FloatArray
    pull: FloatArray


class Sums(NamedTuple):
    """What a pass over some rows adds up to; those of blocks are added.

    Attributes
    ----------
    H : ndarray of shape (m, (k + 1)(k + 2) / 2)
        Σ E[u_i u_iᵀ] over each column's cells, labels weighted by their sites; packed.
    g : ndarray of shape (m, k + 1)
        Σ x E[u_i] of numbers, Σ pull E[u_i] of labels.
    second_u : ndarray of shape ((k + 1)(k + 2) / 2,)
        Σ E[u_i u_iᵀ] over all rows, packed.
    log_det_u : float
        Σ log |precision of u_i|.
    log_likelihood : float
        Expected log-likelihood of the labels.
    """

    H: FloatArray
    g: FloatArray
    second_u: FloatArray
    log_det_u: float
    log_likelihood: float

    def plus(self, other: "Sums") -> "Sums":
        """Add two blocks' sums."""
        return Sums(
            self.H + other.H,
            self.g + other.g,
            self.second_u + other.second_u,
            self.log_det_u + other.log_det_u,
            self.log_likelihood + other.log_likelihood,
        )


class RowBlock:
    """Some consecutive rows: their observed cells, and the sites of their labels.

    Sites are the state of a fit, and are given to every pass; those that a block holds are a working copy.

    Parameters
    ----------
    cells : Cells
        Of these rows.
    base : ndarray of shape (m,)
        Offsets that the first coordinate of V counts from.
    """

    def __init__(self, cells: Cells, base: FloatArray) -> None:
        self.cells = cells
        self.pattern = Pattern.of(cells)
        self.labels = np.flatnonzero(self.pattern.labels)
        self.base: FloatArray = base[cells.y_column].astype(np.float64)
        # A number counts for its column's noise, which the passes put in front of whole columns.
        self.weight = np.ones(self.pattern.value.size)
        self.linear = self.pattern.value - base[self.pattern.column]
        self.place(_first_sites(cells, base))

    def census(self) -> tuple[FloatArray, FloatArray]:
        """Count the numbers of every column, and add up the squares of what offsets leave of them."""
        numbers, d = np.flatnonzero(~self.pattern.labels), self.cells.n_features
        column = self.pattern.column[numbers]
        # Of no cells at all, bincount makes integers.
        counts = np.bincount(column, minlength=d), np.bincount(column, self.linear[numbers] ** 2, d)
        return counts[0].astype(np.float64), counts[1].astype(np.float64, copy=False)

    @property
    def sites(self) -> Sites:
        """The sites of its labels."""
        return Sites(self.weight[self.labels], self.linear[self.labels])

    def place(self, sites: Sites) -> None:
        """Set the sites."""
        self.weight[self.labels], self.linear[self.labels] = sites

    def rows(self, columns: Columns) -> tuple[Rows, FloatArray]:
        """Give the posterior moments of every u_i, and its log |precision|."""
        H, g = self._sums(columns)
        log_det = normal_posteriors(H, g, np.ones(g.shape), fixed=1)
        return Rows(g, H), log_det

    def _sums(self, columns: Columns) -> tuple[FloatArray, FloatArray]:
        """Likelihood terms of every u_i, packed: its quadratic form and its pull."""
        scale = np.ones(len(columns.V))
        scale[: columns.noise.size] = 1 / columns.noise
        return self.pattern.row_sums(
            self.weight, self.linear, scale[:, None] * columns.V, scale[:, None] * columns.second
        )

    def visit(self, sites: Sites, columns: Columns, pace: float) -> tuple[Sites, Sums]:
        """Update rows and sites, and add up what columns need to know of them.

        Parameters
        ----------
        sites : Sites
            From the last pass.
        columns : Columns
        pace : float
            Share of the way that the sites move.
        """
        self.place(sites)
        rows, log_det = self.rows(columns)
        target, log_likelihood = self._target(*self.label_moments(rows, columns))
        self.move(target, pace)
        H, g = self.pattern.column_sums(self.weight, self.linear, rows.U, rows.second)
        return self.sites, Sums(H, g, rows.second.sum(axis=0), float(log_det.sum()), log_likelihood)

    def settle(self, columns: Columns, pace: float, most: int, tol: float) -> tuple[Rows, BoolArray]:
        """Update rows and sites in turn, columns being given, until no label's mean moves any more.

        Returns
        -------
        rows : Rows
            The sites are left as those that made them.
        settled : ndarray of bool, shape (n_samples,)
        """
        cells, d = self.cells, self.cells.n_features
        n, m = cells.shape
        if not self.labels.size:
            return self.rows(columns)[0], np.ones(n, bool)
        count = np.diff(cells.y_start)
        row, column = np.repeat(np.arange(n), count), self._label_places.column
        V, second, truth = columns.V[d:], columns.second[d:], cells.y_value.astype(np.float64)
        sites = self.sites
        # What numbers add to a row does not change.
        self.place(Sites(np.zeros(row.size), np.zeros(row.size)))
        H_numbers, g_numbers = self._sums(columns)
        self.place(sites)
        rows = Rows(np.empty_like(g_numbers), np.empty_like(H_numbers))
        moves = np.ones(n, bool)
        before: FloatArray = np.zeros(row.size)
        made = Sites(*(each.copy() for each in sites))
        for _ in range(most):
            some, own = np.flatnonzero(moves), np.flatnonzero(moves[row])
            where = Places.of(np.concatenate(([0], np.cumsum(count[some]))), column[own], m - d)
            weight, pull = (where.matrix(each[own]) for each in sites)
            H, g = weight @ second, pull @ V
            H += H_numbers[some]
            g += g_numbers[some]
            normal_posteriors(H, g, np.ones(g.shape), fixed=1)
            rows.U[some], rows.second[some] = g, H
            for each, other in zip(made, sites, strict=True):
                each[own] = other[own]
            t, variance = where.moments(g, H, V, second)
            moves[:] = False
            moves[row[own[np.abs(t - before[own]) >= tol]]] = True
            if not moves.any():
                break
            target, _ = _target(truth[own], self.base[own], t, variance, likelihood=False)
            for each, other in zip(sites, target, strict=True):
                each[own] += pace * (other - each[own])
            before[own] = t
        self.place(made)
        return rows, ~moves

    def move(self, target: Sites, pace: float) -> None:
        """Go some of the way from the sites to others."""
        old = self.sites
        self.place(Sites(*(one + pace * (other - one) for one, other in zip(old, target, strict=True))))

    def label_moments(self, rows: Rows, columns: Columns) -> tuple[FloatArray, FloatArray]:
        """Mean and variance of t in every label cell."""
        d = self.cells.n_features
        return self._label_places.moments(*rows, columns.V[d:], columns.second[d:])

    @cached_property
    def _label_places(self) -> Places:
        cells, d = self.cells, self.cells.n_features
        return Places.of(cells.y_start, cells.y_column - np.int32(d), cells.shape[1] - d)

    def _target(self, t: FloatArray, variance: FloatArray) -> tuple[Sites, float]:
        """Sites that the labels' posteriors ask for, and the labels' expected log-likelihood."""
        return _target(self.cells.y_value.astype(np.float64), self.base, t, variance)

    def residuals(self, columns: Columns) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Give what factors leave of numbers, and of labels on the scale of log-odds, as sparse matrices."""
        rows, _ = self.rows(columns)
        cells, V = self.cells, columns.V
        explained: FloatArray = np.empty(cells.x_value.size)
        products(cells.x_start, cells.x_column, rows.U, np.ascontiguousarray(V), explained)
        left = self.linear[~self.pattern.labels] - explained
        t, _ = self.label_moments(rows, columns)
        return cells.matrices(left, label_scores(cells.y_value, self.base + t))


def label_scores(truth: FloatArray, log_odds: FloatArray) -> FloatArray:
    """Residuals of labels on the scale of log-odds: four is the slope of a score at probability one half."""
    return np.asarray(4 * (truth - expit(log_odds)), np.float64)


def _first_sites(cells: Cells, base: FloatArray) -> Sites:
    """Sites that labels ask for whose t is standard normal around their offsets: two numbers for a column."""
    own = base[cells.n_features :].astype(np.float64)
    of_column, _ = _target(np.zeros(own.size), own, np.zeros(own.size), np.ones(own.size))
    column = cells.y_column - np.int32(cells.n_features)
    return Sites(of_column.weight[column], of_column.pull[column] + cells.y_value)


def _target(
    truth: FloatArray, base: FloatArray, t: FloatArray, variance: FloatArray, *, likelihood: bool = True
) -> tuple[Sites, float]:
    """Sites that labels' posteriors ask for, and the labels' expected log-likelihood, or 0 without it."""
    mean, spread = base + t, np.sqrt(variance)
    probability, curvature = np.empty(t.size), np.empty(t.size)
    softplus = label_integrals(mean, spread, NODES, SHARES, likelihood, probability, curvature)
    sites = Sites(curvature, curvature * t + truth - probability)
    return sites, float(truth @ mean) - softplus if likelihood else 0.0
