"""``cocomplete complete``: a file in, the same table without holes out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocomplete.cli import options
from cocomplete.exceptions import InputError

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.cli.columns import Choice
    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.formats.table_file import TableFile

NOT_CONVERGED = 3


def complete(
    table: Annotated[str, typer.Argument(help="The file to complete; '-' reads CSV from standard input.")],
    labels: options.Labels = None,
    output: options.Output = "-",
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
    model: Annotated[Path | None, typer.Option(help="Save the model to this file, for predict.")] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a report of what was filled to this file, as HTML or .json.")
    ] = None,
    draws: Annotated[int, typer.Option(min=0, help="Draw so many completed tables, out.1.csv, …, too.")] = 0,
    fill: Annotated[
        str, typer.Option(help="'value' fills in what a column could hold, 'mean' means.")
    ] = "value",
    tol: Annotated[float, typer.Option(min=0, help="Relative duality gap to reach, with --strict.")] = 1e-3,
    seed: options.Seed = 0,
    jobs: options.Jobs = None,
    *,
    proba: Annotated[bool, typer.Option("--proba", help="Add a column 'P(label)' for every label.")] = False,
    std: Annotated[
        bool, typer.Option("--std", help="Add a column 'std(feature)' for every feature.")
    ] = False,
    quality: Annotated[
        bool | None,
        typer.Option(
            "--quality/--no-quality",
            help="Say of every column how wrong its held-out cells were; without, of all together.",
        ),
    ] = None,
    strict: Annotated[
        bool, typer.Option("--strict", help="Solve for a certificate too; exit with 3 if it misses --tol.")
    ] = False,
    keep: Annotated[bool, typer.Option("--keep", help="On Ctrl-C write the best answer so far.")] = False,
    json: options.Json = False,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Fill the unknown cells of TABLE, features and labels together.

    Empty cells, NA, n/a, NaN, null, - and ? are unknown. Observed cells come back exactly as they were.

    Example: cocomplete complete examples/patients.csv -l 'hat_*' -o done.csv --model patients.model
    """
    from cocomplete.cli.columns import choose_columns, row_names
    from cocomplete.cli.console import say
    from cocomplete.cli.fitting import fitted, guarded, limit_threads
    from cocomplete.cli.locking import sole_writer
    from cocomplete.cli.reading import Reading, read_file, say_notes, title_of
    from cocomplete.cli.value_texts import value_texts
    from cocomplete.formats.files import check_free, check_target, write_table

    _check_targets(output, draws, json=json)
    for target in (output, *_draw_paths(output, draws)):
        check_target(target, force=force)
    if report is not None:
        check_free(str(report), "report.html", force=force)
    limit_threads(jobs)
    reading = Reading(missing, separator, decimal, encoding, checked, sheet, skip_lines)
    read = read_file(table, reading)
    choice = choose_columns(read, labels=labels, features=features, ignore=ignore, types=types)
    say_notes(read, quiet=quiet)
    _name_what_is_set_aside(choice, quiet=quiet)
    X, y = choice.tables(read.frame)
    with sole_writer(output):
        fit = fitted(
            choice,
            X,
            y,
            table,
            quiet=quiet,
            random_state=seed,
            fill=fill,
            tol=tol,
            certify=strict,
            on_interrupt="keep" if keep else "raise",
        )
        with guarded(table, quiet=quiet):
            done = fit.complete(X, y)
            filled = _with_extras(_with_columns(read.frame, done), fit, done, X, proba=proba, std=std)
            write_table(filled, read, output)
            _write_draws(fit, X, y, read, output, draws)
            if model is not None:
                fit.save(model)
            if report is not None:
                names = row_names(read.frame, X.columns)
                fit.report(X, y, path=report, title=title_of(table), row_names=names, texts=value_texts(read))
                say(f"report written to {report}", quiet=quiet)
    _conclude(fit, X, y, output, json=json, quiet=quiet)
    with guarded(table, quiet=quiet):
        _say_quality(fit, X, y, quality=quality, quiet=quiet)
    if strict and not fit.converged_:
        raise typer.Exit(NOT_CONVERGED)


def _check_targets(output: str, draws: int, *, json: bool) -> None:
    if json and output == "-":
        msg = "--json writes to standard output, where the table goes; name a file with --output"
        raise InputError(msg)
    if draws and output == "-":
        msg = "--draws writes several tables, and standard output holds one; name a file with --output"
        raise InputError(msg)


def _draw_paths(output: str, draws: int) -> list[str]:
    file = Path(output)
    return [str(file.with_name(f"{file.stem}.{k}{file.suffix}")) for k in range(1, draws + 1)]


def _write_draws(
    model: "CoCompleter",
    X: "pl.DataFrame",
    y: "pl.DataFrame | None",
    read: "TableFile",
    output: str,
    draws: int,
) -> None:
    """Write drawn tables beside the completed one."""
    from cocomplete.formats.files import write_table

    drawn = model.sample_completions(draws, X, y) if draws else ()
    for path, one in zip(_draw_paths(output, draws), drawn, strict=True):
        write_table(_with_columns(read.frame, one), read, path)


def _say_quality(
    model: "CoCompleter",
    X: "pl.DataFrame",
    y: "pl.DataFrame | None",
    *,
    quality: bool | None,
    quiet: bool,
) -> None:
    """Say how wrong held-out cells were: nothing, of all together, or of every column too."""
    from cocomplete.cli.console import error_lines, say
    from cocomplete.cli.quality import quality_lines

    if quality is None or quality:
        for line in error_lines(model.validation_):
            say(line, quiet=quiet)
    if quality:
        for line in quality_lines(model.report(X, y).record):
            say(line, quiet=quiet)


def _name_what_is_set_aside(choice: "Choice", *, quiet: bool) -> None:
    """Say which columns take no part without having been named."""
    from cocomplete.cli.console import say

    for name, why in choice.set_aside.items():
        if why not in ("as asked for", "not among --features"):
            say(
                f"cocomplete: warning: column {name!r} is set aside ({why}); --types '{name}=…' makes it a "
                "feature, --ignore says that it is none",
                quiet=quiet,
            )


def _with_columns(frame: "pl.DataFrame", done: Any) -> "pl.DataFrame":
    """Put completed columns where they were."""
    for part in (done.X, done.Y):
        if part is not None:
            frame = frame.with_columns(part.get_columns())
    return frame


def _with_extras(
    frame: "pl.DataFrame", model: "CoCompleter", done: Any, X: "pl.DataFrame", *, proba: bool, std: bool
) -> "pl.DataFrame":
    """Add probabilities of labels and standard deviations of features."""
    import polars as pl

    extra = []
    if proba and model.n_labels_:
        names = model.encoded_names_[-model.n_labels_ :]
        extra += [pl.Series(f"P({name})", done.Y_proba[:, j].round(6)) for j, name in enumerate(names)]
    if std:
        extra += [pl.Series(f"std({name})", done.X_std[:, j]) for j, name in enumerate(X.columns)]
    return frame.with_columns(extra)


def _conclude(
    model: "CoCompleter",
    X: "pl.DataFrame",
    y: "pl.DataFrame | None",
    output: str,
    *,
    json: bool,
    quiet: bool,
) -> None:
    """Say what was filled and where it went."""
    from json import dumps

    from cocomplete.cli.console import say

    counts = [
        0 if part is None else int(part.null_count().sum_horizontal().item()) + _nans(part) for part in (X, y)
    ]
    sizes = [0 if part is None else part.height * part.width for part in (X, y)]
    if json:
        record = {
            "filled": dict(zip(("features", "labels"), counts, strict=True)),
            "cells": dict(zip(("features", "labels"), sizes, strict=True)),
            "kinds": dict(zip(X.columns, map(str, model.feature_types_), strict=True)),
            "held_out": {
                part: {name: value for name, value in found.items() if name != "candidates"}
                for part, found in (model.validation_ or {}).items()
                if isinstance(found, dict)
            },
            "output": output,
        }
        typer.echo(dumps(record, indent=2))
    where = "standard output" if output == "-" else output
    say(
        f"filled {counts[0]} of {sizes[0]} feature cells and {counts[1]} of {sizes[1]} label cells; "
        f"written to {where}",
        quiet=quiet,
    )


def _nans(part: "pl.DataFrame") -> int:
    return sum(int(column.is_nan().sum()) for column in part.get_columns() if column.dtype.is_float())
