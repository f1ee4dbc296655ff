"""Sparse tables' losses beside the dense table's: values, gradients, scales, spectra and bounds."""

from typing import Any

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.kernels import panels, reference
from cocomplete.losses import log_loss
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.problem.sparse_encoding import SparseEncoding, standardization
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.problem.standardize import Standardization
from cocomplete.solvers.sparse_dual import SlopeOperator
from cocomplete.solvers.sparse_losses import SparseLosses
from cocomplete.table.sparse_matrix import SparseMatrix
from tests.sparse_tables import encoded, sparse_pair, stored_table, with_nan

RHO = 0.6


def factors(losses: SparseLosses, seed: int = 0) -> FloatArray:
    W = 0.5 * np.random.default_rng(seed).standard_normal((losses.n + losses.m, 8))
    W[: losses.n, 0] = 1
    return W


def tables(rule: str) -> tuple[SparseTable, Observations]:
    """A sparse table, "mixed" with dense features, and the dense one that it stands for."""
    X, Y = sparse_pair()
    if rule == "zero":
        return stored_table(X, Y, rule), Observations(X.toarray(), Y.toarray())
    if rule == "unknown":
        return stored_table(X, Y, rule), Observations(with_nan(X), with_nan(Y))
    dense = with_nan(X)
    mixed = SparseTable.checked(SparseMatrix.dense(dense), SparseMatrix.read(Y, "y", "zero"))
    return mixed, Observations(dense, Y.toarray())


@pytest.mark.parametrize("rule", ["zero", "unknown", "mixed"])
def test_losses_are_those_of_the_dense_table(rule: str) -> None:
    table, dense = tables(rule)
    encoding, cells = encoded(table)
    losses = SparseLosses(cells)
    W = factors(losses)
    found = losses.evaluate(W, np.empty(0), RHO, gradient=False)
    T, d = W[: losses.n] @ W[losses.n :].T, table.n_features
    whole = Encoding.of(dense, np.zeros(d, bool), center=True, scale=True).apply(dense)
    e = (T[:, :d] - whole.X)[whole.X_known]
    y = whole.Y[:, encoding.varied]
    known = ~np.isnan(y)
    assert found.squares == pytest.approx(float(e @ e), rel=1e-10)
    assert found.feature_cost == pytest.approx(0.5 * RHO * float(e @ e), rel=1e-10)
    assert found.label_cost == pytest.approx(float(log_loss(T[:, d:][known], y[known]).sum()), rel=1e-10)


@pytest.mark.parametrize("rule", ["zero", "unknown", "mixed"])
def test_gradients_are_those_of_finite_differences(rule: str) -> None:
    losses = SparseLosses(encoded(tables(rule)[0])[1])
    W = factors(losses)
    gradient = losses.evaluate(W, np.empty(0), RHO, gradient=True).gradient

    def value(W: FloatArray) -> float:
        found = losses.evaluate(W, np.empty(0), RHO, gradient=False)
        return found.feature_cost + found.label_cost

    for seed in range(3):
        step = 1e-6 * np.random.default_rng(seed).standard_normal(W.shape)
        slope = (value(W + step) - value(W - step)) / 2
        assert slope == pytest.approx(float(np.vdot(gradient, step)), rel=1e-6)


@pytest.mark.parametrize("zeros", [True, False])
def test_scales_are_those_of_the_dense_table(zeros: bool) -> None:
    rng = np.random.default_rng(1)
    X = sparse.random_array((60, 12), density=0.2, random_state=rng, format="csr")
    X = sparse.csr_array(sparse.hstack((X, sparse.csr_array(rng.standard_normal((60, 3))))))
    X.data[:4] = np.nan
    X.data[-1] = 1e6
    stored = SparseMatrix.read(X, "X", "zero" if zeros else "unknown")
    found = standardization(stored, center=True, scale=True)
    dense = X.toarray() if zeros else with_nan(stored.matrix)
    wanted = Standardization.of(dense, center=True, scale=True)
    for name in ("center", "scale", "low", "high"):
        np.testing.assert_allclose(getattr(found, name), getattr(wanted, name), rtol=1e-9)


@pytest.mark.parametrize("rule", ["zero", "unknown", "mixed"])
@pytest.mark.parametrize("free", [True, False])
def test_slopes_as_an_operator_multiply_like_the_dense_matrix(rule: str, free: bool) -> None:
    table, _ = tables(rule)
    encoding, cells = encoded(table, center=free)
    losses = SparseLosses(cells)
    W = factors(losses)
    operator = SlopeOperator(losses, W, RHO, free_offsets=free)
    G = operator.images(np.eye(losses.m))
    B = np.random.default_rng(0).standard_normal((losses.m, 4))
    np.testing.assert_allclose(operator.images(B), G @ B, atol=1e-9)
    np.testing.assert_allclose(operator.gram_times(B), G.T @ (G @ B), atol=1e-8)
    assert operator.norm() == pytest.approx(np.linalg.norm(G, 2), rel=1e-9)
    if free:
        np.testing.assert_allclose(G.sum(axis=0), 0, atol=1e-8)
    elif rule == "zero":
        T, d = W[: losses.n] @ W[losses.n :].T, table.n_features
        y = table.Y.matrix.toarray()[:, encoding.varied]
        np.testing.assert_allclose(G[:, d:], np.where(np.isnan(y), 0, expit(T[:, d:]) - y), atol=1e-12)


def test_a_krylov_norm_is_next_to_the_true_one_and_not_below(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cocomplete.solvers.sparse_dual.FEW_COLUMNS", 0)
    X, Y = sparse_pair(300, 90, 60)
    _, cells = encoded(stored_table(X, Y, "zero"))
    losses = SparseLosses(cells)
    operator = SlopeOperator(losses, factors(losses), RHO, free_offsets=True)
    G = operator.images(np.eye(losses.m))
    true = np.linalg.norm(G, 2)
    assert true * (1 - 1e-9) <= operator.norm() <= 1.01 * true


def stored_panel(seed: int = 0) -> tuple[FloatArray, sparse.csr_array, sparse.csr_array]:
    rng = np.random.default_rng(seed)
    T = 4 * rng.standard_normal((7, 11))
    Y = sparse.random_array((9, 11), density=0.4, random_state=rng, format="csr")
    Y.data[:] = rng.choice([0.0, 1.0, np.nan], Y.nnz)
    return T, Y, sparse.random_array((9, 5), density=0.5, random_state=rng, format="csr")


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_slopes_are_right_to_the_last_bits(dtype: Any) -> None:
    """The exponential of single precision is the kernel's own, at both ends too."""
    t = np.concatenate((np.linspace(-110, 110, 3001), np.geomspace(1e-9, 1, 999), [-np.inf, np.inf])).astype(
        dtype
    )
    T, nothing = t[None], (np.zeros(2, np.int32), np.empty(0, np.int32), np.empty(0, dtype))
    E, curvature = np.empty_like(T), np.zeros(t.size, dtype)
    panels.logistic_panel(T, E, *nothing, curvature)
    exact = t.astype(np.float64)
    eps = np.finfo(dtype).eps
    # Beyond e^−87 single precision has next to nothing.
    np.testing.assert_allclose(E[0], expit(exact), rtol=4 * eps, atol=2e-38)
    np.testing.assert_allclose(curvature, expit(exact) * expit(-exact), rtol=6 * eps, atol=2e-38)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_panels_mean_what_their_twins_say(dtype: Any) -> None:
    T, Y, X = stored_panel()
    some, found = slice(2, 10), []
    for module in (panels, reference):
        t = T.astype(dtype)
        E, curvature = np.empty_like(t), np.ones(11, dtype)
        y = (Y.indptr[some], Y.indices, Y.data.astype(dtype))
        loss = module.logistic_panel(t, E, *y, curvature)
        parts = [loss, E.copy(), curvature]
        up, down = np.linspace(0.5, 1, 11).astype(dtype), np.linspace(1, 0.7, 11).astype(dtype)
        module.balance_panel(E, *y, up, down)
        parts += [E.copy(), module.conjugate_panel(E, 0.8)]
        slopes, x = np.zeros(4, dtype), (X.indptr[some], X.indices, X.data.astype(dtype))
        module.listed_slopes(E, *x, np.array([0, 2, 2, 3, 4, 4]), np.array([1, 8, 0, 10]), slopes)
        log_odds = t.copy()
        module.listed_log_odds(log_odds, *x, np.array([0, 2, 2, 3, 4, 4]), np.array([1, 8, 0, 10]), slopes)
        found.append([*parts, slopes, log_odds])
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-10 if dtype is np.float64 else 1e-4, atol=1e-6)


def test_labels_that_never_vary_have_an_offset_and_no_more() -> None:
    X, Y = sparse_pair(unknown=False)
    Y = Y.tolil()
    Y[:, [2]] = 0
    Y[:, [4]] = 1
    encoding = SparseEncoding.of(stored_table(X, Y.tocsr(), "zero"), center=True, scale=True)
    assert np.flatnonzero(~encoding.varied).tolist() == [2, 4]
    assert expit(encoding.log_odds[2]) == pytest.approx(0.5 / 121)
    assert expit(encoding.log_odds[4]) == pytest.approx(120.5 / 121)
