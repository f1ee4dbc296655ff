"""Full disks and folders that cannot be written: one sentence, exit code 1, nothing left behind."""

import os
import random
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from trust.commands import Done, command, left_behind, write_table
from trust.tally import ANSWERED, REFUSED, Budget, Tally

MODEL = ("complete", "t.csv", "-l", "y", "-o", "out.csv", "--model", "t.model", "--quiet")
COMMANDS: dict[str, tuple[str, ...]] = {
    "complete": ("complete", "t.csv", "-l", "y", "-o", "{place}/out.csv"),
    "complete to Parquet": ("complete", "t.csv", "-l", "y", "-o", "{place}/out.parquet"),
    "a model": ("complete", "t.csv", "-l", "y", "-o", "keep.csv", "--force", "--model", "{place}/t.model"),
    "a report": ("report", "t.csv", "-l", "y", "-o", "{place}/r.html"),
    "draws": ("complete", "t.csv", "-l", "y", "-o", "{place}/out.csv", "--draws", "2"),
    "predict": ("predict", "t.model", "t.csv", "-o", "{place}/p.csv"),
    "convert": ("convert", "t.csv", "{place}/t.parquet"),
    "a folder": ("complete", "blocks", "-l", "y", "-o", "{place}/done"),
    "demo": ("demo", "-o", "{place}/demo"),
    "reproduce": (
        "reproduce",
        "table1",
        "--rows",
        "1",
        "--methods",
        "true-z",
        "--trials",
        "1",
        "--out",
        "{place}/r",
    ),
}

CHECKPOINT, READ_ONLY = "a checkpoint", "a read-only folder"

STATES = ("complete", "t.csv", "-l", "y", "-o", "out.csv", "--force", "--checkpoint", "{place}/states")

SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_048, 2_048))"
"""Files may have so many bytes: fewer than any of the results."""


def run(budget: Budget) -> Tally:
    """Try every command on every kind of disk."""
    tally = Tally("disks")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder)
        cases = [(what, kind) for kind in PLACES for what in (*COMMANDS, CHECKPOINT)]
        # Trials of a kilobyte each fit anywhere; pages are tried by the others.
        cases = [one for one in cases if one[0] != "reproduce" or one[1] == READ_ONLY]
        random.Random(budget.seed).shuffle(cases)
        for number in budget.numbers():
            if number >= len(cases):
                break
            what, kind = cases[number]
            found = _tried(folder, what, kind)
            if found is not None:
                tally.add(found, f"{what}, {kind}")
    return tally


def _prepare(folder: Path) -> None:
    """Write a table, the same as a folder of blocks, and a model."""
    import polars as pl

    write_table(folder / "t.csv", rows=200)
    (folder / "blocks").mkdir()
    pl.read_csv(folder / "t.csv").write_parquet(folder / "blocks" / "part.parquet")
    done = command(MODEL, folder)
    if done.code:
        raise RuntimeError(done.err)


@contextmanager
def _disk(place: Path, options: str) -> Iterator[bool]:
    """Mount a disk of memory, where that is allowed; say whether it was."""
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", options, "tmpfs", str(place)]
    mounted = (
        shutil.which("mount") is not None
        and not subprocess.run(mount, capture_output=True, check=False).returncode
    )
    try:
        yield mounted
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=True)


@contextmanager
def _full(place: Path) -> Iterator[str | None]:
    """Make a disk of two pages, one of them taken; where nobody may mount one, files may not grow."""
    with _disk(place, "size=8k,nr_inodes=16") as mounted:
        if mounted:
            (place / "taken").write_bytes(b"x" * 4096)
        yield "" if mounted else SMALL_FILES


@contextmanager
def _read_only(place: Path) -> Iterator[str | None]:
    """Make a disk that is for reading, or a folder without the right to write, which root has anywhere."""
    with _disk(place, "ro,size=8k") as mounted:
        if not mounted:
            place.chmod(0o500)
        yield "" if mounted or os.geteuid() else None
        if not mounted:
            place.chmod(0o700)


@contextmanager
def _limited(place: Path) -> Iterator[str | None]:
    """Make a folder in which files may not grow."""
    place.mkdir()
    yield SMALL_FILES


PLACES = {"a full disk": _full, READ_ONLY: _read_only, "a limit of file sizes": _limited}


def _tried(folder: Path, what: str, kind: str) -> str | None:
    """Say what came of a command; None where there is no such disk."""
    place = folder / "place"
    try:
        with PLACES[kind](place) as prelude:
            if prelude is None:
                return None
            before = sorted(place.rglob("*"))
            parts = STATES if what == CHECKPOINT else COMMANDS[what]
            done = command([part.format(place=place) for part in parts], folder, prelude=prelude)
            return _judged(done, what, place, before) or _check_left(folder) or REFUSED
    finally:
        shutil.rmtree(place, ignore_errors=True)


def _judged(done: Done, what: str, place: Path, before: list[Path]) -> str:
    if "Traceback" in done.err:
        return f"a traceback: {done.err.strip().splitlines()[-1][:200]}"
    if what == CHECKPOINT and done.code == 0:
        # A state that cannot be stored does not end a fit; a folder that cannot be made does.
        return ANSWERED
    if not done.is_one_sentence:
        return f"code {done.code} instead of one sentence: {done.err.strip()[-200:]}"
    after = sorted(place.rglob("*"))
    new = [str(file.relative_to(place)) for file in after if file not in before and not file.is_dir()]
    return f"{what} leaves {new} behind" if new and what not in ("demo", "draws") else ""


def _check_left(folder: Path) -> str:
    left = left_behind(folder)
    return f"{left[0]} is left behind" if left else ""
