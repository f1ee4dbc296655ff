"""Minimisers of F, by the solver and to the tolerance that the parameters ask for."""

import hashlib
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray
from cocomplete.checkpoint import Checkpoint, Stage
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.settings import Settings
from cocomplete.interrupts import acknowledge_stop
from cocomplete.members.minimiser import Minimiser, Penalties
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.choice import choose, finds_offsets, is_exact, solve
from cocomplete.solvers.column_run import solve_by_columns
from cocomplete.solvers.polish import polish
from cocomplete.solvers.solution import Progress, Solution


@dataclass(frozen=True)
class MinimiserSolver:
    """Solves for minimisers of F.

    Attributes
    ----------
    settings : Settings
    messages : Messages
        Receives which solver ran and how it ended.
    progress : callable or None
        Called with the record of every iteration.
    checkpoint : Checkpoint or None
        Keeps what a solve has reached.
    """

    settings: Settings
    messages: Messages
    progress: Progress | None
    checkpoint: Checkpoint | None = None

    def solve(self, objective: Objective) -> Solution:
        """Minimise one objective."""
        settings = self.settings
        solver = self._chosen(objective)
        solution = solve(
            solver,
            objective,
            tol=settings.tol,
            max_rank=settings.max_rank,
            max_iter=settings.max_iter,
            options=settings.solver_options,
            progress=self.progress,
            stage=self._stage(objective, objective.cells),
        )
        return self._ended(solver, solution)

    def solve_blocks(self, objective: Objective, sample: Cells, places: list[NDArray[np.intp]]) -> Solution:
        """Minimise the objective of a table in blocks.

        Parameters
        ----------
        objective : Objective
        sample : Cells
            Of the rows to start from.
        places : list of ndarray of int
            Where these are in the blocks; the solution has them alone.
        """
        settings = self.settings
        solver = self._chosen(objective)
        given = {} if settings.max_iter is None else {"max_iter": settings.max_iter}
        solution = solve_by_columns(
            objective,
            sample,
            places,
            tol=settings.tol,
            max_rank=settings.max_rank,
            progress=self.progress,
            stage=self._stage(objective, sample),
            **given,
        )
        return self._ended(solver, solution)

    def _chosen(self, objective: Objective) -> str:
        solver, why = choose(self.settings.solver, objective)
        self.messages.log(f"solver {solver!r}: {why}; {objective.shape[0]} x {objective.shape[1]} cells")
        return solver

    def _ended(self, solver: str, solution: Solution) -> Solution:
        """Say how a solve ended."""
        self.messages.log(
            f"objective {solution.objective:.6g}, gap {solution.duality_gap:.2g}, rank {solution.M.rank} "
            f"after {solution.n_iter} iterations"
        )
        if solution.interrupted:
            acknowledge_stop()
        elif is_exact(solver) and not solution.converged:
            settings = self.settings
            self.messages.not_converged(solver, solution, settings.tol, settings.max_rank)
        return solution

    def _stage(self, objective: Objective, cells: Cells) -> Stage | None:
        """Give the stage of a solve, by what is solved; of a long table, by some of its cells."""
        if self.checkpoint is None:
            return None
        penalties = (objective.rank_penalty, objective.residual_penalty, objective.feature_weight)
        digest = hashlib.blake2b(repr((penalties, objective.free_offsets)).encode(), digest_size=8)
        x, y = (cells.x_start, cells.x_column, cells.x_value), (cells.y_start, cells.y_column, cells.y_value)
        for array in (objective.offsets, *x, *y):
            digest.update(np.ascontiguousarray(array).data)
        return self.checkpoint.stage(f"minimiser-{digest.hexdigest()}")

    def minimise(self, observed: Observations, yes_no: BoolArray, penalties: Penalties) -> Minimiser:
        """Set F up on a table and minimise it; with ``polish``, refit at a clear rank."""
        settings = self.settings
        fit = Minimiser.fit(
            observed,
            yes_no,
            penalties,
            self.solve,
            center=settings.center,
            scale=settings.scale,
            free_offsets=settings.center and finds_offsets(settings.solver),
            exact=is_exact(settings.solver),
        )
        refit = polish(fit.objective, fit.certified) if settings.polish else None
        return fit if refit is None else replace(fit, solution=refit)
