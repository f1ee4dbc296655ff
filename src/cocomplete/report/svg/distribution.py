"""Observed against filled values of a column: bars for what was observed, an outline for what was filled."""

from cocomplete.report.record import Distribution
from cocomplete.report.svg.frame import (
    WIDTH,
    Scale,
    at,
    bottom_axis,
    chart,
    clipped,
    path,
    rectangle,
    short,
    text,
)

HEIGHT = 148


def observed_against_filled(name: str, distribution: Distribution) -> str:
    """Draw both distributions of a column, each as shares of its own cells.

    Parameters
    ----------
    name : str
        Of the column.
    distribution : Distribution

    Returns
    -------
    str
        An ``svg`` element. Shape tells the two apart, not colour alone: observed values are bars, filled ones an
        outline, or a hatched bar below.
    """
    if distribution.levels:
        return _levels(name, distribution)
    return _bins(name, distribution)


def _shares(counts: tuple[int, ...]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def _percent(share: float) -> str:
    return f"{short(100 * share, 2)} %"


def _bins(name: str, distribution: Distribution) -> str:
    edges = distribution.edges
    widths = [max(right - left, 1e-300) for left, right in zip(edges, edges[1:], strict=False)]
    # Heights are shares by width, so that bins of unequal width do not deceive.
    observed, filled = (
        [share / width for share, width in zip(_shares(counts), widths, strict=True)]
        for counts in (distribution.observed, distribution.filled)
    )
    highest = max([*observed, *filled, 0.0])
    across = Scale(edges[0], edges[-1], 8, WIDTH - 8) if edges else Scale(0, 1, 8, WIDTH - 8)
    up = Scale(0, highest, HEIGHT - 22, 8)
    floor = HEIGHT - 22
    bars = outline = ""
    for left, right, height in zip(edges, edges[1:], observed, strict=False):
        if height > 0:
            start, end = across(left), across(right)
            bars += rectangle(start + 0.4, up(height), max(end - start - 0.8, 0.6), floor - up(height))
    if any(filled):
        outline = f"M{at(across(edges[0]))} {at(floor)}"
        for right, height in zip(edges[1:], filled, strict=True):
            outline += f"V{at(up(height) if height else floor)}H{at(across(right))}"
        outline += f"V{at(floor)}"
    marks = [tick.value for tick in distribution.ticks]
    axis = bottom_axis(across, floor, marks, [tick.text for tick in distribution.ticks])
    body = path(bars, "observed") + path(outline, "filled-line") + axis
    return chart(WIDTH, HEIGHT, _alternative(name, distribution), body)


def _levels(name: str, distribution: Distribution) -> str:
    line, top, left, room = 30, 4, 104, WIDTH - 104 - 44
    observed, filled = _shares(distribution.observed), _shares(distribution.filled)
    across = Scale(0, max([*observed, *filled, 1e-9]), 0, room)
    solid = hatched = words = ""
    for place, (level, seen, put) in enumerate(zip(distribution.levels, observed, filled, strict=True)):
        y = top + place * line
        words += text(left - 8, y + 17, clipped(level, 15), "name", "end")
        if seen:
            solid += rectangle(left, y + 2, max(across(seen), 0.6), 10)
        if put:
            hatched += rectangle(left, y + 14, max(across(put), 0.6), 9)
        words += text(left + across(seen) + 5, y + 11, _percent(seen), "tick")
        if any(filled):
            words += text(left + across(put) + 5, y + 23, _percent(put), "tick filled-text")
    height = top + line * max(len(distribution.levels), 1)
    axis = path(f"M{left} {top}V{at(height - 4)}", "axis")
    body = path(solid, "observed") + path(hatched, "filled-bar") + axis + words
    return chart(WIDTH, height, _alternative(name, distribution), body)


def _alternative(name: str, distribution: Distribution) -> str:
    seen, put = sum(distribution.observed), sum(distribution.filled)
    start = f"Distribution of {name}: {seen} observed values"
    if not put:
        return f"{start}; none was filled."
    if distribution.levels:
        both = zip(distribution.levels, _shares(distribution.observed), _shares(distribution.filled), strict=True)
        parts = ", ".join(f"{level} {_percent(one)} and {_percent(two)}" for level, one, two in both)
        return f"{start} and {put} filled ones. Shares observed and filled: {parts}."
    middles = [_median(distribution, counts) for counts in (distribution.observed, distribution.filled)]
    return f"{start} and {put} filled ones; medians lie near {middles[0]} and {middles[1]}."


def _median(distribution: Distribution, counts: tuple[int, ...]) -> str:
    """Say where the middle value lies, by the nearest tick: ticks are words in the user's own units."""
    half, reached = sum(counts) / 2, 0
    for left, right, count in zip(distribution.edges, distribution.edges[1:], counts, strict=False):
        reached += count
        if reached >= half:
            middle = (left + right) / 2
            dates = any(not _number(tick.text) for tick in distribution.ticks)
            if dates:
                return min(distribution.ticks, key=lambda tick: abs(tick.value - middle)).text
            return short(middle)
    return "unknown"


def _number(words: str) -> bool:
    try:
        float(words.replace("\u202f", "").replace(",", "."))
    except ValueError:
        return False
    return True
