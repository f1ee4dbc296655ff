"""Figure 2: errors of X and Y along the iterations, and along the clock."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import product
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from cocomplete.arrays import FloatArray
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.experiments.runner import Figures, Trial
from cocomplete.experiments.table_1 import ALGORITHM_1, ITERATIONS, Setting
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.subgradient import solve_subgradient
from cocomplete.spectral import LowRank

NAME = "figure2"

SETTINGS = (Setting(1000, 500, 100, 10, 0.2), Setting(5000, 500, 100, 20, 0.2))
"""Panels (a, b) and (c, d) of the paper's figure."""

RESIDUAL_PENALTY = {"COCO-1": 1.0, "COCO-0": 0.0, "COCO-1 exact": 1.0, "COCO-0 exact": 0.0}
"""λ2 of every method."""

METHODS = tuple(RESIDUAL_PENALTY)

GAP = 1e-4
"""Relative duality gap at which the exact solver stops: ten times closer than in the tables, to see where
the curve goes."""

EFFORT = {"COCO-1": 130.0, "COCO-0": 80.0, "COCO-1 exact": 25.0, "COCO-0 exact": 25.0}
"""About what a method costs in SVDs of the table."""

PANEL = 512
"""Rows multiplied out at a time."""


def recovery_errors(data: Bunch, M: LowRank, offsets: FloatArray) -> dict[str, float]:
    """Relative error ‖X̂ − X‖_F / ‖X‖_F and share of wrong labels, a panel of rows at a time.

    Parameters
    ----------
    data : Bunch
        ``X_true`` of shape (n_samples, n_features) and ``Y_true`` of shape (n_samples, n_labels).
    M : LowRank
        [X̂, Ẑ] without offsets.
    offsets : ndarray of shape (n_features + n_labels,)
    """
    n, d = data.X_true.shape
    scaled = M.s[:, None] * M.Vt
    squares, wrong = 0.0, 0
    for first in range(0, n, PANEL):
        rows = slice(first, first + PANEL)
        T = M.U[rows] @ scaled + offsets
        squares += float(np.sum((T[:, :d] - data.X_true[rows]) ** 2))
        wrong += int(np.count_nonzero((T[:, d:] > 0) != (data.Y_true[rows] > 0)))
    return {"X": float(np.sqrt(squares) / np.linalg.norm(data.X_true)), "Y": wrong / data.Y_true.size}


def paper_objective(data: Bunch, residual_penalty: float) -> Objective:
    """Give F with the paper's weights: λ1 = 1, w = 0.01, no offsets."""
    columns = data.X.shape[1] + data.Y.shape[1]
    return Objective(Observations(data.X, data.Y), 1.0, residual_penalty, 0.01, np.zeros(columns))


@cache
def _load_kernels() -> None:
    """Have every compiled loop in memory, so that no curve's clock runs while one is compiled or loaded."""
    # Enough cells for the exact solver to search in single precision, as it does in the figure.
    data = make_low_rank_multilabel(200, 100, 25, 2, 0.9, random_state=0)
    for residual_penalty in set(RESIDUAL_PENALTY.values()):
        objective = paper_objective(data, residual_penalty)
        solve_subgradient(objective, max_iter=1)
        solve_factored(objective, max_iter=1)


def work(trial: Trial) -> Figures:
    """Make the trial's table, solve, and give the curves.

    Returns
    -------
    dict
        Lists ``iteration``, ``seconds``, ``X``, ``Y`` and ``objective``, of equal lengths.
    """
    setting = Setting(**{name: trial.setting[name] for name in Setting._fields})
    data = make_low_rank_multilabel(*setting, random_state=trial.seed)
    objective = paper_objective(data, RESIDUAL_PENALTY[trial.method])
    _load_kernels()

    def monitor(M: LowRank, offsets: FloatArray) -> dict[str, float]:
        # Every iterate counts, since Algorithm 1 swings from one to the next.
        return recovery_errors(data, M, offsets)

    if trial.method in ALGORITHM_1:
        iterations = int(trial.setting.get("iterations", ITERATIONS))
        history = solve_subgradient(objective, max_iter=iterations, monitor=monitor).history
    else:
        history = solve_factored(objective, tol=GAP, monitor=monitor).history
    curves: Figures = {"iteration": [record["iteration"] for record in history]}
    for name in ("seconds", "X", "Y", "objective"):
        # As many digits as a drawing could show.
        curves[name] = [float(f"{record[name]:.7g}") for record in history]
    return curves


def trials(
    settings: Iterable[Setting] = SETTINGS,
    methods: Sequence[str] = METHODS,
    count: int = 1,
    iterations: int = ITERATIONS,
) -> list[Trial]:
    """Give the trials, those of the first seed first and the longest first within it."""
    found = []
    for setting, method, seed in product(settings, methods, range(count)):
        given: dict[str, Any] = setting._asdict()
        if method in ALGORITHM_1:
            given["iterations"] = iterations
        found.append(Trial(NAME, given, method, seed, EFFORT[method] * setting.n * (setting.d + setting.l)))
    return sorted(found, key=lambda trial: (trial.seed, -trial.effort))
