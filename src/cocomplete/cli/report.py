"""``cocomplete report``: one page that tells what was filled, how sure it is and how wrong it may be."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocomplete.cli import options

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.formats.table_file import TableFile

PAGE = "report.html"
"""Where a page goes that was given no name."""


def report(
    table: Annotated[str, typer.Argument(help="The file to report on; '-' reads CSV from standard input.")],
    labels: options.Labels = None,
    output: Annotated[
        str | None,
        typer.Option("--output", "--out", "-o", help=f"The page to write; {PAGE} unless --json is given."),
    ] = None,
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
    model: Annotated[
        Path | None, typer.Option(help="A model that complete --model has saved, instead of a new fit.")
    ] = None,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    *,
    json: options.Json = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write one HTML page about TABLE: how wrong held-out cells were, what was filled, how sure, and why.

    The page holds everything itself, opens in any browser without a network, and is the same for the same
    table.

    Example: cocomplete report examples/patients.csv --labels 'hat_*' --output patients.html
    """
    from cocomplete.cli.columns import row_names
    from cocomplete.cli.console import say
    from cocomplete.cli.fitting import guarded, limit_threads
    from cocomplete.cli.locking import sole_writer
    from cocomplete.cli.reading import Reading, read_file, say_notes, title_of
    from cocomplete.cli.value_texts import value_texts
    from cocomplete.formats.files import check_free

    target = PAGE if output is None and not json else output
    if target is not None:
        check_free(target, PAGE, force=force)
    limit_threads(jobs)
    reading = Reading(missing, separator, decimal, encoding, checked, sheet, skip_lines)
    read = read_file(table, reading)
    say_notes(read, quiet=quiet)
    if model is None:
        fit, X, y = _fitted(
            read, table, seed, quiet=quiet, labels=labels, features=features, ignore=ignore, types=types
        )
    else:
        fit, X, y = _loaded(model, read, table)
    with sole_writer(target or "-"), guarded(table, quiet=quiet):
        names = row_names(read.frame, (*X.columns, *(() if y is None else y.columns)))
        found = fit.report(X, y, title=title_of(table), row_names=names, texts=value_texts(read))
        if json:
            typer.echo(found.to_json())
        if target is not None:
            found.save(target)
            say(f"report written to {target}", quiet=quiet)
    say(found.record.verdict.sentence, quiet=quiet)


def _fitted(
    read: "TableFile", table: str, seed: int, *, quiet: bool, **chosen: list[str] | None
) -> "tuple[CoCompleter, pl.DataFrame, pl.DataFrame | None]":
    """Fit a model to the columns that were chosen."""
    from cocomplete.cli.columns import choose_columns
    from cocomplete.cli.fitting import fitted

    choice = choose_columns(read, **chosen)
    X, y = choice.tables(read.frame)
    return fitted(choice, X, y, table, quiet=quiet, random_state=seed), X, y


def _loaded(
    model: Path, read: "TableFile", table: str
) -> "tuple[CoCompleter, pl.DataFrame, pl.DataFrame | None]":
    """Take a saved model, and the columns of its fit."""
    from cocomplete.cli.predict import columns_of_fit
    from cocomplete.estimator.loading import load

    fit = load(model)
    return fit, *columns_of_fit(fit, read.frame, table, str(model))
