"""Held-out cells that a model keeps: they have the errors of ``validation_``, and outlive a file."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import cocomplete
from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.choosing import ensemble
from cocomplete.fitted.judged_cells import JudgedCells
from cocomplete.fitted.parts import PARTS
from cocomplete.report.held_out import ErrorUnits

# A row without any cell is among those that are judged.
pytestmark = pytest.mark.filterwarnings("ignore:nothing is observed in")


def table() -> tuple[FloatArray, FloatArray]:
    """Two factors; a constant column and an empty row take no part."""
    rng = np.random.default_rng(0)
    T = rng.normal(size=(120, 2)) @ rng.normal(size=(2, 9)) + 0.3 * rng.normal(size=(120, 9))
    X, Y = T[:, :6], (T[:, 6:] > 0).astype(float)
    X[:, 1] = 7.0
    X[:, 2] = X[:, 2] > 0
    X[:, 3] *= 1e90
    X[rng.random(X.shape) < 0.2], Y[rng.random(Y.shape) < 0.2] = np.nan, np.nan
    X[3], Y[3] = np.nan, np.nan
    return X, Y


def check(model: CoCompleter) -> None:
    kept, found = model._model.judged, model.validation_
    observed = model._model.observed
    truth = kept.truth(observed)
    assert not np.isnan(truth).any()
    for part, name in (("yes-no", "yes_no_features"), ("labels", "labels"), ("unlabelled", "unlabelled")):
        own = kept.part == PARTS.index(part)
        assert own.sum() == found[name]["cells"]
        for mean, prefix in ((kept.mean, ""), (kept.trivial_means(), "trivial_")):
            wrong = ((mean > 0) != (truth == 1))[own].mean()
            assert wrong == pytest.approx(found[name][f"{prefix}wrong"])
    numbers = kept.part == PARTS.index("numbers")
    column = kept.column[numbers].astype(np.intp)
    assert set(column) == {0, 3, 4, 5}
    units = ErrorUnits(model._model)
    for mean, name in ((kept.mean, "rmse"), (kept.trivial_means(), "trivial_rmse")):
        error = np.sqrt(units.squared(column, mean[numbers], truth[numbers]).mean())
        assert error == pytest.approx(found["features"][name])


def test_they_have_the_errors_of_the_fit() -> None:
    model = CoCompleter().fit(*table())
    check(model)
    stds = model._model.judged.std
    numbers = model._model.judged.part == PARTS.index("numbers")
    assert (stds[numbers] > 0).all()
    assert np.isnan(stds[~numbers]).all()


def test_they_are_those_of_the_minimisers_where_these_answer() -> None:
    model = CoCompleter(averaging=False).fit(*table())
    kept = model._model.judged
    labels = kept.part >= PARTS.index("labels")
    wrong = ((kept.mean > 0) != (kept.truth(model._model.observed) == 1))[labels]
    cells = [model.validation_[part] for part in ("labels", "unlabelled")]
    assert wrong.sum() == pytest.approx(sum(one["cells"] * one["wrong"] for one in cells))
    assert (
        CoCompleter(rank_penalty=3.0, residual_penalty=0.0, feature_weight=0.5)
        .fit(*(part[10:] for part in table()))
        ._model.judged
        is None
    )


def test_rows_are_those_of_the_whole_table_where_a_sample_was_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ensemble, "JUDGED_ROWS", 60)
    model = CoCompleter().fit(*table())
    check(model)
    assert model._model.judged.row.max() > 60


def test_a_file_keeps_them(tmp_path: Path) -> None:
    model = CoCompleter().fit(*(part[10:60] for part in table()))
    trees = {4: np.full((3, 2), 0.5, np.float32)}
    model._model = replace(model._model, judged=replace(model._model.judged, by_trees=trees))
    model.save(tmp_path / "m")
    again = cocomplete.load(tmp_path / "m")._model.judged
    for name in ("row", "column", "fold", "part", "mean", "std", "trivial"):
        one, other = getattr(model._model.judged, name), getattr(again, name)
        assert one.dtype == other.dtype
        np.testing.assert_array_equal(one, other)
    np.testing.assert_array_equal(again.by_trees[4], trees[4])


def test_whole_numbers_are_kept_in_small_types() -> None:
    places = np.array([0, 1, 299])
    kept = JudgedCells.of(
        places, places % 2, places * 0, places * 0, np.array([1.0, np.nan, 3.0]), np.ones(3), np.zeros(3), 2
    )
    assert kept.row.tolist() == [0, 299]
    assert [each.dtype.name for each in (kept.row, kept.column, kept.std)] == ["uint16", "uint8", "float32"]


@pytest.mark.parametrize("settings", [{}, {"rank_penalty": 3.0, "residual_penalty": 0.0}])
def test_some_rows_of_the_fit_have_what_all_have(settings: dict[str, float]) -> None:
    X, Y = (part[10:60] for part in table())
    model = CoCompleter(**settings).fit(X, Y)._model  # type: ignore[arg-type]
    rows = np.array([0, 7, 8, 31, 49])
    whole, some = model.answer(model.observed), model.answer_rows(rows)
    np.testing.assert_array_equal(some.Z, whole.Z[rows])
    unknown = ~model.observed.X_known[rows]
    np.testing.assert_array_equal(some.X[unknown], whole.X[rows][unknown])
    if not settings:
        np.testing.assert_array_equal(some.X_std, whole.X_std[rows])
