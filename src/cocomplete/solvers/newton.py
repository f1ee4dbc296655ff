"""One step of a trust-region Newton method on the factors, each followed by a step of the rows alone.

The direction comes from Steihaug's conjugate gradients on the whole Hessian, the indefinite part from G
included: that part is what lets the factors rotate, and without it the tail of the spectrum converges
slowly. A step is judged only after U has been improved again for the new V: raw joint steps overshoot.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.solvers.factors import FactoredObjective, Point

FORCING = 0.1
"""Conjugate gradients stop when the preconditioned residual has fallen to this share."""


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


@dataclass(frozen=True, eq=False)
class _Direction:
    step: FloatArray
    predicted: float
    length: float
    at_boundary: bool


def newton_step(
    function: FactoredObjective, point: Point, region: TrustRegion, *, cg_steps: int
) -> tuple[Point, float]:
    """Improve the factors.

    Returns
    -------
    point : Point
        The new factors, or the old ones if nothing could be gained.
    predicted : float
        What the quadratic model promised; tiny when there is nothing left to gain.
    """
    found = _direction(function, point, region, cg_steps)
    point.slopes = None
    step, rows = 1.0, function.losses.n
    # Rows need no more accuracy than the step itself can use.
    floor = 1e-7 if function.search_dtype is np.float32 else 1e-13
    decrement = max(1e-3 * found.predicted / rows, floor)
    for trial in range(5):
        W = point.W + function.losses.dtype.type(step) * found.step.astype(function.losses.dtype, copy=False)
        function.row_step(W, decrement)
        new = function.evaluate(W)
        gained = point.value - new.value
        if gained > 1e-3 * step * found.predicted:
            if trial > 0:
                region.radius = 1.5 * step * found.length
                region.cap = max(region.cap / 2, 5.0)
            elif gained > 0.5 * found.predicted and found.at_boundary:
                region.radius = 3 * found.length
                region.cap *= 2
            return new, found.predicted
        step *= 0.3
    region.radius = 1.5 * step * found.length
    return (new if gained > 0 else point), found.predicted


def _direction(function: FactoredObjective, point: Point, region: TrustRegion, cg_steps: int) -> _Direction:
    """Steihaug–Toint conjugate gradients, preconditioned by the diagonal."""
    model = function.curvature(point)
    vectors = _Vectors.of(function, model.diagonal(), point.gradient)
    first = vectors.begin()
    rz, scale = first, np.sqrt(first)
    radius = 2 * scale if region.radius is None else min(region.radius, region.cap * scale)
    length2 = dp = predicted = 0.0
    pp = rz
    # Quotients of what is next to zero are anything.
    least = 1e3 * float(np.finfo(function.search_dtype).tiny)
    for _ in range(cg_steps):
        if rz < least:
            break
        model.times(vectors.p, vectors.Hp)
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
            return _Direction(vectors.D, predicted, float(np.sqrt(reach)), at_boundary=True)
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
    return _Direction(vectors.D, predicted, float(np.sqrt(length2)), at_boundary=False)


@dataclass(frozen=True, eq=False)
class _Vectors:
    """The vectors of conjugate gradients, shape of W: every operation is one pass over the blocks of rows.

    Attributes
    ----------
    function : FactoredObjective
    D : ndarray
        The direction so far.
    r, p : ndarray
        Residual, and the direction to go on in.
    Hp : ndarray
        Hessian times p; between two products, the preconditioned residual.
    inverse : ndarray
        The preconditioner: one over the diagonal.
    """

    function: FactoredObjective
    D: FloatArray
    r: FloatArray
    p: FloatArray
    Hp: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, function: FactoredObjective, diagonal: FloatArray, gradient: FloatArray) -> "_Vectors":
        """Begin at no direction; ``diagonal`` is written."""
        shape, dtype = gradient.shape, function.search_dtype
        r: FloatArray = gradient.astype(dtype)
        return cls(function, np.zeros(shape, dtype), r, np.empty_like(r), np.empty_like(r), diagonal)

    def begin(self) -> float:
        """Set preconditioner, residual and first direction; give rᵀz."""
        dtype = self.function.search_dtype
        ridge, tiny = dtype(self.function.ridge), 1e3 * np.finfo(dtype).tiny

        def of_rows(rows: slice) -> float:
            r, inverse = self.r[rows], self.inverse[rows]
            inverse[:, 1:] += ridge
            # What has next to no curvature (the offset of a saturated label) stays where it is.
            flat = inverse < tiny
            inverse[flat] = 1
            np.reciprocal(inverse, out=inverse)
            inverse[flat] = 0
            np.negative(r, out=r)
            return _dot(r, np.multiply(r, inverse, out=self.p[rows]))

        return self._added_up(of_rows)

    def curvature(self) -> float:
        """Add to the losses' Hessian times p what the ridge adds, leave out what is frozen; give pᵀHp."""
        function, ridge = self.function, self.function.search_dtype(self.function.ridge)

        def of_rows(rows: slice) -> float:
            p, Hp = self.p[rows], self.Hp[rows]
            Hp[:, 1:] += ridge * p[:, 1:]
            function.freeze(Hp, rows)
            return _dot(p, Hp)

        return self._added_up(of_rows)

    def go(self, a: float) -> float:
        """Go a · p further; give rᵀz of what is left."""
        step = self.function.search_dtype(a)

        def of_rows(rows: slice) -> float:
            r, Hp = self.r[rows], self.Hp[rows]
            self.D[rows] += step * self.p[rows]
            Hp *= step
            r -= Hp
            # Hp has served; its memory holds the preconditioned residual now.
            return _dot(r, np.multiply(r, self.inverse[rows], out=Hp))

        return self._added_up(of_rows)

    def turn(self, beta: float) -> None:
        """Turn to the next direction."""
        share = self.function.search_dtype(beta)

        def of_rows(rows: slice) -> float:
            p = self.p[rows]
            p *= share
            p += self.Hp[rows]
            return 0.0

        self._added_up(of_rows)

    def _added_up(self, of_rows: Callable[[slice], float]) -> float:
        losses = self.function.losses
        return sum(losses.shared_out(losses.slices, of_rows, self.p.shape[1]))


def _dot(a: FloatArray, b: FloatArray) -> float:
    return float(np.dot(a.reshape(-1), b.reshape(-1)))
