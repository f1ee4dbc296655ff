import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocomplete.arrays import FloatArray
from cocomplete.spectral import LowRank, polar, shrink, spectral_norm, trace_norm
from tests.strategies import matrices


def plain_shrink(A: FloatArray, threshold: float) -> FloatArray:
    U, s, Vt = np.linalg.svd(A, full_matrices=False)
    return (U * np.maximum(s - threshold, 0)) @ Vt


@given(matrices(), st.floats(1e-6, 30))
def test_shrink_is_the_plain_svd_formula(A: FloatArray, threshold: float) -> None:
    np.testing.assert_allclose(shrink(A, threshold).dense(), plain_shrink(A, threshold), atol=1e-8)
    factors = shrink(A, threshold).low_rank()
    np.testing.assert_allclose(factors.dense(), plain_shrink(A, threshold), atol=1e-8)
    assert shrink(A, threshold).trace_norm == pytest.approx(factors.trace_norm)


@given(matrices(), matrices(), st.floats(1e-3, 5))
def test_shrink_is_non_expansive(A: FloatArray, B: FloatArray, threshold: float) -> None:
    rows, columns = min(A.shape[0], B.shape[0]), min(A.shape[1], B.shape[1])
    A, B = A[:rows, :columns], B[:rows, :columns]
    moved = np.linalg.norm(shrink(A, threshold).dense() - shrink(B, threshold).dense())
    assert moved <= np.linalg.norm(A - B) + 1e-8


@pytest.mark.parametrize("shape", [(40, 12), (12, 40), (20, 20)])
def test_shrink_factors_are_orthonormal_and_sorted(shape: tuple[int, int]) -> None:
    A = np.random.default_rng(0).normal(size=shape)
    M = shrink(A, 2.0).low_rank()
    np.testing.assert_allclose(M.U.T @ M.U, np.eye(M.rank), atol=1e-12)
    np.testing.assert_allclose(M.Vt @ M.Vt.T, np.eye(M.rank), atol=1e-12)
    assert np.all(np.diff(M.s) <= 0)
    assert np.all(M.s > 0)
    assert M.shape == shape


def test_shrink_with_a_tiny_threshold_falls_back_to_a_true_svd() -> None:
    rng = np.random.default_rng(0)
    U, _ = np.linalg.qr(rng.normal(size=(30, 6)))
    V, _ = np.linalg.qr(rng.normal(size=(10, 6)))
    s = np.array([1e6, 1e3, 1.0, 1e-2, 1e-4, 1e-6])
    M = shrink((U * s) @ V.T, 1e-5).low_rank()
    np.testing.assert_allclose(M.s, s[:5] - 1e-5, rtol=1e-4)


@given(matrices(), st.floats(1e-6, 30))
def test_shrink_in_single_precision_errs_by_rounding_alone(A: FloatArray, threshold: float) -> None:
    A = A.astype(np.float32)
    done = shrink(A, threshold)
    rounding = 1e-5 * max(float(np.linalg.norm(A)), 1e-3)
    for dense in (done.dense(), done.low_rank().dense()):
        assert dense.dtype == np.float32
        np.testing.assert_allclose(dense, plain_shrink(A.astype(np.float64), threshold), atol=rounding)


def test_shrink_in_single_precision_keeps_small_singular_values() -> None:
    rng = np.random.default_rng(0)
    U, _ = np.linalg.qr(rng.normal(size=(300, 6)))
    V, _ = np.linalg.qr(rng.normal(size=(100, 6)))
    s = np.array([1e3, 1e2, 10.0, 1.0, 0.3, 0.1])
    M = shrink(((U * s) @ V.T).astype(np.float32), 0.05).low_rank()
    # A Gram matrix in single precision would know nothing below sqrt(1e-7) of the largest.
    np.testing.assert_allclose(M.s, s - 0.05, atol=1e-3)


@given(matrices())
def test_polar_is_a_subgradient_of_the_trace_norm(A: FloatArray) -> None:
    factor, norm = polar(A)
    assert norm == pytest.approx(np.linalg.svd(A, compute_uv=False).sum(), abs=1e-7, rel=1e-7)
    assert np.vdot(factor, A) == pytest.approx(norm, abs=1e-6, rel=1e-6)
    assert np.linalg.norm(factor, 2) <= 1 + 1e-6


def test_polar_of_a_rank_deficient_matrix_leaves_the_null_space_alone() -> None:
    rng = np.random.default_rng(1)
    A = rng.normal(size=(9, 2)) @ rng.normal(size=(2, 6))
    factor, _ = polar(A)
    np.testing.assert_allclose(np.linalg.svd(factor, compute_uv=False), [1, 1, 0, 0, 0, 0], atol=1e-9)


@given(matrices())
def test_norms(A: FloatArray) -> None:
    top = np.linalg.norm(A, 2)
    # Through the Gram matrix half of the digits remain for a matrix near zero.
    assert spectral_norm(A) == pytest.approx(top, rel=1e-9, abs=1e-9)
    assert trace_norm(A) == pytest.approx(np.linalg.norm(A, "nuc"), abs=1e-9)


def test_empty_matrices() -> None:
    empty = np.empty((4, 0))
    assert spectral_norm(empty) == 0
    assert shrink(empty, 1.0).rank == 0
    assert trace_norm(empty) == 0
    assert polar(empty)[1] == 0
    assert shrink(np.zeros((4, 3)), 1.0).rank == 0
    zero = LowRank.zero((4, 3), np.dtype(np.float32))
    assert zero.dense().shape == (4, 3)
    assert zero.dense().dtype == np.float32
    assert zero.trace_norm == 0


def test_a_threshold_beyond_the_float_type_leaves_nothing() -> None:
    A = np.random.default_rng(0).normal(size=(5, 3)).astype(np.float32)
    with np.errstate(all="raise"):
        shrunken = shrink(A, 1e200)
        np.testing.assert_array_equal(shrunken.dense(), np.zeros_like(A))
    assert (shrunken.rank, shrunken.trace_norm) == (0, 0.0)
