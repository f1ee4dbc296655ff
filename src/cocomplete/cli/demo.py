"""``cocomplete demo``: the main job on the embedded synthetic table, scored against its truth."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl
    from rich.table import Table
    from sklearn.utils import Bunch

    from cocomplete.completion import Completion


REPORT = "report.html"
"""Name of the report, beside the tables."""


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for tables and report.")] = Path(
        "cocomplete-demo"
    ),
    seed: Annotated[int, typer.Option(min=0, help="Seed of the synthetic table.")] = 0,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace files that differ.")] = False,
) -> None:
    """Complete a SYNTHETIC clinic table and compare with its known truth."""
    from rich.console import Console

    from cocomplete.baselines import MeanMode
    from cocomplete.cli.console import progress_line
    from cocomplete.datasets import make_clinic
    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.table.containers import Table

    clinic = make_clinic(random_state=seed)
    with progress_line() as progress:
        model = CoCompleter().fit(clinic.X, clinic.Y, progress=progress)
    done = model.complete(clinic.X, clinic.Y)
    plain = MeanMode().fit(clinic.X, clinic.Y).complete(clinic.X, clinic.Y)
    report = model.report(
        Table(clinic.X, tuple(clinic.feature_names)),
        Table(clinic.Y, tuple(clinic.label_names)),
        title="SYNTHETIC clinic table",
    )
    _write(_frames(clinic, done), report.to_html(), output, force=force)
    screen = Console(highlight=False, soft_wrap=True)
    screen.print(_comparison(clinic, done, plain))
    screen.print(f"{clinic.X.shape[0]} synthetic rows, no real patient among them; {model.rank_} factors.")
    screen.print(f"Completed table: {output / 'completed.csv'} (beside it incomplete.csv and truth.csv)")
    screen.print(f"Report, for any browser: {output / REPORT}")


def _comparison(clinic: "Bunch", done: "Completion", plain: "Completion") -> "Table":
    """Lay out both methods' errors on the held-out cells, whose truth is known."""
    import numpy as np
    from rich.table import Table

    from cocomplete.metrics import hamming_error, standardized_rmse

    X_known, Y_known = ~np.isnan(clinic.X), ~np.isnan(clinic.Y)
    table = Table(title="SYNTHETIC clinic table: error on held-out cells", title_justify="left", box=None)
    for heading in ("", "cells", "filled", "cocomplete", "mean / majority"):
        table.add_column(heading, justify="left" if not heading else "right")
    for kind, known, score, truth, ours, theirs in (
        ("features, standardised RMSE", X_known, standardized_rmse, clinic.X_true, done.X, plain.X),
        ("labels, share wrong", Y_known, hamming_error, clinic.Y_true, done.Y, plain.Y),
    ):
        table.add_row(
            kind,
            str(known.size),
            str(int((~known).sum())),
            f"{score(truth, ours, observed=known):.3f}",
            f"{score(truth, theirs, observed=known):.3f}",
        )
    return table


def _frames(clinic: "Bunch", done: "Completion") -> "dict[str, pl.DataFrame]":
    """Give the three tables by the names of their files."""
    import numpy as np
    import polars as pl

    tables = {
        "incomplete.csv": (clinic.X, clinic.Y),
        "completed.csv": (done.X, done.Y),
        "truth.csv": (clinic.X_true, clinic.Y_true),
    }
    names = [*clinic.feature_names, *clinic.label_names]
    return {
        name: pl.DataFrame(np.hstack(parts), schema=names)
        .fill_nan(None)
        .with_columns(pl.all().round_sig_figs(6))
        for name, parts in tables.items()
    }


def _write(frames: "dict[str, pl.DataFrame]", page: str, folder: Path, *, force: bool) -> None:
    """Write the three tables and the report, but never over something else that bears their name."""
    from cocomplete.atomic import write_atomically
    from cocomplete.exceptions import InputError
    from cocomplete.formats import delimited

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        msg = f"{folder} cannot be made: {error.strerror}; choose another folder with --output"
        raise InputError(msg) from error
    contents = {name: delimited.plain(frame) for name, frame in frames.items()} | {REPORT: page.encode()}
    for name in contents:
        target = folder / name
        if target.exists() and target.read_bytes() != contents[name] and not force:
            msg = f"{target} exists and differs; choose another --output or add --force to replace it"
            raise InputError(msg)
    for name, content in contents.items():
        write_atomically(folder / name, content)
