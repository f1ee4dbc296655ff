"""Keys that follow from content: the hash, what it depends on and what it does not."""

import numpy as np
import pytest

from cocomplete.problem.content_keys import ContentKeys, content_keys, mix, uniform
from cocomplete.problem.observations import Observations

nan = np.nan


def table(seed: int = 0, n: int = 12) -> Observations:
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(n, 3)), rng.integers(0, 2, (n, 2)).astype(float)
    X[rng.random(X.shape) < 0.2] = nan
    Y[rng.random(Y.shape) < 0.2] = nan
    return Observations(X, Y)


def assert_same(one: ContentKeys, other: ContentKeys) -> None:
    np.testing.assert_array_equal(one.rows, other.rows)
    np.testing.assert_array_equal(one.columns, other.columns)


def test_bits_are_scrambled_as_published() -> None:
    """First numbers of SplitMix64 from the seed 1234567, in the test of many of its implementations."""
    golden = 0x9E3779B97F4A7C15
    states = np.array([(1234567 + k * golden) % 2**64 for k in range(5)], np.uint64)
    expected = [
        6457827717110365317,
        3203168211198807973,
        9817491932198370423,
        4593380528125082431,
        16408922859458223821,
    ]
    np.testing.assert_array_equal(mix(states), np.array(expected, np.uint64))


def test_keys_become_numbers_from_zero_to_below_one() -> None:
    keys = np.array([0, 2**63, 2**62, 2**64 - 1], np.uint64)
    np.testing.assert_array_equal(uniform(keys), [0, 0.5, 0.25, 1 - 2.0**-53])


def test_keys_are_what_they_have_always_been() -> None:
    """Which cells are held out, and with them every fit, follows from these."""
    found = content_keys(Observations(np.array([[1.0, nan], [2.0, 5.0], [2.0, 4.0]]), np.ones((3, 1))))
    assert found.rows.tolist() == [8516884863688789711, 9937141322768968387, 10299100132890414687]
    assert found.columns.tolist() == [991179433678469281, 14281935415166424856, 11030590233577603954]
    seeded = content_keys(Observations(np.array([[1.0], [2.0]]), np.empty((2, 0))), seed=3)
    sums = [int(content_keys(table(seed, 40), seed).columns.sum()) for seed in range(4)]
    assert sums == [8636712495292446943, 6947054634474374342, 7327534449979640114, 8440634347452472586]
    assert seeded.rows.tolist() == [5033408206211111281, 7317845352009095995]


@pytest.mark.parametrize("seed", range(5))
def test_keys_follow_rows_and_columns(seed: int) -> None:
    observed, rng = table(seed), np.random.default_rng(seed)
    rows, features, labels = rng.permutation(12), rng.permutation(3), rng.permutation(2)
    moved = content_keys(Observations(observed.X[rows][:, features], observed.Y[rows][:, labels]))
    keys = content_keys(observed)
    np.testing.assert_array_equal(moved.rows, keys.rows[rows])
    np.testing.assert_array_equal(moved.columns, keys.columns[np.concatenate((features, 3 + labels))])


@pytest.mark.parametrize("seed", range(5))
def test_units_signs_and_which_value_is_called_one_do_not_matter(seed: int) -> None:
    observed = table(seed)
    written = Observations(
        observed.X * [2.0, -1.0, -0.1] + 7, np.column_stack((1 - observed.Y[:, 0], observed.Y[:, 1]))
    )
    assert_same(content_keys(written), content_keys(observed))


def test_what_is_known_matters_and_rows_of_which_nothing_is_do_not() -> None:
    observed = table()
    keys = content_keys(observed)
    longer = Observations(
        np.vstack((observed.X, np.full((1, 3), nan))), np.vstack((observed.Y, [[nan, nan]]))
    )
    assert_same(ContentKeys(content_keys(longer).rows[:-1], content_keys(longer).columns), keys)
    X = observed.X.copy()
    known = np.argwhere(observed.X_known)[0]
    X[tuple(known)] = nan
    assert (content_keys(Observations(X, observed.Y)).rows != keys.rows).all()


def test_features_are_not_labels_and_seeds_not_each_other() -> None:
    column = np.array([[0.0], [1.0], [1.0]])
    both = content_keys(Observations(column, column))
    assert both.columns[0] != both.columns[1]
    assert (content_keys(table(), seed=1).rows != content_keys(table(), seed=2).rows).all()
    assert (content_keys(table(), seed=1).columns != content_keys(table(), seed=2).columns).all()


def test_equal_rows_are_counted_and_others_have_keys_of_their_own() -> None:
    X = np.array([[1.0, 2.0], [3.0, 4.0], [1.0, 2.0], [3.0, 2.0], [1.0, 2.0]])
    keys = content_keys(Observations(X, np.empty((5, 0)))).rows
    assert len(np.unique(keys)) == 5
    fewer = content_keys(Observations(np.empty((0, 2)), np.empty((0, 1))))
    assert fewer.rows.shape == (0,)


def test_equal_columns_in_different_surroundings_differ() -> None:
    # Both have two values, each twice; only the rows in which they stand tell them apart.
    X = np.array([[0.0, 0, 0], [0, 1, 1], [1, 0, 2], [1, 1, 5]])
    keys = content_keys(Observations(X, np.empty((4, 0)))).columns
    assert len(np.unique(keys)) == 3
