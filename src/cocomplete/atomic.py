"""Files that appear whole or not at all."""

import os
import tempfile
from pathlib import Path

from cocomplete.exceptions import InputError


def write_atomically(target: Path, content: bytes) -> None:
    """Replace a file in one step, so that nobody ever sees half of it; a link stays, and its file changes.

    Raises
    ------
    InputError
        If it cannot be written.
    """
    try:
        file = target.resolve()
        handle, name = tempfile.mkstemp(dir=file.parent, prefix=f".{file.name}.", suffix=".part")
        try:
            with os.fdopen(handle, "wb") as part:
                part.write(content)
            # mkstemp makes private files; a result has the permissions of any new file.
            umask = os.umask(0)
            os.umask(umask)
            Path(name).chmod(0o666 & ~umask)
            Path(name).replace(file)
        except BaseException:
            Path(name).unlink(missing_ok=True)
            raise
    except (OSError, RuntimeError) as error:
        # A link that leads back to itself is a RuntimeError.
        reason = error.strerror if isinstance(error, OSError) else error
        msg = f"{target} cannot be written: {reason}; check the folder and its free space"
        raise InputError(msg) from error
