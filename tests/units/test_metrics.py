import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn import metrics as reference
from sklearn.calibration import calibration_curve
from sklearn.exceptions import UndefinedMetricWarning

import cocomplete
from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.metrics import (
    Score,
    average_precision,
    brier,
    coverage,
    expected_calibration_error,
    hamming_error,
    interval_coverage,
    log_loss,
    mae,
    precision_at_k,
    ranking_loss,
    relative_error,
    reliability,
    rmse,
    roc_auc,
    standardized_rmse,
)

nan = np.nan
TRUE = np.array([[1.0, 2.0], [3.0, nan]])
SEEN = np.array([[True, False], [False, True]])

FEATURE_METRICS: dict[str, Callable[..., Any]] = {
    "relative_error": relative_error,
    "standardized_rmse": standardized_rmse,
    "rmse": rmse,
    "mae": mae,
    "interval_coverage": lambda X, P, **cells: interval_coverage(X, P, np.full(np.shape(X), 0.3), **cells),
    "interval_coverage_cells": lambda X, P, **cells: interval_coverage(
        X, P, np.full(np.shape(X), 0.3), average="cells", **cells
    ),
}
LABEL_METRICS: dict[str, Callable[..., Any]] = {
    "hamming_error": lambda Y, P, **cells: hamming_error(Y, np.round(P), **cells),
    "log_loss": log_loss,
    "brier": brier,
    "roc_auc_macro": roc_auc,
    "roc_auc_micro": partial(roc_auc, average="micro"),
    "average_precision_macro": average_precision,
    "average_precision_micro": partial(average_precision, average="micro"),
    "ranking_loss": ranking_loss,
    "coverage": coverage,
    "precision_at_1": precision_at_k,
    "precision_at_3": partial(precision_at_k, k=3),
    "expected_calibration_error": partial(expected_calibration_error, n_bins=4),
}


def labelled(seed: int = 0, shape: tuple[int, int] = (40, 6)) -> tuple[FloatArray, FloatArray]:
    """Complete labels, each row and each column with a 0 and a 1, and probabilities with ties."""
    rng = np.random.default_rng(seed)
    Y = (rng.random(shape) < 0.4).astype(float)
    Y[:, 0], Y[:, 1] = 1 - Y[:, 2], Y[:, 2]
    proba = np.round(np.clip(0.3 * Y + 0.7 * rng.random(shape), 0.01, 0.99), 1)
    return Y, np.clip(proba, 0.05, 0.95)


@st.composite
def tables_with_holes(draw: st.DrawFn) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Labels with holes, probabilities, and other probabilities for the holes."""
    shape = draw(st.tuples(st.integers(1, 8), st.integers(1, 5)))
    Y = draw(arrays(np.float64, shape, elements=st.sampled_from([0.0, 1.0, nan])))
    assume(not np.isnan(Y).all())
    grid = st.integers(1, 9).map(lambda tenth: tenth / 10)
    first, second = (draw(arrays(np.float64, shape, elements=grid)) for _ in range(2))
    return Y, first, np.where(np.isnan(Y), second, first)


def quietly(metric: Callable[..., Any], *tables: Any, **cells: Any) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UndefinedMetricWarning)
        return metric(*tables, **cells)


def test_over_all_cells_held_out_cells_and_a_mask() -> None:
    guess = np.array([[1.0, 4.0], [3.0, 100.0]])
    assert relative_error(TRUE, guess) == pytest.approx(2 / np.sqrt(14))
    assert relative_error(TRUE, guess, observed=SEEN) == pytest.approx(2 / np.sqrt(13))
    assert relative_error(TRUE, guess, mask=SEEN) == 0
    assert relative_error(TRUE, guess, observed=SEEN, mask=[[True, False], [True, True]]) == 0


def test_hamming_skips_unknown_truth() -> None:
    truth = [[1, nan], [0, 1]]
    assert hamming_error(truth, [[1, 0], [1, 1]]) == pytest.approx(1 / 3)
    assert hamming_error(truth, [[True, False], [True, True]], observed=[[True, True], [False, False]]) == 0.5


def test_standardized_rmse_of_column_means_is_one() -> None:
    truth = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1000, 0.001]
    means = np.broadcast_to(truth.mean(axis=0), truth.shape)
    assert standardized_rmse(truth, means) == pytest.approx(1)
    assert standardized_rmse([[5.0], [5.0]], [[5.0], [6.0]]) == pytest.approx(np.sqrt(0.5))


def test_a_column_without_truth_disturbs_no_other() -> None:
    truth, guess = [[5.0, nan], [7.0, nan]], [[5.0, 1.0], [6.0, 2.0]]
    assert standardized_rmse(truth, guess) == pytest.approx(np.sqrt(0.5))
    assert rmse(truth, guess, return_counts=True) == Score(pytest.approx(np.sqrt(0.5)), 2, (1,))


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        (rmse, lambda X, P: reference.root_mean_squared_error(X.ravel(), P.ravel())),
        (mae, reference.mean_absolute_error),
        (log_loss, lambda Y, P: reference.log_loss(Y.ravel(), P.ravel())),
        (brier, lambda Y, P: reference.brier_score_loss(Y.ravel(), P.ravel())),
        (LABEL_METRICS["hamming_error"], lambda Y, P: reference.hamming_loss(Y, np.round(P))),
        (roc_auc, reference.roc_auc_score),
        (partial(roc_auc, average="micro"), partial(reference.roc_auc_score, average="micro")),
        (partial(roc_auc, average="none"), partial(reference.roc_auc_score, average=None)),
        (average_precision, reference.average_precision_score),
        (
            partial(average_precision, average="micro"),
            partial(reference.average_precision_score, average="micro"),
        ),
        (partial(average_precision, average=None), partial(reference.average_precision_score, average=None)),
        (ranking_loss, reference.label_ranking_loss),
        (coverage, reference.coverage_error),
    ],
)
@pytest.mark.parametrize("seed", range(3))
def test_on_complete_labels_scikit_learn_agrees(
    ours: Callable[..., Any], theirs: Callable[..., Any], seed: int
) -> None:
    Y, proba = labelled(seed)
    assert ours(Y, proba) == pytest.approx(theirs(Y, proba))


@pytest.mark.parametrize("name", ["roc_auc", "average_precision"])
def test_with_holes_each_label_is_scikit_learn_s_on_its_known_cells(name: str) -> None:
    Y, proba = labelled()
    Y[np.random.default_rng(1).random(Y.shape) < 0.4] = nan
    ours = getattr(cocomplete.metrics, name)(Y, proba, average=None)
    for j, column in enumerate(Y.T):
        known = ~np.isnan(column)
        theirs = getattr(reference, f"{name}_score")(column[known], proba[known, j])
        assert ours[j] == pytest.approx(theirs)


@pytest.mark.parametrize(
    ("ours", "theirs"), [(ranking_loss, reference.label_ranking_loss), (coverage, reference.coverage_error)]
)
def test_with_holes_each_row_is_scikit_learn_s_on_its_known_cells(
    ours: Callable[..., Any], theirs: Callable[..., Any]
) -> None:
    Y, proba = labelled()
    Y[:, 3:][np.random.default_rng(1).random((len(Y), 3)) < 0.5] = nan
    rows = [
        theirs(row[None, ~np.isnan(row)], p[None, ~np.isnan(row)]) for row, p in zip(Y, proba, strict=True)
    ]
    assert ours(Y, proba) == pytest.approx(np.mean(rows))


@pytest.mark.parametrize("name", LABEL_METRICS)
@settings(max_examples=25)
@given(tables=tables_with_holes())
def test_predictions_in_unknown_cells_never_matter(
    name: str, tables: tuple[FloatArray, FloatArray, FloatArray]
) -> None:
    Y, proba, other = tables
    metric = LABEL_METRICS[name]
    np.testing.assert_equal(
        quietly(metric, Y, proba, return_counts=True), quietly(metric, Y, other, return_counts=True)
    )


@pytest.mark.parametrize("name", LABEL_METRICS)
@settings(max_examples=25)
@given(tables=tables_with_holes())
def test_a_mask_counts_the_same_cells_as_unknown_truth(
    name: str, tables: tuple[FloatArray, FloatArray, FloatArray]
) -> None:
    Y, proba, _ = tables
    known = ~np.isnan(Y)
    filled = np.where(known, Y, 1.0)
    expected = quietly(LABEL_METRICS[name], Y, proba, return_counts=True)
    for cells in ({"mask": known}, {"observed": ~known}):
        np.testing.assert_equal(
            quietly(LABEL_METRICS[name], filled, proba, return_counts=True, **cells), expected
        )


@pytest.mark.parametrize("name", LABEL_METRICS)
@settings(max_examples=25)
@given(tables=tables_with_holes(), data=st.data())
def test_the_order_of_rows_and_columns_does_not_matter(
    name: str, tables: tuple[FloatArray, FloatArray, FloatArray], data: st.DataObject
) -> None:
    Y, proba, _ = tables
    rows = data.draw(st.permutations(range(Y.shape[0])))
    columns = data.draw(st.permutations(range(Y.shape[1])))
    again = quietly(LABEL_METRICS[name], Y[rows][:, columns], proba[rows][:, columns])
    assert again == pytest.approx(quietly(LABEL_METRICS[name], Y, proba), nan_ok=True)


@pytest.mark.parametrize("name", FEATURE_METRICS)
@given(data=st.data())
def test_features_unknown_cells_and_row_order_never_matter(name: str, data: st.DataObject) -> None:
    shape = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 4)))
    value = st.floats(0.5, 9, width=32)
    X, guess, other = (data.draw(arrays(np.float64, shape, elements=value)) for _ in range(3))
    hole = data.draw(arrays(bool, shape))
    hole[0, 0] = False
    X[hole] = nan
    metric = FEATURE_METRICS[name]
    score = metric(X, guess, return_counts=True)
    assert metric(X, np.where(hole, other, guess), return_counts=True) == score
    assert score.n_cells == (~hole).sum()
    assert metric(X[::-1], guess[::-1]) == pytest.approx(score.value)


@pytest.mark.parametrize("name", [*FEATURE_METRICS, *LABEL_METRICS])
@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_frames_are_read_and_their_columns_named(name: str, frame: type[Any]) -> None:
    Y, proba = labelled()
    Y[:, 4] = nan
    names = ["a", "b", "c", "d", "e", "f"]
    metric = (FEATURE_METRICS | LABEL_METRICS)[name]
    expected = quietly(metric, Y, proba, return_counts=True)
    mask = np.ones(Y.shape, dtype=bool)
    got = quietly(
        metric,
        frame({key: Y[:, j] for j, key in enumerate(names)}),
        proba,
        mask=frame({key: mask[:, j] for j, key in enumerate(names)}),
        return_counts=True,
    )
    assert got.value == pytest.approx(expected.value)
    assert got.n_cells == expected.n_cells == 200
    by_row = name in ("ranking_loss", "coverage", "precision_at_1", "precision_at_3")
    assert got.skipped == (() if by_row else ("e",))
    assert expected.skipped == (() if by_row else (4,))


def test_one_sided_labels_are_skipped_and_named() -> None:
    Y = np.array([[1, 0, nan, 1], [0, 0, nan, 1], [1, 0, 1, nan]])
    score = np.array([[0.9, 0.1, 0.5, 0.2], [0.1, 0.1, 0.5, 0.2], [0.8, 0.3, 0.5, 0.2]])
    frame = pd.DataFrame(Y, columns=["flu", "gout", "mumps", "rabies"])
    for metric in (roc_auc, average_precision):
        with pytest.warns(UndefinedMetricWarning, match=r"skipped label\(s\) 'gout', 'mumps', 'rabies'$"):
            assert metric(frame, score, return_counts=True) == Score(1.0, 3, ("gout", "mumps", "rabies"))
        with pytest.warns(UndefinedMetricWarning, match=r"skipped label\(s\) 1, 2, 3$"):
            assert metric(Y, score) == 1.0
        with pytest.warns(UndefinedMetricWarning, match="skipped"):
            np.testing.assert_array_equal(metric(Y, score, average=None), [1, nan, nan, nan])
        for average in ("macro", "micro"):
            with pytest.warns(UndefinedMetricWarning, match=r"skipped label\(s\) 0, 1, and the score is NaN"):
                answer = metric(Y[:, 1:3] * 0, score[:, 1:3], average=average, return_counts=True)
            np.testing.assert_equal(answer, Score(nan, 0, (0, 1)))
        with pytest.warns(UndefinedMetricWarning, match=r"8, 9 and 2 more$"):
            assert np.isnan(metric(np.ones((2, 12)), np.ones((2, 12)), average="none")).all()


@pytest.mark.parametrize("metric", [roc_auc, partial(roc_auc, average="none"), ranking_loss])
def test_the_warning_points_at_the_caller(metric: Callable[..., Any]) -> None:
    with pytest.warns(UndefinedMetricWarning) as caught:
        metric([[1]], [[1]])
    assert [warning.filename for warning in caught] == [__file__]


def test_rows_with_nothing_to_rank_are_skipped_not_valued_at_zero() -> None:
    Y = [[1, 0, nan], [0, 0, nan], [1, 1, 1], [nan, nan, nan]]
    score = [[0.1, 0.2, 0.9], [0.1, 0.2, 0.9], [0.1, 0.2, 0.9], [0.1, 0.2, 0.9]]
    assert ranking_loss(Y, score, return_counts=True) == Score(1.0, 2, (1, 2, 3))
    assert coverage(Y, score, return_counts=True) == Score(2.5, 5, (1, 3))
    assert precision_at_k(Y, score, return_counts=True) == Score(pytest.approx(1 / 3), 7, (3,))
    for metric, need in ((ranking_loss, "a 0 and a 1"), (coverage, "needs a 1")):
        with pytest.warns(UndefinedMetricWarning, match=f"{need}.*the score is NaN"):
            np.testing.assert_equal(metric([[0.0]], [[1.0]], return_counts=True), Score(nan, 0, (0,)))


def test_precision_at_k_by_hand() -> None:
    Y, score = [[1, 0, 1, 0]], [[0.9, 0.8, 0.7, 0.1]]
    assert [precision_at_k(Y, score, k) for k in (1, 2, 3, 4, 9)] == pytest.approx(
        [1, 1 / 2, 2 / 3, 1 / 2, 1 / 2]
    )
    # Three labels share the second place: one of them is a 1.
    assert precision_at_k([[1, 1, 0, 0]], [[0.9, 0.5, 0.5, 0.5]], k=2) == pytest.approx((1 + 1 / 3) / 2)


def test_reliability_is_scikit_learn_s_curve_with_counts() -> None:
    Y, proba = labelled(shape=(200, 6))
    proba = np.clip(proba + np.random.default_rng(0).random(proba.shape) / 20, 0, 1)
    curve = reliability(Y, proba, n_bins=7)
    rate, predicted = calibration_curve(Y.ravel(), proba.ravel(), n_bins=7, strategy="quantile")
    np.testing.assert_allclose(curve.rate, rate)
    np.testing.assert_allclose(curve.predicted, predicted)
    assert curve.n_cells.sum() == Y.size
    assert np.ptp(curve.n_cells) <= 2
    gap = np.abs(rate - predicted) @ curve.n_cells / Y.size
    assert expected_calibration_error(Y, proba, n_bins=7) == pytest.approx(gap)


def test_calibration_separates_calibrated_from_overconfident_probabilities() -> None:
    rng = np.random.default_rng(0)
    proba = rng.random((5000, 2))
    Y = (rng.random(proba.shape) < proba).astype(float)
    assert expected_calibration_error(Y, proba) < 0.03
    assert expected_calibration_error(Y, proba**3) > 0.15
    assert len(reliability(Y, np.full(Y.shape, 0.5)).rate) == 1


def test_interval_coverage_meets_its_level_and_averages_as_asked() -> None:
    rng = np.random.default_rng(0)
    std = np.array([1.0, 10.0])
    X = rng.normal(size=(20000, 2)) * std
    guess, spread = np.zeros(X.shape), np.broadcast_to(std, X.shape)
    for level in (0.5, 0.9):
        assert interval_coverage(X, guess, spread, level) == pytest.approx(level, abs=0.01)
    hits = [[0.0, 0.0], [nan, 9.0], [nan, 9.0]], np.zeros((3, 2)), np.ones((3, 2))
    assert interval_coverage(*hits) == pytest.approx((1 + 1 / 3) / 2)
    assert interval_coverage(*hits, average="cells") == pytest.approx(1 / 2)


def test_one_column_may_be_one_dimensional() -> None:
    assert hamming_error([1, 0, nan], [1, 1, 1], mask=[True, True, False]) == 0.5
    assert roc_auc([1, 0, None], [[0.9], [0.2], [0.5]]) == 1


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: relative_error([[1.0]], [[1.0, 2.0]]),
            r"truth has shape \(1, 1\) but prediction has \(1, 2\)",
        ),
        (
            lambda: rmse(pd.DataFrame({"a": [1], "b": [2]}), pd.DataFrame({"b": [2], "a": [1]})),
            "same columns in a different order; bring the prediction into the truth's order: 'a', 'b'",
        ),
        (lambda: relative_error([[1.0]], [[1.0]], observed=[[1]]), "observed must be a mask of booleans"),
        (lambda: hamming_error([[1.0]], [[1.0]], mask=[[False]]), "no cell is left to count"),
        (lambda: hamming_error([[nan]], [[1.0]]), "no cell is left to count"),
        (lambda: hamming_error([[1.0]], [[nan]]), r"prediction is unknown \(NaN\) in 1 counted"),
        (lambda: relative_error([[0.0]], [[1.0]]), "X_true is zero"),
        (lambda: roc_auc([[2.0]], [[1.0]]), "Y_true must hold 0, 1 or unknown, but a counted cell holds 2"),
        (lambda: roc_auc([[1.0]], [[np.inf]]), "label scores are infinite in 1 counted"),
        (lambda: roc_auc([[1.0]], [[1.0]], average="mean"), "average must be 'macro', 'micro' or 'none'"),
        (
            lambda: log_loss([[1.0]], [[-0.5]]),
            "Y_proba must lie between 0 and 1, but a counted cell holds -0.5",
        ),
        (lambda: brier([[1.0]], [[1.5]]), "pass probabilities, as predict_proba gives them"),
        (lambda: precision_at_k([[1.0]], [[1.0]], k=0), "k must be a whole number of 1 or more, but is 0"),
        (lambda: reliability([[1.0]], [[1.0]], n_bins=2.5), "n_bins must be a whole number of 1 or more"),  # type: ignore[arg-type]
        (lambda: interval_coverage([[1.0]], [[1.0]], [[1.0]], 90), "level must be between 0 and 1"),
        (lambda: interval_coverage([[1.0]], [[1.0]], [[1.0]], average="rows"), "one of 'columns', 'cells'"),
        (lambda: interval_coverage([[1.0]], [[1.0]], [[nan]]), "X_std must be 0 or more"),
        (lambda: interval_coverage([[1.0]], [[1.0]], [[1.0, 1.0]]), r"X_std has shape \(1, 2\) but X_true"),
    ],
)
def test_what_cannot_be_scored_is_said(call: Callable[[], object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        call()
