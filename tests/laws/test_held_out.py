"""Held-out cells: they part the observed ones, and the table's content decides which they are."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray
from cocomplete.choosing import held_out
from cocomplete.choosing.held_out import (
    ENOUGH,
    HELD_SHARE,
    MOST_CELLS,
    MOST_FOLDS,
    folds,
)
from cocomplete.fitted.parts import PARTS
from cocomplete.problem.content_keys import content_keys, mix, uniform
from cocomplete.problem.observations import Observations
from tests.laws.held_out_tables import mask, same_folds, small_table, table, whole

pytestmark = pytest.mark.usual_folds

nan = np.nan


@given(st.integers(0, 10_000), st.integers(0, 3))
def test_held_out_and_visible_cells_part_the_observed_ones(seed: int, draw: int) -> None:
    observed, yes_no = small_table(seed)
    observed = replace(observed, feature_names=tuple(f"f{j}" for j in range(observed.n_features)))
    for fold in folds(observed, yes_no, draw):
        assert fold.value.size
        assert len(fold.row) == len(fold.column) == len(fold.value) == len(fold.part)
        # No cell twice.
        assert mask(fold, whole(observed).shape).sum() == fold.value.size
        put_back = whole(fold.visible)
        assert np.isnan(put_back[fold.row, fold.column]).all()
        put_back[fold.row, fold.column] = fold.value
        np.testing.assert_array_equal(put_back, whole(observed))
        assert fold.visible.feature_names == observed.feature_names


@given(st.integers(0, 10_000), st.integers(0, 3))
def test_0_1_columns_keep_both_values_and_numbers_two(seed: int, draw: int) -> None:
    observed, yes_no = small_table(seed)
    binary = np.concatenate((yes_no, np.ones(observed.n_labels, bool)))
    for fold in folds(observed, yes_no, draw):
        before, after = whole(observed), whole(fold.visible)
        for value in (0, 1):
            had, has = ((one[:, binary] == value).any(axis=0) for one in (before, after))
            np.testing.assert_array_equal(has, had)
        for j in np.flatnonzero(~binary):
            had, has = (np.unique(one[~np.isnan(one[:, j]), j]).size for one in (before, after))
            assert has >= min(had, 2)


@given(st.integers(0, 10_000))
def test_every_cell_is_in_the_part_that_will_answer_for_it(seed: int) -> None:
    observed, yes_no = small_table(seed)
    d = observed.n_features
    for fold in folds(observed, yes_no):
        seen: BoolArray = np.any(fold.visible.Y_known, axis=1)
        expected = [
            ("yes-no" if yes_no[j] else "numbers") if j < d else ("labels" if seen[i] else "unlabelled")
            for i, j in zip(fold.row, fold.column, strict=True)
        ]
        assert [PARTS[k] for k in fold.part] == expected


@pytest.fixture(scope="module")
def large() -> tuple[Observations, BoolArray]:
    rng = np.random.default_rng(0)
    return table(rng, 800, 12, 8, 10, share=0.9)


def test_folds_hold_out_the_shares_of_their_constants(large: tuple[Observations, BoolArray]) -> None:
    observed, yes_no = large
    (fold,) = folds(observed, yes_no)
    held = mask(fold, whole(observed).shape)
    known = ~np.isnan(whole(observed))
    for columns in (slice(0, 12), slice(12, 20)):
        share = held[:, columns].sum() / known[:, columns].sum()
        assert share == pytest.approx(HELD_SHARE, abs=0.015)
    # Of labels half as whole rows, half as single cells of the others.
    blind = ~fold.visible.Y_known.any(axis=1)
    assert blind.mean() == pytest.approx(HELD_SHARE / 2, abs=0.03)
    assert held[blind, 20:].sum() == known[blind, 20:].sum()
    others = held[~blind, 20:].sum() / known[~blind, 20:].sum()
    assert others == pytest.approx(HELD_SHARE / 2, abs=0.02)
    # Rows without labels keep their features for the most part: they are what answers.
    assert held[blind, :20].sum() / known[blind, :20].sum() == pytest.approx(HELD_SHARE, abs=0.05)


def test_a_single_label_is_held_out_as_whole_rows() -> None:
    observed, yes_no = table(np.random.default_rng(1), 2000, 3, 0, 1, share=1.0)
    fold = folds(observed, yes_no)[0]
    labels = fold.column >= 3
    assert labels.sum() > 200
    assert {PARTS[k] for k in fold.part[labels]} == {"unlabelled"}


def test_which_cells_are_held_out_has_nothing_to_do_with_their_values(
    large: tuple[Observations, BoolArray],
) -> None:
    observed, yes_no = large
    (fold,) = folds(observed, yes_no)
    numbers = fold.part == PARTS.index("numbers")
    # Standard errors: one of a thousand for the mean, and of the rate of ones.
    assert fold.value[numbers].mean() == pytest.approx(0, abs=0.1)
    assert fold.value[numbers].std() == pytest.approx(1, abs=0.1)
    assert fold.value[~numbers].mean() == pytest.approx(0.4, abs=0.06)


def test_a_small_table_has_several_folds_that_share_no_cell() -> None:
    observed, yes_no = table(np.random.default_rng(2), 60, 8, 2, 4)
    found = folds(observed, yes_no)
    assert len(found) == MOST_FOLDS
    times = np.sum([mask(fold, whole(observed).shape) for fold in found], axis=0)
    # Numbers are held out at most once; labels once with their row and once by themselves.
    assert times[:, :10].max() == 1
    assert times[:, 10:].max() <= 2
    held = (times[:, :10] > 0).sum() / observed.X_known.sum()
    assert held == pytest.approx(MOST_FOLDS * HELD_SHARE, abs=0.06)


def test_a_large_table_has_one_fold(large: tuple[Observations, BoolArray]) -> None:
    observed, yes_no = large
    (fold,) = folds(observed, yes_no)
    sizes = np.bincount(fold.part, minlength=len(PARTS))
    assert (sizes > ENOUGH).all()


def test_there_are_as_many_folds_as_it_takes_for_about_enough_cells_of_every_part(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    observed, yes_no = table(np.random.default_rng(3), 200, 6, 0, 0, share=1.0)
    fold = folds(observed, yes_no)[0]
    assert (fold.part == PARTS.index("numbers")).all()
    for times, count in ((0.2, 1), (1.0, 1), (1.45, 1), (1.55, 2), (3.0, 3)):
        monkeypatch.setattr(held_out, "ENOUGH", times * fold.value.size)
        assert len(folds(observed, yes_no)) == count


def test_folds_are_no_more_than_can_be_afforded(monkeypatch: pytest.MonkeyPatch) -> None:
    observed, yes_no = table(np.random.default_rng(4), 60, 8, 2, 4)
    cells = int(observed.X_known.sum() + observed.Y_known.sum())
    assert cells * MOST_FOLDS < MOST_CELLS
    for affordable in (1, 2, 4):
        monkeypatch.setattr(held_out, "MOST_CELLS", affordable * cells)
        assert len(folds(observed, yes_no)) == affordable
    monkeypatch.setattr(held_out, "MOST_CELLS", cells // 2)
    assert len(folds(observed, yes_no)) == 1


def test_rare_ones_ask_for_more_folds() -> None:
    """A thousand held-out zeros and a few ones do not measure how well ones are predicted."""
    rng = np.random.default_rng(5)
    X = rng.normal(size=(1000, 3))
    even, rare = ((rng.random((1000, 4)) < rate).astype(float) for rate in (0.5, 0.05))
    count = [len(folds(Observations(X, Y), np.zeros(3, bool))) for Y in (even, rare)]
    assert count[0] < count[1]


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (2, 1)])
def test_a_table_with_too_little_has_no_folds(shape: tuple[int, int]) -> None:
    X = np.random.default_rng(0).normal(size=shape)
    assert folds(Observations(X, np.empty((shape[0], 0))), np.zeros(shape[1], bool)) == []


@given(st.integers(0, 10_000))
def test_the_order_of_rows_and_columns_does_not_matter(seed: int) -> None:
    rng = np.random.default_rng(seed)
    observed, yes_no = table(rng, 30, 4, 2, 3)
    row, feature, label = (rng.permutation(size) for size in (30, 6, 3))
    other = Observations(observed.X[row][:, feature], observed.Y[row][:, label])
    column = np.concatenate((feature, 6 + label))
    assert same_folds(observed, yes_no, other, yes_no[feature], row, column)
    np.testing.assert_array_equal(content_keys(other).rows, content_keys(observed).rows[row])


@pytest.fixture
def _cells_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell is held out because others are."""
    monkeypatch.setattr(held_out, "LEAST_COMPANY", 2.0)


def with_empty_rows(
    rng: np.random.Generator, observed: Observations, count: int
) -> tuple[Observations, NDArray[np.intp]]:
    """The same rows among others of which nothing is known, and where they are."""
    n = observed.n_samples
    place = np.sort(rng.permutation(n + count)[:n])
    X, Y = (np.full((n + count, part.shape[1]), nan) for part in (observed.X, observed.Y))
    X[place], Y[place] = observed.X, observed.Y
    return Observations(X, Y), place


@pytest.mark.usefixtures("_cells_alone")
@pytest.mark.parametrize("count", [1, 9])
@pytest.mark.parametrize("seed", range(8))
def test_rows_of_which_nothing_is_known_change_nothing(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    observed, yes_no = table(rng, 30, 4, 2, 3)
    larger, place = with_empty_rows(rng, observed, count)
    np.testing.assert_array_equal(content_keys(larger).rows[place], content_keys(observed).rows)
    assert same_folds(larger, yes_no, observed, yes_no, place, np.arange(9))


@pytest.mark.usefixtures("_cells_alone")
@pytest.mark.parametrize("count", [1, 3])
@pytest.mark.parametrize("seed", range(8))
def test_columns_of_which_nothing_is_known_change_nothing(seed: int, count: int) -> None:
    rng = np.random.default_rng(seed)
    observed, yes_no = table(rng, 30, 4, 2, 3)
    wider = replace(observed, X=np.hstack((observed.X, np.full((30, count), nan))))
    np.testing.assert_array_equal(content_keys(wider).rows, content_keys(observed).rows)
    kept = np.concatenate((np.arange(6), np.arange(6, 9) + count))
    types = np.concatenate((yes_no, np.zeros(count, bool)))
    assert same_folds(wider, types, observed, yes_no, np.arange(30), kept)


def test_rows_of_which_nothing_is_known_are_no_block() -> None:
    rng = np.random.default_rng(0)
    observed, yes_no = table(rng, 60, 4, 2, 3)
    larger, place = with_empty_rows(rng, observed, 60)
    assert same_folds(larger, yes_no, observed, yes_no, place, np.arange(9))


@given(st.integers(0, 10_000))
def test_a_change_of_units_changes_nothing(seed: int) -> None:
    rng = np.random.default_rng(seed)
    observed, yes_no = table(rng, 30, 4, 2, 3)
    X = observed.X.copy()
    X[:, :4] = X[:, :4] * np.exp(2 * rng.normal(size=4)) + 10 * rng.normal(size=4)
    assert same_folds(observed, yes_no, replace(observed, X=X), yes_no, np.arange(30), np.arange(9))
    # Ranks are all that counts: any other rising map will do.
    X[:, :4] = np.exp(observed.X[:, :4])
    assert same_folds(observed, yes_no, replace(observed, X=X), yes_no, np.arange(30), np.arange(9))


def test_names_change_nothing_and_neither_does_precision() -> None:
    observed, yes_no = table(np.random.default_rng(6), 30, 4, 2, 3)
    X, Y = (part.astype(np.float32) for part in (observed.X, observed.Y))
    named = Observations(X, Y, tuple("abcdef"), tuple("xyz"))
    assert same_folds(observed, yes_no, named, yes_no, np.arange(30), np.arange(9))


@pytest.mark.parametrize("part", ["a number", "a label", "a hole"])
def test_another_table_has_other_cells_held_out(part: str) -> None:
    observed, yes_no = table(np.random.default_rng(7), 30, 4, 2, 3, share=1.0)
    X, Y = observed.X.copy(), observed.Y.copy()
    if part == "a number":
        X[3, 1] = X[:, 1].max() + 1
    elif part == "a label":
        Y[3, 1] = 1 - Y[3, 1]
    else:
        X[3, 1] = nan
    other = Observations(X, Y)
    assert not same_folds(observed, yes_no, other, yes_no, np.arange(30), np.arange(9))


def test_the_same_seed_holds_out_the_same_and_another_others(large: tuple[Observations, BoolArray]) -> None:
    observed, yes_no = large
    one, again, other = (mask(folds(observed, yes_no, seed)[0], (800, 30)) for seed in (3, 3, 4))
    np.testing.assert_array_equal(one, again)
    known = observed.X_known
    # Cells that two seeds have in common are as many as chance has it.
    both = (one & other)[:, :20].sum() / known.sum()
    assert both == pytest.approx(HELD_SHARE**2, abs=0.01)
    assert (content_keys(observed, 3).rows != content_keys(observed, 4).rows).all()


def test_rows_have_different_keys_even_where_they_are_equal(large: tuple[Observations, BoolArray]) -> None:
    observed, _ = large
    keys = content_keys(observed).rows
    assert keys.shape == (800,)
    assert keys.dtype == np.uint64
    assert np.unique(keys).size == 800
    twice = Observations(np.vstack((observed.X, observed.X[:5])), np.vstack((observed.Y, observed.Y[:5])))
    again = content_keys(twice).rows
    # Copies are interchangeable, but must not all be held out together.
    assert np.unique(again).size == 805


def test_keys_are_as_good_as_uniform() -> None:
    chance = np.sort(uniform(mix(np.arange(20_000, dtype=np.uint64))))
    assert chance[0] >= 0
    assert chance[-1] < 1
    # Kolmogorov's distance; 0.012 would be exceeded by chance once in a hundred times.
    assert np.abs(chance - (np.arange(20_000) + 0.5) / 20_000).max() < 0.012
