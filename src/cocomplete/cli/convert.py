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
    checked: options.Checked = None,
    sheet: options.Sheet = None,
    skip_lines: options.SkipLines = 0,
    *,
    force: options.Force = False,
    quiet: options.Quiet = False,
) -> None:
    """Write TABLE as another kind of file, with its types, names and unknown cells.

    Example: cocomplete convert examples/patients.csv patients.parquet
    """
    from dataclasses import replace

    from cocomplete.cli.console import say
    from cocomplete.cli.locking import sole_writer
    from cocomplete.cli.reading import Reading, read_file, say_notes
    from cocomplete.formats.columns import select
    from cocomplete.formats.files import check_target, write_table

    check_target(output, force=force)
    reading = Reading(missing, separator, decimal, encoding, checked, sheet, skip_lines)
    read = read_file(table, reading)
    say_notes(read, quiet=quiet)
    if labels is not None:
        read = replace(read, labels=tuple(select(read.frame.columns, labels, "--labels", read.source)))
    with sole_writer(output):
        write_table(read.frame, read, output)
    where = "standard output" if output == "-" else output
    say(f"{read.frame.height} rows and {read.frame.width} columns written to {where}", quiet=quiet)
