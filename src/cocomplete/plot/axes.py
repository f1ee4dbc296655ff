"""Axes to draw into, and the colours of all pictures."""

from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from cocomplete.estimator.completer import CoCompleter
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import shown

if TYPE_CHECKING:
    from matplotlib.axes import Axes

OBSERVED, FILLED, INK = "#8993a1", "#c2541a", "#1c2129"
HATCH = "////"  # so that what was filled is recognised without colour


def check_model(model: Any) -> None:
    """Refuse what is no fitted estimator.

    Raises
    ------
    InputError
    """
    if not isinstance(model, CoCompleter):
        msg = f"model must be a fitted CoCompleter, got {shown(model)}"
        raise InputError(msg)
    check_is_fitted(model)


def axes_for(ax: "Axes | None") -> "Axes":
    """Give the axes to draw into: the user's, or those of a new figure that notebooks show."""
    if ax is not None:
        if not hasattr(ax, "set_xlabel"):
            msg = f"ax must be axes of matplotlib, or None for a new figure, got {shown(ax)}"
            raise InputError(msg)
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as error:
        msg = "plots need matplotlib, which is not installed: pip install 'cocomplete[plots]'"
        raise InputError(msg) from error
    _, axes = pyplot.subplots(layout="constrained")
    axes.spines[["top", "right"]].set_visible(False)
    return axes
