"""A file as a command reads it, by its options."""

from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from cocomplete.formats.table_file import TableFile


class Reading(NamedTuple):
    """Options of a command that concern a file; None leaves it to be found in the file."""

    missing: list[str] | None
    separator: str | None
    decimal: str | None
    encoding: str | None
    checked: str | None
    sheet: str | None
    skip_lines: int


def read_file(path: str, reading: Reading) -> "TableFile":
    """Read a table as the options say."""
    from cocomplete.formats.files import read_table

    return read_table(path, **reading._asdict() | {"missing": reading.missing or ()})


def title_of(path: str) -> str:
    """Give what a table is called in its report."""
    return "standard input" if path == "-" else Path(path).name


def say_notes(table: "TableFile", *, quiet: bool) -> None:
    """Say what was decided about a file that might have been decided otherwise."""
    from cocomplete.cli.console import say

    for note in table.notes:
        say(f"cocomplete: note: {note}", quiet=quiet)
