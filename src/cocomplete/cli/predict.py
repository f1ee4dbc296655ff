"""``cocomplete predict``: new rows completed by a saved model."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from cocomplete.cli import options
from cocomplete.exceptions import InputError

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.estimator.completer import CoCompleter


def predict(
    model: Annotated[Path, typer.Argument(help="A model that complete --model has saved.")],
    table: Annotated[str, typer.Argument(help="The rows to complete; '-' reads CSV from standard input.")],
    output: options.Output = "-",
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    checked: options.Checked = None,
    sheet: options.Sheet = None,
    skip_lines: options.SkipLines = 0,
    jobs: options.Jobs = None,
    *,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column 'P(label)' for every label.")] = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Complete rows that the model has never seen; labels are added where TABLE does not have them.

    The columns of the fit are found by name; others are carried over.

    Example: cocomplete predict patients.model examples/patients.csv -o predicted.csv
    """
    import polars as pl

    from cocomplete.cli.console import say
    from cocomplete.cli.fitting import guarded, limit_threads
    from cocomplete.cli.locking import sole_writer
    from cocomplete.cli.reading import Reading, read_file, say_notes
    from cocomplete.estimator.loading import load
    from cocomplete.formats.files import check_target, write_table

    check_target(output, force=force)
    limit_threads(jobs)
    fitted = load(model)
    reading = Reading(missing, separator, decimal, encoding, checked, sheet, skip_lines)
    read = read_file(table, reading)
    say_notes(read, quiet=quiet)
    X, y = columns_of_fit(fitted, read.frame, table, str(model))
    with sole_writer(output), guarded(table, quiet=quiet):
        done = fitted.complete(X, y)
        frame = read.frame.with_columns(done.X.get_columns())
        if done.Y is not None:
            frame = frame.with_columns(done.Y.get_columns())
        if proba and fitted.n_labels_:
            names = fitted.encoded_names_[-fitted.n_labels_ :]
            frame = frame.with_columns(
                pl.Series(f"P({name})", done.Y_proba[:, j].round(6)) for j, name in enumerate(names)
            )
        write_table(frame, read, output)
    where = "standard output" if output == "-" else output
    say(f"completed {frame.height} rows; written to {where}", quiet=quiet)


def columns_of_fit(
    model: "CoCompleter", frame: "pl.DataFrame", table: str, file: str
) -> "tuple[pl.DataFrame, pl.DataFrame | None]":
    """Find the columns of the fit by name; labels that are not there are unknown."""
    import polars as pl

    names = getattr(model, "feature_names_in_", None)
    if names is None:
        msg = f"{file} was fitted without column names, by which columns of {table} could be found"
        raise InputError(msg)
    absent = [str(name) for name in names if name not in frame.columns]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        msg = (
            f"{table} has no column {absent[0]!r}{more}, which {file} was fitted with; "
            "add it, empty if unknown"
        )
        raise InputError(msg)
    labels = [str(name) for name in getattr(model, "label_names_in_", ())]
    if not any(name in frame.columns for name in labels):
        return frame.select(map(str, names)), None
    blank = [pl.lit(None).alias(name) for name in labels if name not in frame.columns]
    return frame.select(map(str, names)), frame.with_columns(blank).select(labels)
