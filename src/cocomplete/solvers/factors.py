"""The objective as a function of two factors: M = U Vᵀ, λ1‖M‖_* = λ1/2 min(‖U‖² + ‖V‖²).

Features enter with weight ρ/2 per squared error and, where they must be met exactly (λ2 ≥ λ1), with a
multiplier per observed cell: the augmented Lagrangian. The factors are stacked as
:mod:`cocomplete.solvers.factored_losses` describes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

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
        # Unlike zeros_like, this takes memory that is zero already.
        self.multiplier = np.zeros(losses.cells.x_value.size if self.interpolates else 0, losses.dtype)
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

    def freeze(self, step: FloatArray, rows: slice = slice(None)) -> None:
        """Zero the entries of a direction that must not move: the ones, and offsets that are fixed.

        Parameters
        ----------
        step : ndarray of shape (number of ``rows``, width)
        rows : slice
            Of the stacked factors: all of them, or some of U, or those of V.
        """
        last = self.losses.n - (rows.start or 0)
        step[: max(last, 0) if self.objective.free_offsets else None, 0] = 0

    def row_step(self, W: FloatArray, decrement: float) -> None:
        """Minimise over U given V, in place."""
        how = RowStep(self.rho, self.ridge, decrement)
        self.losses.row_step(W, self.multiplier, how)

    def curvature(self, point: Point) -> Curvature:
        """Second-order model of the losses there."""
        slopes = self.value(point.W)[1] if point.slopes is None else point.slopes
        return self.losses.curvature(point.W, slopes, self.rho, self.search_dtype)

    # -- gauge ---------------------------------------------------------------------------------------

    def pack(self, U: FloatArray | None, V: FloatArray, offsets: FloatArray) -> FloatArray:
        """Stack factors and offsets into W; U is zero where it is None."""
        n, m, k = self.losses.n, self.losses.m, V.shape[1]
        W = np.zeros((n + m, (k + PADDING) // PADDING * PADDING), self.losses.dtype)
        W[:n, 0], W[n:, 0] = 1, offsets
        W[n:, 1 : k + 1] = V
        if U is not None:
            W[:n, 1 : k + 1] = U
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
        losses, n, width = self.losses, self.losses.n, W.shape[1]
        V, offsets, mean = W[n:, 1:], self.offsets(W), np.zeros(width - 1, W.dtype)
        if self.objective.free_offsets:
            sums = losses.shared_out(
                losses.slices[:-1], lambda rows: W[rows, 1:].sum(axis=0, dtype=np.float64), width
            )
            mean = (reduce(np.add, sums) / n).astype(W.dtype)
            offsets = offsets + V @ mean
        blocks = losses.shared_out(losses.slices[:-1], lambda rows: np.linalg.qr(W[rows, 1:] - mean), width)
        svd = FactorSVD.of(blocks, np.linalg.qr(V))
        k = int(np.count_nonzero(np.cumsum(svd.s[::-1])[::-1] > drop))
        root = np.sqrt(svd.s[:k])
        new = self.pack(None, svd.V[:, :k] * root, offsets)

        def write(block: int) -> None:
            new[losses.parts[block].rows, 1 : k + 1] = svd.left(block)[:, :k] * root

        losses.shared_out(range(len(blocks)), write, width)
        # A row or column with nothing observed has nothing but its offsets, exactly.
        new[:n][losses.empty_rows, 1:] = 0
        new[n:][losses.empty_columns, 1:] = 0
        return new, svd.s[:k]

    def low_rank(self, W: FloatArray, s: FloatArray) -> LowRank:
        """M as U diag(s) Vt with orthonormal factors, from W and s as :meth:`balance` left them."""
        n, k, root = self.losses.n, len(s), np.sqrt(s)
        return LowRank(W[:n, 1 : k + 1] / root, s, (W[n:, 1 : k + 1] / root).T)


@dataclass(frozen=True, eq=False)
class FactorSVD:
    """SVD of U Vᵀ through thin QR factorisations: of V, and of every block of rows of U by itself.

    Attributes
    ----------
    s : ndarray of shape (k,)
        Singular values in descending order; those at rounding level are left out.
    V : ndarray of shape (m, k)
        Right singular vectors.
    blocks : list of tuple of ndarray
        Left singular vectors of each block's rows, as a product of two matrices.
    """

    s: FloatArray
    V: FloatArray
    blocks: list[tuple[FloatArray, FloatArray]]

    @classmethod
    def of(
        cls, rows: Sequence[tuple[FloatArray, FloatArray]], columns: tuple[FloatArray, FloatArray]
    ) -> "FactorSVD":
        """Put factorisations (Q, R) of blocks of U, and that of V, together."""
        (Qv, Rv), Rs = columns, [R for _, R in rows]
        # Factorised once more, what blocks have left over is that of all rows.
        Q, Ru = np.linalg.qr(np.vstack(Rs)) if len(Rs) > 1 else (np.eye(len(Rs[0]), dtype=Rv.dtype), Rs[0])
        left, s, right = np.linalg.svd(Ru @ Rv.T, full_matrices=False)
        # Rounding is that of the small matrix, however many rows there are.
        keep = s > (s[0] if s.size else 0) * len(s) * np.finfo(s.dtype).eps
        ends = np.cumsum([len(R) for R in Rs])[:-1]
        small = np.split(Q @ left[:, keep], ends)
        return cls(
            s[keep], Qv @ right[keep].T, [(own, each) for (own, _), each in zip(rows, small, strict=True)]
        )

    def left(self, block: int) -> FloatArray:
        """Give the left singular vectors of a block's rows."""
        Q, small = self.blocks[block]
        return np.asarray(Q @ small)
