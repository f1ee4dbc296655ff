"""The numbers of a report against the same worked out by hand from the model and the tables."""

import json
from pathlib import Path
from typing import NamedTuple

import numpy as np
import polars as pl
import pytest

import cocomplete
from cocomplete import CoCompleter, InputError
from cocomplete.completion import Completion
from cocomplete.report.record import ReportRecord
from cocomplete.report.report import Report
from tests.report.mixed_table import LABEL_TYPES, UGLY_NAME, UGLY_VALUE, mixed_table

# A column without any value is among those that are reported on.
pytestmark = pytest.mark.filterwarnings("ignore:nothing is observed in")


class Fitted(NamedTuple):
    model: CoCompleter
    X: pl.DataFrame
    Y: pl.DataFrame
    report: Report
    done: Completion


@pytest.fixture(scope="module")
def fitted() -> Fitted:
    X, Y = mixed_table()
    model = CoCompleter(label_types=LABEL_TYPES).fit(X, Y)
    return Fitted(model, X, Y, model.report(X, Y, title="mixed"), model.complete(X, Y))


@pytest.fixture(scope="module")
def record(fitted: Fitted) -> ReportRecord:
    return fitted.report.record


def test_the_same_table_gives_the_same_bytes(fitted: Fitted, tmp_path: Path) -> None:
    text = fitted.report.to_json()
    assert fitted.model.report(fitted.X, fitted.Y, title="mixed").to_json() == text
    again = CoCompleter(label_types=LABEL_TYPES).fit(fitted.X, fitted.Y)
    assert again.report(fitted.X, fitted.Y, title="mixed").to_json() == text
    fitted.model.save(tmp_path / "mixed.model")
    loaded = cocomplete.load(tmp_path / "mixed.model")
    assert loaded.report(fitted.X, fitted.Y, title="mixed").to_json() == text
    assert "NaN" not in text
    assert "Infinity" not in text


def test_the_model_stays_as_it_was(fitted: Fitted) -> None:
    before = sorted(vars(fitted.model))
    fitted.model.report(fitted.X, fitted.Y)
    assert sorted(vars(fitted.model)) == before


def test_ugly_names_and_values_are_plain_text(fitted: Fitted) -> None:
    read = json.loads(fitted.report.to_json())
    assert read["given"]["columns"][0]["name"] == UGLY_NAME
    assert UGLY_VALUE in read["columns"][3]["distribution"]["levels"]
    texts = {cell["text"] for cell in read["filled"]["cells"] if cell["column"] == 3}
    assert UGLY_VALUE in texts


def test_the_verdict_is_that_of_the_fit(fitted: Fitted, record: ReportRecord) -> None:
    found = fitted.model.validation_
    names = {
        "features": "features",
        "yes/no features": "yes_no_features",
        "labels": "labels",
        "labels of rows without any": "unlabelled",
    }
    measures = {"off by, in standard deviations": "rmse", "share wrong": "wrong", "log-loss": "log_loss"}
    assert record.verdict.source == "fit"
    assert [(one.part, one.measure) for one in record.verdict.judged] == [
        ("features", "off by, in standard deviations"),
        *((part, measure) for part in list(names)[1:] for measure in ("share wrong", "log-loss")),
    ]
    for one in record.verdict.judged:
        summary, key = found[names[one.part]], measures[one.measure]
        assert one.cells == summary["cells"]
        assert one.error == pytest.approx(summary[key], rel=1e-4)
        assert one.trivial == pytest.approx(summary[f"trivial_{key}"], rel=1e-4)


def test_errors_follow_from_the_cells_that_the_model_keeps(fitted: Fitted) -> None:
    model, found = fitted.model._model, fitted.model.validation_
    kept = model.judged
    labels = np.flatnonzero(kept.part >= 2)
    truth = kept.truth(model.observed)[labels]
    wrong = (kept.mean[labels] > 0) != (truth == 1)
    alone = kept.alone[labels]
    assert wrong[alone].mean() == pytest.approx(found["unlabelled"]["wrong"])
    assert wrong[~alone].mean() == pytest.approx(found["labels"]["wrong"])


def test_held_out_numbers_are_inside_their_interval_as_often_as_counted(
    fitted: Fitted, record: ReportRecord
) -> None:
    model = fitted.model._model
    kept, held = model.judged, record.columns[0].held_out
    own = kept.column == 0
    truth, mean, std = kept.truth(model.observed)[own], kept.mean[own], kept.std[own].astype(float)
    assert held.cells == own.sum() > 0
    assert held.inside == pytest.approx((np.abs(truth - mean) <= 1.6448536 * std).mean(), rel=1e-4)
    # Points have five significant digits.
    assert sorted(point.truth for point in held.points) == pytest.approx(sorted(truth), rel=5e-5)
    spread = np.nanstd(model.observed.X[:, 0], ddof=1)
    assert held.error == pytest.approx(np.sqrt(((truth - mean) ** 2).mean()) / spread, rel=0.02)
    for point in held.points:
        assert point.low <= point.fill <= point.high


def test_held_out_words_are_counted_in_a_table(fitted: Fitted, record: ReportRecord) -> None:
    model = fitted.model._model
    held = record.columns[2].held_out
    (encoded,) = np.flatnonzero(model.groups[: model.observed.n_features] == 2)
    own = model.judged.column == encoded
    truth, yes = model.judged.truth(model.observed)[own] == 1, model.judged.mean[own] > 0
    expected = [[int(((truth == a) & (yes == b)).sum()) for b in (False, True)] for a in (False, True)]
    assert held.levels == ("no", "yes")
    assert held.confusion == tuple(map(tuple, expected))
    assert held.error == pytest.approx((truth != yes).mean(), abs=1e-5)
    assert held.inside is None
    assert held.points == ()


def test_counts_of_a_column_add_up(fitted: Fitted, record: ReportRecord) -> None:
    for j, name in enumerate(fitted.X.columns):
        missing = fitted.X[name].null_count()
        one = record.columns[j]
        assert (one.observed, one.filled) == (fitted.X.height - missing, missing)
        assert sum(one.distribution.observed) == one.observed
        assert sum(one.distribution.filled) == one.filled
        assert record.given.columns[j].missing == missing
    assert record.columns[6].held_out is None
    assert "nothing is observed" in record.columns[6].sentence
    after = fitted.done.X["colour"]
    shown = record.columns[3].distribution
    for level, observed, filled in zip(shown.levels, shown.observed, shown.filled, strict=True):
        assert observed == (fitted.X["colour"] == level).sum()
        assert observed + filled == (after == level).sum()


def test_dates_are_on_an_axis_of_days_with_dates_beside_it(fitted: Fitted, record: ReportRecord) -> None:
    shown = record.columns[5].distribution
    days = fitted.X["seen"].drop_nulls().to_numpy().astype("datetime64[D]").astype(int)
    assert shown.edges[0] <= days.min()
    assert shown.edges[-1] >= days.max()
    for tick in shown.ticks:
        assert np.datetime64(tick.text) == np.datetime64("1970-01-01") + np.timedelta64(int(tick.value), "D")


def test_fills_are_those_of_the_completed_table(fitted: Fitted, record: ReportRecord) -> None:
    names = [*fitted.X.columns, *fitted.Y.columns]
    assert record.filled.total == len(record.filled.cells) == record.given.missing
    for cell in record.filled.cells:
        row, name = int(cell.row.removeprefix("row ")) - 1, names[cell.column]
        value = (fitted.done.X if name in fitted.X.columns else fitted.done.Y)[name][row]
        if name in (UGLY_NAME, "empty"):
            assert float(cell.text) == pytest.approx(value, rel=1e-5)
            assert float(cell.low) <= float(cell.text) <= float(cell.high)
        else:
            assert cell.text == (str(value) or "(none)")
        assert 0 <= cell.certainty <= 1


def test_probabilities_of_filled_labels_are_the_models(fitted: Fitted, record: ReportRecord) -> None:
    for cell in record.filled.cells:
        if cell.column == 7:
            p = fitted.done.Y_proba[int(cell.row.removeprefix("row ")) - 1, 0]
            assert cell.probability == pytest.approx(max(p, 1 - p), rel=1e-3)


def test_labels_are_counted_in_three_states(fitted: Fitted, record: ReportRecord) -> None:
    one = record.labels[0]
    column = fitted.Y["ill"]
    assert (one.ones, one.zeros, one.unknown) == (
        (column == 1).sum(),
        (column == 0).sum(),
        column.null_count(),
    )
    assert one.filled_ones == (fitted.done.Y["ill"] == 1).sum() - one.ones
    assert one.rate_before == pytest.approx(one.ones / (one.ones + one.zeros), rel=1e-4)
    p = np.where(column.is_null().to_numpy(), fitted.done.Y_proba[:, 0], column.fill_null(0).to_numpy())
    assert one.rate_after == pytest.approx(p.mean(), rel=1e-4)
    names = [label.name for label in record.labels]
    assert names == ["ill", "kind=a", "kind=b", "kind=c", "tags=x", "tags=y", "tags=z"]
    for label in record.labels:
        for held in (label.held_out, label.new_rows):
            assert sum(one.cells for one in held.reliability) == held.cells
            ones = sum(one.rate * one.cells for one in held.reliability)
            assert ones == pytest.approx(held.ones, abs=1e-3)


def test_labels_that_go_together(fitted: Fitted, record: ReportRecord) -> None:
    together = record.found.together
    ill, x = together.labels.index("ill"), together.labels.index("tags=x")
    both = fitted.Y.filter(pl.col("ill").is_not_null() & pl.col("tags").is_not_null())
    share = ((both["ill"] == 1) & both["tags"].str.contains("x")).mean()
    assert together.before[ill][x] == together.before[x][ill] == pytest.approx(share, abs=1e-4)
    a, b = together.labels.index("kind=a"), together.labels.index("kind=b")
    assert together.after[a][b] == together.before[a][b] == 0


def test_factors_are_those_of_the_model(fitted: Fitted, record: ReportRecord) -> None:
    model = fitted.model
    assert record.found.rank == model.rank_
    s = model.singular_values_
    assert record.found.factors[0].share == pytest.approx(s[0] ** 2 / (s**2).sum(), rel=1e-4)
    largest = int(np.argmax(np.abs(model.components_[0])))
    first = record.found.factors[0].loadings[0]
    assert first.name == model.encoded_names_[largest]
    assert first.loading == pytest.approx(abs(model.components_[0, largest]), rel=1e-4)
    assert {one.column for one in record.found.neighbours} == {0, 1, 2, 3, 4, 5, 7, 8, 9}


def test_new_rows_are_judged_by_a_model_that_has_not_seen_them(fitted: Fitted) -> None:
    X, Y = mixed_table(80, seed=5)
    record = fitted.model.report(X, Y).record
    parts = [one.part for one in record.verdict.judged]
    assert "features of new rows" in parts
    assert "labels of new rows" in parts
    assert record.columns[0].new_rows.cells > 0
    # Rows of the fit among them are not new.
    mixed = fitted.model.report(pl.concat((fitted.X, X[:1])), pl.concat((fitted.Y, Y[:1]))).record
    assert mixed.columns[0].new_rows is None
    assert mixed.given.rows == fitted.X.height + 1


def test_labels_may_be_left_out(fitted: Fitted) -> None:
    record = fitted.model.report(fitted.X).record
    assert record.labels[0].unknown == fitted.X.height
    assert record.labels[0].rate_before is None


def test_row_names(fitted: Fitted) -> None:
    names = [f"p{k}" for k in range(fitted.X.height)]
    record = fitted.model.report(fitted.X, fitted.Y, row_names=names).record
    assert {cell.row for cell in record.filled.cells} <= set(names)
    with pytest.raises(InputError, match="row_names has 1 names, but X has 60 rows; give one for each row"):
        fitted.model.report(fitted.X, fitted.Y, row_names=["p0"])
    frame = fitted.X.to_pandas().set_index(np.array(names))
    by_index = fitted.model.report(frame, None).record
    assert by_index.filled.cells[0].row in names


def test_columns_may_write_values_in_their_own_way(fitted: Fitted) -> None:
    texts = {"visits": "{:.0f} times".format, "ill": lambda value: "sick" if value else "well"}
    record = fitted.model.report(fitted.X, fitted.Y, texts=texts).record
    for cell in record.filled.cells:
        if cell.column == 1:
            assert cell.text.endswith(" times")
            assert cell.low.endswith(" times")
        if cell.column == 7:
            assert cell.text in ("sick", "well")
        for pull in cell.why.pulls if cell.why is not None else ():
            assert pull.value.endswith(" times") == (pull.column == 1)


def test_a_report_is_saved_whole_as_page_or_numbers(fitted: Fitted, tmp_path: Path) -> None:
    fitted.report.save(tmp_path / "r.json")
    assert (tmp_path / "r.json").read_text() == fitted.report.to_json()
    fitted.model.report(fitted.X, fitted.Y, title="mixed", path=tmp_path / "r.html")
    assert (tmp_path / "r.html").read_text(encoding="utf-8") == fitted.report.to_html()
    assert sorted(file.name for file in tmp_path.iterdir()) == ["r.html", "r.json"]


def test_a_report_prints_in_one_line(fitted: Fitted) -> None:
    assert (
        repr(fitted.report) == f"Report('mixed': 60 rows, {fitted.report.record.given.missing} filled cells)"
    )


def test_a_notebook_shows_the_page_in_a_frame(fitted: Fitted) -> None:
    shown = fitted.report._repr_html_()
    assert shown.startswith("<iframe srcdoc=")
    assert UGLY_NAME not in shown
    assert shown.count("<") == shown.count(">") == 2
