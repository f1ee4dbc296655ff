"""The losses of a factored model T = U Vᵀ: their value, gradient and Hessian on the observed cells.

Conventions as in :mod:`cocomplete.kernels`.
"""

import math

from numba import njit

from cocomplete.kernels.arithmetic import FAST


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def evaluate(
    x_start, x_column, x_value, multiplier, rho, y_start, y_column, y_value, U, V, gx, gy, hy, GU, GV
):
    """Losses, their slope in every cell and, if GU is as long as U, their gradient.

    Feature cells cost λ e + ρ/2 e² with e = t − x (λ = 0 if ``multiplier`` is empty), label cells
    log(1 + e^t) − y t.

    Parameters
    ----------
    gx, gy : written: slope in each cell (the matrix G on Ω)
    hy : written: curvature of each label cell
    GU (n × k), GV (m × k) : written: gradient, that of V summed over these rows

    Returns
    -------
    tuple of three floats
        Feature cost, Σ e², label cost.
    """
    k = U.shape[1]
    gradient = GU.shape[0] == U.shape[0]
    augmented = multiplier.shape[0] > 0
    cost = 0.0
    squares = 0.0
    log_loss = 0.0
    if gradient:
        GU[:] = 0
        GV[:] = 0
    for i in range(U.shape[0]):
        for q in range(x_start[i], x_start[i + 1]):
            j = x_column[q]
            t = rho * 0
            for c in range(k):
                t += U[i, c] * V[j, c]
            e = t - x_value[q]
            g = rho * e
            if augmented:
                g += multiplier[q]
                cost += multiplier[q] * e
            cost += 0.5 * rho * e * e
            squares += e * e
            gx[q] = g
            if gradient:
                for c in range(k):
                    GU[i, c] += g * V[j, c]
                for c in range(k):
                    GV[j, c] += g * U[i, c]
        for q in range(y_start[i], y_start[i + 1]):
            j = y_column[q]
            t = rho * 0
            for c in range(k):
                t += U[i, c] * V[j, c]
            small = math.exp(-abs(t))
            log_loss += math.log1p(small) + max(t, 0.0) - y_value[q] * t
            p = 1 / (1 + small) if t >= 0 else small / (1 + small)
            g = p - y_value[q]
            gy[q] = g
            hy[q] = small / ((1 + small) * (1 + small))
            if gradient:
                for c in range(k):
                    GU[i, c] += g * V[j, c]
                for c in range(k):
                    GV[j, c] += g * U[i, c]
    return cost, squares, log_loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def evaluate_panel(
    first, last, x_start, x_column, x_value, multiplier, rho, y_start, y_column, y_value, T, gx, gy, hy, G
):
    """Do what :func:`evaluate` does with some rows, of which T = U Vᵀ is known in every cell.

    Parameters
    ----------
    first, last : int
        The rows.
    T : (last − first, m)
    gx, gy, hy : written in the cells of these rows
    G : (last − first, m), zeroed, or without rows: slopes are written into it on Ω

    Returns
    -------
    tuple of three floats
        Feature cost, Σ e², label cost.
    """
    dense = G.shape[0] == T.shape[0]
    augmented = multiplier.shape[0] > 0
    cost = 0.0
    squares = 0.0
    log_loss = 0.0
    for i in range(first, last):
        r = i - first
        for q in range(x_start[i], x_start[i + 1]):
            e = T[r, x_column[q]] - x_value[q]
            g = rho * e
            if augmented:
                g += multiplier[q]
                cost += multiplier[q] * e
            cost += 0.5 * rho * e * e
            squares += e * e
            gx[q] = g
            if dense:
                G[r, x_column[q]] = g
        for q in range(y_start[i], y_start[i + 1]):
            t = T[r, y_column[q]]
            small = math.exp(-abs(t))
            log_loss += math.log1p(small) + max(t, 0.0) - y_value[q] * t
            p = 1 / (1 + small) if t >= 0 else small / (1 + small)
            gy[q] = p - y_value[q]
            hy[q] = small / ((1 + small) * (1 + small))
            if dense:
                G[r, y_column[q]] = gy[q]
    return cost, squares, log_loss


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def scatter(first, last, start, column, value, shift, panel):
    """Add the cells of some rows of a pattern to a dense panel, ``shift`` columns further to the right."""
    for i in range(first, last):
        for q in range(start[i], start[i + 1]):
            panel[i - first, shift + column[q]] += value[q]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def curvature_product(x_start, x_column, gx, rho, y_start, y_column, gy, hy, U, V, dU, dV, HU, HV):
    """Hessian of the losses times (dU, dV), the indefinite part from G included.

    Parameters
    ----------
    gx, gy, hy : slopes and label curvatures from :func:`evaluate`
    HU (n × k), HV (m × k) : written, HV summed over these rows
    """
    k = U.shape[1]
    HV[:] = 0
    HU[:] = 0
    for i in range(U.shape[0]):
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
                t0 = rho * 0
                t1 = rho * 0
                for c in range(k):
                    t0 += U[i, c] * dV[j0, c] + dU[i, c] * V[j0, c]
                    t1 += U[i, c] * dV[j1, c] + dU[i, c] * V[j1, c]
                t0 *= h0
                t1 *= h1
                for c in range(k):
                    HU[i, c] += t0 * V[j0, c] + g0 * dV[j0, c] + t1 * V[j1, c] + g1 * dV[j1, c]
                for c in range(k):
                    HV[j0, c] += t0 * U[i, c] + g0 * dU[i, c]
                    HV[j1, c] += t1 * U[i, c] + g1 * dU[i, c]
                q += 2
            if q < last:
                if part == 0:
                    j0, g0, h0 = x_column[q], gx[q], rho
                else:
                    j0, g0, h0 = y_column[q], gy[q], hy[q]
                t0 = rho * 0
                for c in range(k):
                    t0 += U[i, c] * dV[j0, c] + dU[i, c] * V[j0, c]
                t0 *= h0
                for c in range(k):
                    HU[i, c] += t0 * V[j0, c] + g0 * dV[j0, c]
                for c in range(k):
                    HV[j0, c] += t0 * U[i, c] + g0 * dU[i, c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def diagonal(x_start, x_column, rho, y_start, y_column, hy, U, V, HU, HV):
    """Diagonal of the losses' Gauss–Newton Hessian, into HU (n × k) and HV (m × k)."""
    k = U.shape[1]
    HU[:] = 0
    HV[:] = 0
    for i in range(U.shape[0]):
        for part in range(2):
            start = x_start if part == 0 else y_start
            column = x_column if part == 0 else y_column
            for q in range(start[i], start[i + 1]):
                j = column[q]
                h = rho if part == 0 else hy[q]
                for c in range(k):
                    HU[i, c] += h * V[j, c] * V[j, c]
                for c in range(k):
                    HV[j, c] += h * U[i, c] * U[i, c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
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
    for i in range(first, last):
        r = i - first
        for q in range(x_start[i], x_start[i + 1]):
            j = x_column[q]
            panel[r, j] = rho * change[r, j]
            panel[r, m + j] = gx[q]
        for q in range(y_start[i], y_start[i + 1]):
            j = y_column[q]
            panel[r, j] = hy[q] * change[r, j]
            panel[r, m + j] = gy[q]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def clear(first, last, x_start, x_column, y_start, y_column, panel):
    """Zero again what :func:`spread` wrote."""
    m = panel.shape[1] // 2
    for i in range(first, last):
        r = i - first
        for q in range(x_start[i], x_start[i + 1]):
            panel[r, x_column[q]] = 0
            panel[r, m + x_column[q]] = 0
        for q in range(y_start[i], y_start[i + 1]):
            panel[r, y_column[q]] = 0
            panel[r, m + y_column[q]] = 0


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def products(start, column, U, V, out):
    """u_i · v_j in every cell of a pattern, into ``out``."""
    k = U.shape[1]
    for i in range(U.shape[0]):
        for q in range(start[i], start[i + 1]):
            j = column[q]
            t = U[i, 0] * 0
            for c in range(k):
                t += U[i, c] * V[j, c]
            out[q] = t
