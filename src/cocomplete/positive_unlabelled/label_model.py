"""Logistic regression of recorded cells at one recorded share, fitted by Laplace's approximation."""

from typing import NamedTuple

import numpy as np
from scipy.special import expit, log_expit, logit

from cocomplete.arrays import FloatArray

# Gauss-Hermite nodes for the average of a sigmoid over a normal log-odds.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()

# Prior of the standard deviation of a label's log-odds over rows: log-normal. 2.5 is an AUC of about 0.87;
# the usual range 1 to 6 lies within two of its standard deviations.
_SLOPE_MEDIAN, _SLOPE_LOG_SD = 2.5, 0.5

# Prior of a label's rate of true ones in the average row: Beta. It must rule out rates near 1: with them, and
# c equal to the recorded rate, labels that nothing predicts would be explained best. Low rates are let be.
_RATE_ONES, _RATE_ZEROS = 0.25, 1.0


class RecordedCells(NamedTuple):
    """Rotated, centred factors of rows; their covariances; recorded cells; prior shape of slopes."""

    R: FloatArray
    C: FloatArray | None
    S: FloatArray
    prior: FloatArray


class LabelFit(NamedTuple):
    """Intercepts and slopes (b_j, w_j) of every label, log τ, and the log evidence there."""

    theta: FloatArray
    log_slope: float
    log_evidence: float


class LikelihoodTerms(NamedTuple):
    """Log-likelihood of each label, its gradient in (b_j, w_j) and the expected information."""

    log_likelihood: FloatArray
    gradient: FloatArray
    information: FloatArray


def average_sigmoid(mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give E σ(z) for normal z, its derivative in the mean and twice that in the variance.

    The derivatives are those of the quadrature, not of the integral, so that a line search can rely on them.
    """
    std = np.sqrt(np.maximum(variance, 1e-12))
    value, first, second = np.zeros_like(mean), np.zeros_like(mean), np.zeros_like(mean)
    for node, weight in zip(_NODES, _WEIGHTS, strict=True):
        sigmoid = expit(mean + node * std)
        slope = weight * sigmoid * (1 - sigmoid)
        value += weight * sigmoid
        first += slope
        second += node * slope
    return value, first, second / std


def likelihood_terms(cells: RecordedCells, share: float, theta: FloatArray) -> LikelihoodTerms:
    """Give the likelihood of recorded cells at this share and these coefficients, and its derivatives."""
    R, C, S, _ = cells
    W = theta[:, 1:]
    mean = theta[:, 0] + R @ W.T
    if C is None:
        value = expit(mean)
        first = value * (1 - value)
        slopes = first.T[..., None] * R
    else:
        CW = C @ W.T  # (n, k, l), or (k, l) where rows share one covariance
        variance = np.maximum(np.einsum("...kl,lk->...l", CW, W), 0)
        value, first, second = average_sigmoid(mean, np.broadcast_to(variance, mean.shape))
        # The variance wᵀCw has gradient 2Cw.
        along = np.moveaxis(np.broadcast_to(CW, (len(R), *CW.shape[-2:])), 2, 0)
        slopes = first.T[..., None] * R + second.T[..., None] * along
    P = np.clip(share * value, 1e-200, 1 - 1e-12)
    J = share * np.concatenate((first.T[..., None], slopes), axis=2)
    weight = 1 / (P * (1 - P))
    gradient = (((S - P) * weight).T[:, None, :] @ J)[:, 0]
    information = np.swapaxes(J * weight.T[..., None], 1, 2) @ J
    return LikelihoodTerms(np.where(S > 0, np.log(P), np.log1p(-P)).sum(axis=0), gradient, information)


def log_prior(theta: FloatArray, precision: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give each label's log prior up to constants, its gradient, and its negative second derivatives."""
    intercept, slopes = theta[:, :1], theta[:, 1:]
    rate, both = expit(intercept), _RATE_ONES + _RATE_ZEROS
    value = _RATE_ONES * log_expit(intercept) + _RATE_ZEROS * log_expit(-intercept)
    value = value[:, 0] - 0.5 * (slopes**2 * precision).sum(axis=1)
    gradient = np.concatenate((_RATE_ONES - both * rate, -slopes * precision), axis=1)
    curvature = np.broadcast_to(precision, slopes.shape)
    return value, gradient, np.concatenate((both * rate * (1 - rate), curvature), axis=1)


def fit_labels(cells: RecordedCells, share: float, start: LabelFit, *, max_iter: int = 20) -> LabelFit:
    """Maximise over (b, w) by Fisher scoring, and over τ in turn; give the log evidence there."""
    theta, log_slope, _ = start
    n_labels, n_slopes = len(theta), theta[:, 1:].size
    terms = likelihood_terms(cells, share, theta)
    evidence = -np.inf
    for _ in range(max_iter):
        precision = np.exp(-2 * log_slope) / cells.prior
        prior, prior_gradient, curvature = log_prior(theta, precision)
        posterior = terms.information + curvature[:, :, None] * np.eye(theta.shape[1])
        gradient = terms.gradient + prior_gradient
        covariance = np.linalg.inv(posterior)
        step = (covariance @ gradient[..., None])[..., 0]
        evidence = float(
            (terms.log_likelihood + prior).sum()
            + 0.5 * n_labels * np.log(precision).sum()
            - 0.5 * np.linalg.slogdet(posterior)[1].sum()
            - (log_slope - np.log(_SLOPE_MEDIAN)) ** 2 / (2 * _SLOPE_LOG_SD**2)
        )
        gain = float((gradient * step).sum()) / 2
        better = log_slope
        # Far from the mode for this τ, slopes carry no information on τ, and the fixed point may run away.
        if gain < 0.25 * n_labels:
            squares = float((theta[:, 1:] ** 2 / cells.prior).sum())
            variances = np.diagonal(covariance, axis1=1, axis2=2)[:, 1:]
            well_determined = n_slopes - float((variances * precision).sum())
            better = _most_likely_slope(squares, well_determined, log_slope)
            better = float(np.clip(better, log_slope - 0.4, log_slope + 0.4))
        if gain < 0.02 and abs(better - log_slope) < 0.02:
            break
        theta, terms = _line_search(cells, share, theta, step, precision, terms)
        log_slope = better
    return LabelFit(theta, log_slope, evidence)


def _line_search(
    cells: RecordedCells,
    share: float,
    theta: FloatArray,
    step: FloatArray,
    precision: FloatArray,
    terms: LikelihoodTerms,
) -> tuple[FloatArray, LikelihoodTerms]:
    """Go along the step of each label as far as its objective grows."""
    objective = terms.log_likelihood + log_prior(theta, precision)[0]
    # A rare label has next to no information on its intercept: a full step might leave the sigmoid's range.
    size = np.minimum(1.0, 5 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
    for _ in range(8):
        tried = theta + size * step
        there = likelihood_terms(cells, share, tried)
        worse = there.log_likelihood + log_prior(tried, precision)[0] < objective - 1e-9
        if not worse.any():
            return tried, there
        size[worse] *= 0.3
    tried = np.where(worse[:, None], theta, tried)
    return tried, likelihood_terms(cells, share, tried)


def _most_likely_slope(squares: float, well_determined: float, log_slope: float) -> float:
    """Solve squares e^(-2x) - well_determined - (x - mean) / sd² = 0, MacKay's fixed point with a prior."""
    for _ in range(20):
        curve = squares * np.exp(-2 * log_slope)
        excess = curve - well_determined - (log_slope - np.log(_SLOPE_MEDIAN)) / _SLOPE_LOG_SD**2
        change = float(np.clip(excess / (2 * curve + 1 / _SLOPE_LOG_SD**2), -0.7, 0.7))
        log_slope += change
        if abs(change) < 1e-4:
            break
    return log_slope


def no_dependence(cells: RecordedCells) -> LabelFit:
    """Give the model in which no label depends on the row."""
    S = cells.S
    theta = np.zeros((S.shape[1], cells.R.shape[1] + 1))
    theta[:, 0] = logit(np.clip(S.mean(axis=0), 0.5 / len(S), 1 - 0.5 / len(S)))
    return LabelFit(theta, float(np.log(2.0)), -np.inf)
