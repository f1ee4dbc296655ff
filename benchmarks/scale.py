"""Long tables: time, memory and errors by the number of rows, on threads, on disk and on Dask, beside cmfrec.

Run with ``make bench-scale``. The paper's generator (section 4.1): 500 features and 100 labels of rank 10, a
fifth of it observed, in single precision. Every case has a process of its own, whose peak is counted beyond
its input.
"""

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path
from threading import Event, Thread
from time import perf_counter, process_time
from typing import Any

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray

GIB = 2**30
FEATURES, LABELS, RANK, OBSERVED = 500, 100, 10, 0.2
AT_ONCE = 20_000
PENALTY = 100.0
GIVEN: dict[str, Any] = {
    "rank_penalty": PENALTY,
    "residual_penalty": PENALTY,
    "feature_weight": 0.5,
    "center": False,
    "scale": False,
    "clip": False,
}
SEEN = 5_000
"""Rows whose hidden cells are compared with the truth."""


class Table:
    """A drawn table, and the truth of its first rows."""

    def __init__(
        self,
        n: int,
        features: int = FEATURES,
        labels: int = LABELS,
        seed: int = 0,
        observed: float = OBSERVED,
    ) -> None:
        rng = np.random.default_rng(seed)
        V = rng.uniform(-5, 5, (features + labels, RANK)).astype(np.float32)
        self.X = np.empty((n, features), np.float32)
        self.y = np.empty((n, labels), np.float32)
        for first in range(0, n, AT_ONCE):
            rows = slice(first, min(first + AT_ONCE, n))
            T = rng.uniform(-5, 5, (rows.stop - first, RANK)).astype(np.float32) @ V.T
            chance = rng.random((rows.stop - first, features + 2 * labels), np.float32)
            if first == 0:
                self.truth = T[:SEEN].copy()
            self.X[rows] = np.where(chance[:, :features] < observed, T[:, :features], np.nan)
            Z = T[:, features:]
            drawn = (chance[:, features + labels :] < expit(Z)).astype(np.float32)
            self.y[rows] = np.where(chance[:, features : features + labels] < observed, drawn, np.nan)

    def errors(self, X: FloatArray, probability: FloatArray) -> dict[str, float]:
        """Compare answers to the first rows with the truth, where it was hidden."""
        d, some = self.X.shape[1], slice(0, len(self.truth))
        hidden = np.isnan(self.X[some])
        off = (X[some] - self.truth[:, :d])[hidden]
        p = np.clip(probability[some].astype(float), 1e-6, 1 - 1e-6)
        true = expit(self.truth[:, d:].astype(float))
        loss = -(true * np.log(p) + (1 - true) * np.log(1 - p))
        return {
            "x_rmse": float(np.sqrt(np.mean(off**2)) / self.truth[:, :d].std()),
            "log_loss": float(loss[np.isnan(self.y[some])].mean()),
        }


def resident() -> int:
    """Bytes of this process that are in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


@contextmanager
def measured(found: dict[str, float], what: str) -> Iterator[None]:
    """Note seconds, CPU seconds, and the peak beyond what is there."""
    before, peak, done = resident(), [0], Event()

    def watch() -> None:
        while not done.wait(0.02):
            peak[0] = max(peak[0], resident())

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    started, cpu = perf_counter(), process_time()
    yield
    found |= {f"{what}_s": perf_counter() - started, f"{what}_cpu": process_time() - cpu}
    done.set()
    watcher.join()
    found[f"{what}_gib"] = max(peak[0] - before, 0) / GIB


def warm_up(**parameters: Any) -> None:
    """Compile before anything is measured."""
    from cocomplete import CoCompleter

    small = Table(300)
    CoCompleter(**parameters).fit(small.X, small.y).complete(small.X, small.y)


def fit_case(n: int, **parameters: Any) -> dict[str, float]:
    from cocomplete import CoCompleter

    warm_up(**parameters)
    table, found = Table(n), {"rows": float(n)}
    with measured(found, "fit"):
        model = CoCompleter(**parameters).fit(table.X, table.y)
    done = model.complete(table.X[:SEEN], table.y[:SEEN])
    found |= table.errors(done.X, done.Y_proba)
    found |= {"rank": float(model.rank_), "gap": float(getattr(model, "duality_gap_", np.nan))}
    new = Table(min(n, 100_000), seed=0).X
    with measured(found, "proba"):
        model.predict_proba(new)
    with measured(found, "complete"):
        model.complete(table.X, table.y)
    return found


def given(n: int) -> dict[str, float]:
    """Penalties given, numbers as they are, nothing else, as in the paper: features are met exactly."""
    return fit_case(n, **GIVEN)


def defaults(n: int) -> dict[str, float]:
    """Everything "auto"."""
    return fit_case(n)


def cmfrec(n: int) -> dict[str, float]:
    """Give cmfrec's answer to features and labels as one table of numbers; both threads, as ours."""
    from cmfrec import CMF_imputer  # type: ignore[import-not-found]

    table, found = Table(n), {"rows": float(n)}
    whole = np.hstack((table.X, table.y))
    with measured(found, "fit"):
        model = CMF_imputer(k=RANK, user_bias=False, lambda_=1e-1, use_float=True, nthreads=2, verbose=False)
        model.fit(whole)
    with measured(found, "complete"):
        done = model.transform(whole)
    return found | table.errors(done[:, :FEATURES], done[:, FEATURES:])


def on_dask(n: int, columns: int = 100, observed: float = OBSERVED, **parameters: Any) -> dict[str, float]:
    """Two workers of one thread each beside two threads here, on the same table."""
    import dask.array as da
    from distributed import Client, LocalCluster

    from cocomplete import CoCompleter
    from cocomplete.dask import DaskCoCompleter

    table, found = Table(n, columns - 20, 20, observed=observed), {"rows": float(n)}
    warm_up(**parameters)
    with measured(found, "local"):
        here = CoCompleter(**parameters).fit(table.X, table.y)
    cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0")
    with cluster, Client(cluster) as client:
        # Workers begin as this process has: with what they need imported and compiled.
        client.run(warm_up, **parameters)
        X, y = (da.from_array(each, chunks=(n // 8, -1)).persist() for each in (table.X, table.y))
        with measured(found, "dask"):
            there = DaskCoCompleter(client, **parameters).fit(X, y)
    found["equal"] = float(np.array_equal(here.components_, there.components_))
    return found | {"ratio": found["dask_s"] / found["local_s"]}


def given_on_dask(n: int) -> dict[str, float]:
    """Give the same with penalties given; of a fifth of so few columns nothing of rank 10 is determined."""
    return on_dask(n, observed=0.5, **GIVEN)


CASES: dict[str, Callable[[int], dict[str, float]]] = {
    "given": given,
    "defaults": defaults,
    "cmfrec": cmfrec,
    "dask": on_dask,
    "dask-given": given_on_dask,
}
SIZES = {"given": (10_000, 100_000, 1_000_000), "defaults": (100_000, 1_000_000)}
SIZES |= {"cmfrec": (100_000, 300_000), "dask": (1_000_000,), "dask-given": (1_000_000,)}


def apart(case: str, n: int) -> dict[str, float]:
    """Run a case in a process of its own."""
    command = [sys.executable, __file__, "--case", case, "--rows", str(n)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    if run.returncode:
        print(run.stderr, file=sys.stderr)
        return {"rows": float(n)}
    result: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return result


def exponents(found: list[dict[str, float]]) -> str:
    """Give the exponents of time and memory between neighbouring sizes, and from the first to the last."""
    lines = []
    steps = list(pairwise(found))
    for one, other in [*steps, (found[0], found[-1])] if len(steps) > 1 else steps:
        if "fit_s" in one and "fit_s" in other:
            step = np.log(other["rows"] / one["rows"])
            time, memory = (np.log(other[what] / one[what]) / step for what in ("fit_s", "fit_gib"))
            lines.append(
                f"{one['rows']:.0f} to {other['rows']:.0f} rows: time {time:.2f}, memory {memory:.2f}"
            )
    return "; ".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", choices=[*CASES, "all"], default="all")
    parser.add_argument("--rows", type=int, help="of the one case that is run in this process")
    asked = parser.parse_args()
    if asked.rows is not None:
        print(json.dumps(CASES[asked.case](asked.rows)))
        return
    for case in CASES if asked.case == "all" else [asked.case]:
        found = []
        for n in SIZES[case]:
            found.append(apart(case, n))
            figures = ", ".join(f"{name} {value:.4g}" for name, value in found[-1].items())
            print(f"{case:9} {figures}", flush=True)
        if text := exponents(found):
            print(f"{case:9} exponents: {text}")


if __name__ == "__main__":
    main()
