"""A folder of Parquet files with blocks of a table, that appears whole or not at all."""

import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats.array_files import column_names
from cocomplete.formats.guarded import one_sentence
from cocomplete.parameter_checks import as_path, check_flag, shown

PART = "part-{:06d}.parquet"
"""Names of the files, in whose order their rows stand."""

PART_BYTES = 16 * 2**20
"""Of blocks in memory from which on they are written."""


def write_blocks(folder: str | os.PathLike[str], blocks: Iterable[Any], *, force: bool = False) -> int:
    """Write blocks of a table as they come, and show them when the last is there.

    Until then they are in a hidden folder beside, which is deleted if the work ends early. Where the types of
    a column differ between blocks, as those of whole numbers and of fills between them do, it gets one that
    holds all.

    Parameters
    ----------
    folder : path
        A new folder; the one it is in exists.
    blocks : iterable of polars.DataFrame or Completion
        Rows one after the other, as ``CoCompleter.complete_blocks`` gives them; small ones are put
        together in a file. Columns of arrays are called ``X 1``, …, ``y 1``, ….
    force : bool, default=False
        Whether a folder that an earlier call wrote may be replaced.

    Returns
    -------
    int
        How many files were written.

    Raises
    ------
    InputError
        If the folder exists, or could not be written.
    """
    target = as_path("folder", folder)
    check_flag("force", force)
    check_free_folder(target, force=force)
    # Some sparse matrices say that they can be gone through, and cannot.
    if not isinstance(blocks, Iterable) or hasattr(blocks, "tocsr"):
        msg = f"blocks must be frames or completions one after the other, got {shown(blocks)}"
        raise InputError(msg)
    try:
        file = target.resolve()
        hidden = Path(tempfile.mkdtemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part"))
        try:
            count = _write_parts(hidden, target, blocks)
            # mkdtemp makes private folders; a result has the permissions of any new one.
            umask = os.umask(0)
            os.umask(umask)
            hidden.chmod(0o777 & ~umask)
            _put_in_place(hidden, file)
        except BaseException:
            shutil.rmtree(hidden, ignore_errors=True)
            raise
    except OSError as error:
        msg = f"{target} cannot be written: {error.strerror}; check the folder and its free space"
        raise InputError(msg) from error
    return count


def check_free_folder(folder: str | os.PathLike[str], *, force: bool) -> None:
    """Refuse a target that exists, and under ``force`` one that holds anything but parts of a table.

    Raises
    ------
    InputError
    """
    target = Path(folder)
    there = os.path.exists(target)
    if there and not target.is_dir():
        msg = f"{target} is a file; blocks of a table go to a folder of their own"
        raise InputError(msg)
    if there and not force:
        msg = f"{target} exists already and was left as it is; choose another name or --force to replace it"
        raise InputError(msg)
    strangers = [file.name for file in target.iterdir() if not _is_part(file)] if there else []
    if strangers:
        msg = (
            f"{target} holds {min(strangers)}, which is no part of a completed table, and is not replaced; "
            "choose another name"
        )
        raise InputError(msg)
    if not target.absolute().parent.is_dir():
        msg = f"{target} cannot be written: the folder {target.parent} does not exist; make it first"
        raise InputError(msg)


def _is_part(file: Path) -> bool:
    digits = file.name.removeprefix("part-").removesuffix(".parquet")
    return file.is_file() and digits.isdigit() and file.name == PART.format(int(digits))


def _write_parts(hidden: Path, target: Path, blocks: Iterable[Any]) -> int:
    """Write all parts, then give those another type whose columns turned out to need it."""
    common: pl.DataFrame | None = None
    schemas: list[pl.Schema] = []
    for frame in _parts_of(blocks):
        empty = frame.clear()
        common = empty if common is None else pl.concat([common, empty], how="vertical_relaxed")
        with one_sentence(f"{target} cannot be written as Parquet", "check its free space"):
            frame.write_parquet(hidden / PART.format(len(schemas)))
        schemas.append(frame.schema)
        # Not needed while the next blocks are made.
        del frame
    for number, schema in enumerate(schemas):
        assert common is not None
        if schema != common.schema:
            # Under another name: the file may be mapped into memory while it is read.
            part = hidden / PART.format(number)
            pl.read_parquet(part).cast(common.schema).write_parquet(hidden / "recast")
            (hidden / "recast").replace(part)
    return len(schemas)


def _parts_of(blocks: Iterable[Any]) -> Iterator[pl.DataFrame]:
    """Put small blocks together, so that files are worth opening."""
    waiting: list[pl.DataFrame] = []
    for block in map(_as_frame, blocks):
        waiting.append(block)
        del block
        if sum(frame.estimated_size() for frame in waiting) >= PART_BYTES:
            yield pl.concat(waiting, how="vertical_relaxed")
            waiting.clear()
    if waiting:
        yield pl.concat(waiting, how="vertical_relaxed")


def _as_frame(block: Any) -> pl.DataFrame:
    """Put features and labels of a completed block beside each other."""
    if isinstance(block, pl.DataFrame):
        return block
    if not hasattr(block, "X") or not hasattr(block, "Y"):
        msg = f"blocks must be frames of polars or completions, but one is {shown(block)}"
        raise InputError(msg)
    columns: list[pl.Series] = []
    for key, part in (("X", block.X), ("y", block.Y)):
        if isinstance(part, np.ndarray):
            names = column_names(key, part.shape)
            flat = part.reshape(len(part), -1)
            columns += [pl.Series(name, flat[:, j]) for j, name in enumerate(names)]
        elif part is not None:
            columns += part.get_columns()
    return pl.DataFrame(columns)


def _put_in_place(hidden: Path, file: Path) -> None:
    """Give a folder its name; one that has it already goes."""
    if not file.exists():
        hidden.rename(file)
        return
    old = Path(tempfile.mkdtemp(dir=file.parent, prefix=f".{file.name}.", suffix=".old"))
    file.rename(old / file.name)
    try:
        hidden.rename(file)
    except BaseException:
        (old / file.name).rename(file)
        old.rmdir()
        raise
    shutil.rmtree(old, ignore_errors=True)
