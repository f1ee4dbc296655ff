"""Trust-region Newton steps, whatever the variables are and wherever they lie.

The direction comes from Steihaug's conjugate gradients, preconditioned by a diagonal. What has to be done
with the vectors, which may be as long as the table, is the caller's: see :class:`Vectors`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np

from cocomplete.arrays import FloatArray

FORCING = 0.1
"""Conjugate gradients stop when the preconditioned residual has fallen to this share."""

TRIALS = 5
"""Most lengths of a step that are tried."""


@dataclass
class TrustRegion:
    """How far the quadratic model is trusted, in the preconditioner's norm.

    Attributes
    ----------
    radius : float or None
        None asks for a fresh start, after the factors have changed.
    cap : float
        The radius is at most this many gradient steps long. It opens while the model proves right: an
        ill-conditioned problem needs long steps, a fresh one is better served by short ones.
    """

    radius: float | None = None
    cap: float = 5.0

    def reset(self) -> None:
        """Forget what was found for other factors."""
        self.radius, self.cap = None, 5.0


class Vectors(Protocol):
    """The vectors of conjugate gradients: direction D, residual r, search direction p, and H p."""

    @property
    def D(self) -> FloatArray:
        """The direction so far."""

    def begin(self) -> float:
        """Set preconditioner, residual and first search direction; give rᵀz, z the preconditioned r."""

    def curvature(self) -> float:
        """Multiply p by the Hessian; give pᵀHp."""

    def go(self, a: float) -> float:
        """Go a · p further; give rᵀz of what is left."""

    def turn(self, beta: float) -> None:
        """Turn to the next search direction, z + beta · p."""


@dataclass(frozen=True, eq=False)
class Direction:
    """Where the quadratic model is least, as far as it is trusted.

    Attributes
    ----------
    step : ndarray
    predicted : float
        What the model promises.
    length : float
        In the preconditioner's norm.
    at_boundary : bool
        Whether the region ended it.
    """

    step: FloatArray
    predicted: float
    length: float
    at_boundary: bool


def steihaug(vectors: Vectors, region: TrustRegion, cg_steps: int, least: float) -> Direction:
    """Steihaug–Toint conjugate gradients.

    Parameters
    ----------
    vectors : Vectors
    region : TrustRegion
    cg_steps : int
        Most products with the Hessian.
    least : float
        A residual whose square is below is none: quotients of what is next to zero are anything.
    """
    first = vectors.begin()
    rz, scale = first, np.sqrt(first)
    radius = 2 * scale if region.radius is None else min(region.radius, region.cap * scale)
    length2 = dp = predicted = 0.0
    pp = rz
    for _ in range(cg_steps):
        if rz < least:
            break
        curvature = vectors.curvature()
        convex = curvature > 1e-12 * pp
        a = rz / curvature if convex else np.inf
        new2 = length2 + 2 * a * dp + a * a * pp if convex else np.inf
        if new2 >= radius**2:
            # Along negative curvature the far boundary is a gamble: go no further than a gradient step would.
            reach = radius**2 if convex else min(radius**2, max(2 * length2, first))
            a = (-dp + np.sqrt(max(dp * dp + pp * (reach - length2), 0.0))) / pp
            vectors.go(a)
            predicted += a * rz - 0.5 * a * a * curvature
            return Direction(vectors.D, predicted, float(np.sqrt(reach)), at_boundary=True)
        predicted += 0.5 * a * rz
        length2 = new2
        fresh = vectors.go(a)
        if fresh <= FORCING**2 * first:
            break
        beta = fresh / rz
        rz = fresh
        dp = beta * (dp + a * pp)
        pp = fresh + beta * beta * pp
        vectors.turn(beta)
    return Direction(vectors.D, predicted, float(np.sqrt(length2)), at_boundary=False)


class HasValue(Protocol):
    """A point of which the function's value is known."""

    @property
    def value(self) -> float:
        """The function there."""


Point = TypeVar("Point", bound=HasValue)


@dataclass(frozen=True, eq=False)
class Step(Generic[Point]):
    """Where a step has led; ``point`` is where it began if nothing was gained."""

    point: Point
    gained: bool


def along(
    found: Direction, before: Point, region: TrustRegion, trial: Callable[[float], Point]
) -> Step[Point]:
    """Go along a direction, as far as the function falls as promised.

    Parameters
    ----------
    found : Direction
    before : Point
    region : TrustRegion
        Changed by how well the model did.
    trial : callable
        Gives the point at some share of the direction; of the points that it has given only the last is used.
    """
    step = 1.0
    for number in range(TRIALS):
        new = trial(step)
        gained = before.value - new.value
        if gained > 1e-3 * step * found.predicted:
            if number > 0:
                region.radius = 1.5 * step * found.length
                region.cap = max(region.cap / 2, 5.0)
            elif gained > 0.5 * found.predicted and found.at_boundary:
                region.radius = 3 * found.length
                region.cap *= 2
            return Step(new, gained=True)
        step *= 0.3
    region.radius = 1.5 * step * found.length
    return Step(new if gained > 0 else before, gained=bool(gained > 0))
