"""The rank finds itself: directions in which the dual matrix exceeds λ1 become new factors."""

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.solvers.factors import FactoredObjective
from cocomplete.spectral import SparseSpectrum

Found = TypeVar("Found")


def add_directions(
    function: FactoredObjective,
    W: FloatArray,
    s: FloatArray,
    spectrum: SparseSpectrum,
    max_rank: int,
    size: float,
    *,
    least_excess: float,
) -> tuple[FloatArray, float, bool]:
    """Add the directions in which the dual matrix exceeds λ1, scaled by a search along all of them.

    Parameters
    ----------
    W, s : ndarray
        Balanced factors and their singular values.
    spectrum : SparseSpectrum
        Of the dual matrix.
    size : float
        Where the search starts: that of the last time.
    least_excess : float
        Share of λ1 by which the dual matrix must exceed it.

    Returns
    -------
    W : ndarray
        The factors, as they were if nothing is gained.
    size : float
        For the next time.
    exceeded : bool
        Whether directions were added and the dual matrix exceeded λ1 by more than a hundredth.
    """
    n, ridge, k = function.losses.n, function.ridge, len(s)
    if k >= max_rank:
        return W, size, False
    top = spectrum.largest()
    if top <= ridge * (1 + least_excess):
        return W, size, False
    values, vectors = spectrum.above(ridge + 0.5 * (top - ridge), max_rank - k)
    # What lies in the span of the present V the row step can reach by itself.
    strong = s > 1.0 * ridge
    present = W[n:, 1 : k + 1][:, strong] / np.sqrt(s[strong])
    fresh = 1 - ((present.T @ vectors) ** 2).sum(axis=0) > 0.3
    values, vectors = values[fresh], vectors[:, fresh]
    if not values.size:
        return W, size, False
    images = spectrum.images(vectors) / values

    def trial(size: float) -> tuple[float, FloatArray]:
        root = np.sqrt(size * (values - ridge))
        U = np.hstack((W[:n, 1 : k + 1], images * root))
        V = np.hstack((W[n:, 1 : k + 1], -vectors * root))
        grown = function.pack(U, V, function.offsets(W))
        return function.value(grown)[0], grown

    found = line_search(trial, function.value(W)[0], size)
    if found is None:
        # Slopes of another λ1 need not lead downhill.
        return W, size, False
    return *found, top > 1.01 * ridge


def line_search(
    trial: Callable[[float], tuple[float, Found]], before: float, first: float
) -> tuple[Found, float] | None:
    """Give the point and the size at which the value is about lowest; None if none is below ``before``."""
    size = first
    best, grown = trial(size)
    while best >= before and size > 1e-6 * first:
        size /= 3
        best, grown = trial(size)
    if best >= before:
        return None
    for _ in range(6):
        longer, candidate = trial(3 * size)
        if longer >= best:
            break
        best, grown, size = longer, candidate, 3 * size
    return grown, size
