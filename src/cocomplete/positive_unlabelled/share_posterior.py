"""The posterior of the recorded share: fits at a grid of shares, and quantiles of the density over them."""

import numpy as np
from scipy.interpolate import PchipInterpolator
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.positive_unlabelled.label_model import LabelFit, RecordedCells, fit_labels, no_dependence

# Shares at which the likelihood is first computed; refined where it is not negligible.
_SHARES = np.array([0.03, 0.06, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0])


def fits_over_shares(cells: RecordedCells) -> dict[float, LabelFit]:
    """Fit at a grid of shares, finer where the evidence is not negligible."""
    fit = no_dependence(cells)
    # No share can be less than the rate of the label that is recorded most often.
    least = float(max(expit(fit.theta[:, 0]).max(), _SHARES[0]))
    shares = [c for c in _SHARES[::-1] if c > 1.1 * least] or [1.0]
    fits: dict[float, LabelFit] = {}
    best = -np.inf
    for c in (*shares, least * 1.02):
        if c > 1:
            continue
        fit = fits[float(c)] = fit_labels(cells, float(c), fit)
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
            fits[c] = fit_labels(cells, c, fits[float(grid[left + 1])])
    return fits


def log_posterior(grid: FloatArray, profile: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Give values of c and the log of likelihood times prior there, for sums over c."""
    if len(grid) == 1:
        return grid, profile
    fine = np.linspace(grid[0], 1, 2001)
    step = fine[1] - fine[0]
    return fine, PchipInterpolator(grid, profile)(fine) + np.log(2 * fine * step)


def quantiles(values: FloatArray, log_density: FloatArray, confidence: float) -> tuple[float, float, float]:
    """Give the lower end, the median and the upper end of a density on equally spaced values."""
    density = np.exp(log_density - log_density.max())
    mass = np.concatenate(([0.0], np.cumsum((density[1:] + density[:-1]) / 2)))
    tail = (1 - confidence) / 2
    low, median, high = np.interp([tail, 0.5, 1 - tail], mass / max(mass[-1], 1e-300), values)
    return float(low), float(median), float(high)
