"""Pictures: axes with the model's own numbers in them, and one sentence where there is nothing to draw."""

import sys
from collections.abc import Iterator

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes
from sklearn.exceptions import NotFittedError
from sklearn.utils import Bunch

from cocomplete import CoCompleter, InputError, datasets, plot


@pytest.fixture(scope="module")
def table() -> Bunch:
    drawn = datasets.make_low_rank_multilabel(80, 6, 2, 2, 0.6, random_state=0)
    X = pd.DataFrame(drawn.X, columns=list("abcdef"))
    X["colour"] = np.where(drawn.X_true[:, 0] > 0, "red", "blue")
    X.loc[:20, "colour"] = None
    return Bunch(X=X, Y=pd.DataFrame(drawn.Y, columns=["one", "two"]))


@pytest.fixture(scope="module")
def ensemble(table: Bunch) -> CoCompleter:
    return CoCompleter(random_state=0).fit(table.X, table.Y)


@pytest.fixture(scope="module")
def minimiser(table: Bunch) -> CoCompleter:
    return CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.1).fit(table.X, table.Y)


@pytest.fixture(autouse=True)
def _closed() -> Iterator[None]:
    yield
    pyplot.close("all")


def test_missingness_draws_every_column(ensemble: CoCompleter, table: Bunch) -> None:
    axes = plot.missingness(ensemble, table.X, table.Y)
    names = {text.get_text() for text in axes.get_yticklabels()}
    assert names == {*table.X.columns, *table.Y.columns}
    share = pd.concat([table.X, table.Y], axis=1).isna().to_numpy().mean()
    assert axes.get_title() == f"{100 * share:.0f} % of the cells are missing"


def test_spectrum_draws_the_singular_values(ensemble: CoCompleter) -> None:
    axes = plot.spectrum(ensemble)
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), ensemble.singular_values_)


def test_convergence_draws_gaps_and_the_tolerance(minimiser: CoCompleter) -> None:
    axes = plot.convergence(minimiser)
    gaps = [one["duality_gap"] for one in minimiser.history_ if np.isfinite(one["duality_gap"])]
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), gaps)
    assert np.asarray(axes.lines[1].get_ydata())[0] == minimiser.tol


def test_convergence_draws_objectives_where_no_gap_is_known(table: Bunch) -> None:
    numbers = table.X.drop(columns="colour")
    model = CoCompleter.from_paper().set_params(max_iter=5).fit(numbers, table.Y)
    axes = plot.convergence(model)
    assert axes.get_ylabel() == "objective"
    np.testing.assert_array_equal(axes.lines[0].get_ydata(), [one["objective"] for one in model.history_])


def test_validation_draws_errors_beside_the_trivial_ones(ensemble: CoCompleter) -> None:
    ours, trivial = plot.validation(ensemble).containers[:2]
    found = ensemble.validation_
    assert ours[0].get_height() == found["features"]["rmse"]
    assert trivial[0].get_height() == found["features"]["trivial_rmse"]
    assert len(ours) == len(trivial) == len(found)


def test_calibration_of_all_labels_and_of_one(ensemble: CoCompleter, table: Bunch) -> None:
    record = ensemble.report(table.X, table.Y).record
    cells = [one.held_out.cells for one in record.labels]
    assert (
        plot.calibration(ensemble, table.X, table.Y).get_title() == f"all labels: {sum(cells)} held-out cells"
    )
    axes = plot.calibration(ensemble, table.X, table.Y, label="two")
    assert axes.get_title() == f"two: {cells[1]} held-out cells"
    rates = [one.rate for one in record.labels[1].held_out.reliability]
    np.testing.assert_allclose(np.asarray(axes.collections[-1].get_offsets())[:, 1], rates)


@pytest.mark.parametrize(("column", "title"), [("c", "c"), (2, "c"), ("colour", "colour")])
def test_observed_against_filled(ensemble: CoCompleter, table: Bunch, column: str | int, title: str) -> None:
    axes = plot.observed_against_filled(ensemble, table.X, table.Y, column=column)
    assert axes.get_title() == title
    known = int(table.X[title].notna().sum())
    words = [text.get_text() for text in axes.get_legend().get_texts()]
    assert words == [f"observed ({known})", f"filled ({len(table.X) - known})"]


def test_loadings_name_encoded_columns_by_size(ensemble: CoCompleter) -> None:
    axes = plot.loadings(ensemble, factor=2, most=4)
    widths = [bar.get_width() for bar in axes.containers[0]]
    sizes = np.sort(np.abs(ensemble.components_[1]))[::-1][:4]
    np.testing.assert_allclose(np.abs(widths), sizes)
    assert {text.get_text() for text in axes.get_yticklabels()} <= set(ensemble.encoded_names_)


def test_convergence_draws_the_bound_of_an_average(ensemble: CoCompleter) -> None:
    axes = plot.convergence(ensemble)
    left = np.asarray(axes.lines[0].get_ydata(), dtype=float)
    assert axes.get_ylabel() == "evidence lower bound, below its end"
    assert (np.diff(left) <= 0).all()
    assert (left >= 0).all()


def test_given_axes_are_drawn_into(minimiser: CoCompleter, table: Bunch) -> None:
    _, places = pyplot.subplots(1, 4)
    drawn: list[Axes] = [
        plot.spectrum(minimiser, ax=places[0]),
        plot.convergence(minimiser, ax=places[1]),
        plot.loadings(minimiser, ax=places[2]),
        plot.observed_against_filled(minimiser, table.X, table.Y, ax=places[3]),
    ]
    assert drawn == list(places)


def test_what_cannot_be_drawn_is_said(ensemble: CoCompleter, minimiser: CoCompleter, table: Bunch) -> None:
    with pytest.raises(InputError, match=r"without iterations, so nothing was found to draw"):
        plot.convergence(CoCompleter().fit(np.ones((4, 2))))
    with pytest.raises(InputError, match=r"validation_ None.*penalties left to 'auto'"):
        plot.validation(minimiser)
    with pytest.raises(InputError, match=r"factor must be between 1 and the model's rank_, \d+; found 99"):
        plot.loadings(ensemble, factor=99)
    with pytest.raises(InputError, match=r"column must be one of 'a', .*; found 'z'"):
        plot.observed_against_filled(ensemble, table.X, table.Y, column="z")
    with pytest.raises(InputError, match=r"column must be a name, or a position from 0 to 6; found -1"):
        plot.observed_against_filled(ensemble, table.X, table.Y, column=-1)
    with pytest.raises(InputError, match=r"label must be one of 'one', 'two'; found 'three'"):
        plot.calibration(ensemble, table.X, table.Y, label="three")
    with pytest.raises(NotFittedError):
        plot.spectrum(CoCompleter())


def test_calibration_without_labels_is_refused(table: Bunch) -> None:
    numbers = table.X.drop(columns="colour")
    model = CoCompleter(random_state=0).fit(numbers)
    with pytest.raises(InputError, match="needs held-out cells of labels, but none was found"):
        plot.calibration(model, numbers, None)


def test_without_matplotlib_one_sentence(minimiser: CoCompleter, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(InputError, match=r"plots need matplotlib.*pip install 'cocomplete\[plots\]'"):
        plot.spectrum(minimiser)
