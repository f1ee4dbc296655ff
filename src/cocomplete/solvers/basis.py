"""The basis of factors: where they start, and changes of it that leave every cell as it is."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.solvers.moments import pack, unpack
from cocomplete.spectral import SparseSpectrum

MOST_FACTORS, FEW_FACTORS = 32, 8
"""Factors that a fit starts with, at most: half the number of rows or columns if that is less, but for few
columns as many as they can have."""

START_LENGTH, OWN_START_LENGTH, OWN_FACTORS = 0.3, 1.0, 8
"""The zero-filled table's factors, brought to scale, are noise for the most part: start shorter. Those of the
0/1 columns alone are found sooner if they are there before the others take their place; there are at most so
many."""


def first_factors(cells: Cells, base: FloatArray) -> FloatArray:
    """Leading right singular vectors of the zero-filled table, to the scale of unit rows."""
    n, m = cells.shape
    share = max((cells.x_value.size + cells.y_value.size) / max(n * m, 1), 1e-6)
    # Four is the slope of a score against its probability at one half.
    scores = 4 * (cells.y_value - expit(base[cells.y_column].astype(np.float64)))
    values = cells.x_value - base[cells.x_column]
    left, right = cells.matrices(values.astype(np.float64), scores)
    rank = min(MOST_FACTORS, -(-n // 2), max(-(-m // 2), min(m - 1, FEW_FACTORS)))
    d = cells.n_features
    # What 0/1 columns have in common with each other may be nothing that numbers have: it has a start too.
    own = min(OWN_FACTORS, m - d - 1, rank // 2) if d else 0
    scale = 1 / (share * np.sqrt(max(n, 1)))
    s, vectors = SparseSpectrum(left, right, floor=0.0).above(0.0, rank - max(own, 0))
    V = np.zeros((m, 1 + len(s) + max(own, 0)))
    V[:, 1 : 1 + len(s)] = START_LENGTH * scale * vectors * s
    if own > 0:
        s, vectors = SparseSpectrum(left[:, :0], right, floor=0.0).above(0.0, own)
        first = V.shape[1] - own
        V[d:, first : first + len(s)] = OWN_START_LENGTH * scale * vectors * s
    return V


def whitening(spread: FloatArray) -> FloatArray:
    """Basis in which rows' factors have mean zero and unit second moments; symmetric, so least is turned."""
    width = len(spread)
    B = np.eye(width)
    if width > 1:
        mean = spread[0, 1:]
        values, vectors = np.linalg.eigh(spread[1:, 1:] - np.outer(mean, mean))
        root = np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        B[1:, 1:] = (vectors * root) @ vectors.T
        # u ← B⁻¹ u takes the mean out where B's first column puts it into the offsets.
        B[1:, 0] = mean
    return B


def rotation(
    stretch: FloatArray, groups: list[FloatArray], members: tuple[NDArray[np.intp], ...]
) -> FloatArray:
    """Turn of the factors that makes the columns' second moments diagonal, groups weighed by their number."""
    width = len(stretch)
    R = np.eye(width)
    total = np.zeros((width - 1, width - 1))
    for second, member in zip(groups, members, strict=True):
        turned = (stretch.T @ second @ stretch)[1:, 1:]
        trace = np.trace(turned)
        if trace > 0:
            total += member.size / trace * turned
    if width > 1:
        R[1:, 1:] = np.linalg.eigh(total)[1][:, ::-1]
    return R


def congruent(packed: FloatArray, T: FloatArray, width: int) -> FloatArray:
    """T E Tᵀ of a stack of packed symmetric matrices, as two large products."""
    half = unpack(packed, width).reshape(-1, width) @ T.T
    half = half.reshape(-1, width, width).swapaxes(1, 2).reshape(-1, width)
    return pack((half @ T.T).reshape(-1, width, width))
