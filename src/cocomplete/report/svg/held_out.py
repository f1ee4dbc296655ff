"""Held-out cells of a column: truth against fill, as points with intervals."""

from collections.abc import Sequence

from cocomplete.report.record import Point, Tick
from cocomplete.report.svg.frame import WIDTH, Drawing, Path, Scale, Words, at, bottom_axis, limits, side_axis

HEIGHT = 236


def truth_against_fill(name: str, points: Sequence[Point], axis: Sequence[Tick]) -> Drawing:
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
    Drawing
        A truth inside its interval is a dot, one outside a cross.
    """
    low, high = limits([end for point in points for end in (point.truth, point.fill)], 0.06)
    ticks = [tick for tick in axis if low <= tick.value <= high]
    places, words = [tick.value for tick in ticks], [tick.text for tick in ticks]
    left = min(max([6.2 * len(word) for word in words] + [18]) + 10, 90)
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
    marks = (
        Path("agreement", f"M{at(across(low))} {at(up(low))}L{at(across(high))} {at(up(high))}"),
        Path("interval", whiskers),
        Path("dot", dots),
        Path("cross", crosses),
        *side_axis(up, left, places, words),
        *bottom_axis(across, HEIGHT - 38, places, words),
        Words(WIDTH - 8, HEIGHT - 4, "truth →", anchor="end"),
        Words(left + 6, 15, "↑ fill"),
    )
    alternative = (
        f"Truth against fill of {len(points)} held-out cells of {name}: {inside} truths lie inside "
        f"the 90 % interval of their fill, {len(points) - inside} outside."
    )
    return Drawing(WIDTH, HEIGHT, alternative, marks)
