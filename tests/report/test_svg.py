"""Charts: well-formed, inside their frames, said in words; also of nothing, of one value, of ugly ones."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from cocomplete.report.record import (
    Distribution,
    Factor,
    HolesMap,
    Judged,
    Loading,
    Point,
    ReliabilityBin,
    Tick,
)
from cocomplete.report.svg.bars import beside_trivial, label_states, loadings, share_bar, signed
from cocomplete.report.svg.distribution import observed_against_filled, wider_steps
from cocomplete.report.svg.frame import Drawing, Scale, Words, clipped, limits, short
from cocomplete.report.svg.heat_map import heat_map, strongest
from cocomplete.report.svg.held_out import truth_against_fill
from cocomplete.report.svg.hole_map import hole_map
from cocomplete.report.svg.reliability import reliability
from tests.report.example_record import UGLY_NAME, UGLY_VALUE, example_record

RECORD = example_record()
TICKS = (Tick(0.0, "0"), Tick(50.0, "50"))
BINS = Distribution((0.0, 10.0, 20.0, 50.0), (), (4, 4, 12), (0, 40, 0), TICKS)
HOLES = HolesMap((1, 1), ((0,),), ((0,), (100,)), 1, 1.0, 2, "One line.")

CASES: dict[str, Callable[[], Drawing]] = {
    "bins": lambda: observed_against_filled(UGLY_NAME, BINS),
    "no bins": lambda: observed_against_filled("a", Distribution((), (), (), (), ())),
    "one bin": lambda: observed_against_filled("a", Distribution((0.0, 1.0), (), (0,), (3,), ())),
    "one value": lambda: observed_against_filled("a", Distribution((2.0, 2.0), (), (5,), (3,), TICKS)),
    "nothing filled": lambda: observed_against_filled("a", replace(BINS, filled=(0, 0, 0))),
    "levels": lambda: observed_against_filled(
        UGLY_NAME, Distribution((), ("a", UGLY_VALUE), (3, 1), (0, 2), ())
    ),
    "huge numbers": lambda: observed_against_filled(
        "a", Distribution((-1e308, 0.0, 1e308), (), (1, 2), (1, 1), (Tick(-1e308, "-1e308"),))
    ),
    "points": lambda: truth_against_fill(UGLY_NAME, [Point(1, 2, 0, 3), Point(5, 2, 0, 3)], TICKS),
    "no points": lambda: truth_against_fill("a", [], ()),
    "one point": lambda: truth_against_fill("a", [Point(3, 3, 3, 3)], TICKS),
    "unknown ends": lambda: truth_against_fill(
        "a", [Point(1, 2, math.nan, math.inf), Point(2, 2, -math.inf, 3)], TICKS
    ),
    "reliability": lambda: reliability(
        UGLY_NAME, [ReliabilityBin(0, 0.1, 0.05, 0.0, 1), ReliabilityBin(0.9, 1, 0.97, 1.0, 80)]
    ),
    "no reliability": lambda: reliability("a", ()),
    "holes": lambda: hole_map(RECORD.given.holes),
    "no holes": lambda: hole_map(HolesMap((), (), (), 0, 0.0, 0, "Nothing.")),
    "many lines": lambda: hole_map(replace(HOLES, columns=((0,),) * 90, missing=((10,) * 90, (80,) * 90))),
    "loadings": lambda: loadings("Factor 1", Factor(0.5, (Loading(UGLY_NAME, -0.5), Loading("b", 0.2)))),
    "no loadings": lambda: loadings("Factor 1", Factor(0.0, ())),
    "zero loadings": lambda: loadings("Factor 1", Factor(0.0, (Loading("a", 0.0),))),
    "heat map": lambda: heat_map("said", (UGLY_NAME, "b"), ((0.5, None), (None, 0.001)), percent=True),
    "no heat": lambda: heat_map("said", (), (), percent=True),
    "much heat": lambda: heat_map("said", ("a",) * 40, ((1.0,) * 40,) * 40, percent=False),
    "no counts": lambda: heat_map("said", ("a",), ((0,),), percent=False, corner="truth"),
    "judged": lambda: beside_trivial(RECORD.verdict.judged[0]),
    "no error": lambda: beside_trivial(Judged("a", "share wrong", 0.0, 0.0, "b", 1, "level")),
    "states": lambda: label_states(RECORD.labels[0]),
    "unknown rate": lambda: label_states(
        replace(RECORD.labels[0], ones=0, zeros=0, unknown=0, filled_ones=0, rate_before=None)
    ),
    "share": lambda: share_bar("a", 0.0),
}


@pytest.mark.parametrize("case", CASES)
def test_drawings_are_well_formed_and_said_in_words(case: str) -> None:
    drawing = CASES[case]()
    root = ElementTree.fromstring(drawing.svg())
    assert root.tag == "svg"
    assert root.get("role") == "img"
    assert root.get("aria-label") == drawing.alternative != ""
    assert "style" not in root.attrib
    assert {child.tag for child in root} <= {"path", "text", "circle"}


@pytest.mark.parametrize("case", CASES)
def test_marks_stay_inside_the_frame(case: str) -> None:
    drawing = CASES[case]()
    svg = drawing.svg()
    assert "nan" not in svg
    assert "inf" not in re.sub(r'aria-label="[^"]*"', "", svg)
    for x, y in re.findall(r"[ML](-?[\d.]+) (-?[\d.]+)", svg):
        assert -1 <= float(x) <= drawing.width + 1
        assert -1 <= float(y) <= drawing.height + 1
    for mark in drawing.marks:
        if isinstance(mark, Words):
            assert 0 <= mark.x <= drawing.width
            assert 0 <= mark.y <= drawing.height


@pytest.mark.parametrize("case", CASES)
def test_a_packed_drawing_has_every_mark(case: str) -> None:
    drawing = CASES[case]()
    width, height, alternative, marks = drawing.packed()
    assert (width, height) == (round(drawing.width), round(drawing.height))
    assert alternative == drawing.alternative
    # A script tells paths, rings and words apart by their lengths.
    assert [len(mark) for mark in marks] == [
        {"Path": 2, "Ring": 3, "Words": 5}[type(mark).__name__] for mark in drawing.marks
    ]


def test_names_are_escaped_and_not_lost() -> None:
    svg = CASES["levels"]().svg()
    assert "<img" not in svg
    assert UGLY_NAME in ElementTree.fromstring(svg).get("aria-label")


def test_bins_have_areas_like_their_shares() -> None:
    svg = CASES["bins"]().svg()
    boxes = re.findall(r"M[\d.]+ [\d.]+h([\d.]+)v([\d.]+)", svg)
    areas = [float(width) * float(height) for width, height in boxes]
    # 4, 4 and 12 of 20 cells; the last bin is three times as wide as the others.
    assert areas[1] == pytest.approx(areas[0], rel=0.03)
    assert areas[2] == pytest.approx(3 * areas[0], rel=0.05)


def test_few_filled_cells_are_drawn_in_wider_steps() -> None:
    edges = tuple(map(float, range(21)))
    counts = (1,) * 4 + (0,) * 16
    steps, joined = wider_steps(edges, counts)
    assert joined == [4, 0, 0, 0]
    assert steps == [0.0, 5.0, 10.0, 15.0, 20.0]
    assert wider_steps(edges, (100,) * 20) == (list(edges), [100] * 20)


def test_truths_outside_their_interval_are_crosses() -> None:
    drawing = CASES["points"]()
    svg = drawing.svg()
    assert "1 truths lie inside the 90 % interval of their fill, 1 outside" in drawing.alternative
    assert svg.count("h0") == 1
    assert svg.count("l6 6") == 1


def test_words_on_an_axis_do_not_touch() -> None:
    points = [Point(float(k), float(k), 0.0, 9.0) for k in range(10)]
    ticks = [Tick(float(k), f"2024-01-{k:02d}") for k in range(1, 10)]
    words = [mark for mark in truth_against_fill("a", points, ticks).marks if isinstance(mark, Words)]
    below = sorted(mark.x for mark in words if mark.anchor == "middle")
    assert len(below) > 1
    assert all(after - before > 60 for before, after in pairwise(below))


def test_what_labels_share_most_is_said() -> None:
    values = ((0.5, 0.1, None), (0.1, 0.5, 0.3), (None, 0.3, 0.5))
    said = strongest(("a", "b", "c"), values)
    assert said == "most often together are b and c, in 30 % of the rows"
    assert strongest(("a", "b"), ((None, None), (None, None))) == "no two were ever known together"


@pytest.mark.parametrize(
    ("number", "text"),
    [(0.12345, "0.123"), (-2.0, "-2"), (math.nan, "unknown"), (123456.0, "123\u202f000"), (3e-7, "3e-7")],
)
def test_short_numbers(number: float, text: str) -> None:
    assert short(number) == text


def test_signs_are_written_out() -> None:
    assert [signed(value) for value in (0.5, -0.25, 0.0)] == ["+0.5", "−0.25", "0"]


def test_scales_never_leave_their_ends() -> None:
    scale = Scale(0.0, 1.0, 10.0, 20.0)
    assert [scale(value) for value in (-5.0, 0.5, math.inf, math.nan)] == [10.0, 15.0, 20.0, 15.0]
    assert Scale(1.0, 1.0, 0.0, 8.0)(1.0) == 4.0
    assert limits([]) == (0.0, 1.0)
    assert limits([math.nan, 3.0]) == (2.7, 3.3)


def test_long_names_are_clipped() -> None:
    assert clipped("abcdefghij", 5) == "abcd…"
    assert clipped("abc", 5) == "abc"
