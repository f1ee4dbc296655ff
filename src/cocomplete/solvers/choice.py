"""Which solver for which regime, and one way to call them all.

Solvers declare themselves (:mod:`cocomplete.solvers.solver`); every file of this folder is asked for its own.
"""

import pkgutil
from importlib import import_module
from typing import Any

import numpy as np

from cocomplete import solvers
from cocomplete.checkpoint import Stage
from cocomplete.engines.blas import one_thread_if_small
from cocomplete.exceptions import InputError
from cocomplete.problem.objective import Objective, Regime
from cocomplete.solvers.solution import Progress, Solution
from cocomplete.solvers.solver import Solver

EXTREME, EXTREME_SINGLE = 1e100, 1e15
"""Penalties are at most this, and at least its inverse, so that their squares are numbers."""

REASONS: dict[Regime, str] = {
    "smooth": "residual_penalty is 0",
    "interpolation": "residual_penalty >= rank_penalty, so features are met exactly",
    "between": "0 < residual_penalty < rank_penalty: two trace norms",
}

NEEDS: dict[Regime, str] = {
    "smooth": "0",
    "interpolation": "at least rank_penalty ({:g})",
    "between": "between 0 and rank_penalty ({:g})",
}
"""What a solver for a regime asks of residual_penalty."""


def _declared() -> dict[str, Solver]:
    """Collect the solvers of this folder, those first that "auto" takes if they suit.

    Exact ones come before others, and those that see the observed cells alone before those that need the
    whole matrix.
    """
    here = (one.name for one in pkgutil.iter_modules(solvers.__path__, f"{solvers.__name__}."))
    modules = (import_module(name) for name in here if name != __name__)
    found = [module.SOLVER for module in modules if hasattr(module, "SOLVER")]
    return {one.name: one for one in sorted(found, key=lambda one: (not one.exact, one.dense, one.name))}


SOLVERS = _declared()
"""Every solver by its name."""

NAMES = ("auto", *SOLVERS)


def choose(solver: str, objective: Objective) -> tuple[str, str]:
    """Name the solver for an objective, and the reason.

    Raises
    ------
    InputError
        If the solver asked for cannot handle the regime, or the float type cannot handle the penalties.
    """
    _check_penalties(objective)
    suitable = [one.name for one in SOLVERS.values() if objective.regime in one.regimes]
    if solver == "auto":
        return suitable[0], REASONS[objective.regime]
    if solver in suitable:
        return solver, "as asked"
    needs = " or ".join(NEEDS[regime] for regime in SOLVERS[solver].regimes)
    msg = (
        f"solver={solver!r} needs residual_penalty {needs.format(objective.rank_penalty)}, "
        f"got {objective.residual_penalty:g}; use solver={', '.join(map(repr, suitable))} or 'auto'"
    )
    raise InputError(msg)


def is_exact(solver: str) -> bool:
    """Whether a solver stops at a duality gap; "auto" takes only such."""
    return solver == "auto" or SOLVERS[solver].exact


def finds_offsets(solver: str) -> bool:
    """Whether a solver minimises over offsets too; those that "auto" takes do."""
    return solver == "auto" or SOLVERS[solver].free_offsets


def options_of(solver: str) -> tuple[str, ...]:
    """Give what ``solver_options`` may hold; nothing for "auto", as solvers have none in common."""
    return () if solver == "auto" else SOLVERS[solver].options


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
    stage: Stage | None = None,
) -> Solution:
    """Call a solver by name with what it understands of these settings.

    Parameters
    ----------
    solver : str
        One that :func:`choose` gives.
    options : dict or None
        Known to be the solver's own.
    stage : Stage, optional
        Of a checkpoint; for a solver that can go on from one.
    """
    declared = SOLVERS[solver]
    settings = {"tol": tol, "max_rank": max_rank}
    given: dict[str, Any] = {name: settings[name] for name in declared.settings}
    if max_iter is not None:
        given["max_iter"] = max_iter
    if declared.resumes:
        given["stage"] = stage
    with one_thread_if_small(objective.shape):
        return declared.solve(objective, progress=progress, **given, **(options or {}))
