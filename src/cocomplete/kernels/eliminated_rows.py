"""The Hessian with respect to the columns' factors alone, where every row is at its minimum given these.

Conventions as in :mod:`cocomplete.kernels`: the first column of U are ones, that of V offsets, which no
row moves. A row's own k × k matrix A_i = λ1 I + Σ_j h_ij v_j v_jᵀ is kept as its Cholesky factor, its lower
triangle row after row.
"""

import math

from numba import njit

from cocomplete.kernels.arithmetic import FAST


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def row_factors(x_start, x_column, rho, y_start, y_column, hy, V, k, ridge, least, out):
    """Cholesky factors of every row's curvature.

    Parameters
    ----------
    hy : curvature of every label cell
    k : number of factors, beside the offsets in V's first column
    ridge : λ1
    least : what a pivot is at least, as a share of the row's largest: of single precision rounding leaves
        less where cells outweigh λ1 by far
    out : (n, k (k + 1) / 2), written
    """
    for i in range(out.shape[0]):
        for p in range(out.shape[1]):
            out[i, p] = 0
        for part in range(2):
            start = x_start if part == 0 else y_start
            column = x_column if part == 0 else y_column
            for q in range(start[i], start[i + 1]):
                j = column[q]
                h = rho if part == 0 else hy[q]
                p = 0
                for a in range(k):
                    weight = h * V[j, 1 + a]
                    for b in range(a + 1):
                        out[i, p + b] += weight * V[j, 1 + b]
                    p += a + 1
        largest = ridge
        p = 0
        for a in range(k):
            out[i, p + a] += ridge
            largest = max(largest, out[i, p + a])
            p += a + 1
        floor = least * largest
        pa = 0
        for a in range(k):
            pb = 0
            for b in range(a + 1):
                t = out[i, pa + b]
                for c in range(b):
                    t -= out[i, pa + c] * out[i, pb + c]
                if b == a:
                    out[i, pa + a] = math.sqrt(max(t, floor))
                else:
                    out[i, pa + b] = t / out[i, pb + b]
                pb += b + 1
            pa += a + 1


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _substitute(factors, i, k, dU):
    """Minus the inverse of row i's curvature times dU, in place, by its Cholesky factor."""
    p = 0
    for a in range(k):
        t = -dU[1 + a]
        for b in range(a):
            t -= factors[i, p + b] * dU[1 + b]
        dU[1 + a] = t / factors[i, p + a]
        p += a + 1
    for a in range(k - 1, -1, -1):
        p -= a + 1
        t = dU[1 + a] / factors[i, p + a]
        dU[1 + a] = t
        for b in range(a):
            dU[1 + b] -= factors[i, p + b] * t


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def _solve(x_start, x_column, rho, y_start, y_column, hy, V, i, ridge, forcing, room):
    """Do the same by conjugate gradients, preconditioned by the diagonal."""
    width = V.shape[1]
    dU, r, p, Ap, inverse = room[0], room[1], room[2], room[3], room[4]
    for c in range(width):
        inverse[c] = ridge
    for part in range(2):
        start = x_start if part == 0 else y_start
        column = x_column if part == 0 else y_column
        for q in range(start[i], start[i + 1]):
            j = column[q]
            h = rho if part == 0 else hy[q]
            for c in range(width):
                inverse[c] += h * V[j, c] * V[j, c]
    rz = rho * 0
    for c in range(width):
        inverse[c] = 1 / inverse[c]
        r[c] = -dU[c]
        dU[c] = 0
        p[c] = r[c] * inverse[c]
        rz += r[c] * p[c]
    # The first coordinate is that of the ones, which no row moves; r is zero there, and stays so.
    first = rz
    for _ in range(width):
        if rz <= forcing * first:
            break
        for c in range(width):
            Ap[c] = ridge * p[c]
        for part in range(2):
            start = x_start if part == 0 else y_start
            column = x_column if part == 0 else y_column
            for q in range(start[i], start[i + 1]):
                j = column[q]
                t = rho * 0
                for c in range(width):
                    t += p[c] * V[j, c]
                t *= rho if part == 0 else hy[q]
                for c in range(width):
                    Ap[c] += t * V[j, c]
        Ap[0] = 0
        bend = rho * 0
        for c in range(width):
            bend += p[c] * Ap[c]
        if bend <= 0:
            break
        a = rz / bend
        fresh = rho * 0
        for c in range(width):
            dU[c] += a * p[c]
            r[c] -= a * Ap[c]
            fresh += r[c] * r[c] * inverse[c]
        beta = fresh / rz
        rz = fresh
        for c in range(width):
            p[c] = r[c] * inverse[c] + beta * p[c]


@njit(cache=True, nogil=True, error_model="numpy", fastmath=FAST)
def eliminated_product(
    x_start,
    x_column,
    gx,
    rho,
    y_start,
    y_column,
    gy,
    hy,
    U,
    V,
    factors,
    k,
    ridge,
    forcing,
    dV,
    change,
    room,
    HV,
):
    """Hessian of the losses, rows following the columns, times a direction of the columns.

    Parameters
    ----------
    gx, gy, hy : slopes and label curvatures
    factors : (n, k (k + 1) / 2), from :func:`row_factors`; with none, rows are solved by conjugate gradients
    k : number of factors
    ridge : λ1
    forcing : conjugate gradients stop when the squared residual has fallen to this share
    dV : (m × width) direction, its first column that of the offsets
    change : room for one number per cell of the fullest row
    room : (5 × width) room for vectors as long as a row of U
    HV : (m × width), written: summed over these rows
    """
    width = U.shape[1]
    dU = room[0]
    kept = factors.shape[0] == U.shape[0]
    for j in range(HV.shape[0]):
        for c in range(width):
            HV[j, c] = 0
    for i in range(U.shape[0]):
        for c in range(width):
            dU[c] = 0
        place = 0
        for part in range(2):
            start = x_start if part == 0 else y_start
            column = x_column if part == 0 else y_column
            for q in range(start[i], start[i + 1]):
                j = column[q]
                g = gx[q] if part == 0 else gy[q]
                h = rho if part == 0 else hy[q]
                t = rho * 0
                for c in range(width):
                    t += U[i, c] * dV[j, c]
                change[place] = t
                place += 1
                t *= h
                for c in range(width):
                    dU[c] += t * V[j, c] + g * dV[j, c]
        dU[0] = 0
        # How the row answers: −A⁻¹ times the change of its slope.
        if kept:
            _substitute(factors, i, k, dU)
        else:
            _solve(x_start, x_column, rho, y_start, y_column, hy, V, i, ridge, forcing, room)
        place = 0
        for part in range(2):
            start = x_start if part == 0 else y_start
            column = x_column if part == 0 else y_column
            for q in range(start[i], start[i + 1]):
                j = column[q]
                g = gx[q] if part == 0 else gy[q]
                h = rho if part == 0 else hy[q]
                t = change[place]
                place += 1
                for c in range(width):
                    t += dU[c] * V[j, c]
                t *= h
                for c in range(width):
                    HV[j, c] += t * U[i, c] + g * dU[c]
