"""SIGTERM and Ctrl-C at random moments of long commands: 143 and 130 within two seconds, nothing left."""

import random
import signal
import tempfile
from pathlib import Path
from time import sleep

from trust.commands import Command, Done, command, left_behind, write_table
from trust.disks import MODEL
from trust.tally import ANSWERED, Budget, Tally

SECONDS = 2.0

CODES = {signal.SIGTERM: 143, signal.SIGINT: 130}

COMMANDS: dict[str, tuple[str, ...]] = {
    "complete": ("complete", "long.csv", "-l", "y", "-o", "done.csv", "--report", "done.html"),
    "complete with a checkpoint": (
        "complete",
        "long.csv",
        "-l",
        "y",
        "-o",
        "done.csv",
        "--checkpoint",
        "states",
    ),
    "evaluate": ("evaluate", "long.csv", "-l", "y"),
    "report": ("report", "long.csv", "-l", "y", "-o", "done.html"),
    "predict": ("predict", "t.model", "longest.csv", "-o", "done.csv"),
    "reproduce": ("reproduce", "table1", "--rows", "1", "--trials", "1", "--out", "r"),
    "reproduce in two processes": (
        "reproduce",
        "table1",
        "--rows",
        "1",
        "--trials",
        "2",
        "--jobs",
        "2",
        "--out",
        "r",
    ),
    "demo": ("demo",),
}

LONGEST = 8.0
"""Seconds into a command at which a signal comes at the latest."""


def run(budget: Budget) -> Tally:
    """Send as many signals as the budget allows."""
    tally = Tally("signals")
    with tempfile.TemporaryDirectory() as name:
        given = Path(name)
        write_table(given / "t.csv", rows=60)
        write_table(given / "long.csv", rows=3_000)
        write_table(given / "longest.csv", rows=40_000)
        if command(MODEL, given).code:
            tally.add("the model of the campaign cannot be fitted")
            return tally
        for number in budget.numbers():
            chance = random.Random(f"{budget.seed} {number}")
            what = list(COMMANDS)[number % len(COMMANDS)]
            which = (signal.SIGTERM, signal.SIGINT)[number // len(COMMANDS) % 2]
            moment = chance.choice((chance.uniform(0, 1), chance.uniform(0, LONGEST)))
            found = _sent(given, what, which, moment)
            tally.add(found or ANSWERED, f"signal {number}, {what}, {which.name} after {moment:.2f} s")
    return tally


def _sent(given: Path, what: str, which: signal.Signals, moment: float) -> str:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for file in given.iterdir():
            if file.is_file():
                (folder / file.name).symlink_to(file)
        # The handler is there as soon as Python has started; before, the system ends a process by itself.
        prelude = "import pathlib; pathlib.Path('started').touch()"
        running = Command(COMMANDS[what], folder, prelude=prelude)
        if not running.wait_for((folder / "started").exists):
            return f"{what} does not start: {running.end().err[-200:]}"
        sleep(0.05 + moment)
        if not running.runs:
            done = running.end()
            return "" if done.code == 0 else f"{what} fails by itself: {done.err.strip()[-200:]}"
        done = running.end(which)
        # By chance it had ended in that moment.
        return "" if done.code == 0 else _judged(done, what, which, folder)


def _judged(done: Done, what: str, which: signal.Signals, folder: Path) -> str:
    if done.code != CODES[which]:
        return f"{which.name} ends {what} with {done.code}: {done.err.strip()[-200:]}"
    if done.seconds > SECONDS:
        return f"{which.name} takes {done.seconds:.1f} s to end {what}"
    if "Traceback" in done.err or not done.err.strip():
        return f"{which.name} ends {what} without a sentence: {done.err.strip()[-200:]!r}"
    left = [file for file in left_behind(folder) if not file.startswith("states/")]
    return f"{left[0]} is left behind by {what} after {which.name}" if left else ""
