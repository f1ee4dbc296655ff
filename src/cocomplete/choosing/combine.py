"""One rule that combines members: weights on a simplex, from held-out cells, shrunk where these are few.

Numbers are averaged, 0/1 columns' log-odds likewise. The trivial prediction (means and rates)
is a member like any other, so that the others shrink towards it as far as held-out cells demand.
"""

from collections.abc import Callable, Sequence

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.losses import log_loss

TRUST = 5.0
"""Pull towards equal weights: a weight that is off by one costs as much as so many nats. Between 0.5 and 15
the tables to choose with are answered as well, within 1.3 %; 5 was taken because the worst of them is nearer
to the trivial answer than at 1.5."""

STRETCH_TRUST, LARGEST_STRETCH = 5.0, 2.0
"""Nats that a factor of e, or 1/e, of the combined log-odds costs, and the largest factor."""

STEPS = 50
"""Most Newton steps."""

CHANGES = 10
"""Most changes of the set of members with a weight, per member and Newton step."""

NEGLIGIBLE = 0.01
"""A weight below this is zero: its member need not be fitted."""


def number_weights(predictions: FloatArray, truth: FloatArray) -> FloatArray:
    """Find weights with which predictions of numbers have the smallest squared error.

    Parameters
    ----------
    predictions : ndarray of shape (n_members, n_cells)
        In units of each column's spread.
    truth : ndarray of shape (n_cells,)

    Returns
    -------
    ndarray of shape (n_members,)
        Not negative; their sum is 1.
    """
    residual = predictions - truth
    count = max(truth.size, 1)
    # Nats: squared errors in units of the noise, which is the best member's mean squared error.
    noise = max(float((residual**2).mean(axis=1).min(initial=np.inf)), 1e-12) if truth.size else 1.0
    G = residual @ residual.T / noise

    def loss(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        return float(weights @ G @ weights) / 2, G @ weights, G

    return _on_simplex(loss, len(predictions), count)


def label_weights(log_odds: FloatArray, truth: FloatArray, target: FloatArray | None = None) -> FloatArray:
    """Find weights with which log-odds have the smallest log-loss.

    Parameters
    ----------
    log_odds : ndarray of shape (n_members, n_cells)
    truth : ndarray of shape (n_cells,)
        0 or 1.
    target : ndarray of shape (n_members,), optional
        Weights that they are pulled towards; equal ones if not given.
    """

    def loss(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        z = weights @ log_odds
        p = expit(z)
        value = float(np.sum(log_loss(z, truth)))
        return value, log_odds @ (p - truth), (log_odds * (p * (1 - p))) @ log_odds.T

    return _on_simplex(loss, len(log_odds), truth.size, target)


def stretch(log_odds: FloatArray, base: FloatArray, truth: FloatArray) -> float:
    """Find the factor of combined log-odds, counted from the trivial answer's, that calibrates them.

    Averages of log-odds are underconfident as a rule: members that err differently draw them to the middle.

    Parameters
    ----------
    log_odds, base : ndarray of shape (n_cells,)
        Combined, and of the trivial answer.
    truth : ndarray of shape (n_cells,)
        0 or 1. With few of them the factor stays near 1.
    """
    if not truth.size:
        return 1.0
    off = log_odds - base

    def loss(log_factor: float) -> float:
        z = base + np.exp(log_factor) * off
        return float(np.sum(log_loss(z, truth))) + STRETCH_TRUST * log_factor**2

    limit = np.log(LARGEST_STRETCH)
    found = minimize_scalar(loss, bounds=(-limit, limit), method="bounded", options={"xatol": 1e-9})
    return float(np.exp(found.x))


Loss = Callable[[FloatArray], tuple[float, FloatArray, FloatArray]]
"""Value, in nats, slope and curvature of a loss at some weights."""


def _on_simplex(loss: Loss, size: int, count: int, target: FloatArray | None = None) -> FloatArray:
    """Minimise a convex loss over the simplex, pulled towards equal weights or others, by Newton steps."""
    equal = np.full(size, 1 / size) if target is None else target
    if size == 1 or count == 0:
        return equal
    pull = 2 * TRUST * np.eye(size)

    def penalised(weights: FloatArray) -> tuple[float, FloatArray, FloatArray]:
        value, slope, curvature = loss(weights)
        off = weights - equal
        return value + TRUST * float(off @ off), slope + pull @ off, curvature + pull

    weights = equal
    value, slope, curvature = penalised(weights)
    for _ in range(STEPS):
        target = _quadratic_on_simplex(curvature, slope - curvature @ weights)
        step = target - weights
        gain = -float(slope @ step)
        if gain <= 1e-12 * max(abs(value), 1.0):
            break
        length = 1.0
        while length > 1e-6:
            tried = weights + length * step
            there = penalised(tried)
            if there[0] <= value - 1e-4 * length * gain:
                break
            length /= 2
        else:
            break
        weights, (value, slope, curvature) = tried, there
    weights = np.where(weights < NEGLIGIBLE, 0.0, weights)
    return np.asarray(weights / weights.sum())


def _quadratic_on_simplex(H: FloatArray, g: FloatArray) -> FloatArray:
    """Minimise ½ wᵀHw + gᵀw over the simplex, H positive definite, by an active-set method.

    Members leave the set where their weight would be negative, and come back where the loss falls with theirs
    more than with that of those in the set.
    """
    inside = np.ones(len(g), bool)
    best, least = np.full(len(g), 1 / len(g)), np.inf
    for _ in range(CHANGES * len(g)):
        w = _on_affine_hull(H, g, inside)
        if (w < 0).any():
            inside[np.argmin(w)] = False
            continue
        value = float(w @ H @ w / 2 + g @ w)
        if value >= least:
            break
        best, least = w, value
        slope = H @ w + g
        outside = np.flatnonzero(~inside)
        if not outside.size or slope[outside].min() >= slope[inside].min():
            break
        inside[outside[np.argmin(slope[outside])]] = True
    return best


def _on_affine_hull(H: FloatArray, g: FloatArray, inside: BoolArray) -> FloatArray:
    """Minimise over weights of some members that add up to 1, whatever their signs."""
    some = np.flatnonzero(inside)
    free, ones = np.linalg.solve(H[np.ix_(some, some)], np.column_stack((g[some], np.ones(some.size)))).T
    w = np.zeros(len(g))
    w[some] = -free + (1 + free.sum()) / ones.sum() * ones
    return w


def equal_shares(set_apart: Sequence[bool], share: float) -> FloatArray:
    """Give equal weights, but a share of the whole to one that is set apart, if there are others.

    Parameters
    ----------
    set_apart : sequence of bool, one per member
        At most one is true.
    share : float
    """
    own = np.array(set_apart)
    if own.any() and not own.all():
        return np.where(own, share, (1 - share) / (len(own) - 1))
    return np.full(len(own), 1 / len(own))
