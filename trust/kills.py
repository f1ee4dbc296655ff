"""kill -9 at random moments of commands, of checkpointed fits and of the writing itself.

Whatever was there before is there whole, whatever is there afterwards is whole, and the same command, run
again, gives what it would have given.
"""

import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import sleep

from trust.commands import ROOT, Command, command, write_table
from trust.tally import ANSWERED, Budget, Tally

OLD = b"what was there before\n"

SLOW_WRITING = """
import os, io, pathlib, time
plain_replace, plain_chmod, plain_fsync = pathlib.Path.replace, pathlib.Path.chmod, os.fsync
def marked(plain):
    def slow(*given, **more):
        pathlib.Path("writing").touch()
        time.sleep(0.15)
        found = plain(*given, **more)
        time.sleep(0.15)
        return found
    return slow
pathlib.Path.replace, pathlib.Path.chmod = marked(plain_replace), marked(plain_chmod)
os.fsync = marked(plain_fsync)
import cocomplete.atomic as atomic
plain_appearing = atomic.appearing
import contextlib
class Dripping:
    def __init__(self, file): self.file = file
    def __getattr__(self, name): return getattr(self.file, name)
    def write(self, content):
        pathlib.Path("writing").touch()
        content = bytes(content)
        step = max(1, len(content) // 20)
        for k in range(0, len(content), step):
            self.file.write(content[k:k + step]); self.file.flush(); time.sleep(0.02)
        return len(content)
@contextlib.contextmanager
def dripping(*given, **more):
    with plain_appearing(*given, **more) as file:
        yield Dripping(file)
atomic.appearing = dripping
"""
"""Every file is written a twentieth at a time, and every step of its appearing takes its time."""

Scene = Callable[[Path, random.Random], str]


def run(budget: Budget) -> Tally:
    """Kill as often as the budget allows, one scene after the other."""
    tally = Tally("kills")
    scenes = (_complete, _writing, _reproduce, _fit, _fit_while_writing)
    for number in budget.numbers():
        chance = random.Random(f"{budget.seed} {number}")
        scene = scenes[number % len(scenes)]
        with tempfile.TemporaryDirectory() as folder:
            found = scene(Path(folder), chance)
        tally.add(found or ANSWERED, f"kill {number}, {scene.__name__.strip('_')}")
    return tally


COMPLETE = ("complete", "t.csv", "-l", "y", "-o", "out.csv", "--model", "t.model", "--force", "--quiet")
FILES = ("out.csv", "t.model")


def _killed(folder: Path, chance: random.Random, seconds: float, prelude: str = "") -> str:
    """Complete a table, be killed, look, complete it again, and compare with what nobody killed."""
    write_table(folder / "t.csv")
    whole = _expected()
    for name in FILES:
        (folder / name).write_bytes(OLD)
    running = Command(COMPLETE, folder, prelude=prelude)
    if prelude:
        running.wait_for((folder / "writing").exists)
    sleep(chance.uniform(0, seconds))
    running.end(signal.SIGKILL)
    for name in FILES:
        if (folder / name).read_bytes() not in (OLD, whole[name]):
            return f"{name} is neither the old one nor the new one after a kill"
    again = command(COMPLETE, folder)
    if again.code != 0:
        return f"a killed complete cannot be run again: code {again.code}, {again.err.strip()[-200:]}"
    for name in FILES:
        if (folder / name).read_bytes() != whole[name]:
            return f"{name} is another one after a kill and a new run"
    return ""


_whole: dict[str, bytes] = {}


def _expected() -> dict[str, bytes]:
    """Give the files of a run that nobody ended."""
    if not _whole:
        with tempfile.TemporaryDirectory() as folder:
            write_table(Path(folder, "t.csv"))
            done = command(COMPLETE, Path(folder))
            if done.code:
                raise RuntimeError(done.err)
            _whole.update({name: Path(folder, name).read_bytes() for name in FILES})
    return _whole


def _complete(folder: Path, chance: random.Random) -> str:
    return _killed(folder, chance, 4.0)


def _writing(folder: Path, chance: random.Random) -> str:
    return _killed(folder, chance, 1.5, SLOW_WRITING)


REPRODUCE = ("reproduce", "table1", "--rows", "1", "--methods", "true-z", "--trials", "6", "--quiet", "--out")
PAGES = ("table1.html", "table1.md")


def _reproduce(folder: Path, chance: random.Random) -> str:
    """Kill a run of trials, begun or nearly done; no record is half, and the pages are the same."""
    running = Command((*REPRODUCE, "killed"), folder)
    results = folder / "killed" / "results" / "table1.jsonl"
    wanted = chance.randrange(0, 6)
    running.wait_for(
        lambda: wanted == 0 or (results.exists() and results.read_bytes().count(b"\n") >= wanted)
    )
    sleep(chance.uniform(0, 2.0 if wanted == 0 else 0.3))
    running.end(signal.SIGKILL)
    before = results.read_bytes().count(b"\n") if results.exists() else 0
    if before < wanted and running.process.returncode < 0:
        return "records that were there are lost after a kill"
    again = command((*REPRODUCE, "killed"), folder)
    if again.code != 0:
        return f"a killed reproduce cannot be run again: code {again.code}, {again.err.strip()[-200:]}"
    whole = command((*REPRODUCE, "whole"), folder)
    if again.out != whole.out:
        return "a killed reproduce, run again, prints other figures"
    pages = [file.name for file in (folder / "whole").glob("table1.*")]
    for name in pages:
        if (folder / "killed" / name).read_bytes() != (folder / "whole" / name).read_bytes():
            return f"{name} differs after a kill"
    return "" if pages else "reproduce has written no page"


_answers: dict[str, str] = {}


def _fit(folder: Path, chance: random.Random, *, pause: str = "0.1", prelude: str = "") -> str:
    """Kill a checkpointed fit twice, then let it end: the same bits, and nothing left in the folder."""
    mode = chance.choice(("ensemble", "smooth", "interpolation"))
    states = folder / "states"
    states.mkdir()
    for _ in range(2):
        process = _fitting(states, mode, pause, prelude)
        before = _stamps(states)
        while process.poll() is None and _stamps(states) == before:
            sleep(0.003)
        sleep(chance.uniform(0, 0.4))
        process.send_signal(signal.SIGKILL)
        process.communicate()
    if mode not in _answers:
        fresh = folder / "fresh"
        fresh.mkdir()
        _answers[mode] = _fitting(fresh, mode, "0").communicate()[0].strip()
        shutil.rmtree(fresh)
    process = _fitting(states, mode, "0")
    answer = process.communicate()[0].strip()
    if process.returncode or answer != _answers[mode] or not answer:
        return f"a killed fit ({mode}) has another answer, or none: code {process.returncode}"
    left = [file.name for file in states.iterdir()]
    return f"a fit leaves {left} in its checkpoint" if left else ""


def _fit_while_writing(folder: Path, chance: random.Random) -> str:
    return _fit(folder, chance, pause="0", prelude=SLOW_STATES)


SLOW_STATES = """
import os, time
plain = os.fsync
def slow(handle):
    time.sleep(0.1); plain(handle); time.sleep(0.1)
os.fsync = slow
"""


def _fitting(states: Path, mode: str, pause: str, prelude: str = "") -> "subprocess.Popen[str]":
    run_module = "import runpy; runpy.run_module('tests.laws.checkpoint_fits', run_name='__main__')"
    code = f"{prelude}\n{run_module}"
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    own = {"PYTHONPATH": paths, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-c", code, str(states), mode, pause],
        cwd=ROOT,
        env=os.environ | own,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )


def _stamps(states: Path) -> list[int]:
    found = []
    for file in states.rglob("*.state"):
        try:
            found.append(file.stat().st_mtime_ns)
        except FileNotFoundError:
            # Replaced, or cleared, in this moment.
            continue
    return sorted(found)
