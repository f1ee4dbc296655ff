"""Tables in row blocks: the same answer from memory and from files, close to that of the whole table."""

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from cocomplete import CoCompleter, InputError
from cocomplete.engines.engine import Engine, Threads
from cocomplete.engines.on_disk import OnDisk
from cocomplete.estimator.block_rows import LONG_NUMBERS, sample_places
from cocomplete.members.minimiser import Minimiser
from cocomplete.problem.cell_blocks import ColumnCensus
from cocomplete.problem.cells import Cells, without_labels
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from tests.blocks import Elsewhere, long_table, low_limits

GIVEN: dict[str, Any] = {"rank_penalty": 15.0, "residual_penalty": 0.0, "feature_weight": 0.5}


@pytest.fixture(scope="module")
def fitted() -> CoCompleter:
    with pytest.MonkeyPatch.context() as patch:
        low_limits(patch)
        return CoCompleter().fit(*long_table())


def assert_same_fit(one: CoCompleter, other: CoCompleter) -> None:
    """Compare every fitted attribute, bit by bit."""
    names = [name for name in vars(one) if name.endswith("_") and not name.startswith("_")]
    assert sorted(names) == sorted(name for name in vars(other) if name.endswith("_") and name[0] != "_")
    for name in names:
        left, right = getattr(one, name), getattr(other, name)
        if isinstance(left, np.ndarray):
            np.testing.assert_array_equal(left, right, err_msg=name)
        elif name not in ("feature_solution_", "label_solution_", "history_"):
            assert left == right, name


def test_files_give_what_memory_gives(fitted: CoCompleter, monkeypatch: pytest.MonkeyPatch) -> None:
    low_limits(monkeypatch)
    X, y = long_table()
    stored = CoCompleter().fit(Elsewhere(X, y))
    assert_same_fit(fitted, stored)
    np.testing.assert_array_equal(stored.predict_proba(X), fitted.predict_proba(X))


@pytest.mark.parametrize("frame", [pd.DataFrame, lambda table: pl.DataFrame(table, nan_to_null=True)])
def test_frames_give_what_arrays_give(
    fitted: CoCompleter, frame: type, monkeypatch: pytest.MonkeyPatch
) -> None:
    low_limits(monkeypatch)
    X, y = (frame(each) for each in long_table())
    found = CoCompleter().fit(X, y)
    np.testing.assert_array_equal(found.singular_values_, fitted.singular_values_)
    done = found.complete(X, y)
    assert type(done.X) is type(X)
    np.testing.assert_array_equal(np.asarray(done.X), fitted.complete(*long_table()).X)


def test_an_answer_does_not_depend_on_the_blocks(
    fitted: CoCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    low_limits(monkeypatch, block=2_222)
    X, y = long_table()
    other = CoCompleter().fit(X, y)
    np.testing.assert_allclose(other.singular_values_, fitted.singular_values_, rtol=1e-9)
    np.testing.assert_allclose(other.predict_proba(X), fitted.predict_proba(X), atol=1e-9)


def test_all_rows_predict_better_than_the_sample_alone(
    fitted: CoCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    X, y = long_table()
    rng = np.random.default_rng(1)
    places = rng.permutation(len(X))[: 5_000 // 16]
    sample = CoCompleter().fit(X[places], y[places])
    held = ~np.isnan(X) & (rng.random(X.shape) < 0.2)
    hidden = np.where(held, np.nan, X)
    low_limits(monkeypatch)
    errors = [np.sqrt(np.mean((each.complete(hidden, y).X - X)[held] ** 2)) for each in (fitted, sample)]
    assert errors[0] < errors[1]


def test_rows_of_the_sample_are_those_of_their_places() -> None:
    many = sample_places((LONG_NUMBERS, 10), 0)
    assert np.all(np.diff(many) > 0)
    np.testing.assert_array_equal(sample_places((LONG_NUMBERS, 10), 0), many)
    assert not np.array_equal(sample_places((LONG_NUMBERS, 10), 1), many)
    np.testing.assert_array_equal(sample_places((5, 3), 0), np.arange(5))


def test_given_penalties_reach_the_certificate_of_all_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    low_limits(monkeypatch)
    X, y = long_table()
    found = CoCompleter(**GIVEN, tol=1e-5).fit(X, y)
    assert found.converged_
    assert found.label_solution_.M.shape == (312, 16)
    member = found._model.ensemble.members[0]
    assert isinstance(member, Minimiser)
    whole = member.encoding.apply(Observations(X, y))
    same = solve_factored(Objective(whole, 15.0, 0.0, 0.5, member.encoding.offsets, True), tol=1e-5)
    assert found.objective_ == pytest.approx(same.objective, rel=2e-5)


def test_features_are_met_where_both_penalties_are_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    low_limits(monkeypatch)
    X, y = long_table()
    found = CoCompleter(rank_penalty=20.0, residual_penalty=20.0, feature_weight=0.5, max_iter=30).fit(X, y)
    sample = found._model.observed.X
    left = found.reconstruct().X - sample
    assert np.sqrt(np.nanmean(left**2)) < 0.05 * np.nanstd(sample)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ({"residual_penalty": 1.0}, "residual_penalty=1.0 needs whole matrices"),
        ({"solver": "primal-dual"}, "solver='primal-dual' needs whole matrices"),
        ({"polish": True}, "polish=True needs whole matrices"),
    ],
)
def test_what_needs_whole_matrices_is_refused(
    parameters: dict[str, Any], words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    low_limits(monkeypatch)
    with pytest.raises(InputError, match=words):
        CoCompleter(**(GIVEN | parameters)).fit(*long_table())


def test_a_table_that_is_not_in_memory_is_completed_in_blocks(
    fitted: CoCompleter, monkeypatch: pytest.MonkeyPatch
) -> None:
    low_limits(monkeypatch)
    X, y = long_table()
    parts = list(fitted.complete_blocks(Elsewhere(X, y)))
    assert len(parts) > 1
    whole = fitted.complete(X, y)
    for part, one in zip(zip(*parts, strict=True), whole, strict=True):
        np.testing.assert_array_equal(np.concatenate(part), one)
    with pytest.raises(InputError, match="complete_blocks"):
        fitted.complete(Elsewhere(X, y))
    with pytest.raises(InputError, match="y must be None"):
        CoCompleter().fit(Elsewhere(X), y)


def test_a_feature_that_varies_beyond_the_sample_alone_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    low_limits(monkeypatch, sample=2_000)
    X, y = long_table()
    X[:, 5] = 1.0
    outside = np.setdiff1d(np.arange(len(X)), sample_places((1_200, 16), 0))
    X[outside[0], 5] = 2.0
    with pytest.warns(UserWarning, match=r"feature\(s\) 5 .* take no part"):
        CoCompleter().fit(X, y)


def test_a_fitted_model_of_a_long_table_is_saved_and_pickled(fitted: CoCompleter, tmp_path: Path) -> None:
    from cocomplete import load

    X, _ = long_table()
    fitted.save(tmp_path / "model.coco")
    for again in (load(tmp_path / "model.coco"), pickle.loads(pickle.dumps(fitted))):
        np.testing.assert_array_equal(again.predict_proba(X[:50]), fitted.predict_proba(X[:50]))


# -- engines ---------------------------------------------------------------------------------------------


def double(block: Cells, by: float) -> Cells:
    return Cells(**(vars(block) | {"x_value": by * block.x_value}))


def counted(block: Cells, before: int) -> tuple[int, int]:
    return before + 1, int(block.x_value.size)


@pytest.fixture(params=["threads", "threads that keep nothing", "files"])
def engine(request: pytest.FixtureRequest) -> Iterator[Engine]:
    if request.param == "files":
        with OnDisk() as engine:
            yield engine
    else:
        yield Threads(keeps=request.param == "threads")


def test_engines_do_the_same(engine: Engine) -> None:
    X, y = long_table(100)
    whole = Cells.of(Observations(X, y))
    parts = [whole.rows(first, first + 10) for first in range(0, 100, 10)]
    derived = engine.derive(double, parts, by=3.0)
    kept = engine.map(double, derived, by=2.0)
    for part, found in zip(parts, engine.collect(vars, kept), strict=True):
        np.testing.assert_array_equal(found["x_value"], 6 * part.x_value)
        for name in ("x_start", "x_column", "y_start", "y_column", "y_value"):
            np.testing.assert_array_equal(found[name], getattr(part, name))
    states, results = engine.advance(counted, kept, [0] * 10)
    assert sum(results) == whole.x_value.size
    states, results = engine.advance(counted, kept, states)
    assert list(results) == [part.x_value.size for part in parts]
    assert list(engine.collect(int, states)) == [2] * 10
    engine.release(kept)


def test_files_go_with_the_engine(tmp_path: Path) -> None:
    with OnDisk(tmp_path) as engine:
        kept = engine.map(np.asarray, [np.arange(5.0), np.arange(3)])
        (folder,) = tmp_path.iterdir()
        assert len(list(folder.iterdir())) == 2
        engine.release(kept[:1])
        assert len(list(folder.iterdir())) == 1
        np.testing.assert_array_equal(next(engine.collect(np.asarray, kept[1:])), [0, 1, 2])
    assert not list(tmp_path.iterdir())


def test_labels_of_one_value_are_left_out() -> None:
    X, y = long_table(50)
    y[:, 1] = np.where(np.isnan(y[:, 1]), np.nan, 1.0)
    cells = Cells.of(Observations(X, y))
    one_sided = ColumnCensus.of(cells).one_sided(cells.n_features)
    np.testing.assert_array_equal(one_sided, [False, True, False, False])
    left = without_labels(cells, one_sided)
    y[:, 1] = np.nan
    expected = Cells.of(Observations(X, y))
    for name in ("y_start", "y_column", "y_value", "x_value"):
        np.testing.assert_array_equal(getattr(left, name), getattr(expected, name))
