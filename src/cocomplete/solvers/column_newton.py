"""One step of Newton's method on the columns, rows following: see :mod:`.column_objective`."""

from collections.abc import Callable

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Reference
from cocomplete.solvers.column_objective import ColumnObjective, ColumnPoint
from cocomplete.solvers.trust_region import TrustRegion, along, steihaug

CG_STEPS = 30
"""Most products with the Hessian in a Newton step."""

FLATTEST = 1e-10
"""Least curvature of a coordinate that the preconditioner knows, as a share of the largest."""


def newton_step(
    function: ColumnObjective,
    point: ColumnPoint,
    region: TrustRegion,
    decrement: Callable[[float], float],
) -> tuple[ColumnPoint, float]:
    """Improve the columns; what the blocks keep of rows that are left behind is given back.

    Parameters
    ----------
    function : ColumnObjective
    point : ColumnPoint
    region : TrustRegion
        Changed by how well the model did.
    decrement : callable
        Gives what a row's own step must gain, where all rows together may miss so much.

    Returns
    -------
    point : ColumnPoint
        The new one, or the old one if nothing could be gained.
    predicted : float
        What the quadratic model promised.
    """
    slopes, diagonal = function.slopes(point)
    least = 1e3 * float(np.finfo(np.float64).tiny)
    found = steihaug(_Vectors(function, point, slopes, diagonal), region, CG_STEPS, least)
    function.engine.release(slopes)
    if found.predicted <= 0:
        return point, 0.0
    last: ColumnPoint | None = None

    def trial(step: float) -> ColumnPoint:
        nonlocal last
        if last is not None:
            function.engine.release(last.rows)
        V = (point.V + step * found.step).astype(function.dtype)
        last = function.at(V, point.k, point.rows, decrement(1e-3 * found.predicted))
        return last

    step = along(found, point, region, trial)
    unused = point if step.gained else last
    if unused is not None:
        function.engine.release(unused.rows)
    return step.point, found.predicted


class _Vectors:
    """The vectors of conjugate gradients, shape of V; see :class:`~cocomplete.solvers.trust_region.Vectors`.

    They stay across the rotations of the factors, which change nothing: along these φ has no curvature but
    what is left of its gradient, of either sign, and a search would end there.
    """

    def __init__(
        self, function: ColumnObjective, point: ColumnPoint, slopes: list[Reference], diagonal: FloatArray
    ) -> None:
        self.function, self.point, self.slopes = function, point, slopes
        self.factors = point.V[:, 1 : point.k + 1].astype(np.float64)
        self.squares, self.axes = np.linalg.eigh(self.factors.T @ self.factors)
        self.r = -function.gradient(point)
        self.D = np.zeros_like(self.r)
        diagonal = diagonal.copy()
        diagonal[:, 1:] += function.ridge
        # The offset of a saturated label has next to no curvature; it moves, but not all the way at once.
        self.inverse = 1 / np.maximum(diagonal, FLATTEST * diagonal.max())

    def begin(self) -> float:
        """Set the first search direction; give rᵀz."""
        self.p = self._preconditioned()
        return float(np.vdot(self.r, self.p))

    def curvature(self) -> float:
        """Multiply p by the Hessian; give pᵀHp."""
        self.Hp = self.function.times(self.point, self.slopes, self.p)
        return float(np.vdot(self.p, self.Hp))

    def go(self, a: float) -> float:
        """Go a · p further; give rᵀz of what is left."""
        self.D += a * self.p
        self.r -= a * self.Hp
        self.z = self._preconditioned()
        return float(np.vdot(self.r, self.z))

    def turn(self, beta: float) -> None:
        """Turn to the next search direction."""
        self.p = self.z + beta * self.p

    def _preconditioned(self) -> FloatArray:
        return self._across(self.inverse * self._across(self.r))

    def _across(self, P: FloatArray) -> FloatArray:
        """Leave out what only rotates the factors: V A, with A antisymmetric."""
        k = self.point.k
        twist = self.axes.T @ (self.factors.T @ P[:, 1 : k + 1]) @ self.axes
        sums = self.squares[:, None] + self.squares
        twist = np.divide(twist - twist.T, sums, out=np.zeros_like(twist), where=sums > 0)
        out = P.copy()
        out[:, 1 : k + 1] -= self.factors @ (self.axes @ twist @ self.axes.T)
        return out
