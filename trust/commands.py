"""The command in a process of its own: started, looked at, ended from outside."""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import numpy as np
import polars as pl

ROOT = Path(__file__).parents[1]

LAUNCHER = """
import signal, sys
# A shell's background job starts with Ctrl-C ignored.
signal.signal(signal.SIGINT, signal.default_int_handler)
{prelude}
from cocomplete.cli.main import main
main()
"""

PATIENCE = 300.0
"""Seconds after which a command that nobody ended hangs."""


@dataclass(frozen=True)
class Done:
    """How a command ended: its code, both outputs, and seconds since it was asked to."""

    code: int
    out: str
    err: str
    seconds: float = 0.0

    @property
    def is_one_sentence(self) -> bool:
        """Whether it refused with a sentence and nothing else."""
        return self.code == 1 and "Traceback" not in self.err and "cocomplete: error: " in self.err


class Command:
    """A command that runs.

    Parameters
    ----------
    arguments : sequence of str or Path
    folder : Path
        Where it runs.
    prelude : str
        Python that is run first, to slow down or to break something.
    environment : mapping, optional
    """

    def __init__(
        self,
        arguments: Sequence[object],
        folder: Path,
        *,
        prelude: str = "",
        environment: Mapping[str, str] | None = None,
    ) -> None:
        code = LAUNCHER.format(prelude=prelude)
        paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
        own = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-c", code, *map(str, arguments)],
            cwd=folder,
            env=os.environ | own | dict(environment or {}),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            errors="replace",
            # Children of its own, such as loky's, are found by their group.
            start_new_session=True,
        )

    @property
    def runs(self) -> bool:
        """Whether it has not ended."""
        return self.process.poll() is None

    def wait_for(self, sign: Any, seconds: float = PATIENCE) -> bool:
        """Wait until something has happened, or the command has ended; say whether it still runs."""
        end = monotonic() + seconds
        while self.runs and monotonic() < end and not sign():
            sleep(0.003)
        return self.runs

    def end(self, number: int | None = None) -> Done:
        """Send a signal, if any, and wait for the end."""
        started = monotonic()
        if number is not None and self.runs:
            if number == signal.SIGKILL:
                # Whatever the command started is gone with it, as when a machine or container goes down.
                os.killpg(self.process.pid, number)
            else:
                self.process.send_signal(number)
        try:
            out, err = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            os.killpg(self.process.pid, signal.SIGKILL)
            out, err = self.process.communicate()
        return Done(self.process.returncode, out, err, monotonic() - started)


def command(arguments: Sequence[object], folder: Path, **how: Any) -> Done:
    """Run a command to its end."""
    return Command(arguments, folder, **how).end()


def write_table(file: Path, rows: int = 60, seed: int = 0) -> None:
    """Write a CSV with holes: numbers, a word, a label."""
    rng = np.random.default_rng(seed)
    whole = rng.normal(size=(rows, 2)) @ rng.normal(size=(2, 5)) + 0.3 * rng.normal(size=(rows, 5))
    frame = pl.DataFrame(whole[:, :4].round(3), schema=["a", "b", "c", "d"])
    frame = frame.with_columns(
        kind=pl.Series(np.where(whole[:, 0] > 0, "high", "low")), y=pl.Series((whole[:, 4] > 0).astype(int))
    )
    holes = rng.random((rows, frame.width)) < 0.2
    columns = [
        pl.Series(name, [None if gone else cell for gone, cell in zip(holes[:, j], frame[name], strict=True)])
        for j, name in enumerate(frame.columns)
    ]
    pl.DataFrame(columns).write_csv(file)


def left_behind(folder: Path) -> list[str]:
    """Give hidden files and folders: locks, and parts that were not finished."""
    return sorted(str(file.relative_to(folder)) for file in folder.rglob(".*"))
