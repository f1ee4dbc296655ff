"""``cocomplete convert``: a table from one kind of file to another."""

from typing import Annotated

import typer

from cocomplete.cli import options


def convert(
    table: Annotated[str, typer.Argument(help="The file to read; '-' reads CSV from standard input.")],
    output: Annotated[str, typer.Argument(help="The file to write: its ending says what it will be.")],
    labels: options.Labels = None,
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    sheet: options.Sheet = None,
    *,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write TABLE as another kind of file, with its types, names and unknown cells.

    Example: cocomplete convert patients.csv patients.parquet
    """
    from dataclasses import replace

    from cocomplete.cli.console import say
    from cocomplete.cli.locking import sole_writer
    from cocomplete.formats.columns import select
    from cocomplete.formats.files import check_target, read_table, write_table

    check_target(output, force=force)
    read = read_table(
        table, missing=missing or (), separator=separator, decimal=decimal, encoding=encoding, sheet=sheet
    )
    for note in read.notes:
        say(f"cocomplete: note: {note}", quiet=quiet)
    if labels is not None:
        read = replace(read, labels=tuple(select(read.frame.columns, labels, "--labels", read.source)))
    with sole_writer(output):
        write_table(read.frame, read, output)
    where = "standard output" if output == "-" else output
    say(f"{read.frame.height} rows and {read.frame.width} columns written to {where}", quiet=quiet)
