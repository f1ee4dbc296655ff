"""``python -m trust``: the whole campaign; ``python -m trust PART``: one part, in this process.

Every part is a module with a function ``run``, and can be run alone: ``python -m trust kills --tries 5``.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from trust.tally import Budget, Tally

ROOT = Path(__file__).parents[1]


class Part(NamedTuple):
    """Seconds and tries of a part in the whole campaign, and in the slice of it."""

    seconds: float
    tries: int
    slice_seconds: float
    slice_tries: int


PARTS = {
    "calls": Part(1500, 60_000, 50, 3_000),
    "kills": Part(1800, 50, 60, 5),
    "relations": Part(900, 150, 25, 2),
    "signals": Part(900, 64, 35, 6),
    "tables": Part(600, 2_000, 15, 60),
    "files": Part(600, 30_000, 15, 1_000),
    "model_files": Part(400, 20_000, 10, 1_000),
    "parallel": Part(300, 20, 30, 3),
    "coverage_guided": Part(300, 1_000_000, 10, 1_000_000),
    "disks": Part(400, 40, 20, 5),
}
"""In the order in which they begin: the longest first."""


def main() -> int:
    """Run one part here, or all of them in processes of their own."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", metavar="PART", help=", ".join(PARTS))
    parser.add_argument("--slice", action="store_true", help="the few minutes that fit into every change")
    parser.add_argument("--seed", type=int, default=0, help="another seed tries other things")
    parser.add_argument("--seconds", type=float, help="of a part, at most")
    parser.add_argument("--tries", type=int, help="of a part, at most")
    parser.add_argument("--jobs", type=int, default=2, help="parts at a time")
    asked = parser.parse_args()
    unknown = set(asked.parts) - PARTS.keys()
    if unknown:
        parser.error(f"there is no part {min(unknown)}; parts are {', '.join(PARTS)}")
    # What is already there is not written again: cases of ugly numbers, damaged files, small fits.
    sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT)]
    if len(asked.parts) == 1:
        tally = _run(asked.parts[0], asked)
        sys.stdout.write("\n".join((*tally.lines(), "")))
        return int(tally.failed > 0)
    return _run_apart(asked.parts or list(PARTS), asked)


def _run(name: str, asked: argparse.Namespace) -> Tally:
    part = PARTS[name]
    seconds, tries = (part.slice_seconds, part.slice_tries) if asked.slice else (part.seconds, part.tries)
    budget = Budget(asked.seed, asked.seconds or seconds, asked.tries or tries)
    tally: Tally = import_module(f"trust.{name}").run(budget)
    return tally


def _run_apart(names: Sequence[str], asked: argparse.Namespace) -> int:
    """Give every part a process of its own, so that one that crashes takes no other with it."""
    started = monotonic()
    options = [f"--seed={asked.seed}", *(["--slice"] if asked.slice else [])]
    options += [f"--{name}={value}" for name in ("seconds", "tries") if (value := getattr(asked, name))]
    threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1"}

    def work(name: str) -> int:
        done = subprocess.run(
            [sys.executable, "-m", "trust", name, *options],
            cwd=ROOT,
            env=os.environ | ({} if name == "parallel" else threads),
            capture_output=True,
            text=True,
            check=False,
        )
        said = (
            done.stdout
            or f"{name}: ended with code {done.returncode} and no word, FAILED\n{done.stderr[-3000:]}\n"
        )
        sys.stdout.write(said)
        sys.stdout.flush()
        return done.returncode

    with ThreadPoolExecutor(asked.jobs) as pool:
        failed = sum(code != 0 for code in pool.map(work, names))
    sys.stdout.write(f"{len(names)} parts in {monotonic() - started:.0f} s, {failed} with failures\n")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
