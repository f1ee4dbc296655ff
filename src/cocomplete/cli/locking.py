"""One process at a time for a target: the second refuses."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from cocomplete.cli.ending import ENDED, code_of, word_for
from cocomplete.exceptions import InputError
from cocomplete.operating_system import is_running


@contextmanager
def sole_writer(path: str) -> Iterator[None]:
    """Hold a lock beside a file while it is worked for; a lock whose process is gone is taken over.

    Ctrl-C and SIGTERM end the command with their code and a sentence.

    Raises
    ------
    InputError
        If another process works for the same file.
    """
    target = None if path == "-" else Path(path).resolve()
    lock = None if target is None else target.parent / f".{target.name}.lock"
    if lock is not None:
        _take(lock, path)
    before = _written(target)
    try:
        yield
    except ENDED as ended:
        # typer would end with the same code, but without a word.
        what = "nothing was written" if _written(target) == before else f"{path} had been written by then"
        typer.echo(f"cocomplete: {word_for(ended)}; {what}", err=True)
        raise typer.Exit(code_of(ended)) from None
    finally:
        if lock is not None:
            lock.unlink(missing_ok=True)


def _written(target: Path | None) -> int | None:
    """Give when a file was written; None if it is not there, or standard output."""
    return None if target is None or not target.exists() else target.stat().st_mtime_ns


def _take(lock: Path, path: str) -> None:
    for _ in range(2):
        try:
            handle = os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY)
        except FileExistsError:
            holder = _holder(lock)
            if holder is not None:
                msg = (
                    f"{path} is being written by another process ({holder}); wait for it, choose another "
                    f"name, or delete {lock} if that process is none of yours"
                )
                raise InputError(msg) from None
            lock.unlink(missing_ok=True)
        except OSError as error:
            msg = f"{path} cannot be written: {error.strerror}; check the folder"
            raise InputError(msg) from error
        else:
            with os.fdopen(handle, "w") as file:
                file.write(str(os.getpid()))
            return
    msg = f"{path} is being written by another process; try again"
    raise InputError(msg)


def _holder(lock: Path) -> int | None:
    """Give the process that holds a lock; None if it is gone."""
    try:
        holder = int(lock.read_text())
    except (ValueError, FileNotFoundError):
        return None
    return holder if is_running(holder) else None
