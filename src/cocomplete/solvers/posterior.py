"""The objective as a probability: factors averaged over their posterior instead of set to their best values.

Up to constants, F with λ2 = 0 is minus the logarithm of a density: u_i and v_j are normal, a feature is
normal around o_j + u_i · v_j, a label is 1 with probability σ(o_j + u_i · v_j). The minimiser of F is the
mode of that density. With few observed cells per row the mode is overconfident, and an average over all
factors that the data allow predicts better and says how sure it is. Here the average is approximated by
independent normal distributions for every u_i and v_j (variational Bayes), with liberties F does not have:
features and labels have prior precisions of their own; every feature has its own noise; some factors are the
labels' own, so that what labels have in common with each other need not be found in the features; and labels
may be taken as numbers with a noise of their own, which suits labels that all but follow from each other,
where a sigmoid leaves too much to chance.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_ndtr, ndtri

from cocomplete.arrays import FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.cells import Cells
from cocomplete.solvers.moments import CHUNK, Moments, Pattern, diagonals, pack, unpack, weights
from cocomplete.solvers.solution import Progress
from cocomplete.spectral import SparseSpectrum

DAMPING = 0.7
"""Share of the way that a label cell's curvature and slope move per sweep; 1 can oscillate."""

NOISE_PRIOR = (0.5, 2.0)
"""A feature's noise before anything is seen, and how many cells that belief is worth."""

NEVER = 1e9
"""Prior precision of a feature's part in factors that are the labels' own."""

OFFSET_PRECISION = (0.01, 1.0)
"""Prior precision of an offset's distance from the observed mean of a feature, log-odds of a label."""

START_LENGTH, OWN_START_LENGTH = 0.3, 1.5
"""The zero-filled table's factors, brought to scale, are noise for the most part: start shorter. The labels'
own are found sooner if they are there before the others take their place."""


@dataclass(frozen=True)
class Prior:
    """What is believed before the table is seen.

    Attributes
    ----------
    rank : int
        Number of factors, k.
    feature_precision, label_precision : float
        Prior precision of every entry of a feature's and of a label's v_j; u_i has precision 1. With one
        value α for both and unit noise, the mode is F's minimiser at λ1 = √α.
    feature_weight : float, default=1.0
        Power of the features' likelihood, F's 2w: below 1 the labels have more say in what the factors are.
    label_rank : int, default=0
        Number of further factors, in which features have no part.
    own_precision : float, default=1.0
        Prior precision of the labels' entries for those.
    linear : bool, default=False
        Whether 0/1 columns are numbers, standardised and with a noise of their own, instead of under logistic
        loss. A label is then as likely 1 as its number is above the level that its rate of ones exceeds.
    """

    rank: int
    feature_precision: float
    label_precision: float
    feature_weight: float = 1.0
    label_rank: int = 0
    own_precision: float = 1.0
    linear: bool = False


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


@dataclass(frozen=True, eq=False)
class Posterior(FieldsAlone):
    """The distribution of V and the offsets; all that new rows need.

    Attributes
    ----------
    prior : Prior
    base : ndarray of shape (m,)
        Offsets that the first coordinate of V counts from.
    V : ndarray of shape (m, k + 1)
        Means; column 0 holds the offsets, less ``base``.
    second : ndarray of shape (m, (k + 1)(k + 2) / 2)
        E[v_j v_jᵀ], packed: the lower triangle, row after row.
    noise : ndarray of shape (n_features,)
        Variance of each feature around t_ij.
    label_noise : ndarray of shape (m - n_features,)
        The same for 0/1 columns that are taken as numbers.
    n_iter : int
        Sweeps done.
    converged : bool
        Whether the last sweep changed next to nothing.
    interrupted : bool
        Whether Ctrl-C ended the sweeps.
    first_label : int
        The columns before it are features.
    usual : float
        How many of them are known in a row of the table, on average.
    overlap : float
        How much of what features say beyond that number others have said: without it labels are told too
        surely in rows that are more complete. Features themselves are told best without it.
    """

    prior: Prior
    base: FloatArray
    V: FloatArray
    second: FloatArray
    noise: FloatArray
    label_noise: FloatArray
    n_iter: int
    converged: bool
    interrupted: bool = False
    first_label: int = 0
    usual: float = 1.0
    overlap: float = 0.0

    def rows(self, cells: Cells, *, sweeps: int = 20, tol: float = 1e-4) -> "Rows":
        """Give the moments of u_i for rows with these cells, by the row step alone."""
        pattern = Pattern.of(cells)
        n, width = cells.shape[0], self.V.shape[1]
        evidence = _Evidence(pattern, self.base, self.prior.feature_weight, linear=self.prior.linear)
        noise = np.concatenate((self.noise, self.label_noise))
        precision, said = np.ones((n, width)), self._said(pattern)
        for _ in range(sweeps if evidence.iterates else 1):
            weight, pull = evidence.of(noise)
            U, second = pattern.row_posteriors(weight * said, pull * said, self.V, self.second, precision)
            if evidence.update(*pattern.moments(U, second, self.V, self.second)) < tol:
                break
        return Rows(U, second)

    def _said(self, pattern: Pattern) -> FloatArray | float:
        """Give what each cell's say is multiplied by: below 1 for features of rows that are more complete."""
        if not self.overlap:
            return 1.0
        row = np.repeat(np.arange(pattern.shape[0]), np.diff(pattern.start))
        features = pattern.column < self.first_label
        excess = np.maximum(np.bincount(row, features, pattern.shape[0]) / self.usual - 1, 0)
        # The less features weigh, the less of them is too much.
        weight = 1 / (1 + self.overlap * self.prior.feature_weight * excess)
        return np.where(features, weight[row], 1.0)

    def predict(self, cells: Cells) -> Moments:
        """Give mean and variance of every cell of rows with these observed cells."""
        n, m = cells.shape
        mean, variance = np.empty((n, m)), np.empty((n, m))
        second_v = self.second * weights(self.V.shape[1])
        step = max(1, CHUNK // second_v.shape[1])
        for first in range(0, n, step):
            part = slice(first, min(first + step, n))
            U, second = self.rows(cells.rows(part.start, part.stop))
            np.matmul(U, self.V.T, out=mean[part])
            np.matmul(second, second_v.T, out=variance[part])
            variance[part] -= mean[part] ** 2
        return self._moments(mean, np.maximum(variance, 0, out=variance), np.arange(m))

    def at(self, rows: Rows, cells: Cells) -> Moments:
        """Give mean and variance of some cells, observed or not, of rows whose factors are known."""
        pattern = Pattern.of(cells)
        mean, variance = pattern.moments(*rows, self.V, self.second)
        return self._moments(mean, variance, pattern.column)

    def _moments(self, mean: FloatArray, variance: FloatArray, column: NDArray[np.integer]) -> Moments:
        """Bring moments of u_i · v_j in some columns to the scale of features and log-odds."""
        told = mean + self.base[column]
        numbers = column >= (len(self.noise) if self.prior.linear else len(self.base))
        if numbers.any():
            # Log-odds of a normal number to be above its level; nothing is left to average over.
            asked = column[numbers] - len(self.noise)
            spread = np.sqrt(self.label_noise[asked] + variance[..., numbers])
            above = (mean[..., numbers] - self._levels[asked]) / spread
            told[..., numbers], variance[..., numbers] = log_ndtr(above) - log_ndtr(-above), 0
        return Moments(told, variance, self.noise, averaged=True)

    @cached_property
    def _levels(self) -> FloatArray:
        """Level that a 0/1 column's number exceeds as often as the column is 1.

        Over all rows it varies by its noise and its factors, for those of the rows have unit second moments.
        That is 1, as the column was standardised to, or far less if next to no ones were seen.
        """
        labels = slice(len(self.noise), None)
        factors = diagonals(self.second[labels], self.V.shape[1])[:, 1:]
        rate = expit(self.base[labels].astype(np.float64))
        return np.asarray(-ndtri(rate) * np.sqrt(self.label_noise + factors.sum(axis=1)))

    def labels_of(self, cells: Cells, asked: Cells) -> Moments:
        """Give some cells of rows with these observed cells."""
        return self.at(self.rows(cells, sweeps=5), asked)

    def draw(self, cells: Cells, rng: np.random.Generator) -> FloatArray:
        """Draw one t for every cell: rows and columns from their posteriors."""
        U, second_u = self.rows(cells)
        V = _draw(self.V, self.second, rng)
        U = _draw(U, second_u, rng)
        t = U @ V.T
        return self._moments(t, np.zeros_like(t), np.arange(t.shape[1])).mean


def fit_posterior(
    cells: Cells,
    prior: Prior,
    base: FloatArray,
    *,
    first_label: int | None = None,
    start: Posterior | None = None,
    max_iter: int = 60,
    tol: float = 2e-3,
    progress: Progress | None = None,
) -> tuple[Posterior, Rows]:
    """Alternate row and column posteriors until the cells' means stand still; Ctrl-C gives what was reached.

    Parameters
    ----------
    cells : Cells
        Observed cells; features centred and scaled.
    prior : Prior
    base : ndarray of shape (m,)
        Offsets to start from: 0 for centred features, log-odds for labels.
    first_label : int, optional
        The columns from here on may have factors of their own; by default all 0/1 columns, which is not right
        where some of them are features.
    start : Posterior, optional
        The answer for a nearby prior of the same rank, on the same columns.
    max_iter : int, default=60
        Most sweeps.
    tol : float, default=2e-3
        Root mean square change of the observed cells' means, per sweep, at which to stop.
    progress : callable, optional
        Called with a record per sweep.

    Returns
    -------
    posterior : Posterior
    rows : Rows
        Of the table itself.
    """
    pattern = Pattern.of(cells)
    evidence = _Evidence(pattern, base, prior.feature_weight, linear=prior.linear)
    n, m = cells.shape
    first_label = cells.n_features if first_label is None else first_label
    V: FloatArray
    noise: FloatArray
    if start is None:
        V, noise = _first_factors(cells, prior, base, first_label), np.ones(m)
        second = pack(V[:, :, None] * V[:, None, :])
    else:
        V, second = start.V, start.second
        noise = np.concatenate((start.noise, start.label_noise))
    width = V.shape[1]
    is_label = np.arange(m) >= cells.n_features
    precision = np.empty((m, width))
    precision[:, 0] = np.where(is_label, OFFSET_PRECISION[1], OFFSET_PRECISION[0])
    precision[:, 1:] = np.where(is_label, prior.label_precision, prior.feature_precision)[:, None]
    own = width - prior.label_rank
    precision[:first_label, own:], precision[first_label:, own:] = NEVER, prior.own_precision
    row_precision = np.ones((n, width))
    sweep, change, interrupted = 0, np.inf, False
    while sweep < max_iter and not (change < tol and sweep > 5) and not (interrupted and sweep):
        try:
            weight, linear = evidence.of(noise)
            U, second_u = pattern.row_posteriors(weight, linear, V, second, row_precision)
            V, second = pattern.column_posteriors(weight, linear, U, second_u, precision)
            t, variance = pattern.moments(U, second_u, V, second)
            noise = evidence.noise(t, variance)
            change = evidence.update(t, variance)
            V, second = _whiten(second_u, V, second)
            sweep += 1
            if progress is not None:
                progress({"stage": "averaging", "iteration": sweep, "change": change})
        except KeyboardInterrupt:
            # Before the first sweep there is nothing to give out: it is done, unless Ctrl-C comes again.
            if interrupted:
                raise
            interrupted = True
    U, second_u = pattern.row_posteriors(*evidence.of(noise), V, second, row_precision)
    d = cells.n_features
    features = cells.x_column.size + np.count_nonzero(cells.y_column < first_label)
    posterior = Posterior(
        prior,
        base,
        V,
        second,
        noise[:d],
        noise[d:],
        sweep,
        converged=change < tol,
        interrupted=interrupted,
        first_label=first_label,
        usual=max(features / max(n, 1), 1.0),
    )
    return posterior, Rows(U, second_u)


class _Evidence:
    """What every observed cell says of its t: a weight and a pull."""

    t: FloatArray
    variance: FloatArray

    def __init__(self, pattern: Pattern, base: FloatArray, feature_weight: float, *, linear: bool) -> None:
        self.pattern, self.feature_weight, self.linear = pattern, feature_weight, linear
        self.base = base[pattern.column]
        self.t = np.zeros(pattern.value.size)
        self.variance = np.ones(pattern.value.size)
        self.weight = np.zeros(pattern.value.size)
        self.pull = np.zeros(pattern.value.size)
        self.first = True

    @property
    def iterates(self) -> bool:
        """Whether the weights depend on the means."""
        return bool(self._logistic[0].size)

    @cached_property
    def _numbers(self) -> tuple[NDArray[np.intp], NDArray[np.int32], FloatArray, FloatArray]:
        """Where normal cells are, their columns, centred values and powers."""
        labels = self.pattern.labels
        value, power = self.pattern.value - self.base, np.ones(self.base.size)
        power[~labels] = self.feature_weight
        if self.linear:
            rate, spread = _rate_and_spread(self.base[labels])
            value[labels] = (self.pattern.value[labels] - rate) / spread
        where = np.arange(self.base.size) if self.linear else np.flatnonzero(~labels)
        return where, self.pattern.column[where], value[where], power[where]

    @cached_property
    def _logistic(self) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        where = np.flatnonzero(self.pattern.labels & (not self.linear))
        return where, self.pattern.value[where], self.base[where]

    def of(self, noise: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weight and linear coefficient of every cell, at the current means."""
        where, column, value, power = self._numbers
        self.weight[where] = power / noise[column]
        self.pull[where] = self.weight[where] * value
        where, value, base = self._logistic
        # The label's expected slope and curvature under the normal posterior of t.
        shrink = 1 / np.sqrt(1 + np.pi / 8 * self.variance[where])
        probability = expit((self.t[where] + base) * shrink)
        curvature = shrink * probability * (1 - probability)
        slope = curvature * self.t[where] + value - probability
        pace = 1.0 if self.first else DAMPING
        self.weight[where] += pace * (curvature - self.weight[where])
        self.pull[where] += pace * (slope - self.pull[where])
        self.first = False
        return self.weight, self.pull

    def noise(self, t: FloatArray, variance: FloatArray) -> FloatArray:
        """Each normal column's expected squared residual, with a little prior."""
        where, column, value, _ = self._numbers
        m = self.pattern.column_start.size - 1
        squares = np.bincount(column, (value - t[where]) ** 2 + variance[where], m)
        guess, worth = NOISE_PRIOR
        noise: FloatArray = (squares + guess * worth) / (np.bincount(column, minlength=m) + worth)
        return noise

    def update(self, t: FloatArray, variance: FloatArray) -> float:
        """Take over the cells' new moments; give the root mean square change of the means."""
        change = float(np.sqrt(np.mean((t - self.t) ** 2))) if t.size else 0.0
        self.t, self.variance = t, variance
        return change


def _rate_and_spread(log_odds: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Mean and standard deviation of 0/1 columns with these log-odds."""
    rate: FloatArray = expit(log_odds.astype(np.float64))
    return rate, np.sqrt(rate * (1 - rate))


def _first_factors(cells: Cells, prior: Prior, base: FloatArray, first_label: int) -> FloatArray:
    """Leading right singular vectors of the zero-filled table, to the scale of unit rows."""
    n, m = cells.shape
    share = max((cells.x_value.size + cells.y_value.size) / (n * m), 1e-6)
    rate, deviation = _rate_and_spread(base[cells.y_column])
    # Four is the slope of a score against its probability at one half.
    scores = (cells.y_value - rate) * (1 / deviation if prior.linear else 4)
    spread = np.sqrt(prior.feature_weight)
    values = spread * (cells.x_value - base[cells.x_column])
    left, right = cells.matrices(values.astype(np.float64), scores.astype(np.float64))

    scale = 1 / (share * np.sqrt(n))
    V = np.zeros((m, 1 + min(prior.rank, n, m) + prior.label_rank))
    own = V.shape[1] - prior.label_rank
    s, vectors = SparseSpectrum(left, right, floor=0.0).above(0.0, own - 1)
    V[:, 1 : len(s) + 1] = START_LENGTH * scale * vectors * s
    V[: cells.n_features] /= spread
    if prior.label_rank:
        labels = right[:, first_label - cells.n_features :]
        s, vectors = SparseSpectrum(left[:, :0], labels, floor=0.0).above(0.0, prior.label_rank)
        V[first_label:, own : own + len(s)] = OWN_START_LENGTH * scale * vectors * s
    return V


def _whiten(second_u: FloatArray, V: FloatArray, second_v: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Stretch V so that the rows' factors would be uncorrelated with unit variance, as their prior has it.

    Their average over rows drifts from that only slowly by itself; the cells' values do not change.
    """
    width = V.shape[1]
    stretch = np.eye(width)
    spread = unpack(second_u.mean(axis=0), width)
    stretch[1:, 1:] = np.linalg.cholesky(spread[1:, 1:]).T
    # Both products of the stack as large ones: S E Sᵀ = (E Sᵀ)ᵀ Sᵀ, for E is symmetric.
    half = unpack(second_v, width).reshape(-1, width) @ stretch.T
    half = half.reshape(-1, width, width).swapaxes(1, 2).reshape(-1, width)
    return V @ stretch.T, pack((half @ stretch.T).reshape(-1, width, width))


def _draw(mean: FloatArray, second: FloatArray, rng: np.random.Generator) -> FloatArray:
    """One draw per row from normals with these moments; a known coordinate stays what it is."""
    cov = unpack(second, mean.shape[1]) - mean[:, :, None] * mean[:, None, :]
    values, vectors = np.linalg.eigh(cov)
    noise = rng.standard_normal(mean.shape) * np.sqrt(np.maximum(values, 0))
    return np.asarray(mean + np.einsum("nrc,nc->nr", vectors, noise))
