"""One process at a time for a target: the second refuses."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from cocomplete.exceptions import InputError

INTERRUPTED = 130


@contextmanager
def sole_writer(path: str) -> Iterator[None]:
    """Hold a lock beside a file while it is worked for; a lock whose process is gone is taken over.

    Ctrl-C ends the command with its code, and says that nothing was written.

    Raises
    ------
    InputError
        If another process works for the same file.
    """
    if path == "-":
        yield
        return
    target = Path(path).resolve()
    lock = target.parent / f".{target.name}.lock"
    _take(lock, path)
    try:
        yield
    except KeyboardInterrupt:
        # typer would end with the same code, but without a word.
        typer.echo("cocomplete: interrupted; nothing was written", err=True)
        raise typer.Exit(INTERRUPTED) from None
    finally:
        lock.unlink(missing_ok=True)


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
        os.kill(holder, 0)
    except (ValueError, ProcessLookupError, FileNotFoundError):
        return None
    except PermissionError:
        return holder
    return holder
