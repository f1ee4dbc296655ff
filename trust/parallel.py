"""Threads, forks, spawns and nested joblib: the same answers, and never more threads than cores."""

import json
import os
import subprocess
import sys
from pathlib import Path

from trust.commands import ROOT
from trust.tally import ANSWERED, Budget, Tally

SLACK = 0.5
"""Cores beyond those there are that the clock may seem to show: it ticks, and processes start and end."""

LONGEST = 240.0
"""Seconds after which a way of working in parallel waits for ever."""

WAYS = (
    *("threads", "forks", "spawns", "joblib threads", "joblib loky", "joblib multiprocessing"),
    *("nested joblib", "grid search", "threads of the passes", "alone"),
)


def run(budget: Budget) -> Tally:
    """Go through the ways, each in a process of its own."""
    tally = Tally("parallel")
    for number in budget.numbers():
        way = WAYS[(number + 3 * budget.seed) % len(WAYS)]
        tally.add(_tried(way, seed=budget.seed + number // len(WAYS)) or ANSWERED, way)
    return tally


def _tried(way: str, seed: int) -> str:
    paths = os.pathsep.join((str(ROOT / "src"), str(ROOT)))
    # Two threads of the passes, and as many of BLAS as it likes: what must not be used at once is there.
    own = {"PYTHONPATH": paths, "NUMBA_NUM_THREADS": "2"}
    free = {name: value for name, value in os.environ.items() if not name.endswith("_NUM_THREADS")}
    try:
        done = subprocess.run(
            [sys.executable, str(Path(__file__).with_name("parallel_work.py")), way, str(seed)],
            env=free | own,
            capture_output=True,
            text=True,
            check=False,
            timeout=LONGEST,
        )
    except subprocess.TimeoutExpired:
        return f"{way} has not ended after {LONGEST:.0f} s"
    if done.returncode:
        return f"{way} ends with {done.returncode}: {(done.stderr.strip().splitlines() or [''])[-1][:300]}"
    found = json.loads(done.stdout.splitlines()[-1])
    if not found["same"]:
        return f"{way} gives other answers"
    if found["blas"] > 1:
        return f"{way} has {found['blas']} threads of BLAS inside a pass"
    cores = os.cpu_count() or 1
    if found["share"] > cores + SLACK:
        return f"{way} uses {found['share']:.1f} cores of {cores}"
    return ""
