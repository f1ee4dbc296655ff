"""Factors: their basis, how many are found, left out and added, and fits that go on from others."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import sparse
from scipy.special import expit

from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers.basis import NOISE_EDGE, START_LENGTH, most_factors, residual_factors, whitening
from cocomplete.solvers.factor_state import START_PRECISION
from cocomplete.solvers.packed import pack, unpack
from cocomplete.solvers.variational import (
    BOUND_TOL,
    WARM_UP,
    _Ascent,
)
from tests.laws.variational_dense import (
    Dense,
    Recording,
    cell_moments,
    dense_rows,
    dense_sites,
    factor_divergence,
    in_basis,
    random_state,
)
from tests.laws.variational_tables import (
    covariances,
    fitted,
    modelled_table,
    pure_noise,
    random_posterior,
    random_rows,
    tables,
)


@given(st.integers(0, 10_000))
def test_a_change_of_basis_leaves_every_cell_s_mean_and_variance_alone(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (9, 6, 4, 4))
    ascent = _Ascent(Cells.of(random_rows(rng, n, d, labels)), np.zeros(d + labels))
    dense, state, sums = random_state(rng, ascent, k)
    B = np.eye(k + 1)
    B[1:] = rng.normal(size=(k, k + 1)) + 2 * np.eye(k + 1)[1:]
    turned, there = ascent._stretched(state, B), ascent._spread(state, sums).stretched(B, n - d - labels)
    # Rows are what they have to be for their sums to be those of the state.
    rows = in_basis(dense, B)
    np.testing.assert_allclose(rows.U[:, 0], 1)
    spread = (rows.U_cov + rows.U[:, :, None] * rows.U[:, None, :]).sum(axis=0)
    np.testing.assert_allclose(there.rows, spread, rtol=1e-6, atol=1e-6)
    for group, own in zip(ascent.groups, there.columns, strict=True):
        expected = unpack(turned.second[group].sum(axis=0), k + 1)
        np.testing.assert_allclose(own, expected, rtol=1e-6, atol=1e-6)
    other = Dense(rows.U, rows.U_cov, turned.V, covariances(turned.V, turned.second))
    for one, two in zip(cell_moments(dense), cell_moments(other), strict=True):
        np.testing.assert_allclose(two, one, rtol=1e-6, atol=1e-6)
    # Entropies change with the volume.
    log_det = -np.linalg.slogdet(rows.U_cov[:, 1:, 1:])[1].sum()
    assert turned.log_det == pytest.approx(-np.linalg.slogdet(other.V_cov)[1].sum(), abs=1e-5)
    assert there.log_det == pytest.approx(log_det + turned.log_det, abs=1e-5)
    for name in ("noise", "precision"):
        np.testing.assert_array_equal(getattr(turned, name), getattr(state, name))


@given(st.integers(0, 10_000))
def test_whitened_rows_have_mean_zero_and_unit_second_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, k = (int(rng.integers(1, high)) for high in (6, 4))
    ascent = _Ascent(Cells.of(random_rows(rng, 9, d, 2)), np.zeros(d + 2))
    _, state, sums = random_state(rng, ascent, k)
    white = whitening(unpack(sums.second_u, k + 1) / 9)
    there = ascent._spread(state, sums).stretched(white, 9 - d - 2)
    np.testing.assert_allclose(there.rows / 9, np.eye(k + 1), atol=1e-7)
    np.testing.assert_allclose(whitening(np.eye(k + 1)), np.eye(k + 1), atol=1e-12)


@given(st.integers(0, 10_000))
def test_a_better_basis_has_no_lower_bound_than_the_old_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    d, labels, k = (int(rng.integers(1, high)) for high in (6, 4, 4))
    ascent = Recording(Cells.of(random_rows(rng, 9, d, labels)), np.zeros(d + labels))
    _, state, sums = random_state(rng, ascent, k)
    spread = ascent._spread(state, sums)
    plain = state._replace(precision=ascent._learnt(spread))
    better = ascent._in_better_basis(state, sums)
    there = spread.stretched(ascent.basis(better), 9 - d - labels)
    highest = ascent._divergence(better.precision, there)
    assert highest <= factor_divergence(ascent, plain, sums) <= factor_divergence(ascent, state, sums)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("shape", [(12, 4), (16, 0), (0, 16)])
def test_two_factors_are_found_where_there_are_two(seed: int, shape: tuple[int, int]) -> None:
    d, labels = shape
    # A label is less informative than a number.
    n, share = (400, 0.8) if d == 0 else (150, 0.5)
    observed, _, _ = modelled_table(seed, n=n, d=d, labels=labels, share=share)
    assert fitted(observed).rank == 2


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("shape", [(100, 10, 0), (100, 0, 10), (100, 10, 5)])
def test_in_pure_noise_next_to_nothing_is_found(seed: int, shape: tuple[int, int, int]) -> None:
    observed = pure_noise(seed, *shape)
    posterior = fitted(observed)
    assert posterior.rank <= 2
    predicted = posterior.predict(Cells.of(observed))
    # What is left hardly moves a cell from its offset, against a variance of 1.
    assert (predicted.mean - posterior.base - posterior.V[:, 0]).var() < 0.1


def test_a_factor_is_left_out_without_touching_the_others() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    dense, state, _ = random_state(rng, ascent, 3)
    left = state.without(np.array([2]))
    np.testing.assert_array_equal(left.V, dense.V[:, [0, 1, 3]])
    np.testing.assert_allclose(
        covariances(left.V, left.second), dense.V_cov[:, [0, 1, 3]][:, :, [0, 1, 3]], atol=1e-9
    )
    np.testing.assert_array_equal(left.precision, state.precision[:, [0, 2]])


def test_a_factor_is_supported_if_one_group_of_columns_supports_it() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    _, state, _ = random_state(rng, ascent, 4)
    V, cov = np.zeros((7, 5)), np.tile(np.eye(5), (7, 1, 1))
    V[:4, 1], V[4:, 2], V[:, 3] = 1, 1, 0.4
    state = state._replace(V=V, second=pack(cov + V[:, :, None] * V[:, None, :]))
    # Half of the second moments in one group; a seventh in both; nothing.
    np.testing.assert_array_equal(state.unsupported(ascent.groups), [3, 4])


def test_added_factors_leave_the_others_moments_alone() -> None:
    rng = np.random.default_rng(0)
    ascent = _Ascent(Cells.of(random_rows(rng, 9, 4, 3)), np.zeros(7))
    dense, state, _ = random_state(rng, ascent, 2)
    born = rng.normal(size=(7, 3))
    grown = state.with_factors(born)
    np.testing.assert_array_equal(grown.V, np.hstack((dense.V, born)))
    second = unpack(grown.second, 6)
    np.testing.assert_array_equal(second[:, :3, :3], unpack(state.second, 3))
    # Their loadings are known: no variance, and no covariance with anything.
    np.testing.assert_allclose(covariances(grown.V, grown.second)[:, 3:], 0, atol=1e-12)
    np.testing.assert_array_equal(grown.precision[:, :2], state.precision)
    np.testing.assert_array_equal(grown.precision[:, 2:], np.repeat(np.array(START_PRECISION)[:, None], 3, 1))
    np.testing.assert_array_equal(grown.noise, state.noise)
    np.testing.assert_array_equal(grown.without(np.array([3, 4, 5])).second, state.second)


@pytest.mark.parametrize("growth", [1, 3])
def test_factors_are_added_along_what_others_leave_unexplained(growth: int) -> None:
    rng = np.random.default_rng(1)
    posterior, observed = random_posterior(rng, 6, 4, 2), random_rows(rng, 20, 6, 4)
    cells = Cells.of(observed)
    ascent = _Ascent(cells, posterior.base, posterior, growth)
    state = ascent._continued(posterior, 0)
    np.testing.assert_array_equal(ascent.next.V[:, :3], posterior.V)
    born = ascent.next.V[:, 3:]
    assert born.shape == (10, growth)
    # Of the rows given these columns and the sites that labels begin with.
    U, _ = dense_rows(state, *dense_sites(ascent, observed))
    T = U @ posterior.V.T + posterior.base
    left = np.nan_to_num(np.hstack((observed.X - T[:, :6], 4 * (observed.Y - expit(T[:, 6:])))))
    _, s, vectors = np.linalg.svd(left)
    share = (cells.x_value.size + cells.y_value.size) / left.size
    loadings = START_LENGTH * vectors[:growth].T * s[:growth] / (share * np.sqrt(20))
    # The sign of a factor means nothing.
    np.testing.assert_allclose(born @ born.T, loadings @ loadings.T, atol=1e-6)


@pytest.mark.parametrize("spare", [0, 2])
def test_a_fit_begins_with_factors_that_stand_out_of_noise(spare: int) -> None:
    rng = np.random.default_rng(0)
    T = rng.normal(size=(300, 3)) @ rng.normal(size=(3, 40)) + rng.normal(size=(300, 40))
    seen, nothing = rng.random(T.shape) < 0.5, sparse.csr_array((300, 0))
    for table, clear in ((T, 3), (rng.normal(size=T.shape), 0)):
        X = sparse.csr_array(table * seen)
        s = np.linalg.svd(X.toarray(), compute_uv=False)
        edge = np.linalg.norm(X.toarray()) * (300**-0.5 + 40**-0.5)
        # Noise alone comes to the edge, and hardly over it.
        assert (s > 1.05 * edge).sum() == clear
        count = int((s > NOISE_EDGE * edge).sum())
        assert residual_factors([(X, nothing)], 20, spare=spare).shape == (40, count + spare)
        assert residual_factors([(X, nothing)], 20).shape == (40, 20)
        assert residual_factors([(X, nothing)], 2, spare=2).shape == (40, 2)


def test_no_more_factors_are_added_than_a_table_may_have() -> None:
    rng = np.random.default_rng(1)
    posterior, observed = random_posterior(rng, 6, 4, 2), random_rows(rng, 7, 6, 4)
    ascent = _Ascent(Cells.of(observed), posterior.base, posterior, 100)
    assert ascent.next.width - 1 == most_factors(7, 10) == 4


@settings(max_examples=25)
@given(tables())
def test_a_fit_continued_from_itself_does_not_end_lower(observed: Observations) -> None:
    first = fitted(observed)
    second = fitted(observed, start=first)
    assert (np.diff(second.bounds) >= 0).all()
    assert second.n_iter > 1
    assert second.rank <= first.rank
    cell_count = observed.X_known.sum() + observed.Y_known.sum()
    # Its warm-up does not watch the bound, and a fit may end ten such gains below its plateau.
    assert second.bounds[-1] >= first.bounds[-1] - 10 * BOUND_TOL * max(cell_count, 1)


@settings(max_examples=15)
@given(tables(), st.integers(1, 3))
def test_bounds_of_grown_fits_rise_too(observed: Observations, growth: int) -> None:
    second = fitted(observed, start=fitted(observed), growth=growth)
    assert (np.diff(second.bounds) >= 0).all()
    assert second.rank <= most_factors(*Cells.of(observed).shape)
    assert np.isfinite(second.predict(Cells.of(observed)).mean).all()


@pytest.mark.parametrize("seed", range(3))
def test_a_missing_factor_grows_again(seed: int) -> None:
    observed, _, _ = modelled_table(seed)
    whole = fitted(observed)
    assert whole.rank == 2
    state = _Ascent(Cells.of(observed), whole.base, whole).next.without(np.array([2]))
    one = replace(whole, V=state.V, second=state.second, precision=state.precision)
    assert fitted(observed, start=one).rank == 1
    again = fitted(observed, start=one, growth=3)
    assert again.rank == 2
    cell_count = observed.X_known.sum() + observed.Y_known.sum()
    assert again.bounds[-1] >= whole.bounds[-1] - 10 * BOUND_TOL * cell_count
    cells = Cells.of(observed)
    there, here = again.predict(cells).mean, whole.predict(cells).mean
    assert np.abs(there - here).mean() < 0.05 * np.abs(here).mean()


def test_a_fit_to_other_rows_is_a_start() -> None:
    observed, _, _ = modelled_table(3, n=300)
    some = Observations(observed.X[:200], observed.Y[:200])
    alone = fitted(observed)
    continued = fitted(observed, start=fitted(some))
    assert continued.converged
    assert continued.n_iter < alone.n_iter
    assert continued.rank == alone.rank
    cell_count = observed.X_known.sum() + observed.Y_known.sum()
    assert continued.bounds[-1] >= alone.bounds[-1] - 10 * BOUND_TOL * cell_count


def test_a_start_is_left_alone() -> None:
    observed, _, _ = modelled_table(3, n=60)
    start = fitted(observed, max_iter=WARM_UP + 2)
    names = ("V", "second", "noise", "precision", "base")
    before = {name: getattr(start, name).copy() for name in names}
    fitted(observed, start=start, growth=2)
    for name, value in before.items():
        np.testing.assert_array_equal(getattr(start, name), value)
