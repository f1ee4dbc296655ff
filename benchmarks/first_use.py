"""What a first default fit after an installation costs beyond the second: the compiling of kernels.

Run with ``make bench-first-use``: CPU seconds on one thread, every fit in a process of its own, an empty
folder for compiled code at first. Numbers of both precisions, one after the other: what float32 adds is
compiled in its first fit. There are enough observed cells for search directions in single precision, which
small tables do without.
"""

import json
import os
import subprocess
import sys
import tempfile
import warnings
from time import process_time

from numba.core import event

from cocomplete import CoCompleter
from cost import low_rank

ALLOWED = 15.0
"""CPU seconds that the first fits may take beyond the second, both precisions together."""

TABLE = (1000, 50, 5, 0.5)
"""Rows, features, labels and the share of observed cells."""


class Compiled(event.Listener):
    """Counts the signatures that are compiled, those that others need left out."""

    def __init__(self) -> None:
        self.depth, self.names = 0, []

    def on_start(self, event: event.Event) -> None:
        """Hear that a kernel is about to be compiled."""
        if self.depth == 0:
            self.names.append(event.data["dispatcher"].py_func.__name__)
        self.depth += 1

    def on_end(self, event: event.Event) -> None:
        """Hear that it has been."""
        self.depth -= 1


def measure(dtype: str) -> dict[str, object]:
    """Fit in this process."""
    warnings.simplefilter("ignore")
    X, Y = low_rank(*TABLE)
    compiled, started = Compiled(), process_time()
    with event.install_listener("numba:compile", compiled):
        model = CoCompleter().fit(X.astype(dtype), Y.astype(dtype))
        model.complete(X.astype(dtype), Y.astype(dtype))
    return {"cpu": process_time() - started, "kernels": compiled.names}


def run(dtype: str, folder: str) -> dict[str, object]:
    """Measure in a process of its own, with compiled code in a folder."""
    one_thread = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    environment = os.environ | one_thread | {"NUMBA_CACHE_DIR": folder}
    command = [sys.executable, __file__, "--measure", dtype]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    if sys.argv[1:2] == ["--measure"]:
        print(json.dumps(measure(sys.argv[2])))
        return
    total = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for dtype in ("float64", "float32"):
            first, second = run(dtype, folder), run(dtype, folder)
            more = first["cpu"] - second["cpu"]
            total += more
            print(
                f"{dtype}: first {first['cpu']:.1f}, second {second['cpu']:.1f} s: {more:.1f} s more",
                end="; ",
            )
            print(f"compiled: {', '.join(first['kernels']) or 'nothing'}", flush=True)
    verdict = "ok" if total <= ALLOWED else "MISSED"
    print(f"both first fits: {total:.1f} CPU seconds more than the second (allowed {ALLOWED:g}) {verdict}")


if __name__ == "__main__":
    main()
