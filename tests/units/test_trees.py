"""Boosted trees: the compiled kernel is its NumPy twin, and the member follows steps, holes and content."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit

from cocomplete import kernels as compiled
from cocomplete.arrays import FloatArray
from cocomplete.kernels import reference
from cocomplete.members import trees
from cocomplete.members.average import Average
from cocomplete.members.trees import STOPS, BoostedTrees
from cocomplete.problem.content_keys import content_keys
from cocomplete.problem.observations import Observations

nan = np.nan


def steps(seed: int = 0, n: int = 300, missing: float = 0.2) -> tuple[FloatArray, FloatArray, Observations]:
    """A column that jumps where two others cross a limit, a yes/no one and a label that do likewise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    X[:, 2] = 3.0 * (X[:, 0] > 0.3) * (X[:, 1] > -0.2) + 0.1 * rng.normal(size=n)
    X[:, 3] = (X[:, 1] > 0) ^ (rng.random(n) < 0.02)
    Y = ((X[:, 0] > 0) == (X[:, 1] > 0)).astype(float)[:, None]
    seen = np.where(rng.random(X.shape) < missing, nan, X)
    return X, Y, Observations(seen, np.where(rng.random(Y.shape) < missing, nan, Y))


YES_NO = np.array([False, False, False, True, False])


def fitted(
    observed: Observations, columns: Sequence[int] = range(6), n_trees: int = STOPS[-1]
) -> BoostedTrees:
    return BoostedTrees.fit(observed, YES_NO, content_keys(observed), np.array(columns), n_trees)


@pytest.mark.usefixtures("every_thread")
@given(st.integers(0, 10_000), st.booleans())
@settings(max_examples=25)
def test_kernels_are_their_twins(seed: int, binary: bool) -> None:
    rng = np.random.default_rng(seed)
    n, d, n_trees, depth = rng.integers(2, 25), rng.integers(1, 5), 3, 2
    bins = rng.integers(1, 6, d)
    codes = np.stack([rng.integers(0, last + 1, n) for last in bins]).astype(np.uint8)
    offered = np.stack([[rng.permutation(d)[: max(1, d - 1)] for _ in range(n_trees)] for _ in range(2)])
    rows = [np.sort(rng.permutation(n)[: rng.integers(1, n + 1)]) for _ in range(2)]
    start = np.concatenate(([0], np.cumsum([len(one) for one in rows])))
    row = np.concatenate(rows)
    target = rng.integers(2, size=row.size).astype(float) if binary else rng.normal(size=row.size)
    found = []
    for module in (compiled, reference):
        questions = np.empty((2, n_trees, depth, 3), np.int16)
        values, out = np.empty((2, n_trees, 2**depth)), np.empty((2, n))
        for t in range(2):
            own = slice(start[t], start[t + 1])
            given = (codes, bins, offered[t], row[own], target[own], binary, 0.0, 0.1, 1.0)
            module.boost(*given, questions[t], values[t])
        everyone, stops = np.arange(n), np.array([1, n_trees])
        module.grow(codes, bins, everyone, 0.5, questions[0], values[0], stops, out)
        found.append((questions, values, out))
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9, atol=1e-12)


@given(st.integers(0, 10_000))
@settings(max_examples=15)
def test_every_tree_lowers_the_loss_of_the_cells_it_is_fitted_to(seed: int) -> None:
    _, _, observed = steps(seed, n=60)
    member = fitted(observed)
    for column in (2, 3, 5):
        table = np.hstack((observed.X, observed.Y))[:, column]
        rows = np.flatnonzero(~np.isnan(table))
        means, _ = member.at(observed, rows, np.full(rows.size, column))
        y = table[rows]
        losses = (means - y) ** 2 if column == 2 else np.logaddexp(0, means) - y * means
        assert (np.diff(losses.mean(axis=1)) < 1e-12).all()


def test_steps_are_followed_where_factors_cannot() -> None:
    X, Y, observed = steps()
    table, truth = (np.hstack(pair) for pair in ((observed.X, observed.Y), (X, Y)))
    losses = []
    for member in (fitted(observed), Average.fit(observed, YES_NO, gaussian=True)):
        mean = member.predict(observed).mean
        for column in (2, 3, 5):
            holes = np.isnan(table[:, column])
            t, y = mean[holes, column], truth[holes, column]
            losses.append(np.mean((t - y) ** 2 if column == 2 else np.logaddexp(0, t) - y * t))
    ratios = np.array(losses[:3]) / np.array(losses[3:])
    assert (ratios < [0.9, 1.0, 0.5]).all(), ratios


def test_labels_have_no_part_in_labels_nor_a_cell_in_itself() -> None:
    _, _, observed = steps()
    member = fitted(observed)
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20, 5))
    X[:, 3] = X[:, 3] > 0
    for label in (nan, 0.0, 1.0):
        rows = Observations(X, np.full((20, 1), label))
        moved = Observations(np.where(np.arange(5) == 2, X + 5, X), np.full((20, 1), label))
        one, other = member.predict(rows).mean, member.predict(moved).mean
        np.testing.assert_array_equal(one[:, 2], other[:, 2])
        if np.isnan(label):
            unlabelled = one[:, 5]
        np.testing.assert_array_equal(one[:, 5], unlabelled)


def test_order_and_units_mean_nothing() -> None:
    _, _, observed = steps(1, n=80)
    rng = np.random.default_rng(0)
    row, column = rng.permutation(80), rng.permutation(5)
    factor = np.where(YES_NO, 1.0, 10.0 ** rng.integers(-3, 4, 5))
    shift = np.where(YES_NO, 0.0, rng.normal(size=5))
    other = Observations((observed.X * factor + shift)[row][:, column], observed.Y[row])
    moved = BoostedTrees.fit(other, YES_NO[column], content_keys(other), np.arange(6))
    expected, found = fitted(observed).predict(observed), moved.predict(other)
    units = np.where(YES_NO, expected.mean[:, :5], expected.mean[:, :5] * factor + shift)
    np.testing.assert_allclose(found.mean[:, :5] / factor[column], units[row][:, column] / factor[column])
    np.testing.assert_allclose(found.mean[:, 5], expected.mean[row, 5], rtol=1e-9)


def test_a_sum_of_fewer_trees_is_the_beginning_of_a_longer_one() -> None:
    _, _, observed = steps(2)
    long = fitted(observed)
    rows = np.arange(300)
    means, stds = long.at(observed, rows, np.full(300, 2))
    for k, stop in enumerate(STOPS):
        short, first = fitted(observed, n_trees=stop).predict(observed), long.first(stop).predict(observed)
        np.testing.assert_array_equal(short.mean, first.mean)
        np.testing.assert_array_equal(first.mean[:, 2], means[k])
        np.testing.assert_array_equal(short.std[:, 2], stds[k])
    assert (np.diff(stds[:, 0]) < 0).all()


def test_only_what_was_asked_for_is_predicted() -> None:
    _, _, observed = steps()
    prediction = fitted(observed, columns=[2, 5]).predict(observed)
    assert np.isnan(prediction.mean[:, [0, 1, 3, 4]]).all()
    assert np.isfinite(prediction.mean[:, [2, 5]]).all()
    assert (prediction.std[:, 2] > 0).all()


def test_long_tables_are_learnt_from_the_rows_with_the_smallest_keys() -> None:
    _, _, observed = steps()
    keys = content_keys(observed)
    largest = 60 * STOPS[-1] * trees.DEPTH * 3.0
    short = BoostedTrees.fit(observed, YES_NO, keys, np.array([5]), largest=largest)
    first = np.sort(np.argsort(keys.rows)[:60])
    rate = (np.nansum(observed.Y[first]) + 0.5) / (np.sum(~np.isnan(observed.Y[first])) + 1)
    assert expit(short.base[0]) == pytest.approx(rate)
