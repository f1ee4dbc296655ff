"""A refit at the rank that the spectrum shows, with a small penalty.

The trace norm shrinks strong directions as much as weak ones. Where the singular values fall off a cliff, the
directions above it are signal: refitting them alone, nearly unpenalised, removes the shrinkage.
"""

from dataclasses import replace

import numpy as np

from cocomplete.problem.objective import Objective
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.solution import Solution
from cocomplete.spectral import LowRank

CLEAR_GAP = 5.0
"""A gap is clear when a singular value is this many times the next."""

SHARE = 0.2
"""The refit's λ1, as a share of the fit's."""


def clear_rank(M: LowRank) -> int | None:
    """Rank above the largest relative drop of the singular values; None if no drop is clear."""
    if M.rank < 2:
        return None
    ratios = M.s[:-1] / M.s[1:]
    at = int(np.argmax(ratios))
    return at + 1 if ratios[at] >= CLEAR_GAP else None


def polish(objective: Objective, solution: Solution, *, max_iter: int = 10) -> Solution | None:
    """Refit at the clear rank, or give None if there is none.

    The refit is not convex, so it carries no certificate: its ``duality_gap`` is NaN.
    """
    rank = clear_rank(solution.M)
    if rank is None or objective.regime == "between":
        return None
    M = solution.M
    start = replace(solution, M=LowRank(M.U[:, :rank], M.s[:rank], M.Vt[:rank]))
    lighter = replace(objective, rank_penalty=SHARE * objective.rank_penalty)
    refit = solve_factored(lighter, tol=1e-4, max_iter=max_iter, max_rank=rank, start=start)
    return replace(refit, duality_gap=float("nan"), converged=False)
