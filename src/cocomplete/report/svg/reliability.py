"""Reliability curve: of cells said to be 1 with probability p, how many were."""

from collections.abc import Sequence
from math import sqrt

from cocomplete.report.record import ReliabilityBin
from cocomplete.report.svg.frame import WIDTH, Scale, at, bottom_axis, chart, path, short, text

HEIGHT = 236
PERCENTS = ("0 %", "25 %", "50 %", "75 %", "100 %")


def reliability(name: str, bins: Sequence[ReliabilityBin]) -> str:
    """Draw how often held-out labels were 1 against the probability they were given.

    Parameters
    ----------
    name : str
        Of the label.
    bins : sequence of ReliabilityBin

    Returns
    -------
    str
        An ``svg`` element: rings grow with the number of cells, bars are two standard errors long each way.
    """
    across, up = Scale(0, 1, 46, WIDTH - 12), Scale(0, 1, HEIGHT - 38, 10)
    most = max((one.cells for one in bins), default=1)
    bars = rings = line = ""
    for place, one in enumerate(bins):
        x, y = across(one.predicted), up(one.rate)
        # The rate's own error; a bin that holds only ones or zeros is given half a cell of doubt.
        doubt = min(max(one.rate, 0.5 / one.cells), 1 - 0.5 / one.cells) if one.cells else 0.5
        error = sqrt(doubt * (1 - doubt) / one.cells) if one.cells else 0.0
        bars += f"M{at(x)} {at(up(one.rate - 2 * error))}V{at(up(one.rate + 2 * error))}"
        line += f"{'L' if place else 'M'}{at(x)} {at(y)}"
        radius = 2.5 + 4.5 * sqrt(one.cells / most)
        rings += f'<circle class="ring" cx="{at(x)}" cy="{at(y)}" r="{at(radius)}"/>'
    quarters = [0.0, 0.25, 0.5, 0.75, 1.0]
    side = "M46 10V198" + "".join(f"M46 {at(up(mark))}h-4" for mark in quarters)
    body = (
        path(f"M{at(across(0))} {at(up(0))}L{at(across(1))} {at(up(1))}", "agreement")
        + path(bars, "interval")
        + path(line, "filled-line")
        + rings
        + path(side, "axis")
        + "".join(text(39, up(mark) + 4, word, "tick", "end") for mark, word in zip(quarters, PERCENTS, strict=True))
        + bottom_axis(across, HEIGHT - 38, quarters, PERCENTS)
        + text(WIDTH - 12, HEIGHT - 4, "predicted probability →", "axis-name", "end")
        + text(50, 18, "↑ share that was 1", "axis-name")
    )
    said = "; ".join(
        f"{short(100 * one.predicted, 2)} % predicted, {short(100 * one.rate, 2)} % were ({one.cells} cells)" for one in bins
    )
    return chart(WIDTH, HEIGHT, f"Reliability of {name}: {said or 'no held-out cells'}.", body)
