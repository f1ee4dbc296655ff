"""Signals that end a command: a sentence, the exit code of shells, and nothing left behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_line.test_cli import CSV

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals")

DURING_THE_FIT = """
import os, signal
from cocomplete import CoCompleter
plain = CoCompleter.fit
def ended(self, *tables, progress):
    return plain(self, *tables, progress=lambda record: os.kill(os.getpid(), signal.{name}))
CoCompleter.fit = ended
"""

WHILE_MODULES_ARE_READ = """
import os, signal, sys
class Ending:
    def find_spec(self, name, *where):
        if name == "typer":
            os.kill(os.getpid(), signal.{name})
sys.meta_path.insert(0, Ending())
"""

WHILE_ARGUMENTS_ARE_READ = """
import os, signal, typer.main
plain = typer.main.get_command
def ended(*given):
    found = plain(*given)
    made = found.make_context
    def making(*given, **more):
        os.kill(os.getpid(), signal.{name})
        return made(*given, **more)
    found.make_context = making
    return found
typer.main.get_command = ended
"""


def run(moment: str, name: str, folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    # A run in the background of a shell ignores Ctrl-C.
    begin = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)"
    code = f"{begin}\n{moment.format(name=name)}\nfrom cocomplete.cli.main import main; main()"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False, timeout=120)


MOMENTS = {"fit": DURING_THE_FIT, "modules": WHILE_MODULES_ARE_READ, "arguments": WHILE_ARGUMENTS_ARE_READ}
SIGNALS = [("SIGTERM", 143, "terminated"), ("SIGINT", 130, "interrupted")]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize(("name", "code", "word"), SIGNALS)
def test_a_signal_ends_a_command_with_a_sentence(
    moment: str, name: str, code: int, word: str, tmp_path: Path
) -> None:
    """Found by the campaign: SIGTERM left locks and parts of files; Ctrl-C in the first second was silent."""
    (tmp_path / "t.csv").write_text(CSV)
    done = run(
        MOMENTS[moment], name, tmp_path, "complete", "t.csv", "-l", "has_*", "--ignore", "id", "-o", "out.csv"
    )
    assert done.returncode == code, done.stderr
    assert done.stderr == f"cocomplete: {word}; nothing was written\n"
    assert [file.name for file in tmp_path.iterdir()] == ["t.csv"]


@pytest.mark.parametrize(("name", "code"), [("SIGTERM", 143), ("SIGINT", 130)])
def test_commands_that_write_nothing_end_with_a_sentence_too(name: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(CSV)
    done = run(
        DURING_THE_FIT, name, tmp_path, "evaluate", "t.csv", "-l", "has_*", "--ignore", "id", "--share", "0.3"
    )
    assert done.returncode == code, done.stderr
    assert done.stderr.endswith("; nothing was written\n")


def test_names_that_are_no_text_can_be_refused(tmp_path: Path) -> None:
    name = os.fsdecode(b"\xff.csv")
    command = [sys.executable, "-c", "from cocomplete.cli.main import main; main()", "inspect", name]
    done = subprocess.run(command, capture_output=True, cwd=tmp_path, check=False)
    assert done.returncode == 1
    assert b"Traceback" not in done.stderr
    assert b".csv cannot be read" in done.stderr


def test_the_number_of_a_signal_is_in_its_code() -> None:
    from cocomplete.cli.ending import INTERRUPTED, TERMINATED

    assert (INTERRUPTED, TERMINATED) == (128 + signal.SIGINT, 128 + signal.SIGTERM)
