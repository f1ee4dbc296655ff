"""``cocomplete complete`` of a table on disk: a folder in, a folder out, some rows at a time."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cocomplete.exceptions import InputError

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.cli.columns import Choice
    from cocomplete.cli.completed import Counts
    from cocomplete.cli.reading import Reading
    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.formats.array_files import ArrayFiles
    from cocomplete.formats.frame_files import FrameFiles

HEAD_ROWS = 10_000
"""Rows by which it is decided which columns name rows."""


class Columns(NamedTuple):
    """Options that say what columns are."""

    labels: list[str] | None
    features: list[str] | None
    ignore: list[str] | None
    types: list[str] | None


class Wanted(NamedTuple):
    """Options that say what is written beside the table, and how."""

    model: Path | None
    proba: bool
    std: bool
    json: bool
    force: bool
    quiet: bool


def in_blocks(table: str, output: str) -> bool:
    """Tell whether a table is completed some rows at a time: a folder, or a file on its way to a folder."""
    return table != "-" and (Path(table).is_dir() or output.endswith(("/", os.sep)))


def refuse_for_blocks(table: str, reading: "Reading", **others: Any) -> None:
    """Refuse options of files that are read as a whole.

    Parameters
    ----------
    table : str
    reading : Reading
    **others : options that need the whole table, by name

    Raises
    ------
    InputError
    """
    for name, value in reading._asdict().items():
        if value and name != "missing":
            msg = f"--{name.replace('_', '-')} is for text files and workbooks; {table} has blocks with types"
            raise InputError(msg)
    for name, value in others.items():
        if value:
            msg = f"--{name} needs the whole table, and {table} is read some rows at a time; leave it out"
            raise InputError(msg)


def complete_blocks(
    table: str, output: str, columns: Columns, missing: list[str] | None, wanted: Wanted, **settings: Any
) -> "CoCompleter":
    """Fit a model to a table on disk and write it, completed, as a folder of Parquet files.

    Parameters
    ----------
    table, output : str
        Paths.
    columns : Columns
    missing : list of str or None
        Words for unknown.
    wanted : Wanted
    **settings : of the fit

    Raises
    ------
    InputError
        If the table cannot be read or the folder not be written.
    """
    from cocomplete.cli.columns import choose_columns
    from cocomplete.cli.completed import Counts, conclude, name_what_is_set_aside
    from cocomplete.cli.console import progress_line
    from cocomplete.cli.fitting import fitted, guarded
    from cocomplete.cli.locking import sole_writer
    from cocomplete.cli.reading import say_notes
    from cocomplete.formats.part_folder import check_free_folder, write_blocks
    from cocomplete.stored import StoredFrames, stored_files

    _check_output(table, output)
    check_free_folder(output, force=wanted.force)
    files = stored_files(table, missing=missing or ())
    head = _head(files)
    choice = choose_columns(head, **columns._asdict())
    say_notes(head, quiet=wanted.quiet)
    name_what_is_set_aside(choice.set_aside, quiet=wanted.quiet)
    stored, counts = StoredFrames(files, choice.features, choice.labels), Counts()
    with sole_writer(output):
        fit = fitted(choice, stored, None, table, quiet=wanted.quiet, **settings)
        with guarded(table, quiet=wanted.quiet), progress_line(quiet=wanted.quiet) as progress:
            blocks = _completed(fit, files, choice, counts, wanted, progress)
            write_blocks(output, blocks, force=wanted.force)
            if wanted.model is not None:
                fit.save(wanted.model)
    conclude(fit, counts, list(choice.features), output, json=wanted.json, quiet=wanted.quiet)
    return fit


def _check_output(table: str, output: str) -> None:
    from cocomplete.formats.parquet import ENDINGS
    from cocomplete.formats.registry import BY_ENDING

    ending = Path(output).suffix.lower()
    if output == "-" or (ending in BY_ENDING and ending not in ENDINGS):
        msg = (
            f"{table} is completed into a folder of Parquet files, and --output is {output}; name a folder, "
            "such as completed/"
        )
        raise InputError(msg)
    if Path(output).resolve() == Path(table).resolve():
        msg = f"--output {output} is the table itself; name another folder"
        raise InputError(msg)


def _head(files: "FrameFiles | ArrayFiles") -> Any:
    """Give the first rows as a table that is read as a whole."""
    from cocomplete.formats.table_file import TableFile
    from cocomplete.formats.unknown_words import sentinel_notes

    frame = files.read(0, min(HEAD_ROWS, files.height))
    return TableFile(
        frame, files.source, labels=files.labels or None, notes=sentinel_notes(frame, files.source)
    )


def _completed(
    model: "CoCompleter",
    files: "FrameFiles | ArrayFiles",
    choice: "Choice",
    counts: "Counts",
    wanted: Wanted,
    progress: Any,
) -> "Iterator[pl.DataFrame]":
    """Give some rows after the other with their holes filled, all columns of the files in them."""
    from cocomplete.cli.completed import with_columns, with_extras
    from cocomplete.engines.row_blocks import InProcess, row_bounds
    from cocomplete.table.block_table import COMPLETED_NUMBERS

    def filled(bounds: tuple[int, int]) -> "tuple[pl.DataFrame, pl.DataFrame]":
        frame = files.read(*bounds)
        X, y = choice.tables(frame)
        done = model.complete(X, y)
        whole = with_columns(frame, done)
        return frame, with_extras(whole, model, done, X.columns, proba=wanted.proba, std=wanted.std)

    blocks = row_bounds(files.height, len(files.names), COMPLETED_NUMBERS)
    for number, (before, after) in enumerate(InProcess.visit(blocks, filled), start=1):
        counts.add(*choice.tables(before))
        share = number / len(blocks)
        progress({"stage": "completing", "block": number, "blocks": len(blocks), "share": share})
        yield after
