"""Kernel logistic regression of labels on completed rows."""

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
from cocomplete.members.kernel import (
    CompletedRows,
    KernelRegression,
    kernel_path,
)
from cocomplete.problem.observations import Observations
from cocomplete.solvers.variational import OFFSET_PRECISION
from tests.units.kernel_tables import VARIANCES, YES_NO, path, standardized, table

nan = np.nan


Regressed = tuple[Observations, Average, KernelRegression, KernelRegression]


@pytest.fixture(scope="module")
def regressed() -> Regressed:
    observed = table()
    average = Average.fit(observed, YES_NO, gaussian=False)
    stiff, loose = path(average, observed)
    return observed, average, stiff, loose


def dense_mode(K: FloatArray, y: FloatArray, base: float) -> FloatArray:
    """Slope of the labels' log-likelihood at the mode of a Gaussian process, by dense Newton steps.

    The mode itself is K times it (Rasmussen and Williams, 2006, algorithm 3.1).
    """
    a = np.zeros(len(y))
    for _ in range(100):
        f = K @ a
        p = expit(base + f)
        # Newton: (W^-1 + K) a = f + W^-1 (y - p), without the inverse of W.
        W = p * (1 - p)
        new = np.linalg.solve(np.eye(len(y)) + W[:, None] * K, W * f + y - p)
        # Halved until the log-probability does not fall by more than it is rounded by: next to the mode steps
        # would else become too short to arrive.
        least = log_probability(K, y, base, a)
        least -= 1e-12 * abs(least)
        for step in 0.5 ** np.arange(20):
            tried = a + step * (new - a)
            if log_probability(K, y, base, tried) >= least:
                break
        change, a = np.abs(tried - a).max(), tried
        if change < 1e-12:
            break
    np.testing.assert_allclose(a, y - expit(base + K @ a), atol=1e-9)
    return a


def log_probability(K: FloatArray, y: FloatArray, base: float, a: FloatArray) -> float:
    z = base + K @ a
    return (y * z - np.logaddexp(0, z)).sum() - a @ K @ a / 2


def dense_log_odds(
    average: Average,
    rows: CompletedRows,
    labels: FloatArray,
    variance: float,
    landmarks: NDArray[np.intp] | None = None,
) -> FloatArray:
    """Log-odds of rows by a Gaussian process on all labelled ones, or through landmarks' kernels alone."""
    labelled = np.flatnonzero(~np.isnan(labels).all(axis=1))
    seen, Y = rows.take(labelled), labels[labelled]
    base = average.encoding.log_odds[-labels.shape[1] :]
    if landmarks is None:
        K, across = seen.radial(seen), rows.radial(seen)
        np.fill_diagonal(K, 1)
    else:
        raw, across = seen.radial(seen.take(landmarks)), rows.radial(seen.take(landmarks))
        raw[landmarks, np.arange(len(landmarks))] = 1
        inverse = np.linalg.inv(raw[landmarks])
        K, across = raw @ inverse @ raw.T, across @ inverse @ raw.T
    found = np.empty((len(rows.X), Y.shape[1]))
    for j, y in enumerate(Y.T):
        known = np.flatnonzero(~np.isnan(y))
        C = variance * K[np.ix_(known, known)] + 1 / OFFSET_PRECISION[1]
        a = dense_mode(C, y[known], base[j])
        found[:, j] = base[j] + (variance * across[:, known] + 1 / OFFSET_PRECISION[1]) @ a
    return found


@pytest.fixture
def to_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Newton and conjugate-gradient steps until nothing moves, and every direction kept."""
    monkeypatch.setattr(kernel, "STEPS", 200)
    monkeypatch.setattr(kernel, "STEP_TOL", 1e-10)
    monkeypatch.setattr(kernel, "INNER_STEPS", 1000)
    monkeypatch.setattr(kernel, "INNER_TOL", 1e-10)
    monkeypatch.setattr(kernel, "NEGLIGIBLE", 1e-12)


@pytest.mark.parametrize("which", [0, 1])
def test_log_odds_are_the_most_probable_ones(regressed: Regressed, which: int) -> None:
    observed, average, *both = regressed
    fit, variance = both[which], VARIANCES[which]
    assert fit.variance == variance
    rows = CompletedRows.of(average, observed)
    expected = dense_log_odds(average, rows, observed.Y, variance)
    np.testing.assert_allclose(expit(fit.of(rows).mean[:, 7:]), expit(expected), atol=5e-3)


@pytest.mark.usefixtures("to_the_end")
@pytest.mark.parametrize("variance", [0.1, 3.0, 100.0])
def test_log_odds_converge_to_the_mode_of_the_gaussian_process(regressed: Regressed, variance: float) -> None:
    observed, average, *_ = regressed
    rows = CompletedRows.of(average, observed)
    (fit,) = path(average, observed, (variance,))
    expected = dense_log_odds(average, rows, observed.Y, variance)
    np.testing.assert_allclose(fit.of(rows).mean[:, 7:], expected, atol=1e-5)


@pytest.mark.usefixtures("to_the_end")
@pytest.mark.parametrize("count", [12, 40])
def test_landmarks_stand_for_the_process_that_they_span(
    regressed: Regressed, monkeypatch: pytest.MonkeyPatch, count: int
) -> None:
    observed, average, *_ = regressed
    monkeypatch.setattr(kernel, "LANDMARKS", count)
    keys = np.random.default_rng(0).permutation(90).astype(np.uint64)
    (fit,) = path(average, observed, (2.0,), keys)
    labelled = np.flatnonzero(observed.Y_known.any(axis=1))
    first = np.argsort(keys[labelled])[:count]
    rows = CompletedRows.of(average, observed)
    np.testing.assert_array_equal(fit.landmarks.X, rows.X[labelled][first])
    assert fit.coefficients.shape == (count, 3)
    expected = dense_log_odds(average, rows, observed.Y, 2.0, first)
    np.testing.assert_allclose(fit.of(rows).mean[:, 7:], expected, atol=1e-5)


@pytest.mark.usefixtures("to_the_end")
def test_all_rows_as_landmarks_are_the_whole_kernel(
    regressed: Regressed, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed, average, *_ = regressed
    rows = CompletedRows.of(average, observed)
    labelled = np.flatnonzero(observed.Y_known.any(axis=1))
    expected = dense_log_odds(average, rows, observed.Y, 2.0)
    for count in (len(labelled), len(labelled) + 1):
        monkeypatch.setattr(kernel, "LANDMARKS", count)
        (fit,) = path(average, observed, (2.0,))
        np.testing.assert_allclose(fit.of(rows).mean[:, 7:], expected, atol=1e-5)
    # Nyström's formula on all rows is that kernel, too.
    through = dense_log_odds(average, rows, observed.Y, 2.0, np.arange(len(labelled)))
    np.testing.assert_allclose(through, expected, atol=1e-5)


@pytest.mark.parametrize("n", [5, 40])
def test_directions_are_orthogonal_and_make_the_kernel(n: int) -> None:
    rng = np.random.default_rng(0)
    rows = CompletedRows(rng.normal(size=(n, 7)), rng.random((n, 7)))
    raw = rows.radial(rows.take(slice(20)))
    np.fill_diagonal(raw, 1)
    directions = kernel._Directions.of(raw)
    np.testing.assert_allclose(
        directions.design.T @ directions.design, np.diag(directions.squares), atol=1e-9
    )
    assert (np.diff(directions.squares) <= 1e-12).all()
    np.testing.assert_allclose(raw @ directions.basis, directions.design, atol=1e-9)
    K = raw @ np.linalg.inv(raw[: raw.shape[1]]) @ raw.T
    np.testing.assert_allclose(directions.design @ directions.design.T, K, atol=1e-9)
    # Those that are left out give all rows together less variance than is worth a coefficient.
    some = directions.at(0.1)
    left = len(some.squares)
    assert (0.1 * directions.squares[:left] > kernel.NEGLIGIBLE).all()
    assert (0.1 * directions.squares[left:] <= kernel.NEGLIGIBLE).all()
    np.testing.assert_array_equal(some.design, directions.design[:, :left])
    np.testing.assert_array_equal(some.basis, directions.basis[:, :left])


def test_a_larger_variance_follows_the_labels_more_closely(regressed: Regressed) -> None:
    observed, _, stiff, loose = regressed
    known = observed.Y_known
    loss = [
        np.mean((np.logaddexp(0, z) - observed.Y * z)[known])
        for z in (fit.predict(observed).mean[:, 7:] for fit in (stiff, loose))
    ]
    assert loss[1] < loss[0] - 0.01


def test_a_fit_does_not_depend_on_the_path_to_it() -> None:
    observed = table()
    average = Average.fit(observed, YES_NO, gaussian=True)
    *_, last = path(average, observed, (0.1, 0.3, 1.0, 3.0))
    (alone,) = path(average, observed, (3.0,))
    np.testing.assert_allclose(last.predict(observed).mean, alone.predict(observed).mean, atol=0.03)


def test_rows_that_are_complete_need_no_factors(regressed: Regressed) -> None:
    _, average, _, fit = regressed
    rng = np.random.default_rng(3)
    X = rng.normal(size=(6, 7))
    X[:, YES_NO] = rng.integers(2, size=(6, 2))
    rows = Observations(X, np.full((6, 3), nan))
    prediction = fit.predict(rows)
    complete = CompletedRows(standardized(rows, average.encoding), np.zeros((6, 7)))
    compared = complete.radial(fit.landmarks)
    np.testing.assert_allclose(prediction.mean[:, 7:], fit.intercept + compared @ fit.coefficients)
    # Features are not predicted.
    assert np.isnan(prediction.mean[:, :7]).all()
    assert prediction.std.shape == (6, 7)
    assert np.isnan(prediction.std).all()


def test_rows_are_predicted_the_same_alone_in_blocks_or_together(
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


def test_long_tables_are_fitted_by_the_rows_with_the_smallest_keys(
    regressed: Regressed, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed, average, whole, _ = regressed
    keys = np.random.default_rng(0).permutation(90).astype(np.uint64)
    monkeypatch.setattr(kernel, "MOST_ROWS", 60)
    (some,) = path(average, observed, VARIANCES[:1], keys)
    labelled = np.flatnonzero(observed.Y_known.any(axis=1))
    chosen = labelled[np.argsort(keys[labelled])[:60]]
    np.testing.assert_array_equal(some.landmarks.X, CompletedRows.of(average, observed).X[chosen])
    # As if nobody had looked at the others' labels.
    Y = np.full_like(observed.Y, nan)
    Y[chosen] = observed.Y[chosen]
    monkeypatch.undo()
    (same,) = path(average, replace(observed, Y=Y), VARIANCES[:1], keys)
    predicted, of_them, of_all = (one.predict(observed).mean[:, 7:] for one in (some, same, whole))
    np.testing.assert_array_equal(predicted, of_them)
    assert np.corrcoef(predicted.ravel(), of_all.ravel())[0, 1] > 0.9
    assert np.abs(predicted - of_all).max() > 0.01


def test_which_rows_are_used_follows_keys_and_not_positions(
    regressed: Regressed, monkeypatch: pytest.MonkeyPatch
) -> None:
    observed, average, *_ = regressed
    keys = np.random.default_rng(1).permutation(90).astype(np.uint64)
    order = np.random.default_rng(2).permutation(90)
    shuffled = Observations(observed.X[order], observed.Y[order])
    monkeypatch.setattr(kernel, "MOST_ROWS", 30)
    (one,) = path(average, observed, VARIANCES[:1], keys)
    (other,) = path(average, shuffled, VARIANCES[:1], keys[order])
    np.testing.assert_allclose(other.predict(observed).mean, one.predict(observed).mean, atol=1e-8)


def test_rows_without_labels_take_no_place(regressed: Regressed, monkeypatch: pytest.MonkeyPatch) -> None:
    observed, average, *_ = regressed
    Y = observed.Y.copy()
    Y[::2] = nan
    monkeypatch.setattr(kernel, "MOST_ROWS", 20)
    (some,) = path(average, replace(observed, Y=Y), VARIANCES[:1])
    labelled = np.flatnonzero(~np.isnan(Y).all(axis=1))[:20]
    np.testing.assert_array_equal(some.landmarks.X, CompletedRows.of(average, observed).X[labelled])
    assert (some.coefficients != 0).any(axis=1).all()
    alone = Observations(observed.X[labelled], Y[labelled])
    (same,) = path(average, alone, VARIANCES[:1])
    np.testing.assert_allclose(some.predict(observed).mean, same.predict(observed).mean, atol=1e-8)


def test_a_label_of_which_nothing_is_known_keeps_its_offset(regressed: Regressed) -> None:
    observed, average, *_ = regressed
    Y = observed.Y.copy()
    Y[:, 1] = nan
    (fit,) = path(average, replace(observed, Y=Y), VARIANCES[:1])
    np.testing.assert_allclose(fit.predict(observed).mean[:, 8], average.encoding.log_odds[3])


@pytest.mark.usefixtures("to_the_end")
def test_labels_do_not_depend_on_each_other(regressed: Regressed) -> None:
    observed, average, *_ = regressed
    Y = observed.Y.copy()
    Y[:, 1] = nan
    one, other = (path(average, replace(observed, Y=labels), VARIANCES[:1])[0] for labels in (observed.Y, Y))
    np.testing.assert_allclose(
        other.predict(observed).mean[:, 7], one.predict(observed).mean[:, 7], atol=1e-6
    )


@pytest.fixture(scope="module")
def seven_features() -> Average:
    return Average.fit(table(), YES_NO, gaussian=False)


@given(st.integers(0, 10_000))
def test_log_odds_are_the_most_probable_ones_of_any_rows(seven_features: Average, seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows = CompletedRows(rng.normal(size=(12, 7)), np.zeros((12, 7)))
    labels = rng.choice([0.0, 1.0, nan], size=(12, 3))
    # A row of which no label is known would be left out.
    labels[:, 0] = rng.integers(2, size=12)
    keys = np.arange(12, dtype=np.uint64)
    with pytest.MonkeyPatch.context() as patch:
        # What negligible directions would add is left out on purpose: the next test is about that.
        patch.setattr(kernel, "NEGLIGIBLE", 1e-12)
        (fit,) = kernel_path(seven_features, rows, labels, keys, [2.0])
    slope = np.nan_to_num(labels - expit(fit.of(rows).mean[:, 7:]))
    base = seven_features.encoding.log_odds[2:]
    np.testing.assert_allclose((fit.intercept - base) * OFFSET_PRECISION[1], slope.sum(axis=0), atol=5e-3)
    # The prior's slope is the likelihood's, in rows, each of which is a landmark.
    np.testing.assert_allclose(fit.coefficients / 2.0, slope, atol=5e-3)


@pytest.mark.parametrize("seed", [144, 1076])
def test_directions_left_out_change_log_odds_by_less_than_the_limit(
    seven_features: Average, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng = np.random.default_rng(seed)
    # Rows that are much alike have few directions that matter.
    rows = CompletedRows(0.2 * rng.normal(size=(12, 7)), np.zeros((12, 7)))
    labels = rng.choice([0.0, 1.0, nan], size=(12, 3))
    labels[:, 0] = rng.integers(2, size=12)
    keys = np.arange(12, dtype=np.uint64)
    (some,) = kernel_path(seven_features, rows, labels, keys, [2.0])
    limit = kernel.NEGLIGIBLE
    monkeypatch.setattr(kernel, "NEGLIGIBLE", 1e-12)
    (every,) = kernel_path(seven_features, rows, labels, keys, [2.0])
    fewer, all_of_them = some.of(rows).mean[:, 7:], every.of(rows).mean[:, 7:]
    # A direction of which rows have a variance of at most ``limit`` follows the slope by no more than that.
    slope = np.nan_to_num(labels - expit(all_of_them))
    change = np.abs(fewer - all_of_them).max(axis=0)
    assert change.max() > 1e-6
    assert (change <= limit * np.linalg.norm(slope, axis=0) + 1e-2).all()
