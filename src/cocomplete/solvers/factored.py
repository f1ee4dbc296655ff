"""The exact solver: factors, Newton steps, a rank that finds itself, and a certificate.

1. Start from the spectrum of the observed features (or from an earlier answer).
2. Newton steps on the factors (:mod:`cocomplete.solvers.newton`); rows are solved exactly after each.
3. Balance the factors, drop dead ones, and compute the duality gap from the slopes on Ω.
4. If the gap is too large, add every direction in which the dual matrix exceeds λ1, and go on.

With enough columns the factored problem has no bad local minimum, and the gap proves the answer whatever
the path. Where λ2 ≥ λ1 the observed features are constraints, met by an augmented Lagrangian.
"""

from time import perf_counter

from cocomplete.checkpoint import Stage
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.solvers.factored_run import FactoredRun
from cocomplete.solvers.solution import Monitor, Progress, Solution
from cocomplete.solvers.solver import Solver


def solve_factored(
    objective: Objective,
    *,
    tol: float = 1e-3,
    max_iter: int = 100,
    max_rank: int | None = None,
    start: Solution | None = None,
    cells: Cells | None = None,
    monitor: Monitor | None = None,
    progress: Progress | None = None,
    stage: Stage | None = None,
) -> Solution:
    """Minimise F to a relative duality gap of ``tol``, on the observed cells alone.

    Parameters
    ----------
    objective : Objective
        With λ2 = 0 or λ2 ≥ λ1.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int, default=100
        Most rounds of two Newton steps and one certificate.
    max_rank : int or None, default=None
        Upper bound on the rank. Below the minimiser's rank, ``tol`` cannot be reached.
    start : Solution, optional
        An answer for a nearby objective on the same cells.
    cells : Cells, optional
        The observed cells, if the caller has them already.
    monitor, progress : callable, optional
        See :mod:`cocomplete.solvers.solution`.
    stage : Stage, optional
        Where the state is stored after some of the rounds, and the solution in the end; what is found there
        is gone on from.

    Raises
    ------
    ValueError
        If 0 < λ2 < λ1: that regime needs the primal-dual solver.
    """
    started = perf_counter()
    if objective.regime == "between":
        msg = "the factored solver needs residual_penalty = 0 or at least rank_penalty"
        raise ValueError(msg)
    reached = None if stage is None else stage.load()
    if reached is not None and isinstance(reached.head, Solution):
        return reached.head
    cells = objective.cells if cells is None else cells
    run = FactoredRun(objective, cells, tol, max_rank, started=started, stage=stage)
    solution = run.solve(start, max_iter, monitor, progress, None if reached is None else reached.head)
    if stage is not None and not solution.interrupted:
        stage.store(solution, ended=True)
    return solution


SOLVER = Solver(
    "factored", solve_factored, ("smooth", "interpolation"), settings=("tol", "max_rank"), resumes=True
)
