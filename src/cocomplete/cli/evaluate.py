"""``cocomplete evaluate``: how wrong the fills are, column by column, on cells that are held out."""

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocomplete.cli import options

if TYPE_CHECKING:
    import polars as pl


def evaluate(
    table: Annotated[str, typer.Argument(help="The file to evaluate on; '-' reads CSV from standard input.")],
    labels: options.Labels = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    types: options.Types = None,
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    checked: options.Checked = None,
    sheet: options.Sheet = None,
    skip_lines: options.SkipLines = 0,
    share: Annotated[float, typer.Option(min=0.01, max=0.9, help="Share of known cells held out.")] = 0.1,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    *,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Hold known cells of TABLE out, fill them from the rest, and compare: beside the trivial answer.

    Example: cocomplete evaluate examples/patients.csv --labels 'hat_*'
    """
    from cocomplete.cli.columns import choose_columns
    from cocomplete.cli.fitting import fitted, guarded, limit_threads
    from cocomplete.cli.reading import Reading, read_file, say_notes
    from cocomplete.model_selection import EntryShuffleSplit

    limit_threads(jobs)
    reading = Reading(missing, separator, decimal, encoding, checked, sheet, skip_lines)
    read = read_file(table, reading)
    choice = choose_columns(read, labels=labels, features=features, ignore=ignore, types=types)
    say_notes(read, quiet=quiet)
    X, y = choice.tables(read.frame)
    splitter = EntryShuffleSplit(n_splits=1, test_size=share, random_state=seed)
    with guarded(table, quiet=quiet):
        split = next(iter(splitter.split_entries(X, y)))
    model = fitted(choice, split.X_train, split.y_train, table, quiet=quiet, random_state=seed)
    with guarded(table, quiet=quiet):
        done = model.complete(split.X_train, split.y_train)
    rows = _errors(X, split.X_train, done.X, split.X_hidden)
    if y is not None:
        rows += _errors(y, split.y_train, done.Y, split.y_hidden)
    if json:
        typer.echo(dumps(rows, indent=2))
    else:
        _show(rows)


def _errors(
    truth: "pl.DataFrame", seen: "pl.DataFrame", done: "pl.DataFrame", held: Any
) -> list[dict[str, Any]]:
    """Compare every column's held-out cells with its fills, and with its mean or commonest value."""
    import numpy as np

    rows = []
    for j, name in enumerate(truth.columns):
        own = np.flatnonzero(held[:, j])
        if not own.size:
            continue
        parts = (truth[name][own], done[name][own], seen[name].drop_nulls())
        dtype = seen[name].dtype
        if dtype.is_temporal() or (dtype.is_numeric() and parts[2].n_unique() > 2):
            error, trivial = _amounts_off(*(_amounts(part) for part in parts))
            measure = "off by, in standard deviations"
        else:
            real, guess, known = parts
            commonest = known.mode().sort()[0] if known.len() else None
            error, trivial = _shares_wrong(real, guess, commonest)
            measure = "share wrong"
        rows.append(
            {"column": name, "cells": int(own.size), "measure": measure, "error": error, "trivial": trivial}
        )
    return rows


def _shares_wrong(real: "pl.Series", guess: "pl.Series", commonest: Any) -> tuple[float, float]:
    """Shares of cells in which the fills, and the commonest value, are not what was held out."""
    fills = sum(one != other for one, other in zip(real, guess, strict=True))
    return fills / len(real), sum(one != commonest for one in real) / len(real)


def _amounts(column: "pl.Series") -> Any:
    """Give numbers, or dates as microseconds, as an array of floats."""
    import polars as pl

    if column.dtype.is_temporal():
        column = column.cast(pl.Datetime("us")).cast(pl.Int64)
    return column.cast(pl.Float64).to_numpy()


def _amounts_off(real: Any, guess: Any, known: Any) -> tuple[float, float]:
    """Root mean squared errors of fills and of the mean, in standard deviations of what was seen."""
    import numpy as np

    known = known[~np.isnan(known)]
    spread = float(known.std()) or 1.0
    fills, means = (float(np.sqrt(np.mean((each - real) ** 2))) / spread for each in (guess, known.mean()))
    return fills, means


def _show(rows: list[dict[str, Any]]) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=None)
    for heading in ("column", "cells", "measure", "cocomplete", "mean / commonest value"):
        table.add_column(heading, justify="left" if heading in ("column", "measure") else "right")
    for row in rows:
        table.add_row(
            escape(row["column"]),
            str(row["cells"]),
            row["measure"],
            f"{row['error']:.3f}",
            f"{row['trivial']:.3f}" + ("" if row["error"] <= row["trivial"] else "  better"),
        )
    Console(highlight=False, soft_wrap=True).print(table)
