"""The loss of 0/1 cells, for whoever needs it cell by cell."""

import numpy as np

from cocomplete.arrays import FloatArray


def log_loss(log_odds: FloatArray, truth: FloatArray) -> FloatArray:
    """Give -log P of every cell, log(1 + e^z) - y z.

    Parameters
    ----------
    log_odds : ndarray
        z, of any shape that goes with that of ``truth``.
    truth : ndarray
        y, 0 or 1.

    Examples
    --------
    >>> log_loss(np.array([0.0, 800.0]), np.array([1.0, 1.0])).round(4).tolist()
    [0.6931, 0.0]
    """
    return np.asarray(np.logaddexp(0, log_odds) - truth * log_odds)
