"""Peak memory of one solve, beyond its input; run by solvers.py in a process of its own.

Prints bytes used and bytes allowed (40 per observed cell + 64 per row or column and unit of rank).
"""

import gc
import sys
from pathlib import Path

import numpy as np

from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored


def status(field: str) -> int:
    """Read a size of this process from the kernel, in bytes."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(field):
            return 1024 * int(line.split()[1])
    raise LookupError(field)


def problem(size: tuple[int, int, int, int, float], seed: int) -> Objective:
    data = make_low_rank_multilabel(*size, random_state=seed)
    X, Y = data.X, data.Y
    del data
    return Objective(Observations(X, Y), 1.0, 1.0, 0.01, np.zeros(size[1] + size[2]))


def main() -> None:
    case = (int(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5]))
    # A first solve pays for compiled code and for the buffers that BLAS keeps per thread.
    solve_factored(problem(case, seed=1), tol=1e-2)
    objective = problem(case, seed=0)
    gc.collect()
    Path("/proc/self/clear_refs").write_text("5")  # resets the peak
    before = status("VmRSS")
    solution = solve_factored(objective, tol=1e-2)
    used = status("VmHWM") - before
    observed = int((~np.isnan(objective.observed.X)).sum() + (~np.isnan(objective.observed.Y)).sum())
    rank = max(record["rank"] for record in solution.history)
    allowed = 40 * observed + 64 * sum(objective.shape) * rank
    print(used, allowed, rank)


if __name__ == "__main__":
    main()
