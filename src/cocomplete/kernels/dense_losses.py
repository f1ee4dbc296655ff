"""The losses of a dense matrix T and steps on it, on the observed cells alone, as Algorithm 1 needs them.

Conventions as in :mod:`cocomplete.kernels`.
"""

import math

from numba import njit

from cocomplete.kernels.arithmetic import FAST


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def slopes(x_start, x_column, x_value, weight, y_start, y_column, y_value, T, G):
    """Losses of a dense matrix T and their slope in every observed cell.

    Parameters
    ----------
    weight : what a feature's slope e = t − x is multiplied by
    G (n × m) : written on Ω alone: the caller brings zeros

    Returns
    -------
    tuple of two floats
        Σ e², label cost.
    """
    squares = 0.0
    log_loss = 0.0
    for i in range(T.shape[0]):
        for q in range(x_start[i], x_start[i + 1]):
            e = T[i, x_column[q]] - x_value[q]
            squares += e * e
            G[i, x_column[q]] = weight * e
        for q in range(y_start[i], y_start[i + 1]):
            t = T[i, y_column[q]]
            small = math.exp(-abs(t))
            log_loss += math.log1p(small) + max(t, 0.0) - y_value[q] * t
            p = 1 / (1 + small) if t >= 0 else small / (1 + small)
            G[i, y_column[q]] = p - y_value[q]
    return squares, log_loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def blend(x_start, x_column, a, b, F, G):
    """Replace G by a G + b F in every observed feature, in place.

    Parameters
    ----------
    F (n × d), G (n × m) : dense; G is written
    """
    for i in range(G.shape[0]):
        for q in range(x_start[i], x_start[i + 1]):
            j = x_column[q]
            G[i, j] = a * G[i, j] + b * F[i, j]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def descend(x_start, x_column, y_start, y_column, eta, G, T):
    """Replace T by T − η G in every observed cell, in place.

    Parameters
    ----------
    G, T (n × m) : dense; T is written
    """
    for i in range(T.shape[0]):
        for q in range(x_start[i], x_start[i + 1]):
            T[i, x_column[q]] -= eta * G[i, x_column[q]]
        for q in range(y_start[i], y_start[i + 1]):
            T[i, y_column[q]] -= eta * G[i, y_column[q]]
