"""Algorithm 1 of the paper, as printed.

A subgradient step on f + λ2 h, then singular value shrinkage, for a fixed number of iterations. It is
kept as the paper's reference: it does not reach the minimum of its own objective, because the step size has
a floor and the second trace norm is not smooth.
"""

from time import perf_counter
from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.interrupts import stop_requested
from cocomplete.problem.objective import Objective
from cocomplete.solvers.solution import History, Monitor, Progress, Solution
from cocomplete.solvers.solver import ALL_REGIMES, Solver
from cocomplete.spectral import LowRank, Shrunken, shrink


def solve_subgradient(
    objective: Objective,
    *,
    max_iter: int = 300,
    step: float = 100.0,
    decay: float = 0.99,
    floor: float | None = 40.0,
    monitor: Monitor | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Run Algorithm 1 (COCO).

    Parameters
    ----------
    objective : Objective
    max_iter : int, default=300
        T, the number of iterations.
    step : float, default=100.0
        η_1, the first step size.
    decay : float, default=0.99
        η_t = decay · η_{t−1}.
    floor : float or None, default=40.0
        The step stops decaying here (synthetic data in the paper); None lets it decay for ever (CAL500).
    monitor : callable, optional
        Called with every iterate; its figures are added to the history.
    progress : callable, optional
        Called with every record.

    Returns
    -------
    Solution
        Without a certificate: ``duality_gap`` is NaN and ``converged`` is False.

    Raises
    ------
    InputError
        If the steps are so long that the iterates run away.

    Notes
    -----
    The shrinkage threshold is η_t·λ1, the proximal step of λ1‖·‖_*, although the paper's Eq. (4) writes λ1:
    only so do its published figures come out.
    """
    history = History(perf_counter(), monitor, progress)
    return _iterate(objective, history, max_iter, step, decay, floor)


def _solve(objective: Objective, **settings: Any) -> Solution:
    """Run Algorithm 1 on any objective: with steps of 1/L, unless a step is given."""
    if "step" not in settings:
        # The paper's step suits its weights; for others 1/L is the longest that descends for certain.
        settings = {"step": 1 / objective.smoothness, "decay": 1.0, "floor": None} | settings
    return solve_subgradient(objective, **settings)


SOLVER = Solver(
    "paper",
    _solve,
    ALL_REGIMES,
    options=("step", "decay", "floor"),
    dense=True,
    exact=False,
    free_offsets=False,
)


def _iterate(
    objective: Objective, history: History, max_iter: int, eta: float, decay: float, floor: float | None
) -> Solution:
    """Do a subgradient step and a shrinkage at a time, from M = 0."""
    dense = np.zeros(objective.shape, objective.dtype)
    shifted = bool(objective.offsets.any())
    value, gradient = objective.loss(dense + objective.offsets)
    reached: Shrunken | None = None
    interrupted = False
    for iteration in range(1, max_iter + 1):
        objective.descend(dense, gradient, eta)
        _check_size(dense, iteration, eta)
        M = shrink(dense, eta * objective.rank_penalty)
        dense = M.dense()
        value, gradient = objective.loss(dense + objective.offsets if shifted else dense, out=gradient)
        value += objective.rank_penalty * M.trace_norm
        history.add(iteration, value, M.low_rank, objective.offsets, rank=M.rank, step=eta)
        reached = M
        interrupted = stop_requested()
        if interrupted:
            break
        eta = eta * decay if floor is None else max(eta * decay, min(floor, eta))
    return Solution(
        LowRank.zero(objective.shape, objective.dtype) if reached is None else reached.low_rank(),
        objective.offsets,
        value,
        float("nan"),
        len(history.records),
        converged=False,
        history=history.records,
        interrupted=interrupted,
    )


def _check_size(dense: FloatArray, iteration: int, step: float) -> None:
    """Refuse iterates whose squares, and the squares of these, are no numbers."""
    largest = float(np.finfo(dense.dtype).max) ** 0.25
    # NaN compares as false.
    if not (dense.min(initial=0) > -largest and dense.max(initial=0) < largest):
        msg = (
            f"solver='paper' runs away: in iteration {iteration}, with step {step:g}, its matrix grows "
            f"beyond {largest:.2g}; give solver_options a smaller step or decay, or a smaller feature_weight"
        )
        raise InputError(msg)
