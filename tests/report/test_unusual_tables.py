"""Reports of tables that few people have, and of fits that hold out nothing."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from cocomplete import CoCompleter
from cocomplete.arrays import FloatArray
from cocomplete.report.report import Report

# A column without any value is among those that are reported on.
pytestmark = pytest.mark.filterwarnings("ignore:nothing is observed in")


def table(holes: float = 0.3) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(0)
    u = rng.normal(size=(40, 1))
    X = u @ rng.normal(size=(1, 4)) + 0.2 * rng.normal(size=(40, 4))
    Y = (np.hstack((u, -u)) > 0).astype(float)
    X[rng.random(X.shape) < holes] = np.nan
    Y[rng.random(Y.shape) < holes] = np.nan
    return X, Y


def reported(X: FloatArray, Y: FloatArray | None = None, **settings: Any) -> Report:
    report = CoCompleter(**settings).fit(X, Y).report(X, Y)
    assert len(report.to_html()) > 1_000
    return report


def test_two_fits_give_one_report() -> None:
    assert reported(*table()).to_json() == reported(*table()).to_json()


def test_a_table_without_holes() -> None:
    record = reported(*table(0.0)).record
    assert record.filled.total == 0
    assert record.filled.cells == ()
    assert record.limits.tipping == ()
    assert record.filled.sentence == "No cell was filled: the table has no holes."
    assert record.columns[0].held_out.cells > 0


def test_a_table_without_labels() -> None:
    record = reported(table()[0]).record
    assert record.labels == ()
    assert record.found.together is None
    assert record.given.labels == 0


def test_one_row() -> None:
    X, Y = table()
    X[0] = (1.0, np.nan, 2.0, np.nan)
    record = reported(X[:1], Y[:1]).record
    assert record.given.rows == 1
    assert record.filled.total == 2 + int(np.isnan(Y[0]).sum())
    assert record.verdict.source == "none"
    assert record.verdict.judged == ()
    assert "cannot say how wrong" in record.verdict.sentence


def test_a_column_without_any_value() -> None:
    X, Y = table()
    X[:, 1] = np.nan
    record = reported(X, Y).record
    assert record.columns[1].observed == 0
    assert record.columns[1].held_out is None
    assert all(1 not in pair for pair in record.given.never_together.pairs)
    cells = [cell for cell in record.filled.cells if cell.column == 1]
    assert len(cells) == 40
    assert all(cell.certainty == 0 and cell.why is None for cell in cells)


def test_given_penalties_hold_out_cells_in_the_report() -> None:
    record = reported(*table(), rank_penalty=2.0, residual_penalty=0.0, feature_weight=0.5).record
    assert record.verdict.source == "sample"
    assert record.verdict.judged[0].compared == "better"
    assert "fitted once without them" in record.verdict.caveat
    assert record.done.certificate.converged
    assert record.columns[0].held_out.cells > 0
    assert all(cell.why is None for cell in record.filled.cells)


def test_a_sample_of_rows_is_fitted_with_penalties_for_fewer_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 2)) @ rng.normal(size=(2, 12)) + 0.3 * rng.normal(size=(900, 12))
    X[rng.random(X.shape) < 0.3] = np.nan
    model = CoCompleter(rank_penalty=20.0, residual_penalty=0.0, feature_weight=0.5).fit(X)
    whole = model.report(X).record.verdict
    monkeypatch.setattr("cocomplete.estimator.reporting.REFIT_ROWS", 225)
    part = model.report(X).record.verdict
    assert part.judged[0].cells < whole.judged[0].cells / 3
    assert "a sample of 225 of the 900 rows" in part.caveat
    # At the penalty of all rows the sample would be shrunken far more: 0.88 instead of 0.59, which is more
    # than ten standard errors.
    error, cells = whole.judged[0].error, part.judged[0].cells
    assert part.judged[0].error == pytest.approx(error, abs=3 * error / np.sqrt(2 * cells))


def test_times_as_numbers_are_judged_and_drawn_as_dates() -> None:
    X, Y = table()
    X[:, 0] = np.round(1.7e9 + 1e6 * X[:, 0])
    model = CoCompleter(feature_types={0: "date"}).fit(X, Y)
    record, done = model.report(X, Y).record, model.complete(X, Y)
    one = record.columns[0]
    assert one.held_out.error < one.held_out.trivial
    assert all(tick.text.startswith("2023-") for tick in one.distribution.ticks)
    low, high = one.distribution.edges[0] - 20, one.distribution.edges[-1] + 20
    assert all(low < point.fill < high for point in one.held_out.points)
    for cell in record.filled.cells:
        if cell.column == 0:
            row = int(cell.row.removeprefix("row ")) - 1
            assert float(cell.text) == done.X[row, 0]
            assert float(cell.low) < float(cell.text) < float(cell.high)


def test_held_out_levels_are_judged_with_the_trees_that_fill_them() -> None:
    X, Y = table(0.2)
    X[:, 0] = np.clip(np.round(X[:, 0]), -1, 1)
    fit = CoCompleter(feature_types={0: "ordinal"}).fit(X, Y)
    model = fit._model
    truth = model.judged.truth(model.observed)[model.judged.column == 0]
    before = fit.report(X, Y).record.columns[0].held_out
    # Trees that know the truth, and have nearly all of the share.
    sure = (truth[:, None] == model.levels[0].codes).astype(np.float32)
    cuts = {0: replace(model.levels[0], share=0.99)}
    fit._model = replace(model, levels=cuts, judged=replace(model.judged, by_trees={0: sure}))
    after = fit.report(X, Y).record.columns[0].held_out
    assert before.error > 0
    assert after.error == 0
    assert after.cells == before.cells == len(truth)


def test_penalties_chosen_on_held_out_cells_take_these() -> None:
    X, Y = table()
    model = CoCompleter(averaging=False).fit(X, Y)
    record = model.report(X, Y).record
    assert record.verdict.source == "fit"
    assert record.verdict.judged[0].error == pytest.approx(model.validation_["features"]["rmse"], rel=1e-4)
    assert "penalties were chosen on the same cells" in record.verdict.caveat
    assert 0.5 < record.columns[0].held_out.inside <= 1


def test_labels_of_which_only_ones_are_recorded_are_not_judged() -> None:
    X, Y = table()
    Y = np.where(Y == 1, 1.0, np.nan)
    record = reported(X, Y, label_policy="positive-unlabelled", recorded_share=0.7).record
    assert [one.part for one in record.verdict.judged] == ["features"]
    assert "Labels cannot be judged" in record.verdict.caveat
    assert record.labels[0].held_out is None
    assert record.labels[0].zeros == 0
    labels = [cell for cell in record.filled.cells if cell.column >= 4]
    assert all(cell.why.weight == 0 for cell in labels)
    pulls = [pull for cell in record.filled.cells for pull in cell.why.pulls if pull.column >= 4]
    assert {pull.value for pull in pulls} == {"1", "not recorded"}


@pytest.mark.parametrize("size", [1e300, 1e-300])
def test_numbers_of_any_size(size: float) -> None:
    X, Y = table()
    report = reported(size * X, Y)
    small = reported(X, Y).record
    assert report.record.verdict.judged[0].error == pytest.approx(small.verdict.judged[0].error, rel=1e-3)


def test_seconds_are_told_if_they_are_given() -> None:
    X, Y = table()
    model = CoCompleter().fit(X, Y)
    assert model.report(X, Y).record.done.seconds is None
    record = model.report(X, Y, seconds=12.345).record
    assert record.done.seconds == 12.345
    assert "the fit took 12.3 s" in record.done.sentence


def test_a_long_table_is_looked_at_in_part_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = table()
    model = CoCompleter().fit(X, Y)
    whole = model.report(X, Y).record
    monkeypatch.setattr("cocomplete.report.source.MOST_ROWS", 20)
    monkeypatch.setattr("cocomplete.report.filled.MOST_CELLS", 10)
    part = model.report(X, Y).record
    assert (whole.rows_looked_at, part.rows_looked_at) == (40, 20)
    assert part.filled.total == whole.filled.total
    assert (part.filled.least_certain, part.filled.sampled, len(part.filled.cells)) == (5, 5, 10)
    assert "the 5 least certain" in part.filled.sentence
    # Rows of the fit have the fills that they have in the whole table.
    fills = {(cell.row, cell.column): cell.text for cell in whole.filled.cells}
    assert all(fills[cell.row, cell.column] == cell.text for cell in part.filled.cells)
    assert part.columns[0].filled == whole.columns[0].filled
