"""Theorem 2: its left side, measured on the paper's generator while more and more cells are shown."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.experiments.runner import Figures, Trial
from cocomplete.experiments.table_1 import Setting
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.solution import Solution
from cocomplete.spectral import trace_norm

NAME = "theorem"

METHOD = "constrained"
"""The theorem's estimator."""

SIZES = {"n": 300, "d": 150, "l": 75, "r": 4}
"""Small enough that every share of cells and every seed together take minutes."""

SHARES = (0.05, 0.08, 0.12, 0.18, 0.27, 0.4, 0.6, 0.9)
"""Shares of cells shown, |Ω| / (n (d + l))."""

GAP = 1e-3
"""Relative duality gap of every solve."""

MET = 2e-3
"""The constraint counts as met with equality when the trace norm is this close to its bound."""

FIRST, STRIDE = 1e-2, 0.15
"""λ1 starts at this share of λ_max and changes by this factor at a time."""

NEGLIGIBLE = 0.01
"""λ1 is not lowered further: a label's slope is of the order of 1."""


class Found(NamedTuple):
    """The constrained estimator.

    Attributes
    ----------
    solution : Solution
        M̂, the minimiser of the penalised problem at the multiplier found.
    rank_penalty : float
        λ1, the multiplier of the trace norm's constraint.
    ratio : float
        ‖M̂‖_* over its bound. Off 1 by more than ``MET`` where λ1 became negligible first, or where the bound
        is so small a share of the truth's that F at a gap of ``GAP`` does not settle it.
    """

    solution: Solution
    rank_penalty: float
    ratio: float


def constrained(objective: Objective, bound: float) -> Found:
    """Minimise the losses subject to ‖M̂‖_* ≤ ``bound``.

    Parameters
    ----------
    objective : Objective
        Its λ1 is replaced; λ2 must be 0.
    bound : float
        The theorem's α √(r n (d + l)).

    Notes
    -----
    The penalised problem with λ1 > 0 solves the constrained one whose bound is its own trace norm, and that
    trace norm falls as λ1 grows. So λ1 is changed until the bound is crossed, then found by false position
    in log λ1; every solve starts from the last. Labels can always use more trace norm (their losses fall
    to 0 only at infinity), so there is a crossing, but where few cells are shown it lies at a λ1 too small
    to solve for. Then the search ends at ``NEGLIGIBLE``, where the losses are by duality at most
    λ1·(bound − ‖M̂‖_*) above their constrained minimum, beside the duality gap.
    """
    cells = objective.cells

    def solve(rank_penalty: float, start: Solution | None) -> Found:
        changed = replace(objective, rank_penalty=rank_penalty)
        answer = solve_factored(changed, tol=GAP, start=start, cells=cells)
        return Found(answer, rank_penalty, answer.M.trace_norm / bound)

    short = long = solve(max(FIRST * objective.rank_penalty_max, NEGLIGIBLE), None)
    while short.ratio > 1 + MET:
        long, short = short, solve(short.rank_penalty / STRIDE, short.solution)
    while long.ratio < 1 - MET and long.rank_penalty > NEGLIGIBLE:
        short, long = long, solve(max(long.rank_penalty * STRIDE, NEGLIGIBLE), long.solution)
    found = min((short, long), key=lambda end: abs(end.ratio - 1))
    missing, excess = 1 - short.ratio, long.ratio - 1
    # Closer penalties than that would differ by the solver's inaccuracy alone.
    while abs(found.ratio - 1) > MET and excess > 0 and short.rank_penalty > (1 + 1e-6) * long.rank_penalty:
        weights = np.array([missing, excess]) / (missing + excess)
        logs = np.log([long.rank_penalty, short.rank_penalty])
        found = solve(float(np.exp(weights @ logs)), found.solution)
        # The Illinois rule: the end that stays counts half, so that it moves too.
        if found.ratio > 1:
            long, excess, missing = found, found.ratio - 1, missing / 2
        else:
            short, missing, excess = found, 1 - found.ratio, excess / 2
    return found


def mean_divergence(Z: FloatArray, Z_hat: FloatArray) -> float:
    """KL(σ(Z) ‖ σ(Ẑ)), the mean over cells of the divergence between two coins.

    Parameters
    ----------
    Z, Z_hat : ndarray of shape (n_samples, n_labels)
        Logits of the truth and of the estimate.

    Notes
    -----
    log σ(z) = −log(1 + e^−z) never underflows, so logits of any size are exact; the probabilities
    themselves would round to 1 from z = 37 on.
    """
    ones = expit(Z) * (np.logaddexp(0, -Z_hat) - np.logaddexp(0, -Z))
    zeros = expit(-Z) * (np.logaddexp(0, Z_hat) - np.logaddexp(0, Z))
    return float(np.mean(ones + zeros))


def rate(n: int, d: int, l: int, r: int, cells: float) -> float:  # noqa: E741 - the paper's symbol
    """Right side of Theorem 2 without its constants 2 C_0 α.

    Parameters
    ----------
    n, d, l, r : int
        The paper's sizes and rank.
    cells : float
        |Ω|.

    Notes
    -----
    √(r (n+d+l) / |Ω|) · √(1 + (n+d+l) log(n+d+l) / |Ω|) · √((d+l) / l).
    """
    side = n + d + l
    return float(np.sqrt(r * side / cells * (1 + side * np.log(side) / cells) * (d + l) / l))


def fitted_slope(x: Sequence[float] | FloatArray, y: Sequence[float] | FloatArray) -> float:
    """Least-squares slope of log y against log x.

    Examples
    --------
    >>> round(fitted_slope([1, 10, 100], [8, 0.8, 0.08]), 12)
    -1.0
    """
    slope, _ = np.polyfit(np.log(np.asarray(x, float)), np.log(np.asarray(y, float)), 1)
    return float(slope)


def work(trial: Trial) -> Figures:
    """Measure both sides of Theorem 2 on the trial's table.

    Returns
    -------
    dict
        ``left``, the sum of ``KL`` and ``X part`` = (d/l)·‖X̂ − X‖_F² / (n (d + l)); ``rate``; ``observed
        cells``, |Ω|; ``rank penalty``, the multiplier λ1; ``trace norm ratio``, ‖M̂‖_* / ‖M‖_*; ``beta``,
        the least β for which the residual's constraint holds; ``unspent``, λ1·(‖M‖_* − ‖M̂‖_*) / |Ω|, by how
        much the mean loss could still fall; ``gap``, the relative duality gap of the last solve.

    Notes
    -----
    The estimator is the paper's Eq. (5): weight 1 on the features, ‖M̂‖_* ≤ α √(r n (d + l)) with α as
    small as the theorem allows, so that the bound is the truth's own ‖M‖_*. Its second constraint,
    ‖P_ΩX(X̂ − X)‖_* ≤ β √(r n (d + l)) √(l / d), is left out (λ2 = 0) because it is met: the features have
    no noise, the truth has residual 0, and so small a λ1 leaves next to none. The theorem names no β;
    ``beta`` is the least that this answer satisfies.
    """
    setting = Setting(**{name: trial.setting[name] for name in Setting._fields})
    n, d, l, r, _ = setting  # noqa: E741 - the paper's symbol
    data = make_low_rank_multilabel(*setting, random_state=trial.seed)
    observed = Observations(data.X, data.Y)
    objective = Objective(observed, 1.0, 0.0, 1.0, np.zeros(d + l))
    truth = np.hstack((data.X_true, data.Z_true))
    bound = trace_norm(truth)
    found = constrained(objective, bound)
    M = found.solution.M.dense()
    divergence = mean_divergence(data.Z_true, M[:, d:])
    X_part = d / l * float(np.sum((M[:, :d] - data.X_true) ** 2)) / (n * (d + l))
    cells = int(observed.X_known.sum() + observed.Y_known.sum())
    return {
        "left": divergence + X_part,
        "KL": divergence,
        "X part": X_part,
        "rate": rate(n, d, l, r, cells),
        "observed cells": cells,
        "rank penalty": found.rank_penalty,
        "trace norm ratio": found.ratio,
        "beta": trace_norm(objective.residual(M)) / float(np.sqrt(r * n * (d + l) * l / d)),
        "unspent": max(found.rank_penalty * (1 - found.ratio) * bound / cells, 0.0),
        "gap": found.solution.duality_gap,
    }


def trials(shares: Sequence[float] = SHARES, count: int = 5, **sizes: int) -> list[Trial]:
    """Give the trials: first seed first. Sizes n, d, l and r can be changed by name."""
    given: dict[str, Any] = SIZES | sizes
    return [
        # Few cells are the hard ones: λ1 must fall furthest there.
        Trial(NAME, given | {"observed": share}, METHOD, seed, 0.7 / share)
        for seed, share in product(range(count), shares)
    ]
