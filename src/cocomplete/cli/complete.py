"""``cocomplete complete``: a file or folder in, the same table without holes out."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from cocomplete.cli import options
from cocomplete.exceptions import InputError

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.formats.table_file import TableFile

NOT_CONVERGED = 3


def complete(
    table: Annotated[
        str,
        typer.Argument(
            help="The file to complete, '-' for CSV from standard input, or a folder of Parquet, Arrow or "
            "NumPy files, which is read some rows at a time."
        ),
    ],
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
    checkpoint: Annotated[
        Path | None,
        typer.Option(help="A folder for what the fit has reached; run again, it goes on from there."),
    ] = None,
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
    force_memory: Annotated[
        bool, typer.Option("--force-memory", help="Begin even if more memory is needed than there is.")
    ] = False,
    quiet: options.Quiet = False,
) -> None:
    """Fill the unknown cells of TABLE, features and labels together.

    Empty cells, NA, n/a, NaN, null, - and ? are unknown. Observed cells come back exactly as they were. A
    folder is completed into a folder, and needs memory for some of its rows alone.

    Example: cocomplete complete examples/patients.csv -l 'hat_*' -o done.csv --model patients.model
    """
    from cocomplete.cli.columns import choose_columns, row_names
    from cocomplete.cli.complete_blocks import Columns, Wanted, complete_blocks, in_blocks, refuse_for_blocks
    from cocomplete.cli.completed import Counts, conclude, name_what_is_set_aside, with_columns, with_extras
    from cocomplete.cli.console import say
    from cocomplete.cli.fitting import fitted, guarded, limit_threads
    from cocomplete.cli.locking import sole_writer
    from cocomplete.cli.reading import Reading, read_file, say_notes, title_of
    from cocomplete.cli.value_texts import value_texts
    from cocomplete.formats.files import check_free, check_target, write_table

    reading = Reading(missing, separator, decimal, encoding, checked, sheet, skip_lines)
    settings: dict[str, Any] = {"random_state": seed, "fill": fill, "tol": tol, "certify": strict}
    settings |= {"on_interrupt": "keep" if keep else "raise", "checkpoint": checkpoint, "force": force_memory}
    if in_blocks(table, output):
        refuse_for_blocks(table, reading, draws=draws, report=report, quality=quality)
        limit_threads(jobs)
        columns = Columns(labels, features, ignore, types)
        wanted = Wanted(model, proba, std, json, force, quiet)
        fit = complete_blocks(table, output, columns, missing, wanted, **settings)
        _say_quality(fit, None, None, quality=quality, quiet=quiet)
        _exit_by(fit, strict=strict)
    _check_targets(output, draws, json=json)
    for target in (output, *_draw_paths(output, draws)):
        check_target(target, force=force)
    if report is not None:
        check_free(str(report), "report.html", force=force)
    limit_threads(jobs)
    read = read_file(table, reading)
    choice = choose_columns(read, labels=labels, features=features, ignore=ignore, types=types)
    say_notes(read, quiet=quiet)
    name_what_is_set_aside(choice.set_aside, quiet=quiet)
    X, y = choice.tables(read.frame)
    with sole_writer(output):
        fit = fitted(choice, X, y, table, quiet=quiet, **settings)
        with guarded(table, quiet=quiet):
            done = fit.complete(X, y)
            filled = with_extras(with_columns(read.frame, done), fit, done, X.columns, proba=proba, std=std)
            write_table(filled, read, output)
            _write_draws(fit, X, y, read, output, draws)
            if model is not None:
                fit.save(model)
            if report is not None:
                names = row_names(read.frame, X.columns)
                fit.report(X, y, path=report, title=title_of(table), row_names=names, texts=value_texts(read))
                say(f"report written to {report}", quiet=quiet)
    counts = Counts()
    counts.add(X, y)
    conclude(fit, counts, X.columns, output, json=json, quiet=quiet)
    with guarded(table, quiet=quiet):
        _say_quality(fit, X, y, quality=quality, quiet=quiet)
    _exit_by(fit, strict=strict)


def _exit_by(model: "CoCompleter", *, strict: bool) -> NoReturn:
    """End with the code that tells whether the certificate is good enough."""
    raise typer.Exit(NOT_CONVERGED if strict and not model.converged_ else 0)


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
    from cocomplete.cli.completed import with_columns
    from cocomplete.formats.files import write_table

    drawn = model.sample_completions(draws, X, y) if draws else ()
    for path, one in zip(_draw_paths(output, draws), drawn, strict=True):
        write_table(with_columns(read.frame, one), read, path)


def _say_quality(
    model: "CoCompleter",
    X: "pl.DataFrame | None",
    y: "pl.DataFrame | None",
    *,
    quality: bool | None,
    quiet: bool,
) -> None:
    """Say how wrong held-out cells were: nothing, of all together, or, of a whole table, by column too."""
    from cocomplete.cli.console import error_lines, say
    from cocomplete.cli.quality import quality_lines

    if quality is None or quality:
        for line in error_lines(model.validation_):
            say(line, quiet=quiet)
    if quality:
        for line in quality_lines(model.report(X, y).record):
            say(line, quiet=quiet)
