"""A first guess: the rank from the spectrum of the observed features, then a few alternating sweeps.

Of a long table some rows are solved for instead: they show the columns' factors, and all rows follow.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.problem.cell_blocks import ColumnCensus
from cocomplete.problem.cells import Cells, without_labels
from cocomplete.problem.objective import Objective
from cocomplete.solvers.factors import FactoredObjective
from cocomplete.solvers.loss_block import RowStep
from cocomplete.solvers.solution import Solution

MAX_START_RANK = 30
SWEEPS = 5

LONG, START_ROWS = 60_000, 20_000
"""Rows from which on a table is long, and how many of them are solved for first: at a third or less of what a
round on all of them costs, they show the columns' factors to the error of so many rows."""

START_TOL, START_ROUNDS = 0.01, 20
"""Duality gap to which they are solved, and most rounds."""


def spectral_start(function: FactoredObjective, max_rank: int) -> FloatArray:
    """Factors that explain the features roughly and the labels through them.

    Returns
    -------
    W : ndarray of shape (n + m, width)
        With at least one factor, balanced.
    """
    losses, objective = function.losses, function.objective
    cells = losses.cells
    offsets = objective.offsets.astype(losses.dtype, copy=True)
    V = _leading_features(function, offsets, min(max_rank, MAX_START_RANK))
    W = function.pack(None, V, offsets)
    free = objective.free_offsets
    features_alone = RowStep(function.rho, function.ridge, decrement=0.0, labels=False)
    no_multiplier = np.empty(0, losses.dtype)
    for _ in range(SWEEPS if cells.x_value.size else 0):
        losses.row_step(W, no_multiplier, features_alone)
        losses.column_step(W, features_alone, free_offsets=free)
        W, _ = function.balance(W)
    if cells.y_value.size:
        how = RowStep(function.rho, function.ridge, decrement=0.0, steps=(6, 10))
        losses.column_step(W, how, free_offsets=free)
    losses.forget_columns()
    return function.balance(W)[0]


Solve = Callable[[Objective], Solution]
"""Minimises the objective of some rows, well enough to start from."""


def sampled_start(function: FactoredObjective, solve: Solve) -> FloatArray:
    """Factors of the columns that evenly spaced rows show, and all rows' by the row step alone.

    Parameters
    ----------
    function : FactoredObjective
        Of a long table.
    solve : callable

    Returns
    -------
    W : ndarray of shape (n + m, width)
        Balanced.
    """
    losses = function.losses
    W = function.pack(None, *sampled_columns(function.objective, losses.cells, losses.n, solve))
    how = RowStep(function.rho, function.ridge, decrement=0.0, steps=(2, 20))
    losses.row_step(W, np.empty(0, losses.dtype), how)
    return function.balance(W)[0]


def sampled_columns(
    objective: Objective, cells: Cells, n: int, solve: Solve
) -> tuple[FloatArray, FloatArray]:
    """Factors of the columns, and their offsets, that some rows show.

    Parameters
    ----------
    objective : Objective
        Of a long table.
    cells : Cells
        Rows of it, of which evenly spaced ones are solved for.
    n : int
        How many rows the table has.
    solve : callable

    Returns
    -------
    V : ndarray of shape (m, k)
    offsets : ndarray of shape (m,)
    """
    seen = cells.shape[0]
    if seen > START_ROWS:
        cells, seen = cells.take(np.linspace(0, seen - 1, START_ROWS).astype(np.intp)), START_ROWS
    if objective.free_offsets:
        # With a free offset a label of one value has no minimum.
        cells = without_labels(cells, ColumnCensus.of(cells).one_sided(cells.n_features))
    # With these penalties F of a share q of the rows is q F: trace norms grow with the root of the rows.
    scale = float(np.sqrt(seen / n))
    solution = solve(
        replace(
            objective,
            observed=cells,
            rank_penalty=scale * objective.rank_penalty,
            residual_penalty=scale * objective.residual_penalty,
        )
    )
    return solution.M.Vt.T * np.sqrt(solution.M.s / scale), solution.offsets


def _leading_features(function: FactoredObjective, offsets: FloatArray, most: int) -> FloatArray:
    """Right singular vectors of the zero-filled features, as many as stand out; zero on the labels."""
    cells, m = function.losses.cells, function.losses.m
    d = cells.n_features
    filled = cells.x_value - offsets[cells.x_column]
    V = np.zeros((m, 1), function.losses.dtype)
    if not filled.any():
        return V
    values, vectors = function.losses.spectrum(filled, None, floor=0.0).above(0.0, most + 1)
    if not values.size:
        # Products of what is next to zero are zero.
        return V
    # The largest drop between neighbours; ties of noise far below the top do not count.
    ratios = values[:-1] / np.maximum(values[1:], 1e-3 * values[0])
    rank = int(np.argmax(ratios[:most])) + 1 if ratios.size else 1
    share = max(cells.x_value.size / (cells.shape[0] * d), 1e-6)
    V = np.zeros((m, rank), function.losses.dtype)
    V[:d] = vectors[:, :rank] * np.sqrt(values[:rank] / share)
    return V
