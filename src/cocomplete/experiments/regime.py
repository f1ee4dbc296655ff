"""Where the minimiser passes through every observed feature: from λ2 = λ1 on, if not a little before.

The proof is in ``docs/interpolation.md``.
"""

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any

import numpy as np

from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.experiments.runner import Figures, Trial
from cocomplete.experiments.table_1 import Setting
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.primal_dual import solve_primal_dual

NAME = "regime"

METHOD = "primal-dual"
"""Its steps are the same for every λ2 > 0, so that nothing in them aims at what is to be shown."""

SETTING = {"n": 60, "d": 20, "l": 8, "r": 3, "observed": 0.6, "rank_penalty": 3.0, "feature_weight": 0.01}

RATIOS = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.97, 0.99, 1.0, 1.1, 1.5, 2.0)
"""λ2 / λ1."""

SHRUNK, NOISE = 0.1, 0.5
"""The generator's features are multiplied by the first, then get noise of the second's deviation."""

GAP, MOST_ITERATIONS = 1e-7, 20_000


def noisy_table(setting: Mapping[str, Any], seed: int) -> Observations:
    """Give a table of the paper's generator whose features have noise.

    Without noise the features alone are of low rank, and a minimiser that misses none of them would be no
    surprise.
    """
    sizes = Setting(**{name: setting[name] for name in Setting._fields})
    data = make_low_rank_multilabel(*sizes, random_state=seed)
    # A generator of its own: the seed's first numbers already made the table.
    noise = np.random.default_rng([seed, 1]).normal(0, NOISE, data.X.shape)
    return Observations(SHRUNK * data.X + noise, data.Y)


def work(trial: Trial) -> Figures:
    """Solve accurately, and see how far from the observed features the answer stays.

    Returns
    -------
    dict
        ``residual`` = ‖P_ΩX(X̂ − X)‖_F / ‖P_ΩX(X)‖_F, ``gap`` (relative duality gap), ``objective`` and
        ``rank``.
    """
    setting = trial.setting
    observed = noisy_table(setting, trial.seed)
    rank_penalty = setting["rank_penalty"]
    objective = Objective(
        observed,
        rank_penalty,
        setting["ratio"] * rank_penalty,
        setting["feature_weight"],
        np.zeros(observed.n_features + observed.n_labels),
    )
    solution = solve_primal_dual(objective, tol=GAP, max_iter=MOST_ITERATIONS)
    residual = np.linalg.norm(objective.residual(solution.M.dense()))
    return {
        "residual": float(residual / np.linalg.norm(observed.X[observed.X_known])),
        "gap": solution.duality_gap,
        "objective": solution.objective,
        "rank": solution.M.rank,
    }


def trials(ratios: Sequence[float] = RATIOS, count: int = 3) -> list[Trial]:
    """Give the trials: first seed first."""
    return [
        Trial(NAME, SETTING | {"ratio": ratio}, METHOD, seed) for seed, ratio in product(range(count), ratios)
    ]
