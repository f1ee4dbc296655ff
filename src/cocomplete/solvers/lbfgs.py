"""Limited-memory BFGS on the factors: for tables on which a product with the Hessian costs too much."""

from collections import deque
from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.interrupts import stop_requested


class HasGradient(Protocol):
    """A point: variables in an array of any shape, and the function's value and gradient there."""

    @property
    def W(self) -> FloatArray:
        """Give the variables."""

    @property
    def value(self) -> float:
        """Give the function's value."""

    @property
    def gradient(self) -> FloatArray:
        """Give its gradient."""


Point = TypeVar("Point", bound=HasGradient)

MEMORY = 10
"""Steps that the approximation of the Hessian remembers."""

ARMIJO = 1e-4
"""A step must gain this share of what the gradient promises."""

SHORTEST = 1e-6
"""Shares of a step below which nothing is tried."""


def lbfgs(
    evaluate: Callable[[FloatArray], Point], point: Point, inverse: FloatArray, steps: int
) -> tuple[Point, int]:
    """Take some steps down.

    Parameters
    ----------
    evaluate : callable
        From factors to a point.
    point : Point
    inverse : ndarray, shape of the factors
        Inverse diagonal of the Hessian, roughly.
    steps : int
        Most steps; fewer if none gains anything any more, or a request to stop comes.

    Returns
    -------
    point : Point
    taken : int
    """
    memory: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=MEMORY)
    for taken in range(steps):
        direction = _direction(point.gradient, inverse, memory)
        slope = _dot(point.gradient, direction)
        if slope >= 0 and memory:
            memory.clear()
            direction = _direction(point.gradient, inverse, memory)
            slope = _dot(point.gradient, direction)
        # Less than rounding can be gained.
        if -slope <= 4 * np.finfo(point.W.dtype).eps * abs(point.value) or stop_requested():
            return point, taken
        new = _search(evaluate, point, direction, slope)
        if new is None:
            if not memory:
                return point, taken
            memory.clear()
            continue
        change, bend = new.W - point.W, new.gradient - point.gradient
        curvature = _dot(change, bend)
        if curvature > 1e-10 * np.sqrt(_dot(change, change) * _dot(bend, bend)):
            memory.append((change, bend, curvature))
        point = new
    return point, steps


def _search(
    evaluate: Callable[[FloatArray], Point], point: Point, direction: FloatArray, slope: float
) -> Point | None:
    """Shorten a step until it gains enough; None if none does."""
    share = 1.0
    while share > SHORTEST:
        new = evaluate(point.W + point.W.dtype.type(share) * direction)
        if new.value <= point.value + ARMIJO * share * slope:
            return new
        # The parabola through what is known of the line.
        bend = new.value - point.value - share * slope
        best = -slope * share**2 / (2 * bend) if np.isfinite(bend) and bend > 0 else 0.0
        share = min(max(best, 0.1 * share), 0.5 * share)
    return None


def _direction(
    gradient: FloatArray, inverse: FloatArray, memory: deque[tuple[FloatArray, FloatArray, float]]
) -> FloatArray:
    """Run the two loops of Nocedal."""
    q = -gradient
    shares = []
    for change, bend, curvature in reversed(memory):
        share = _dot(change, q) / curvature
        q -= q.dtype.type(share) * bend
        shares.append(share)
    q *= inverse
    if memory:
        _, bend, curvature = memory[-1]
        q *= q.dtype.type(curvature / _dot(bend, inverse * bend))
    for (change, bend, curvature), share in zip(memory, reversed(shares), strict=True):
        back = _dot(bend, q) / curvature
        q += q.dtype.type(share - back) * change
    return q


def _dot(a: FloatArray, b: FloatArray) -> float:
    return float(np.dot(a.reshape(-1), b.reshape(-1)))
