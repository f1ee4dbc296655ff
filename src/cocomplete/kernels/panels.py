"""Logistic losses of whole panels: some rows, all labels, of which few ones are stored."""

import math

import numpy as np
from numba import njit

from cocomplete.kernels.arithmetic import FAST

MOST_ROWS = 512
"""Rows of a panel: the product of so many numbers between 1 and 2 is a number still."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _decays(T, i, E, power, scale):
    """Write e^−|t| of row i to E.

    In single precision by Cephes' polynomial, to the last bit or two: compilers turn it into the vector
    instructions that they do not have for their library's function. ``scale`` is ``power`` read as numbers.
    """
    if T.itemsize != 4:
        for j in range(T.shape[1]):
            E[i, j] = math.exp(-abs(T[i, j]))
        return
    for j in range(T.shape[1]):
        x = max(-abs(T[i, j]), np.float32(-87.0))
        # Towards zero, which for negative numbers is upwards: half a unit less is the nearest.
        nearest = np.int32(x * np.float32(1.44269504) - np.float32(0.5))
        whole = np.float32(nearest)
        r = x - whole * np.float32(0.693359375) + whole * np.float32(2.12194440e-4)
        tail = np.float32(1.9875691500e-4)
        tail = tail * r + np.float32(1.3981999507e-3)
        tail = tail * r + np.float32(8.3334519073e-3)
        tail = tail * r + np.float32(4.1665795894e-2)
        tail = tail * r + np.float32(1.6666665459e-1)
        tail = tail * r + np.float32(5.0000001201e-1)
        E[i, j] = tail * r * r + r + np.float32(1)
        power[j] = (nearest + np.int32(127)) << np.int32(23)
    for j in range(T.shape[1]):
        E[i, j] *= scale[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def logistic_panel(T, E, start, column, value, curvature):
    """Losses, slopes and curvatures of a panel of label cells, nearly all of them observed zeros.

    Parameters
    ----------
    T (rows × labels) : log-odds; at most ``MOST_ROWS`` rows
    E (rows × labels) : written: slopes p − y, 0 where unknown
    start, column, value : stored cells of the rows, 0, 1 or NaN for unknown; ``start`` may begin anywhere
    curvature (labels) : p (1 − p) is added over the rows

    Returns
    -------
    float
        Σ log(1 + e^t) − y t over the known cells.
    """
    total = 0.0
    n, m = T.shape
    # Of the panel's own precision: beside it a number of Python's would make everything double.
    one = T.dtype.type(1)
    zero = T.dtype.type(0)
    power = np.empty(m, np.int32)
    scale = power.view(np.float32)
    # One logarithm of a product instead of many.
    product = np.ones(m)
    for i in range(n):
        _decays(T, i, E, power, scale)
        positive = zero
        for j in range(m):
            t = T[i, j]
            e = E[i, j]
            share = one / (one + e)
            product[j] *= 1.0 + e
            positive += max(t, zero)
            curvature[j] += e * share * share
            E[i, j] = share * (one if t >= zero else e)
        total += positive
        for q in range(start[i], start[i + 1]):
            j = column[q]
            t = T[i, j]
            if value[q] == 1:
                total -= t
                E[i, j] -= 1
            elif value[q] != 0:
                total -= math.log1p(math.exp(-abs(t))) + max(t, 0.0)
                curvature[j] -= E[i, j] * (1 - E[i, j])
                E[i, j] = 0
    for j in range(m):
        total += math.log(product[j])
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def balance_panel(E, start, column, value, up, down):
    """Scale a panel's slopes: those of zeros by ``up``, those of ones by ``down``, column by column."""
    n, m = E.shape
    for i in range(n):
        for j in range(m):
            E[i, j] *= up[j]
        for q in range(start[i], start[i + 1]):
            if value[q] == 1:
                j = column[q]
                E[i, j] *= down[j] / up[j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def conjugate_panel(E, theta):
    """Σ h(y + θ s) over a panel's known cells, h(p) = p log p + (1 − p) log(1 − p), s the slopes.

    For zeros y + θ s is θ s itself, for ones 1 + θ s; h is the same for p and 1 − p.
    """
    total = 0.0
    n, m = E.shape
    for i in range(n):
        for j in range(m):
            p = min(max(theta * abs(E[i, j]), 0.0), 1.0)
            if 0 < p < 1:
                total += p * math.log(p) + (1 - p) * math.log1p(-p)
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def listed_slopes(E, start, column, value, listed_start, listed_label, out):
    """Slopes of coefficients of listed pairs of a feature and a label: Σ x e over a panel's rows.

    Parameters
    ----------
    E (rows × labels) : slopes of the log-odds
    start, column, value : stored features of the rows; ``start`` may begin anywhere
    listed_start, listed_label : pairs, by feature
    out : added to, one number per pair
    """
    for i in range(E.shape[0]):
        for q in range(start[i], start[i + 1]):
            feature = column[q]
            for r in range(listed_start[feature], listed_start[feature + 1]):
                out[r] += value[q] * E[i, listed_label[r]]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def listed_log_odds(T, start, column, value, listed_start, listed_label, weight):
    """Log-odds by coefficients of listed pairs of a feature and a label, added to those of a panel.

    Parameters
    ----------
    T (rows × labels) : added to
    start, column, value : stored features of the rows; ``start`` may begin anywhere
    listed_start, listed_label, weight : pairs, by feature, and their coefficients
    """
    for i in range(T.shape[0]):
        for q in range(start[i], start[i + 1]):
            feature = column[q]
            for r in range(listed_start[feature], listed_start[feature + 1]):
                T[i, listed_label[r]] += value[q] * weight[r]
