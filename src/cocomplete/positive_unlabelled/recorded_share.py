"""The recorded share c: its posterior median and interval, and whether the data identify it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import check_confidence
from cocomplete.positive_unlabelled.directions import Directions, reliable_directions
from cocomplete.positive_unlabelled.label_model import RecordedCells, fit_labels, no_dependence
from cocomplete.positive_unlabelled.share_posterior import fits_over_shares, log_posterior, quantiles

# The share is called identified if its 95 % interval is narrower than this, and than this ratio of its ends.
_WIDEST, _WIDEST_RATIO = 0.32, 3.0

# Nor is it where it implies that some label is a true one nearly everywhere, or where the log-odds of being
# recorded vary less than this over rows (standard deviation; 0.6 is an AUC of about 0.65).
_LEAST_ABOVE_RATE, _LEAST_SLOPE = 1.15, 0.6


@dataclass(frozen=True, eq=False)
class RecordedShare:
    """The share of true ones that are recorded, as far as the data identify it.

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
        """How many times too many, or too few, ones are unrecorded if an end of the interval is true.

        For every recorded one there are (1 - c) / c others: where most are recorded, a small error of the
        share is a large one of what is left.
        """
        if self.low == self.high:
            return 1.0
        others = [(1 - c) / c for c in (self.low, self.share, min(self.high, 1 - 1e-9))]
        return float(max(others[0] / max(others[1], 1e-9), others[1] / others[2]))


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
        The description of each row by its *features*: posterior means of its factors, or standardised
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
    >>> from scipy.special import expit
    >>> rng = np.random.default_rng(0)
    >>> F = rng.normal(size=(800, 2))
    >>> Y = rng.random((800, 6)) < expit(F @ rng.normal(size=(2, 6)) * 3 - 1)
    >>> S = Y & (rng.random(Y.shape) < 0.6)
    >>> found = estimate_recorded_share(F, S)
    >>> found.identified, bool(abs(found.share - 0.6) < 0.05)
    (True, True)
    """
    R, S, C = _checked(R, S, covariance)
    check_confidence(confidence)
    directions = reliable_directions(R, C)
    basis, center, reliability = directions
    rotated = None if C is None else np.asarray(basis.T @ C @ basis)
    cells = RecordedCells((R - center) @ basis, rotated, S, reliability / reliability.sum())
    if share is not None:
        check_share(share)
        return _at_known_share(cells, directions, share)
    return _at_posterior_median(cells, directions, confidence)


def _at_known_share(cells: RecordedCells, directions: Directions, share: float) -> RecordedShare:
    """Fit the labels' model alone."""
    fit = fit_labels(cells, share, no_dependence(cells))
    intercepts, slopes = directions.to_original(fit.theta)
    return RecordedShare(
        share=share,
        low=share,
        high=share,
        identified=True,
        log_evidence=fit.log_evidence,
        grid=np.array([share]),
        profile=np.array([fit.log_evidence]),
        intercepts=intercepts,
        slopes=slopes,
    )


def _at_posterior_median(cells: RecordedCells, directions: Directions, confidence: float) -> RecordedShare:
    """Fit at a grid of shares, and the labels' model at the median of their posterior."""
    fits = fits_over_shares(cells)
    grid = np.array(sorted(fits))
    profile = np.array([fits[c].log_evidence for c in grid])
    least = float(cells.S.mean(axis=0).max())
    fine, log_density = log_posterior(grid, profile)
    low, share, high = quantiles(fine, log_density, confidence)
    predictable = share > _LEAST_ABOVE_RATE * least and fits[1.0].log_slope > np.log(_LEAST_SLOPE)
    if not predictable:
        # The likelihood reflects the priors of rates and slopes alone, so that of c is what remains.
        anything = np.linspace(min(max(least, 1e-3), 1 - 1e-3), 1, 1001)
        low, share, high = quantiles(anything, np.log(anything), confidence)
    nearest = fits[float(grid[np.abs(grid - share).argmin()])]
    intercepts, slopes = directions.to_original(fit_labels(cells, share, nearest).theta)
    return RecordedShare(
        share=share,
        low=low,
        high=high,
        identified=bool(predictable and high - low < _WIDEST and high < _WIDEST_RATIO * low),
        log_evidence=float(log_density.max() + np.log(np.exp(log_density - log_density.max()).sum())),
        grid=grid,
        profile=profile,
        intercepts=intercepts,
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


def check_share(share: float) -> None:
    """Refuse anything but a share of ones."""
    if not 0 < share <= 1:
        msg = f"share must be above 0 and at most 1, got {share!r}; it is the share of ones that are recorded"
        raise InputError(msg)


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
