"""A table larger than memory, made and completed from disk under a limit of the operating system.

Run with ``make bench-stored``. The paper's synthetic table (section 4.1) in single precision is made block by
block as a folder of Parquet files, and ``cocomplete.open`` … ``write_blocks`` completes it in a process whose
private writable memory (``RLIMIT_DATA``: heap, anonymous maps, stacks) the kernel limits; pages of mapped
files are not counted, since they are dropped when others need the room. A second process fits as many rows as
``--beside`` says from memory, with the engine for that, for the cost of a sweep. ``--defaults`` fits the
ensemble of the defaults, whose sweeps read cells from disk; without it penalties are given, and the minimiser
keeps all observed cells in memory, eight bytes each, for its rounds.
"""

import argparse
import json
import os
import resource
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from time import perf_counter, sleep
from typing import Any, NamedTuple

import numpy as np
import polars as pl
from scipy.special import expit

GIB = 2**30
ROWS_OF_A_FILE = 100_000


class Recipe(NamedTuple):
    """What a table is made by: sizes as the paper calls them, the share of observed cells, a seed."""

    n: int
    d: int
    n_labels: int
    rank: int
    observed: float
    seed: int = 0

    @property
    def names(self) -> list[str]:
        """Names of features and labels."""
        return [f"x{j}" for j in range(self.d)] + [f"y{j}" for j in range(self.n_labels)]


def rows_of(size: float, columns: int) -> int:
    """Give the rows of a table whose cells, four bytes each, take so many GiB."""
    return max(1, round(size * GIB / (4 * columns)))


def blocks(recipe: Recipe) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Give consecutive rows of the paper's table: all values, and which of them are observed."""
    columns = recipe.d + recipe.n_labels
    right = np.random.default_rng(recipe.seed).uniform(-5, 5, (recipe.rank, columns)).astype(np.float32)
    for number, first in enumerate(range(0, recipe.n, ROWS_OF_A_FILE)):
        height = min(ROWS_OF_A_FILE, recipe.n - first)
        rng = np.random.default_rng([recipe.seed, number])
        whole = rng.uniform(-5, 5, (height, recipe.rank)).astype(np.float32) @ right
        chance = rng.random((height, recipe.n_labels), dtype=np.float32)
        whole[:, recipe.d :] = chance < expit(whole[:, recipe.d :])
        yield whole, rng.random(whole.shape, dtype=np.float32) < recipe.observed


def make_table(folder: Path, recipe: Recipe) -> None:
    """Write the table, unknown cells as NaN, as a folder of Parquet files, a block in memory at a time.

    Nothing is packed, so that files are as large as their cells: four bytes each.
    """
    folder.mkdir(parents=True)
    for number, (whole, seen) in enumerate(blocks(recipe)):
        np.copyto(whole, np.nan, where=~seen)
        frame = pl.DataFrame(whole, schema=recipe.names)
        frame.write_parquet(folder / f"{number:05d}.parquet", compression="uncompressed")


def status(field: str) -> int:
    """Read a size of this process from the kernel, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


class Watch:
    """Looks at the private memory of this process until it is asked."""

    def __init__(self) -> None:
        self.peak, self.ends = 0, False
        self.thread = Thread(target=self._look, daemon=True)
        self.thread.start()

    def _look(self) -> None:
        while not self.ends:
            self.peak = max(self.peak, status("RssAnon"))
            sleep(0.02)

    def stop(self) -> int:
        """Give the peak, in bytes."""
        self.ends = True
        self.thread.join()
        return self.peak


class Sweeps:
    """Seconds of the sweeps over all rows, by the records of progress."""

    def __init__(self) -> None:
        self.last, self.seconds = 0.0, []  # type: tuple[float, list[float]]
        self.before: Any = None

    def __call__(self, record: dict[str, Any]) -> None:
        """Note when a sweep ends."""
        now = perf_counter()
        print(f"{record.get('stage', 'all rows')}: {record['iteration']}", file=sys.stderr, flush=True)
        if record.get("stage") in ("all rows", None):
            if self.before is not None and record["iteration"] == self.before + 1:
                self.seconds.append(now - self.last)
            self.before, self.last = record["iteration"], now


def settings(rows: int, *, defaults: bool) -> dict[str, Any]:
    """Give the parameters of the fit; singular values, and so the penalty, grow with the root of the rows."""
    if defaults:
        return {}
    return {"rank_penalty": rows**0.5 / 8, "residual_penalty": 0.0, "feature_weight": 0.5, "tol": 1e-2}


def in_child(folder: Path, out: Path | None, rows: int, limit: float, *, defaults: bool) -> dict[str, Any]:
    """Fit in this process, from disk or from memory, complete, and say what it took."""
    import cocomplete
    from cocomplete.formats import write_blocks

    warnings.simplefilter("ignore")
    if limit:
        resource.setrlimit(resource.RLIMIT_DATA, (int(limit * GIB), int(limit * GIB)))
    table = cocomplete.open(folder, labels="y*")
    given: tuple[Any, ...] = (table,)
    if out is None:
        first = table.read(0, rows)
        given = (first.X.to_numpy(), first.y.to_numpy())
        del first
    watch, sweeps, before = Watch(), Sweeps(), status("RssAnon")
    started = perf_counter()
    model = cocomplete.CoCompleter(**settings(rows, defaults=defaults)).fit(*given, progress=sweeps)
    fitted = perf_counter()
    if out is not None:
        write_blocks(out, model.complete_blocks(table))
    return {
        "rows": rows,
        "fit": fitted - started,
        "complete": perf_counter() - fitted,
        "before": before,
        "peak": watch.stop(),
        "sweeps": len(sweeps.seconds),
        "sweep": float(np.median(sweeps.seconds)) if sweeps.seconds else float("nan"),
    }


def child(*arguments: str) -> dict[str, Any]:
    """Run this file in a process of its own."""
    command = [sys.executable, __file__, *arguments]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def hidden_errors(out: Path, recipe: Recipe) -> tuple[float, float]:
    """Compare hidden cells of the first file's rows with the truth: relative error of X, share wrong of Y."""
    import cocomplete

    whole, seen = next(blocks(recipe))
    done = cocomplete.open(out).read(0, len(whole)).X.to_numpy()
    features, labels = slice(None, recipe.d), slice(recipe.d, None)
    X, X_done, X_hidden = (part[:, features] for part in (whole, done, ~seen))
    Y, Y_done, Y_hidden = (part[:, labels] for part in (whole, done, ~seen))
    off = np.linalg.norm((X - X_done)[X_hidden]) / np.linalg.norm(X[X_hidden])
    return float(off), float((Y_done != Y)[Y_hidden].mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=float, default=1.0, help="GiB of cells, four bytes each")
    parser.add_argument("--limit", type=float, default=2.0, help="GiB of private memory; 0 for no limit")
    parser.add_argument("--beside", type=float, default=1.0, help="GiB of cells to fit from memory")
    parser.add_argument("--features", type=int, default=500)
    parser.add_argument("--labels", type=int, default=100)
    parser.add_argument("--rank", type=int, default=10)
    parser.add_argument("--observed", type=float, default=0.2)
    parser.add_argument("--defaults", action="store_true")
    parser.add_argument("--folder", type=Path, help="where the tables go; a temporary folder without")
    parser.add_argument("--child", choices=["disk", "memory"], help=argparse.SUPPRESS)
    asked = parser.parse_args()
    recipe = Recipe(
        rows_of(asked.size, asked.features + asked.labels),
        asked.features,
        asked.labels,
        asked.rank,
        asked.observed,
    )
    if asked.child:
        out = asked.folder / "out" if asked.child == "disk" else None
        print(
            json.dumps(in_child(asked.folder / "table", out, recipe.n, asked.limit, defaults=asked.defaults))
        )
        return
    with tempfile.TemporaryDirectory(prefix="cocomplete-stored-", dir=asked.folder) as place:
        report(Path(place), recipe, asked)


def report(place: Path, recipe: Recipe, asked: argparse.Namespace) -> None:
    started = perf_counter()
    make_table(place / "table", recipe)
    stored = sum(file.stat().st_size for file in (place / "table").iterdir())
    print(
        f"{recipe.n} rows × {recipe.d} + {recipe.n_labels}, {recipe.observed:.0%} observed: {asked.size} GiB "
        f"of cells, {stored / GIB:.2f} GiB of Parquet, made in {perf_counter() - started:.0f} s",
        flush=True,
    )
    shared = ["--folder", str(place), "--features", str(recipe.d), "--labels", str(recipe.n_labels)]
    shared += ["--defaults"] if asked.defaults else []
    what = "sweeps" if asked.defaults else "rounds"
    disk = child("--child", "disk", "--size", str(asked.size), "--limit", str(asked.limit), *shared)
    print(
        f"from disk, at most {asked.limit} GiB: fit {disk['fit']:.0f} s, complete {disk['complete']:.0f} s, "
        f"private memory {disk['peak'] / GIB:.2f} GiB at most, {disk['before'] / GIB:.2f} before the fit; "
        f"{disk['sweeps']} {what} of {disk['sweep']:.2f} s",
        flush=True,
    )
    off, wrong = hidden_errors(place / "out", recipe)
    print(f"hidden cells: X off by {off:.2e} of its norm, {wrong:.2%} of Y wrong", flush=True)
    beside = min(asked.beside, asked.size)
    memory = child("--child", "memory", "--size", str(beside), "--limit", "0", *shared)
    ratio = disk["sweep"] / disk["rows"] * memory["rows"] / memory["sweep"]
    print(
        f"from memory, {memory['rows']} rows: fit {memory['fit']:.0f} s, {memory['sweeps']} {what} of "
        f"{memory['sweep']:.2f} s; of a row they cost {ratio:.2f} times as much from disk"
    )


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
