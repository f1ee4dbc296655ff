"""The losses of a factored model T = U Vᵀ: their value, gradient and Hessian on the observed cells.

Conventions as in :mod:`cocomplete.kernels`.
"""

import math

import numpy as np
from numba import prange

from cocomplete.kernels.arithmetic import FAST, add_up
from cocomplete.kernels.threads import over_threads


@over_threads(fastmath=FAST)
def evaluate(
    bounds, x_start, x_column, x_value, multiplier, rho, y_start, y_column, y_value, U, V, gx, gy, hy, GU, GV
):
    """Losses, their slope in every cell and, if GU is as long as U, their gradient.

    Feature cells cost λ e + ρ/2 e² with e = t − x (λ = 0 if ``multiplier`` is empty), label cells
    log(1 + e^t) − y t.

    Parameters
    ----------
    gx, gy : written: slope in each cell (the matrix G on Ω)
    hy : written: curvature of each label cell
    GU (n × k), GV (n_blocks × m × k) : written: gradient, GV one sum per block

    Returns
    -------
    ndarray of shape (3,)
        Feature cost, Σ e², label cost.
    """
    blocks = bounds.shape[0] - 1
    k = U.shape[1]
    gradient = GU.shape[0] == U.shape[0]
    augmented = multiplier.shape[0] > 0
    sums = np.zeros((blocks, 3))
    for b in prange(blocks):
        cost = 0.0
        squares = 0.0
        log_loss = 0.0
        if gradient:
            GV[b, :, :] = 0
        for i in range(bounds[b], bounds[b + 1]):
            u = U[i]
            if gradient:
                GU[i, :] = 0
            for q in range(x_start[i], x_start[i + 1]):
                j = x_column[q]
                v = V[j]
                t = u[0] * v[0]
                for c in range(1, k):
                    t += u[c] * v[c]
                e = t - x_value[q]
                g = rho * e
                if augmented:
                    g += multiplier[q]
                    cost += multiplier[q] * e
                cost += 0.5 * rho * e * e
                squares += e * e
                gx[q] = g
                if gradient:
                    gu = GU[i]
                    gv = GV[b, j]
                    for c in range(k):
                        gu[c] += g * v[c]
                    for c in range(k):
                        gv[c] += g * u[c]
            for q in range(y_start[i], y_start[i + 1]):
                j = y_column[q]
                v = V[j]
                t = u[0] * v[0]
                for c in range(1, k):
                    t += u[c] * v[c]
                small = math.exp(-abs(t))
                log_loss += math.log1p(small) + max(t, 0.0) - y_value[q] * t
                p = 1 / (1 + small) if t >= 0 else small / (1 + small)
                g = p - y_value[q]
                gy[q] = g
                hy[q] = small / ((1 + small) * (1 + small))
                if gradient:
                    gu = GU[i]
                    gv = GV[b, j]
                    for c in range(k):
                        gu[c] += g * v[c]
                    for c in range(k):
                        gv[c] += g * u[c]
        sums[b, 0] = cost
        sums[b, 1] = squares
        sums[b, 2] = log_loss
    return add_up(sums)


@over_threads(fastmath=FAST)
def curvature_product(bounds, x_start, x_column, gx, rho, y_start, y_column, gy, hy, U, V, dU, dV, HU, HV):
    """Hessian of the losses times (dU, dV), the indefinite part from G included.

    Parameters
    ----------
    gx, gy, hy : slopes and label curvatures from :func:`evaluate`
    HU (n × k), HV (n_blocks × m × k) : written
    """
    blocks = bounds.shape[0] - 1
    k = U.shape[1]
    for b in prange(blocks):
        hv = HV[b]
        hv[:, :] = 0
        for i in range(bounds[b], bounds[b + 1]):
            u = U[i]
            du = dU[i]
            hu = HU[i]
            hu[:] = 0
            for part in range(2):
                if part == 0:
                    q, last = x_start[i], x_start[i + 1]
                else:
                    q, last = y_start[i], y_start[i + 1]
                # Two cells at a time keep the arithmetic units busy while sums are pending.
                while q + 1 < last:
                    if part == 0:
                        j0, j1, g0, g1, h0, h1 = x_column[q], x_column[q + 1], gx[q], gx[q + 1], rho, rho
                    else:
                        j0, j1, g0, g1 = y_column[q], y_column[q + 1], gy[q], gy[q + 1]
                        h0, h1 = hy[q], hy[q + 1]
                    v0, dv0, w0 = V[j0], dV[j0], hv[j0]
                    v1, dv1, w1 = V[j1], dV[j1], hv[j1]
                    t0 = u[0] * 0
                    t1 = u[0] * 0
                    for c in range(k):
                        t0 += u[c] * dv0[c] + du[c] * v0[c]
                        t1 += u[c] * dv1[c] + du[c] * v1[c]
                    t0 *= h0
                    t1 *= h1
                    for c in range(k):
                        hu[c] += t0 * v0[c] + g0 * dv0[c] + t1 * v1[c] + g1 * dv1[c]
                    for c in range(k):
                        w0[c] += t0 * u[c] + g0 * du[c]
                        w1[c] += t1 * u[c] + g1 * du[c]
                    q += 2
                if q < last:
                    if part == 0:
                        j0, g0, h0 = x_column[q], gx[q], rho
                    else:
                        j0, g0, h0 = y_column[q], gy[q], hy[q]
                    v0, dv0, w0 = V[j0], dV[j0], hv[j0]
                    t0 = u[0] * 0
                    for c in range(k):
                        t0 += u[c] * dv0[c] + du[c] * v0[c]
                    t0 *= h0
                    for c in range(k):
                        hu[c] += t0 * v0[c] + g0 * dv0[c]
                    for c in range(k):
                        w0[c] += t0 * u[c] + g0 * du[c]


@over_threads(fastmath=FAST)
def diagonal(bounds, x_start, x_column, rho, y_start, y_column, hy, U, V, HU, HV):
    """Diagonal of the losses' Gauss–Newton Hessian, into HU (n × k) and HV (n_blocks × m × k)."""
    blocks = bounds.shape[0] - 1
    k = U.shape[1]
    for b in prange(blocks):
        hv = HV[b]
        hv[:, :] = 0
        for i in range(bounds[b], bounds[b + 1]):
            u = U[i]
            hu = HU[i]
            hu[:] = 0
            for q in range(x_start[i], x_start[i + 1]):
                v, w = V[x_column[q]], hv[x_column[q]]
                for c in range(k):
                    hu[c] += rho * v[c] * v[c]
                for c in range(k):
                    w[c] += rho * u[c] * u[c]
            for q in range(y_start[i], y_start[i + 1]):
                v, w, h = V[y_column[q]], hv[y_column[q]], hy[q]
                for c in range(k):
                    hu[c] += h * v[c] * v[c]
                for c in range(k):
                    w[c] += h * u[c] * u[c]


@over_threads(fastmath=FAST)
def spread(first, last, x_start, x_column, gx, rho, y_start, y_column, gy, hy, change, panel):
    """Write rows of G and of the curvature times a change of T into a dense, zeroed panel.

    Parameters
    ----------
    first, last : int
        The rows.
    change : (last − first, m)
        Change of T = U Vᵀ along a direction.
    panel : (last − first, 2m), written on Ω
        Curvature · change in the first m columns, G in the others.
    """
    m = change.shape[1]
    for i in prange(first, last):
        r = i - first
        for q in range(x_start[i], x_start[i + 1]):
            j = x_column[q]
            panel[r, j] = rho * change[r, j]
            panel[r, m + j] = gx[q]
        for q in range(y_start[i], y_start[i + 1]):
            j = y_column[q]
            panel[r, j] = hy[q] * change[r, j]
            panel[r, m + j] = gy[q]


@over_threads(fastmath=FAST)
def clear(first, last, x_start, x_column, y_start, y_column, panel):
    """Zero again what :func:`spread` wrote."""
    m = panel.shape[1] // 2
    for i in prange(first, last):
        r = i - first
        for q in range(x_start[i], x_start[i + 1]):
            panel[r, x_column[q]] = 0
            panel[r, m + x_column[q]] = 0
        for q in range(y_start[i], y_start[i + 1]):
            panel[r, y_column[q]] = 0
            panel[r, m + y_column[q]] = 0


@over_threads(fastmath=FAST)
def products(bounds, start, column, U, V, out):
    """u_i · v_j in every cell of a pattern, into ``out``."""
    blocks = bounds.shape[0] - 1
    k = U.shape[1]
    for b in prange(blocks):
        for i in range(bounds[b], bounds[b + 1]):
            u = U[i]
            for q in range(start[i], start[i + 1]):
                v = V[column[q]]
                t = u[0] * v[0]
                for c in range(1, k):
                    t += u[c] * v[c]
                out[q] = t
