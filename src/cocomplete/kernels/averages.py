"""Variational fits: posterior moments of rows given those of columns, compiled by Numba and cached on disk.

Conventions as in :mod:`cocomplete.kernels`, but for one CSR pattern (``start``, ``column``) that has features
and labels together.
"""

import math

import numpy as np
from numba import njit

from cocomplete.kernels.arithmetic import FAST

LANES = 48
"""Small matrices that are inverted side by side. Loops over them take the number from an array: those of a
known, small length are unrolled before they can be turned into vector instructions."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def weighted_sums(start, column, weight, linear, mean, second, H, g):
    """Add up the likelihood terms of every row's vector u_i over its cells, given moments of its partners.

    Cell q of row i, in column j, weighs in with ½ weight_q t² − linear_q t, t = u_i · v_j. Symmetric matrices
    are packed: their lower triangles, row after row, so that adding them up is one loop over contiguous
    memory.

    Parameters
    ----------
    start, column : one CSR pattern for features and labels together
    mean (m × k), second (m × k(k+1)/2) : E[v_j], E[v_j v_jᵀ]
    H (n × k(k+1)/2), g (n × k) : written: Σ weight_q E[v_j v_jᵀ] and Σ linear_q E[v_j]
    """
    k, size = mean.shape[1], second.shape[1]
    H[:] = 0
    g[:] = 0
    for i in range(H.shape[0]):
        for q in range(start[i], start[i + 1]):
            a, s, j = weight[q], linear[q], column[q]
            for p in range(size):
                H[i, p] += a * second[j, p]
            for r in range(k):
                g[i, r] += s * mean[j, r]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def gaussians(H, g, precision, fixed, log_det):
    """Turn the likelihood terms of every row's vector into its Gaussian posterior, in place.

    The density of u_i is exp(−½ uᵀ (H_i + diag(precision_i)) u + g_i · u), up to a constant. Rows are worked
    on LANES at a time, their matrices interleaved: one matrix alone is too small to keep the processor busy.

    Parameters
    ----------
    H : (n × k(k+1)/2), packed; on return E[u_i u_iᵀ]
    g : (n × k); on return E[u_i]
    precision : (n × k)
    fixed : int
        1 if u_i's first coordinate is known to be 1, else 0.
    log_det : (n); on return log |H_i + diag(precision_i)|, a known coordinate left out
    """
    n, k = g.shape
    size = H.shape[1]
    for b in range((n + LANES - 1) // LANES):
        first = b * LANES
        lanes = min(LANES, n - first)
        P = np.empty((size, lanes))
        u, pull, x = np.empty((k, lanes)), np.empty((k, lanes)), np.empty((k, lanes))
        for z in range(lanes):
            i = first + z
            for p in range(size):
                P[p, z] = H[i, p]
            for r in range(k):
                P[r * (r + 1) // 2 + r, z] += precision[i, r]
                pull[r, z] = g[i, r]
        if fixed == 1:
            for r in range(1, k):
                for z in range(lanes):
                    pull[r, z] -= P[r * (r + 1) // 2, z]
        _factorize(P, x, fixed, k)
        for z in range(lanes):
            # Diagonals of the Cholesky factors are stored inverted.
            total = 0.0
            for r in range(fixed, k):
                total -= 2 * math.log(P[r * (r + 1) // 2 + r, z])
            log_det[first + z] = total
        _invert(P, x, fixed, k)
        _means(P, pull, fixed, k, u)
        for z in range(lanes):
            i = first + z
            p = 0
            for r in range(k):
                g[i, r] = u[r, z]
                for c in range(r + 1):
                    H[i, p] = P[p, z] + u[r, z] * u[c, z]
                    p += 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _factorize(P, x, first, k):
    """Cholesky factors L, from row ``first`` on, over packed matrices; diagonals are inverted."""
    lanes = P.shape[1]
    for p in range(first, k):
        diagonal = p * (p + 1) // 2 + p
        for z in range(lanes):
            P[diagonal, z] = 1 / math.sqrt(P[diagonal, z])
        for r in range(p + 1, k):
            entry = r * (r + 1) // 2 + p
            for z in range(lanes):
                P[entry, z] *= P[diagonal, z]
                x[r, z] = P[entry, z]
        for r in range(p + 1, k):
            for c in range(p + 1, r + 1):
                target = r * (r + 1) // 2 + c
                for z in range(lanes):
                    P[target, z] -= x[r, z] * x[c, z]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _invert(P, x, first, k):
    """(L Lᵀ)⁻¹ over packed factors L with inverted diagonals."""
    lanes = P.shape[1]
    # L⁻¹, row by row from the top; x keeps the row of L that is written over.
    for r in range(first, k):
        begin = r * (r + 1) // 2
        for c in range(first, r):
            for z in range(lanes):
                x[c, z] = -P[begin + c, z] * P[begin + r, z]
                P[begin + c, z] = 0
        for p in range(first, r):
            for c in range(first, p + 1):
                target, other = begin + c, p * (p + 1) // 2 + c
                for z in range(lanes):
                    P[target, z] += x[p, z] * P[other, z]
    # L⁻ᵀ L⁻¹ from the top: row r needs rows of L⁻¹ from r on, untouched by then.
    for r in range(first, k):
        begin = r * (r + 1) // 2
        for c in range(first, r + 1):
            for z in range(lanes):
                x[c, z] = P[begin + c, z] * P[begin + r, z]
        for p in range(r + 1, k):
            below = p * (p + 1) // 2
            for c in range(first, r + 1):
                for z in range(lanes):
                    x[c, z] += P[below + r, z] * P[below + c, z]
        for c in range(first, r + 1):
            for z in range(lanes):
                P[begin + c, z] = x[c, z]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _means(P, pull, first, k, u):
    """Packed symmetric matrices times vectors; a coordinate before ``first`` is 1 and has no variance."""
    lanes = P.shape[1]
    u[:] = 0
    for r in range(first):
        for z in range(lanes):
            u[r, z] = 1
        for p in range(r, k):
            for z in range(lanes):
                P[p * (p + 1) // 2 + r, z] = 0
    for r in range(first, k):
        for c in range(first, r + 1):
            entry = r * (r + 1) // 2 + c
            for z in range(lanes):
                u[r, z] += P[entry, z] * pull[c, z]
            if c < r:
                for z in range(lanes):
                    u[c, z] += P[entry, z] * pull[r, z]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def cell_moments(start, column, U, second_u, V, second_v, t, variance):
    """Mean and variance of u_i · v_j in every cell, u_i and v_j being independent.

    Parameters
    ----------
    U (n × k), second_u (n × k(k+1)/2), V (m × k) : moments, packed as for :func:`weighted_sums`
    second_v : (m × k(k+1)/2)
        With the off-diagonal entries doubled, so that a sum over the triangle is one over the square.
    t, variance : written, one number per cell
    """
    k = U.shape[1]
    size = second_u.shape[1]
    for i in range(U.shape[0]):
        for q in range(start[i], start[i + 1]):
            j = column[q]
            value = 0.0
            square = 0.0
            for r in range(k):
                value += U[i, r] * V[j, r]
            for p in range(size):
                square += second_u[i, p] * second_v[j, p]
            t[q] = value
            variance[q] = max(square - value * value, 0.0)


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def label_integrals(mean, spread, node, share, likelihood, probability, curvature):
    """Integrate σ and its slope over the normal distribution of each label's log-odds z.

    Returns Σ E[log(1 + e^z)].

    Parameters
    ----------
    mean, spread : of log-odds z, one per label
    node, share : of a quadrature for the standard normal distribution
    likelihood : bool
        Whether the sum is asked for; it is 0 without.
    probability, curvature : one per label; written: E[σ(z)] and E[σ(z) (1 − σ(z))]
    """
    total = 0.0
    for q in range(mean.shape[0]):
        p, c, softplus = 0.0, 0.0, 0.0
        for r in range(node.shape[0]):
            z = mean[q] + node[r] * spread[q]
            # e^-|z| makes all three without overflow.
            small = math.exp(-abs(z))
            least = small / (1 + small)
            p += share[r] * (1 - least if z > 0 else least)
            c += share[r] * least * (1 - least)
            if likelihood:
                softplus += share[r] * (max(z, 0.0) + math.log1p(small))
        probability[q], curvature[q] = p, c
        total += softplus
    return total
