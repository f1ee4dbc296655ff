"""Observed against filled values of a column: bars for what was observed, an outline for what was filled."""

from collections.abc import Sequence
from itertools import accumulate, pairwise
from math import ceil, sqrt

from cocomplete.report.record import Distribution
from cocomplete.report.svg.frame import (
    WIDTH,
    Drawing,
    Mark,
    Path,
    Scale,
    Words,
    at,
    bottom_axis,
    clipped,
    rectangle,
    short,
)

HEIGHT = 236  # as tall as the charts beside it, so that their axes are one line
FLOOR = HEIGHT - 38


def observed_against_filled(name: str, distribution: Distribution) -> Drawing:
    """Draw both distributions of a column, each as shares of its own cells.

    Parameters
    ----------
    name : str
        Of the column.
    distribution : Distribution

    Returns
    -------
    Drawing
        Shape tells the two apart, not colour alone: observed values are bars, filled ones an outline, or
        a hatched bar below.
    """
    return _levels(name, distribution) if distribution.levels else _bins(name, distribution)


def _shares(counts: Sequence[int]) -> list[float]:
    total = sum(counts)
    return [count / total if total else 0.0 for count in counts]


def _percent(share: float) -> str:
    return f"{short(100 * share, 2)}\u00a0%"


def _bins(name: str, distribution: Distribution) -> Drawing:
    edges = distribution.edges
    observed = _densities(edges, distribution.observed)
    steps, counts = wider_steps(edges, distribution.filled)
    filled = _densities(steps, counts)
    across = Scale(edges[0], edges[-1], 8, WIDTH - 8) if edges else Scale(0, 1, 8, WIDTH - 8)
    up = Scale(0, max([*observed, *filled, 1e-300]), FLOOR, 8)
    bars = outline = ""
    for left, right, height in zip(edges, edges[1:], observed, strict=False):
        if height > 0:
            start, end = across(left), across(right)
            bars += rectangle(start + 0.4, up(height), max(end - start - 0.8, 0.6), FLOOR - up(height))
    if any(filled):
        outline = f"M{at(across(steps[0]))} {at(FLOOR)}"
        for right, height in zip(steps[1:], filled, strict=True):
            outline += f"V{at(up(height))}H{at(across(right))}"
        outline += f"V{at(FLOOR)}"
    ticks = distribution.ticks
    axis = bottom_axis(across, FLOOR, [tick.value for tick in ticks], [tick.text for tick in ticks])
    marks = (Path("observed", bars), Path("filled-line", outline), *axis)
    return Drawing(WIDTH, HEIGHT, _alternative(name, distribution), marks)


def wider_steps(edges: tuple[float, ...], counts: tuple[int, ...]) -> tuple[list[float], list[int]]:
    """Join bins where cells are few: the outline of eight cells in twenty bins would be a row of spikes."""
    wanted = max(2 * sqrt(sum(counts)), 3)
    joined = max(ceil(len(counts) / wanted), 1)
    starts = range(0, len(counts), joined)
    ends = [edges[start] for start in starts] + [edges[-1]] if edges else []
    return ends, [sum(counts[start : start + joined]) for start in starts]


def _densities(edges: Sequence[float], counts: Sequence[int]) -> list[float]:
    """Give shares by width, so that bins of unequal width do not deceive."""
    widths = [max(right - left, 1e-300) for left, right in pairwise(edges)]
    return [share / width for share, width in zip(_shares(counts), widths, strict=True)]


def _levels(name: str, distribution: Distribution) -> Drawing:
    line, top, left = 30, 4, 104
    observed, filled = _shares(distribution.observed), _shares(distribution.filled)
    across = Scale(0, max([*observed, *filled, 1e-9]), 0, WIDTH - left - 44)
    solid = hatched = ""
    words: list[Mark] = []
    for place, (level, seen, put) in enumerate(zip(distribution.levels, observed, filled, strict=True)):
        y = top + place * line
        words.append(Words(left - 8, y + 17, clipped(level, 15), "name", "end"))
        if seen:
            solid += rectangle(left, y + 2, max(across(seen), 0.6), 10)
        if put:
            hatched += rectangle(left, y + 14, max(across(put), 0.6), 9)
        words.append(Words(left + across(seen) + 5, y + 11, _percent(seen)))
        if any(filled):
            words.append(Words(left + across(put) + 5, y + 23, _percent(put), "tick filled-text"))
    height = top + line * max(len(distribution.levels), 1)
    axis = Path("axis", f"M{left} {top}V{height - 4}")
    marks = (Path("observed", solid), Path("filled-bar", hatched), axis, *words)
    return Drawing(WIDTH, height, _alternative(name, distribution), marks)


def _alternative(name: str, distribution: Distribution) -> str:
    seen, put = sum(distribution.observed), sum(distribution.filled)
    start = f"Distribution of {name}: {seen} observed values"
    if not put:
        return f"{start}; none was filled."
    if distribution.levels:
        both = zip(
            distribution.levels, _shares(distribution.observed), _shares(distribution.filled), strict=True
        )
        parts = ", ".join(f"{level} {_percent(one)} and {_percent(two)}" for level, one, two in both)
        return f"{start} and {put} filled ones. Shares observed and filled: {parts}."
    if not seen or not distribution.ticks:
        return f"{start} and {put} filled ones."
    observed, filled = (
        _middle(distribution, counts) for counts in (distribution.observed, distribution.filled)
    )
    return f"{start} and {put} filled ones; half of them lie below about {observed} and {filled}."


def _middle(distribution: Distribution, counts: tuple[int, ...]) -> str:
    """Say near which tick the middle value lies: ticks are in the user's own units, words or dates."""
    reached = accumulate(counts)
    place = next(place for place, sofar in enumerate(reached) if sofar >= sum(counts) / 2)
    middle = (distribution.edges[place] + distribution.edges[place + 1]) / 2
    return min(distribution.ticks, key=lambda tick: abs(tick.value - middle)).text
