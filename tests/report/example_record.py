"""A report's record made by hand, small enough to read and with a column of every kind."""

from cocomplete.report.record import (
    SCHEMA,
    CertificateReport,
    ColumnReport,
    CoOccurrence,
    Distribution,
    Done,
    Factor,
    FilledCell,
    FilledCells,
    Found,
    Given,
    GivenColumn,
    HeldOutCells,
    HeldOutLabel,
    HolesMap,
    Judged,
    LabelReport,
    Limits,
    Loading,
    MemberWeights,
    Near,
    Neighbours,
    NeverTogether,
    Point,
    Pull,
    ReliabilityBin,
    ReportRecord,
    Setting,
    Tick,
    TippingPoint,
    Verdict,
    Why,
)

UGLY_NAME, UGLY_VALUE = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'

COLUMNS = (
    GivenColumn("age", "feature", "count", "whole numbers from zero on", 2, 0.2),
    GivenColumn("smokes", "feature", "yes-no", "0 and 1, or words for yes and no", 1, 0.1),
    GivenColumn(UGLY_NAME, "feature", "category", "3 different values", 3, 0.3),
    GivenColumn("pain", "feature", "ordinal", "5 levels in an order", 4, 0.4),
    GivenColumn("seen", "feature", "date", "dates", 1, 0.1),
    GivenColumn("empty", "feature", "number", "numbers", 10, 1.0),
    GivenColumn("asthma", "label", "yes-no", "0 and 1, or words for yes and no", 3, 0.3),
    GivenColumn("copd", "label", "yes-no", "0 and 1, or words for yes and no", 5, 0.5),
)


def example_record() -> ReportRecord:
    """Make the record."""
    return ReportRecord(
        SCHEMA,
        "patients.csv",
        10,
        _verdict(),
        _given(),
        _columns(),
        _labels(),
        _found(),
        _done(),
        _limits(),
        _filled(),
    )


def _verdict() -> Verdict:
    return Verdict(
        (
            Judged("features", "off by, in standard deviations", 0.61, 0.98, "column means", 120, "better"),
            Judged("yes/no features", "share wrong", 0.3, 0.31, "the commoner value", 40, "level"),
            Judged("labels", "share wrong", 0.12, 0.35, "the commoner value", 60, "better"),
            Judged("labels of new rows", "share wrong", 0.4, 0.35, "the commoner value", 30, "worse"),
        ),
        "fit",
        "Members were weighted on the same cells, so errors of other cells may be a little larger.",
        "Held-out features were off by 0.61 standard deviations (column means: 0.98) in 120 cells.",
    )


def _given() -> Given:
    holes = HolesMap(
        (4, 3, 3),
        ((0, 1), (2, 3), (4,), (5,), (6, 7)),
        ((0, 0, 0, 100, 0), (17, 50, 0, 100, 50), (33, 67, 33, 100, 100)),
        3,
        0.4,
        10,
        "3 patterns of holes occur in the rows; the commonest is that of 40 % of them.",
    )
    never = NeverTogether(1, ((2, 7),), "1 pair of columns is never observed together.")
    return Given(
        10,
        6,
        2,
        80,
        29,
        0.3625,
        COLUMNS,
        holes,
        never,
        "The table has 10 rows, 6 features and 2 labels; 29 of its 80 cells (36 %) are missing.",
    )


def _columns() -> tuple[ColumnReport, ...]:
    points = tuple(Point(20.0 + 5 * k, 24.0 + 4 * k, 10.0 + 4 * k, 38.0 + 4 * k) for k in range(8))
    age = HeldOutCells(8, "off by, in standard deviations", 0.5, 1.02, "better", 0.875, points, (), ())
    days = tuple(Point(-30.0 + 10 * k, -20.0 + 7 * k, -60.0 + 7 * k, 20.0 + 7 * k) for k in range(6))
    seen = HeldOutCells(6, "off by, in standard deviations", 0.9, 0.95, "level", 1.0, days, (), ())
    smokes = HeldOutCells(10, "share wrong", 0.2, 0.4, "better", None, (), ("no", "yes"), ((5, 1), (1, 3)))
    levels = ("blue", UGLY_VALUE, "red")
    colour = HeldOutCells(
        9, "share wrong", 0.67, 0.5, "worse", None, (), levels, ((1, 1, 1), (1, 1, 1), (2, 0, 1))
    )
    pain = HeldOutCells(
        7, "share wrong", 0.43, 0.6, "better", 1.0, (), ("1", "2", "3"), ((2, 1, 0), (1, 1, 0), (0, 1, 1))
    )
    ages = tuple(Tick(float(at), str(at)) for at in (20, 30, 40, 50, 60))
    dates = (Tick(-31.0, "2025-12-01"), Tick(0.0, "2026-01-01"), Tick(31.0, "2026-02-01"))
    return (
        ColumnReport(
            0,
            8,
            2,
            Distribution((20.0, 30.0, 40.0, 50.0, 60.0), (), (2, 3, 2, 1), (0, 1, 1, 0), ages),
            age,
            None,
            "age: 2 of 10 cells were filled; 8 held-out cells were off by 0.50 standard deviations.",
        ),
        ColumnReport(
            1, 9, 1, Distribution((), ("no", "yes"), (5, 4), (1, 0), ()), smokes, smokes, "smokes: …"
        ),
        ColumnReport(2, 7, 3, Distribution((), levels, (3, 2, 2), (2, 1, 0), ()), colour, None, "colour: …"),
        ColumnReport(
            3, 6, 4, Distribution((), ("1", "2", "3"), (3, 2, 1), (1, 2, 1), ()), pain, None, "pain: …"
        ),
        ColumnReport(
            4, 9, 1, Distribution((-31.0, 0.0, 31.0), (), (4, 5), (1, 0), dates), seen, None, "seen: …"
        ),
        ColumnReport(
            5, 0, 10, Distribution((0.0, 1.0), (), (0,), (10,), (Tick(0.0, "0"),)), None, None, "empty: …"
        ),
    )


def _labels() -> tuple[LabelReport, ...]:
    bins = (ReliabilityBin(0.0, 0.2, 0.11, 0.1, 20), ReliabilityBin(0.6, 0.8, 0.72, 0.8, 10))
    held = HeldOutLabel(30, 10, 0.1, 0.33, 0.31, 0.64, "better", 0.82, 0.333, bins)
    return (
        LabelReport("asthma", 6, 3, 4, 3, 1, 0.43, 0.41, held, held, "asthma: …"),
        LabelReport("copd", 7, 2, 3, 5, 2, 0.4, 0.38, None, None, "copd: …"),
    )


def _found() -> Found:
    factors = (
        Factor(0.7, (Loading("age", 0.61), Loading(f"{UGLY_NAME}=red", -0.4), Loading("asthma", 0.3))),
        Factor(0.3, (Loading("smokes", 0.8), Loading("age", 0.2))),
    )
    neighbours = (
        Neighbours(0, (Near(1, 0.9), Near(6, -0.5))),
        Neighbours(1, (Near(0, 0.9),)),
        Neighbours(6, (Near(0, -0.5),)),
    )
    together = CoOccurrence(("asthma", "copd"), ((0.43, None), (None, 0.4)), ((0.41, 0.2), (0.2, 0.38)))
    return Found(2, "average", factors, neighbours, together, "Two factors explain the table: …")


def _done() -> Done:
    return Done(
        (Setting("random_state", "0"), Setting("fill", "a value that the column could hold")),
        (
            MemberWeights("average", 0.6, 0.5, 0.7, 0.4),
            MemberWeights("kernel regression", 0.4, 0.5, 0.3, 0.6),
        ),
        CertificateReport("factored", 123.4, 0.0007, True),
        1.5,
        "0.1.0",
        "An ensemble of 2 members filled the holes.",
    )


def _limits() -> Limits:
    return Limits(
        (
            TippingPoint("age", 0, "mean", 41.5, "41.5", 4.2, 0.2, 12.0, 1.75),
            TippingPoint("asthma", 6, "rate", 0.41, "41 %", 0.187, 0.3, 0.495, 1.26),
        ),
        "If holes depend on what they hide, fills are biased: the rate of asthma changes by more than its "
        "error if its filled values are off by 1.26 standard deviations.",
    )


def _filled() -> FilledCells:
    why = Why(
        "standard deviations",
        0.02,
        (Pull(1, "yes", 0.4), Pull(4, "2026-01-12", -0.1), Pull(2, UGLY_VALUE, 0.05)),
        0.01,
        0.38,
        0.6,
    )
    return FilledCells(
        29,
        2,
        2,
        (
            FilledCell("row 3", 0, "46", "33", "59", None, 0.35, why, ("row 7", UGLY_NAME)),
            FilledCell("row 4", 2, UGLY_VALUE, None, None, 0.45, 0.45, None, ()),
            FilledCell("row 7", 4, "2026-01-12", "2025-12-20", "2026-02-04", None, 0.2, why, ("row 3",)),
            FilledCell("row 9", 6, "yes", None, None, 0.83, 0.83, why, ("row 3", "row 7")),
        ),
        "29 cells were filled; the table shows the 2 least certain and a sample of 2 others.",
    )
