"""Arithmetic that the kernels share."""

import numpy as np
from numba import njit

# Sums may be reordered, but infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, fastmath=FAST)
def add_up(sums):
    """Add rows up; ``sum(axis=0)`` would have Numba compile seconds of code for its error messages."""
    total = np.zeros(sums.shape[1])
    for b in range(sums.shape[0]):
        for c in range(sums.shape[1]):
            total[c] += sums[b, c]
    return total
