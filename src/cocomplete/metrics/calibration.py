"""Calibration: whether events of probability p happen in a share p of cases."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.metrics.cells import Cells, read_probabilities
from cocomplete.parameter_checks import is_whole, shown


class Reliability(NamedTuple):
    """Predicted probability against observed rate, bin by bin, in rising order.

    Attributes
    ----------
    predicted : ndarray of shape (n_bins,)
        Mean probability of the bin's cells.
    rate : ndarray of shape (n_bins,)
        Share of ones among them.
    n_cells : ndarray of int, shape (n_bins,)
        How many there are.
    """

    predicted: FloatArray
    rate: FloatArray
    n_cells: NDArray[np.integer[Any]]


def reliability(
    Y_true: Any, Y_proba: Any, *, n_bins: int = 10, observed: Any = None, mask: Any = None
) -> Reliability:
    """Mean predicted probability and observed rate in bins of about equally many cells.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_proba : array-like or DataFrame, same shape
        Probability of a 1.
    n_bins : int, default=10
        Number of quantile bins, all labels together. Bins that equal probabilities leave empty are dropped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.

    Returns
    -------
    Reliability

    Examples
    --------
    >>> curve = reliability([[0, 1], [0, 1]], [[0.1, 0.9], [0.3, 0.7]], n_bins=2)
    >>> curve.predicted, curve.rate, curve.n_cells
    (array([0.2, 0.8]), array([0., 1.]), array([2, 2]))
    """
    return _curve(read_probabilities(Y_true, Y_proba, observed, mask), n_bins)


def expected_calibration_error(
    Y_true: Any,
    Y_proba: Any,
    *,
    n_bins: int = 10,
    observed: Any = None,
    mask: Any = None,
    return_counts: bool = False,
) -> Any:
    """Mean distance between probability and rate over the bins of :func:`reliability`, weighted by cells.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_proba : array-like or DataFrame, same shape
        Probability of a 1.
    n_bins : int, default=10
        Number of quantile bins, all labels together.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the labels without any.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> expected_calibration_error([[0], [1]], [[0.5], [0.5]])
    0.0
    """
    cells = read_probabilities(Y_true, Y_proba, observed, mask)
    curve = _curve(cells, n_bins)
    value = float(np.average(np.abs(curve.rate - curve.predicted), weights=curve.n_cells))
    return cells.score(value).answer(return_counts=return_counts)


def _curve(cells: Cells, n_bins: int) -> Reliability:
    if not is_whole(n_bins) or n_bins < 1:
        msg = f"n_bins must be a whole number of 1 or more, but is {shown(n_bins)}"
        raise InputError(msg)
    truth, proba = cells.truth[cells.counted], cells.predicted[cells.counted]
    edges = np.quantile(proba, np.linspace(0, 1, n_bins + 1))
    place = np.searchsorted(edges[1:-1], proba)
    counts = np.bincount(place, minlength=n_bins)
    full = counts > 0
    predicted, rate = (np.bincount(place, weights=w, minlength=n_bins) for w in (proba, truth))
    return Reliability(predicted[full] / counts[full], rate[full] / counts[full], counts[full])
