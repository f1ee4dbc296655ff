"""A first guess: the rank from the spectrum of the observed features, then a few alternating sweeps."""

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.solvers.factors import FactoredObjective
from cocomplete.spectral import SparseSpectrum

MAX_START_RANK = 30
SWEEPS = 5


def spectral_start(function: FactoredObjective, max_rank: int) -> FloatArray:
    """Factors that explain the features roughly and the labels through them.

    Returns
    -------
    W : ndarray of shape (n + m, width)
        With at least one factor, balanced.
    """
    engine, objective = function.engine, function.objective
    cells, n = engine.cells, engine.n
    offsets = objective.offsets.astype(engine.dtype, copy=True)
    V = _leading_features(function, offsets, min(max_rank, MAX_START_RANK))
    W = function.pack(np.zeros((n, V.shape[1]), engine.dtype), V, offsets)
    given = {"free_offsets": objective.free_offsets}
    for _ in range(SWEEPS if cells.x_value.size else 0):
        engine.row_step(
            W,
            np.empty(0, engine.dtype),
            function.rho,
            function.ridge,
            dtype=engine.dtype.type,
            decrement=0.0,
            labels=False,
            steps=(1, 20),
        )
        engine.column_step(W, function.rho, function.ridge, labels=False, steps=(1, 20), **given)
        W, _ = function.balance(W)
    if cells.y_value.size:
        engine.column_step(W, function.rho, function.ridge, labels=True, steps=(6, 10), **given)
    engine.forget_columns()
    return function.balance(W)[0]


def _leading_features(function: FactoredObjective, offsets: FloatArray, most: int) -> FloatArray:
    """Right singular vectors of the zero-filled features, as many as stand out; zero on the labels."""
    cells, m = function.engine.cells, function.engine.m
    d = cells.n_features
    filled = cells.x_value - offsets[cells.x_column]
    V = np.zeros((m, 1), function.engine.dtype)
    if not filled.any():
        return V
    left, right = cells.matrices(filled, np.zeros_like(cells.y_value))
    values, vectors = SparseSpectrum(left, right[:, :0], floor=0.0).above(0.0, most + 1)
    if not values.size:
        # Products of what is next to zero are zero.
        return V
    # The largest drop between neighbours; ties of noise far below the top do not count.
    ratios = values[:-1] / np.maximum(values[1:], 1e-3 * values[0])
    rank = int(np.argmax(ratios[:most])) + 1 if ratios.size else 1
    share = max(cells.x_value.size / (cells.shape[0] * d), 1e-6)
    V = np.zeros((m, rank), function.engine.dtype)
    V[:d] = vectors[:, :rank] * np.sqrt(values[:rank] / share)
    return V
