import pickle
import warnings
from random import Random
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.utils import Bunch
from threadpoolctl import threadpool_limits

import cocomplete
from cocomplete import CoCompleter, InputError, complete
from cocomplete.baselines import MeanMode
from cocomplete.datasets import make_clinic, make_low_rank_multilabel
from cocomplete.metrics import hamming_error, relative_error, standardized_rmse
from cocomplete.solvers.choice import SOLVERS

nan = np.nan

GIVEN: dict[str, Any] = {"rank_penalty": 1.0, "residual_penalty": 0.0, "feature_weight": 0.5}
"""Nothing to choose: what is tested is quick, and does not hang on which cells were held out."""


@pytest.fixture(scope="module")
def table() -> Bunch:
    return make_low_rank_multilabel(60, 12, 6, rank=2, observed=0.6, random_state=3)


def test_observed_cells_come_back_bit_equal_and_no_hole_is_left(table: Bunch) -> None:
    done = CoCompleter().fit(table.X, table.Y).complete(table.X, table.Y)
    X_known, Y_known = ~np.isnan(table.X), ~np.isnan(table.Y)
    assert (done.X[X_known] == table.X[X_known]).all()
    assert (done.Y[Y_known] == table.Y[Y_known]).all()
    assert np.isfinite(done.X).all()
    assert np.isin(done.Y, (0, 1)).all()
    assert done.Y_proba.shape == table.Y.shape
    assert ((done.Y_proba >= 0) & (done.Y_proba <= 1)).all()


def test_holes_get_the_model_s_own_values(table: Bunch) -> None:
    model = CoCompleter(threshold=0.3, clip=False).fit(table.X, table.Y)
    done, own = model.complete(table.X, table.Y), model.reconstruct()
    holes = np.isnan(table.X)
    np.testing.assert_array_equal(done.X[holes], own.X[holes])
    np.testing.assert_allclose(done.Y_proba, 1 / (1 + np.exp(-own.Z)))
    unknown = np.isnan(table.Y)
    np.testing.assert_array_equal(done.Y[unknown], (done.Y_proba > 0.3)[unknown])


def test_fitted_attributes_agree_with_each_other(table: Bunch) -> None:
    model = CoCompleter(certify=True).fit(table.X, table.Y)
    assert model.rank_ == len(model.singular_values_) == len(model.components_)
    assert model.components_.shape[1] == len(model.offsets_) == 18
    assert model.certified_
    assert model.history_[-1]["objective"] == model.objective_
    assert model.n_features_in_ == 12
    assert not hasattr(model, "feature_names_in_")
    assert model.converged_
    assert 0 <= model.duality_gap_ <= model.tol


def test_the_function_is_the_class(table: Bunch) -> None:
    one = complete(table.X, table.Y, **GIVEN)
    two = CoCompleter(**GIVEN).fit(table.X, table.Y).complete(table.X, table.Y)
    for ours, theirs in zip(one[:3], two[:3], strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert complete(table.X).Y is None


def test_not_fitted() -> None:
    with pytest.raises(NotFittedError):
        CoCompleter().complete([[1.0]])
    with pytest.raises(NotFittedError):
        CoCompleter().reconstruct()


def test_names_index_and_types_come_back() -> None:
    X = pd.DataFrame(
        {"a": pd.array([1, None, 3, 4], dtype="Int64"), "b": [1, 2, 3, 4], "c": [0.5, nan, 1.5, 2.0]},
        index=[7, 3, 3, 1],
    )
    y = pd.DataFrame(
        {"u": pd.array([True, None, False, True], dtype="boolean"), "v": [0, 1, nan, 1]}, index=X.index
    )
    model = CoCompleter().fit(X, y)
    done = model.complete(X, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert list(model.label_names_in_) == ["u", "v"]
    assert list(done.X.columns) == ["a", "b", "c"]
    assert list(done.X.index) == list(done.Y.index) == [7, 3, 3, 1]
    assert done.X["b"].dtype == np.int64
    assert str(done.Y["u"].dtype) == "boolean"
    assert list(done.X["a"].iloc[[0, 2, 3]]) == [1, 3, 4]
    assert not done.X.isna().any().any()
    assert not done.Y.isna().any().any()


def test_polars_in_polars_out() -> None:
    X = pl.DataFrame({"a": [1, None, 3], "b": [0.5, 1.5, None]})
    y = pl.DataFrame({"u": [True, False, None], "v": [1, None, 0]})
    done = complete(X, y)
    assert isinstance(done.X, pl.DataFrame)
    assert done.Y.schema == y.schema
    assert done.X.null_count().sum_horizontal().item() == 0
    assert done.X["a"][0] == 1


def test_an_empty_column_and_an_empty_row_get_offsets_alone() -> None:
    X = np.array([[1.0, nan, 2.0], [nan, nan, nan], [3.0, nan, 5.0], [2.0, nan, 3.0]])
    y = np.array([[1.0, nan], [nan, nan], [0.0, nan], [1.0, nan]])
    with pytest.warns(UserWarning, match="nothing is observed"):
        model = CoCompleter(rank_penalty=0.1).fit(X, y)
    done = model.complete(X, y)
    np.testing.assert_allclose(done.X[:, 1], 0)
    np.testing.assert_allclose(done.X[1], model.offsets_[:3])
    np.testing.assert_allclose(done.X[1], [2.0, 0.0, 10 / 3], rtol=0.01)
    np.testing.assert_allclose(done.Y_proba[:, 1], 0.5)
    assert done.Y_proba[1, 0] == pytest.approx(1 / (1 + np.exp(-model.offsets_[3])))


@pytest.mark.parametrize(
    ("params", "message"),
    [
        ({"rank_penalty": -1}, r"rank_penalty must be 'auto' or a number .* got -1"),
        ({"rank_penalty": 0}, r"rank_penalty must be above 0"),
        ({"feature_weight": "big"}, r"feature_weight must be .* got 'big'"),
        ({"residual_penalty": nan}, r"residual_penalty must be"),
        ({"solver": "magic"}, r"solver must be one of 'auto'.* got 'magic'"),
        ({"max_iter": 0}, r"max_iter must be None or a whole number of at least 1, got 0"),
        ({"max_rank": 0}, r"max_rank must be None or a whole number of at least 1, got 0"),
        ({"max_rank": 2.5}, r"max_rank must be None or a whole number"),
        ({"tol": -1}, r"tol must be a number that is not negative, got -1"),
        ({"tol": "tight"}, r"tol must be .* got 'tight'"),
        ({"threshold": 2}, r"threshold must be a number between 0 and 1, .* got 2"),
        ({"solver_options": {"stepp": 1}}, r"solver_options has \['stepp'\]"),
        ({"solver_options": 3}, r"solver_options must be None or a dict of a solver's options, got 3"),
        (
            {"solver": "paper", "solver_options": {"step": "x"}},
            r"solver_options\['step'\] must be a number above 0",
        ),
        ({"center": "x"}, r"center must be True or False, got 'x'"),
        ({"clip": nan}, r"clip must be True or False, got nan"),
        ({"averaging": 1}, r"averaging must be True or False, got 1"),
        ({"verbose": "x"}, r"verbose must be a whole number of at least 0, got 'x'"),
        ({"rank_penalty": 1e300}, r"rank_penalty must be at most 1e\+100, got 1e\+300; squares"),
    ],
)
def test_bad_parameters_are_named(params: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        CoCompleter(**params).fit([[1.0, 2.0], [2.0, 1.0]])


def test_the_paper_s_preset() -> None:
    model = CoCompleter.from_paper(0.0, max_iter=7, step_floor=None)
    params = model.get_params()
    assert (params["rank_penalty"], params["residual_penalty"], params["feature_weight"]) == (1.0, 0.0, 0.01)
    assert (params["center"], params["scale"], params["solver"]) == (False, False, "paper")
    assert params["solver_options"]["floor"] is None
    assert clone(model).get_params() == params


def test_same_input_gives_the_same_bits_again(table: Bunch) -> None:
    one, two = (CoCompleter.from_paper(max_iter=40).fit(table.X, table.Y).reconstruct() for _ in range(2))
    assert (one.X == two.X).all()
    assert (one.Z == two.Z).all()


def test_errors_do_not_depend_on_the_number_of_threads() -> None:
    data = make_low_rank_multilabel(300, 80, 30, rank=4, observed=0.4, random_state=0)
    errors = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            fitted = CoCompleter.from_paper(max_iter=60).fit(data.X, data.Y).reconstruct()
        errors.append((relative_error(data.X_true, fitted.X), hamming_error(data.Y_true, fitted.Z > 0)))
    np.testing.assert_allclose(errors[0], errors[1], atol=1e-4)


def test_pickle(table: Bunch) -> None:
    model = CoCompleter().fit(table.X, table.Y)
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.reconstruct().X, model.reconstruct().X)


def test_defaults_beat_column_means_on_the_synthetic_clinic() -> None:
    clinic = make_clinic()
    X_known, Y_known = ~np.isnan(clinic.X), ~np.isnan(clinic.Y)
    ours = complete(clinic.X, clinic.Y)
    plain = MeanMode().fit(clinic.X, clinic.Y).complete(clinic.X, clinic.Y)
    scores = [
        (
            standardized_rmse(clinic.X_true, done.X, observed=X_known),
            hamming_error(clinic.Y_true, done.Y, observed=Y_known),
        )
        for done in (ours, plain)
    ]
    assert scores[0][0] < 0.75 * scores[1][0]
    assert scores[0][1] < 0.9 * scores[1][1]


@given(st.randoms(use_true_random=False))
def test_order_of_rows_and_columns_does_not_matter(random: Random) -> None:
    data = make_low_rank_multilabel(14, 6, 4, rank=2, observed=0.7, random_state=random.randrange(10_000))
    orders = [random.sample(range(size), size) for size in (14, 6, 4)]
    rows, features, labels = (np.array(order) for order in orders)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        plain = CoCompleter(**GIVEN).fit(data.X, data.Y).reconstruct()
        mixed = CoCompleter(**GIVEN).fit(data.X[rows][:, features], data.Y[rows][:, labels]).reconstruct()
    np.testing.assert_allclose(mixed.X, plain.X[rows][:, features], atol=1e-8)
    np.testing.assert_allclose(mixed.Z, plain.Z[rows][:, labels], atol=1e-8)


@given(st.floats(-1e3, 1e3), st.floats(0.01, 100))
def test_shifting_and_scaling_a_feature_changes_only_its_units(shift: float, factor: float) -> None:
    data = make_low_rank_multilabel(20, 5, 3, rank=2, observed=0.8, random_state=1)
    other = data.X.copy()
    other[:, 2] = factor * other[:, 2] + shift
    plain = CoCompleter(**GIVEN).fit(data.X, data.Y).reconstruct()
    moved = CoCompleter(**GIVEN).fit(other, data.Y).reconstruct()
    np.testing.assert_allclose(moved.X[:, 2], factor * plain.X[:, 2] + shift, rtol=1e-6, atol=1e-6 * factor)
    np.testing.assert_allclose(moved.Z, plain.Z, atol=1e-6)


@given(st.floats(-1e3, 1e3))
def test_adding_a_constant_to_a_feature_changes_only_its_offset(shift: float) -> None:
    data = make_low_rank_multilabel(20, 5, 3, rank=2, observed=0.8, random_state=1)
    other = data.X.copy()
    other[:, 2] += shift
    plain, moved = (CoCompleter(**GIVEN).fit(X, data.Y) for X in (data.X, other))
    expected = plain.offsets_.copy()
    expected[2] += shift
    np.testing.assert_allclose(moved.offsets_, expected, atol=1e-6)
    np.testing.assert_allclose(moved.singular_values_, plain.singular_values_, rtol=1e-6)


@pytest.mark.parametrize(
    ("residual_penalty", "solver"), [(0.0, "factored"), (5.0, "factored"), (0.5, "primal-dual")]
)
def test_auto_names_its_solver_and_why(
    table: Bunch, caplog: pytest.LogCaptureFixture, residual_penalty: float, solver: str
) -> None:
    model = CoCompleter(rank_penalty=2.0, residual_penalty=residual_penalty, tol=1e-2, verbose=1)
    with caplog.at_level("INFO", logger="cocomplete"):
        model.fit(table.X, table.Y)
    assert model.solver_ == solver
    assert f"solver '{solver}': " in caplog.text
    assert "residual_penalty" in caplog.text
    assert "gap" in caplog.text


def test_every_iteration_is_logged_on_request(table: Bunch, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level("INFO", logger="cocomplete"):
        CoCompleter(verbose=2, **GIVEN).fit(table.X, table.Y)
    assert "iteration 1, objective" in caplog.text


def test_not_converging_is_said_with_the_distance_and_the_cure(table: Bunch) -> None:
    with pytest.warns(
        ConvergenceWarning, match=r"gap is .* after 1 iterations .* tol=1e-09; raise max_iter or tol"
    ):
        model = CoCompleter(tol=1e-9, max_iter=1, **GIVEN).fit(table.X, table.Y)
    assert not model.converged_
    assert model.duality_gap_ > 1e-9
    with pytest.warns(ConvergenceWarning, match="raise max_rank"):
        model = CoCompleter(**(GIVEN | {"rank_penalty": 0.5}), max_rank=1).fit(table.X, table.Y)
    assert model.rank_ == 1


def test_polish_is_off_by_default_and_reported(table: Bunch) -> None:
    assert not CoCompleter(**GIVEN).fit(table.X, table.Y).polished_
    model = CoCompleter(
        rank_penalty=1.0, residual_penalty=1.0, feature_weight=0.01, center=False, scale=False, polish=True
    )
    model.fit(table.X, table.Y)
    assert model.polished_
    assert model.rank_ == 2
    assert model.converged_


def test_factored_refuses_the_regime_in_between(table: Bunch) -> None:
    model = CoCompleter(rank_penalty=2.0, residual_penalty=0.5, solver="factored")
    refused = (
        r"solver='factored' needs residual_penalty 0 or at least rank_penalty \(2\), got 0.5; "
        r"use solver='primal-dual', 'paper' or 'auto'"
    )
    with pytest.raises(InputError, match=refused):
        model.fit(table.X, table.Y)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_solver_completes(table: Bunch, solver: str) -> None:
    done = complete(table.X, table.Y, solver=solver, **GIVEN, tol=1e-2)
    assert np.isfinite(done.X).all()
    assert np.isin(done.Y, (0, 1)).all()


def test_public_names() -> None:
    assert set(cocomplete.__all__) <= set(dir(cocomplete))
    assert str(cocomplete.__version__).count(".") == 2
    assert cocomplete.datasets.make_clinic is make_clinic
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        cocomplete.nonsense  # noqa: B018
