"""The page of the benchmark on many tables: the report, notes and a picture, made of the records alone."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from collection import half
from holes import MECHANISMS
from scoreboard import OURS
from table_cases import SHARES, Key
from table_report import MEASURES, NEAR_BEST, Comparison, Records, compare, render

PICTURE = "tables.png"

DRAWN = ("rmse", "yes_no", "log_loss", "new_rmse", "new_yes_no", "new_log_loss")
"""Measures that the picture shows."""

RANGE = (0.5, 2.0)
"""Ratios outside are drawn at the edge."""

NOTES = """\
{tables} real tables that come inside wheels (and three Mulan sets), {rows} rows or fewer for most of them.
Four mechanisms hold out cells (benchmarks/holes.py): at random, depending on another column, depending on the
cell's own value, and in blocks. Every table sees each mechanism once and each share of held-out cells (10,
30, 50, 80 %) once, in up to three seeds: {seeds}.
80 % of the rows are trained on; the other rows are new, with the same kind of
holes in their features and all labels unknown. Only held-out cells are scored (benchmarks/table_scores.py
says how). Rivals choose a setting for features and one for labels on 12.5 % of the observed cells, held out;
{ours} has its defaults.

Ratios are of means over seeds, and above 1 means that {ours} is worse (average precision is turned over).
"Trivial" is the column mean and the label rate; "best" is the best of all rivals for that table, kind of
holes and measure, picked by its error on the held-out cells themselves. "≤" gives the share of tables within
the bound. Tables are in two halves by a hash of their names (benchmarks/halves.json): one to choose between
versions of {ours}, the other to confirm the choice; confirm-looks.txt says how often that was done."""


def write_page(folder: Path, records: Records, keys: Iterable[Key]) -> None:
    """Write ``tables.md``, and its picture if matplotlib is there.

    Parameters
    ----------
    folder : Path
        Of the records.
    records : mapping of case and method to record
    keys : iterable of Key
        Cases the page shows.
    """
    keys = list(keys)
    tables = len({key.table for key in keys})
    notes = NOTES.format(tables=tables, rows=600, ours=OURS, seeds=_seeds_on_record(records, keys))
    parts = ["# Many tables, four kinds of holes", notes]
    if _draw(folder / PICTURE, compare(records, keys)):
        halves = " and ".join(sorted({half(key.table) for key in keys}))
        parts.append(f"![Ratios to the best rival, per table; tables to {halves}]({PICTURE})")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "tables.md").write_text("\n\n".join([*parts, render(records, keys)]))


def _seeds_on_record(records: Records, keys: list[Key]) -> str:
    """Say how many seeds of how many tables there are."""
    seeds: dict[tuple[str, str], set[int]] = defaultdict(set)
    for key in keys:
        if (key, OURS) in records:
            seeds[half(key.table), key.table].add(key.seed)
    counts = Counter((name, len(own)) for (name, _), own in seeds.items())
    return ", ".join(f"{n} of {tables} tables to {name}" for (name, n), tables in sorted(counts.items()))


def _draw(path: Path, comparisons: list[Comparison]) -> bool:
    """Draw one dot per table and kind of holes, one panel per measure."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        return False
    if not comparisons:
        return False
    tables = sorted(
        {each.group.table for each in comparisons}, key=lambda name: (half(name), name), reverse=True
    )
    figure = Figure(figsize=(13, 1.6 + 0.17 * len(tables)), layout="constrained")
    panels = figure.subplots(1, len(DRAWN), sharey=True)
    for panel, measure in zip(panels, DRAWN, strict=True):
        _draw_panel(panel, [each for each in comparisons if each.measure.key == measure], tables)
        panel.set_title(next(each.title for each in MEASURES if each.key == measure), fontsize=9)
    panels[0].set_yticks(range(len(tables)), [f"{name} ({half(name)})" for name in tables], fontsize=7)
    panels[0].set_ylim(-1, len(tables))
    handles = [
        figure.axes[0].scatter([], [], c=f"C{i}", s=14, label=f"{share:.0%} held out")
        for i, share in enumerate(SHARES)
    ]
    handles += [
        figure.axes[0].scatter([], [], c="grey", s=14, marker=marker, label=name)
        for name, marker in zip(MECHANISMS, "osv^", strict=True)
    ]
    figure.legend(handles=handles, loc="outside lower center", ncols=8, fontsize=8)
    label = "loss divided by the best rival's (left of 1 is better); grey bars: by the trivial answer's"
    figure.suptitle(label, fontsize=9)
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=70, pil_kwargs={"optimize": True})
    return True


def _draw_panel(panel: Any, comparisons: list[Comparison], tables: list[str]) -> None:
    place = {name: i for i, name in enumerate(tables)}
    markers = dict(zip(MECHANISMS, "osv^", strict=True))
    for i in range(0, len(tables), 2):
        panel.axhspan(i - 0.5, i + 0.5, color="0.96", zorder=0)
    for each in comparisons:
        y, group = place[each.group.table], each.group
        panel.plot(np.clip(each.to_trivial, *RANGE), y, marker="|", color="0.7", markersize=5, zorder=1)
        colour = f"C{SHARES.index(group.share)}"
        panel.scatter(
            np.clip(each.to_best, *RANGE), y, s=11, c=colour, marker=markers[group.mechanism], zorder=2
        )
    panel.axvline(1, color="0.3", linewidth=0.8)
    panel.axvline(NEAR_BEST, color="0.6", linewidth=0.8, linestyle=":")
    panel.set_xscale("log")
    panel.set_xlim(RANGE[0] / 1.05, RANGE[1] * 1.05)
    panel.set_xticks((0.5, 0.7, 1, 1.4, 2), ("0.5", "0.7", "1", "1.4", "2"), fontsize=7)
    panel.minorticks_off()
