"""The kernels, compiled by Numba and cached on disk.

Conventions shared by all: ``bounds`` (n_blocks + 1) cuts the rows into blocks that run in parallel;
features and labels come as two CSR patterns (``x_start``, ``x_column`` and ``y_start``, ``y_column``,
label columns counted after the features); U (n × k) and V (m × k) are the factors, and the model's value
in a cell is t_ij = u_i · v_j. Offsets are a column of V whose partner in U is all ones.
"""

import math
import os

import numpy as np
from numba import njit, prange

from cocomplete.kernels.threads import over_threads

# Threads that spin while they wait would starve BLAS, which runs between our passes on the same cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

# Sums may be reordered, but infinities and NaN keep their meaning.
FAST = {"reassoc", "contract", "arcp", "nsz"}


@njit(cache=True, fastmath=FAST)
def _add_up(sums):
    """Add rows up; ``sum(axis=0)`` would have Numba compile seconds of code for its error messages."""
    total = np.zeros(sums.shape[1])
    for b in range(sums.shape[0]):
        for c in range(sums.shape[1]):
            total[c] += sums[b, c]
    return total


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
    return _add_up(sums)


@over_threads(fastmath=FAST)
def slopes(bounds, x_start, x_column, x_value, weight, y_start, y_column, y_value, T, G):
    """Losses of a dense matrix T and their slope in every observed cell.

    Parameters
    ----------
    weight : what a feature's slope e = t − x is multiplied by
    G (n × m) : written on Ω alone: the caller brings zeros

    Returns
    -------
    ndarray of shape (2,)
        Σ e², label cost.
    """
    blocks = bounds.shape[0] - 1
    sums = np.zeros((blocks, 2))
    for b in prange(blocks):
        squares = 0.0
        log_loss = 0.0
        for i in range(bounds[b], bounds[b + 1]):
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
        sums[b, 0] = squares
        sums[b, 1] = log_loss
    return _add_up(sums)


@over_threads(fastmath=FAST)
def blend(bounds, x_start, x_column, a, b, F, G):
    """Replace G by a G + b F in every observed feature, in place.

    Parameters
    ----------
    F (n × d), G (n × m) : dense; G is written
    """
    for block in prange(bounds.shape[0] - 1):
        for i in range(bounds[block], bounds[block + 1]):
            for q in range(x_start[i], x_start[i + 1]):
                j = x_column[q]
                G[i, j] = a * G[i, j] + b * F[i, j]


@over_threads(fastmath=FAST)
def descend(bounds, x_start, x_column, y_start, y_column, eta, G, T):
    """Replace T by T − η G in every observed cell, in place.

    Parameters
    ----------
    G, T (n × m) : dense; T is written
    """
    for block in prange(bounds.shape[0] - 1):
        for i in range(bounds[block], bounds[block + 1]):
            for q in range(x_start[i], x_start[i + 1]):
                T[i, x_column[q]] -= eta * G[i, x_column[q]]
            for q in range(y_start[i], y_start[i + 1]):
                T[i, y_column[q]] -= eta * G[i, y_column[q]]


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


@njit(cache=True, fastmath=FAST)
def _times(B, count, k, p, out):
    """Out = B p, four rows of B at a time (``count`` is a multiple of four)."""
    for q in range(0, count, 4):
        b0, b1, b2, b3 = B[q], B[q + 1], B[q + 2], B[q + 3]
        s0, s1, s2, s3 = p[0] * 0, p[0] * 0, p[0] * 0, p[0] * 0
        for c in range(k):
            s0 += b0[c] * p[c]
            s1 += b1[c] * p[c]
            s2 += b2[c] * p[c]
            s3 += b3[c] * p[c]
        out[q], out[q + 1], out[q + 2], out[q + 3] = s0, s1, s2, s3


@njit(cache=True, fastmath=FAST)
def _add_transposed_times(B, count, k, y, out):
    """Out += Bᵀ y, four rows of B at a time."""
    for q in range(0, count, 4):
        b0, b1, b2, b3 = B[q], B[q + 1], B[q + 2], B[q + 3]
        y0, y1, y2, y3 = y[q], y[q + 1], y[q + 2], y[q + 3]
        for c in range(k):
            out[c] += y0 * b0[c] + y1 * b1[c] + y2 * b2[c] + y3 * b3[c]


@njit(cache=True, fastmath=FAST)
def _log_loss(count, y_value, first, z, dz, step):
    total = 0.0
    for q in range(count):
        t = z[q] + step * dz[q]
        total += math.log1p(math.exp(-abs(t))) + max(t, 0.0) - y_value[first + q] * t
    return total


@over_threads(fastmath=FAST)
def row_step(
    bounds,
    x_start,
    x_column,
    x_value,
    multiplier,
    rho,
    y_start,
    y_column,
    y_value,
    first,
    V,
    column_base,
    row_base,
    ridge,
    U,
    newton_steps,
    cg_steps,
    decrement,
):
    """Minimise every row's own cost over u_i, given V: Newton with conjugate gradients, in place.

    Parameters
    ----------
    first : int
        How many columns of U and V to leave aside at the left: those of the offsets, if they are given.
    V : (m × first + k), in the float type of the arithmetic
    column_base (m,), row_base (n,) : constant parts of each cell's value
    ridge : (k,)
        The row pays ½ Σ ridge_c u_c²: λ1, or 0 where a coordinate is free.
    U : (n × first + k), read as the start and written
    newton_steps, cg_steps : int
        Most steps per row.
    decrement : float
        A row is done when a Newton step would gain less than about half of this.
    """
    blocks = bounds.shape[0] - 1
    k = V.shape[1] - first
    augmented = multiplier.shape[0] > 0
    least = 1e-300 if V.itemsize == 8 else 1e-34
    widest = 0
    for i in range(bounds[0], bounds[blocks]):
        widest = max(widest, x_start[i + 1] - x_start[i] + y_start[i + 1] - y_start[i])
    for b in prange(blocks):
        # One row's slice of V, gathered so that the inner loops run over contiguous memory.
        B = np.zeros((widest + 4, k), V.dtype)
        base = np.zeros(widest + 4, V.dtype)
        # Separate allocations tell the compiler that nothing overlaps.
        z, g = np.zeros(widest + 4, V.dtype), np.zeros(widest + 4, V.dtype)
        h, y = np.zeros(widest + 4, V.dtype), np.zeros(widest + 4, V.dtype)
        u, r, p, Hp = np.zeros(k, V.dtype), np.zeros(k, V.dtype), np.zeros(k, V.dtype), np.zeros(k, V.dtype)
        D, inverse, feature_diagonal = np.zeros(k, V.dtype), np.zeros(k, V.dtype), np.zeros(k, V.dtype)
        for i in range(bounds[b], bounds[b + 1]):
            x0, y0 = x_start[i], y_start[i]
            nx, ny = x_start[i + 1] - x0, y_start[i + 1] - y0
            count = (nx + ny + 3) // 4 * 4
            for q in range(nx):
                B[q, :] = V[x_column[x0 + q], first:]
                base[q] = column_base[x_column[x0 + q]] + row_base[i]
                h[q] = rho
            for q in range(ny):
                B[nx + q, :] = V[y_column[y0 + q], first:]
                base[nx + q] = column_base[y_column[y0 + q]] + row_base[i]
            for q in range(nx + ny, count):
                B[q, :] = 0
                base[q] = 0
                g[q] = 0
                h[q] = 0
            for c in range(k):
                u[c] = U[i, first + c]
                feature_diagonal[c] = ridge[c]
            for q in range(nx):
                for c in range(k):
                    feature_diagonal[c] += rho * B[q, c] * B[q, c]
            _times(B, count, k, u, z)
            for q in range(count):
                z[q] += base[q]
            for _ in range(newton_steps):
                for c in range(k):
                    inverse[c] = feature_diagonal[c]
                for q in range(nx):
                    g[q] = rho * (z[q] - x_value[x0 + q])
                    if augmented:
                        g[q] += multiplier[x0 + q]
                for q in range(ny):
                    t = z[nx + q]
                    small = math.exp(-abs(t))
                    s = 1 / (1 + small) if t >= 0 else small / (1 + small)
                    g[nx + q] = s - y_value[y0 + q]
                    h[nx + q] = small / ((1 + small) * (1 + small))
                    for c in range(k):
                        inverse[c] += h[nx + q] * B[nx + q, c] * B[nx + q, c]
                for c in range(k):
                    r[c] = ridge[c] * u[c]
                    D[c] = 0
                _add_transposed_times(B, count, k, g, r)
                rz = 0.0
                for c in range(k):
                    # A coordinate that nothing observes and nothing penalises stays where it is.
                    inverse[c] = 1 / inverse[c] if inverse[c] > 0 else 0
                    r[c] = -r[c]
                    p[c] = r[c] * inverse[c]
                    rz += r[c] * p[c]
                start = rz
                # Quotients of what is next to zero are anything.
                if start <= decrement or start < least:
                    break
                gain = 0.0
                for _ in range(cg_steps):
                    _times(B, count, k, p, y)
                    for q in range(count):
                        y[q] *= h[q]
                    for c in range(k):
                        Hp[c] = ridge[c] * p[c]
                    _add_transposed_times(B, count, k, y, Hp)
                    curvature = 0.0
                    for c in range(k):
                        curvature += p[c] * Hp[c]
                    if curvature <= 0:
                        break
                    a = rz / curvature
                    gain += a * rz
                    fresh = 0.0
                    for c in range(k):
                        D[c] += a * p[c]
                        r[c] -= a * Hp[c]
                        fresh += r[c] * r[c] * inverse[c]
                    if fresh < 0.01 * start or fresh < 0.1 * decrement:
                        break
                    beta = fresh / rz
                    rz = fresh
                    for c in range(k):
                        p[c] = r[c] * inverse[c] + beta * p[c]
                # Features are quadratic; only labels can object to the full step.
                _times(B, count, k, D, y)
                slope = 0.0
                bend = 0.0
                for c in range(k):
                    slope += ridge[c] * u[c] * D[c]
                    bend += ridge[c] * D[c] * D[c]
                for q in range(nx):
                    slope += g[q] * y[q]
                    bend += rho * y[q] * y[q]
                before = _log_loss(ny, y_value, y0, z[nx:], y[nx:], 0.0)
                step = 1.0
                for _ in range(10):
                    now = _log_loss(ny, y_value, y0, z[nx:], y[nx:], step)
                    change = now - before + step * slope + 0.5 * step * step * bend
                    if change <= -1e-4 * step * gain + 1e-6 * abs(before):
                        break
                    step *= 0.4
                for c in range(k):
                    u[c] += step * D[c]
                for q in range(nx + ny):
                    z[q] += step * y[q]
                if gain < decrement:
                    break
            for c in range(k):
                U[i, first + c] = u[c]


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
