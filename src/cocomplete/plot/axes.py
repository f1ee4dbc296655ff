"""Axes to draw into, and the colours of all pictures."""

from typing import TYPE_CHECKING

from cocomplete.exceptions import InputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OBSERVED, FILLED, INK = "#8993a1", "#c2541a", "#1c2129"
HATCH = "////"  # so that what was filled is recognised without colour


def axes_for(ax: "Axes | None") -> "Axes":
    """Give the axes to draw into: the user's, or those of a new figure that notebooks show."""
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        msg = "plots need matplotlib, which is not installed: pip install 'cocomplete[plots]'"
        raise InputError(msg) from error
    _, axes = pyplot.subplots(layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
