"""Laws of the default estimator: what must not change its answer, and what its attributes describe."""

import warnings
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import expit
from sklearn.impute import SimpleImputer
from sklearn.linear_model import LogisticRegressionCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cocomplete import CoCompleter, InputError
from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.completion import Completion
from cocomplete.solvers.choice import solve

pytestmark = pytest.mark.usual_folds

nan = np.nan

SEEDS = st.integers(0, 9)
"""Of tables: every law is tried on some of the same ten, whose answers are then worked out once. The campaign
of docs/trust.md has others."""

NEXT_TO_NOTHING = 1e-6
"""Of a column's spread, or of a probability."""


def table(seed: int, rows: tuple[int, int] = (10, 40)) -> tuple[FloatArray, FloatArray]:
    """A few factors, numbers of several shapes, a yes/no feature, labels, and holes."""
    rng = np.random.default_rng(seed)
    n, d, n_labels = int(rng.integers(*rows)), int(rng.integers(2, 7)), int(rng.integers(1, 4))
    T = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d + n_labels))
    X = T[:, :d] + rng.choice([0.1, 1.0]) * rng.normal(size=(n, d))
    if d > 2:
        X[:, 1] = np.exp(X[:, 1])
    if d > 3:
        X[:, 2] = X[:, 2] > 0
    if d > 4:
        X[:, 3] = np.round(X[:, 3])
    Y = (T[:, d:] + rng.logistic(size=(n, n_labels)) > 0).astype(float)
    missing = rng.choice([0.2, 0.5, 0.7])
    X[rng.random(X.shape) < missing] = nan
    Y[rng.random(Y.shape) < missing] = nan
    known = ~(np.isnan(X).all(axis=1) & np.isnan(Y).all(axis=1))
    return X[known], Y[known]


def completed(X: FloatArray, Y: FloatArray, **params: Any) -> Completion:
    with warnings.catch_warnings():
        # Empty columns and rows, and noise, are announced; here they are what is asked about.
        warnings.simplefilter("ignore")
        return CoCompleter(**params).fit(X, Y).complete(X, Y)


@cache
def plain(seed: int) -> Completion:
    """The answer to a table as it is."""
    return completed(*table(seed))


def spread(X: FloatArray) -> FloatArray:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = np.nanstd(X, axis=0)
    return np.where(found > 0, found, 1.0)


def assert_same(one: Completion, other: Completion, units: FloatArray | float) -> None:
    assert np.abs((one.X - other.X) / units).max(initial=0) < NEXT_TO_NOTHING
    assert np.abs(one.Y_proba - other.Y_proba).max(initial=0) < NEXT_TO_NOTHING
    assert np.abs((one.X_std - other.X_std) / units).max(initial=0) < NEXT_TO_NOTHING


def rearranged(
    done: Completion,
    rows: NDArray[np.intp] | slice,
    columns: NDArray[np.intp] | slice,
    labels: NDArray[np.intp] | slice,
) -> Completion:
    return done._replace(
        X=done.X[rows][:, columns], X_std=done.X_std[rows][:, columns], Y_proba=done.Y_proba[rows][:, labels]
    )


@settings(max_examples=6)
@given(SEEDS)
def test_the_order_of_rows_columns_and_labels_means_nothing(seed: int) -> None:
    X, Y = table(seed)
    rng = np.random.default_rng(seed)
    rows, columns, labels = (rng.permutation(size) for size in (*X.shape, Y.shape[1]))
    there = completed(X[rows][:, columns], Y[rows][:, labels])
    assert_same(there, rearranged(plain(seed), rows, columns, labels), spread(X)[columns])


@settings(max_examples=4)
@given(SEEDS, st.integers(1, 4))
def test_rows_of_which_nothing_is_known_change_nothing(seed: int, count: int) -> None:
    X, Y = table(seed)
    n = len(X)
    wider = completed(*(np.vstack((part, np.full((count, part.shape[1]), nan))) for part in (X, Y)))
    assert_same(rearranged(wider, slice(n), slice(None), slice(None)), plain(seed), spread(X))


@settings(max_examples=4)
@given(SEEDS, st.floats(-5, 5))
def test_constant_columns_change_nothing_and_have_no_spread(seed: int, value: float) -> None:
    X, Y = table(seed)
    constant = np.full((len(X), 2), value)
    constant[::2, 0], constant[:, 1] = nan, 0.0
    # A label that is always 1 is constant too.
    wider = completed(np.hstack((constant, X)), np.hstack((Y, np.ones((len(Y), 1)))))
    narrow = rearranged(wider, slice(None), slice(2, None), slice(Y.shape[1]))
    assert_same(narrow, plain(seed), spread(X))
    np.testing.assert_array_equal(wider.X[:, 0], value)
    np.testing.assert_array_equal(wider.X_std[:, :2], 0)


@settings(max_examples=4)
@given(SEEDS)
def test_a_change_of_units_changes_units_alone(seed: int) -> None:
    X, Y = table(seed)
    rng = np.random.default_rng(seed)
    model = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.5)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        types = model.fit(X, Y).feature_types_
    number = types == "number"
    factor = np.where(number, rng.uniform(0.1, 9, len(number)), 1.0)
    offset = np.where(number, 5 * rng.normal(size=len(number)), 0.0)
    moved = completed(X * factor + offset, Y)
    back = moved._replace(X=(moved.X - offset) / factor, X_std=moved.X_std / factor)
    assert_same(back, plain(seed), spread(X))


@settings(max_examples=4)
@given(SEEDS)
def test_the_sign_of_a_feature_means_nothing(seed: int) -> None:
    """Found by the campaign: the sign decided which cells were held out, and so who answers."""
    X, Y = table(seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        types = (
            CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.5).fit(X, Y).feature_types_
        )
    turn = np.where(types == "number", -1.0, 1.0)
    moved = completed(X * turn, Y)
    assert_same(moved._replace(X=moved.X * turn), plain(seed), spread(X))


@settings(max_examples=4)
@given(SEEDS)
def test_which_value_of_a_label_is_called_1_means_nothing(seed: int) -> None:
    """Found by the campaign, likewise."""
    X, Y = table(seed)
    moved = completed(X, 1 - Y)
    assert_same(moved._replace(Y_proba=1 - moved.Y_proba), plain(seed), spread(X))


def test_columns_that_never_vary_are_all_there_is() -> None:
    X, Y = np.full((6, 2), 3.0), np.ones((6, 1))
    X[0, 0] = Y[2, 0] = nan
    with pytest.warns(UserWarning, match="have only ones observed"):
        model = CoCompleter().fit(X, Y)
    done = model.complete(X, Y)
    np.testing.assert_array_equal(done.X, 3)
    np.testing.assert_array_equal(done.X_std, 0)
    assert (done.Y_proba > 0.8).all()
    assert model.rank_ == 0
    assert len(model.sample_completions(2)) == 2


# -- what the attributes describe -----------------------------------------------------------------------


def test_attributes_describe_the_member_that_answers() -> None:
    X, Y = table(3, rows=(60, 61))
    model = CoCompleter().fit(X, Y)
    d, n_labels = X.shape[1], Y.shape[1]
    assert model.rank_ == len(model.singular_values_) == len(model.components_)
    assert model.components_.shape[1] == len(model.offsets_) == d + n_labels
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(model.rank_), atol=1e-8)
    assert (np.diff(model.singular_values_) <= 0).all()
    assert not model.certified_
    for name in ("objective_", "duality_gap_", "converged_", "history_", "label_solution_"):
        assert not hasattr(model, name)
    for part in ("numbers", "labels", "unlabelled"):
        assert sum(one[part] for one in model.members_) == pytest.approx(1)


def test_nothing_is_solved_that_nobody_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = table(3, rows=(40, 41))
    calls = []

    def counted(*arguments: Any, **settings: Any) -> Any:
        calls.append(arguments)
        return solve(*arguments, **settings)

    monkeypatch.setattr("cocomplete.estimator.solving.solve", counted)
    model = CoCompleter().fit(X, Y)
    minimisers = [one for one in model.members_ if one["name"] == "minimiser"]
    assert len(calls) == len(minimisers)


def test_a_certificate_is_there_when_asked_for() -> None:
    X, Y = table(3, rows=(40, 41))
    plain, certified = CoCompleter().fit(X, Y), CoCompleter(certify=True).fit(X, Y)
    assert certified.certified_
    assert certified.duality_gap_ <= certified.tol
    assert certified.converged_
    assert certified.history_[-1]["objective"] == certified.objective_
    # It answers no differently.
    np.testing.assert_array_equal(plain.complete(X, Y).X, certified.complete(X, Y).X)
    assert plain.rank_ == certified.rank_
    given_penalties = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.5).fit(X, Y)
    assert given_penalties.certified_
    assert given_penalties.rank_penalty_ == 1.0
    assert given_penalties.rank_ == given_penalties.label_solution_.M.rank


# -- few labels, few rows ------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [1, 2, 3, 5])
def test_a_handful_of_rows_still_works(rows: int) -> None:
    rng = np.random.default_rng(rows)
    X, Y = rng.normal(size=(rows, 3)), (rng.random((rows, 2)) < 0.5).astype(float)
    if rows > 1:
        X[0, 0] = Y[0, 1] = nan
    done = completed(X, Y)
    assert np.isfinite(done.X).all()
    assert np.isfinite(done.Y_proba).all()


def one_label(seed: int) -> tuple[FloatArray, FloatArray, FloatArray]:
    """One label, 30 to 80 rows, related features, and what hides."""
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(30, 81)), int(rng.integers(3, 9))
    X = rng.normal(size=(n, 2)) @ rng.normal(size=(2, d)) + 0.6 * rng.normal(size=(n, d))
    y = (rng.random(n) < expit(X @ (0.7 * rng.normal(size=d)))).astype(float)
    seen = np.where(rng.random(n) < 0.35, nan, y)
    return np.where(rng.random(X.shape) < 0.2, nan, X), y, seen


def test_one_label_of_few_rows_is_predicted_as_well_as_by_logistic_regression() -> None:
    def log_loss(y: FloatArray, p: FloatArray) -> float:
        p = np.clip(p, 1e-3, 1 - 1e-3)
        return float(-np.mean(np.where(y == 1, np.log(p), np.log(1 - p))))

    ours, theirs = [], []
    for seed in range(10):
        X, y, seen = one_label(seed)
        hidden = np.isnan(seen)
        ours.append(log_loss(y[hidden], completed(X, seen[:, None]).Y_proba[hidden, 0]))
        folds = max(2, min(5, int(min((seen == 0).sum(), (seen == 1).sum()))))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rival = make_pipeline(
                SimpleImputer(),
                StandardScaler(),
                LogisticRegressionCV(cv=folds, scoring="neg_log_loss", max_iter=2000),
            ).fit(X[~hidden], seen[~hidden])
        theirs.append(log_loss(y[hidden], rival.predict_proba(X[hidden])[:, 1]))
    assert np.mean(ours) <= np.mean(theirs)
    assert np.mean(np.array(ours) <= theirs) >= 0.6


# -- only ones recorded --------------------------------------------------------------------------------


def recorded_ones(
    share: float, seed: int = 0, slope: float = 3.0
) -> tuple[FloatArray, BoolArray, FloatArray]:
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(500, 2))
    X = F @ rng.normal(size=(2, 10)) + 0.5 * rng.normal(size=(500, 10))
    W = rng.normal(size=(2, 6))
    Y = rng.random((500, 6)) < expit(slope * F @ W / np.linalg.norm(W, axis=0) - 1)
    X[rng.random(X.shape) < 0.2] = nan
    return X, Y, np.where(Y & (rng.random(Y.shape) < share), 1.0, nan)


@pytest.mark.parametrize("share", [0.2, 0.4, 0.8])
def test_the_recorded_share_is_found(share: float) -> None:
    X, Y, seen = recorded_ones(share)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = CoCompleter(label_policy="positive-unlabelled").fit(X, seen)
    assert model.recorded_share_ == pytest.approx(share, abs=0.1)
    # The share's interval shows how well unrecorded ones are known, and a warning where they are not.
    vague = model._model.positive.found.unrecorded_ratio > 1.25
    assert vague == any("give it as recorded_share= if you know it" in str(one.message) for one in caught)
    assert vague or share < 0.8
    done = model.complete(X, seen)
    unknown = np.isnan(seen)
    # With 0.8 recorded few are left, and an error of 0.05 in the share is one of a quarter in them.
    assert done.Y_proba[unknown].mean() == pytest.approx(Y[unknown].mean(), rel=0.25 if share < 0.8 else 0.5)
    # Of new rows nothing was open to recording.
    assert model.predict_proba(X).mean() == pytest.approx(Y.mean(), rel=0.25)


def test_a_share_that_is_not_identified_is_asked_for() -> None:
    X, _, seen = recorded_ones(0.5, slope=0.0)
    with pytest.warns(UserWarning, match=r"hardly identify which share .* recorded_share= if you know it"):
        CoCompleter(label_policy="positive-unlabelled").fit(X, seen)
    given_share = CoCompleter(label_policy="positive-unlabelled", recorded_share=0.5).fit(X, seen)
    assert given_share.recorded_share_ == 0.5
    for bad in (0, 1.5, "half", True):
        with pytest.raises(InputError, match="recorded_share must be 'auto' or a number above 0"):
            CoCompleter(recorded_share=bad).fit(X, seen)
