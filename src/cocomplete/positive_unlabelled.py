"""Labels of which only ones are ever recorded: which share of them is, and what an unrecorded cell may be.

Every true one (y = 1) is recorded (s = 1) with the same unknown probability c, the *recorded share*; a zero
never is. A classifier fitted to s estimates P(s=1|x) = c P(y=1|x). The share is identified only by the shape
of that curve: where P(y=1|x) saturates at 1, the rate of recorded cells saturates at c.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import expit, log_expit, logit

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError

# Gauss-Hermite nodes for the average of a sigmoid over a normal log-odds.
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(7)
_WEIGHTS = _WEIGHTS / _WEIGHTS.sum()

# Prior of the standard deviation of a label's log-odds over rows: log-normal. 2.5 is an AUC of about 0.87;
# the usual range 1 to 6 lies within two of its standard deviations.
_SLOPE_MEDIAN, _SLOPE_LOG_SD = 2.5, 0.5

# Prior of a label's rate of true ones in the average row: Beta. It must rule out rates near 1: with them, and
# c equal to the recorded rate, labels that nothing predicts would be explained best. Low rates are let be.
_RATE_ONES, _RATE_ZEROS = 0.25, 1.0

# Directions of R whose reliability is less carry next to nothing of the factors and are dropped.
_LEAST_RELIABILITY = 0.02

# Shares at which the likelihood is first computed; refined where it is not negligible.
_SHARES = np.array([0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])

# The share is called identified if its 95 % interval is narrower than this, and than this ratio of its ends.
_WIDEST, _WIDEST_RATIO = 0.32, 3.0

# Nor is it where it says that some label is a true one nearly everywhere, or where the log-odds of being
# recorded vary less than this over rows (standard deviation; 0.6 is an AUC of about 0.65).
_LEAST_ABOVE_RATE, _LEAST_SLOPE = 1.15, 0.6


@dataclass(frozen=True, eq=False)
class RecordedShare:
    """The share of true ones that are recorded, as far as the data tell.

    Attributes
    ----------
    share : float
        Posterior median of c; where labels are not predictable at all, the median of its prior between the
        largest rate of recorded ones and 1.
    low, high : float
        Ends of the posterior interval.
    identified : bool
        Whether the interval is narrow enough for ``share`` to be used; where it is not, the labels are hardly
        predictable or too few are recorded, and c should be given from knowledge of how they were recorded.
    log_evidence : float
        Log marginal likelihood of S given R, averaged over the prior of c. Compares choices of R.
    grid, profile : ndarray of shape (n_grid,)
        Values of c and the log marginal likelihood at each.
    intercepts : ndarray of shape (n_labels,)
    slopes : ndarray of shape (n_labels, n_factors)
        The model at ``share``: the log-odds of y = 1 are intercepts + R slopesᵀ.
    """

    share: float
    low: float
    high: float
    identified: bool
    log_evidence: float
    grid: FloatArray
    profile: FloatArray
    intercepts: FloatArray
    slopes: FloatArray

    @property
    def unrecorded_ratio(self) -> float:
        """How many times as many ones are unrecorded at the low end of the interval as at the high one.

        For every recorded one there are (1 - c) / c others: where most are recorded, a small error of the
        share is a large one of what is left.
        """
        if self.low == self.high:
            return 1.0
        return float((1 - self.low) / self.low * self.high / max(1 - self.high, 1e-9))


class RowFactors(NamedTuple):
    """Gaussian posterior of the factors of every row.

    Attributes
    ----------
    mean : ndarray of shape (n_samples, n_factors)
    covariance : ndarray of shape (n_samples, n_factors, n_factors)
    """

    mean: FloatArray
    covariance: FloatArray


def estimate_recorded_share(
    R: FloatArray,
    S: FloatArray,
    *,
    covariance: FloatArray | None = None,
    confidence: float = 0.95,
    share: float | None = None,
) -> RecordedShare:
    """Estimate which share of the true ones is recorded, by marginal likelihood.

    Parameters
    ----------
    R : ndarray of shape (n_samples, n_factors)
        What is known of each row from its *features*: posterior means of its factors, or standardised
        features. S must have no part in it, or recorded cells explain themselves.
    S : ndarray of shape (n_samples, n_labels)
        1 (or True) where a one is recorded, 0 elsewhere.
    covariance : ndarray of shape (n_factors, n_factors) or (n_samples, n_factors, n_factors), default=None
        Posterior covariance of the rows' factors, for all rows or each; None if R is exact. Without it the
        share is underestimated where R is not exact and ones are rare.
    confidence : float, default=0.95
        Of the interval.
    share : float, optional
        c, if it is known; then only the labels' model is fitted.

    Returns
    -------
    RecordedShare
        Posterior median and interval of c, and whether they can be relied on.

    Notes
    -----
    P(s_ij = 1) = c E σ(b_j + w_jᵀ f_i) with f_i ~ N(R_i, covariance_i), w_j ~ N(0, τ² D) where D is
    proportional to the reliability of each direction of R (a ridge penalty), a normal prior of b_j and a
    log-normal one of τ. For every c, b and w are integrated out by Laplace's approximation with the expected
    information, and τ is at its most likely value. The prior of c has density 2c: shares near 0 would explain
    few recorded ones by any number of true ones.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> F = rng.normal(size=(800, 2))
    >>> Y = rng.random((800, 6)) < expit(F @ rng.normal(size=(2, 6)) * 3 - 1)
    >>> S = Y & (rng.random(Y.shape) < 0.6)
    >>> found = estimate_recorded_share(F, S)
    >>> found.identified, bool(abs(found.share - 0.6) < 0.05)
    (True, True)
    """
    R, S, C = _checked(R, S, covariance)
    if not 0 < confidence < 1:
        msg = f"confidence must be between 0 and 1, got {confidence!r}; 0.95 is usual"
        raise InputError(msg)
    problem, basis, center = _posed(R, S, C)
    if share is not None:
        _check_share(share)
        fit = _fit(problem, share, _start(problem))
        slopes = fit.theta[:, 1:] @ basis.T
        point, evidence = np.array([share]), np.array([fit.log_evidence])
        intercepts = fit.theta[:, 0] - slopes @ center
        return RecordedShare(
            share=share,
            low=share,
            high=share,
            identified=True,
            log_evidence=fit.log_evidence,
            grid=point,
            profile=evidence,
            intercepts=intercepts,
            slopes=slopes,
        )
    fits = _fits_over_shares(problem)
    grid = np.array(sorted(fits))
    profile = np.array([fits[c].log_evidence for c in grid])
    least = float(S.mean(axis=0).max())
    fine, log_density = _log_posterior(grid, profile)
    low, share, high = _quantiles(fine, log_density, confidence)
    predictable = share > _LEAST_ABOVE_RATE * least and fits[1.0].log_slope > np.log(_LEAST_SLOPE)
    if not predictable:
        # The likelihood reflects the priors of rates and slopes alone, so that of c is what remains.
        anything = np.linspace(min(max(least, 1e-3), 1 - 1e-3), 1, 1001)
        low, share, high = _quantiles(anything, np.log(anything), confidence)
    nearest = fits[float(grid[np.abs(grid - share).argmin()])]
    theta = _fit(problem, share, nearest).theta
    slopes = theta[:, 1:] @ basis.T
    return RecordedShare(
        share=share,
        low=low,
        high=high,
        identified=bool(predictable and high - low < _WIDEST and high < _WIDEST_RATIO * low),
        log_evidence=float(log_density.max() + np.log(np.exp(log_density - log_density.max()).sum())),
        grid=grid,
        profile=profile,
        intercepts=theta[:, 0] - slopes @ center,
        slopes=slopes,
    )


def best_described(
    candidates: Sequence[RowFactors], S: FloatArray, *, share: float | None = None
) -> tuple[RecordedShare, int]:
    """Estimate the recorded share with whichever description of the rows explains it best.

    Parameters
    ----------
    candidates : sequence of RowFactors
        Such as factors that features share, and the features themselves, each of which may predict labels.
    S : ndarray of shape (n_samples, n_labels)
        1 where a one is recorded, 0 elsewhere.
    share : float, optional
        If it is known.

    Returns
    -------
    found : RecordedShare
    which : int
        Position of the candidate with the largest evidence.
    """
    fits = [
        estimate_recorded_share(one.mean, S, covariance=one.covariance, share=share) for one in candidates
    ]
    which = int(np.argmax([one.log_evidence for one in fits]))
    return fits[which], which


def probability_of_one(
    R: FloatArray, found: RecordedShare, *, covariance: FloatArray | None = None
) -> FloatArray:
    """Give P(y=1|x) of every cell under the model that :func:`estimate_recorded_share` fitted.

    Parameters
    ----------
    R, covariance : ndarray
        As given to it, of the same rows or of others.
    found : RecordedShare
        What it returned.

    Returns
    -------
    ndarray of shape (n_samples, n_labels)
        The probability of being one, whether recorded or not; :func:`probability_if_unrecorded` conditions
        on that.
    """
    mean = found.intercepts + R @ found.slopes.T
    if covariance is None:
        return np.asarray(expit(mean))
    variance = np.einsum("...kl,lk->...l", covariance @ found.slopes.T, found.slopes)
    return _average_sigmoid(mean, np.broadcast_to(np.maximum(variance, 0), mean.shape))[0]


def probability_if_unrecorded(probability: FloatArray, share: float) -> FloatArray:
    """Turn P(y=1|x) into P(y=1|x, s=0), that of a cell that is not recorded.

    Parameters
    ----------
    probability : ndarray
        P(y=1|x) of cells.
    share : float
        The recorded share c, in (0, 1].

    Examples
    --------
    >>> probability_if_unrecorded(np.array([0.0, 0.6, 1.0]), 0.5).round(3).tolist()
    [0.0, 0.429, 1.0]
    """
    _check_share(share)
    # A certain one stays one: with c = 1 as well the cell contradicts the model, and either answer would do.
    return np.asarray(
        np.where(
            probability < 1, (1 - share) * probability / np.maximum(1 - share * probability, 1e-300), 1.0
        )
    )


# -- the model of recorded cells -----------------------------------------------------------------------


class _Problem(NamedTuple):
    """Rotated, centred factors of rows; their covariances; recorded cells; prior shape of slopes."""

    R: FloatArray
    C: FloatArray | None
    S: FloatArray
    prior: FloatArray


class _Fit(NamedTuple):
    theta: FloatArray
    log_slope: float
    log_evidence: float


class _Terms(NamedTuple):
    """Log-likelihood of each label, its gradient in (b_j, w_j) and the expected information."""

    log_likelihood: FloatArray
    gradient: FloatArray
    information: FloatArray


def _average_sigmoid(mean: FloatArray, variance: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
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


def _terms(problem: _Problem, share: float, theta: FloatArray) -> _Terms:
    R, C, S, _ = problem
    W = theta[:, 1:]
    mean = theta[:, 0] + R @ W.T
    if C is None:
        value = expit(mean)
        first = value * (1 - value)
        slopes = first.T[..., None] * R
    else:
        CW = C @ W.T  # (n, k, l), or (k, l) where rows share one covariance
        variance = np.maximum(np.einsum("...kl,lk->...l", CW, W), 0)
        value, first, second = _average_sigmoid(mean, np.broadcast_to(variance, mean.shape))
        # The variance wᵀCw has gradient 2Cw.
        along = np.moveaxis(np.broadcast_to(CW, (len(R), *CW.shape[-2:])), 2, 0)
        slopes = first.T[..., None] * R + second.T[..., None] * along
    P = np.clip(share * value, 1e-200, 1 - 1e-12)
    J = share * np.concatenate((first.T[..., None], slopes), axis=2)
    weight = 1 / (P * (1 - P))
    gradient = (((S - P) * weight).T[:, None, :] @ J)[:, 0]
    information = np.swapaxes(J * weight.T[..., None], 1, 2) @ J
    return _Terms(np.where(S > 0, np.log(P), np.log1p(-P)).sum(axis=0), gradient, information)


def _log_prior(theta: FloatArray, precision: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give each label's log prior up to constants, its gradient, and its negative second derivatives."""
    intercept, slopes = theta[:, :1], theta[:, 1:]
    rate, both = expit(intercept), _RATE_ONES + _RATE_ZEROS
    value = _RATE_ONES * log_expit(intercept) + _RATE_ZEROS * log_expit(-intercept)
    value = value[:, 0] - 0.5 * (slopes**2 * precision).sum(axis=1)
    gradient = np.concatenate((_RATE_ONES - both * rate, -slopes * precision), axis=1)
    curvature = np.broadcast_to(precision, slopes.shape)
    return value, gradient, np.concatenate((both * rate * (1 - rate), curvature), axis=1)


def _fit(problem: _Problem, share: float, start: _Fit, *, max_iter: int = 20) -> _Fit:
    """Maximise over (b, w) by Fisher scoring, and over τ in turn; give the log evidence there."""
    theta, log_slope, _ = start
    n_labels, n_slopes = len(theta), theta[:, 1:].size
    terms = _terms(problem, share, theta)
    evidence = -np.inf
    for _ in range(max_iter):
        precision = np.exp(-2 * log_slope) / problem.prior
        prior, prior_gradient, curvature = _log_prior(theta, precision)
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
        # Far from the mode for this τ, the slopes say nothing of τ, and the fixed point may run away.
        if gain < 0.25 * n_labels:
            squares = float((theta[:, 1:] ** 2 / problem.prior).sum())
            variances = np.diagonal(covariance, axis1=1, axis2=2)[:, 1:]
            well_determined = n_slopes - float((variances * precision).sum())
            better = _most_likely_slope(squares, well_determined, log_slope)
            better = float(np.clip(better, log_slope - 0.4, log_slope + 0.4))
        if gain < 0.02 and abs(better - log_slope) < 0.02:
            break
        theta, terms = _search(problem, share, theta, step, precision, terms)
        log_slope = better
    return _Fit(theta, log_slope, evidence)


def _search(
    problem: _Problem,
    share: float,
    theta: FloatArray,
    step: FloatArray,
    precision: FloatArray,
    terms: _Terms,
) -> tuple[FloatArray, _Terms]:
    """Go along the step of each label as far as its objective grows."""
    objective = terms.log_likelihood + _log_prior(theta, precision)[0]
    # A rare label has next to no information on its intercept: a full step might leave the sigmoid's range.
    size = np.minimum(1.0, 5 / np.maximum(np.abs(step).max(axis=1, keepdims=True), 1e-12))
    for _ in range(8):
        tried = theta + size * step
        there = _terms(problem, share, tried)
        worse = there.log_likelihood + _log_prior(tried, precision)[0] < objective - 1e-9
        if not worse.any():
            return tried, there
        size[worse] *= 0.3
    tried = np.where(worse[:, None], theta, tried)
    return tried, _terms(problem, share, tried)


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


def _log_posterior(grid: FloatArray, profile: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give values of c and the log of likelihood times prior there, for sums over c."""
    if len(grid) == 1:
        return grid, profile
    fine = np.linspace(grid[0], 1, 2001)
    step = fine[1] - fine[0]
    return fine, PchipInterpolator(grid, profile)(fine) + np.log(2 * fine * step)


def _quantiles(values: FloatArray, log_density: FloatArray, confidence: float) -> tuple[float, float, float]:
    """Give the lower end, the median and the upper end of a density on equally spaced values."""
    density = np.exp(log_density - log_density.max())
    mass = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    tail = (1 - confidence) / 2
    low, median, high = np.interp([tail, 0.5, 1 - tail], mass / max(mass[-1], 1e-300), values)
    return float(low), float(median), float(high)


def _posed(R: FloatArray, S: FloatArray, C: FloatArray | None) -> tuple[_Problem, FloatArray, FloatArray]:
    """Give the problem in the coordinates of :func:`_directions`, and these."""
    basis, center, reliability = _directions(R, C)
    rotated = None if C is None else np.asarray(basis.T @ C @ basis)
    return _Problem((R - center) @ basis, rotated, S, reliability / reliability.sum()), basis, center


def _start(problem: _Problem) -> _Fit:
    """Give the model in which no label depends on the row."""
    S = problem.S
    theta = np.zeros((S.shape[1], problem.R.shape[1] + 1))
    theta[:, 0] = logit(np.clip(S.mean(axis=0), 0.5 / len(S), 1 - 0.5 / len(S)))
    return _Fit(theta, float(np.log(2.0)), -np.inf)


def _fits_over_shares(problem: _Problem) -> dict[float, _Fit]:
    """Fit at a grid of shares, finer where the evidence is not negligible."""
    fit = _start(problem)
    # No share can be less than the rate of the label that is recorded most often.
    least = float(max(expit(fit.theta[:, 0]).max(), _SHARES[0]))
    shares = [c for c in _SHARES[::-1] if c > 1.1 * least] or [1.0]
    fits: dict[float, _Fit] = {}
    best = -np.inf
    for c in (*shares, least * 1.02):
        if c > 1:
            continue
        fit = fits[float(c)] = _fit(problem, float(c), fit)
        best = max(best, fit.log_evidence)
        # Far below the maximum the likelihood only falls further, and the fits there are the slowest.
        if fit.log_evidence < best - 15:
            break
    for _ in range(3):
        grid = np.array(sorted(fits))
        profile = np.array([fits[c].log_evidence for c in grid])
        near = profile > profile.max() - 3
        if np.count_nonzero(near) >= 8:
            break
        wide = np.diff(grid) > np.minimum(0.03, 0.1 * grid[1:] + 0.005)
        for left in np.flatnonzero((near[1:] | near[:-1]) & wide):
            c = float((grid[left] + grid[left + 1]) / 2)
            fits[c] = _fit(problem, c, fits[float(grid[left + 1])])
    return fits


def _directions(R: FloatArray, C: FloatArray | None) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Give a basis in which factors have unit variance and R is uncorrelated, R's mean and reliabilities.

    The variance of R in units of the factor's is its reliability; for an exact R, whose reliability is 1, the
    share of the total variance takes its place, so that the prior is that of a ridge penalty on R.
    """
    center = R.mean(axis=0)
    signal = (R - center).T @ (R - center) / len(R)
    tiny = 1e-9 * max(float(np.trace(signal)), 1e-9) * np.eye(len(signal))
    if C is None:
        values, vectors = np.linalg.eigh(signal + tiny)
        basis, reliability = vectors / np.sqrt(values), values / values.max()
    else:
        total = signal + (C if C.ndim == 2 else C.mean(axis=0)) + tiny
        inverse = np.linalg.inv(np.linalg.cholesky(total))
        reliability, vectors = np.linalg.eigh(inverse @ signal @ inverse.T)
        basis = inverse.T @ vectors
    kept = reliability >= min(_LEAST_RELIABILITY, reliability.max())
    return basis[:, kept], center, np.maximum(reliability[kept], 1e-6)


def _checked(
    R: FloatArray, S: FloatArray, covariance: FloatArray | None
) -> tuple[FloatArray, FloatArray, FloatArray | None]:
    R, S = np.asarray(R, dtype=np.float64), np.asarray(S, dtype=np.float64)
    if R.ndim != 2 or S.ndim != 2 or len(R) != len(S) or not R.size or not S.size:
        msg = (
            "R and S must be matrices with the same rows, but their shapes are "
            f"{R.shape} and {S.shape}; give one row of R per row of S"
        )
        raise InputError(msg)
    if not np.isfinite(R).all():
        msg = (
            f"R must be finite, but {int((~np.isfinite(R)).sum())} of its cells are not; complete the "
            "features first"
        )
        raise InputError(msg)
    if not np.isin(S, (0, 1)).all():
        found = S[~np.isin(S, (0, 1))][0]
        msg = (
            f"S must be 1 where a one is recorded and 0 elsewhere, but holds {found:g}; replace unknown by 0"
        )
        raise InputError(msg)
    if covariance is None:
        return R, S, None
    C = np.asarray(covariance, dtype=np.float64)
    n, k = R.shape
    if C.shape not in {(k, k), (n, k, k)} or not np.isfinite(C).all():
        msg = (
            f"covariance must be finite and of shape {(k, k)} or {(n, k, k)} for this R, but has shape "
            f"{C.shape}; give the posterior covariance of R, or None"
        )
        raise InputError(msg)
    return R, S, C


def _check_share(share: float) -> None:
    if not 0 < share <= 1:
        msg = f"share must be above 0 and at most 1, got {share!r}; it is the share of ones that are recorded"
        raise InputError(msg)
