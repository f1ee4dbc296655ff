"""Which solver for which regime, and one way to call them all."""

from typing import Any

import numpy as np

from cocomplete.engines.blas import one_thread_if_small
from cocomplete.exceptions import InputError
from cocomplete.problem.objective import Objective
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.primal_dual import solve_primal_dual
from cocomplete.solvers.solution import Progress, Solution
from cocomplete.solvers.subgradient import solve_subgradient

SOLVERS = ("auto", "factored", "primal-dual", "paper")

OPTIONS = {"factored": (), "primal-dual": (), "paper": ("step", "decay", "floor")}
"""What ``solver_options`` may hold."""


EXTREME, EXTREME_SINGLE = 1e100, 1e15
"""Penalties are at most this, and at least its inverse, so that their squares are numbers."""


def choose(solver: str, objective: Objective) -> tuple[str, str]:
    """Name the solver for an objective, and the reason.

    Raises
    ------
    InputError
        If the solver asked for cannot handle the regime, or the float type cannot handle the penalties.
    """
    _check_penalties(objective)
    if solver == "factored" and objective.regime == "between":
        msg = (
            f"solver='factored' needs residual_penalty 0 or at least rank_penalty "
            f"({objective.rank_penalty:g}), got {objective.residual_penalty:g}; "
            "use solver='primal-dual' or 'auto'"
        )
        raise InputError(msg)
    if solver != "auto":
        return solver, "as asked"
    return {
        "smooth": ("factored", "residual_penalty is 0"),
        "interpolation": ("factored", "residual_penalty >= rank_penalty, so features are met exactly"),
        "between": ("primal-dual", "0 < residual_penalty < rank_penalty: two trace norms"),
    }[objective.regime]


def _check_penalties(objective: Objective) -> None:
    single = objective.dtype == np.float32
    most = EXTREME_SINGLE if single else EXTREME
    for name in ("rank_penalty", "residual_penalty", "feature_weight"):
        value = getattr(objective, name)
        if value != 0 and not 1 / most <= value <= most:
            cure = "pass X as float64, or " if single else ""
            zero = "" if name == "rank_penalty" else "0 or "
            msg = (
                f"{name} must be {zero}between {1 / most:g} and {most:g} for X of type {objective.dtype}, "
                f"got {value:g}; {cure}bring X to another unit, or scale=True"
            )
            raise InputError(msg)


def solve(
    solver: str,
    objective: Objective,
    *,
    tol: float,
    max_rank: int | None,
    max_iter: int | None,
    options: dict[str, Any] | None,
    progress: Progress | None,
) -> Solution:
    """Call a solver by name with what it understands of these settings.

    Raises
    ------
    InputError
        If ``options`` holds something the solver does not take.
    """
    given = dict(options or {})
    unknown = sorted(given.keys() - set(OPTIONS[solver]))
    if unknown:
        takes = ", ".join(OPTIONS[solver]) or "none"
        msg = f"solver_options has {unknown}, but solver={solver!r} takes {takes}"
        raise InputError(msg)
    limit: dict[str, Any] = {} if max_iter is None else {"max_iter": max_iter}
    with one_thread_if_small(objective.shape):
        if solver == "factored":
            return solve_factored(objective, tol=tol, max_rank=max_rank, progress=progress, **limit)
        if solver == "primal-dual":
            return solve_primal_dual(objective, tol=tol, progress=progress, **limit)
        if "step" not in given:
            # The paper's step suits its weights; for others 1/L is the longest that surely descends.
            given = {"step": 1 / objective.smoothness, "decay": 1.0, "floor": None} | given
        return solve_subgradient(objective, progress=progress, **limit, **given)
