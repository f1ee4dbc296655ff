"""``cocomplete complete``: a file in, the same table without holes out."""

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.completion import Completion
    from cocomplete.containers import Table
    from cocomplete.estimator.completer import CoCompleter

INTERRUPTED = 130


def complete(
    table: Annotated[str, typer.Argument(help="CSV or Parquet file; '-' reads CSV from standard input.")],
    labels: Annotated[
        list[str],
        typer.Option(
            "--labels",
            "-l",
            help="Label columns: names or glob patterns, comma-separated; repeatable.",
        ),
    ],
    output: Annotated[
        str, typer.Option("--output", "-o", help="Where to write; '-' is standard output, as CSV.")
    ] = "-",
    ignore: Annotated[
        list[str] | None,
        typer.Option("--ignore", "-i", help="Columns to carry over untouched and not use; same patterns."),
    ] = None,
    tol: Annotated[float, typer.Option(min=0, help="Relative duality gap to reach.")] = 1e-3,
    *,
    force: Annotated[bool, typer.Option("--force", help="Replace the output file if it exists.")] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")
    ] = False,
) -> None:
    """Fill the unknown cells of TABLE, features and labels together.

    Empty cells, NA, NaN, null and ? are unknown. Observed cells come back exactly as they were.
    """
    from cocomplete.formats.files import check_target

    check_target(output, force=force)

    from time import perf_counter

    import numpy as np

    from cocomplete.cli.console import error_lines, say
    from cocomplete.formats.columns import fill
    from cocomplete.formats.files import TableFile, read_table, write_table

    started = perf_counter()
    frame, separator = read_table(table)
    X, Y = _features_and_labels(frame, labels, ignore or [], table)
    model, done = _fitted_and_completed(X, Y, tol, table, quiet=quiet)
    for part, filled in ((X, done.X), (Y, done.Y)):
        frame = frame.with_columns(fill(frame[name], filled[:, j]) for j, name in enumerate(part.names or ()))
    write_table(TableFile(frame, separator), output)
    holes = [int(np.isnan(part.values).sum()) for part in (X, Y)]
    where = "standard output" if output == "-" else output
    say(
        f"filled {holes[0]} of {X.values.size} feature cells and {holes[1]} of {Y.values.size} label cells "
        f"in {perf_counter() - started:.1f} s; written to {where}",
        quiet=quiet,
    )
    for line in error_lines(model.validation_):
        say(line, quiet=quiet)


def _features_and_labels(
    frame: "pl.DataFrame", labels: list[str], ignore: list[str], path: str
) -> "tuple[Table, Table]":
    """Give the columns that the patterns name as labels, and those that neither pattern names."""
    from cocomplete.exceptions import InputError
    from cocomplete.formats.columns import select, to_numbers

    ignored = set(select(frame.columns, ignore, "--ignore", path))
    label_names = [name for name in select(frame.columns, labels, "--labels", path) if name not in ignored]
    feature_names = [name for name in frame.columns if name not in ignored and name not in set(label_names)]
    if not feature_names:
        msg = f"--labels and --ignore leave no feature column of {path}; at least one is needed"
        raise InputError(msg)
    return to_numbers(frame, feature_names, path), to_numbers(frame, label_names, path)


def _fitted_and_completed(
    X: "Table", Y: "Table", tol: float, path: str, *, quiet: bool
) -> "tuple[CoCompleter, Completion]":
    """Fit and complete with a line of progress; errors name the file."""
    from cocomplete.cli.console import plain_warnings, progress_line, say
    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.exceptions import InputError

    model = CoCompleter(tol=tol)
    try:
        with plain_warnings(quiet=quiet), progress_line(quiet=quiet) as progress:
            return model, model.fit(X, Y, progress=progress).complete(X, Y)
    except InputError as error:
        msg = f"{path}: {error}"
        raise InputError(msg) from error
    except KeyboardInterrupt:
        # typer would end with the same code, but without a word.
        say("cocomplete: interrupted; nothing was written")
        raise typer.Exit(INTERRUPTED) from None
