"""The informative part of a table, and the way back to the whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.problem.informative import Informative, rows_with_something
from cocomplete.problem.observations import Observations

pytestmark = pytest.mark.usual_folds

nan = np.nan


def table(seed: int) -> Observations:
    """Columns of every kind: varied, constant, with one observed cell, empty; in any order."""
    rng = np.random.default_rng(seed)
    n, d, labels = (int(rng.integers(low, high)) for low, high in ((1, 8), (1, 8), (0, 6)))
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    Y = rng.integers(0, 2, size=(n, labels)).astype(float)
    for part in (X, Y):
        for j in range(part.shape[1]):
            kind = rng.integers(4)
            if kind == 0:
                part[:, j] = part[0, j]
            if kind == 1:
                part[rng.permutation(n)[1:], j] = nan
            if kind == 2:
                part[:, j] = nan
        part[rng.random(part.shape) < 0.2] = nan
    return Observations(X, Y)


@given(st.integers(0, 10_000))
def test_columns_that_vary_are_those_with_two_values(seed: int) -> None:
    observed = table(seed)
    found = Informative.of(observed)
    for part, varied in ((observed.X, found.features), (observed.Y, found.labels)):
        assert varied.shape == (part.shape[1],)
        expected = [np.unique(column[~np.isnan(column)]).size > 1 for column in part.T]
        np.testing.assert_array_equal(varied, expected)
    np.testing.assert_array_equal(found.columns, np.concatenate((found.features, found.labels)))


@given(st.integers(0, 10_000))
def test_the_others_hold_their_only_value_or_nothing_and_labels_their_log_odds(seed: int) -> None:
    observed = table(seed)
    found, d = Informative.of(observed), observed.n_features
    assert np.isfinite(found.constant).all()
    for j in np.flatnonzero(~found.features):
        values = observed.X[observed.X_known[:, j], j]
        assert found.constant[j] == (values[0] if values.size else 0)
    for j in np.arange(observed.n_labels):
        known = observed.Y[observed.Y_known[:, j], j]
        # Half a one and half a zero more.
        ones, zeros = (known == 1).sum() + 0.5, (known == 0).sum() + 0.5
        assert found.constant[d + j] == pytest.approx(np.log(ones / zeros), abs=1e-9)


@given(st.integers(0, 10_000))
def test_what_is_narrowed_comes_back_in_its_place(seed: int) -> None:
    observed = table(seed)
    found = Informative.of(observed)
    narrow = found.narrow(observed)
    np.testing.assert_array_equal(narrow.X, observed.X[:, found.features])
    np.testing.assert_array_equal(narrow.Y, observed.Y[:, found.labels])
    rng = np.random.default_rng(seed)
    mean, std = rng.normal(size=np.hstack((narrow.X, narrow.Y)).shape), rng.random(narrow.X.shape)
    whole, spread = found.widen(mean, std)
    assert whole.shape == (observed.n_samples, observed.n_features + observed.n_labels)
    assert spread.shape == observed.X.shape
    np.testing.assert_array_equal(whole[:, found.columns], mean)
    np.testing.assert_array_equal(spread[:, found.features], std)
    assert (whole[:, ~found.columns] == found.constant[~found.columns]).all()
    assert not spread[:, ~found.features].any()
    # What was observed of a feature that does not vary is what it is filled with.
    still = np.flatnonzero(~found.features)
    known = observed.X_known[:, still]
    np.testing.assert_array_equal(whole[:, still][known], observed.X[:, still][known])


@given(st.integers(0, 10_000))
def test_columns_without_variation_change_nothing(seed: int) -> None:
    observed, rng = table(seed), np.random.default_rng(seed)
    n, d, labels = observed.n_samples, observed.n_features, observed.n_labels
    X = np.hstack((observed.X, np.full((n, 1), 4.0), np.full((n, 1), nan)))
    Y = np.hstack((observed.Y, np.ones((n, 1)), np.full((n, 1), nan)))
    feature, label = rng.permutation(d + 2), rng.permutation(labels + 2)
    more = Observations(X[:, feature], Y[:, label])
    one, other = (Informative.of(part).narrow(part) for part in (observed, more))
    # The same columns, in the order of the wider table.
    back = [j for j in feature if j < d and Informative.of(observed).features[j]]
    np.testing.assert_array_equal(other.X, observed.X[:, back])
    back = [j for j in label if j < labels and Informative.of(observed).labels[j]]
    np.testing.assert_array_equal(other.Y, observed.Y[:, back])
    assert one.X.shape == other.X.shape
    assert one.Y.shape == other.Y.shape


def test_a_narrow_table_has_no_names() -> None:
    observed = Observations(np.array([[1.0, 2.0], [2.0, 2.0]]), np.array([[0.0], [1.0]]), ("a", "b"), ("y",))
    narrow = Informative.of(observed).narrow(observed)
    assert narrow.X.shape == (2, 1)
    assert narrow.feature_names is None
    assert narrow.label_names is None


def test_new_rows_are_narrowed_by_the_columns_of_the_fit() -> None:
    fit = Observations(np.array([[1.0, 5.0], [2.0, 5.0]]), np.array([[0.0, 1.0], [1.0, 1.0]]))
    found = Informative.of(fit)
    new = found.narrow(Observations(np.array([[nan, 8.0]]), np.array([[nan, 0.0]])))
    np.testing.assert_array_equal(new.X, [[nan]])
    np.testing.assert_array_equal(new.Y, [[nan]])
    whole, std = found.widen(np.array([[1.5, -0.3]]), np.array([[0.2]]))
    # Two ones and no zero, shrunken.
    np.testing.assert_allclose(whole, [[1.5, 5, -0.3, np.log(2.5 / 0.5)]])
    np.testing.assert_allclose(std, [[0.2, 0]])


def test_where_every_column_varies_nothing_is_copied() -> None:
    observed = Observations(np.array([[1.0], [2.0]]), np.array([[0.0], [1.0]]))
    mean, std = np.zeros((2, 2)), np.ones((2, 1))
    for found in (Informative.of(observed), Informative.whole(observed)):
        whole, spread = found.widen(mean, std)
        assert whole is mean
        assert spread is std


@given(st.integers(0, 10_000))
def test_the_whole_table_takes_part_if_it_is_asked_to(seed: int) -> None:
    observed = table(seed)
    found = Informative.whole(observed)
    assert found.columns.all()
    assert len(found.constant) == observed.n_features + observed.n_labels
    narrow = found.narrow(observed)
    np.testing.assert_array_equal(narrow.X, observed.X)
    np.testing.assert_array_equal(narrow.Y, observed.Y)


@given(st.integers(0, 10_000))
def test_rows_with_something_are_those_with_an_observed_cell(seed: int) -> None:
    observed = table(seed)
    expected = [bool((~np.isnan(row)).any()) for row in np.hstack((observed.X, observed.Y))]
    np.testing.assert_array_equal(rows_with_something(observed), expected)


def test_a_label_alone_is_something() -> None:
    X, Y = np.array([[nan], [nan], [0.0]]), np.array([[0.0], [nan], [nan]])
    np.testing.assert_array_equal(rows_with_something(Observations(X, Y)), [True, False, True])


# -- units -----------------------------------------------------------------------------------------------


def of_size(size: float, dtype: type = np.float64) -> Observations:
    X: FloatArray = (size * np.array([[1.0, 1.0], [nan, 2.0], [-1.5, nan], [1.2, 0.0]])).astype(dtype)
    return Observations(X, np.array([[0.0], [1.0], [nan], [1.0]], dtype))


@pytest.mark.parametrize(
    ("dtype", "size", "apart"),
    [
        (np.float64, 1.0, False),
        (np.float64, 1e59, False),
        (np.float64, 1e61, True),
        (np.float64, 1e-59, False),
        (np.float64, 1e-61, True),
        (np.float64, 1e300, True),
        (np.float64, 1e-310, True),
        (np.float32, 1e8, False),
        (np.float32, 2e9, True),
        (np.float32, 1e-8, False),
        (np.float32, 2e-10, True),
    ],
)
def test_columns_whose_squares_would_be_no_numbers_have_a_unit(dtype: type, size: float, apart: bool) -> None:
    observed = of_size(size, dtype)
    for found in (Informative.of(observed), Informative.whole(observed)):
        assert (found.unit != 1).all() == apart
        assert (found.unit != 1).any() == apart
        assert found.is_everything != apart
        np.testing.assert_array_equal(np.frexp(found.unit)[0], 0.5)
        narrow = found.narrow(observed)
        assert narrow.X.dtype == dtype
        if apart and size > 1e-300:
            # The usual value, of those that are not zero, is between one and four units.
            middle = np.nanmedian(np.abs(np.where(narrow.X == 0, nan, narrow.X)), axis=0)
            assert ((middle >= 1) & (middle < 4)).all()
        mean, std = np.nan_to_num(np.hstack((narrow.X, narrow.Y))), np.ones(narrow.X.shape)
        whole, spread = found.widen(mean.astype(np.float64), std)
        known = observed.X_known
        np.testing.assert_allclose(whole[:, :2][known], observed.X[known].astype(np.float64), rtol=1e-6)
        np.testing.assert_array_equal(spread, np.tile(found.unit, (4, 1)))
        np.testing.assert_array_equal(whole[:, 2], mean[:, 2])


def test_the_smallest_numbers_there_are_have_the_smallest_unit() -> None:
    """Half of the smallest is nothing, of which no logarithm can be taken."""
    X = np.array([[5e-324, 2e307], [1e-323, 3e307], [5e-324, 4e307]])
    found = Informative.of(Observations(X, np.empty((3, 0))))
    np.testing.assert_array_equal(found.unit, [2.0**-1000, 2.0**1000])


@pytest.mark.parametrize(("dtype", "most"), [(np.float64, 1e90), (np.float32, 10**13.5)])
def test_what_is_absurdly_far_from_the_usual_counts_as_less(dtype: type, most: float) -> None:
    usual: FloatArray = np.array([[1.0, 2.0, 1.0], [2.0, 1.0, 3.0], [1.0, 1.0, 2.0]], dtype)
    usual[0, 0], usual[1, 1] = most * 10, -most * 10
    observed = Observations(usual, np.empty((3, 0), dtype))
    found = Informative.of(observed)
    narrow = found.narrow(observed)
    assert (found.unit == 1).all()
    np.testing.assert_allclose(narrow.X[[0, 1], [0, 1]], [most, -most], rtol=1e-6)
    np.testing.assert_array_equal(narrow.X[2], usual[2])
    # In units of its own, too.
    large = Observations(np.array([[1e70], [2e70], [1e300]]), np.empty((3, 0)))
    in_units = Informative.of(large).narrow(large).X[:, 0]
    assert in_units[2] == pytest.approx(1e90)
    assert in_units[0] < 4


def test_what_leaves_the_numbers_on_the_way_back_is_the_largest_of_them() -> None:
    observed = of_size(1e307)
    found = Informative.of(observed)
    whole, spread = found.widen(np.full((1, 3), 1e9), np.full((1, 2), 1e9))
    largest = np.finfo(np.float64).max
    np.testing.assert_array_equal(whole, [[largest, largest, 1e9]])
    np.testing.assert_array_equal(spread, largest)
    np.testing.assert_array_equal(found.widen(np.full((1, 3), -1e9), np.ones((1, 2)))[0][:, :2], -largest)


def test_columns_that_do_not_take_part_keep_their_own_unit() -> None:
    X = np.array([[1e70, 3e70], [2e70, 3e70]])
    found = Informative.of(Observations(X, np.empty((2, 0))))
    whole, spread = found.widen(np.array([[1.0]]), np.array([[1.0]]))
    np.testing.assert_array_equal(whole, [[found.unit[0], 3e70]])
    np.testing.assert_array_equal(spread, [[found.unit[0], 0]])


def test_as_they_are_too_large_numbers_are_refused() -> None:
    for size in (1.0, 5e59, 1e-310):
        found = Informative.whole(of_size(size), units=False)
        assert found.is_everything
    message = r"X holds 2e\+61 in column 1, too large for scale=False: .*; use another unit, or scale=True"
    X = np.array([[1.0, nan], [1.0, -2e61]])
    with pytest.raises(InputError, match=message):
        Informative.whole(Observations(X, np.empty((2, 0))), units=False)
    single = Observations(np.array([[1.0, 2e9]], np.float32), np.empty((1, 0), np.float32), ("a", "b"))
    with pytest.raises(
        InputError, match=r"column 'b'.*use another unit, or pass X as float64, or scale=True"
    ):
        Informative.whole(single, units=False)
