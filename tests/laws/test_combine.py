"""Members combined: weights from held-out cells, mixtures of predictions, widths of intervals."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import expit, ndtri

from cocomplete.arrays import FloatArray
from cocomplete.choosing import combine
from cocomplete.choosing.combine import NEGLIGIBLE, TRUST, equal_shares, label_weights, number_weights
from cocomplete.choosing.held_out import Fold, Units
from cocomplete.choosing.judge import (
    FACTOR_TRUST,
    SMALLEST_FACTOR,
    Contest,
    HeldOut,
    calibrated,
    error_summary,
)
from cocomplete.fitted.ensemble import Ensemble, mixture_std
from cocomplete.fitted.parts import PARTS, Part
from cocomplete.members.prediction import Prediction
from cocomplete.members.trivial import Trivial
from cocomplete.problem.observations import Observations

pytestmark = pytest.mark.usual_folds

nan = np.nan


def number_cost(weights: FloatArray, predictions: FloatArray, truth: FloatArray) -> float:
    """Nats of a weighted average of numbers: squared errors in units of the best member's, and the pull."""
    noise = ((predictions - truth) ** 2).mean(axis=1).min()
    error = np.sum((weights @ predictions - truth) ** 2) / (2 * noise)
    return error + TRUST * np.sum((weights - 1 / len(weights)) ** 2)


def label_cost(weights: FloatArray, log_odds: FloatArray, truth: FloatArray) -> float:
    z = weights @ log_odds
    return np.sum(np.logaddexp(0, z) - truth * z) + TRUST * np.sum((weights - 1 / len(weights)) ** 2)


def problem(
    kind: str, seed: int, members: int, count: int = 60
) -> tuple[FloatArray, FloatArray, Callable[..., FloatArray], Callable[..., float]]:
    """Members of different worth that err partly together, and the truth."""
    rng = np.random.default_rng(seed)
    quality = rng.uniform(0.2, 2, size=(members, 1))
    signal, shared = rng.normal(size=(2, count))
    predictions = signal + 0.5 * shared + quality * rng.normal(size=(members, count))
    if kind == "numbers":
        return predictions, signal + 0.3 * rng.normal(size=count), number_weights, number_cost
    truth = (rng.random(count) < expit(2 * signal)).astype(float)
    return 2 * predictions, truth, label_weights, label_cost


def simplex(members: int, steps: int) -> FloatArray:
    """All weights in multiples of 1 / steps."""
    if members == 2:
        first = np.arange(steps + 1) / steps
        return np.column_stack((first, 1 - first))
    a, b = np.meshgrid(np.arange(steps + 1), np.arange(steps + 1))
    inside = a + b <= steps
    return np.column_stack((a[inside], b[inside], (steps - a - b)[inside])) / steps


# -- weights ---------------------------------------------------------------------------------------------


@given(st.sampled_from(("numbers", "labels")), st.integers(0, 10_000), st.integers(1, 6), st.integers(0, 40))
def test_weights_are_on_the_simplex(kind: str, seed: int, members: int, count: int) -> None:
    predictions, truth, weigh, _ = problem(kind, seed, members, count)
    weights = weigh(predictions, truth)
    assert weights.shape == (members,)
    assert (weights >= 0).all()
    assert weights.sum() == pytest.approx(1, abs=1e-12)
    # What is too small to matter is nothing.
    assert ((weights == 0) | (weights >= NEGLIGIBLE)).all()


@pytest.mark.parametrize("kind", ["numbers", "labels"])
@pytest.mark.parametrize(("members", "steps"), [(2, 400), (3, 80)])
@pytest.mark.parametrize("seed", range(4))
def test_no_weights_on_a_grid_are_better(kind: str, members: int, steps: int, seed: int) -> None:
    predictions, truth, weigh, cost = problem(kind, seed, members)
    weights = weigh(predictions, truth)
    grid = simplex(members, steps)
    costs = [cost(one, predictions, truth) for one in grid]
    # Weights that were too small to matter cost a little.
    slack = 0.05 if (weights == 0).any() else 1e-6
    assert cost(weights, predictions, truth) <= min(costs) + slack
    assert np.abs(weights - grid[np.argmin(costs)]).max() < 1 / steps + 2 * NEGLIGIBLE


@given(st.sampled_from(("numbers", "labels")), st.integers(0, 10_000), st.integers(2, 5))
def test_no_other_weights_are_better(kind: str, seed: int, members: int) -> None:
    predictions, truth, weigh, cost = problem(kind, seed, members)
    weights = weigh(predictions, truth)
    slack = 0.1 if (weights == 0).any() else 1e-6
    lowest, rng = cost(weights, predictions, truth), np.random.default_rng(seed)
    for other in rng.dirichlet(np.ones(members), 30):
        # All the way and a tenth of it: far and near.
        for part in (1, 0.1):
            assert cost(weights + part * (other - weights), predictions, truth) >= lowest - slack


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_with_many_cells_the_better_has_nearly_all_where_the_others_are_useless(kind: str) -> None:
    rng = np.random.default_rng(0)
    signal, useless, reverse = 2 * rng.normal(size=(3, 20_000))
    weigh: Callable[..., FloatArray]
    if kind == "numbers":
        truth, weigh = signal + 0.5 * rng.normal(size=20_000), number_weights
    else:
        truth, weigh = (rng.random(20_000) < expit(signal)).astype(float), label_weights
    assert weigh(np.stack((signal, useless, -signal + reverse)), truth) == pytest.approx([1, 0, 0], abs=0.05)


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_two_that_err_independently_share(kind: str) -> None:
    rng = np.random.default_rng(1)
    signal, one, other = rng.normal(size=(3, 20_000))
    weigh: Callable[..., FloatArray]
    if kind == "numbers":
        truth, weigh, scale = signal, number_weights, 1.0
    else:
        truth, weigh, scale = (rng.random(20_000) < expit(2 * signal)).astype(float), label_weights, 2.0
    pair = scale * np.stack((signal + 0.5 * one, signal + 0.5 * other))
    assert weigh(pair, truth) == pytest.approx([0.5, 0.5], abs=0.05)
    # Numbers that err twice as much count for a quarter: inverse variances.
    if kind == "numbers":
        assert weigh(np.stack((signal + 0.5 * one, signal + other)), truth) == pytest.approx(
            [0.8, 0.2], abs=0.03
        )


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_copies_share_what_one_of_them_would_have(kind: str) -> None:
    predictions, truth, weigh, _ = problem(kind, 5, 2, 500)
    weights = weigh(np.vstack((predictions, predictions[:1])), truth)
    assert weights[0] == pytest.approx(weights[2], abs=0.01)


@pytest.mark.parametrize("kind", ["numbers", "labels"])
def test_with_few_cells_weights_stay_near_equal_and_with_none_are_equal(
    kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of two that are equally good, chance prefers one; the pull holds it back."""

    def off(seed: int, count: int) -> float:
        rng = np.random.default_rng(seed)
        signal, one, other = rng.normal(size=(3, count))
        pair = np.stack((signal + one, signal + other))
        if kind == "numbers":
            return abs(number_weights(pair, signal)[0] - 0.5)
        return abs(label_weights(pair, (rng.random(count) < expit(signal)).astype(float))[0] - 0.5)

    # A pull that is strong, or next to none, whatever the defaults have.
    monkeypatch.setattr(combine, "TRUST", 10.0)
    few, many = (np.mean([off(seed, count) for seed in range(40)]) for count in (4, 1000))
    assert few < 0.13
    assert many < 0.06
    monkeypatch.setattr(combine, "TRUST", 1e-3)
    assert np.mean([off(seed, 4) for seed in range(40)]) > 2 * few


@pytest.mark.parametrize("weigh", [number_weights, label_weights])
def test_without_cells_or_without_rivals_there_is_nothing_to_weigh(weigh: Callable[..., FloatArray]) -> None:
    np.testing.assert_array_equal(weigh(np.empty((2, 0)), np.empty(0)), [0.5, 0.5])
    np.testing.assert_array_equal(weigh(np.zeros((1, 5)), np.ones(5)), [1])


@given(st.integers(0, 10_000), st.sampled_from((1e-3, 7.0, 1e4)))
def test_weights_of_numbers_do_not_depend_on_units(seed: int, factor: float) -> None:
    predictions, truth, *_ = problem("numbers", seed, 3)
    one, other = number_weights(predictions, truth), number_weights(factor * predictions, factor * truth)
    np.testing.assert_allclose(other, one, atol=1e-3)


def test_a_member_that_is_hardly_ever_wrong_has_all() -> None:
    rng = np.random.default_rng(3)
    truth, error = rng.normal(size=(2, 50))
    pair = np.stack((truth + error, truth + 0.01 * rng.normal(size=50)))
    assert number_weights(pair, truth) == pytest.approx([0, 1])


# -- judging ---------------------------------------------------------------------------------------------


def contest(X: FloatArray, Y: FloatArray | None = None) -> tuple[Contest, list[Fold]]:
    """A table of which every cell is held out, in two folds of half its rows each."""
    n, d = X.shape
    Y = np.empty((n, 0)) if Y is None else Y
    observed = Observations(X, Y)
    table, found = np.hstack((X, Y)), []
    for half in (slice(0, n // 2), slice(n // 2, n)):
        row, column = (k.ravel() for k in np.mgrid[half, 0 : table.shape[1]])
        part = np.where(column < d, PARTS.index("numbers"), PARTS.index("labels"))
        found.append(Fold(observed, row, column, table[row, column], part))
    held = HeldOut.of(found, Units.of(observed))
    return Contest(held, [fold.row.size for fold in found]), found


@pytest.mark.parametrize("absurd", [1e6, 1e12])
def test_one_outlier_does_not_decide(absurd: float) -> None:
    """One member is right about one absurd cell, the other about all the rest."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 3))
    good, lucky = X + 0.3 * rng.normal(size=X.shape), rng.normal(size=X.shape)
    X[7, 1] = lucky[7, 1] = absurd
    judge, found = contest(X)
    for name, mean in (("good", good), ("lucky", lucky)):
        for number, fold in enumerate(found):
            judge.add(name, number, fold, Prediction(mean, np.ones_like(mean)))
    bare = [np.sum((one - X) ** 2) for one in (good, lucky)]
    assert bare[1] < bare[0]
    assert judge.total("good", "numbers") < judge.total("lucky", "numbers")
    held, where = judge.held, judge.held.where("numbers")
    predictions = np.stack([judge.means[one][where] for one in ("good", "lucky")])
    predictions, truth = (
        held.units.standardized(held.column[where], values) for values in (predictions, held.value[where])
    )
    assert number_weights(predictions, truth)[0] > 0.8


def test_predictions_are_kept_in_their_folds_cells() -> None:
    rng = np.random.default_rng(5)
    X, Y = rng.normal(size=(10, 3)), (rng.random((10, 2)) < 0.5).astype(float)
    judge, found = contest(X, Y)
    mean, std = rng.normal(size=(10, 5)), rng.random((10, 3))
    judge.add("whole", 0, found[0], Prediction(mean, std))
    assert np.isnan(judge.means["whole"][25:]).all()
    judge.add("whole", 1, found[1], Prediction(mean, std))
    judge.add_means("means alone", 0, np.arange(25.0))
    assert judge.candidates() == ["whole", "means alone"]
    np.testing.assert_array_equal(judge.means["whole"].reshape(10, 5), mean)
    np.testing.assert_array_equal(judge.stds["whole"].reshape(10, 5)[:, :3], std)
    assert np.isnan(judge.stds["whole"].reshape(10, 5)[:, 3:]).all()
    assert np.isnan(judge.stds["means alone"]).all()


def test_errors_are_squares_in_units_of_spread_and_log_losses() -> None:
    rng = np.random.default_rng(6)
    X, Y = 10 * rng.normal(size=(10, 3)), (rng.random((10, 2)) < 0.5).astype(float)
    judge, found = contest(X, Y)
    mean = rng.normal(size=(10, 5))
    for number, fold in enumerate(found):
        judge.add("one", number, fold, Prediction(mean, np.ones((10, 3))))
    squares = ((X - mean[:, :3]) / X.std(axis=0, ddof=1)) ** 2
    assert judge.total("one", "numbers") == pytest.approx(squares.sum())
    assert judge.loss("one", "numbers") == pytest.approx(squares.mean())
    chance = expit(mean[:, 3:])
    losses = -np.log(np.where(Y == 1, chance, 1 - chance))
    assert judge.loss("one", "labels") == pytest.approx(losses.mean())
    assert judge.total("one", "unlabelled") == judge.loss("one", "unlabelled") == 0
    # Beside the trivial answer, in the user's terms.
    trivial = np.zeros(20)
    summary = error_summary(judge.held, "labels", mean[:, 3:].ravel(), trivial)
    assert summary["cells"] == 20
    assert summary["log_loss"] == pytest.approx(losses.mean())
    assert summary["wrong"] == np.mean((mean[:, 3:] > 0) != Y)
    assert summary["trivial_log_loss"] == pytest.approx(np.log(2))
    assert summary["trivial_wrong"] == np.mean(Y == 1)
    numbers = error_summary(judge.held, "numbers", mean[:, :3].ravel(), np.zeros(30))
    assert numbers["rmse"] == pytest.approx(np.sqrt(squares.mean()))
    assert set(numbers) == {"cells", "rmse", "trivial_rmse"}


def test_who_does_not_answer_cannot_be_the_best() -> None:
    X, Y = np.random.default_rng(7).normal(size=(8, 2)), np.tile([[0.0], [1.0]], (4, 1))
    judge, _ = contest(X, Y)
    means = np.zeros(12)
    means[5] = nan
    judge.add_means("silent", 0, means)
    judge.add_means("silent", 1, np.zeros(12))
    assert judge.held.column[5] == 2
    assert judge.total("silent", "labels") == np.inf
    assert np.isfinite(judge.total("silent", "numbers"))


# -- mixtures --------------------------------------------------------------------------------------------


@given(st.integers(0, 10_000), st.integers(1, 4))
def test_the_deviation_of_a_mixture_is_that_of_draws_from_it(seed: int, members: int) -> None:
    rng = np.random.default_rng(seed)
    weights = rng.dirichlet(np.ones(members))
    means, stds = 2 * rng.normal(size=(members, 5)), rng.uniform(0.1, 3, (members, 5))
    which = rng.choice(members, size=20_000, p=weights)
    draws = means[which] + stds[which] * rng.standard_normal((20_000, 5))
    found = mixture_std(list(weights), list(means), list(stds))
    np.testing.assert_allclose(found, draws.std(axis=0), rtol=0.06)
    # Weights need not sum to one.
    np.testing.assert_allclose(mixture_std(list(7 * weights), list(means), list(stds)), found)


def test_who_has_no_deviation_gets_that_of_the_others() -> None:
    rng = np.random.default_rng(8)
    means, stds = rng.normal(size=(3, 4, 2)), rng.uniform(0.5, 2, (3, 4, 2))
    weights = [0.5, 0.3, 0.2]
    missing = stds.copy()
    missing[1] = nan
    # The others' mean variance, by their weights.
    stds[1] = np.sqrt((0.5 * stds[0] ** 2 + 0.2 * stds[2] ** 2) / 0.7)
    np.testing.assert_allclose(
        mixture_std(weights, list(means), list(missing)), mixture_std(weights, list(means), list(stds))
    )
    # Cell by cell: it may be missing in some.
    missing[1] = np.where(np.arange(4)[:, None] < 2, stds[1], nan)
    np.testing.assert_allclose(
        mixture_std(weights, list(means), list(missing)), mixture_std(weights, list(means), list(stds))
    )


def test_where_nobody_has_a_deviation_members_differences_are_left() -> None:
    means = [np.array([0.0, 1.0]), np.array([2.0, 1.0])]
    np.testing.assert_allclose(mixture_std([0.5, 0.5], means, [np.full(2, nan)] * 2), [1, 0])


def test_an_ensemble_weighs_every_part_by_itself() -> None:
    """Two members, and four parts: a row with a known label and one without."""
    yes_no = np.array([False, True])
    members = (
        Trivial(np.array([1.0, 2.0, 3.0]), np.array([0.5, 0.0])),
        Trivial(np.array([-1.0, 6.0, 13.0]), np.array([1.5, 0.0])),
    )
    shares: dict[Part, float] = {"numbers": 0.5, "yes-no": 0.75, "labels": 0.1, "unlabelled": 1.0}
    weights = {part: np.array([share, 1 - share]) for part, share in shares.items()}
    ensemble = Ensemble(members, weights, yes_no, std_factor=2.0)
    observed = Observations(np.full((2, 2), nan), np.array([[1.0], [nan]]))
    prediction = ensemble.predict(observed)
    np.testing.assert_allclose(prediction.mean, [[0, 3, 12], [0, 3, 3]])
    # Variances within, 1.25, and between, 1; the factor is of the deviation. Yes/no features have none.
    np.testing.assert_allclose(prediction.std, [[2 * np.sqrt(2.25), 0]] * 2)
    alone = Ensemble.alone(members[1], yes_no).predict(observed)
    np.testing.assert_array_equal(alone.mean, [[-1, 6, 13]] * 2)
    np.testing.assert_array_equal(alone.std, [[1.5, 0]] * 2)


# -- widths ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("wider", [0.5, 1.0, 3.0])
def test_with_many_cells_the_factor_makes_nine_of_ten_lie_inside(wider: float) -> None:
    rng = np.random.default_rng(9)
    # Heavier tails than normal ones: the quantile is what counts.
    ratios = wider * np.abs(rng.standard_t(4, size=50_000))
    (factor,) = calibrated(ratios, np.zeros(50_000, int), 1)
    assert np.mean(ratios < ndtri(0.95) * factor) == pytest.approx(0.9, abs=0.003)
    assert factor == pytest.approx(np.quantile(ratios, 0.9) / ndtri(0.95), rel=0.01)


def test_every_column_has_its_own_factor_where_it_has_cells_enough() -> None:
    rng = np.random.default_rng(10)
    column = np.repeat([0, 2, 3], [20_000, 20_000, 3])
    ratios = np.array([0.5, nan, 2.0, 9.0])[column] * np.abs(rng.normal(size=column.size))
    factors = calibrated(ratios, column, 5)
    whole = np.quantile(ratios, 0.9) / ndtri(0.95)
    assert factors[[0, 2]] == pytest.approx([0.5, 2], rel=0.03)
    # One without cells, or with next to none, follows the others.
    assert factors[[1, 4]] == pytest.approx(whole, rel=0.01)
    assert whole < factors[3] < 1.5 * whole
    for j in (0, 2):
        own = ratios[column == j]
        assert np.mean(own < ndtri(0.95) * factors[j]) == pytest.approx(0.9, abs=0.005)


def test_with_few_cells_the_factor_is_near_one_and_with_none_one() -> None:
    def factor(ratio: float, count: int) -> float:
        return calibrated(np.full(count, ratio), np.zeros(count, int), 2)[1]

    np.testing.assert_array_equal(calibrated(np.empty(0), np.empty(0, int), 3), [1, 1, 1])
    assert 1 < factor(10.0, 3) < 1.3
    assert 0.8 < factor(0.5, 3) < 1
    # As many as it takes for half of the weight.
    assert factor(10.0, FACTOR_TRUST) == pytest.approx(np.sqrt(10 / ndtri(0.95)))
    assert np.all(np.diff([factor(10.0, count) for count in (1, 5, 50, 500)]) > 0)


def test_deviations_are_not_made_nothing_where_nothing_was_wrong() -> None:
    assert calibrated(np.zeros(100_000), np.zeros(100_000, int), 1) == pytest.approx(
        SMALLEST_FACTOR, rel=0.01
    )


def test_what_needs_no_held_out_labels_counts_for_half_of_the_pull() -> None:
    np.testing.assert_allclose(equal_shares([False, True, False], 0.5), [0.25, 0.5, 0.25])
    np.testing.assert_allclose(equal_shares([False, False], 0.5), [0.5, 0.5])
    np.testing.assert_allclose(equal_shares([True], 0.5), [1.0])
