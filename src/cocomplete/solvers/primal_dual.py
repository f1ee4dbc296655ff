"""ADMM for two trace norms: any λ2 ≥ 0, on dense matrices, with a certificate.

The problem is split as

    minimise  λ1‖M‖_* + λ2‖R‖_* + f(T)    subject to    M + 1oᵀ = T,   R = P_ΩX(T − X)

so that (M, o, R) and T are minimised in turn, each in closed form (labels by a few Newton steps per cell).
Two blocks and convex functions: it converges for every penalty ρ > 0. ρ is adapted to balance the
residuals, less and less often, which keeps the guarantee. With free offsets the M step shrinks a centred
matrix, because a column's mean costs nothing in o.
"""

from dataclasses import dataclass
from time import perf_counter

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.interrupts import stop_requested
from cocomplete.problem.cells import Cells
from cocomplete.problem.certificate import DualPoint, lower_bound, relative_gap
from cocomplete.problem.objective import Objective
from cocomplete.solvers.solution import History, Monitor, Progress, Solution
from cocomplete.solvers.solver import ALL_REGIMES, Solver
from cocomplete.spectral import LowRank, shrink, spectral_norm

RELAXATION = 1.6
CHECK_EVERY = 10


def solve_primal_dual(
    objective: Objective,
    *,
    tol: float = 1e-3,
    max_iter: int = 2000,
    monitor: Monitor | None = None,
    progress: Progress | None = None,
) -> Solution:
    """Minimise F to a relative duality gap of ``tol``.

    Parameters
    ----------
    objective : Objective
        In any regime.
    tol : float, default=1e-3
        Relative duality gap at which to stop.
    max_iter : int, default=2000
        Most iterations.
    monitor, progress : callable, optional
        See :mod:`cocomplete.solvers.solution`.

    Notes
    -----
    Each iteration costs two singular value shrinkages (one if λ2 = 0). The multiplier of M + 1oᵀ = T is the
    gradient of the losses, supported on Ω; with that of R it makes the dual point.
    """
    history = History(perf_counter(), monitor, progress)
    state, cells = _State.start(objective), objective.cells
    best: tuple[float, LowRank, FloatArray] = (np.inf, state.M, state.offsets)
    highest, gap, next_change = -np.inf, np.inf, CHECK_EVERY
    interrupted = False
    for iteration in range(1, max_iter + 1):
        state.advance(objective)
        interrupted = stop_requested()
        if iteration % CHECK_EVERY and iteration != max_iter and not interrupted:
            continue
        value = objective.value(state.M, state.offsets)
        if value < best[0]:
            best = (value, state.M, state.offsets)
        highest = max(highest, state.bound(objective, cells))
        gap = relative_gap(best[0], highest)
        history.add(iteration, value, lambda: state.M, state.offsets, rank=state.M.rank, duality_gap=gap)
        if gap <= tol or interrupted:
            break
        if iteration >= next_change:
            next_change = int(1.5 * iteration) + CHECK_EVERY
            state.balance()
    value, M, offsets = best
    return Solution(
        M,
        offsets,
        value,
        gap,
        iteration,
        converged=gap <= tol,
        history=history.records,
        interrupted=interrupted,
    )


SOLVER = Solver("primal-dual", solve_primal_dual, ALL_REGIMES, settings=("tol",), dense=True)


@dataclass
class _State:
    """ADMM's moving parts, named as in the module's text.

    Attributes
    ----------
    T, U : ndarray of shape (n_samples, n_features + n_labels)
        The losses' copy of the model, and the scaled multiplier of M + 1oᵀ = T.
    R, V : ndarray of shape (n_samples, n_features)
        The residual's copy, and the scaled multiplier of R = P_ΩX(T − X); zero if λ2 = 0.
    M, offsets
        The answer so far.
    rho : float
        The penalty ρ.
    primal, dual : float
        Sizes of the last residuals.
    """

    T: FloatArray
    U: FloatArray
    R: FloatArray
    V: FloatArray
    M: LowRank
    offsets: FloatArray
    rho: float
    primal: float = 0.0
    dual: float = 0.0

    @classmethod
    def start(cls, objective: Objective) -> "_State":
        data, offsets = objective.table, objective.offsets
        known = np.hstack((data.X_known, data.Y_known))
        T = np.where(known, np.hstack((np.nan_to_num(data.X), np.zeros_like(data.Y))), offsets)
        R, V = np.zeros((2, *data.X.shape), objective.dtype)
        # The first shrinkage threshold λ1/ρ is then about a typical singular value of what was observed.
        size = np.sqrt(float(np.nansum(data.X**2)) + int(data.Y_known.sum())) or 1.0
        rho = float(objective.rank_penalty * np.sqrt(min(objective.shape)) / size)
        M = LowRank.zero(objective.shape, objective.dtype)
        return cls(
            T.astype(objective.dtype), np.zeros(objective.shape, objective.dtype), R, V, M, offsets, rho
        )

    def advance(self, objective: Objective) -> None:
        """Do one iteration: (M, o, R), then T, then the multipliers."""
        two_norms = objective.regime != "smooth"
        aim = self.T - self.U
        if objective.free_offsets:
            self.offsets = aim.mean(axis=0)
        self.M = shrink(aim - self.offsets, objective.rank_penalty / self.rho).low_rank()
        model = self.M.dense() + self.offsets
        residual = objective.residual(self.T)
        if two_norms:
            self.R = shrink(residual - self.V, objective.residual_penalty / self.rho).dense()
        relaxed = RELAXATION * model + (1 - RELAXATION) * self.T
        relaxed_R = RELAXATION * self.R + (1 - RELAXATION) * residual
        before = self.T
        self.T = _losses_step(
            objective, relaxed + self.U, relaxed_R + self.V if two_norms else None, self.rho
        )
        self.U = self.U + relaxed - self.T
        self.primal = float(np.linalg.norm(model - self.T))
        if two_norms:
            residual = objective.residual(self.T)
            self.V = self.V + relaxed_R - residual
            self.primal += float(np.linalg.norm(self.R - residual))
        self.dual = self.rho * float(np.linalg.norm(self.T - before))

    def balance(self) -> None:
        """Change ρ so that the two residuals come together, at most tenfold at a time."""
        if self.primal <= 0 or self.dual <= 0:
            return
        factor = float(np.clip(np.sqrt(self.primal / self.dual), 0.1, 10.0))
        self.rho, self.U, self.V = self.rho * factor, self.U / factor, self.V / factor

    def bound(self, objective: Objective, cells: Cells) -> float:
        """Lower bound on F from the multipliers: G = ρU on Ω, and C = −ρV for the residual's norm."""
        data, d = objective.table, objective.table.n_features
        A, S = self.rho * self.U[:, :d][data.X_known], self.rho * self.U[:, d:][data.Y_known]
        # y + s is a probability; rounding must not push it outside.
        y = data.Y[data.Y_known]
        S = np.clip(S, -y, 1 - y)
        residual_norm = 0.0
        if objective.regime == "interpolation":
            point = DualPoint(A, None, S)
        elif objective.regime == "smooth":
            # Features that cost nothing have no slope; what is left of it is the iterations' doing.
            A = A if objective.feature_weight > 0 else np.zeros_like(A)
            point = DualPoint(A, A, S)
        else:
            normed = -self.rho * self.V[data.X_known]
            weighs = objective.feature_weight > 0
            point = DualPoint(A, A - normed, S) if weighs else DualPoint(normed, None, S)
            residual_norm = self.rho * spectral_norm(self.V)

        return lower_bound(objective, cells, point, self.offsets, residual_norm)


def _losses_step(objective: Objective, aim: FloatArray, aim_R: FloatArray | None, rho: float) -> FloatArray:
    """Minimise f(T) + ρ/2‖T − aim‖² + ρ/2‖P(T − X) − aim_R‖², cell by cell."""
    data, d, w = objective.table, objective.table.n_features, objective.feature_weight
    T = aim.copy()
    pull, total = 2 * w * data.X + rho * aim[:, :d], 2 * w + rho
    if aim_R is not None:
        pull, total = pull + rho * (data.X + aim_R), total + rho
    T[:, :d] = np.where(data.X_known, pull / total, aim[:, :d])
    a, y = aim[:, d:][data.Y_known], data.Y[data.Y_known]
    # The root of σ(z) − y + ρ(z − a) lies within 1/ρ of a; Newton from there, kept inside the bracket.
    low, high = a + (y - 1) / rho, a + y / rho
    z = np.clip(a, low, high)
    for _ in range(30):
        p = expit(z)
        slope = p - y + rho * (z - a)
        low, high = np.where(slope < 0, z, low), np.where(slope > 0, z, high)
        newton = z - slope / (p * (1 - p) + rho)
        step = np.where((newton > low) & (newton < high), newton, (low + high) / 2)
        if np.max(np.abs(step - z), initial=0.0) <= 1e-14 * (1 + np.max(np.abs(z), initial=0.0)):
            break
        z = step
    labels = T[:, d:]
    labels[data.Y_known] = z
    return T
