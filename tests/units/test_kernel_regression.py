"""Kernel logistic regression of labels on completed rows."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.members import kernel
from cocomplete.members.average import Average
from cocomplete.members.kernel import KERNELS, CompletedRows, KernelKind, KernelRegression, kernel_path
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.solvers.variational import OFFSET_PRECISION

nan = np.nan
YES_NO = np.array([False, True, False, False, True, False, False])
"""Seven features, of which two are yes/no and stand among the numbers; three labels."""

FEATURES = np.concatenate((np.flatnonzero(~YES_NO), np.flatnonzero(YES_NO)))
"""Their order in completed rows: numbers first."""

VARIANCES = (0.5, 4.0)


def table(seed: int = 0, n: int = 90) -> Observations:
    rng = np.random.default_rng(seed)
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, 10))
    X = 5 * (T[:, :7] + rng.normal(size=(n, 7))) - 3
    X[:, YES_NO] = (T[:, :7][:, YES_NO] + rng.logistic(size=(n, 2)) > 0).astype(float)
    Y = (T[:, 7:] + rng.logistic(size=(n, 3)) > 0).astype(float)
    X[rng.random(X.shape) < 0.3], Y[rng.random(Y.shape) < 0.3] = nan, nan
    return Observations(X, Y)


def path(
    average: Average,
    observed: Observations,
    kind: KernelKind,
    variances: Sequence[float] = VARIANCES,
    keys: NDArray[np.uint64] | None = None,
) -> list[KernelRegression]:
    """Fits to a table's own rows and labels."""
    rows = CompletedRows.of(average, observed)
    keys = np.arange(observed.n_samples, dtype=np.uint64) if keys is None else keys
    return list(kernel_path(average, rows, observed.Y, keys, kind, variances))


@pytest.fixture(scope="module", params=[False, True], ids=["units", "scores"])
def averaged(request: pytest.FixtureRequest) -> tuple[Observations, Average]:
    observed = table()
    return observed, Average.fit(observed, YES_NO, gaussian=request.param)


Regressed = tuple[Observations, Average, KernelRegression, KernelRegression]


@pytest.fixture(scope="module", params=KERNELS)
def regressed(request: pytest.FixtureRequest) -> Regressed:
    observed = table()
    average = Average.fit(observed, YES_NO, gaussian=False)
    stiff, loose = path(average, observed, request.param)
    return observed, average, stiff, loose


def standardized(observed: Observations, encoding: Encoding) -> FloatArray:
    """Features as the regression has them, observed cells alone."""
    numbers = encoding.scale.apply(observed.X[:, ~YES_NO])
    rate = expit(encoding.log_odds[:2])
    return np.hstack((numbers, (observed.X[:, YES_NO] - rate) / np.sqrt(rate * (1 - rate))))


# -- completed rows ------------------------------------------------------------------------------------


def test_what_was_observed_is_kept_and_the_rest_is_filled(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    rows = CompletedRows.of(average, observed)
    known = standardized(observed, average.encoding)
    seen = ~np.isnan(known)
    assert seen.any()
    assert not seen.all()
    np.testing.assert_allclose(rows.X[seen], known[seen])
    assert np.isfinite(rows.X).all()
    # Filled in with more than the column's mean: what is known of a row tells of the rest.
    assert rows.X[~seen].std() > 0.2


def test_labels_are_not_looked_at(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    rows = CompletedRows.of(average, observed)
    again = CompletedRows.of(average, replace(observed, Y=1 - observed.Y))
    np.testing.assert_array_equal(again.X, rows.X)
    np.testing.assert_array_equal(again.variances, rows.variances)


def test_variance_is_that_of_what_is_missing(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    observed = Observations(observed.X[:25], np.full((25, 3), nan))
    rows = CompletedRows.of(average, observed)
    known = observed.X_known[:, FEATURES]
    assert not rows.variances[known].any()
    assert (rows.variances[~known] > 0).all()
    # By draws of what is missing: factors, and noise on top of them.
    rng, count = np.random.default_rng(0), 200
    noise, rate = average.posterior.noise, expit(average.encoding.log_odds[:2])
    drawn = np.empty((count, 25, 7))
    for draw in drawn:
        t = average.draw(observed, rng)[:, :7]
        draw[:, :5] = t[:, :5] + np.sqrt(noise) * rng.standard_normal((25, 5))
        draw[:, 5:] = (t[:, 5:] + rng.logistic(size=(25, 2)) > 0) - rate
        draw[:, 5:] /= np.sqrt(rate * (1 - rate))
    variances = np.where(known, 0, drawn.var(axis=0))
    np.testing.assert_allclose(rows.variance, variances.mean(axis=1), rtol=0.3, atol=0.03)


def test_of_an_empty_row_nothing_is_known_but_means_and_unit_variance(
    averaged: tuple[Observations, Average],
) -> None:
    _, average = averaged
    empty = Observations(np.full((1, 7), nan), np.full((1, 3), nan))
    rows = CompletedRows.of(average, empty)
    assert np.abs(rows.X).max() < 0.5
    assert rows.variance[0] == pytest.approx(1, abs=0.25)


def test_completing_leaves_the_table_alone(averaged: tuple[Observations, Average]) -> None:
    observed, average = averaged
    X, Y = observed.X.copy(), observed.Y.copy()
    CompletedRows.of(average, observed)
    np.testing.assert_array_equal(observed.X, X)
    np.testing.assert_array_equal(observed.Y, Y)


# -- kernels -------------------------------------------------------------------------------------------


def test_the_kernel_falls_with_what_is_not_known() -> None:
    rng = np.random.default_rng(0)
    X, variances = rng.normal(size=(4, 6)), rng.random((3, 6))
    other = CompletedRows(rng.normal(size=(3, 6)), variances)
    certain, vague = (CompletedRows(X, np.full((4, 6), each)) for each in (0.0, 0.5))
    np.testing.assert_allclose(other.variance, variances.mean(axis=1))
    distance = ((X[:, None] - other.X) ** 2).mean(axis=2)
    np.testing.assert_allclose(certain.kernel(other, "rbf"), np.exp(-distance - other.variance))
    np.testing.assert_allclose(vague.kernel(other, "rbf"), np.exp(-distance - other.variance - 0.5))
    np.testing.assert_allclose(vague.kernel(other, "linear"), X @ other.X.T / 6)
    np.testing.assert_allclose(np.diag(certain.kernel(certain, "rbf")), 1)
    some = vague.take(np.array([2, 0]))
    np.testing.assert_array_equal(some.kernel(other, "rbf"), vague.kernel(other, "rbf")[[2, 0]])


# -- the regression ------------------------------------------------------------------------------------


@pytest.mark.parametrize("which", [0, 1])
def test_log_odds_are_the_most_probable_ones(regressed: Regressed, which: int) -> None:
    observed, average, *both = regressed
    fit, variance = both[which], VARIANCES[which]
    assert fit.variance == variance
    labelled = observed.Y_known.any(axis=1)
    rows = CompletedRows.of(average, observed).take(np.flatnonzero(labelled))
    K = rows.kernel(rows, fit.kind)
    if fit.kind == "rbf":
        np.fill_diagonal(K, 1)
    base = average.encoding.log_odds[2:]
    for j in range(3):
        y = observed.Y[labelled, j]
        known = np.flatnonzero(~np.isnan(y))
        weights = fit.weights[known, j] / variance
        assert not np.delete(fit.weights[:, j], known).any()
        assert fit.intercept[j] == pytest.approx(base[j] + weights.sum() / OFFSET_PRECISION[1])
        f = (variance * K[np.ix_(known, known)] + 1 / OFFSET_PRECISION[1]) @ weights
        # Where log p(y|f) - f'K^-1 f/2 is largest, K^-1 f is the slope of the labels' likelihood.
        np.testing.assert_allclose(weights, y[known] - expit(base[j] + f), atol=5e-3)


def test_a_linear_kernel_is_a_penalised_regression() -> None:
    observed = table()
    average = Average.fit(observed, YES_NO, gaussian=False)
    (fit,) = path(average, observed, "linear", VARIANCES[:1])
    labelled = observed.Y_known.any(axis=1)
    X = CompletedRows.of(average, observed).X[labelled]
    A, penalty = (
        np.hstack((np.ones((len(X), 1)), X)),
        np.array([OFFSET_PRECISION[1]] + [7 / VARIANCES[0]] * 7),
    )
    base = average.encoding.log_odds[2:]
    for j in range(3):
        w = np.append(fit.intercept[j] - base[j], X.T @ fit.weights[:, j] / 7)
        y = observed.Y[labelled, j]
        known = ~np.isnan(y)
        p = expit(base[j] + A[known] @ w)
        gradient = A[known].T @ (p - y[known]) + penalty * w
        assert np.abs(gradient).max() < 0.05


def test_a_larger_variance_follows_the_labels_more_closely(regressed: Regressed) -> None:
    observed, _, stiff, loose = regressed
    known = observed.Y_known
    loss = [
        np.mean((np.logaddexp(0, z) - observed.Y * z)[known])
        for z in (fit.predict(observed).mean[:, 7:] for fit in (stiff, loose))
    ]
    assert loss[1] < loss[0] - 0.01


@pytest.mark.parametrize("kind", KERNELS)
def test_a_fit_does_not_depend_on_the_path_to_it(kind: KernelKind) -> None:
    observed = table()
    average = Average.fit(observed, YES_NO, gaussian=True)
    *_, last = path(average, observed, kind, (0.1, 0.3, 1.0, 3.0))
    (alone,) = path(average, observed, kind, (3.0,))
    np.testing.assert_allclose(last.predict(observed).mean, alone.predict(observed).mean, atol=0.03)


def test_rows_that_are_complete_need_no_factors(regressed: Regressed) -> None:
    _, average, _, fit = regressed
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 7))
    X[:, YES_NO] = rng.integers(2, size=(6, 2))
    rows = Observations(X, np.full((6, 3), nan))
    prediction = fit.predict(rows)
    K = CompletedRows(standardized(rows, average.encoding), np.zeros((6, 7))).kernel(fit.rows, fit.kind)
    np.testing.assert_allclose(prediction.mean[:, 7:], fit.intercept + K @ fit.weights)
    # Features are not its business.
    assert np.isnan(prediction.mean[:, :7]).all()
    assert prediction.std.shape == (6, 7)
    assert np.isnan(prediction.std).all()


def test_rows_are_predicted_alike_alone_in_blocks_or_together(
    regressed: Regressed, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed, average, _, fit = regressed
    together = fit.predict(observed).mean
    monkeypatch.setattr(kernel, "BLOCK", 7)
    np.testing.assert_allclose(fit.predict(observed).mean, together, rtol=1e-12)
    rows = CompletedRows.of(average, observed)
    np.testing.assert_allclose(fit.of(rows.take(np.array([11]))).mean[0], together[11], rtol=1e-10)


def test_labels_that_a_row_has_do_not_enter_its_own_prediction(regressed: Regressed) -> None:
    observed, _, _, fit = regressed
    blind = replace(observed, Y=np.full_like(observed.Y, nan))
    np.testing.assert_array_equal(fit.predict(blind).mean, fit.predict(observed).mean)


def test_long_tables_are_learnt_from_the_rows_with_the_smallest_keys(
    regressed: Regressed, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed, average, whole, _ = regressed
    keys = np.random.default_rng(0).permutation(90).astype(np.uint64)
    monkeypatch.setattr(kernel, "MOST_ROWS", 60)
    (some,) = path(average, observed, whole.kind, VARIANCES[:1], keys)
    labelled = np.flatnonzero(observed.Y_known.any(axis=1))
    chosen = np.sort(labelled[np.argsort(keys[labelled])[:60]])
    np.testing.assert_array_equal(some.rows.X, CompletedRows.of(average, observed).X[chosen])
    told, all_told = (one.predict(observed).mean[:, 7:] for one in (some, whole))
    assert np.corrcoef(told.ravel(), all_told.ravel())[0, 1] > 0.9
    # Ten rows by ten for each of three labels.
    monkeypatch.setattr(kernel, "LARGEST", 300.0)
    (few,) = path(average, observed, whole.kind, VARIANCES[:1], keys)
    assert few.rows.X.shape == (10, 7)
    assert (few.weights != 0).any(axis=0).all()


def test_which_rows_are_learnt_from_follows_keys_and_not_positions(
    regressed: Regressed, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed, average, whole, _ = regressed
    keys = np.random.default_rng(1).permutation(90).astype(np.uint64)
    order = np.random.default_rng(2).permutation(90)
    shuffled = Observations(observed.X[order], observed.Y[order])
    monkeypatch.setattr(kernel, "MOST_ROWS", 30)
    (one,) = path(average, observed, whole.kind, VARIANCES[:1], keys)
    (other,) = path(average, shuffled, whole.kind, VARIANCES[:1], keys[order])
    np.testing.assert_allclose(other.predict(observed).mean, one.predict(observed).mean, atol=1e-8)


def test_rows_without_labels_take_no_place(regressed: Regressed, monkeypatch: pytest.MonkeyPatch) -> None:
    observed, average, whole, _ = regressed
    Y = observed.Y.copy()
    Y[::2] = nan
    monkeypatch.setattr(kernel, "MOST_ROWS", 20)
    (some,) = path(average, replace(observed, Y=Y), whole.kind, VARIANCES[:1])
    assert len(some.rows.X) == 20
    assert (some.weights != 0).any(axis=1).all()


def test_a_label_of_which_nothing_is_known_keeps_its_offset(regressed: Regressed) -> None:
    observed, average, whole, _ = regressed
    Y = observed.Y.copy()
    Y[:, 1] = nan
    (fit,) = path(average, replace(observed, Y=Y), whole.kind, VARIANCES[:1])
    np.testing.assert_allclose(fit.predict(observed).mean[:, 8], average.encoding.log_odds[3])
    np.testing.assert_allclose(
        fit.predict(observed).mean[:, 7], whole.predict(observed).mean[:, 7], atol=1e-6
    )


@pytest.fixture(scope="module")
def seven_features() -> Average:
    return Average.fit(table(), YES_NO, gaussian=False)


@given(st.integers(0, 10_000), st.sampled_from(KERNELS))
def test_log_odds_are_the_most_probable_ones_of_any_rows(
    seven_features: Average, seed: int, kind: KernelKind
) -> None:
    rng = np.random.default_rng(seed)
    rows = CompletedRows(rng.normal(size=(12, 7)), np.zeros((12, 7)))
    labels = rng.choice([0.0, 1.0, nan], size=(12, 3))
    # A row of which no label is known would be left out.
    labels[:, 0] = rng.integers(2, size=12)
    keys = np.arange(12, dtype=np.uint64)
    (fit,) = kernel_path(seven_features, rows, labels, keys, kind, [2.0])
    slope = labels - expit(fit.of(rows).mean[:, 7:])
    np.testing.assert_allclose(fit.weights / 2.0, np.nan_to_num(slope), atol=5e-3)


# -- what it knows that factors do not -----------------------------------------------------------------


def regressions(X: FloatArray, Y: FloatArray) -> dict[str, KernelRegression]:
    observed = Observations(X, Y)
    average = Average.fit(observed, np.zeros(X.shape[1], bool), gaussian=False)
    found: dict[str, KernelRegression] = {}
    for kind in KERNELS:
        *_, found[kind] = path(average, observed, kind, (0.1, 1.0, 10.0))
    return found


def log_loss(Y: FloatArray, z: FloatArray) -> float:
    return float(np.mean(np.logaddexp(0, z) - Y * z))


def test_features_of_their_own_are_found() -> None:
    """A label for each of three features that have nothing in common."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 8))
    Y = (2 * X[:, :3] + rng.logistic(size=(300, 3)) > 0).astype(float)
    X[rng.random(X.shape) < 0.1] = nan
    found = regressions(X[:150], Y[:150])
    new = Observations(X[150:], np.full((150, 3), nan))
    losses = {kind: log_loss(Y[150:], fit.predict(new).mean[:, 8:]) for kind, fit in found.items()}
    assert losses["linear"] < 0.75 * log_loss(Y[150:], np.zeros((150, 3)))
    assert losses["linear"] < 0.95 * losses["rbf"]


def test_labels_that_no_line_tells_apart_are_told_by_distance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 2))
    Y = (X[:, :1] * X[:, 1:] + 0.2 * rng.normal(size=(300, 3)) > 0).astype(float)
    X[rng.random(X.shape) < 0.05] = nan
    found = regressions(X[:200], Y[:200])
    new = Observations(X[200:], np.full((100, 3), nan))
    wrong = {kind: np.mean((fit.predict(new).mean[:, 2:] > 0) != Y[200:]) for kind, fit in found.items()}
    assert wrong["rbf"] < 0.25
    assert wrong["linear"] > 0.35
