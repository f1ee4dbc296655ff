"""Proximal gradient for a smooth loss plus a trace norm, plain or accelerated: the project's only such loop.

    minimise  f(M + 1oᵀ) + μ‖M‖_*     by     M ← SVT_{μ/L}( V − ∇f(V)/L )

with V the extrapolated M (FISTA) or M itself. The paper's rivals are all of this form, and their published
figures are this loop stopped early: nothing is added to it that they did not have unless it is asked for.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from time import perf_counter

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.certificate import DualPoint, lower_bound, relative_gap
from cocomplete.problem.objective import Objective
from cocomplete.solvers.solution import History, Monitor, Progress, Solution
from cocomplete.spectral import LowRank, Shrunken, shrink

Loss = Callable[[FloatArray], tuple[float, FloatArray]]
"""Value and gradient of f at T = M + 1oᵀ, n × m. It leaves T alone, and the gradient is the caller's."""


@dataclass(frozen=True, eq=False)
class Recipe:
    """How the loop goes.

    Attributes
    ----------
    curvature : float, default=1.0
        L: the step is 1/L. With 1/L at most one over the Lipschitz constant of ∇f the loop converges.
    backtrack : bool, default=False
        Whether L is doubled until the quadratic model bounds f; it never falls again.
    accelerate : bool, default=True
        Whether V is extrapolated by (t − 1)/t⁺ with t⁺ = (1 + √(1 + 4t²))/2. The first two steps are plain.
    restart : bool, default=False
        Whether momentum is dropped when it points uphill.
    quadratic : bool, default=False
        Whether f is quadratic and its offsets are fixed: value and gradient at V then follow from those at
        the last two M, and one look at the loss per step is enough.
    offset_steps : ndarray of shape (n_columns,) or None, default=None
        Step size of each free offset o, 0 for a fixed one; None fixes all.
    constrain : callable or None, default=None
        Given M, dense, after every shrinkage; it may set cells of M in place.
    max_iter : int, default=100
        T, the most iterations.
    tol : float, default=0.0
        Stop when the objective changes by less than this share of itself, as the published codes of Maxide
        and MC do; 0 runs all iterations.
    """

    curvature: float = 1.0
    backtrack: bool = False
    accelerate: bool = True
    restart: bool = False
    quadratic: bool = False
    offset_steps: FloatArray | None = None
    constrain: Callable[[FloatArray], None] | None = None
    max_iter: int = 100
    tol: float = 0.0


def solve_proximal(
    loss: Loss,
    penalty: float,
    start: LowRank,
    offsets: FloatArray,
    recipe: Recipe,
    *,
    monitor: Monitor | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Run the loop from a starting point.

    Parameters
    ----------
    loss : callable
        f: value and gradient at a dense matrix.
    penalty : float
        μ, weight of the trace norm.
    start : LowRank of shape (n_rows, n_columns)
        M before the first step.
    offsets : ndarray of shape (n_columns,)
        o before the first step.
    recipe : Recipe
    monitor, progress : callable, optional
        See :mod:`cocomplete.solvers.solution`.

    Returns
    -------
    Solution
        Its ``duality_gap`` is NaN: see :func:`with_gap`. ``converged`` is whether ``tol`` was met. M is the
        last shrunken matrix, before ``constrain`` touched it.
    """
    history = History(perf_counter(), monitor, progress)
    L, t, total, converged = recipe.curvature, 1.0, np.inf, False
    shrunken: Shrunken | None = None
    M, o = start.dense(), offsets
    V, V_o = _constrained(M.copy(), recipe), o
    slope: FloatArray | None = None
    ahead: tuple[float, FloatArray] | None = None
    for iteration in range(1, recipe.max_iter + 1):
        at_V, gradient = loss(_shift(V, V_o)) if ahead is None else ahead
        o_new = V_o if recipe.offset_steps is None else V_o - recipe.offset_steps * gradient.sum(axis=0)
        shrunken, M_new, value, slope_new, L = _step(loss, penalty, recipe, V, at_V, gradient, o_new, L)
        total, before = value + penalty * shrunken.trace_norm, total
        history.add(iteration, total, shrunken.low_rank, o_new, rank=shrunken.rank)
        change, o_change = M_new - M, o_new - o
        M, o = M_new, o_new
        converged = abs(total - before) < recipe.tol * abs(total)
        if converged:
            break
        uphill = recipe.restart and float(np.vdot(M_new - V, change)) < 0
        momentum, t = _momentum(1.0 if uphill else t) if recipe.accelerate else (0.0, t)
        if recipe.quadratic and slope is not None:
            ahead = _further(value, slope_new, slope, change, momentum)
        slope, V = slope_new, _extrapolated(M, change, momentum)
        V_o = o + M.dtype.type(momentum) * o_change
    reached = start if shrunken is None else shrunken.low_rank()
    return Solution(
        reached, o, total, float("nan"), len(history.records), converged=converged, history=history.records
    )


def _step(
    loss: Loss,
    penalty: float,
    recipe: Recipe,
    V: FloatArray,
    at_V: float,
    gradient: FloatArray,
    offsets: FloatArray,
    L: float,
) -> tuple[Shrunken, FloatArray, float, FloatArray, float]:
    """Do a gradient step from V and shrink; give M, M dense and constrained, f and ∇f there, and L."""
    while True:
        # The gradient is ours: only a step that may have to be taken again needs it once more.
        aim = gradient.copy() if recipe.backtrack else gradient
        aim *= V.dtype.type(-1 / L)
        aim += V
        shrunken = shrink(aim, penalty / L)
        M = _constrained(shrunken.dense(), recipe)
        value, slope = loss(_shift(M, offsets))
        if not recipe.backtrack:
            break
        move = M - V
        if value <= at_V + float(np.vdot(gradient, move)) + L / 2 * float(np.vdot(move, move)):
            break
        L *= 2
    return shrunken, M, value, slope, L


def _constrained(M: FloatArray, recipe: Recipe) -> FloatArray:
    """Give M, of which the recipe has set cells in place if it does so."""
    if recipe.constrain is not None:
        recipe.constrain(M)
    return M


def _extrapolated(M: FloatArray, change: FloatArray, momentum: float) -> FloatArray:
    """Give M + momentum · change, in the memory of ``change``."""
    change *= M.dtype.type(momentum)
    change += M
    return change


def _momentum(t: float) -> tuple[float, float]:
    """Nesterov's (t − 1)/t⁺ and t⁺."""
    longer = (1 + np.sqrt(1 + 4 * t * t)) / 2
    return (t - 1) / longer, longer


def _further(
    value: float, slope: FloatArray, before: FloatArray, change: FloatArray, momentum: float
) -> tuple[float, FloatArray]:
    """Value and gradient of a quadratic beyond its last point, from its slopes there and before."""
    bend = slope - before
    along = float(np.vdot(slope, change)) + momentum / 2 * float(np.vdot(bend, change))
    return value + momentum * along, slope + slope.dtype.type(momentum) * bend


def _shift(M: FloatArray, offsets: FloatArray) -> FloatArray:
    """Give M + 1oᵀ; without offsets M itself, for a copy of it would cost as much as a small product."""
    return M + offsets if offsets.any() else M


def solve_continuation(
    loss: Loss, penalties: Sequence[float], start: LowRank, offsets: FloatArray, recipe: Recipe
) -> Iterator[tuple[float, Solution]]:
    """Solve for one μ after the other, each from the answer before.

    Parameters
    ----------
    loss, start, offsets, recipe
        As for :func:`solve_proximal`.
    penalties : sequence of float
        μ values, falling.

    Yields
    ------
    penalty, solution
        As soon as it is there; stop asking when you have seen enough.
    """
    for penalty in penalties:
        solution = solve_proximal(loss, penalty, start, offsets, recipe)
        start, offsets = solution.M, solution.offsets
        yield penalty, solution


def with_gap(objective: Objective, solution: Solution) -> Solution:
    """Measure how far a solution is from the minimum of an objective without a residual penalty.

    The gradient of the losses, scaled into the feasible set, is the dual point; offsets count as fixed.
    """
    data, d = objective.table, objective.table.n_features
    _, gradient = objective.smooth(solution.M.dense() + solution.offsets)
    A, S = gradient[:, :d][data.X_known], gradient[:, d:][data.Y_known]
    bound = lower_bound(objective, Cells.of(data), DualPoint(A, A, S), solution.offsets)
    return replace(solution, duality_gap=relative_gap(solution.objective, bound))
