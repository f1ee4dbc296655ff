"""Files that appear whole or not at all."""

import errno
import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from cocomplete.exceptions import InputError


def write_atomically(target: Path, content: bytes) -> None:
    """Replace a file in one step, so that nobody ever sees half of it; a link stays, and its file changes.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    try:
        with appearing(target) as part:
            part.write(content)
    except (OSError, RuntimeError) as error:
        # Before Python 3.13 a link that leads back to itself is a RuntimeError.
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"{target} cannot be written: {reason}; check the folder and its free space"
        raise InputError(msg) from error


@contextmanager
def appearing(target: Path, *, durable: bool = False) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes its place at the end of the block, if all went well.

    Parameters
    ----------
    target : Path
        Replaced if it exists.
    durable : bool, default=False
        Whether what was written must outlive the machine, not the process alone.
    """
    file = target.resolve()
    if file.is_symlink():
        # From Python 3.13 on a link that leads back to itself is resolved to itself.
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
    try:
        with os.fdopen(handle, "wb") as part:
            yield part
            if durable:
                part.flush()
                os.fsync(part.fileno())
        # mkstemp makes private files; a result has the permissions of any new file.
        umask = os.umask(0)
        os.umask(umask)
        Path(name).chmod(0o666 & ~umask)
        Path(name).replace(file)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
