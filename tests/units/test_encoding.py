"""From the user's columns to the solvers' and back: scores, scales, types."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.special import expit, ndtri

from cocomplete.arrays import FloatArray
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.problem.scores import NormalScores
from cocomplete.problem.standardize import ABSURD, FAR, Standardization, limits

nan = np.nan


def columns(
    least: int = 1, most: int = 30, elements: st.SearchStrategy[float] | None = None
) -> st.SearchStrategy[FloatArray]:
    values = st.floats(-1e4, 1e4, width=32) if elements is None else elements
    return st.integers(least, most).flatmap(lambda n: arrays(np.float64, n, elements=values))


# -- normal scores -------------------------------------------------------------------------------------


@given(columns(), columns())
def test_scores_rise_with_values_and_ties_share_one(values: FloatArray, others: FloatArray) -> None:
    scores = NormalScores.of(values[:, None])
    asked = np.concatenate((values, others))
    t = scores.apply(asked[:, None])[:, 0]
    assert np.isfinite(t).all()
    # Interpolating rounds.
    assert (np.diff(t[np.argsort(asked, kind="stable")]) >= -1e-12).all()
    order = np.argsort(values)
    # What is absurdly far from the rest counts as no farther than the limit.
    within = np.clip(
        values, *(side[0] for side in limits(values[:, None], np.ones((len(values), 1), bool), ABSURD))
    )
    np.testing.assert_array_equal(np.diff(t[order]) > 0, np.diff(within[order]) > 0)
    assert (np.diff(t[order]) >= 0).all()


@given(columns(elements=st.integers(-5, 5).map(float)))
def test_without_variance_observed_values_come_back(values: FloatArray) -> None:
    scores = NormalScores.of(values[:, None])
    t = scores.apply(values[:, None])[:, 0]
    mean, std = scores.undo(0, t, np.zeros_like(t))
    np.testing.assert_allclose(mean, values, atol=1e-6)
    np.testing.assert_allclose(std, 0, atol=1e-5)


@given(columns(elements=st.integers(-3, 3).map(float)))
def test_scores_of_a_mirrored_column_are_mirrored(values: FloatArray) -> None:
    there, back = (NormalScores.of(X).apply(X) for X in (values[:, None], -values[:, None]))
    np.testing.assert_allclose(back, -there, atol=1e-12)


@given(columns(), st.floats(-1e3, 1e3), st.floats(0, 1e3))
def test_a_score_among_the_observed_ones_comes_back_inside_the_range(
    values: FloatArray, t: float, variance: float
) -> None:
    scores = NormalScores.of(values[:, None])
    end = ndtri(1 - 0.5 / len(values))
    inside = scores.value(0, np.clip(np.array([t]), -end, end))
    slack = 1e-9 * (1 + np.abs(values).max())
    assert values.min() - slack <= inside[0] <= values.max() + slack
    # Past the ends it goes on: farther out is never nearer.
    beyond = scores.value(0, np.array([-end - 1, -end, end, end + 1]))
    assert (np.diff(beyond[[0, 1]]) >= 0).all()
    assert (np.diff(beyond[[2, 3]]) >= 0).all()
    # What is absurdly far from the rest counts as no farther than the limit.
    kept = scores.values[0]
    if np.ptp(kept) > 1e-3 * np.abs(kept).max():
        assert beyond[0] < kept.min()
        assert beyond[3] > kept.max()
    assert scores.undo(0, np.array([t]), np.array([variance]))[1][0] >= 0


def test_mean_and_deviation_are_those_of_many_draws() -> None:
    rng = np.random.default_rng(0)
    values = np.exp(rng.normal(size=400))
    scores = NormalScores.of(values[:, None])
    t, variance = np.array([-1.0, 0.0, 0.7, 1.5]), np.array([0.1, 0.5, 1.0, 0.3])
    mean, std = scores.undo(0, t, variance)
    count = 20_000
    draws = t + np.sqrt(variance) * rng.standard_normal((count, 4))
    drawn = np.column_stack([scores.undo(0, draw, np.zeros_like(draw))[0] for draw in draws.T])
    # Fifteen nodes against a step-like map: a few per cent.
    np.testing.assert_allclose(mean, drawn.mean(axis=0), rtol=0.03)
    np.testing.assert_allclose(std, drawn.std(axis=0), rtol=0.08)


def test_far_from_zero_the_deviation_survives() -> None:
    values = 1e9 + np.arange(50.0)
    scores = NormalScores.of(values[:, None])
    near = NormalScores.of((values - 1e9)[:, None])
    t, variance = np.linspace(-2, 2, 9), np.full(9, 0.4)
    for one, other in zip(scores.undo(0, t, variance), near.undo(0, t, variance), strict=True):
        np.testing.assert_allclose(one % 1e9, other, atol=1e-5)


def test_constant_empty_and_single_columns_have_scores_too() -> None:
    X = np.array([[3.0, nan, 7.0], [3.0, nan, nan], [3.0, nan, nan]])
    scores = NormalScores.of(X)
    np.testing.assert_array_equal(scores.apply(X), [[0, nan, 0], [0, nan, nan], [0, nan, nan]])
    np.testing.assert_array_equal(scores.apply(np.array([[9.0, 9.0, 9.0]])), [[0, 0, 0]])
    t = np.array([-3.0, 0.0, 2.0])
    for column, value in ((0, 3.0), (2, 7.0)):
        mean, std = scores.undo(column, t, np.ones(3))
        np.testing.assert_allclose(mean, value)
        np.testing.assert_allclose(std, 0, atol=1e-7)
    mean, std = scores.undo(1, t, np.ones(3))
    np.testing.assert_array_equal(mean, 0)
    np.testing.assert_array_equal(std, 1)


def test_scores_do_not_change_with_a_monotone_change_of_units() -> None:
    X = np.random.default_rng(1).normal(size=(30, 3))
    X[np.random.default_rng(2).random(X.shape) < 0.3] = nan
    np.testing.assert_allclose(NormalScores.of(X).apply(X), NormalScores.of(np.exp(X)).apply(np.exp(X)))
    # About normal: half of them between the quartiles.
    t = NormalScores.of(X).apply(X)
    assert np.nanmean(t) == pytest.approx(0, abs=1e-12)
    assert 0.8 < np.nanstd(t) < 1


# -- standardisation -----------------------------------------------------------------------------------


@given(
    columns(least=3, elements=st.integers(-50, 50).map(float)),
    st.sampled_from((-20.0, -1.0, 0.01, 3.0)),
    st.sampled_from((-100.0, 0.0, 7.0)),
)
def test_standardisation_follows_a_change_of_units(values: FloatArray, factor: float, shift: float) -> None:
    assume(np.ptp(values) > 0)
    X = values[:, None]
    one, other = (Standardization.of(Z, center=True, scale=True) for Z in (X, factor * X + shift))
    np.testing.assert_allclose(other.center, factor * one.center + shift, atol=1e-8)
    np.testing.assert_allclose(other.scale, abs(factor) * one.scale, rtol=1e-8)
    limits = sorted(float(factor * side[0] + shift) for side in (one.low, one.high))
    np.testing.assert_allclose([other.low[0], other.high[0]], limits, atol=1e-8)
    np.testing.assert_allclose(other.apply(factor * X + shift), np.sign(factor) * one.apply(X), atol=1e-7)


@given(columns(least=3, elements=st.integers(-50, 50).map(float)), st.booleans(), st.booleans())
def test_undoing_what_was_applied_gives_the_value_back(values: FloatArray, center: bool, scale: bool) -> None:
    X = values[:, None]
    standard = Standardization.of(X, center=center, scale=scale)
    kept = np.clip(values, standard.low, standard.high)
    mean, std = standard.undo(0, standard.apply(X)[:, 0], np.full(len(X), 4.0))
    np.testing.assert_allclose(mean, kept, atol=1e-9)
    np.testing.assert_allclose(std, 2 * standard.scale[0])


def test_standard_means_mean_zero_and_variance_one() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(5, 3, size=(40, 4))
    X[rng.random(X.shape) < 0.3] = nan
    t = Standardization.of(X, center=True, scale=True).apply(X)
    np.testing.assert_array_equal(np.isnan(t), np.isnan(X))
    np.testing.assert_allclose(np.nanmean(t, axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(np.nanvar(t, axis=0, ddof=1), 1)
    bare = Standardization.of(X, center=False, scale=False)
    assert not bare.center.any()
    assert (bare.scale == 1).all()
    np.testing.assert_array_equal(bare.apply(X), X)


def test_one_outlier_moves_only_its_own_column_and_that_a_little() -> None:
    rng = np.random.default_rng(3)
    X = rng.normal(2, 1, size=(50, 3))
    wild = X.copy()
    wild[7, 1] = 1e9
    before, after = (Standardization.of(table, center=True, scale=True) for table in (X, wild))
    for name in ("center", "scale", "low", "high"):
        np.testing.assert_array_equal(getattr(after, name)[[0, 2]], getattr(before, name)[[0, 2]])
    assert abs(after.center[1] - before.center[1]) < 0.5
    assert after.scale[1] < 2 * before.scale[1]
    assert np.abs(after.apply(wild)).max() <= 2 * FAR
    # How wild it is makes no difference.
    wild[7, 1] = 1e12
    wilder = Standardization.of(wild, center=True, scale=True)
    np.testing.assert_array_equal(wilder.center, after.center)
    np.testing.assert_array_equal(wilder.scale, after.scale)


def test_columns_with_next_to_nothing_observed() -> None:
    X = np.full((4, 4), nan)
    X[0, 1] = 5.0
    X[:2, 2] = 1.0, 3.0
    X[:, 3] = 1e8
    standard = Standardization.of(X, center=True, scale=True)
    np.testing.assert_allclose(standard.center, [0, 5, 2, 1e8])
    # Nothing, one value and a constant have no spread: they keep their units.
    np.testing.assert_allclose(standard.scale, [1, 1, np.sqrt(2), 1])
    assert (standard.low <= standard.center - 1e6).all()
    assert (standard.high >= standard.center + 1e6).all()
    np.testing.assert_allclose(standard.apply(X)[0], [nan, 0, -np.sqrt(0.5), 0])


@pytest.mark.parametrize("center", [True, False])
@pytest.mark.parametrize("scale", [True, False])
def test_single_precision_stays_single(center: bool, scale: bool) -> None:
    X = np.random.default_rng(0).normal(3, 2, size=(20, 3)).astype(np.float32)
    X[0, 0] = nan
    standard = Standardization.of(X, center=center, scale=scale)
    for part in (standard.center, standard.scale, standard.low, standard.high, standard.apply(X)):
        assert part.dtype == np.float32
    assert NormalScores.of(X).apply(X).dtype == np.float32


def test_new_rows_are_drawn_to_the_limits_even_if_the_column_is_standard_already() -> None:
    X = np.array([[-1.0], [0.0], [1.0]])
    standard = Standardization.of(X, center=True, scale=True)
    assert (standard.center[0], standard.scale[0]) == (0, 1)
    assert standard.apply(np.array([[1e9]]))[0, 0] == standard.high[0]


# -- encoding ------------------------------------------------------------------------------------------


@pytest.fixture
def mixed() -> Observations:
    """Four features, of which the second and fourth are yes/no, and two labels."""
    X = np.array([[1.0, 0, 10, 1], [2.0, 1, 20, nan], [4.0, 1, nan, 0], [nan, nan, 80, 1], [9.0, 1, 60, 1]])
    Y = np.array([[1.0, 0], [1, nan], [nan, 1], [0, 0], [1, nan]])
    return Observations(X, Y, ("size", "smokes", "weight", "treated"), ("a", "b"))


YES_NO = np.array([False, True, False, True])


@pytest.mark.parametrize("gaussian", [False, True])
def test_yes_no_features_join_the_labels_and_the_order_has_their_place(
    mixed: Observations, gaussian: bool
) -> None:
    encoding = Encoding.of(mixed, YES_NO, center=True, scale=True, gaussian=gaussian)
    encoded = encoding.apply(mixed)
    np.testing.assert_array_equal(encoding.order, [0, 2, 1, 3, 4, 5])
    assert encoding.gaussian is gaussian
    assert encoding.n_numbers == encoded.n_features == 2
    assert encoded.n_labels == 4
    np.testing.assert_array_equal(encoded.Y, np.hstack((mixed.X[:, YES_NO], mixed.Y)))
    users = np.hstack((mixed.X, mixed.Y))
    solvers = np.hstack((encoded.X, encoded.Y))[:, encoding.order]
    np.testing.assert_array_equal(np.isnan(users), np.isnan(solvers))
    np.testing.assert_array_equal(users[:, [1, 3, 4, 5]], solvers[:, [1, 3, 4, 5]])


@given(st.lists(st.booleans(), min_size=1, max_size=8), st.integers(0, 4))
def test_the_order_is_a_permutation_that_keeps_numbers_first_and_labels_last(
    kinds: list[bool], n_labels: int
) -> None:
    yes_no = np.array(kinds)
    d = len(yes_no)
    encoding = Encoding(
        yes_no,
        Standardization.of(np.zeros((1, int((~yes_no).sum()))), center=True, scale=True),
        np.zeros(int(yes_no.sum()) + n_labels),
    )
    order = encoding.order
    np.testing.assert_array_equal(np.sort(order), np.arange(d + n_labels))
    assert (order[:d][~yes_no] < encoding.n_numbers).all()
    assert (order[:d][yes_no] >= encoding.n_numbers).all()
    np.testing.assert_array_equal(order[d:], np.arange(d, d + n_labels))
    assert (np.diff(order[:d][~yes_no]) == 1).all()
    assert (np.diff(order[:d][yes_no]) == 1).all()


@pytest.mark.parametrize("gaussian", [False, True])
def test_features_decode_to_what_they_were(mixed: Observations, gaussian: bool) -> None:
    encoding = Encoding.of(mixed, YES_NO, center=True, scale=True, gaussian=gaussian)
    encoded = encoding.apply(mixed)
    for j in (0, 2):
        t = encoded.X[:, encoding.order[j]]
        known = ~np.isnan(t)
        mean, std = encoding.feature(j, t[known], np.full(known.sum(), nan), np.zeros(known.sum()))
        np.testing.assert_allclose(mean, mixed.X[known, j])
        np.testing.assert_allclose(std, 0, atol=1e-6)
    score = np.array([-2.0, 0.0, 3.0])
    mean, std = encoding.feature(1, np.full(3, nan), score, np.full(3, nan))
    np.testing.assert_allclose(mean, expit(score))
    np.testing.assert_allclose(std**2, expit(score) * expit(-score))


def test_offsets_are_shrunken_log_odds_or_nothing(mixed: Observations) -> None:
    encoding = Encoding.of(mixed, YES_NO, center=True, scale=True)
    assert not encoding.gaussian
    np.testing.assert_array_equal(encoding.offsets[:2], 0)
    # smokes 3 of 4, treated 3 of 4, a 3 of 4, b 1 of 3; half a one and half a zero on top.
    np.testing.assert_allclose(expit(encoding.offsets[2:]), [3.5 / 5, 3.5 / 5, 3.5 / 5, 1.5 / 4])
    plain = Encoding.of(mixed, YES_NO, center=False, scale=True)
    assert not plain.offsets.any()
    one_sided = Observations(np.ones((3, 1)), np.array([[1.0, nan], [1, nan], [1, nan]]))
    offsets = Encoding.of(one_sided, np.array([False]), center=True, scale=True).offsets
    np.testing.assert_allclose(expit(offsets), [0.5, 3.5 / 4, 0.5])
