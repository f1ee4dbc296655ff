"""Rows the model has never seen, draws, thresholds, label policies."""

import pickle
import warnings
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.utils import Bunch

from cocomplete import CoCompleter, InputError
from cocomplete.datasets import make_clinic
from cocomplete.metrics import hamming_error, interval_coverage, log_loss, standardized_rmse
from tests.strategies import noisy_low_rank


@pytest.fixture(scope="module")
def data() -> Bunch:
    return noisy_low_rank()


GIVEN: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}


@pytest.fixture(scope="module", params=["mode", "average"])
def model(request: pytest.FixtureRequest, data: Bunch) -> CoCompleter:
    params = GIVEN if request.param == "mode" else {}
    fitted = CoCompleter(**params).fit(data.X[:120], data.Y[:120])
    assert (fitted.validation_ is None) == (request.param == "mode")
    return fitted


@pytest.fixture(scope="module")
def whole(data: Bunch) -> CoCompleter:
    """A fit to all rows; tests look at it and leave it as it is."""
    return CoCompleter().fit(data.X, data.Y)


def test_new_rows_are_predicted_better_than_by_rates(model: CoCompleter, data: Bunch) -> None:
    X, Y_true = data.X[120:], data.Y_true[120:]
    rates = np.nanmean(data.Y[:120], axis=0)
    probability = model.predict_proba(X)
    assert probability.shape == Y_true.shape
    assert log_loss(Y_true, probability) < 0.7 * log_loss(Y_true, np.tile(rates, (40, 1)))
    np.testing.assert_array_equal(model.predict(X), probability > 0.5)
    np.testing.assert_allclose(probability, 1 / (1 + np.exp(-model.decision_function(X))))
    assert model.score(X, Y_true) == pytest.approx(1 - hamming_error(Y_true, model.predict(X)))


def test_new_features_are_filled_and_known_ones_left(model: CoCompleter, data: Bunch) -> None:
    X = data.X[120:]
    known = ~np.isnan(X)
    filled = model.transform(X)
    np.testing.assert_array_equal(filled[known], X[known])
    assert standardized_rmse(data.X_true[120:], filled, observed=known) < 0.75


def test_one_row_at_a_time_is_all_rows_at_once(model: CoCompleter, data: Bunch) -> None:
    X = data.X[120:128]
    np.testing.assert_allclose(
        np.vstack([model.predict_proba(row[None]) for row in X]), model.predict_proba(X), atol=1e-6
    )
    np.testing.assert_allclose(
        np.vstack([model.transform(row[None]) for row in X]), model.transform(X), atol=1e-5
    )


def test_known_labels_of_a_new_row_help_with_its_others(model: CoCompleter, data: Bunch) -> None:
    X = np.full((40, 15), np.nan)
    Y = data.Y_true[120:].astype(float)
    Y[:, 3:] = np.nan
    done = model.complete(X, Y)
    np.testing.assert_array_equal(done.Y[:, :3], Y[:, :3])
    truth = data.Y_true[120:, 3:]
    assert log_loss(truth, done.Y_proba[:, 3:]) < log_loss(truth, model.predict_proba(X)[:, 3:])


@pytest.mark.parametrize("given", [GIVEN, {}], ids=["mode", "average"])
def test_predicting_leaves_the_model_byte_for_byte(given: dict[str, Any], data: Bunch) -> None:
    # Of its own: one that other tests have used has worked out already what is worked out once.
    model = CoCompleter(**given).fit(data.X[:60], data.Y[:60])
    before = pickle.dumps(model)
    model.complete(data.X[120:], data.Y[120:])
    model.predict(data.X[120:])
    model.transform(data.X[:3])
    model.sample_completions(2)
    assert pickle.dumps(model) == before


def test_completing_without_labels_is_predicting(model: CoCompleter, data: Bunch) -> None:
    X = data.X[120:]
    done = model.complete(X)
    np.testing.assert_array_equal(done.Y_proba, model.predict_proba(X))
    np.testing.assert_array_equal(done.Y, model.predict(X))


def test_a_row_of_the_fit_is_completed_alone_as_in_its_table(model: CoCompleter, data: Bunch) -> None:
    X, Y = data.X[:120], data.Y[:120]
    whole = model.complete(X, Y)
    some = model.complete(X[:30], Y[:30])
    np.testing.assert_allclose(some.Y_proba, whole.Y_proba[:30], atol=0.02)
    np.testing.assert_allclose(some.X, whole.X[:30], atol=0.05 * np.nanstd(X))


def test_standard_deviations_hold_what_they_promise(whole: CoCompleter, data: Bunch) -> None:
    done = whole.complete(data.X, data.Y)
    known = ~np.isnan(data.X)
    assert (done.X_std[known] == 0).all()
    assert (done.X_std[~known] > 0).all()
    assert 0.82 < interval_coverage(data.X_true, done.X, done.X_std, observed=known) < 0.97


def test_draws_differ_in_the_holes_alone_and_spread_as_promised(model: CoCompleter, data: Bunch) -> None:
    draws = model.sample_completions(60, random_state=1)
    known, Y_known = ~np.isnan(data.X[:120]), ~np.isnan(data.Y[:120])
    for draw in draws[:3]:
        np.testing.assert_array_equal(draw.X[known], data.X[:120][known])
        np.testing.assert_array_equal(draw.Y[Y_known], data.Y[:120][Y_known])
        assert np.isin(draw.Y, (0, 1)).all()
    done = model.complete(data.X[:120], data.Y[:120])
    spread = np.std([draw.X for draw in draws], axis=0)
    # Clipping to the observed range takes a little off.
    assert 0.8 < np.median(spread[~known] / done.X_std[~known]) < 1.1
    rate = np.mean([draw.Y for draw in draws], axis=0)
    # The margins of draws are the ensemble's own probabilities.
    assert np.mean(np.abs(rate - done.Y_proba)[~Y_known]) < 0.08
    again = model.sample_completions(1, random_state=1)[0]
    np.testing.assert_array_equal(again.X, draws[0].X)
    some = model.sample_completions(1, data.X[120:], None)[0]
    assert some.X.shape == (40, 15)
    with pytest.raises(InputError, match="n must be a whole number of at least 1, got 0"):
        model.sample_completions(0)


def test_draws_of_labels_have_the_probabilities_of_their_rows(data: Bunch) -> None:
    model = CoCompleter().fit(data.X[:120], data.Y[:120])
    Y = data.Y[120:].copy()
    Y[::2] = np.nan
    drawn = np.mean([one.Y for one in model.sample_completions(200, data.X[120:], Y)], axis=0)
    alone = model.predict_proba(data.X[120:])[::2]
    beside = model.complete(data.X[120:], Y).Y_proba[1::2]
    assert np.abs(drawn[::2] - alone).mean() < 0.05
    assert np.abs(drawn[1::2] - beside)[np.isnan(Y[1::2])].mean() < 0.05


def test_frames_keep_names_index_and_kind() -> None:
    clinic = make_clinic()
    X = pd.DataFrame(clinic.X, columns=clinic.feature_names, index=np.arange(len(clinic.X))[::-1])
    y = pd.DataFrame(clinic.Y, columns=clinic.label_names, index=X.index)
    model = CoCompleter(**GIVEN).fit(X.iloc[:300], y.iloc[:300])
    done = model.complete(X.iloc[300:])
    assert list(done.Y.columns) == list(clinic.label_names)
    assert list(done.Y.index) == list(done.X.index) == list(X.index[300:])
    model.set_output(transform="pandas")
    framed: Any = model.transform(X.iloc[300:])
    assert list(framed.columns) == list(X.columns)
    assert list(model.get_feature_names_out()) == list(X.columns)
    model.set_output(transform="polars")
    assert isinstance(model.transform(X.iloc[300:]), pl.DataFrame)
    with pytest.raises(ValueError, match="feature names should match"):
        model.transform(X.iloc[300:, ::-1])
    with pytest.raises(InputError, match="stands where the model was fitted with"):
        model.complete(X.iloc[300:], y.iloc[300:, ::-1])
    with pytest.raises(InputError, match=r"y has 1 labels, but the model was fitted with \d"):
        model.complete(X.iloc[300:], y.iloc[300:, :1])
    frames = pl.from_pandas(X.iloc[:300]), pl.from_pandas(y.iloc[:300])
    new = CoCompleter(**GIVEN).fit(*frames).complete(pl.from_pandas(X.iloc[300:]))
    assert new.Y.columns == list(clinic.label_names)


def test_a_model_without_labels_has_no_probabilities() -> None:
    X = np.random.default_rng(0).normal(size=(20, 4))
    model = CoCompleter(**GIVEN).fit(X)
    for method in ("predict", "predict_proba", "decision_function"):
        with pytest.raises(InputError, match=r"needs labels, but the model was fitted without"):
            getattr(model, method)(X)
    assert model.complete(X).Y is None


def test_yes_no_features_come_back_as_yes_or_no() -> None:
    rng = np.random.default_rng(3)
    u = rng.normal(size=(200, 1))
    X = u + 0.3 * rng.normal(size=(200, 4))
    X[:, 3] = rng.random(200) < 1 / (1 + np.exp(-4 * u[:, 0]))
    truth = X.copy()
    X[rng.random(X.shape) < [0, 0.3, 0.3, 0.3]] = np.nan
    model = CoCompleter(averaging=False).fit(X)
    assert list(model.feature_types_) == ["number"] * 3 + ["yes-no"]
    done = model.complete(X)
    holes = np.isnan(X[:, 3])
    assert np.isin(done.X[:, 3], (0, 1)).all()
    assert (done.X[holes, 3] == truth[holes, 3]).mean() > 0.75
    chance = model.predict_feature_proba(X)
    assert chance.shape == (200, 1)
    np.testing.assert_array_equal(done.X[holes, 3], chance[holes, 0] > 0.5)
    np.testing.assert_allclose(done.X_std[holes, 3], np.sqrt(chance * (1 - chance))[holes, 0])
    assert 0 <= model.offsets_[3] <= 1
    as_number = CoCompleter(feature_types={3: "number"}, **GIVEN).fit(X)
    assert as_number.feature_types_[3] == "number"
    assert not np.isin(as_number.complete(X).X[:, 3], (0, 1)).all()


def test_filled_features_stay_near_the_observed_range(data: Bunch) -> None:
    low, high = np.nanmin(data.X, axis=0), np.nanmax(data.X, axis=0)
    room = (high - low) / 4
    inside = CoCompleter(**GIVEN).fit(data.X, data.Y).complete(data.X, data.Y).X
    assert ((inside >= low - room) & (inside <= high + room)).all()
    free = (
        CoCompleter(**(GIVEN | {"rank_penalty": 0.3}), clip=False)
        .fit(data.X, data.Y)
        .complete(data.X, data.Y)
        .X
    )
    assert not ((free >= low) & (free <= high)).all()


def test_how_far_beyond_the_observed_range_a_fill_may_go() -> None:
    """A number, a skewed one, a scale, and one in which a tenth is less than one cell."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 4))
    X[:, 1], X[:, 2], X[7:, 3] = np.exp(X[:, 1]), rng.integers(1, 6, 60), np.nan
    model = CoCompleter(rank_penalty=1e3, residual_penalty=0, feature_weight=0.5).fit(X)
    ordered = np.sort(X[:, :2], axis=0)
    low, high = np.nanmin(X, axis=0), np.nanmax(X, axis=0)
    low[:2] -= 0.25 * (ordered[6] - ordered[0])
    high[:2] += 0.25 * (ordered[-1] - ordered[-7])
    far = np.full((1, 4), 1e6)
    np.testing.assert_allclose(model._model.inside(-far)[0], low)
    np.testing.assert_allclose(model._model.inside(far)[0], high)
    assert low[1] > -0.1


@pytest.mark.parametrize("threshold", [0.2, "f1", "cardinality", [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]])
def test_thresholds(data: Bunch, threshold: Any) -> None:
    model = CoCompleter(**GIVEN, threshold=threshold).fit(data.X, data.Y)
    done = model.complete(data.X, data.Y)
    unknown = np.isnan(data.Y)
    np.testing.assert_array_equal(done.Y[unknown], (done.Y_proba > model.thresholds_)[unknown])
    if isinstance(threshold, str):
        assert ((model.thresholds_ > 0) & (model.thresholds_ < 1)).all()
        assert len(set(model.thresholds_)) > 1
    else:
        np.testing.assert_array_equal(model.thresholds_, np.broadcast_to(threshold, 6))
    if threshold == "cardinality":
        predicted = (done.Y_proba > model.thresholds_).mean(axis=0)
        np.testing.assert_allclose(predicted, np.nanmean(data.Y, axis=0), atol=0.02)


def test_only_ones_recorded(data: Bunch) -> None:
    truth = data.Y_true
    recorded = np.where((truth == 1) & ~np.isnan(data.Y), 1.0, np.nan)
    with pytest.warns(UserWarning, match=r"have only ones observed; .* label_policy='positive-unlabelled'"):
        CoCompleter(**GIVEN).fit(data.X, recorded)
    model = CoCompleter(label_policy="positive-unlabelled", averaging=False).fit(data.X, recorded)
    done = model.complete(data.X, recorded)
    known = recorded == 1
    assert (done.Y[known] == 1).all()
    held_out = ~known
    positives, negatives = done.Y_proba[held_out & (truth == 1)], done.Y_proba[held_out & (truth == 0)]
    # Unrecorded ones rank above zeros, and as many ones are foreseen as there are, roughly.
    assert np.mean(positives[:, None] > negatives[None]) > 0.85
    assert 0.6 < done.Y_proba.mean() / truth.mean() < 1.5
    with pytest.raises(InputError, match="label_policy must be one of"):
        CoCompleter(label_policy="guess").fit(data.X)


def test_noise_is_answered_about_as_well_as_by_means() -> None:
    rng = np.random.default_rng(5)
    truth, labels = rng.normal(size=(60, 6)), (rng.random((60, 4)) < 0.4).astype(float)
    X = np.where(rng.random(truth.shape) < 0.5, np.nan, truth)
    y = np.where(rng.random(labels.shape) < 0.5, np.nan, labels)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = CoCompleter().fit(X, y).complete(X, y)
    means, rates = np.nanmean(X, axis=0), np.nanmean(y, axis=0)
    known = ~np.isnan(X)
    trivial = np.where(known, X, means)
    assert standardized_rmse(truth, done.X, observed=known) < 1.02 * standardized_rmse(
        truth, trivial, observed=known
    )
    held_out = np.isnan(y)
    expected = log_loss(labels, np.tile(rates, (60, 1)), mask=held_out)
    assert log_loss(labels, done.Y_proba, mask=held_out) < 1.02 * expected


def test_validation_has_the_errors_on_held_out_cells_beside_the_trivial_prediction(
    whole: CoCompleter, data: Bunch
) -> None:
    model = whole
    found = model.validation_
    assert set(found) == {"features", "labels", "unlabelled"}
    assert found["features"]["rmse"] < 0.8 * found["features"]["trivial_rmse"]
    for part in ("labels", "unlabelled"):
        assert found[part]["log_loss"] < found[part]["trivial_log_loss"]
        assert found[part]["wrong"] < found[part]["trivial_wrong"]
    for part, inner in (("features", "numbers"), ("labels", "labels"), ("unlabelled", "unlabelled")):
        weights = found[part]["weights"]
        assert found[part]["cells"] > 10
        assert sum(weights.values()) == pytest.approx(1)
        # What was judged is what answers.
        answering: dict[str, Any] = {}
        for one in model.members_:
            answering[one["name"]] = answering.get(one["name"], 0) + one[inner]
        assert {name: weight for name, weight in answering.items() if weight > 0} == pytest.approx(weights)
    assert CoCompleter().fit(data.X, data.Y).validation_ == found
    assert CoCompleter(random_state=1).fit(data.X, data.Y).validation_ != found
