"""Every rival keeps the conventions of CoCompleter, and is the method of its name."""

import pickle
from typing import Any

import cvxpy as cp
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch

from cocomplete import InputError, baselines
from cocomplete.arrays import FloatArray
from cocomplete.baselines import GoldbergMC, Maxide, Mc, MeanMode, Oracle, SoftImpute
from cocomplete.baselines.maxide import complete_with_side_information
from cocomplete.baselines.tuning import HELD_SHARE, best, choose, follow, hold_out
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.metrics import hamming_error, relative_error
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.proximal import Recipe, with_gap

nan = np.nan

RIVALS = [
    SoftImpute(preset="paper"),
    SoftImpute(preset="tuned", random_state=0),
    SoftImpute(preset="tuned", use_labels=True, random_state=0),
    SoftImpute(preset="paper", use_labels=True, center=True, scale=True),
    Mc(preset="paper"),
    Mc(preset="tuned", random_state=0),
    Maxide(preset="paper"),
    Maxide(preset="tuned", random_state=0),
    *(
        GoldbergMC(preset=preset, variant=variant, max_iter=50, random_state=0)
        for preset in ("paper", "tuned")
        for variant in ("mc-1", "mc-b", "plain")
    ),
]
COMPLETERS = [MeanMode(), *RIVALS]


def name(model: Any) -> str:
    parts = (getattr(model, attribute, None) for attribute in ("preset", "variant", "use_labels"))
    return "-".join([type(model).__name__, *(str(part) for part in parts if part is not None)])


@pytest.fixture(scope="module")
def table() -> Bunch:
    return make_low_rank_multilabel(50, 12, 6, rank=2, observed=0.6, random_state=3)


@pytest.mark.parametrize("model", COMPLETERS, ids=name)
def test_conventions_of_a_completer(model: Any, table: Bunch) -> None:
    model = clone(model)
    with pytest.raises(NotFittedError):
        model.complete(table.X, table.Y)
    with pytest.raises(NotFittedError):
        model.reconstruct()
    done = model.fit(table.X, table.Y).complete(table.X, table.Y)
    own = model.reconstruct()
    X_known, Y_known = ~np.isnan(table.X), ~np.isnan(table.Y)
    assert (done.X[X_known] == table.X[X_known]).all()
    assert (done.Y[Y_known] == table.Y[Y_known]).all()
    assert np.isfinite(done.X).all()
    assert np.isin(done.Y, (0, 1)).all()
    np.testing.assert_array_equal(done.X[~X_known], own.X[~X_known])
    np.testing.assert_array_equal(done.Y[~Y_known], (own.Z > 0)[~Y_known])
    assert ((done.Y_proba >= 0) & (done.Y_proba <= 1)).all()
    np.testing.assert_array_equal(done.Y_proba > 0.5, own.Z > 0)
    assert done.X_std is None
    assert model.n_features_in_ == 12
    again = clone(model).fit(table.X, table.Y).reconstruct()
    np.testing.assert_array_equal(again.Z, own.Z)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).reconstruct().X, own.X)


@pytest.mark.parametrize("model", RIVALS, ids=name)
def test_frames_names_and_tables_without_labels(model: Any) -> None:
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(12, 3)), columns=list("abc"), index=range(5, 17))
    y = pd.DataFrame({"u": rng.integers(0, 2, 12).astype(float), "v": rng.integers(0, 2, 12)}, index=X.index)
    X.iloc[2, 1] = y.iloc[3, 0] = nan
    model = clone(model)
    done = model.fit(X, y).complete(X, y)
    assert list(model.feature_names_in_) == ["a", "b", "c"]
    assert list(model.label_names_in_) == ["u", "v"]
    assert list(done.Y.index) == list(range(5, 17))
    assert not done.X.isna().any().any()
    assert model.fit(X.to_numpy()).complete(X.to_numpy()).Y is None
    assert not hasattr(model, "feature_names_in_")


@pytest.mark.parametrize("model", RIVALS, ids=name)
def test_new_rows_are_refused_in_one_sentence(model: Any, table: Bunch) -> None:
    model = clone(model).fit(table.X, table.Y)
    with pytest.raises(InputError, match=r"completes only the rows it was fitted on.*fit on all rows"):
        model.complete(table.X[:5], table.Y[:5])


@pytest.mark.parametrize("model", RIVALS, ids=name)
def test_empty_rows_and_columns_are_filled(model: Any) -> None:
    data = make_low_rank_multilabel(20, 6, 4, rank=2, observed=0.8, random_state=1)
    data.X[3], data.Y[3], data.X[:, 2], data.Y[:, 1] = nan, nan, nan, nan
    with pytest.warns(UserWarning, match="nothing is observed"):
        done = clone(model).fit(data.X, data.Y).complete(data.X, data.Y)
    assert np.isfinite(done.X).all()
    assert np.isin(done.Y, (0, 1)).all()


@pytest.mark.parametrize("model", RIVALS, ids=name)
def test_single_precision_stays_single(model: Any, table: Bunch) -> None:
    model = clone(model)
    if "tol" in model.get_params():
        # A gap of 1e-3 is at the edge of what seven digits allow.
        model.set_params(tol=1e-2)
    own = model.fit(table.X.astype(np.float32), table.Y.astype(np.float32)).reconstruct()
    assert own.X.dtype == own.Z.dtype == np.float32


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (SoftImpute(preset="best"), r"preset must be one of 'paper', 'tuned', got 'best'"),
        (Mc(preset=None), r"preset must be one of"),
        (SoftImpute(rank_penalty=0), r"rank_penalty must be None or a finite number above 0, got 0"),
        (SoftImpute(center="yes"), r"center must be None, True or False, got 'yes'"),  # type: ignore[arg-type]
        (SoftImpute(use_labels=2), r"use_labels must be True or False, got 2"),  # type: ignore[arg-type]
        (Mc(max_iter=0), r"max_iter must be a whole number of at least 1, got 0"),
        (Mc(tol=0), r"tol must be a finite number above 0, got 0"),
        (Maxide(label_penalty=-1), r"label_penalty must be None or a finite number above 0, got -1"),
        (Maxide(feature_penalty=nan), r"feature_penalty must be None or"),
        (
            Maxide(label_information=[[1.0]]),
            r"label_information must have one row .* that is 2, but .* \(1, 1\)",
        ),
        (GoldbergMC(variant="mc-2"), r"variant must be one of 'mc-1', 'mc-b', 'plain', got 'mc-2'"),
        (GoldbergMC(label_weight=True), r"label_weight must be None or a finite number above 0, got True"),
        (Oracle(X_true=[[1.0]], Y_true=[[1]]), r"X_true must be the whole table of shape \(2, 2\)"),
        (Oracle(X_true=[[1, 2], [2, 1]], Y_true=[[1, nan], [0, 1]]), r"Y_true must be .* 1 unknown"),
    ],
)
def test_bad_parameters_are_named(model: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        model.fit([[1.0, 2.0], [2.0, 1.0]], [[1, 0], [0, 1]])


def test_public_names() -> None:
    assert set(baselines.__all__) == set(dir(baselines))
    for public in baselines.__all__:
        assert getattr(baselines, public).__name__ == public
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        baselines.nonsense  # noqa: B018


# -- each is the method of its name ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "settings",
    [
        {"preset": "paper", "max_iter": 4000},
        {"preset": "tuned", "center": False, "scale": False, "tol": 1e-6},
    ],
)
@pytest.mark.parametrize("use_labels", [False, True])
def test_soft_impute_reaches_cvxpy_s_minimum_by_either_solver(
    settings: dict[str, Any], use_labels: bool
) -> None:
    data = make_low_rank_multilabel(14, 7, 3, rank=2, observed=0.7, random_state=2)
    D = np.hstack((data.X, data.Y)) if use_labels else data.X
    M = cp.Variable(D.shape)
    residual = cp.multiply((~np.isnan(D)).astype(float), M - np.nan_to_num(D))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(residual) + 2.0 * cp.normNuc(M)))
    problem.solve(solver=cp.CLARABEL)
    model = SoftImpute(rank_penalty=2.0, use_labels=use_labels, **settings).fit(data.X, data.Y)
    assert model.objective_ == pytest.approx(problem.value, rel=1e-5)
    assert model.duality_gap_ < 1e-5
    own = model.reconstruct()
    np.testing.assert_allclose(own.X, M.value[:, :7], atol=2e-2)
    if use_labels:
        np.testing.assert_allclose(own.Z, 2 * M.value[:, 7:] - 1, atol=2e-2)


def test_maxide_without_side_information_is_soft_impute() -> None:
    data = make_low_rank_multilabel(40, 15, 10, rank=3, observed=0.5, random_state=0)
    n, m = data.X.shape
    for A, B in ((np.eye(n), np.eye(m)), (np.eye(n), None)):
        for iterations in (7, 100):
            recipe = Recipe(backtrack=True, max_iter=iterations)
            maxide = complete_with_side_information(data.X, A, B, penalty=1.0, recipe=recipe)
            plain = SoftImpute(preset="paper", max_iter=iterations).fit(data.X)
            np.testing.assert_allclose(maxide.M.dense(), plain.reconstruct().X, atol=1e-8)


def test_maxide_minimises_its_objective_with_side_information_on_both_sides() -> None:
    rng = np.random.default_rng(4)
    A, B = rng.normal(size=(12, 4)), rng.normal(size=(6, 3))
    D = A @ rng.normal(size=(4, 3)) @ B.T + 0.1 * rng.normal(size=(12, 6))
    D[rng.random(D.shape) < 0.4] = nan
    Z = cp.Variable((4, 3))
    residual = cp.multiply((~np.isnan(D)).astype(float), A @ Z @ B.T - np.nan_to_num(D))
    problem = cp.Problem(cp.Minimize(0.5 * cp.sum_squares(residual) + 3.0 * cp.normNuc(Z)))
    problem.solve(solver=cp.CLARABEL)
    recipe = Recipe(backtrack=True, restart=True, max_iter=20_000, tol=1e-14)
    solution = complete_with_side_information(D, A, B, penalty=3.0, recipe=recipe)
    assert solution.objective == pytest.approx(problem.value, rel=1e-6)
    np.testing.assert_allclose(solution.M.dense(), Z.value, atol=1e-3)


@pytest.mark.parametrize("preset", ["paper", "tuned"])
def test_label_information_of_full_rank_changes_little_and_is_used(preset: str, table: Bunch) -> None:
    plain = Maxide(preset=preset, random_state=0).fit(table.X, table.Y)
    same = Maxide(preset=preset, label_information=np.eye(6), random_state=0).fit(table.X, table.Y)
    np.testing.assert_allclose(plain.reconstruct().Z, same.reconstruct().Z, atol=1e-8)
    alike = Maxide(preset=preset, label_information=np.ones((6, 1)), random_state=0).fit(table.X, table.Y)
    Z = alike.reconstruct().Z
    np.testing.assert_allclose(Z, Z[:, :1] @ np.ones((1, 6)), atol=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_mc_without_a_bias_is_coco_0(seed: int) -> None:
    """At label weight 50 and μ = 50 per ½ squared error, MC's objective is COCO-0's with λ1 = 1, w = 0.01."""
    data = make_low_rank_multilabel(60, 25, 10, rank=3, observed=0.5, random_state=seed)
    X, Y = data.X + np.random.default_rng(seed).normal(size=data.X.shape), data.Y
    features, labels = (int((~np.isnan(part)).sum()) for part in (X, Y))
    model = GoldbergMC(
        variant="plain",
        rank_penalty=50 / features,
        label_weight=50 * labels / features,
        max_iter=50_000,
        tol=1e-12,
    ).fit(X, Y)
    coco = Objective(Observations(X, Y), 1.0, 0.0, 0.01, np.zeros(35))
    exact = solve_factored(coco, tol=1e-5, max_iter=500)
    assert exact.duality_gap <= 1e-5
    assert model.duality_gap_ <= 1e-5
    assert model.objective_ == pytest.approx(exact.objective, rel=2e-5)
    assert with_gap(coco, model.label_solution_).duality_gap <= 1e-5
    own, M = model.reconstruct(), exact.M.dense()
    assert relative_error(M[:, :25], own.X) < 2e-3
    assert np.linalg.norm(M[:, 25:] - own.Z) < 1e-2 * np.linalg.norm(own.Z)


def test_mc_b_s_bias_is_free_and_mc_1_s_column_of_ones_is_not() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 5))
    Y = (rng.random((80, 3)) < (0.9, 0.5, 0.1)).astype(float)
    free = GoldbergMC(variant="mc-b", rank_penalty=1.0, tol=1e-12).fit(X, Y)
    rate = Y.mean(axis=0)
    # So heavy a trace norm leaves nothing but the bias, which is the log-odds.
    np.testing.assert_allclose(free.reconstruct().Z, np.tile(np.log(rate / (1 - rate)), (80, 1)), atol=1e-3)
    for penalty in (1.0, 100.0):
        plain = GoldbergMC(variant="plain", rank_penalty=penalty, tol=1e-12).fit(X, Y)
        np.testing.assert_allclose(plain.reconstruct().Z, 0, atol=1e-9)
        assert plain.rank_penalty_ == penalty
        assert plain.duality_gap_ <= 1e-9
    ones = GoldbergMC(variant="mc-1", rank_penalty=0.01, tol=1e-12).fit(X, Y).reconstruct().Z.mean(axis=0)
    assert ones[0] > 0.5
    assert abs(ones[1]) < 0.3
    assert ones[2] < -0.5


def test_mc_is_squared_loss_on_both_parts(table: Bunch) -> None:
    one = Mc().fit(table.X, table.Y)
    D = np.hstack((table.X, table.Y))
    two = SoftImpute(preset="paper").fit(D).reconstruct().X
    np.testing.assert_allclose(one.reconstruct().X, two[:, :12], atol=1e-12)
    np.testing.assert_allclose(one.reconstruct().Z, 2 * two[:, 12:] - 1, atol=1e-12)
    assert one.n_iter_ == 100
    assert one.rank_penalty_ == 1.0
    assert one.validation_ is None


def test_oracle_makes_no_error(table: Bunch) -> None:
    own = Oracle(X_true=table.X_true, Y_true=table.Y_true).fit(table.X, table.Y).reconstruct()
    assert relative_error(table.X_true, own.X) == 0
    assert hamming_error(table.Y_true, own.Z > 0) == 0


# -- tuned -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def shifted() -> tuple[Bunch, FloatArray, FloatArray]:
    """A table with what real ones have and the published settings cannot take: offsets and units."""
    data = make_low_rank_multilabel(120, 30, 12, rank=2, observed=0.5, random_state=0)
    units = np.geomspace(0.01, 100, 30)
    return data, units * (data.X + 50), units * (data.X_true + 50)


@pytest.mark.parametrize(
    "model",
    [
        Maxide(),
        Mc(),
        SoftImpute(),
        GoldbergMC(variant="mc-b", max_iter=100),
        GoldbergMC(variant="plain", max_iter=100),
    ],
    ids=name,
)
def test_tuned_beats_published_on_shifted_columns(
    model: Any, shifted: tuple[Bunch, FloatArray, FloatArray]
) -> None:
    data, X, X_true = shifted
    seen = ~np.isnan(data.Y)
    errors = []
    for preset in ("paper", "tuned"):
        fitted = clone(model).set_params(preset=preset, random_state=0).fit(X, data.Y)
        own = fitted.reconstruct()
        error = np.sqrt(np.mean(((own.X - X_true) / X_true.std(axis=0)) ** 2))
        errors.append((error, hamming_error(data.Y_true, own.Z > 0, observed=seen)))
    (X_paper, Y_paper), (X_tuned, Y_tuned) = errors
    assert X_tuned < 0.5 * X_paper
    assert Y_tuned <= Y_paper
    assert fitted.validation_


def test_tuned_records_what_it_tried(shifted: tuple[Bunch, FloatArray, FloatArray]) -> None:
    data, X, _ = shifted
    model = Mc(preset="tuned", random_state=0).fit(X, data.Y)
    assert {"rank_penalty", "feature_error", "label_error"} == set(model.validation_[0])
    tried = [record["rank_penalty"] for record in model.validation_]
    assert tried == sorted(tried, reverse=True)
    assert model.rank_penalty_ == best(model.validation_, "feature_error")["rank_penalty"]
    assert model.label_rank_penalty_ == best(model.validation_, "label_error")["rank_penalty"]
    assert model.duality_gap_ <= model.tol
    joint = GoldbergMC(preset="tuned", variant="mc-b", random_state=0).fit(X, data.Y)
    assert {"rank_penalty", "label_weight", "scale"} <= set(joint.validation_[0])
    given = GoldbergMC(
        preset="tuned", variant="mc-b", rank_penalty=1e-3, label_weight=1.0, random_state=0
    ).fit(X, data.Y)
    assert given.rank_penalty_ == pytest.approx(1e-3)
    assert given.label_weight_ == 1.0
    assert len(given.validation_) == 2


def test_held_out_cells_are_a_tenth_of_the_observed_ones_drawn_by_seed(table: Bunch) -> None:
    observed = Observations(table.X, table.Y)
    one, two, other = (hold_out(observed, seed) for seed in (0, 0, 1))
    for hidden, known, shown in (
        (one.X_held, observed.X_known, one.visible.X_known),
        (one.Y_held, observed.Y_known, one.visible.Y_known),
    ):
        assert hidden.sum() == round(HELD_SHARE * known.sum())
        assert not (hidden & ~known).any()
        np.testing.assert_array_equal(shown, known & ~hidden)
    np.testing.assert_array_equal(one.X_held, two.X_held)
    assert (one.X_held != other.X_held).any()


def test_a_path_ends_when_every_watched_score_has_turned() -> None:
    scores = [5, 4, 3, 4, 5, 6, 1, 0]
    candidates = [({"penalty": k}, score) for k, score in enumerate(scores)]
    records, answers = follow(
        iter(candidates), lambda score: {"feature_error": score, "label_error": -score}, ["feature_error"]
    )
    assert answers == {"feature_error": 3, "label_error": 6}
    assert [record["penalty"] for record in records] == [0, 1, 2, 3, 4, 5]
    assert best(records, "feature_error")["penalty"] == 2
    assert choose(records) == (records[2], records[5])
    flat = follow(iter(candidates), lambda _: {"label_error": 1.0}).records
    assert len(flat) == 4
    assert choose(flat) == (flat[0], flat[0])
    nothing = follow(iter(candidates), lambda _: {}).records
    assert len(nothing) == 8
    assert choose(nothing) == (nothing[0], nothing[0])


@pytest.mark.parametrize(("before", "length"), [(1e-4, 5), (0.05, 8)])
def test_once_labels_have_turned_features_far_behind_another_path_do_not_keep_it_going(
    before: float, length: int
) -> None:
    labels = [3.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]
    candidates = [({"penalty": k}, k) for k in range(8)]
    rivals = [{"feature_error": before, "label_error": 100.0}]
    records = follow(
        iter(candidates), lambda k: {"feature_error": 2.0**-k, "label_error": labels[k]}, rivals=rivals
    ).records
    assert len(records) == length


def test_a_path_ends_when_what_is_left_of_every_error_is_negligible() -> None:
    errors = [1.0, 1e-3, 1e-6, 1e-7, 1e-8, 1e-9, 1e-10]
    candidates = [({"penalty": k}, error) for k, error in enumerate(errors)]
    records, answers = follow(iter(candidates), lambda error: {"feature_error": error})
    assert len(records) == 6
    assert answers == {"feature_error": 1e-9}
