"""The ``cocomplete`` command: signals and errors become a sentence and an exit code."""

import sys

from cocomplete.cli.ending import ENDED, code_of, listen, word_for
from cocomplete.exceptions import InputError


def main() -> None:
    """Run the command line; a user's mistake becomes one sentence and exit code 1."""
    try:
        listen()
        # Here, so that Ctrl-C while modules are read ends in a sentence too.
        from cocomplete.cli.app import app

        app()
    except InputError as error:
        sys.stderr.write(f"cocomplete: error: {_printable(str(error))}\n")
        sys.exit(1)
    except ENDED as ended:
        sys.stderr.write(f"cocomplete: {word_for(ended)}; nothing was written\n")
        sys.exit(code_of(ended))
    except SystemExit as end:
        # While it reads the arguments, typer makes a code of Ctrl-C, and says nothing.
        if isinstance(getattr(end.__context__, "__cause__", None), KeyboardInterrupt):
            sys.stderr.write("cocomplete: interrupted; nothing was written\n")
        raise
    except BrokenPipeError:
        # The reader of our standard output has gone; that is its right.
        sys.stderr.close()
        sys.exit(0)


def _printable(text: str) -> str:
    """Give a text that standard error can take: names of files may hold bytes that are no letters."""
    encoding = sys.stderr.encoding or "utf-8"
    return text.encode(encoding, "backslashreplace").decode(encoding)
