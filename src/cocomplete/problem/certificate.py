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
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import entr

from cocomplete.arrays import FloatArray
from cocomplete.problem.objective import Objective


@dataclass(frozen=True, eq=False)
class Targets:
    """The observed cells as flat arrays, with the offsets taken out.

    Attributes
    ----------
    x : ndarray of shape (n_observed_features,)
        X − o on Ω_X.
    y : ndarray of shape (n_observed_labels,)
        Y on Ω_Y.
    z : ndarray of shape (n_observed_labels,)
        o on Ω_Y.
    x_columns, y_columns : ndarray of int
        Column of each cell, within the features and within the labels.
    """

    x: FloatArray
    y: FloatArray
    z: FloatArray
    x_columns: np.ndarray
    y_columns: np.ndarray

    @classmethod
    def of(cls, objective: Objective, offsets: FloatArray) -> "Targets":
        """Collect them in row-major order."""
        data, d = objective.observed, objective.observed.n_features
        x_columns, y_columns = np.nonzero(data.X_known)[1], np.nonzero(data.Y_known)[1]
        x = data.X[data.X_known] - offsets[:d][x_columns]
        return cls(x, data.Y[data.Y_known], offsets[d:][y_columns], x_columns, y_columns)


@dataclass(frozen=True, eq=False)
class DualPoint:
    """A candidate G = [E + P(C), S] on Ω, as flat arrays in the order of the targets.

    Attributes
    ----------
    squared : ndarray of shape (n_observed_features,)
        E, answered by the squared loss.
    normed : ndarray of shape (n_observed_features,)
        P(C), answered by the residual's trace norm, or by the constraint that replaces it.
    labels : ndarray of shape (n_observed_labels,)
        S, with y + s in [0, 1].
    """

    squared: FloatArray
    normed: FloatArray
    labels: FloatArray

    def balanced(self, targets: Targets, n_features: int, n_labels: int, *, squared: bool) -> "DualPoint":
        """Make every column sum to zero, as free offsets demand.

        Features lose their column's mean. In labels the heavier side (too many ones, or too many zeros)
        is scaled down, which keeps y + s between 0 and 1.
        """
        A = self.squared + self.normed
        count = np.maximum(np.bincount(targets.x_columns, minlength=n_features), 1)
        mean = (np.bincount(targets.x_columns, A, n_features) / count)[targets.x_columns]
        positive = np.bincount(targets.y_columns, np.maximum(self.labels, 0), n_labels)
        negative = np.bincount(targets.y_columns, np.maximum(-self.labels, 0), n_labels)
        lighter = np.minimum(positive, negative)
        up = np.divide(lighter, positive, out=np.zeros(n_labels), where=positive > 0)
        down = np.divide(lighter, negative, out=np.zeros(n_labels), where=negative > 0)
        share = np.where(self.labels > 0, up[targets.y_columns], down[targets.y_columns])
        if squared:
            return replace(self, squared=self.squared - mean, labels=self.labels * share)
        return replace(self, normed=self.normed - mean, labels=self.labels * share)

    def bound(self, targets: Targets, feature_weight: float, largest: float) -> float:
        """Best lower bound D(θG) over 0 ≤ θ ≤ ``largest``.

        D is concave in θ, so its slope at the right end tells whether to stay there or to bisect.
        """
        linear = float(self.labels @ targets.z) - float((self.squared + self.normed) @ targets.x)
        square = float(self.squared @ self.squared)
        quadratic = square / (4 * feature_weight) if square > 0 else 0.0

        def value(theta: float) -> float:
            p = np.clip(targets.y + theta * self.labels, 0.0, 1.0)
            return float((entr(p) + entr(1 - p)).sum()) + theta * linear - theta**2 * quadratic

        def slope(theta: float) -> float:
            p = targets.y + theta * self.labels
            inside = (p > 0) & (p < 1)
            odds = self.labels[inside] @ (np.log1p(-p[inside]) - np.log(p[inside]))
            return float(odds) + linear - 2 * theta * quadratic

        low, high = 0.0, largest
        if high <= 0 or slope(high) >= 0:
            return value(high)
        for _ in range(20):
            middle = (low + high) / 2
            low, high = (middle, high) if slope(middle) > 0 else (low, middle)
        return value(low)


def lower_bound(
    objective: Objective,
    targets: Targets,
    point: DualPoint,
    norm: Callable[[FloatArray, FloatArray], float],
    residual_norm: float = 0.0,
) -> float:
    """Make a candidate feasible and give the bound it proves.

    Parameters
    ----------
    objective : Objective
    targets : Targets
    point : DualPoint
    norm : callable
        (A, S) → spectral norm of the matrix with these values on Ω.
    residual_norm : float, default=0.0
        ‖C‖₂, needed only between the regimes; its whole matrix is known to the solver alone.
    """
    data = objective.observed
    if objective.free_offsets:
        point = point.balanced(
            targets, data.n_features, data.n_labels, squared=objective.regime != "interpolation"
        )
    top = norm(point.squared + point.normed, point.labels)
    largest = objective.rank_penalty / top if top > objective.rank_penalty else 1.0
    if residual_norm > objective.residual_penalty:
        largest = min(largest, objective.residual_penalty / residual_norm)
    return point.bound(targets, objective.feature_weight, largest)


def relative_gap(primal: float, dual: float) -> float:
    """(F − D) / F, the figure that ``tol`` is about; 0 if both are 0."""
    return (primal - dual) / max(abs(primal), np.finfo(float).tiny)
