"""Every sentence of a report says its numbers: made again from them, word by word."""

from dataclasses import replace

import pytest

from cocomplete import CoCompleter
from cocomplete.report import sentences
from cocomplete.report.record import (
    CertificateReport,
    Distribution,
    Factor,
    HeldOutCells,
    HeldOutLabel,
    Judged,
    Loading,
    MemberWeights,
    ReportRecord,
    TippingPoint,
)
from tests.report.mixed_table import LABEL_TYPES, mixed_table

NOTHING = Distribution((), (), (), (), ())
OFF_BY = "off by, in standard deviations"


@pytest.fixture(scope="module")
def record() -> ReportRecord:
    X, Y = mixed_table()
    with pytest.warns(UserWarning, match="nothing is observed"):
        model = CoCompleter(label_types=LABEL_TYPES, certify=True).fit(X, Y)
    return model.report(X, Y).record


def test_every_sentence_of_a_report_follows_from_its_record(record: ReportRecord) -> None:
    given, found, done, filled = record.given, record.found, record.done, record.filled
    assert record.verdict.sentence == sentences.verdict_sentence(record.verdict.judged)
    assert record.verdict.caveat == sentences.caveat_sentence("fit", 0, given.rows, weighted=True)
    assert given.sentence == sentences.given_sentence(
        given.rows, given.features, given.labels, given.missing, given.cells
    )
    holes = given.holes
    assert holes.sentence == sentences.holes_sentence(
        holes.patterns, holes.commonest, holes.sampled, given.rows
    )
    assert given.never_together.sentence == sentences.together_sentence(given.never_together.count)
    for one in record.columns:
        name = given.columns[one.column].name
        parts = (one.observed, one.filled, one.distribution, one.held_out, one.new_rows)
        assert one.sentence == sentences.column_sentence(name, *parts)
    for label in record.labels:
        assert label.sentence == sentences.label_sentence(
            label.name,
            (label.ones, label.zeros, label.unknown),
            (label.rate_before, label.rate_after),
            label.held_out,
            label.new_rows,
        )
    assert found.sentence == sentences.found_sentence(found.rank, found.member, found.factors)
    assert done.sentence == sentences.done_sentence(done.members, done.certificate, done.seconds)
    assert record.limits.sentence == sentences.limits_sentence(record.limits.tipping)
    assert filled.sentence == sentences.filled_sentence(filled.total, filled.least_certain, filled.sampled)


def test_the_verdict_says_where_the_trivial_answer_is_as_good() -> None:
    better = Judged("features", OFF_BY, 0.61, 0.98, "column means", 120, "better")
    level = Judged("labels", "share wrong", 0.305, 0.31, "the commoner value", 1, "level")
    worse = replace(level, part="labels of rows without any", cells=30, error=0.4, compared="worse")
    loss = replace(better, measure="log-loss")
    assert sentences.verdict_sentence([better, loss, level, worse]) == (
        "Features: 120 held-out cells were off by 0.61 standard deviations (column means: 0.98), better than "
        "the trivial answer. Labels: 1 held-out cell was wrong in 30 % (the commoner value: 31 %), no better "
        "than the trivial answer, which is as good. Labels of rows without any: 30 held-out cells were wrong "
        "in 40 % (the commoner value: 31 %), worse than the trivial answer: use that instead."
    )
    assert sentences.verdict_sentence([]) == (
        "Nothing could be held out to judge by, so this report cannot say how wrong the fills are."
    )


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (("none", 0, 9), "No cells were held out."),
        (("fit", 0, 9), "The penalties were chosen on the same cells, so that other cells may be a little"),
        (("sample", 9, 9), "the report held out cells and fitted once without them."),
        (("sample", 5, 9), "the report held out cells of a sample of 5 of the 9 rows and fitted it once"),
    ],
)
def test_caveats(arguments: tuple[str, int, int], text: str) -> None:
    assert text in sentences.caveat_sentence(*arguments, weighted=False)


def test_what_was_given() -> None:
    assert sentences.given_sentence(1, 1, 0, 1, 1) == (
        "The table has 1 row, 1 feature and 0 columns of labels; 1 of its 1 cells (100 %) is missing."
    )
    assert "29 of its 80 cells (36 %) are missing" in sentences.given_sentence(10, 6, 2, 29, 80)
    assert sentences.holes_sentence(1, 1.0, 9, 9) == ("In the 9 rows cells are missing in one pattern alone.")
    assert sentences.holes_sentence(9, 1 / 9, 9, 9) == (
        "In the 9 rows cells are missing in as many patterns: no two rows have the same holes."
    )
    assert sentences.holes_sentence(3, 0.4, 9, 18) == (
        "In 9 of the 18 rows, evenly spread, cells are missing in 3 different patterns; the commonest is "
        "that of 40 % of them."
    )
    assert sentences.together_sentence(0).startswith("Every two columns")
    assert sentences.together_sentence(1).startswith("1 pair of columns is never observed together")
    assert sentences.together_sentence(7).startswith("7 pairs of columns are never observed together")


def test_columns() -> None:
    held = HeldOutCells(8, OFF_BY, 0.5, 1.02, "better", 0.875, (), (), ())
    words = HeldOutCells(1, "share wrong", 1.0, 0.0, "worse", None, (), (), ())
    assert sentences.column_sentence("age", 8, 2, NOTHING, held, words) == (
        "age: 2 of 10 cells were filled; 8 held-out cells were off by 0.50 standard deviations (column mean: "
        "1.02), 88 % inside their 90 % interval; 1 held-out cell of new rows was wrong in 100 % (commonest "
        "value: 0 %), worse than that."
    )
    assert sentences.column_sentence("age", 1, 0, NOTHING, None, None) == (
        "age: 0 of 1 cell were filled; none was held out to judge by."
    )
    assert sentences.column_sentence("age", 0, 3, NOTHING, None, None) == (
        "age: nothing is observed, so nothing can be said of its 3 cells."
    )


def test_labels() -> None:
    held = HeldOutLabel(30, 10, 0.1, 0.33, 0.31, 0.64, "level", 0.82, 0.333, ())
    alone = replace(held, cells=1, average_precision=None, compared="better")
    assert sentences.label_sentence("ill", (3, 4, 3), (0.43, 0.41), held, alone) == (
        "ill: 3 yes, 4 no, 3 unknown; the rate of yes is 43 % among known cells and 41 % after completion; "
        "30 held-out cells were wrong in 10 % (commoner value: 33 %), average precision 0.82 (by chance "
        "0.33), no better than rates alone; 1 held-out cell in rows without any known label was wrong in "
        "10 % (commoner value: 33 %)."
    )
    assert "the rate of yes is unknown among known cells" in sentences.label_sentence(
        "ill", (0, 0, 3), (None, 0.5), None, None
    )


def test_the_model() -> None:
    factors = (Factor(0.7, (Loading("a", 0.9), Loading("b", -0.3))),)
    assert sentences.found_sentence(1, "average", factors) == (
        "1 factor links the columns; the first has 70 % of their strength, most of all in a, b."
    )
    assert sentences.found_sentence(2, "average", ()) == "2 factors link the columns."
    assert sentences.found_sentence(0, None, ()).startswith("No member of the model has factors")
    one = MemberWeights("minimiser", 1.0, None, 1.0, 1.0)
    certificate = CertificateReport("factored", 12.0, 0.00071, True)
    assert sentences.done_sentence((one,), certificate, 12.34) == (
        "The holes were filled by one model, minimiser; there is a minimiser of F certified to a relative "
        "gap of 0.00071; the fit took 12.3 s."
    )
    without = replace(certificate, duality_gap=None)
    assert sentences.done_sentence((one, one), without, None) == (
        "The holes were filled by an ensemble of 2 members, each with the weight that held-out cells gave "
        "it; there is a minimiser of F without a certificate."
    )


def test_limits_and_filled_cells() -> None:
    point = TippingPoint("income", 2, "mean", 2400.0, "2400", 115.0, 0.2, 900.0, 0.593)
    assert sentences.limits_sentence((point,)).endswith(
        "Most fragile is the mean of income: it changes by more than its standard error if the filled values "
        "are off by 0.59 standard deviations."
    )
    assert "Most fragile" not in sentences.limits_sentence(())
    assert sentences.filled_sentence(0, 0, 0) == "No cell was filled: the table has no holes."
    assert sentences.filled_sentence(1, 1, 0) == "1 cell was filled; the table shows it."
    assert sentences.filled_sentence(9, 9, 0) == "9 cells were filled; the table shows all of them."
    assert sentences.filled_sentence(99, 5, 5) == (
        "99 cells were filled; the table shows the 5 least certain of the rows that were looked at and a "
        "sample of 5 others."
    )
