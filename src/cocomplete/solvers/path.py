"""The path of answers for falling λ1, each starting from the one before."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from time import perf_counter

import numpy as np

from cocomplete.engines.blas import one_thread_if_small
from cocomplete.problem.objective import Objective
from cocomplete.solvers.factored_run import FactoredRun
from cocomplete.solvers.solution import Solution


def rank_penalties(objective: Objective, count: int = 20, smallest: float = 0.01) -> list[float]:
    """Values of λ1 from λ_max down to ``smallest``·λ_max, evenly spaced on a log scale."""
    return [float(value) for value in objective.rank_penalty_max * np.geomspace(1, smallest, count)]


def solve_path(
    objective: Objective,
    penalties: Sequence[float],
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    max_rank: int | None = None,
    start: Solution | None = None,
) -> Iterator[tuple[Objective, Solution]]:
    """Solve for one λ1 after the other, warm.

    Parameters
    ----------
    objective : Objective
        Its λ1 is replaced; where λ2 ≥ λ1 the features stay constraints along the whole path.
    penalties : sequence of float
        λ1 values, falling.
    tol, max_iter, max_rank
        As for :func:`cocomplete.solvers.factored.solve_factored`.
    start : Solution, optional
        Where the first one starts; without it, from zero.

    Yields
    ------
    objective, solution
        One pair per value, as soon as it is there; stop asking when you have seen enough.
    """
    interpolates = objective.regime == "interpolation"
    run: FactoredRun | None = None
    for penalty in penalties:
        residual_penalty = max(objective.residual_penalty, penalty) if interpolates else 0.0
        if run is None:
            first = replace(objective, rank_penalty=penalty, residual_penalty=residual_penalty)
            cells = objective.cells
            run = FactoredRun(first, cells, tol, max_rank, started=perf_counter(), continues=True)
        else:
            run.lower(penalty, residual_penalty)
        with one_thread_if_small(objective.shape):
            solution = run.solve(start, max_iter)
        start = None
        yield run.objective, solution
