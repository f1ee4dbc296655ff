"""Newton's method for every row's factor u_i, given V: conjugate gradients and a line search.

Conventions as in :mod:`cocomplete.kernels`.
"""

import math

import numpy as np
from numba import njit

from cocomplete.kernels.arithmetic import FAST

LEAST = 1e-300
"""Quotients of what is smaller are anything."""


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _times(B, count, k, p, out):
    """Out = B p, four rows of B at a time (``count`` is a multiple of four)."""
    for q in range(0, count, 4):
        s0, s1, s2, s3 = p[0] * 0, p[0] * 0, p[0] * 0, p[0] * 0
        for c in range(k):
            s0 += B[q, c] * p[c]
            s1 += B[q + 1, c] * p[c]
            s2 += B[q + 2, c] * p[c]
            s3 += B[q + 3, c] * p[c]
        out[q], out[q + 1], out[q + 2], out[q + 3] = s0, s1, s2, s3


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _add_transposed_times(B, count, k, y, out):
    """Out += Bᵀ y, four rows of B at a time."""
    for q in range(0, count, 4):
        y0, y1, y2, y3 = y[q], y[q + 1], y[q + 2], y[q + 3]
        for c in range(k):
            out[c] += y0 * B[q, c] + y1 * B[q + 1, c] + y2 * B[q + 2, c] + y3 * B[q + 3, c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _log_loss(count, y_value, first, z, dz, skip, step):
    """Log-losses of a row's labels at z + step · dz; its features, ``skip`` of them, come before."""
    total = 0.0
    for q in range(count):
        t = z[skip + q] + step * dz[skip + q]
        total += math.log1p(math.exp(-abs(t))) + max(t, 0.0) - y_value[first + q] * t
    return total


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _gather(column, begin, count, V, first, k, column_base, row_base, B, base, row):
    """Copy the rows of V that some cells need into B, and the constant parts of their values into base.

    Number by number: assigning slices would have Numba compile seconds of code for its error messages.
    """
    for q in range(count):
        j = column[begin + q]
        for c in range(k):
            B[row + q, c] = V[j, first + c]
        base[row + q] = column_base[j] + row_base


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _used(V, first):
    """Columns of V from ``first`` on but for those at the right end that hold nothing but zeros."""
    for last in range(V.shape[1], first, -1):
        for j in range(V.shape[0]):
            if V[j, last - 1] != 0:
                return last - first
    return 0


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def row_step(
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
    V : (m × first + k)
    column_base (m,), row_base (n,) : constant parts of each cell's value
    ridge : (k,)
        The row pays ½ Σ ridge_c u_c²: λ1, or 0 where a coordinate is free.
    U : (n × first + k), read as the start and written
    newton_steps, cg_steps : int
        Most steps per row.
    decrement : float
        A row is done when a Newton step would gain less than about half of this.
    """
    n = U.shape[0]
    used = _used(V, first)
    # Whole registers: with zeros beyond what is used no loop ends in single numbers.
    k = (used + 3) // 4 * 4
    augmented = multiplier.shape[0] > 0
    widest = 0
    for i in range(n):
        widest = max(widest, x_start[i + 1] - x_start[i] + y_start[i + 1] - y_start[i])
    # One row's slice of V, gathered so that the inner loops run over contiguous memory.
    B = np.zeros((widest + 4, k), V.dtype)
    base = np.zeros(widest + 4, V.dtype)
    # Separate allocations show the compiler that nothing overlaps.
    z, g = np.zeros(widest + 4, V.dtype), np.zeros(widest + 4, V.dtype)
    h, y = np.zeros(widest + 4, V.dtype), np.zeros(widest + 4, V.dtype)
    u, r, p, Hp = np.zeros(k, V.dtype), np.zeros(k, V.dtype), np.zeros(k, V.dtype), np.zeros(k, V.dtype)
    D, inverse, feature_diagonal = np.zeros(k, V.dtype), np.zeros(k, V.dtype), np.zeros(k, V.dtype)
    penalty = np.zeros(k, V.dtype)
    for c in range(used):
        penalty[c] = ridge[c]
    for i in range(n):
        x0, y0 = x_start[i], y_start[i]
        nx, ny = x_start[i + 1] - x0, y_start[i + 1] - y0
        count = (nx + ny + 3) // 4 * 4
        # The difference is a number like any other; a constant would be a type, and compiled apart.
        _gather(x_column, x0, nx, V, first, used, column_base, row_base[i], B, base, x0 - x0)
        _gather(y_column, y0, ny, V, first, used, column_base, row_base[i], B, base, nx)
        for q in range(nx):
            h[q] = rho
        for q in range(nx + ny, count):
            B[q] = 0
            base[q] = 0
            g[q] = 0
            h[q] = 0
        for c in range(used):
            u[c] = U[i, first + c]
        for c in range(k):
            feature_diagonal[c] = penalty[c]
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
                r[c] = penalty[c] * u[c]
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
            if start <= decrement or start < LEAST:
                break
            gain = 0.0
            for _ in range(cg_steps):
                _times(B, count, k, p, y)
                for q in range(count):
                    y[q] *= h[q]
                for c in range(k):
                    Hp[c] = penalty[c] * p[c]
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
                slope += penalty[c] * u[c] * D[c]
                bend += penalty[c] * D[c] * D[c]
            for q in range(nx):
                slope += g[q] * y[q]
                bend += rho * y[q] * y[q]
            before = _log_loss(ny, y_value, y0, z, y, nx, 0.0)
            step = 1.0
            for _ in range(10):
                now = _log_loss(ny, y_value, y0, z, y, nx, step)
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
        for c in range(used):
            U[i, first + c] = u[c]
        for c in range(used, U.shape[1] - first):
            # What no cell can see is free to be zero, and costs less there.
            if ridge[c] > 0:
                U[i, first + c] = 0
