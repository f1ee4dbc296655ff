"""Held-out cells of a column: truth against fill as points with intervals, or as a table of levels."""

from collections.abc import Sequence

from cocomplete.report.record import Point, Tick
from cocomplete.report.svg.frame import WIDTH, Scale, at, bottom_axis, chart, limits, path, text

HEIGHT = 236


def truth_against_fill(name: str, points: Sequence[Point], axis: Sequence[Tick]) -> str:
    """Draw points of truth and fill, the 90 % interval of every fill, and the line on which both agree.

    Parameters
    ----------
    name : str
        Of the column.
    points : sequence of Point
    axis : sequence of Tick
        Places on the column's axis with their words.

    Returns
    -------
    str
        An ``svg`` element. A truth inside its interval is a dot, one outside a cross.
    """
    low, high = limits([end for point in points for end in (point.truth, point.fill)], 0.06)
    shown = [tick for tick in axis if low <= tick.value <= high]
    left = min(max([6.2 * len(tick.text) for tick in shown] + [18]) + 10, 90)
    across, up = Scale(low, high, left, WIDTH - 8), Scale(low, high, HEIGHT - 38, 8)
    whiskers = dots = crosses = ""
    inside = 0
    for point in points:
        x, y = across(point.truth), up(point.fill)
        whiskers += f"M{at(x)} {at(up(point.low))}V{at(up(point.high))}"
        if point.low <= point.truth <= point.high:
            inside += 1
            dots += f"M{at(x)} {at(y)}h0"
        else:
            crosses += f"M{at(x - 3)} {at(y - 3)}l6 6m0-6l-6 6"
    lines = f"M{at(left)} 8V{at(HEIGHT - 38)}" + "".join(f"M{at(left)} {at(up(tick.value))}h-4" for tick in shown)
    words = "".join(text(left - 7, up(tick.value) + 4, tick.text, "tick", "end") for tick in shown)
    body = (
        path(f"M{at(across(low))} {at(up(low))}L{at(across(high))} {at(up(high))}", "agreement")
        + path(whiskers, "interval")
        + path(dots, "dot")
        + path(crosses, "cross")
        + path(lines, "axis")
        + words
        + bottom_axis(across, HEIGHT - 38, [tick.value for tick in _apart(shown, across)], _words(shown, across))
        + text(WIDTH - 8, HEIGHT - 4, "truth →", "axis-name", "end")
        + text(left + 4, 16, "↑ fill", "axis-name")
    )
    alternative = (
        f"Truth against fill of {len(points)} held-out cells of {name}: {inside} truths lie inside the 90 % interval "
        f"of their fill, {len(points) - inside} outside."
    )
    return chart(WIDTH, HEIGHT, alternative, body)


def _apart(axis: Sequence[Tick], across: Scale) -> list[Tick]:
    """Leave out ticks whose words would run into the one before."""
    kept: list[Tick] = []
    for tick in axis:
        if kept:
            room = 3.2 * (len(tick.text) + len(kept[-1].text)) + 8
            if across(tick.value) - across(kept[-1].value) < room:
                continue
        kept.append(tick)
    return kept


def _words(axis: Sequence[Tick], across: Scale) -> list[str]:
    return [tick.text for tick in _apart(axis, across)]
