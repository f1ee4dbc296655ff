"""Pictures of tables and their fills: the numbers are those of the report, so that the two never differ."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import shown
from cocomplete.plot.axes import FILLED, HATCH, INK, OBSERVED, axes_for, check_model
from cocomplete.report.record import ColumnReport, Distribution, ReliabilityBin, ReportRecord

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_NAMES = 40
"""Columns beside which names still have room."""


def missingness(model: Any, X: Any, y: Any = None, *, ax: "Axes | None" = None) -> "Axes":
    """Draw where cells are missing: columns from top to bottom, rows with alike holes side by side.

    Parameters
    ----------
    model : CoCompleter
        Fitted.
    X, y : tables
        As for :meth:`~cocomplete.CoCompleter.report`.
    ax : Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Examples
    --------
    >>> from cocomplete import CoCompleter, datasets, plot
    >>> table = datasets.make_low_rank_multilabel(60, 6, 2, 2, 0.6, random_state=0)
    >>> model = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.1).fit(table.X, table.Y)
    >>> plot.missingness(model, table.X, table.Y).get_xlabel()
    'rows, those with alike holes together'
    """
    record = _record(model, X, y)
    holes, axes = record.given.holes, axes_for(ax)
    shares = np.array(holes.missing, dtype=float).reshape(len(holes.rows), len(holes.columns)).T
    lines = np.arange(len(holes.columns) + 1)
    starts = np.concatenate(([0], np.cumsum(holes.rows)))
    drawn = axes.pcolormesh(starts, lines, shares, cmap="Oranges", vmin=0, vmax=100)
    axes.figure.colorbar(drawn, ax=axes, label="per cent missing")
    axes.invert_yaxis()
    names = [" + ".join(record.given.columns[one].name for one in columns[:2]) for columns in holes.columns]
    if len(names) <= MOST_NAMES:
        axes.set_yticks(lines[:-1] + 0.5, names, fontsize="medium" if len(names) <= 20 else "xx-small")
    axes.set_xlabel("rows, those with alike holes together")
    axes.set_title(f"{100 * record.given.share_missing:.0f} % of the cells are missing")
    return axes


def calibration(model: Any, X: Any, y: Any, *, label: str | None = None, ax: "Axes | None" = None) -> "Axes":
    """Draw how often held-out labels were 1 against the probability they were given.

    Parameters
    ----------
    model : CoCompleter
        Fitted.
    X, y : tables
        As for :meth:`~cocomplete.CoCompleter.report`.
    label : str, optional
        One label; all together unless given.
    ax : Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no such label, or none of its cells was held out.

    Examples
    --------
    >>> from cocomplete import CoCompleter, datasets, plot
    >>> table = datasets.make_low_rank_multilabel(60, 6, 2, 2, 0.6, random_state=0)
    >>> model = CoCompleter(random_state=0).fit(table.X, table.Y)
    >>> plot.calibration(model, table.X, table.Y).get_xlabel()
    'predicted probability'
    """
    record = _record(model, X, y)
    names = [one.name for one in record.labels]
    chosen = [one for one in record.labels if label is None or one.name == _known("label", label, names)]
    bins = _pooled([one for report in chosen if report.held_out for one in report.held_out.reliability])
    if not bins:
        msg = "calibration needs held-out cells of labels, but none was found; give more observed labels"
        raise InputError(msg)
    axes = axes_for(ax)
    predicted, rates = [one.predicted for one in bins], [one.rate for one in bins]
    cells = np.array([one.cells for one in bins])
    axes.plot([0, 1], [0, 1], color=INK, linestyle=":", linewidth=1)
    errors = [2 * np.sqrt(max(rate * (1 - rate), 0.25 / n) / n) for rate, n in zip(rates, cells, strict=True)]
    axes.errorbar(predicted, rates, errors, color=FILLED, linewidth=1, elinewidth=0.8, alpha=0.6)
    axes.scatter(
        predicted, rates, 20 + 120 * cells / cells.max(), facecolor="white", edgecolor=FILLED, zorder=3
    )
    axes.set(
        xlim=(-0.02, 1.02), ylim=(-0.02, 1.02), xlabel="predicted probability", ylabel="share that was 1"
    )
    axes.set_title(f"{label or 'all labels'}: {cells.sum()} held-out cells")
    return axes


def observed_against_filled(
    model: Any, X: Any, y: Any = None, *, column: str | int = 0, ax: "Axes | None" = None
) -> "Axes":
    """Draw the distribution of a feature's observed values, and of its filled ones.

    Parameters
    ----------
    model : CoCompleter
        Fitted.
    X, y : tables
        As for :meth:`~cocomplete.CoCompleter.report`.
    column : str or int, default=0
        Name or position of the feature.
    ax : Axes, optional

    Returns
    -------
    matplotlib.axes.Axes

    Raises
    ------
    InputError
        If there is no such feature.

    Examples
    --------
    >>> from cocomplete import CoCompleter, datasets, plot
    >>> table = datasets.make_low_rank_multilabel(60, 6, 2, 2, 0.6, random_state=0)
    >>> model = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.1).fit(table.X, table.Y)
    >>> plot.observed_against_filled(model, table.X, table.Y, column=2).get_ylabel()
    'share of the cells'
    """
    record = _record(model, X, y)
    found = _column(record, column)
    axes, distribution = axes_for(ax), found.distribution
    observed, filled = (_shares(counts) for counts in (distribution.observed, distribution.filled))
    words = f"observed ({found.observed})", f"filled ({found.filled})"
    if distribution.levels:
        places = np.arange(len(distribution.levels))
        axes.bar(places - 0.2, observed, 0.38, color=OBSERVED, label=words[0])
        axes.bar(places + 0.2, filled, 0.38, facecolor="none", edgecolor=FILLED, hatch=HATCH, label=words[1])
        axes.set_xticks(places, distribution.levels)
    else:
        _steps(axes, distribution, observed, filled, words)
    axes.set_ylabel("share of the cells")
    axes.set_title(record.given.columns[found.column].name)
    axes.legend(frameon=False)
    return axes


def _record(model: Any, X: Any, y: Any) -> ReportRecord:
    """Give the numbers of the report, so that picture and page never differ."""
    check_model(model)
    record: ReportRecord = model.report(X, y).record
    return record


def _known(what: str, name: str, names: Sequence[str]) -> str:
    """Refuse a name that is not there."""
    if name not in names:
        msg = f"{what} must be one of {', '.join(map(repr, names)) or 'no names at all'}; found {shown(name)}"
        raise InputError(msg)
    return name


def _column(record: ReportRecord, column: str | int) -> ColumnReport:
    names = [record.given.columns[one.column].name for one in record.columns]
    if isinstance(column, str):
        return record.columns[names.index(_known("column", column, names))]
    if not isinstance(column, int | np.integer) or not 0 <= column < len(names):
        msg = f"column must be a name, or a position from 0 to {len(names) - 1}; found {shown(column)}"
        raise InputError(msg)
    return record.columns[column]


def _shares(counts: Sequence[int]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.asarray(counts, dtype=float) / max(sum(counts), 1)


def _steps(
    axes: "Axes", distribution: Distribution, observed: Any, filled: Any, words: tuple[str, str]
) -> None:
    """Draw bars of what was observed and the outline of what was filled, ticks as the user writes values."""
    edges = np.asarray(distribution.edges)
    with np.errstate(over="ignore"):
        # matplotlib adds numbers up, of which the largest have no sum.
        axes.stairs(observed, edges, fill=True, color=OBSERVED, label=words[0])
        axes.stairs(filled, edges, color=FILLED, linewidth=1.8, label=words[1])
    axes.set_xticks([tick.value for tick in distribution.ticks], [tick.text for tick in distribution.ticks])


def _pooled(bins: Sequence[ReliabilityBin]) -> list[ReliabilityBin]:
    """Put bins of several labels together that stand for the same probabilities."""
    groups: dict[tuple[float, float], list[ReliabilityBin]] = {}
    for one in bins:
        groups.setdefault((one.low, one.high), []).append(one)
    pooled = []
    for (low, high), group in sorted(groups.items()):
        cells = [one.cells for one in group]
        predicted = float(np.average([one.predicted for one in group], weights=cells))
        rate = float(np.average([one.rate for one in group], weights=cells))
        pooled.append(ReliabilityBin(low, high, predicted, rate, sum(cells)))
    return pooled
