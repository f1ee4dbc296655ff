"""Figures drawn from records alone: what is not in the results file is not in the picture.

matplotlib is imported only when something is drawn.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any

import numpy as np

from cocomplete.exceptions import InputError
from cocomplete.experiments import figure_1, figure_2, regime, theorem
from cocomplete.experiments.runner import Record

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BLUE, VERMILION, GREEN, GREY = "#0072B2", "#D55E00", "#009E73", "#6B6B6B"
"""Colours of Okabe and Ito, which people with any kind of colour vision can distinguish."""

STYLE: dict[str, Any] = {
    "axes.grid": True,
    "axes.spines.right": False,
    "axes.spines.top": False,
    "axes.titlesize": 10,
    "figure.titlesize": 12,
    "grid.alpha": 0.25,
    "legend.frameon": False,
    "svg.fonttype": "path",  # so that it looks the same where the font is missing
    "svg.hashsalt": "cocomplete",  # so that the same figure has the same bytes
}

LINES: dict[str, dict[str, Any]] = {
    # Thin, because COCO-1 swings from one iteration to the next.
    "COCO-1": {"color": BLUE, "linestyle": "-", "linewidth": 0.9},
    "COCO-0": {"color": VERMILION, "linestyle": "-", "linewidth": 1.3},
    "COCO-1 exact": {"color": BLUE, "linestyle": "--", "marker": "o", "markersize": 3.5},
    "COCO-0 exact": {"color": VERMILION, "linestyle": "--", "marker": "s", "markersize": 3.5},
}
"""Colour is the objective, line and marker are the solver."""

LEGEND = {
    "COCO-1": "COCO-1, Algorithm 1",
    "COCO-0": "COCO-0, Algorithm 1",
    "COCO-1 exact": "COCO-1, exact solver",
    "COCO-0 exact": "COCO-0, exact solver",
}


def draw_figure_1(records: Iterable[Record]) -> "Figure":
    """Draw the singular values of CAL500's label matrix.

    Parameters
    ----------
    records : iterable of Record
        Those of other experiments are passed over, here and in every other drawing.

    Returns
    -------
    matplotlib.figure.Figure
    """
    record = _of(records, figure_1.NAME)[-1]
    values = np.array(record.figures["singular values"])
    share = np.cumsum(values**2) / np.sum(values**2)
    needed = int(np.searchsorted(share, 0.9)) + 1
    with _style():
        figure, axes = _panels(1, 1, (5.6, 3.8))
        (ax,) = axes.flat
        ax.plot(np.arange(1, values.size + 1), values, color=BLUE, marker=".", markersize=4, linewidth=1)
        ax.axvline(needed, color=GREY, linestyle=":", linewidth=1.2)
        ax.annotate(
            f"{needed} values hold 90 %\nof the sum of squares",
            (needed, values[0] / 2),
            (6, 0),
            textcoords="offset points",
            color=GREY,
        )
        ax.set(xlabel="position", ylabel="singular value", xlim=(0, values.size + 1), ylim=(0, None))
        ax.set_title(f"Figure 1: the {values.size} singular values of CAL500's labels have a heavy tail")
    return figure


def draw_figure_2(records: Iterable[Record]) -> "Figure":
    """Draw errors of X and Y against iterations, as the paper does, and against seconds beside them.

    A row of panels for each setting. Only the exact solver's time is comparable, so it is drawn there alone.
    """
    by_setting = _grouped(_of(records, figure_2.NAME), lambda record: _numbers(record, "n d l r observed"))
    with _style():
        rows = len(by_setting)
        figure, axes = _panels(rows, 4, (13.5, 0.9 + 3.1 * rows))
        drawn: dict[str, Any] = {}
        for row, (setting, group) in zip(axes, sorted(by_setting.items()), strict=True):
            curves = _one_each(group)
            for (error, abscissa), ax in zip(PANELS_2, row, strict=True):
                drawn |= _draw_curves(ax, curves, error, abscissa)
            row[0].annotate(
                _setting_title(setting),
                (0, 0.5),
                (-52, 0),
                xycoords="axes fraction",
                textcoords="offset points",
                rotation=90,
                ha="right",
                va="center",
                weight="bold",
            )
        names = [name for name in LINES if name in drawn]
        figure.legend(
            [drawn[name] for name in names],
            [LEGEND[name] for name in names],
            loc="outside lower center",
            ncols=len(names),
        )
        figure.suptitle("Figure 2: recovery errors along the iterations (left) and along the clock (right)")
    return figure


PANELS_2 = (("X", "iteration"), ("Y", "iteration"), ("X", "seconds"), ("Y", "seconds"))
"""Error and abscissa of the panels in a row."""


def _draw_curves(ax: "Axes", curves: dict[str, Record], error: str, abscissa: str) -> dict[str, Any]:
    """Draw one panel; give a line for each method in it."""
    clock = abscissa == "seconds"
    drawn, ends = {}, []
    for method, record in curves.items():
        exact = method.endswith("exact")
        if exact and not clock:
            continue
        figures = record.figures
        (drawn[method],) = ax.plot(figures[abscissa], figures[error], **LINES[method])
        if exact == clock:
            ends.append(f"{method.removesuffix(' exact')} {_short(figures[error][-1])}")
    ax.set_xlabel("seconds on the solver's clock" if clock else "iteration")
    ax.set_ylabel(f"{error} error")
    solver = "the exact solver" if clock else "Algorithm 1"
    ax.set_title(f"{error}: {solver} ends at\n{', '.join(ends)}" if ends else f"{error}: no record yet")
    if clock:
        ax.set_xscale("log")
    if error == "X":
        ax.set_yscale("log")
    else:
        ax.set_ylim(0, None)
    return drawn


def draw_theorem(records: Iterable[Record]) -> "Figure":
    """Draw the left side of Theorem 2 against |Ω|, and the bound's rate scaled to the first point.

    The bars span the seeds. A hollow point did not spend its trace norm: λ1 became negligible first.
    """
    tables = _grouped(_of(records, theorem.NAME), lambda record: _numbers(record, "n d l r"))
    sizes, table = max(tables.items(), key=lambda item: len(item[1]))
    by_share = sorted(_grouped(table, lambda record: record.setting["observed"]).items())
    shares = [share for share, _ in by_share]
    values = {
        name: [[record.figures[name] for record in group] for _, group in by_share]
        for name in ("observed cells", "left", "KL", "X part", "rate", "trace norm ratio")
    }
    mean = {name: np.array([np.mean(each) for each in found]) for name, found in values.items()}
    cells, left = mean["observed cells"], mean["left"]
    recovered = mean["X part"] < mean["KL"]
    # The bound has one slope; the measured side has two, before and after X is recovered.
    turns = 1 < np.count_nonzero(recovered) < recovered.size
    spans = [np.full(recovered.size, fill_value=True), recovered][: 1 + turns]
    ticks = [_tick(count, share) for count, share in zip(cells, shares, strict=True)]
    with _style():
        figure, axes = _panels(1, len(spans), (6.4 * len(spans), 5.6))
        for ax, span in zip(axes.flat, spans, strict=True):
            low, high = ([pick(each) for each in values["left"]] for pick in (min, max))
            _draw_sides(ax, span, mean, np.array([left - low, high - left]))
            ax.set_xticks(cells[span], [tick for tick, shown in zip(ticks, span, strict=True) if shown])
        everything = axes.flat[0]
        for name, label, color, line in (
            ("KL", "label part of the left side, KL", GREEN, ":"),
            ("X part", "feature part of the left side", VERMILION, "-."),
        ):
            everything.plot(cells, mean[name], color=color, linestyle=line, linewidth=1.6, label=label)
        if not _spent(mean).all():
            label = "hollow: λ1 became negligible before the trace norm was used up"
            everything.plot([], [], "o", color=BLUE, markerfacecolor="white", label=label)
        everything.set_ylabel("left side of Theorem 2")
        everything.set_title("over all shares: features are not recovered, then they are")
        if turns:
            # It spans less than a decade, where powers of ten show little.
            axes.flat[-1].yaxis.set_major_formatter("{x:g}")
            axes.flat[-1].yaxis.set_minor_formatter("{x:g}")
        axes.flat[-1].set_title("once features are recovered" if turns else "all shares of observed cells")
        for ax in axes.flat:
            handles, labels = ax.get_legend_handles_labels()
            order = sorted(range(len(labels)), key=lambda k: not labels[k].startswith("measured"))
            # Below the data, not over it: the curves cross the whole panel.
            ax.legend(
                [handles[k] for k in order],
                [labels[k] for k in order],
                loc="upper center",
                bbox_to_anchor=(0.5, -0.2),
            )
        figure.suptitle(
            "Theorem 2, its left side measured against its bound's rate "
            "(n = {}, d = {}, l = {}, r = {}; ".format(*sizes)
            + f"{_seeds(by_share[0][1])})"
        )
    return figure


def _draw_sides(ax: "Axes", span: Any, mean: dict[str, Any], bars: Any) -> None:
    """Draw the measured side and the rate over some of the shares, the rate scaled to the first of them."""
    x, y, rate = (mean[name][span] for name in ("observed cells", "left", "rate"))
    rate = rate * y[0] / rate[0]
    ax.errorbar(
        x, y, bars[:, span], color=BLUE, capsize=3, label=f"measured, mean and range: slope {_slope(x, y)}"
    )
    spent = _spent(mean)[span]
    for which, filling in ((spent, BLUE), (~spent, "white")):
        ax.plot(x[which], y[which], "o", color=BLUE, markerfacecolor=filling, markersize=7, zorder=3)
    ax.plot(
        x,
        rate,
        color=GREY,
        linestyle="--",
        label=f"the bound's rate from the first point: slope {_slope(x, rate)}",
    )
    ax.set(xscale="log", yscale="log", xlabel="observed cells |Ω|, and their share of the table")
    ax.tick_params(axis="x", which="minor", bottom=False, labelbottom=False)


def draw_regime(records: Iterable[Record]) -> "Figure":
    """Draw how far the answer stays from the observed features, against λ2 / λ1."""
    by_seed = _grouped(_of(records, regime.NAME), lambda record: record.seed)
    with _style():
        figure, axes = _panels(1, 1, (6.2, 4.0))
        (ax,) = axes.flat
        beyond = []
        for number, (seed, group) in enumerate(sorted(by_seed.items())):
            color, marker = ((BLUE, "o"), (VERMILION, "s"), (GREEN, "^"), (GREY, "D"))[number % 4]
            group.sort(key=lambda record: record.setting["ratio"])
            ratios = [record.setting["ratio"] for record in group]
            residuals = [record.figures["residual"] for record in group]
            beyond += [value for ratio, value in zip(ratios, residuals, strict=True) if ratio >= 1]
            ax.plot(
                ratios, residuals, color=color, marker=marker, markersize=4, linewidth=1, label=f"seed {seed}"
            )
        ax.axvline(1, color=GREY, linestyle="--", linewidth=1.2)
        ax.annotate(
            "λ2 = λ1",
            (1, 1),
            (5, 0),
            textcoords="offset points",
            xycoords=("data", "axes fraction"),
            va="top",
        )
        ax.set(xlabel="λ2 / λ1", yscale="log")
        ax.set_ylabel("‖P(X̂ − X)‖ / ‖P(X)‖ over observed features")
        ax.legend(loc="lower left")
        ends = f" (at most {max(beyond):.0e})" if beyond else ""
        ax.set_title(f"From λ2 = λ1 on, every observed feature is met\nup to the solver's accuracy{ends}")
    return figure


def render(figure: "Figure", about: str) -> dict[str, bytes]:
    """Give a figure as ``svg`` and as ``png``.

    Parameters
    ----------
    figure : matplotlib.figure.Figure
    about : str
        Written into both files where nobody sees it: what the figure was drawn from.

    Returns
    -------
    dict of str to bytes
        By suffix. The same figure has the same bytes every time, as far as matplotlib is the same.
    """
    files = {}
    with _style():
        for suffix, metadata in (
            ("svg", {"Date": None, "Creator": None, "Description": about}),
            ("png", {"Software": None, "Description": about}),
        ):
            content = BytesIO()
            figure.savefig(content, format=suffix, dpi=150, metadata=metadata)
            files[suffix] = content.getvalue()
    return files


@contextmanager
def _style() -> Iterator[None]:
    """Draw in the project's style, whatever the user's own settings are."""
    try:
        from matplotlib import style
    except ImportError as error:
        msg = "figures need matplotlib, which is not installed: pip install 'cocomplete[plots]'"
        raise InputError(msg) from error
    with style.context(["default", STYLE]):
        yield


def _panels(rows: int, columns: int, size: tuple[float, float]) -> tuple["Figure", Any]:
    """Give a figure of its own, without pyplot's memory, and an array of its axes."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=size, layout="constrained")
    return figure, figure.subplots(rows, columns, squeeze=False)


def _spent(mean: dict[str, Any]) -> Any:
    """Find where the trace norm's constraint was met with equality."""
    return mean["trace norm ratio"] >= 1 - theorem.MET


def _of(records: Iterable[Record], experiment: str) -> list[Record]:
    found = [record for record in records if record.experiment == experiment]
    if not found:
        msg = f"there is no record of {experiment} to draw; run it first"
        raise InputError(msg)
    return found


def _grouped(records: Iterable[Record], by: Callable[[Record], Hashable]) -> dict[Any, list[Record]]:
    groups = defaultdict(list)
    for record in records:
        groups[by(record)].append(record)
    return dict(groups)


def _one_each(records: Sequence[Record]) -> dict[str, Record]:
    """Give one record per method: the first seed's, with the most iterations."""
    order = sorted(records, key=lambda record: (-record.seed, record.setting.get("iterations", 0)))
    last = {record.method: record for record in order}
    return {method: last[method] for method in LINES if method in last}


def _numbers(record: Record, names: str) -> tuple[float, ...]:
    return tuple(record.setting[name] for name in names.split())


def _setting_title(setting: tuple[float, ...]) -> str:
    return "n = {}, d = {}, l = {}\nr = {}, {:.0%} observed".format(*setting)


def _seeds(records: Sequence[Record]) -> str:
    count = len({record.seed for record in records})
    return f"{count} seed{'s' if count > 1 else ''}"


def _slope(x: Sequence[float], y: Sequence[float]) -> str:
    return f"{theorem.fitted_slope(x, y):.2f}".replace("-", "−") if len(x) > 1 else "unknown"


def _tick(count: float, share: float) -> str:
    return f"{round(count, -2):,.0f}\n{share:.0%}".replace(",", " ")


def _short(value: float) -> str:
    return f"{value:.1e}" if value < 1e-3 else f"{value:.3f}"
