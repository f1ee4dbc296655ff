"""Normal scores: many columns' piecewise linear maps at once, compiled by Numba and cached on disk."""

import math

from numba import njit


@njit(cache=True, nogil=True, error_model="numpy")
def interpolate(end, first, knot, height, asked, found):
    """Interpolate cells between the knots of their columns; beyond the outer ones the outer heights hold.

    Parameters
    ----------
    end (m) : where the cells of each column end, column after column
    first (m + 1) : where the knots of each column begin; columns of fewer than two are left as they are
    knot, height : ascending in every column
    asked, found : one number per cell; the second is written
    """
    q = 0
    for j in range(end.shape[0]):
        least, most = first[j], first[j + 1] - 1
        while q < end[j]:
            x = asked[q]
            if most > least:
                if x <= knot[least]:
                    found[q] = height[least]
                elif x >= knot[most]:
                    found[q] = height[most]
                else:
                    low, high = least, most
                    while high - low > 1:
                        middle = (low + high) // 2
                        if knot[middle] <= x:
                            low = middle
                        else:
                            high = middle
                    width = knot[high] - knot[low]
                    if math.isinf(width):
                        # Halves of the largest numbers can be subtracted from each other.
                        share = (x / 2 - knot[low] / 2) / (knot[high] / 2 - knot[low] / 2)
                    else:
                        share = (x - knot[low]) / width
                    found[q] = height[low] + share * (height[high] - height[low])
            q += 1
