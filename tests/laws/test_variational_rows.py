"""Rows of a variational fit: blocks add up, predictions are exact, draws have the predicted moments."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from cocomplete.engines import row_blocks
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.solvers import posterior as posteriors
from cocomplete.solvers.basis import MOST_FACTORS
from cocomplete.solvers.posterior import PACE, ROW_TOL
from cocomplete.solvers.row_block import RowBlock, Sums
from cocomplete.solvers.variational import (
    WARM_UP,
    _Ascent,
    fit_variational,
)
from tests.laws.variational_dense import Dense, cell_moments, sites_of
from tests.laws.variational_tables import (
    covariances,
    expectation,
    fitted,
    modelled_table,
    nan,
    random_posterior,
    random_rows,
    tables,
)


@pytest.mark.parametrize("rows", [1, 7, 20])
@settings(max_examples=8)
@given(table=tables())
def test_blocks_of_rows_add_up_to_the_table(rows: int, table: Observations) -> None:
    cells = Cells.of(table)
    base = np.linspace(-0.5, 0.5, cells.shape[1])
    ascent = _Ascent(cells, base)
    for _ in range(WARM_UP + 2):
        ascent.sweep()
    with pytest.MonkeyPatch.context() as patch:
        width = (MOST_FACTORS + 1) * (MOST_FACTORS + 2) // 2
        patch.setattr(row_blocks, "BLOCK_NUMBERS", rows * width)
        cut = _Ascent(cells, base)
    assert len(ascent.blocks) == 1
    assert len(cut.blocks) == -(-table.n_samples // rows)
    assert sum(block.cells.shape[0] for block in cut.blocks) == table.n_samples
    assert max(block.cells.shape[0] for block in cut.blocks) <= rows
    np.testing.assert_array_equal(cut.count, ascent.count)
    np.testing.assert_allclose(cut.squares, ascent.squares, rtol=1e-12)
    (sites,), first, own = sites_of(ascent), 0, []
    for block in cut.blocks:
        last = first + block.labels.size
        own.append(type(sites)(sites.weight[first:last], sites.pull[first:last]))
        first = last
    cut.sites = [own]
    assert first == sites.weight.size
    cut.pace = ascent.pace
    one, other = ascent._visit(ascent.next), cut._visit(ascent.next)
    for name in Sums._fields:
        left, right = getattr(one.sums, name), getattr(other.sums, name)
        np.testing.assert_allclose(right, left, rtol=1e-10, atol=1e-10)
    assert other.bound == pytest.approx(one.bound, rel=1e-10)
    for name in ("weight", "pull"):
        moved = np.concatenate([getattr(each, name) for each in sites_of(cut)])
        np.testing.assert_allclose(moved, getattr(sites_of(ascent)[0], name), rtol=1e-10, atol=1e-12)


def test_a_fit_does_not_depend_on_the_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, _, _ = modelled_table(4, n=40, d=7, labels=5)
    one, cells = fitted(observed), Cells.of(observed)
    monkeypatch.setattr(row_blocks, "BLOCK_NUMBERS", 6_000)
    other = fitted(observed)
    np.testing.assert_allclose(other.bounds, one.bounds, rtol=1e-8)
    np.testing.assert_allclose(other.noise, one.noise, atol=1e-6)
    here, there = one.predict(cells), other.predict(cells)
    np.testing.assert_allclose(there.mean, here.mean, atol=1e-5)
    np.testing.assert_allclose(there.variance, here.variance, atol=1e-5)


@given(st.integers(0, 10_000))
def test_rows_are_the_gaussian_conditional_where_v_is_known(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, k = (int(rng.integers(1, high)) for high in (6, 8, 4))
    posterior = random_posterior(rng, d, 0, k, spread=0.0)
    observed = random_rows(rng, n, d, 0)
    rows = posterior.rows(Cells.of(observed))
    W, offset = posterior.V[:, 1:], posterior.V[:, 0] + posterior.base
    for i in range(n):
        known = observed.X_known[i]
        # Of the joint normal distribution of u and the observed x, by conditioning, not by precisions.
        S = W[known] @ W[known].T + np.diag(posterior.noise[known])
        gain = W[known].T @ np.linalg.inv(S)
        np.testing.assert_allclose(rows.U[i, 1:], gain @ (observed.X[i] - offset)[known], atol=1e-9)
        cov = np.zeros((k + 1, k + 1))
        cov[1:, 1:] = np.eye(k) - gain @ W[known]
        np.testing.assert_allclose(covariances(*rows)[i], cov, atol=1e-9)
    np.testing.assert_array_equal(rows.U[:, 0], 1)


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_labels_of_rows_settle_where_the_expected_slope_is_zero(seed: int) -> None:
    rng = np.random.default_rng(seed)
    posterior = random_posterior(rng, 3, 4, 2, spread=0.0)
    observed = random_rows(rng, 5, 3, 4)
    rows = posterior.rows(Cells.of(observed))
    T = rows.U @ posterior.V.T
    variance = np.einsum("jr,nrc,jc->nj", posterior.V, covariances(*rows), posterior.V)
    probability = expectation(expit, (T + posterior.base)[:, 3:], np.maximum(variance[:, 3:], 0))
    slope = np.hstack(
        ((observed.X - posterior.base[:3] - T[:, :3]) / posterior.noise, observed.Y - probability)
    )
    gradient = np.nan_to_num(slope) @ posterior.V[:, 1:] - rows.U[:, 1:]
    np.testing.assert_allclose(gradient, 0, atol=1e-3)


@settings(max_examples=25)
@given(st.integers(0, 10_000), st.sampled_from((1.0, PACE)))
def test_rows_that_have_settled_stand_still(seed: int, pace: float) -> None:
    rng = np.random.default_rng(seed)
    posterior, cells = random_posterior(rng, 3, 4, 2), Cells.of(random_rows(rng, 9, 3, 4))
    block = RowBlock(cells, posterior.base)
    # A row without labels does not move at all.
    _, settled = block.settle(posterior.columns, pace, 2, ROW_TOL)
    np.testing.assert_array_equal(settled[np.diff(cells.y_start) == 0], True)
    rows, settled = block.settle(posterior.columns, pace, 200, ROW_TOL)
    assert settled.all()
    before, _ = block.label_moments(rows, posterior.columns)
    block.visit(block.sites, posterior.columns, pace)
    after, _ = block.label_moments(block.rows(posterior.columns)[0], posterior.columns)
    np.testing.assert_allclose(after, before, atol=2 * ROW_TOL)


@given(st.integers(0, 10_000))
def test_a_table_is_predicted_by_its_rows_moments(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, d, labels, k = (int(rng.integers(1, high)) for high in (9, 6, 4, 4))
    posterior = random_posterior(rng, d, labels, k)
    cells = Cells.of(random_rows(rng, n, d, labels))
    rows, predicted = posterior.rows(cells), posterior.predict(cells)
    dense = Dense(rows.U, covariances(*rows), posterior.V, covariances(posterior.V, posterior.second))
    mean, variance = cell_moments(dense)
    np.testing.assert_allclose(predicted.mean, mean + posterior.base, atol=1e-10)
    np.testing.assert_allclose(predicted.variance, variance, atol=1e-9)
    assert predicted.averaged


@pytest.mark.parametrize("labels", [0, 5])
@pytest.mark.parametrize("chunk", [1, 40, 4_000_000])
def test_rows_do_not_depend_on_the_rows_predicted_with_them(
    monkeypatch: pytest.MonkeyPatch, chunk: int, labels: int
) -> None:
    rng = np.random.default_rng(5)
    posterior, observed = random_posterior(rng, 6, labels, 3), random_rows(rng, 23, 6, labels)
    cells = Cells.of(observed)
    alone = [posterior.predict(cells.rows(i, i + 1)) for i in range(23)]
    monkeypatch.setattr(posteriors, "CHUNK", chunk)
    together = posterior.predict(cells)
    # With labels, sweeps end when the rows together stand still.
    atol = 1e-4 if labels else 1e-12
    for name in ("mean", "variance"):
        apart = np.vstack([getattr(one, name) for one in alone])
        np.testing.assert_allclose(getattr(together, name), apart, rtol=1e-11, atol=atol)


def test_a_row_without_cells_gets_the_offsets_and_the_prior_s_variance() -> None:
    rng = np.random.default_rng(2)
    posterior = random_posterior(rng, 4, 3, 2, spread=0.0)
    predicted = posterior.predict(Cells.of(Observations(np.full((1, 4), nan), np.full((1, 3), nan))))
    np.testing.assert_allclose(predicted.mean[0], posterior.base + posterior.V[:, 0])
    np.testing.assert_allclose(predicted.variance[0], (posterior.V[:, 1:] ** 2).sum(axis=1))


def test_predicting_leaves_its_arguments_alone() -> None:
    rng = np.random.default_rng(0)
    posterior, observed = random_posterior(rng, 4, 3, 2), random_rows(rng, 6, 4, 3)
    cells = Cells.of(observed)
    parts = {"x_value", "y_value", "x_column", "y_column", "x_start", "y_start"}
    fields = {"V", "second", "noise", "base", "precision"}
    before = [
        {name: getattr(one, name).copy() for name in names}
        for one, names in ((cells, parts), (posterior, fields))
    ]
    posterior.predict(cells)
    posterior.draw(cells, rng)
    fit_variational(cells, posterior.base, max_iter=WARM_UP + 3)
    for one, kept in zip((cells, posterior), before, strict=True):
        for name, value in kept.items():
            np.testing.assert_array_equal(getattr(one, name), value)


def test_draws_have_the_predicted_moments() -> None:
    rng = np.random.default_rng(1)
    posterior, observed = random_posterior(rng, 3, 2, 2), random_rows(rng, 4, 3, 2)
    # Labels are drawn, but not known: rows with labels take many times as long.
    cells = Cells.of(replace(observed, Y=np.full((4, 2), nan)))
    predicted, count = posterior.predict(cells), 1500
    draws = np.array([posterior.draw(cells, rng) for _ in range(count)])
    error = draws.std(axis=0) / np.sqrt(count)
    assert (np.abs(draws.mean(axis=0) - predicted.mean) < 5 * error).all()
    # A product of normals has heavier tails than a normal: its fourth moment sets the error of a variance.
    squares = (draws - draws.mean(axis=0)) ** 2
    assert (
        np.abs(squares.mean(axis=0) - predicted.variance) < 5 * squares.std(axis=0) / np.sqrt(count)
    ).all()


def test_columns_and_rows_of_a_draw_are_drawn_once() -> None:
    """Cells of one row go together: the table of a draw has the rank of the factors."""
    rng = np.random.default_rng(3)
    posterior = random_posterior(rng, 8, 0, 2, spread=0.2)
    draw = posterior.draw(Cells.of(random_rows(rng, 9, 8, 0)), rng)
    s = np.linalg.svd(draw - posterior.base, compute_uv=False)
    assert s[2] > 1e-3
    assert s[3] < 1e-9
