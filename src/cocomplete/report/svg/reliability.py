"""Reliability curve: of cells said to be 1 with probability p, how many were."""

from collections.abc import Sequence
from math import sqrt

from cocomplete.report.record import ReliabilityBin
from cocomplete.report.svg.frame import (
    WIDTH,
    Drawing,
    Mark,
    Path,
    Ring,
    Scale,
    Words,
    at,
    bottom_axis,
    short,
    side_axis,
)

HEIGHT = 236
LEFT = 46
QUARTERS = (0.0, 0.25, 0.5, 0.75, 1.0)
PERCENTS = ("0 %", "25 %", "50 %", "75 %", "100 %")


def reliability(name: str, bins: Sequence[ReliabilityBin]) -> Drawing:
    """Draw how often held-out labels were 1 against the probability they were given.

    Parameters
    ----------
    name : str
        Of the label.
    bins : sequence of ReliabilityBin

    Returns
    -------
    Drawing
        Rings grow with the number of cells; lines through them are two standard errors long each way.
    """
    across, up = Scale(0, 1, LEFT, WIDTH - 14), Scale(0, 1, HEIGHT - 38, 10)
    most = max((one.cells for one in bins), default=1)
    lines = curve = ""
    rings: list[Mark] = []
    for place, one in enumerate(bins):
        x, y = across(one.predicted), up(one.rate)
        # Of a bin with only ones or only zeros half a cell counts as the other: its rate has an error too.
        rate = min(max(one.rate, 0.5 / one.cells), 1 - 0.5 / one.cells)
        error = sqrt(rate * (1 - rate) / one.cells)
        lines += f"M{at(x)} {at(up(one.rate - 2 * error))}V{at(up(one.rate + 2 * error))}"
        curve += f"{'L' if place else 'M'}{at(x)} {at(y)}"
        rings.append(Ring(x, y, 2.5 + 4.5 * sqrt(one.cells / most)))
    marks = (
        Path("agreement", f"M{at(across(0))} {at(up(0))}L{at(across(1))} {at(up(1))}"),
        Path("interval", lines),
        Path("curve", curve),
        *rings,
        *side_axis(up, LEFT, QUARTERS, PERCENTS),
        *bottom_axis(across, HEIGHT - 38, QUARTERS, PERCENTS),
        Words(WIDTH - 14, HEIGHT - 4, "predicted probability →", anchor="end"),
        Words(LEFT + 6, 17, "↑ share that was 1"),
    )
    said = "; ".join(
        f"{short(100 * one.predicted, 2)} % predicted, {short(100 * one.rate, 2)} % were ({one.cells} cells)"
        for one in bins
    )
    return Drawing(WIDTH, HEIGHT, f"Reliability of {name}: {said or 'no held-out cells'}.", marks)
