"""The command without a process of its own: importing takes seconds, most commands none."""

import contextlib
import io
import sys
import warnings
from pathlib import Path
from subprocess import CompletedProcess
from unittest.mock import patch

from cocomplete.cli.main import main


def run(*arguments: object, folder: Path | None = None, stdin: str | None = None) -> CompletedProcess[str]:
    """Run the command with its own streams, folder and warnings, and give what a process would."""
    words = ["cocomplete", *map(str, arguments)]
    given = io.TextIOWrapper(io.BytesIO((stdin or "").encode()), encoding="utf-8")
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: object = 0
    with (
        patch.object(sys, "argv", words),
        patch.object(sys, "stdin", given),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        contextlib.chdir(folder or Path.cwd()),
        warnings.catch_warnings(),
    ):
        # As Python starts with: pytest's filters make an error of what a user would be shown.
        warnings.resetwarnings()
        warnings.simplefilter("default", UserWarning)
        try:
            main()
        except SystemExit as end:
            code = 0 if end.code is None else end.code
    said = [stream.buffer.getvalue().decode() for stream in (out, err)]
    return CompletedProcess(words, code if isinstance(code, int) else 1, *said)
