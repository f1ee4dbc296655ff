"""Records of any width, drawn: as many columns, labels and filled cells as a page must bear."""

from typing import Literal

import numpy as np

from cocomplete.report.record import (
    SCHEMA,
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

ROWS = 100_000
LEVELS = ("never", "seldom", "sometimes", "often", "always")


def wide_record(features: int, labels: int, cells: int, points: int = 200) -> ReportRecord:
    """Make a record: every fifth feature holds words, the others numbers; points are those of one chart."""
    rng = np.random.default_rng(7)
    columns = [_given(f"measurement {place:03d}", "feature", place, rng) for place in range(features)]
    columns += [_given(f"finding {place:02d}", "label", place, rng) for place in range(labels)]
    missing = sum(column.missing for column in columns)
    given = Given(
        ROWS,
        features,
        labels,
        ROWS * len(columns),
        missing,
        missing / (ROWS * len(columns)),
        tuple(columns),
        _holes(len(columns), rng),
        NeverTogether(3, ((0, 1), (2, 5), (1, 4)), "3 pairs of columns are never observed together."),
        f"The table has 100 000 rows, {features} features and {labels} labels.",
    )
    return ReportRecord(
        SCHEMA,
        "wide table",
        20_000,
        Verdict(
            (
                Judged(
                    "features",
                    "off by, in standard deviations",
                    0.667,
                    0.99,
                    "column means",
                    10_000,
                    "better",
                ),
                Judged("labels", "share wrong", 0.128, 0.216, "the commoner value", 4800, "better"),
            ),
            "sample",
            "Held out by the report, in a sample of 2 000 rows.",
            "Held-out features were off by 0.67 standard deviations, where column means are off by 0.99.",
        ),
        given,
        tuple(_column(place, columns[place], points, rng) for place in range(features)),
        tuple(_label(place, features, columns, rng) for place in range(labels)),
        _found(columns, labels, rng),
        Done(
            (Setting("fill", "a value that the column could hold"), Setting("random state", "0")),
            (
                MemberWeights("average", 0.7, 0.5, 0.6, 0.4),
                MemberWeights("kernel regression", 0.3, 0.5, 0.4, 0.6),
            ),
            None,
            None,
            "0.1.0",
            "An ensemble of 2 members filled the holes.",
        ),
        Limits(
            tuple(_tipping(place, column, rng) for place, column in enumerate(columns)),
            "Holes that depend on what they hide bias every fill.",
        ),
        _cells(cells, columns, rng),
    )


def _given(name: str, part: Literal["feature", "label"], place: int, rng: np.random.Generator) -> GivenColumn:
    missing = int(rng.integers(1, ROWS))
    kind = "yes-no" if part == "label" else "ordinal" if place % 5 == 4 else "number"
    return GivenColumn(name, part, kind, "numbers with decimals", missing, missing / ROWS)


def _holes(columns: int, rng: np.random.Generator) -> HolesMap:
    lines = min(columns, 120)
    groups = np.array_split(np.arange(columns), lines)
    shares = np.clip(rng.normal(40, 30, (60, lines)), 0, 100).astype(int)
    return HolesMap(
        (ROWS // 60,) * 60,
        tuple(tuple(group.tolist()) for group in groups),
        tuple(tuple(row) for row in shares.tolist()),
        812,
        0.04,
        2000,
        "812 patterns of holes occur in 2 000 rows that were looked at.",
    )


def _column(place: int, given: GivenColumn, points: int, rng: np.random.Generator) -> ColumnReport:
    sentence = (
        f"{given.missing} of {ROWS} cells were filled; held-out cells were off by 0.62 standard deviations, "
        "where the column's mean is off by 0.99."
    )
    if given.kind == "ordinal":
        counts = rng.multinomial(ROWS - given.missing, [0.1, 0.3, 0.3, 0.2, 0.1])
        filled = rng.multinomial(given.missing, [0.05, 0.35, 0.3, 0.25, 0.05])
        confusion = tuple(map(tuple, (rng.integers(0, 9, (5, 5)) + 30 * np.eye(5, dtype=int)).tolist()))
        held = HeldOutCells(240, "share wrong", 0.4, 0.7, "better", 0.92, (), LEVELS, confusion)
        spread = Distribution((), LEVELS, tuple(counts.tolist()), tuple(filled.tolist()), ())
        return ColumnReport(place, ROWS - given.missing, given.missing, spread, held, held, sentence)
    edges = np.linspace(0, 24, 25)
    counts = np.histogram(rng.gamma(4, 2.5, ROWS - given.missing), edges)[0]
    filled = np.histogram(rng.gamma(6, 1.8, given.missing), edges)[0]
    ticks = tuple(Tick(float(at), str(at)) for at in (0, 5, 10, 15, 20))
    spread = Distribution(tuple(edges.tolist()), (), tuple(counts.tolist()), tuple(filled.tolist()), ticks)
    held = HeldOutCells(
        400, "off by, in standard deviations", 0.62, 0.99, "better", 0.91, _points(points, rng), (), ()
    )
    new = HeldOutCells(
        400, "off by, in standard deviations", 0.98, 0.99, "level", 0.88, _points(points, rng), (), ()
    )
    return ColumnReport(place, ROWS - given.missing, given.missing, spread, held, new, sentence)


def _points(many: int, rng: np.random.Generator) -> tuple[Point, ...]:
    truth = rng.gamma(4, 2.5, many)
    fill = 10 + 0.7 * (truth - 10) + rng.normal(0, 2, many)
    return tuple(Point(t, f, f - 4.1, f + 4.2) for t, f in zip(truth.tolist(), fill.tolist(), strict=True))


def _label(place: int, features: int, columns: list[GivenColumn], rng: np.random.Generator) -> LabelReport:
    given = columns[features + place]
    known = ROWS - given.missing
    ones = int(known * rng.uniform(0.1, 0.6))
    bins = tuple(
        ReliabilityBin(
            k / 10,
            (k + 1) / 10,
            k / 10 + 0.05,
            float(np.clip(k / 10 + rng.normal(0.05, 0.04), 0, 1)),
            300 - 28 * k,
        )
        for k in range(10)
    )
    held = HeldOutLabel(1740, 520, 0.12, 0.3, 0.31, 0.61, "better", 0.81, 0.3, bins)
    return LabelReport(
        given.name,
        features + place,
        ones,
        known - ones,
        given.missing,
        given.missing // 3,
        ones / known,
        (ones + given.missing / 3) / ROWS,
        held,
        held if place % 2 else None,
        f"{given.missing} cells were unknown; a third of them were filled with 1.",
    )


def _found(columns: list[GivenColumn], labels: int, rng: np.random.Generator) -> Found:
    factors = []
    for share in (0.52, 0.21, 0.11):
        chosen = rng.choice(len(columns), min(8, len(columns)), replace=False)
        sizes = np.sort(rng.uniform(0.05, 0.6, len(chosen)))[::-1] * rng.choice([-1, 1], len(chosen))
        pairs = zip(chosen.tolist(), sizes.tolist(), strict=True)
        factors.append(Factor(share, tuple(Loading(columns[one].name, size) for one, size in pairs)))
    near = [
        Neighbours(
            place, tuple(Near(int(one), 0.8) for one in rng.choice(len(columns), min(3, len(columns))))
        )
        for place in range(len(columns))
    ]
    shown = min(labels, 15)
    together = None
    if shown > 1:
        after = rng.uniform(0, 0.4, (shown, shown))
        after = (after + after.T) / 2
        before = tuple(tuple(None if value < 0.05 else value for value in row) for row in after.tolist())
        names = tuple(column.name for column in columns[-labels:][:shown])
        together = CoOccurrence(names, before, tuple(map(tuple, after.tolist())))
    return Found(12, "average", tuple(factors), tuple(near), together, "12 factors carry what columns share.")


def _tipping(place: int, column: GivenColumn, rng: np.random.Generator) -> TippingPoint:
    share, sd = column.share_missing, 5.0
    error = sd / float(np.sqrt(ROWS - column.missing))
    if column.part == "label":
        return TippingPoint(
            column.name, place, "rate", 0.31, "31 %", 0.004, share, 0.46, 0.004 / (share * 0.46)
        )
    return TippingPoint(column.name, place, "mean", 10.2, "10.2", error, share, sd, error / (share * sd))


def _cells(many: int, columns: list[GivenColumn], rng: np.random.Generator) -> FilledCells:
    cells = []
    for place in range(many):
        column = int(rng.integers(len(columns)))
        pulls = tuple(
            Pull(int(one), f"{value:.1f}", amount)
            for one, value, amount in zip(
                rng.choice(len(columns), min(5, len(columns)), replace=False),
                rng.gamma(4, 2.5, 5).tolist(),
                (rng.normal(0, 0.3, 5)).tolist(),
                strict=False,
            )
        )
        why = Why("standard deviations", 0.0, pulls, 0.05, 0.05 + sum(pull.amount for pull in pulls), 0.7)
        certainty = float(rng.uniform(0, 1))
        similar = tuple(f"row {one}" for one in rng.integers(0, ROWS, 3).tolist())
        words = columns[column].kind == "yes-no"
        cells.append(
            FilledCell(
                f"row {place * 37}",
                column,
                "yes" if words else f"{rng.normal(0, 3):.3g}",
                None if words else "3.1",
                None if words else "17.4",
                certainty if words else None,
                certainty,
                why,
                similar,
            )
        )
    return FilledCells(
        many * 40,
        many // 2,
        many - many // 2,
        tuple(cells),
        f"{many * 40} cells were filled; the table shows the {many // 2} least certain and a sample.",
    )
