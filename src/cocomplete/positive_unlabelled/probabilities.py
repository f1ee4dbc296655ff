"""Probabilities of ones under the labels' model, and those of cells that are not recorded."""

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.positive_unlabelled.label_model import average_sigmoid
from cocomplete.positive_unlabelled.recorded_share import RecordedShare, check_share


def probability_of_one(
    R: FloatArray, found: RecordedShare, *, covariance: FloatArray | None = None
) -> FloatArray:
    """Give P(y=1|x) of every cell under the model that ``estimate_recorded_share`` fitted.

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
    return average_sigmoid(mean, np.broadcast_to(np.maximum(variance, 0), mean.shape))[0]


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
    check_share(share)
    # A certain one stays one: with c = 1 as well the cell contradicts the model, and either answer would do.
    return np.asarray(
        np.where(
            probability < 1, (1 - share) * probability / np.maximum(1 - share * probability, 1e-300), 1.0
        )
    )
