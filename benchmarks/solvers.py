"""What the exact solvers cost, in units of one ``numpy.linalg.svd`` of the same table in the same process.

Run with ``make bench-solvers``. Every solve is the second call of its kind: compile time is printed apart.
Columns: SVDs until the error or gap is reached, against what is asked for.
"""

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from time import perf_counter

import numpy as np

from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.metrics import hamming_error, relative_error
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.path import rank_penalties, solve_path
from cocomplete.solvers.polish import polish
from cocomplete.solvers.primal_dual import solve_primal_dual
from cocomplete.solvers.solution import Solution
from cocomplete.solvers.subgradient import solve_subgradient

CASES = {
    "A": (1000, 500, 100, 10, 0.2),
    "B": (5000, 500, 100, 20, 0.3),
    "C": (10000, 500, 100, 10, 0.2),
}


class Case:
    """One table, its objective and its unit of time."""

    def __init__(self, name: str, rank_penalty: float, residual_penalty: float, seed: int = 0) -> None:
        size = CASES[name]
        self.data = make_low_rank_multilabel(*size, random_state=seed)
        self.d = size[1]
        observed = Observations(self.data.X, self.data.Y)
        offsets = np.zeros(size[1] + size[2])
        self.objective = Objective(observed, rank_penalty, residual_penalty, 0.01, offsets)
        whole = np.hstack((self.data.X_true, self.data.Z_true))
        self.unit = min(timed(lambda: np.linalg.svd(whole, full_matrices=False))[0] for _ in range(3))

    def errors(self, solution: Solution) -> dict[str, float]:
        """Errors against the truth, over all cells and over held-out labels."""
        T = solution.M.dense() + solution.offsets
        held_out = np.isnan(self.data.Y)
        return {
            "X": relative_error(self.data.X_true, T[:, : self.d]),
            "Y": hamming_error(self.data.Y_true, T[:, self.d :] > 0),
            "held-out Y": hamming_error(self.data.Y_true, T[:, self.d :] > 0, mask=held_out),
        }


def timed(action: Callable[[], object]) -> tuple[float, object]:
    started = perf_counter()
    result = action()
    return perf_counter() - started, result


def verdict(*, holds: bool) -> str:
    return "ok" if holds else "MISSED"


def first_features(case: Case) -> float:
    """SVDs until the X error is at most 1e-3, found by a solve that is watched; watching is not counted."""
    watching, found = 0.0, np.inf
    started = perf_counter()

    def watch(M: object, offsets: object) -> dict[str, float]:
        nonlocal watching, found
        now = perf_counter()
        error = relative_error(case.data.X_true, M.dense()[:, : case.d])
        if error <= 1e-3 and found == np.inf:
            found = now - started - watching
        watching += perf_counter() - now
        return {}

    solve_factored(case.objective, tol=1e-2, monitor=watch)
    return found / case.unit


def row(
    name: str, penalties: tuple[float, float], tol: float, allowed: float, features: float | None
) -> None:
    case = Case(name, *penalties)
    seconds, solution = timed(lambda: solve_factored(case.objective, tol=tol))
    svds = seconds / case.unit
    errors = case.errors(solution)
    text = f"{name}  λ1 {penalties[0]:g}  λ2 {penalties[1]:g}  gap ≤ {tol:g}: "
    text += f"{svds:6.1f} SVD (allowed {allowed:g})"
    text += f" {verdict(holds=svds <= allowed and solution.converged)}"
    text += f"   rank {solution.M.rank}, X {errors['X']:.1e}, held-out Y {errors['held-out Y']:.4f}"
    if features is not None:
        reached = first_features(case)
        text += f";  X ≤ 1e-3: {reached:.1f} SVD (allowed {features:g}) {verdict(holds=reached <= features)}"
    print(text, flush=True)


def figures() -> None:
    print("Factored solver (w 0.01, no offsets)")
    row("A", (1, 1), 1e-2, 8, 3)
    row("A", (1, 1), 1e-4, 60, None)
    row("B", (1, 1), 1e-2, 15, 3)
    row("C", (1, 1), 1e-2, 25, 3)
    row("A", (1, 0), 1e-2, 8, None)
    row("A", (1, 0), 1e-4, 60, None)
    row("B", (1, 0), 1e-2, 15, None)
    row("C", (1, 0), 1e-2, 25, None)
    row("A", (2, 2), 1e-2, 5, None)
    held_out = []
    for seed in range(5):
        case = Case("A", 2.0, 2.0, seed)
        held_out.append(case.errors(solve_factored(case.objective, tol=1e-2))["held-out Y"])
    text = f"A  λ1 2  λ2 2, seeds 0-4: held-out Y {np.mean(held_out):.4f} (allowed 0.039)"
    print(text, verdict(holds=np.mean(held_out) <= 0.039))


def growth_with_rows() -> None:
    """Time for n 10000 against n 5000 at a fixed rank and number of sweeps."""
    seconds = []
    for n in (5000, 10000):
        data = make_low_rank_multilabel(n, 500, 100, 10, 0.2, random_state=0)
        objective = Objective(Observations(data.X, data.Y), 1.0, 0.0, 0.01, np.zeros(600))
        cells = Cells.of(objective.observed)

        def solve(objective: Objective = objective, cells: Cells = cells) -> Solution:
            return solve_factored(objective, tol=0.0, max_iter=4, max_rank=10, cells=cells)

        solve()
        seconds.append(min(timed(solve)[0] for _ in range(3)))
    ratio = seconds[1] / seconds[0]
    text = f"n 10000 / n 5000, rank 10, 4 rounds: time ratio {ratio:.2f} (allowed 2.2)"
    print(text, verdict(holds=ratio <= 2.2))


def polished() -> None:
    plain, refitted = [], []
    for seed in range(5):
        case = Case("A", 1.0, 1.0, seed)
        solution = solve_factored(case.objective, tol=1e-2)
        plain.append(case.errors(solution)["Y"])
        refitted.append(case.errors(polish(case.objective, solution))["Y"])
    mean = np.mean(refitted)
    print(f"A, seeds 0-4, Y error: fit {np.mean(plain):.4f}, polished {mean:.4f} (allowed 0.0315)", end=" ")
    print(verdict(holds=mean <= 0.0315))


def path() -> None:
    case = Case("A", 1.0, 0.0)
    penalties = rank_penalties(case.objective, 20)
    cold = replace(case.objective, rank_penalty=penalties[-1])
    fit, _ = timed(lambda: solve_factored(cold))
    whole, _ = timed(lambda: list(solve_path(case.objective, penalties)))
    text = f"A, λ2 0, path of 20 values: {whole / fit:.2f} cold fits (allowed 4)"
    print(text, verdict(holds=whole <= 4 * fit))


def memory() -> None:
    environment = os.environ | {"MALLOC_MMAP_THRESHOLD_": "65536", "MALLOC_TRIM_THRESHOLD_": "65536"}
    for name, size in CASES.items():
        command = [sys.executable, str(Path(__file__).with_name("memory.py")), *map(str, size)]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
        used, allowed, rank = (int(word) for word in done.stdout.split())
        text = f"{name}  peak memory {used / 1e6:.1f} MB (allowed {allowed / 1e6:.1f} at rank {rank})"
        print(text, verdict(holds=used <= allowed), flush=True)


def others() -> None:
    print("The other solvers on A")
    case = Case("A", 1.0, 1.0)
    seconds, solution = timed(lambda: solve_subgradient(case.objective, max_iter=300))
    errors = case.errors(solution)
    print(f"paper, 300 iterations: {seconds / case.unit:.0f} SVD, X {errors['X']:.4f}, Y {errors['Y']:.4f}")
    between = Case("A", 1.0, 0.5)
    seconds, solution = timed(lambda: solve_primal_dual(between.objective, tol=1e-2, max_iter=300))
    text = f"primal-dual, λ2 0.5: gap {solution.duality_gap:.1e} after {solution.n_iter} iterations"
    print(text, f"and {seconds / between.unit:.0f} SVD")


def main() -> None:
    case = Case("A", 1.0, 1.0)
    smooth = Case("A", 1.0, 0.0)
    first = sum(timed(lambda each=each: solve_factored(each.objective))[0] for each in (case, smooth))
    second = sum(timed(lambda each=each: solve_factored(each.objective))[0] for each in (case, smooth))
    print(f"compile or load compiled code: {first - second:.1f} s; one SVD of A: {case.unit:.3f} s")
    figures()
    growth_with_rows()
    polished()
    path()
    memory()
    others()


if __name__ == "__main__":
    main()
