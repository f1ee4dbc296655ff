"""What the compiled kernels mean, in plain NumPy on dense matrices.

Same names, same arguments, same results; used by the tests and by readers.
"""

import numpy as np
from scipy.special import entr, expit

from cocomplete.kernels.trees import LEAST_GAIN
from cocomplete.losses import log_loss


def _rows(start):
    """Row of every cell of a CSR pattern."""
    return np.repeat(np.arange(len(start) - 1), np.diff(start))


def _dense(start, column, values, shape):
    """Matrix with these values on the pattern and zero elsewhere."""
    out = np.zeros(shape)
    out[_rows(start), column] = values
    return out


def evaluate(
    x_start, x_column, x_value, multiplier, rho, y_start, y_column, y_value, U, V, gx, gy, hy, GU, GV
):
    """See :func:`cocomplete.kernels.factored_losses.evaluate`."""
    T = U @ V.T
    e = T[_rows(x_start), x_column] - x_value
    z = T[_rows(y_start), y_column]
    lam = multiplier if multiplier.size else np.zeros_like(e)
    gx[:] = lam + rho * e
    gy[:] = expit(z) - y_value
    hy[:] = expit(z) * expit(-z)
    if len(GU) == len(U):
        G = _dense(x_start, x_column, gx, T.shape) + _dense(y_start, y_column, gy, T.shape)
        GU[:] = G @ V
        GV[:] = G.T @ U
    cost = lam @ e + 0.5 * rho * (e @ e)
    return cost, e @ e, np.sum(log_loss(z, y_value))


def evaluate_panel(
    first, last, x_start, x_column, x_value, multiplier, rho, y_start, y_column, y_value, T, gx, gy, hy, G
):
    """See :func:`cocomplete.kernels.factored_losses.evaluate_panel`."""
    x, y = (slice(start[first], start[last]) for start in (x_start, y_start))
    xs, ys = (start[first : last + 1] - start[first] for start in (x_start, y_start))
    no_factors = np.zeros((0, 0))
    lam = multiplier[x] if multiplier.size else multiplier
    given = (xs, x_column[x], x_value[x], lam, rho, ys, y_column[y], y_value[y])
    # T Iᵀ = T.
    sums = evaluate(*given, T, np.eye(T.shape[1]), gx[x], gy[y], hy[y], no_factors, no_factors)
    if len(G) == len(T):
        G[_rows(xs), x_column[x]] = gx[x]
        G[_rows(ys), y_column[y]] = gy[y]
    return sums


def scatter(first, last, start, column, value, shift, panel):
    """See :func:`cocomplete.kernels.factored_losses.scatter`."""
    panel += _dense(start, column + shift, value, (len(start) - 1, panel.shape[1]))[first:last]


def slopes(x_start, x_column, x_value, weight, y_start, y_column, y_value, T, G):
    """See :func:`cocomplete.kernels.dense_losses.slopes`."""
    x, y = (_rows(x_start), x_column), (_rows(y_start), y_column)
    e, z = T[x] - x_value, T[y]
    G[x] = weight * e
    G[y] = expit(z) - y_value
    return e @ e, np.sum(log_loss(z, y_value))


def blend(x_start, x_column, a, b, F, G):
    """See :func:`cocomplete.kernels.dense_losses.blend`."""
    x = (_rows(x_start), x_column)
    G[x] = a * G[x] + b * F[x]


def descend(x_start, x_column, y_start, y_column, eta, G, T):
    """See :func:`cocomplete.kernels.dense_losses.descend`."""
    for cells in ((_rows(x_start), x_column), (_rows(y_start), y_column)):
        T[cells] -= eta * G[cells]


def curvature_product(x_start, x_column, gx, rho, y_start, y_column, gy, hy, U, V, dU, dV, HU, HV):
    """See :func:`cocomplete.kernels.factored_losses.curvature_product`."""
    shape = (len(U), len(V))
    G = _dense(x_start, x_column, gx, shape) + _dense(y_start, y_column, gy, shape)
    H = _dense(x_start, x_column, rho, shape) + _dense(y_start, y_column, hy, shape)
    change = H * (U @ dV.T + dU @ V.T)
    HU[:] = change @ V + G @ dV
    HV[:] = change.T @ U + G.T @ dU


def diagonal(x_start, x_column, rho, y_start, y_column, hy, U, V, HU, HV):
    """See :func:`cocomplete.kernels.factored_losses.diagonal`."""
    shape = (len(U), len(V))
    H = _dense(x_start, x_column, rho, shape) + _dense(y_start, y_column, hy, shape)
    HU[:] = H @ V**2
    HV[:] = H.T @ U**2


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
    """See :func:`cocomplete.kernels.row_newton.row_step`; solves every Newton system exactly."""
    U, V = U[:, first:], V[:, first:]
    for i in range(len(U)):
        x, y = slice(x_start[i], x_start[i + 1]), slice(y_start[i], y_start[i + 1])
        Bx, By = V[x_column[x]], V[y_column[y]]
        base_x, base_y = (column_base[column] + row_base[i] for column in (x_column[x], y_column[y]))
        lam = multiplier[x] if multiplier.size else 0.0

        def cost(u, x=x, y=y, Bx=Bx, By=By, base_x=base_x, base_y=base_y, lam=lam):
            e, z = Bx @ u + base_x - x_value[x], By @ u + base_y
            label = np.sum(log_loss(z, y_value[y]))
            return np.sum(lam * e) + 0.5 * rho * (e @ e) + label + 0.5 * ridge @ u**2

        for _ in range(newton_steps):
            u = U[i].copy()
            z = By @ u + base_y
            g = (
                ridge * u
                + Bx.T @ (lam + rho * (Bx @ u + base_x - x_value[x]))
                + By.T @ (expit(z) - y_value[y])
            )
            H = np.diag(ridge) + rho * Bx.T @ Bx + (By.T * (expit(z) * expit(-z))) @ By
            D = -np.linalg.pinv(H) @ g
            step = 1.0
            while cost(u + step * D) > cost(u) + 1e-4 * step * (g @ D) and step > 1e-4:
                step *= 0.4
            U[i] = u + step * D


def spread(first, last, x_start, x_column, gx, rho, y_start, y_column, gy, hy, change, panel):
    """See :func:`cocomplete.kernels.factored_losses.spread`."""
    m = change.shape[1]
    shape = (len(x_start) - 1, m)
    G = _dense(x_start, x_column, gx, shape) + _dense(y_start, y_column, gy, shape)
    H = _dense(x_start, x_column, rho, shape) + _dense(y_start, y_column, hy, shape)
    panel[:, :m] = H[first:last] * change
    panel[:, m:] = G[first:last]


def clear(first, last, x_start, x_column, y_start, y_column, panel):
    """See :func:`cocomplete.kernels.factored_losses.clear`."""
    panel[:] = 0


def products(start, column, U, V, out):
    """See :func:`cocomplete.kernels.factored_losses.products`."""
    out[:] = (U @ V.T)[_rows(start), column]


def weighted_sums(start, column, weight, linear, mean, second, H, g):
    """See :func:`cocomplete.kernels.averages.weighted_sums`."""
    for i in range(len(H)):
        q = slice(start[i], start[i + 1])
        H[i], g[i] = weight[q] @ second[column[q]], linear[q] @ mean[column[q]]


def gaussians(H, g, precision, fixed, log_det):
    """See :func:`cocomplete.kernels.averages.gaussians`."""
    n, k = g.shape
    triangle = np.tril_indices(k)
    free = slice(fixed, None)
    for i in range(n):
        whole = np.zeros((k, k))
        whole[triangle] = H[i]
        whole = np.tril(whole) + np.tril(whole, -1).T + np.diag(precision[i])
        cov = np.zeros((k, k))
        cov[free, free] = np.linalg.inv(whole[free, free])
        log_det[i] = np.linalg.slogdet(whole[free, free])[1]
        u = cov @ (g[i] - fixed * whole[:, 0])
        u[:fixed] = 1
        g[i], H[i] = u, (np.outer(u, u) + cov)[triangle]


def cell_moments(start, column, U, second_u, V, second_v, t, variance):
    """See :func:`cocomplete.kernels.averages.cell_moments`."""
    rows = _rows(start)
    t[:] = np.einsum("qr,qr->q", U[rows], V[column])
    variance[:] = np.maximum(np.einsum("qp,qp->q", second_u[rows], second_v[column]) - t**2, 0)


def label_integrals(mean, spread, node, share, likelihood, probability, curvature):
    """See :func:`cocomplete.kernels.averages.label_integrals`."""
    z = mean + node[:, None] * spread
    probability[:] = share @ expit(z)
    curvature[:] = share @ (expit(z) * expit(-z))
    return float((share @ np.logaddexp(0, z)).sum()) if likelihood else 0.0


def interpolate(end, first, knot, height, asked, found):
    """See :func:`cocomplete.kernels.scores.interpolate`."""
    for j, last in enumerate(end):
        cells = slice(end[j - 1] if j else 0, last)
        knots = slice(first[j], first[j + 1])
        if len(knot[knots]) > 1:
            found[cells] = np.interp(asked[cells], knot[knots], height[knots])


def boost(codes, bins, offered, row, y, binary, base, pace, ridge, questions, values):
    """See :func:`cocomplete.kernels.trees.boost`."""
    least = ridge / 4 if binary else ridge
    score = np.full(len(row), base)
    for k, columns in enumerate(offered):
        p = expit(score)
        g, h = (y - p, p * (1 - p)) if binary else (y - score, np.ones_like(y))
        leaf = np.zeros(len(row), int)
        for level in range(questions.shape[1]):
            question = _best_question(codes, bins, columns, row, leaf, g, h, least)
            questions[k, level] = question
            leaf = 2 * leaf + _answers(codes, bins, row, question)
        size = values.shape[1]
        values[k] = pace * np.bincount(leaf, g, size) / (np.bincount(leaf, h, size) + least)
        score += values[k, leaf]


def _best_question(codes, bins, columns, rows, leaf, g, h, ridge):
    def worth(groups):
        return (np.bincount(groups, g) ** 2 / (np.bincount(groups, h) + ridge)).sum()

    best, most = (-1, 0, 0), 0.0
    for j in columns:
        for cut in range(bins[j]):
            for unknown_left in (0, 1):
                gain = worth(2 * leaf + _answers(codes, bins, rows, (j, cut, unknown_left))) - worth(leaf)
                if gain > most * (1 + LEAST_GAIN) + LEAST_GAIN:
                    best, most = (j, cut, unknown_left), gain
    return best


def _answers(codes, bins, rows, question):
    """Which side each row goes to."""
    j, cut, unknown_left = question
    if j < 0:
        return np.zeros(len(rows), int)
    code = codes[j, rows]
    return np.where(code == bins[j], 1 - unknown_left, code > cut).astype(int)


def grow(codes, bins, row, base, questions, values, stops, out):
    """See :func:`cocomplete.kernels.trees.grow`."""
    total = np.full(len(row), base)
    for k, tree in enumerate(questions):
        leaf = np.zeros(len(row), int)
        for question in tree:
            leaf = 2 * leaf + _answers(codes, bins, row, question)
        total += values[k, leaf]
        out[np.asarray(stops) == k + 1] = total


def logistic_panel(T, E, start, column, value, curvature):
    """See :func:`cocomplete.kernels.panels.logistic_panel`."""
    y = _dense(start - start[0], column[start[0] : start[-1]], value[start[0] : start[-1]], T.shape)
    known = ~np.isnan(y)
    E[:] = np.where(known, expit(T) - y, 0)
    curvature += np.where(known, expit(T) * expit(-T), 0).sum(axis=0)
    return np.sum(log_loss(T[known], y[known]))


def balance_panel(E, start, column, value, up, down):
    """See :func:`cocomplete.kernels.panels.balance_panel`."""
    y = _dense(start - start[0], column[start[0] : start[-1]], value[start[0] : start[-1]], E.shape)
    E *= np.where(y == 1, down, up)


def conjugate_panel(E, theta):
    """See :func:`cocomplete.kernels.panels.conjugate_panel`."""
    p = np.clip(theta * np.abs(E), 0, 1)
    return -np.sum(entr(p) + entr(1 - p))


def listed_slopes(E, start, column, value, listed_start, listed_label, out):
    """See :func:`cocomplete.kernels.panels.listed_slopes`."""
    shape = (len(E), len(listed_start) - 1)
    x = _dense(start - start[0], column[start[0] : start[-1]], value[start[0] : start[-1]], shape)
    out += (x.T @ E)[_rows(listed_start), listed_label]


def listed_log_odds(T, start, column, value, listed_start, listed_label, weight):
    """See :func:`cocomplete.kernels.panels.listed_log_odds`."""
    shape = (len(T), len(listed_start) - 1)
    x = _dense(start - start[0], column[start[0] : start[-1]], value[start[0] : start[-1]], shape)
    coefficients = np.zeros((shape[1], T.shape[1]))
    np.add.at(coefficients, (_rows(listed_start), listed_label), weight)
    T += x @ coefficients


def row_factors(x_start, x_column, rho, y_start, y_column, hy, V, k, ridge, least, out):
    """See :func:`cocomplete.kernels.eliminated_rows.row_factors`; no pivot is near ``least``."""
    factors, lower = V[:, 1 : k + 1], np.tril_indices(k)
    for i, h in enumerate(_curvatures(x_start, x_column, rho, y_start, y_column, hy, len(V))):
        out[i] = np.linalg.cholesky(ridge * np.eye(k) + (factors.T * h) @ factors)[lower]


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
    """See :func:`cocomplete.kernels.eliminated_rows.eliminated_product`; rows are solved exactly."""
    shape = len(U), len(V)
    H = _curvatures(x_start, x_column, rho, y_start, y_column, hy, shape[1])
    G = _dense(x_start, x_column, gx, shape) + _dense(y_start, y_column, gy, shape)
    dT = U @ dV.T
    answers = np.zeros_like(U)
    own = V[:, 1 : k + 1]
    for i in range(len(U)):
        A = ridge * np.eye(k) + (own.T * H[i]) @ own
        slope = (H[i] * dT[i]) @ V + G[i] @ dV
        answers[i, 1 : k + 1] = -np.linalg.solve(A, slope[1 : k + 1])
    HV[:] = (H * (dT + answers @ V.T)).T @ U + G.T @ answers


def _curvatures(x_start, x_column, rho, y_start, y_column, hy, m):
    """Curvature of every cell, zero where nothing is observed."""
    shape = len(x_start) - 1, m
    H = _dense(x_start, x_column, np.full(x_start[-1], float(rho)), shape)
    return H + _dense(y_start, y_column, hy, shape)
