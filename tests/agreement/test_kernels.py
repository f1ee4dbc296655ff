"""Compiled kernels against their NumPy twins, on random patterns with empty rows and columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import DTypeLike

from cocomplete import kernels as compiled
from cocomplete.arrays import FloatArray
from cocomplete.kernels import reference
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers import places, row_block
from cocomplete.solvers.moments import Pattern, normal_posteriors
from cocomplete.solvers.packed import pack, unpack, weights
from cocomplete.solvers.row_block import Columns, RowBlock, Rows

pytestmark = pytest.mark.usefixtures("every_thread")


def table(
    seed: int, dtype: DTypeLike = np.float64
) -> tuple[np.random.Generator, Cells, FloatArray, FloatArray, FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (rng.integers(1, high) for high in (12, 8, 5, 6))
    X, Y = rng.normal(size=(n, d)), (rng.random((n, labels)) < 0.5).astype(float)
    X[rng.random(X.shape) < 0.5] = np.nan
    Y[rng.random(Y.shape) < 0.5] = np.nan
    cells = Cells.of(Observations(X.astype(dtype), Y.astype(dtype)))
    U, dU = rng.normal(size=(2, n, k)).astype(dtype)
    V, dV = rng.normal(size=(2, d + labels, k)).astype(dtype)
    return rng, cells, U, V, dU, dV


def pattern(cells: Cells) -> tuple[Any, ...]:
    return cells.x_start, cells.x_column, cells.y_start, cells.y_column


def both(name: str, make_outputs: Callable[[], list[FloatArray]], *arguments: Any) -> list[Any]:
    """Run a kernel and its twin on equal outputs; give both sets and both results."""
    results = []
    for module in (compiled, reference):
        outputs = make_outputs()
        results.append((getattr(module, name)(*arguments, *outputs), outputs))
    return results


def assert_same(results: list[Any], rtol: float = 1e-9) -> None:
    (one, ours), (two, theirs) = results
    if one is not None:
        np.testing.assert_allclose(one, two, rtol=rtol, atol=rtol)
    for left, right in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(left, right, rtol=rtol, atol=rtol)


@given(st.integers(0, 10_000), st.booleans())
def test_evaluate(seed: int, augmented: bool) -> None:
    rng, cells, U, V, _, _ = table(seed)
    multiplier = rng.normal(size=cells.x_value.size) if augmented else np.empty(0)
    shapes = (cells.x_value.shape, cells.y_value.shape, cells.y_value.shape, U.shape, V.shape)
    x = (cells.x_start, cells.x_column, cells.x_value, multiplier, 0.7)
    y = (cells.y_start, cells.y_column, cells.y_value)
    results = both("evaluate", lambda: [np.empty(shape) for shape in shapes], *x, *y, U, V)
    assert_same(results)
    # Without room for a gradient only the slopes are written.
    small = (*shapes[:3], (0, 0), (0, 0))
    assert_same(both("evaluate", lambda: [np.empty(shape) for shape in small], *x, *y, U, V))


@given(st.integers(0, 10_000), st.booleans())
def test_evaluate_panel(seed: int, augmented: bool) -> None:
    rng, cells, U, V, _, _ = table(seed)
    multiplier = rng.normal(size=cells.x_value.size) if augmented else np.empty(0)
    first, last = len(U) // 3, len(U)
    T = (U @ V.T)[first:last]
    x = (cells.x_start, cells.x_column, cells.x_value, multiplier, 0.7)
    y = (cells.y_start, cells.y_column, cells.y_value)
    shapes = [cells.x_value.shape, cells.y_value.shape, cells.y_value.shape, T.shape]
    for room in (shapes, [*shapes[:3], (0, T.shape[1])]):
        results = both("evaluate_panel", lambda: [np.zeros(size) for size in room], first, last, *x, *y, T)  # noqa: B023
        assert_same(results)


@given(st.integers(0, 10_000), st.sampled_from([np.float64, np.float32]))
def test_slopes_and_blend(seed: int, dtype: DTypeLike) -> None:
    rng, cells, U, V, _, _ = table(seed, dtype)
    T = U @ V.T
    x, y = (cells.x_start, cells.x_column), (cells.y_start, cells.y_column, cells.y_value)
    rtol = 1e-9 if dtype is np.float64 else 1e-4
    results = both("slopes", lambda: [np.zeros_like(T)], *x, cells.x_value, 0.7, *y, T)
    assert_same(results, rtol)
    gradient = results[0][1][0]
    assert not gradient[:, : cells.n_features][np.isnan(cells_as_table(cells))].any()
    factor = rng.normal(size=(len(U), cells.n_features)).astype(dtype)
    blended = both("blend", lambda: [gradient.copy()], *x, 0.3, 1.7, factor)
    assert_same(blended, rtol)
    pattern = (*x, *y[:2])
    assert_same(both("descend", lambda: [T.copy()], *pattern, 0.4, gradient), rtol)


def cells_as_table(cells: Cells) -> FloatArray:
    """Features with NaN where nothing was observed."""
    X = np.full((cells.shape[0], cells.n_features), np.nan)
    X[np.repeat(np.arange(len(X)), np.diff(cells.x_start)), cells.x_column] = cells.x_value
    return X


@given(st.integers(0, 10_000))
def test_curvature_product_and_diagonal(seed: int) -> None:
    rng, cells, U, V, dU, dV = table(seed)
    gx, gy = rng.normal(size=cells.x_value.size), rng.normal(size=cells.y_value.size)
    hy = rng.random(gy.size)

    def outputs() -> list[FloatArray]:
        return [np.empty(U.shape), np.empty(V.shape)]

    xs, xc, ys, yc = pattern(cells)
    assert_same(both("curvature_product", outputs, xs, xc, gx, 0.7, ys, yc, gy, hy, U, V, dU, dV))
    assert_same(both("diagonal", outputs, xs, xc, 0.7, ys, yc, hy, U, V))


@given(st.integers(0, 10_000), st.booleans(), st.integers(0, 1))
def test_row_step_reaches_the_same_minimum(seed: int, augmented: bool, first: int) -> None:
    rng, cells, U, V, _, _ = table(seed)
    U, V = (np.hstack((rng.normal(size=(len(part), first)), part)) for part in (U, V))
    multiplier = rng.normal(size=cells.x_value.size) if augmented else np.empty(0)
    base = rng.normal(size=len(V)), rng.normal(size=len(U))
    answers = []
    for module in (compiled, reference):
        mine = U.copy()
        module.row_step(
            cells.x_start,
            cells.x_column,
            cells.x_value,
            multiplier,
            0.7,
            cells.y_start,
            cells.y_column,
            cells.y_value,
            first,
            V,
            *base,
            np.full(V.shape[1] - first, 0.3),
            mine,
            60,
            60,
            1e-22,
        )
        answers.append(mine)
    np.testing.assert_allclose(answers[0], answers[1], atol=1e-6)
    np.testing.assert_array_equal(answers[0][:, :first], U[:, :first])


@given(st.integers(0, 10_000))
def test_panels_and_products(seed: int) -> None:
    rng, cells, U, V, _, _ = table(seed)
    n, m = cells.shape
    xs, xc, ys, yc = pattern(cells)
    gx, gy, hy = rng.normal(size=xc.size), rng.normal(size=yc.size), rng.random(yc.size)
    first = n // 2
    change = rng.normal(size=(n - first, m))
    panels = []
    for module in (compiled, reference):
        panel = np.zeros((n - first, 2 * m))
        module.spread(first, n, xs, xc, gx, 0.7, ys, yc, gy, hy, change, panel)
        panels.append(panel.copy())
        module.clear(first, n, xs, xc, ys, yc, panel)
        assert not panel.any()
    np.testing.assert_allclose(panels[0], panels[1])
    assert_same(both("scatter", lambda: [np.ones((n - first, m + 2))], first, n, xs, xc, gx, 2))
    assert_same(both("products", lambda: [np.empty(xc.size)], xs, xc, U, V))


def moments_of(rng: np.random.Generator, count: int, k: int) -> tuple[FloatArray, FloatArray]:
    """Means, and packed second moments that some normal distributions have."""
    mean, root = rng.normal(size=(count, k)), rng.normal(size=(count, k, k))
    return mean, pack(mean[:, :, None] * mean[:, None, :] + root @ root.transpose(0, 2, 1))


@given(st.integers(0, 10_000))
def test_weighted_sums(seed: int) -> None:
    rng, cells, U, V, _, _ = table(seed)
    whole, k = Pattern.of(cells), U.shape[1]
    mean, second = moments_of(rng, len(V), k)
    weight, linear = rng.random(whole.value.size), rng.normal(size=whole.value.size)

    def outputs() -> list[FloatArray]:
        return [np.full((len(U), second.shape[1]), np.nan), np.full(U.shape, np.nan)]

    pieces = (whole.start, whole.column, weight, linear, mean, second)
    assert_same(both("weighted_sums", outputs, *pieces), rtol=1e-8)


@given(st.integers(0, 10_000), st.integers(1, 80), st.integers(1, 6), st.sampled_from((0, 1)))
def test_gaussians(seed: int, n: int, k: int, fixed: int) -> None:
    """More rows than are worked on side by side, and fewer."""
    rng = np.random.default_rng(seed)
    k += fixed
    root, pull = rng.normal(size=(n, k, k)), rng.normal(size=(n, k))
    curvature, precision = root @ root.transpose(0, 2, 1), rng.uniform(0.2, 3, (n, k))
    curvature[0], pull[0] = 0, 0
    found = []
    for kernels in (compiled, reference):
        H, g, log_det = pack(curvature), pull.copy(), np.full(n, np.nan)
        kernels.gaussians(H, g, precision, fixed, log_det)
        found.append((g, H, log_det))
    (u, second, log_det), (twin_u, twin_second, twin_log_det) = found
    np.testing.assert_allclose(log_det, twin_log_det, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(u, twin_u, rtol=1e-8, atol=1e-12)
    np.testing.assert_allclose(second, twin_second, rtol=1e-8, atol=1e-12)
    if fixed:
        # The known coordinate is 1 and has no covariance with anything.
        np.testing.assert_array_equal(u[:, 0], 1)
        np.testing.assert_allclose(unpack(second, k)[:, 0], u)
    # A row of which nothing is known keeps its prior.
    prior = np.diag(np.append(np.ones(fixed), 1 / precision[0, fixed:]))
    np.testing.assert_allclose(u[0, fixed:], 0, atol=1e-15)
    np.testing.assert_allclose(unpack(second[0], k), prior)


@given(st.integers(0, 10_000), st.booleans())
def test_label_integrals(seed: int, likelihood: bool) -> None:
    """However far out: where one value is certain, neither slope nor loss may be lost to rounding."""
    rng = np.random.default_rng(seed)
    mean, spread = 10.0 ** rng.integers(-3, 4, size=7) * rng.normal(size=7), np.abs(rng.normal(size=7))
    quadrature = (row_block.NODES, row_block.SHARES)
    results = both(
        "label_integrals", lambda: [np.empty(7), np.empty(7)], mean, spread, *quadrature, likelihood
    )
    assert_same(results, rtol=1e-12)


@given(st.integers(0, 10_000))
def test_cell_moments(seed: int) -> None:
    rng, cells, U, V, _, _ = table(seed)
    whole, k = Pattern.of(cells), U.shape[1]
    (U, second_u), (V, second_v) = moments_of(rng, len(U), k), moments_of(rng, len(V), k)
    pieces = (whole.start, whole.column, U, second_u, V, second_v * weights(k))
    results = both("cell_moments", lambda: [np.full(whole.value.size, np.nan) for _ in range(2)], *pieces)
    assert_same(results)
    # The variance of a product of independent vectors, written out.
    (_, (_, variance)), _ = results
    row = np.repeat(np.arange(len(U)), np.diff(whole.start))
    cov_u, cov_v = (unpack(s, k) - m[:, :, None] * m[:, None, :] for m, s in ((U, second_u), (V, second_v)))
    u, v, A, B = U[row], V[whole.column], cov_u[row], cov_v[whole.column]
    expected = (
        np.einsum("qr,qrc,qc->q", u, B, u)
        + np.einsum("qr,qrc,qc->q", v, A, v)
        + np.einsum("qrc,qcr->q", A, B)
    )
    np.testing.assert_allclose(variance, expected, rtol=1e-8)


@given(st.integers(0, 10_000), st.integers(1, 6))
def test_packed_matrices_come_back_and_their_weights_make_the_inner_product(seed: int, k: int) -> None:
    A, B = np.random.default_rng(seed).normal(size=(2, 3, 4, k, k))
    A, B = A + A.swapaxes(-1, -2), B + B.swapaxes(-1, -2)
    assert pack(A).shape == (3, 4, k * (k + 1) // 2)
    np.testing.assert_array_equal(unpack(pack(A), k), A)
    np.testing.assert_array_equal(pack(unpack(pack(B), k)), pack(B))
    np.testing.assert_allclose((pack(A) * weights(k) * pack(B)).sum(-1), (A * B).sum((-1, -2)), atol=1e-9)
    assert weights(k).sum() == k * k


@given(st.integers(0, 10_000))
def test_a_pattern_holds_every_cell_once_by_rows_and_by_columns(seed: int) -> None:
    _, cells, _, _, _, _ = table(seed)
    whole, (n, m) = Pattern.of(cells), cells.shape
    by_row, by_column = np.full((2, n, m), np.nan)
    by_row[np.repeat(np.arange(n), np.diff(whole.start)), whole.column] = whole.value
    flipped = whole.flipped
    by_column[flipped.row, np.repeat(np.arange(m), np.diff(flipped.start))] = whole.value[flipped.order]
    np.testing.assert_array_equal(by_row, by_column)
    # Zeros count as much as ones: none is dropped from a sparse matrix on the way.
    assert np.isfinite(by_row).sum() == whole.value.size == cells.x_value.size + cells.y_value.size
    labels = np.isfinite(by_row[:, cells.n_features :]).sum()
    assert labels == whole.labels.sum() == cells.y_value.size


def test_gradient_and_curvature_are_derivatives_of_the_value() -> None:
    rng, cells, U, V, dU, dV = table(8)
    xs, xc, ys, yc = pattern(cells)
    rho, multiplier = 0.7, rng.normal(size=cells.x_value.size)

    def at(step: float) -> tuple[Any, ...]:
        A, B = U + step * dU, V + step * dV
        gx, gy, hy = np.empty(xc.size), np.empty(yc.size), np.empty(yc.size)
        GU, GV = np.empty(U.shape), np.empty(V.shape)
        arguments = (xs, xc, cells.x_value, multiplier, rho, ys, yc, cells.y_value, A, B)
        sums = compiled.evaluate(*arguments, gx, gy, hy, GU, GV)
        return sums[0] + sums[2], GU, GV, gx, gy, hy

    h = 1e-5
    up, here, down = at(h), at(0.0), at(-h)
    slope = np.vdot(here[1], dU) + np.vdot(here[2], dV)
    assert slope == pytest.approx((up[0] - down[0]) / (2 * h), rel=1e-6)
    HU, HV = np.empty(U.shape), np.empty(V.shape)
    compiled.curvature_product(xs, xc, here[3], rho, ys, yc, here[4], here[5], U, V, dU, dV, HU, HV)
    np.testing.assert_allclose(HU, (up[1] - down[1]) / (2 * h), atol=1e-6)
    np.testing.assert_allclose(HV, (up[2] - down[2]) / (2 * h), atol=1e-6)


def test_single_precision_comes_out_single() -> None:
    _, cells, U, V, dU, dV = table(3, np.float32)
    xs, xc, ys, yc = pattern(cells)
    gx, gy, hy = (np.ones(size, np.float32) for size in (xc.size, yc.size, yc.size))
    ours = [np.empty(U.shape, np.float32), np.empty(V.shape, np.float32)]
    theirs = [part.copy() for part in ours]
    compiled.curvature_product(xs, xc, gx, np.float32(0.7), ys, yc, gy, hy, U, V, dU, dV, *ours)
    reference.curvature_product(xs, xc, gx, 0.7, ys, yc, gy, hy, U, V, dU, dV, *theirs)
    for left, right in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(left, right, rtol=1e-4, atol=1e-4)


@given(st.integers(0, 10_000))
def test_whole_matrices_and_loops_over_cells_give_the_same(seed: int) -> None:
    rng, cells, U, V, _, _ = table(seed)
    k = U.shape[1]
    (U, second_u), (V, second_v) = moments_of(rng, len(U), k), moments_of(rng, len(V), k)
    rows, columns = Rows(U, second_u), Columns(V, second_v, np.ones(cells.n_features))
    found = []
    for share in (0.0, 2.0):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(places, "DENSE", share)
            whole, block = Pattern.of(cells), RowBlock(cells, np.zeros(len(V)))
            count = whole.value.size
            given_cells = np.linspace(0.1, 1, count), np.linspace(-1, 1, count)
            posteriors = whole.row_posteriors(
                *given_cells, V, second_v, np.ones(U.shape), offsets=bool(seed % 2)
            )
            sums = whole.row_sums(*given_cells, V, second_v), whole.column_sums(*given_cells, U, second_u)
            found.append((*posteriors, *sums[0], *sums[1], *block.label_moments(rows, columns)))
            assert whole._places.dense == (share < 1)
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-7, atol=1e-9)


@given(st.integers(0, 10_000))
def test_sums_and_posteriors_are_those_of_loops_over_cells(seed: int) -> None:
    rng, cells, U, V, _, _ = table(seed)
    k, whole, (n, m) = U.shape[1], Pattern.of(cells), cells.shape
    (U, second_u), (V, second_v) = moments_of(rng, n, k), moments_of(rng, m, k)
    weight, linear = rng.random(whole.value.size), rng.normal(size=whole.value.size)
    row = np.repeat(np.arange(n), np.diff(whole.start))
    of_rows, of_columns = np.zeros((n, k, k)), np.zeros((m, k, k))
    pulls = np.zeros((n, k)), np.zeros((m, k))
    E, F = unpack(second_v, k), unpack(second_u, k)
    for cell, (i, j) in enumerate(zip(row, whole.column, strict=True)):
        of_rows[i] += weight[cell] * E[j]
        of_columns[j] += weight[cell] * F[i]
        pulls[0][i] += linear[cell] * V[j]
        pulls[1][j] += linear[cell] * U[i]
    H, g = whole.row_sums(weight, linear, V, second_v)
    np.testing.assert_allclose(unpack(H, k), of_rows, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(g, pulls[0], rtol=1e-9, atol=1e-9)
    H, g = whole.column_sums(weight, linear, U, second_u)
    np.testing.assert_allclose(unpack(H, k), of_columns, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(g, pulls[1], rtol=1e-9, atol=1e-9)
    # In place, sums become the moments of the normal posterior that they and a prior make.
    prior = rng.uniform(0.2, 3, (m, k))
    log_det = normal_posteriors(H, g, prior, fixed=0)
    precision = of_columns + np.einsum("jr,rc->jrc", prior, np.eye(k))
    cov = np.linalg.inv(precision)
    mean = np.einsum("jrc,jc->jr", cov, pulls[1])
    np.testing.assert_allclose(g, mean, rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(unpack(H, k), cov + mean[:, :, None] * mean[:, None, :], rtol=1e-7, atol=1e-9)
    np.testing.assert_allclose(log_det, np.linalg.slogdet(precision)[1], rtol=1e-8, atol=1e-9)


@given(st.integers(0, 10_000))
def test_cells_of_any_rows_are_those_of_the_table(seed: int) -> None:
    rng, cells, _, _, _, _ = table(seed)
    some = rng.integers(cells.shape[0], size=rng.integers(0, 9))
    taken = cells.take(some)
    assert taken.shape == (some.size, cells.shape[1])
    for name in ("x", "y"):
        start, column, value = (getattr(cells, f"{name}_{part}") for part in ("start", "column", "value"))
        new = getattr(taken, f"{name}_start")
        assert new[0] == 0
        assert new[-1] == getattr(taken, f"{name}_value").size
        for k, i in enumerate(some):
            here, there = slice(start[i], start[i + 1]), slice(new[k], new[k + 1])
            np.testing.assert_array_equal(getattr(taken, f"{name}_column")[there], column[here])
            np.testing.assert_array_equal(getattr(taken, f"{name}_value")[there], value[here])
