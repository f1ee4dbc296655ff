"""Pictures that need the fitted model alone."""

from typing import TYPE_CHECKING, Any

import numpy as np

from cocomplete.exceptions import InputError
from cocomplete.members.average import Average
from cocomplete.parameter_checks import check_count, shown
from cocomplete.plot.axes import FILLED, HATCH, INK, OBSERVED, axes_for, check_model

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARTS = {
    "features": ("features", "rmse", "RMSE"),
    "yes_no_features": ("yes/no features", "wrong", "share wrong"),
    "labels": ("labels", "wrong", "share wrong"),
    "unlabelled": ("labels of rows\nwithout any", "wrong", "share wrong"),
}
"""Of ``validation_``: what a part is called, which of its errors is drawn, and what that is."""


def spectrum(model: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw the singular values of the low-rank matrix behind the answer.

    Parameters
    ----------
    model : CoCompleter
        Fitted.
    ax : Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from cocomplete import CoCompleter, datasets, plot
    >>> table = datasets.make_low_rank_multilabel(60, 6, 2, 2, 0.6, random_state=0)
    >>> model = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.1).fit(table.X, table.Y)
    >>> len(plot.spectrum(model).lines[0].get_ydata()) == model.rank_
    True
    """
    check_model(model)
    axes, values = axes_for(ax), np.asarray(model.singular_values_, dtype=float)
    axes.plot(np.arange(1, len(values) + 1), values, color=FILLED, marker="o", linewidth=1)
    if len(values) and values.min() > 0 and values.max() > 100 * values.min():
        axes.set_yscale("log")
    axes.set_xlabel("factor")
    axes.set_ylabel("singular value")
    axes.set_title(f"rank {model.rank_}")
    axes.locator_params(axis="x", integer=True)
    return axes


def convergence(model: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how the fit came to rest: a minimiser's duality gap, or the bound of the posterior average.

    Parameters
    ----------
    model : CoCompleter
        Fitted. Where a minimiser was solved for, its relative duality gap is drawn over the iterations, or
        its objective where no gap is known; else the evidence lower bound over the sweeps of the average that
        is drawn from, counted from its end.
    ax : Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If nothing was iterated: of a table in which nothing varies.

    Examples
    --------
    >>> from cocomplete import CoCompleter, datasets, plot
    >>> table = datasets.make_low_rank_multilabel(60, 6, 2, 2, 0.6, random_state=0)
    >>> model = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.1).fit(table.X, table.Y)
    >>> plot.convergence(model).get_ylabel()
    'relative duality gap'
    """
    check_model(model)
    if not model.certified_:
        return _bound(model, ax)
    axes = axes_for(ax)
    gaps = np.array([record.get("duality_gap", np.nan) for record in model.history_], dtype=float)
    shown = np.isfinite(gaps) & (gaps > 0)
    iterations = np.array([record["iteration"] for record in model.history_])
    axes.set_xlabel("iteration")
    if shown.any():
        axes.plot(iterations[shown], gaps[shown], color=INK, marker=".")
        axes.set_yscale("log")
        axes.set_ylabel("relative duality gap")
        axes.axhline(model.tol, color=OBSERVED, linestyle=":", label=f"tol = {model.tol:g}")
        axes.legend(frameon=False)
    else:
        axes.plot(iterations, [record["objective"] for record in model.history_], color=INK)
        axes.set_ylabel("objective")
    axes.locator_params(axis="x", integer=True)
    axes.set_title(f"solver {model.solver_}: {'converged' if model.converged_ else 'not converged'}")
    return axes


def _bound(model: Any, ax: "Axes | None") -> "Axes":
    """Draw what the evidence lower bound still had to gain, by sweep since precisions are updated."""
    joint = model._model.joint
    bounds = np.array(joint.posterior.bounds if isinstance(joint, Average) else ())
    if bounds.size < 2:
        msg = "model was fitted without iterations, so nothing was found to draw; fit a table that varies"
        raise InputError(msg)
    axes = axes_for(ax)
    axes.plot(np.arange(1, bounds.size), bounds[-1] - bounds[:-1], color=INK, marker=".")
    axes.set_yscale("log")
    axes.set_xlabel("sweep")
    axes.set_ylabel("evidence lower bound, below its end")
    axes.locator_params(axis="x", integer=True)
    ended = "stands still" if joint.posterior.converged else "most sweeps done"
    axes.set_title(f"{joint.name}: {ended}")
    return axes


def validation(model: Any, *, ax: "Axes | None" = None) -> "Axes":
    """Draw how wrong held-out cells were, beside the trivial answer.

    Parameters
    ----------
    model : CoCompleter
        Fitted.
    ax : Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If the fit held out no cells.

    Examples
    --------
    >>> from cocomplete import CoCompleter, datasets, plot
    >>> table = datasets.make_low_rank_multilabel(60, 6, 2, 2, 0.6, random_state=0)
    >>> model = CoCompleter(random_state=0).fit(table.X, table.Y)
    >>> [text.get_text() for text in plot.validation(model).get_legend().get_texts()]
    ['cocomplete', 'trivial answer']
    """
    check_model(model)
    if not model.validation_:
        msg = "model has validation_ None: its fit held out no cells; fit it with penalties left to 'auto'"
        raise InputError(msg)
    parts = [(*PARTS[name], found) for name, found in model.validation_.items()]
    axes, places = axes_for(ax), np.arange(len(parts))
    ours = [found[error] for _, error, _, found in parts]
    trivial = [found[f"trivial_{error}"] for _, error, _, found in parts]
    hatched: dict[str, Any] = {"facecolor": "none", "edgecolor": FILLED, "hatch": HATCH}
    for bars in (
        axes.bar(places - 0.2, ours, 0.38, label="cocomplete", **hatched),
        axes.bar(places + 0.2, trivial, 0.38, label="trivial answer", color=OBSERVED),
    ):
        axes.bar_label(bars, fmt="%.2f", fontsize="small")
    words = [f"{name}\n{what}\n{found['cells']} cells" for name, _, what, found in parts]
    axes.set_xticks(places, words, fontsize="small")
    axes.set_ylabel("error on held-out cells")
    axes.legend(frameon=False)
    return axes


def loadings(model: Any, *, factor: int = 1, most: int = 12, ax: "Axes | None" = None) -> "Axes":
    """Draw the largest loadings of a factor: columns on the same side of zero rise together.

    Parameters
    ----------
    model : CoCompleter
        Fitted.
    factor : int, default=1
        Which factor, the strongest first.
    most : int, default=12
        How many columns.
    ax : Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no such factor.

    Examples
    --------
    >>> from cocomplete import CoCompleter, datasets, plot
    >>> table = datasets.make_low_rank_multilabel(60, 6, 2, 2, 0.6, random_state=0)
    >>> model = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.1).fit(table.X, table.Y)
    >>> plot.loadings(model, factor=1, most=5).get_title()
    'factor 1'
    """
    check_model(model)
    check_count("factor", factor)
    check_count("most", most)
    if factor > model.rank_:
        msg = f"factor must be between 1 and the model's rank_, {model.rank_}; found {shown(factor)}"
        raise InputError(msg)
    vector = np.asarray(model.components_)[factor - 1]
    names = getattr(model, "encoded_names_", None)
    if names is None:
        names = np.array([f"column {place + 1}" for place in range(len(vector))], dtype=object)
    largest = np.argsort(-np.abs(vector), kind="stable")[:most]
    axes, places = axes_for(ax), np.arange(len(largest))
    signs = vector[largest] >= 0
    axes.barh(places, vector[largest], color=np.where(signs, INK, "white"), edgecolor=INK)
    axes.set_yticks(places, names[largest])
    axes.invert_yaxis()
    axes.axvline(0, color=INK, linewidth=0.8)
    axes.set_xlabel("loading")
    axes.set_title(f"factor {factor}")
    return axes
