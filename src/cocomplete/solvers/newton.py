"""One step of a trust-region Newton method on the factors, each followed by a step of the rows alone.

The direction comes from Steihaug's conjugate gradients on the whole Hessian, the indefinite part from G
included: that part is what lets the factors rotate, and without it the tail of the spectrum converges
slowly. A step is judged only after U has been improved again for the new V: raw joint steps overshoot.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.solvers.factored_losses import Curvature
from cocomplete.solvers.factors import FactoredObjective, Point
from cocomplete.solvers.trust_region import TrustRegion, along, steihaug


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
    vectors = _Vectors.of(function, function.curvature(point), point.gradient)
    # Quotients of what is next to zero are anything.
    least = 1e3 * float(np.finfo(function.search_dtype).tiny)
    found = steihaug(vectors, region, cg_steps, least)
    del vectors
    point.slopes = None
    dtype, rows = function.losses.dtype, function.losses.n
    # Rows need no more accuracy than the step itself can use.
    floor = 1e-7 if function.search_dtype is np.float32 else 1e-13
    decrement = max(1e-3 * found.predicted / rows, floor)

    def trial(step: float) -> Point:
        W = point.W + dtype.type(step) * found.step.astype(dtype, copy=False)
        function.row_step(W, decrement)
        return function.evaluate(W)

    return along(found, point, region, trial).point, found.predicted


@dataclass(frozen=True, eq=False)
class _Vectors:
    """The vectors of conjugate gradients, shape of W: every operation is one pass over the blocks of rows.

    Attributes
    ----------
    function : FactoredObjective
    model : Curvature
        The losses' Hessian.
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
    model: Curvature
    D: FloatArray
    r: FloatArray
    p: FloatArray
    Hp: FloatArray
    inverse: FloatArray

    @classmethod
    def of(cls, function: FactoredObjective, model: Curvature, gradient: FloatArray) -> "_Vectors":
        """Begin at no direction."""
        shape, dtype = gradient.shape, function.search_dtype
        r: FloatArray = gradient.astype(dtype)
        D: FloatArray = np.zeros(shape, dtype)
        return cls(function, model, D, r, np.empty_like(r), np.empty_like(r), model.diagonal())

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
        self.model.times(self.p, self.Hp)
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
