"""Tables, figures and a summary page, rebuilt from stored results alone."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from cocomplete.atomic import write_atomically
from cocomplete.experiments import figure_1, figure_2, regime, table_1, table_2, theorem, verdicts
from cocomplete.experiments.plots import draw_figure_1, draw_figure_2, draw_regime, draw_theorem, render
from cocomplete.experiments.runner import Record, Results, Trial
from cocomplete.experiments.tables import Table, write_all

README = "README.md"


class Page(NamedTuple):
    """How an experiment is shown.

    Attributes
    ----------
    title : str
    trials : callable
        Gives the full run.
    tables : callable or None
        Gives tables of records.
    draw : callable or None
        Gives a figure of records.
    verdicts : callable
        Gives sentences on records.
    """

    title: str
    trials: Callable[[], list[Trial]]
    tables: Callable[[Sequence[Record]], list[Table]] | None
    draw: Callable[[Sequence[Record]], Any] | None
    verdicts: Callable[[Sequence[Record]], list[str]]


PAGES = {
    table_1.NAME: Page(
        "Table 1, synthetic data", table_1.full_run, table_1.tables, None, verdicts.table_1_verdicts
    ),
    table_2.NAME: Page("Table 2, CAL500", table_2.trials, table_2.tables, None, verdicts.table_2_verdicts),
    figure_1.NAME: Page(
        "Figure 1, singular values", figure_1.trials, None, draw_figure_1, verdicts.figure_1_verdicts
    ),
    figure_2.NAME: Page(
        "Figure 2, errors by iteration", figure_2.trials, None, draw_figure_2, verdicts.figure_2_verdicts
    ),
    theorem.NAME: Page(
        "Theorem 2, the bound's rate", theorem.trials, None, draw_theorem, verdicts.theorem_verdicts
    ),
    regime.NAME: Page(
        "λ2 at or above λ1: interpolation", regime.trials, None, draw_regime, verdicts.regime_verdicts
    ),
}
"""Every experiment, in the order in which the summary has it."""


def results(folder: Path, name: str) -> Results:
    """Give the results file of an experiment in a folder."""
    return Results(folder / "results" / f"{name}.jsonl")


def digest(records: Sequence[Record]) -> str:
    """Name a set of records by its content; drawings carry the name of what they were drawn from."""
    lines = sorted(json.dumps([record.key, record.figures], sort_keys=True) for record in records)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def build(folder: Path) -> dict[str, bytes]:
    """Give the content of every page that the results in a folder allow, by file name."""
    found = {name: results(folder, name).read() for name in PAGES}
    files: dict[str, bytes] = {}
    for name, page in PAGES.items():
        if found[name]:
            files |= _files(name, page, found[name])
    files[README] = _summary(found).encode()
    return files


def write(folder: Path) -> list[Path]:
    """Write the pages beside the results; what has not changed stays untouched."""
    written = []
    for name, content in build(folder).items():
        target = folder / name
        if not target.exists() or target.read_bytes() != content:
            target.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(target, content)
            written.append(target)
    return written


def _files(name: str, page: Page, records: Sequence[Record]) -> dict[str, bytes]:
    files = {}
    if page.tables is not None:
        for suffix, text in write_all(page.tables(records), page.title).items():
            files[f"{name}.{suffix}"] = text.encode()
    if page.draw is not None:
        for suffix, content in render(page.draw(records), f"records {digest(records)}").items():
            files[f"{name}.{suffix}"] = content
    return files


def _stored(page: Page, records: Sequence[Record]) -> str:
    """Give how much of the full run there is."""
    planned = {trial.key for trial in page.trials()}
    kept = len(planned & {record.key for record in records})
    if kept == len(planned):
        return f"All {kept} trials of the full run are stored."
    return f"{kept} of the full run's {len(planned)} trials are stored so far."


def _summary(found: dict[str, list[Record]]) -> str:
    parts = [
        "# The paper, reproduced",
        "Every figure on this page is worked out from the records in `results/` (one line per trial) by "
        "`make reproduction-pages`; none is typed by hand. `make reproduction` runs what is missing, and "
        "may be "
        "interrupted at any time. Numbers in brackets are the paper's; **bold** is the best and what a "
        "paired "
        "one-sided t-test at 95 % does not find worse, as in the paper; ≠ marks a mean more than three of "
        "the paper's "
        "standard deviations away from its figure.",
    ]
    for name, page in PAGES.items():
        if not found[name]:
            continue
        parts.append(f"## {page.title}")
        sentences = [*page.verdicts(found[name]), _stored(page, found[name])]
        parts.append("\n".join(f"- {sentence}" for sentence in sentences))
        if page.tables is not None:
            parts += [table.markdown().strip() for table in page.tables(found[name])]
            parts.append(f"Also as [LaTeX]({name}.tex) and [HTML]({name}.html).")
        if page.draw is not None:
            parts.append(f"![{page.title}]({name}.png)")
    parts += ["## What the paper leaves open", verdicts.OPEN_POINTS.strip()]
    took = verdicts.costs([record for records in found.values() for record in records])
    if took:
        parts += ["## What it took", "\n".join(f"- {sentence}" for sentence in took)]
    return "\n\n".join(parts) + "\n"
