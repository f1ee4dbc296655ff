"""How far from the minimum: a duality gap that holds in all three regimes.

Every loss sees T = M + 1oᵀ on Ω. Writing each loss through its conjugate gives, for any matrix
G = [A, S] supported on Ω (A on Ω_X, S on Ω_Y) with spectral norm at most λ1, the lower bound

    D(G) = − Σ_{Ω_Y} h(y + s)  − ⟨A, X − 1oᵀ⟩ + ⟨S, 1oᵀ⟩ − φ*(A),    h(p) = p log p + (1 − p) log(1 − p)

on F. The features' conjugate φ*(A) is the least of ‖E‖²/4w over all splits A = E + P_ΩX(C) with ‖C‖₂ ≤ λ2:
λ2 = 0 leaves C = 0, and λ2 ≥ λ1 allows C = A, E = 0, so φ* = 0. Any split is valid, the best one is tight. If
the offsets are free, D is a bound only if the columns of G sum to zero. At the minimum G is the gradient of
the losses, so a solver's own gradient, brought back into the feasible set, is the natural candidate.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

import numpy as np
from scipy.special import entr

from cocomplete.arrays import FloatArray
from cocomplete.engines.row_blocks import InProcess
from cocomplete.kernels import products
from cocomplete.problem.cells import Cells, Part, column_counts, column_sums, matrix_blocks
from cocomplete.problem.objective import Objective
from cocomplete.spectral import SparseSpectrum


@dataclass(frozen=True, eq=False)
class DualPoint:
    """A candidate G = [A, S] on Ω with A = E + P(C), as flat arrays in the order of the cells.

    Attributes
    ----------
    features : ndarray of shape (n_observed_features,)
        A.
    squared : ndarray of shape (n_observed_features,) or None
        E, the part of A that the squared loss answers; None is 0: the residual's trace norm, or the
        constraint in its place, answers all.
    labels : ndarray of shape (n_observed_labels,)
        S, with y + s in [0, 1].
    """

    features: FloatArray
    squared: FloatArray | None
    labels: FloatArray

    def balanced(self, cells: Cells, *, in_place: bool = False) -> "DualPoint":
        """Make every column sum to zero, as free offsets demand.

        Features lose their column's mean. In labels the heavier side (too many ones, or too many zeros)
        is scaled down, which keeps y + s between 0 and 1.

        Parameters
        ----------
        cells : Cells
        in_place : bool, default=False
            Whether the candidate's own arrays may be written: they are as large as the table.
        """
        parts, m, d = cells.parts(), cells.shape[1], cells.n_features
        sums = InProcess.visit(parts, lambda part: _sums_of_sides(part, self.features, self.labels))
        positive, negative = reduce(np.add, sums)
        mean = (positive[:d] / np.maximum(column_counts(parts)[:d], 1)).astype(self.features.dtype)
        lighter = np.minimum(positive, negative)
        up, down = (
            np.divide(lighter, side, out=np.zeros(m), where=side > 0).astype(self.labels.dtype)
            for side in (positive, negative)
        )
        same = self.squared is self.features
        features, labels = (
            each if in_place else np.empty_like(each) for each in (self.features, self.labels)
        )
        squared = self.squared
        if squared is not None:
            squared = features if same else squared if in_place else np.empty_like(squared)

        def of_part(part: Part) -> None:
            own, column = mean[part.cells.x_column], part.cells.y_column
            if not (self.squared is None or squared is None or same):
                np.subtract(self.squared[part.x], own, out=squared[part.x])
            np.subtract(self.features[part.x], own, out=features[part.x])
            S = self.labels[part.y]
            np.multiply(S, np.where(S > 0, up[column], down[column]), out=labels[part.y])

        InProcess.each(parts, of_part)
        return DualPoint(features, squared, labels)

    def bound(self, cells: Cells, offsets: FloatArray, feature_weight: float, largest: float) -> float:
        """Best lower bound D(θG) over 0 ≤ θ ≤ ``largest``.

        D is concave in θ, so its slope at the right end decides whether to stay there or to bisect.
        """
        parts = cells.parts()

        # Of many numbers in single precision, sums over blocks are right and a single one is not.
        def total(of_part: Callable[[Part], float]) -> float:
            return float(sum(InProcess.visit(parts, of_part)))

        linear = -total(lambda part: float(self.features[part.x] @ part.cells.x_value))
        if offsets.any():
            linear += float(column_sums(parts, self.features, self.labels) @ offsets)
        E = self.squared
        square = 0.0 if E is None else total(lambda part: float(E[part.x] @ E[part.x]))
        quadratic = square / (4 * feature_weight) if square > 0 else 0.0

        def value(theta: float) -> float:
            def of_part(part: Part) -> float:
                p = np.clip(part.cells.y_value + theta * self.labels[part.y], 0.0, 1.0)
                return float((entr(p) + entr(1 - p)).sum())

            return total(of_part) + theta * linear - theta**2 * quadratic

        def slope(theta: float) -> float:
            def of_part(part: Part) -> float:
                S = self.labels[part.y]
                p = part.cells.y_value + theta * S
                inside = (p > 0) & (p < 1)
                return float(S[inside] @ (np.log1p(-p[inside]) - np.log(p[inside])))

            return total(of_part) + linear - 2 * theta * quadratic

        low, high = 0.0, largest
        if high <= 0 or slope(high) >= 0:
            return value(high)
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
        return value(low)


def _sums_of_sides(part: Part, features: FloatArray, labels: FloatArray) -> FloatArray:
    """Add up over every column of some rows: features, beside labels above zero; and labels below it."""
    cells, m, S = part.cells, part.cells.shape[1], labels[part.y]
    positive = np.bincount(cells.x_column, features[part.x], m)
    positive = positive + np.bincount(cells.y_column, np.maximum(S, 0), m)
    return np.stack((positive, np.bincount(cells.y_column, np.maximum(-S, 0), m)))


def lower_bound(
    objective: Objective,
    cells: Cells,
    point: DualPoint,
    offsets: FloatArray,
    residual_norm: float = 0.0,
    spectrum: SparseSpectrum | None = None,
    *,
    in_place: bool = False,
) -> float:
    """Make a candidate feasible and give the bound it proves.

    Parameters
    ----------
    objective : Objective
    cells : Cells
        Its observed cells.
    point : DualPoint
    offsets : ndarray of shape (n_features + n_labels,)
        The solver's offsets; if they are free the bound does not depend on them.
    residual_norm : float, default=0.0
        ‖C‖₂, needed only between the regimes; its whole matrix is known to the solver alone.
    spectrum : SparseSpectrum, optional
        Of the candidate, if the caller has it; where offsets are free the candidate then is a balanced one.
    in_place : bool, default=False
        Whether the candidate's own arrays may be written.
    """
    if spectrum is None:
        if objective.free_offsets:
            point = point.balanced(cells, in_place=in_place)
        spectrum = SparseSpectrum(matrix_blocks(cells.parts(), point.features, point.labels))
    top = spectrum.largest()
    largest = objective.rank_penalty / top if top > objective.rank_penalty else 1.0
    if residual_norm > objective.residual_penalty:
        largest = min(largest, objective.residual_penalty / residual_norm)
    return point.bound(cells, offsets, objective.feature_weight, largest)


def shaved(
    cells: Cells, gx: FloatArray, gy: FloatArray, spectrum: SparseSpectrum, limit: float
) -> tuple[FloatArray, FloatArray]:
    """Take from G most of what exceeds a spectral norm of ``limit``, staying on Ω.

    Scaling G down to feasibility costs in all its directions; this costs only in those that are too long. On
    Ω a direction keeps about its share of observed cells, so the excess is divided by that share.
    """
    values, vectors = spectrum.above(limit, cells.shape[1])
    if not values.size:
        return gx, gy
    images = spectrum.images(vectors) * ((values - limit) / values)
    share = (gx.size + gy.size) / (cells.shape[0] * cells.shape[1])
    less_x, less_y = np.empty_like(gx), np.empty_like(gy)
    vectors = np.ascontiguousarray(vectors)

    def shave(part: Part) -> None:
        some, U = part.cells, images[part.rows]
        for start, column, given, out in (
            (some.x_start, some.x_column, gx[part.x], less_x[part.x]),
            (some.y_start, some.y_column, gy[part.y], less_y[part.y]),
        ):
            # In the vectors' own precision whatever the table's is: the kernel is compiled for one.
            excess = np.empty(given.size, U.dtype)
            products(start, column, U, vectors, excess)
            np.subtract(given, excess / share, out=out, casting="same_kind")
        np.clip(less_y[part.y], -some.y_value, 1 - some.y_value, out=less_y[part.y])

    InProcess.each(cells.parts(), shave)
    return less_x, less_y


def relative_gap(primal: float, dual: float) -> float:
    """(F − D) / F, the figure that ``tol`` is about; 0 if both are 0."""
    return (primal - dual) / max(abs(primal), np.finfo(float).tiny)
