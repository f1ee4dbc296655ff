"""Peak memory of fits beside what is forecast before they begin; ``make bench-memory``.

Every fit runs in a process of its own, after a small one of the same kind that pays for compiled code. What
counts is the largest resident memory beyond what the process, with its table, had before the fit.
"""

import gc
import subprocess
import sys
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import cocomplete
from cocomplete import CoCompleter
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.estimator.memory_forecast import forecast
from cocomplete.estimator.settings import Settings

WITHIN = 1.5
"""How many times too large or too small a forecast may be."""

PENALTIES = {"rank_penalty": 100.0, "residual_penalty": 100.0, "feature_weight": 0.5}


@dataclass(frozen=True)
class Shape:
    """A fit: sizes, share of observed cells, single precision, on disk, penalties given."""

    rows: int
    features: int
    labels: int
    observed: float
    single: bool = False
    stored: bool = False
    given: bool = False


SHAPES = (
    Shape(100_000, 80, 20, 0.3, given=True),
    Shape(400_000, 90, 10, 0.3, single=True, given=True),
    Shape(1_000, 450, 50, 0.5),
    Shape(20_000, 50, 10, 0.5),
    Shape(4_000, 150, 20, 0.5),
    Shape(60_000, 50, 10, 0.5),
)


def status(field: str) -> int:
    """Read a size of this process from the kernel, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def table(shape: Shape, rows: int, seed: int) -> tuple[Any, Any]:
    """Make the paper's synthetic table; for averages noise is added, which a minimiser would have to meet."""
    data = make_low_rank_multilabel(
        rows, shape.features, shape.labels, 5, observed=shape.observed, random_state=seed
    )
    rng, kind = np.random.default_rng(seed), np.float32 if shape.single else np.float64
    noise = 0.0 if shape.given else 0.3 * float(np.nanstd(data.X))
    X = data.X + noise * rng.normal(size=data.X.shape)
    return X.astype(kind), data.Y.astype(kind)


def measure(shape: Shape) -> None:
    """Print what a fit needs, and what was forecast."""
    parameters: dict[str, Any] = PENALTIES if shape.given else {}
    CoCompleter(**parameters).fit(*table(shape, 300, 1))
    X, y = table(shape, shape.rows, 0)
    with TemporaryDirectory() as folder:
        if shape.stored:
            np.save(f"{folder}/X.npy", X)
            np.save(f"{folder}/y.npy", y)
            X, y = cocomplete.open(folder), None
        gc.collect()
        expected = forecast(Settings.checked(CoCompleter(**parameters).get_params()), X, y)
        Path("/proc/self/clear_refs").write_text("5")  # resets the peak
        before = status("VmRSS")
        CoCompleter(**parameters).fit(X, y)
        print(status("VmHWM") - before, expected)


def main() -> int:
    """Measure every shape; 1 if a forecast is too far off."""
    if len(sys.argv) > 1:
        measure(eval(sys.argv[1]))
        return 0
    worst = 1.0
    for shape in SHAPES:
        done = subprocess.run(
            [sys.executable, __file__, repr(shape)], check=True, capture_output=True, text=True
        )
        used, expected = map(int, done.stdout.split()[-2:])
        worst = max(worst, used / expected, expected / used)
        told = ", ".join(f"{each.name} {getattr(shape, each.name)}" for each in fields(shape))
        print(
            f"{told}: forecast {expected / 2**20:.0f} MiB, measured {used / 2**20:.0f} MiB, "
            f"ratio {expected / used:.2f}",
            flush=True,
        )
    print(f"worst ratio {worst:.2f}, {'within' if worst <= WITHIN else 'NOT within'} {WITHIN}")
    return int(worst > WITHIN)


if __name__ == "__main__":
    sys.exit(main())
