"""What a default fit costs: beside scikit-learn's IterativeImputer, beside earlier code, and with many rows.

Run with ``make bench-cost``: one thread, CPU seconds, every measurement in a process of its own that has
compiled before the clock starts. Earlier code is that of a commit, taken out of the repository's history.
``--long`` adds tables of up to 400 000 rows, on all threads and by the clock on the wall.
"""

import argparse
import io
import json
import os
import resource
import subprocess
import sys
import tarfile
import tempfile
import warnings
from pathlib import Path
from time import perf_counter, process_time

import numpy as np

FIRST_DAY = "fa8fbf2"
"""Commit that costs are compared with: the last one before the defaults became one ensemble."""

IMPUTER_LIMITS = {"1000x50+5": 1.5, "5000x50+5": 2.0}
"""Tables that IterativeImputer fills as well, all columns together, and how many times its cost ours may
be."""

EARLIER_LIMITS = {
    "cal500": 0.4,
    "emotions": 0.4,
    "yeast": 0.4,
    "birds": 0.2,
    "2407x294+6": 0.15,
    "978x1449+45": 0.15,
    "300x2000+4": 0.07,
}
"""Tables that earlier code fills as well, and the share of its CPU seconds that ours may take."""

LONG = (10_000, 20_000, 40_000, 100_000, 200_000, 400_000)
"""Rows of tables with 50 features and 10 labels, half observed."""

SEEN = 0.5
"""Share of observed cells of tables that are made here; 0.7 where IterativeImputer takes part."""


def low_rank(n: int, d: int, n_labels: int, seen: float, noise: float = 0.5) -> tuple[np.ndarray, np.ndarray]:
    """Make a table of eight factors with holes at random."""
    rng = np.random.default_rng(0)
    T = rng.normal(size=(n, 8)) @ rng.normal(size=(8, d + n_labels)) / np.sqrt(8)
    X = T[:, :d] + noise * rng.normal(size=(n, d))
    Y = (rng.random((n, n_labels)) < 1 / (1 + np.exp(-2 * T[:, d:]))).astype(float)
    X[rng.random(X.shape) > seen], Y[rng.random(Y.shape) > seen] = np.nan, np.nan
    return X, Y


def table(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read a set of COCOMPLETE_DATA with 20 % seen, or make a table of a size."""
    if "x" not in name:
        from protocol import make_case

        case = make_case(name, 0.2, 0)
        return case.X, case.Y
    n, columns = name.split("x")
    d, n_labels = columns.split("+")
    return low_rank(int(n), int(d), int(n_labels), 0.7 if name in IMPUTER_LIMITS else SEEN)


def measure(method: str, name: str) -> dict[str, float]:
    """Fit in this process, after a small table has had everything compiled."""
    warnings.simplefilter("ignore")
    if method == "imputer":
        from sklearn.experimental import enable_iterative_imputer  # noqa: F401
        from sklearn.impute import IterativeImputer

        X = np.hstack(table(name))
        started = process_time()
        IterativeImputer().fit_transform(X)
        return {"cpu": process_time() - started}
    from cocomplete import CoCompleter

    CoCompleter().fit(*low_rank(60, 8, 3, 0.6))
    X, Y = low_rank(int(name), 50, 10, SEEN, noise=1.0) if method == "long" else table(name)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, started = perf_counter(), process_time()
    model = CoCompleter().fit(X, Y)
    found = {"cpu": process_time() - started, "fit": perf_counter() - wall}
    wall = perf_counter()
    model.complete(X, Y)
    found["complete"] = perf_counter() - wall
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return found | {"peak_mb": peak / 1024, "grown_mb": (peak - before) / 1024}


def run(method: str, name: str, source: Path | None = None, *, threads: int = 1) -> dict[str, float]:
    """Measure in a process of its own."""
    environment = os.environ | dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), str(threads)
    )
    if source is not None:
        environment |= {"PYTHONPATH": str(source), "NUMBA_CACHE_DIR": str(source / "compiled")}
    command = [sys.executable, __file__, "--measure", method, name]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def earlier_source(folder: Path) -> Path:
    """Take the source of the earlier commit out of the repository."""
    root = Path(__file__).parent.parent
    command = ["git", "-C", str(root), "archive", FIRST_DAY, "src"]
    packed = subprocess.run(command, capture_output=True, check=True).stdout
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(folder, filter="data")
    return folder / "src"


def compare(title: str, limits: dict[str, float], names: list[str], other: str, source: Path | None) -> None:
    print(f"\n{title}\n{'table':>14} {'ours':>8} {'theirs':>8} {'ratio':>7} {'limit':>7} {'peak MB':>8}")
    for name in [each for each in limits if not names or each in names]:
        if "x" not in name and "COCOMPLETE_DATA" not in os.environ:
            print(f"{name:>14} needs COCOMPLETE_DATA")
            continue
        theirs, ours = run(other, name, source), run("ours", name)
        ratio = ours["cpu"] / theirs["cpu"]
        mark = "" if ratio <= limits[name] else "  missed"
        print(
            f"{name:>14} {ours['cpu']:8.2f} {theirs['cpu']:8.2f} {ratio:7.2f} {limits[name]:7.2f} "
            f"{ours['peak_mb']:8.0f}{mark}",
            flush=True,
        )


def long_tables(rows: list[int]) -> None:
    print("\nMany rows, 50 features and 10 labels, half observed: seconds on the wall, all threads")
    print(
        f"{'rows':>8} {'fit':>7} {'complete':>9} {'grown MB':>9} {'exponent of time':>17} {'of memory':>10}"
    )
    before: tuple[int, dict[str, float]] | None = None
    for n in rows:
        found = run("long", str(n), threads=os.cpu_count() or 1)
        exponents = ["", ""]
        if before is not None:
            step = np.log(n / before[0])
            exponents = [f"{np.log(found[key] / before[1][key]) / step:.2f}" for key in ("fit", "grown_mb")]
        print(
            f"{n:8} {found['fit']:7.1f} {found['complete']:9.1f} {found['grown_mb']:9.0f} "
            f"{exponents[0]:>17} {exponents[1]:>10}",
            flush=True,
        )
        before = n, found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--tables", nargs="+", default=[], help="some of the tables")
    parser.add_argument("--long", nargs="*", type=int, metavar="ROWS", help="many rows instead")
    parser.add_argument("--measure", nargs=2, metavar=("METHOD", "TABLE"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(*options.measure)))
        return
    if options.long is not None:
        long_tables(options.long or list(LONG))
        return
    compare("CPU seconds beside IterativeImputer", IMPUTER_LIMITS, options.tables, "imputer", None)
    with tempfile.TemporaryDirectory() as folder:
        source = earlier_source(Path(folder))
        compare(f"CPU seconds beside {FIRST_DAY}", EARLIER_LIMITS, options.tables, "ours", source)


if __name__ == "__main__":
    main()
