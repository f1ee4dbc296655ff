"""The objective as a function of two factors: M = U Vᵀ, λ1‖M‖_* = λ1/2 min(‖U‖² + ‖V‖²).

Features enter with weight ρ/2 per squared error and, where they must be met exactly (λ2 ≥ λ1), with a
multiplier per observed cell: the augmented Lagrangian. The factors are stacked as
:mod:`cocomplete.solvers.factored_losses` describes.
"""

from dataclasses import dataclass

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.problem.objective import Objective
from cocomplete.solvers.factored_losses import PADDING, Curvature, FactoredLosses, Slopes
from cocomplete.solvers.loss_block import RowStep
from cocomplete.spectral import LowRank


@dataclass(eq=False)
class Point:
    """Factors, and the function there.

    Attributes
    ----------
    W : ndarray of shape (n + m, width)
    value : float
    gradient : ndarray, shape of W
    slopes : Slopes or None
        As large as the table: None once a step has made what it needs of them.
    """

    W: FloatArray
    value: float
    gradient: FloatArray
    slopes: Slopes | None


class FactoredObjective:
    """f(U, V, o) = losses on Ω + λ1/2 (‖U‖² + ‖V‖²).

    Parameters
    ----------
    objective : Objective
        With λ2 = 0 or λ2 ≥ λ1.
    losses : FactoredLosses
        Of its cells.
    search_dtype : type
        Precision of search directions; values and gradients keep that of the data.
    """

    def __init__(self, objective: Objective, losses: FactoredLosses, search_dtype: type) -> None:
        self.objective = objective
        self.losses = losses
        self.search_dtype = search_dtype
        self.ridge = objective.rank_penalty
        self.interpolates = objective.regime == "interpolation"
        self.multiplier = (
            np.zeros_like(losses.cells.x_value) if self.interpolates else np.empty(0, losses.dtype)
        )
        self.rho = 2 * objective.feature_weight

    def evaluate(self, W: FloatArray) -> Point:
        """Value, gradient and slopes at W."""
        slopes = self.losses.evaluate(W, self.multiplier, self.rho, gradient=True)
        gradient = slopes.gradient
        assert gradient is not None
        gradient[:, 1:] += self.ridge * W[:, 1:]
        self.freeze(gradient)
        return Point(W, self._total(W, slopes), gradient, slopes)

    def value(self, W: FloatArray) -> tuple[float, Slopes]:
        """Value and slopes at W, at a third of the price of :meth:`evaluate`."""
        slopes = self.losses.evaluate(W, self.multiplier, self.rho, gradient=False)
        return self._total(W, slopes), slopes

    def _total(self, W: FloatArray, slopes: Slopes) -> float:
        offsets = W[self.losses.n :, 0]
        # The first column holds ones and offsets, which cost nothing; a slice without it would be copied.
        # A step far too long may have no size that is a number; it is not taken.
        with np.errstate(over="ignore", invalid="ignore"):
            size = float(np.vdot(W, W)) - self.losses.n - float(offsets @ offsets)
        return slopes.feature_cost + slopes.label_cost + 0.5 * self.ridge * size

    def freeze(self, step: FloatArray) -> None:
        """Zero the entries of a direction that must not move: the ones, and offsets that are fixed."""
        step[: self.losses.n, 0] = 0
        if not self.objective.free_offsets:
            step[self.losses.n :, 0] = 0

    def row_step(self, W: FloatArray, decrement: float) -> None:
        """Minimise over U given V, in place."""
        how = RowStep(self.rho, self.ridge, decrement)
        self.losses.row_step(W, self.multiplier, how)

    def curvature(self, point: Point) -> Curvature:
        """Second-order model of the losses there."""
        slopes = self.value(point.W)[1] if point.slopes is None else point.slopes
        return self.losses.curvature(point.W, slopes, self.rho, self.search_dtype)

    # -- gauge ---------------------------------------------------------------------------------------

    def pack(self, U: FloatArray, V: FloatArray, offsets: FloatArray) -> FloatArray:
        """Stack factors and offsets into W."""
        n, m, k = self.losses.n, self.losses.m, U.shape[1]
        W = np.zeros((n + m, (k + PADDING) // PADDING * PADDING), self.losses.dtype)
        W[:n, 0], W[n:, 0] = 1, offsets
        W[:n, 1 : k + 1], W[n:, 1 : k + 1] = U, V
        return W

    def offsets(self, W: FloatArray) -> FloatArray:
        """Offsets held in W."""
        return W[self.losses.n :, 0].copy()

    def balance(self, W: FloatArray, drop: float = 0.0) -> tuple[FloatArray, FloatArray]:
        """Bring the factors to the gauge of the SVD, UᵀU = VᵀV = diag(s), and drop what is dead.

        It makes λ1/2(‖U‖² + ‖V‖²) equal λ1‖M‖_*, and Newton's diagonal preconditioner a good one. With free
        offsets the columns of U are centred first: a mean costs nothing in the offsets.

        Parameters
        ----------
        drop : float
            The smallest singular values go as long as they sum to less than this.

        Returns
        -------
        W, s
        """
        n = self.losses.n
        U, V, offsets = W[:n, 1:], W[n:, 1:], self.offsets(W)
        if self.objective.free_offsets:
            mean = U.mean(axis=0)
            offsets, U = offsets + V @ mean, U - mean
        low_rank = factor_svd(U, V)
        tail = np.cumsum(low_rank.s[::-1])[::-1]
        k = int(np.count_nonzero(tail > drop))
        root = np.sqrt(low_rank.s[:k])
        W = self.pack(low_rank.U[:, :k] * root, low_rank.Vt[:k].T * root, offsets)
        # A row or column with nothing observed has nothing but its offsets, exactly.
        W[:n][self.losses.empty_rows, 1:] = 0
        W[n:][self.losses.empty_columns, 1:] = 0
        return W, low_rank.s[:k]

    def low_rank(self, W: FloatArray, s: FloatArray) -> LowRank:
        """M as U diag(s) Vt with orthonormal factors, from W and s as :meth:`balance` left them."""
        n, k, root = self.losses.n, len(s), np.sqrt(s)
        return LowRank(W[:n, 1 : k + 1] / root, s, (W[n:, 1 : k + 1] / root).T)


def factor_svd(U: FloatArray, V: FloatArray) -> LowRank:
    """SVD of U Vᵀ through two thin QR factorisations; singular values at rounding level are left out."""
    Qu, Ru = np.linalg.qr(U)
    Qv, Rv = np.linalg.qr(V)
    left, s, right = np.linalg.svd(Ru @ Rv.T, full_matrices=False)
    # Rounding is that of the small matrix, however many rows there are.
    keep = s > (s[0] if s.size else 0) * len(s) * np.finfo(s.dtype).eps
    return LowRank(Qu @ left[:, keep], s[keep], (right[keep] @ Qv.T))
