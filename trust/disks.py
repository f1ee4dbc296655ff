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
from trust.tally import REFUSED, Budget, Tally

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

STATES = ("complete", "t.csv", "-l", "y", "-o", "out.csv", "--force", "--checkpoint", "{place}/states")

SMALL_FILES = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2_048, 2_048))"
"""Files may have so many bytes: fewer than any of the results."""


def run(budget: Budget) -> Tally:
    """Try every command on every kind of disk."""
    tally = Tally("disks")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        _prepare(folder)
        cases = [(what, kind) for kind in PLACES for what in (*COMMANDS, "a checkpoint")]
        random.Random(budget.seed).shuffle(cases)
        for number in budget.numbers():
            if number >= len(cases):
                break
            what, kind = cases[number]
            tally.add(_tried(folder, what, kind) or REFUSED, f"{what}, {kind}")
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
def _full(folder: Path) -> Iterator[tuple[Path, str]]:
    """Give a disk of two pages; where nobody may mount one, files may not grow beyond as much."""
    place = folder / "place"
    place.mkdir()
    mounted = not subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=8k,nr_inodes=16", "tmpfs", str(place)],
        capture_output=True,
        check=False,
    ).returncode
    if mounted:
        # One of the two pages is taken.
        (place / "taken").write_bytes(b"x" * 4096)
    try:
        yield place, "" if mounted else SMALL_FILES
    finally:
        if mounted:
            subprocess.run(["umount", str(place)], check=True)


@contextmanager
def _read_only(folder: Path) -> Iterator[tuple[Path, str]]:
    """Give a folder without the right to write; root has it anywhere, and gets a disk that is for reading."""
    place = folder / "place"
    place.mkdir()
    if os.geteuid() == 0:
        subprocess.run(["mount", "-t", "tmpfs", "-o", "ro,size=8k", "tmpfs", str(place)], check=True)
    else:
        place.chmod(0o500)
    try:
        yield place, ""
    finally:
        if os.geteuid() == 0:
            subprocess.run(["umount", str(place)], check=True)
        else:
            place.chmod(0o700)


@contextmanager
def _limited(folder: Path) -> Iterator[tuple[Path, str]]:
    """Give a folder in which files may not grow."""
    place = folder / "place"
    place.mkdir()
    yield place, SMALL_FILES


PLACES = {"a full disk": _full, "a read-only folder": _read_only, "a limit of file sizes": _limited}


def _tried(folder: Path, what: str, kind: str) -> str:
    if what == "reproduce" and kind != "a read-only folder":
        # Trials of a kilobyte each fit anywhere; pages are tried by the others.
        return ""
    try:
        with PLACES[kind](folder) as (place, limits):
            before = sorted(place.rglob("*"))
            arguments = [
                part.format(place=place) for part in (STATES if what == "a checkpoint" else COMMANDS[what])
            ]
            done = command(arguments, folder, prelude=limits)
            found = _judged(done, what, place, before)
            if not found and what != "a checkpoint":
                found = _check_left(folder)
        return found
    finally:
        shutil.rmtree(folder / "place", ignore_errors=True)


def _judged(done: Done, what: str, place: Path, before: list[Path]) -> str:
    if "Traceback" in done.err:
        return f"a traceback: {done.err.strip().splitlines()[-1][:200]}"
    if what == "a checkpoint" and done.code == 0:
        # A state that cannot be stored does not end a fit; a folder that cannot be made does.
        return ""
    if not done.is_one_sentence:
        return f"code {done.code} instead of one sentence: {done.err.strip()[-200:]}"
    after = sorted(place.rglob("*"))
    new = [str(file.relative_to(place)) for file in after if file not in before and not file.is_dir()]
    return f"{what} leaves {new} behind" if new and what not in ("demo", "draws") else ""


def _check_left(folder: Path) -> str:
    left = left_behind(folder)
    return f"{left[0]} is left behind" if left else ""
