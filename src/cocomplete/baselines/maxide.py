"""Maxide: complete the features, then the labels with the features as side information."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.baselines.soft_impute import PRESETS, Imputed, impute_as_paper, impute_tuned
from cocomplete.baselines.transductive import TransductiveCompleter
from cocomplete.baselines.tuning import LABELS, best, brier, follow, hold_out
from cocomplete.completion import Reconstruction
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import check_choice, check_count, check_positive
from cocomplete.problem.observations import Observations
from cocomplete.solvers.proximal import Loss, Recipe, solve_continuation, solve_proximal
from cocomplete.solvers.solution import Record, Solution
from cocomplete.spectral import LowRank, spectral_norm
from cocomplete.table.containers import to_table

LABEL_PENALTIES = (10.0, 7.0, 5.0, 4.0, 3.0, 2.0, 1.0, 0.5, 0.1)
"""What a tuned fit may try for the labels."""

SIDE_RANK = 1e-3
"""Directions of X̂ below this share of the strongest are no side information."""


def side_information_loss(D: FloatArray, A: FloatArray, B: FloatArray | None = None) -> Loss:
    """Give f(Z) = ½‖P_Ω(A Z Bᵀ − D)‖_F² and its gradient Aᵀ P_Ω(A Z Bᵀ − D) B.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_labels)
        NaN off Ω.
    A : ndarray of shape (n_samples, r_a)
        Side information on rows.
    B : ndarray of shape (n_labels, r_b), optional
        Side information on labels; None is the identity.
    """
    known = ~np.isnan(D)

    def loss(Z: FloatArray) -> tuple[float, FloatArray]:
        T = A @ Z if B is None else A @ Z @ B.T
        residual = np.where(known, T - D, 0)
        gradient = A.T @ residual
        return 0.5 * float(np.vdot(residual, residual)), gradient if B is None else gradient @ B

    return loss


def complete_with_side_information(
    D: FloatArray,
    A: FloatArray,
    B: FloatArray | None = None,
    *,
    penalty: float = 1.0,
    recipe: Recipe | None = None,
) -> Solution:
    """Minimise ½‖P_Ω(A Z Bᵀ − D)‖_F² + λ‖Z‖_* over Z from zero, by accelerated proximal gradient.

    Parameters
    ----------
    D, A, B
        As for :func:`side_information_loss`.
    penalty : float, default=1.0
        λ.
    recipe : Recipe, optional
        By default 100 steps with L doubled from 1 as needed, as Maxide's authors do.

    Returns
    -------
    Solution
        Its M is Z, of shape (r_a, r_b).
    """
    start = _nothing(D, A, B)
    how = Recipe(backtrack=True, quadratic=True) if recipe is None else recipe
    return solve_proximal(
        side_information_loss(D, A, B), penalty, start, np.zeros(start.shape[1], D.dtype), how
    )


def _nothing(D: FloatArray, A: FloatArray, B: FloatArray | None) -> LowRank:
    return LowRank.zero((A.shape[1], D.shape[1] if B is None else B.shape[1]), D.dtype)


class _Stages(NamedTuple):
    """Both stages of a fit.

    Attributes
    ----------
    features : Imputed
        The first stage.
    A : ndarray of shape (n_samples, r_a)
        What it passes to the second.
    labels : Solution
        The second stage: its M is Z.
    label_penalty : float
        λ of the second stage.
    tried : list of dict or None
        What was tried for it on held-out cells.
    """

    features: Imputed
    A: FloatArray
    labels: Solution
    label_penalty: float
    tried: list[Record] | None


def _apply(A: FloatArray, Z: Solution, B: FloatArray | None) -> FloatArray:
    """Give A Z Bᵀ."""
    scores: FloatArray = A @ Z.M.dense() if B is None else A @ Z.M.dense() @ B.T
    return scores


def _path(
    Y: FloatArray, A: FloatArray, B: FloatArray | None, penalties: Sequence[float], recipe: Recipe
) -> Iterator[tuple[float, Solution]]:
    """Follow λ down for labels coded −1 and 1."""
    D = 2 * Y - 1
    start = _nothing(D, A, B)
    offsets = np.zeros(start.shape[1], D.dtype)
    return solve_continuation(side_information_loss(D, A, B), penalties, start, offsets, recipe)


class Maxide(TransductiveCompleter):
    """Complete features first, then labels as a low-rank map of the completed features.

    Parameters
    ----------
    preset : {"paper", "tuned"}, default="paper"
        "paper": both stages with λ = 1 and 100 accelerated steps from zero; side information is X̂ as it is,
        labels are 0 and 1, cut at a half. "tuned": features as in :class:`SoftImpute`'s "tuned"; side
        information is a constant and the left singular vectors of X̂; labels are −1 and 1, cut at 0; λ chosen
        on held-out cells along a warm path, solved to convergence.
    feature_penalty, label_penalty : float or None, default=None
        λ of the two stages. None leaves them to the preset. (For CAL500 in the paper's Table 2, a
        ``feature_penalty`` of 0.5 comes closer than its 1.)
    label_information : array-like of shape (n_labels, r_b) or None, default=None
        Maxide's B, side information on labels; None is the identity, as in the paper.
    max_iter : int, default=100
        T of both stages of "paper"; in "tuned" the most rounds of the first.
    random_state : int, RandomState or None, default=None
        Draws the held-out cells of "tuned".

    Attributes
    ----------
    feature_solution_ : Solution
        Of the first stage.
    label_solution_ : Solution
        Of the second: its M is Z (r_a × r_b), and labels are A Z Bᵀ.
    feature_penalty_, label_penalty_ : float
        λ used.
    validation_ : dict or None
        ``"features"`` and ``"labels"``: what was tried on held-out cells, and its errors.
    n_iter_ : int
        Steps or rounds of both stages together.
    n_features_in_, feature_names_in_, label_names_in_
        As everywhere.

    Notes
    -----
    The second stage minimises ½‖P_Ω(A Z Bᵀ − Y)‖_F² + λ‖Z‖_*. On raw features L grows until λ/L is next to
    nothing: "paper" is early-stopped least squares, and λ hardly matters.
    Scores Z of :meth:`reconstruct` are on the scale where −1 means 0 and +1 means 1.

    Examples
    --------
    >>> from cocomplete.datasets import make_low_rank_multilabel
    >>> data = make_low_rank_multilabel(40, 12, 5, rank=2, observed=0.7, random_state=0)
    >>> Maxide().fit(data.X, data.Y).reconstruct().Z.shape
    (40, 5)
    """

    def __init__(
        self,
        *,
        preset: str = "paper",
        feature_penalty: float | None = None,
        label_penalty: float | None = None,
        label_information: Any = None,
        max_iter: int = 100,
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.feature_penalty = feature_penalty
        self.label_penalty = label_penalty
        self.label_information = label_information
        self.max_iter = max_iter
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("preset", self.preset, PRESETS)
        check_positive("feature_penalty", self.feature_penalty, optional=True)
        check_positive("label_penalty", self.label_penalty, optional=True)
        check_count("max_iter", self.max_iter)

    def _solve(self, observed: Observations) -> Reconstruction:
        B = self._label_information(observed)
        stages = self._as_paper(observed, B) if self.preset == "paper" else self._tuned(observed, B)
        features, Z = stages.features.features, stages.labels
        self.feature_solution_, self.label_solution_ = features, Z
        self.feature_penalty_, self.label_penalty_ = stages.features.penalties[0], stages.label_penalty
        self.n_iter_ = features.n_iter + Z.n_iter
        tried = {"features": stages.features.validation, "labels": stages.tried}
        self.validation_ = {stage: records for stage, records in tried.items() if records} or None
        scores = _apply(stages.A, Z, B)
        return Reconstruction(
            stages.features.table(features), 2 * scores - 1 if self.preset == "paper" else scores
        )

    def _label_information(self, observed: Observations) -> FloatArray | None:
        if self.label_information is None:
            return None
        B = to_table(self.label_information, "label_information").values
        if len(B) != observed.n_labels or not np.isfinite(B).all():
            msg = (
                f"label_information must have one row of finite numbers per label, that is "
                f"{observed.n_labels}, but has shape {B.shape} and {int((~np.isfinite(B)).sum())} "
                "unknown or infinite cell(s)"
            )
            raise InputError(msg)
        return B.astype(observed.X.dtype, copy=False)

    def _as_paper(self, observed: Observations, B: FloatArray | None) -> _Stages:
        first, second = (
            1.0 if given is None else float(given) for given in (self.feature_penalty, self.label_penalty)
        )
        features = impute_as_paper(
            observed.X, rank_penalty=first, max_iter=self.max_iter, center=False, scale=False
        )
        A = features.table(features.features)
        recipe = Recipe(backtrack=True, quadratic=True, max_iter=self.max_iter)
        labels = complete_with_side_information(observed.Y, A, B, penalty=second, recipe=recipe)
        return _Stages(features, A, labels, second, None)

    def _tuned(self, observed: Observations, B: FloatArray | None) -> _Stages:
        features = impute_tuned(
            observed,
            use_labels=False,
            rank_penalty=None if self.feature_penalty is None else float(self.feature_penalty),
            tol=1e-3,
            max_iter=self.max_iter,
            center=True,
            scale=True,
            random_state=self.random_state,
        )
        M = features.features.M
        strong = M.s > SIDE_RANK * M.s.max(initial=0)
        constant = np.full((observed.n_samples, 1), observed.n_samples**-0.5, observed.X.dtype)
        A = np.hstack((constant, M.U[:, strong]))
        curvature = spectral_norm(A) ** 2 * (1.0 if B is None else spectral_norm(B) ** 2)
        recipe = Recipe(curvature=curvature or 1.0, restart=True, quadratic=True, max_iter=1000, tol=1e-8)
        tried = None
        penalties: Sequence[float] = LABEL_PENALTIES
        if self.label_penalty is not None:
            penalties = [float(self.label_penalty)]
        elif observed.Y_known.sum() > 1:
            held = hold_out(observed, self.random_state)
            path = _path(held.visible.Y, A, B, penalties, recipe)

            def score(Z: Solution) -> dict[str, float]:
                return {LABELS: brier(observed.Y, (1 + _apply(A, Z, B)) / 2, held.Y_held)}

            tried = follow((({"label_penalty": penalty}, Z) for penalty, Z in path), score).records
            chosen = float(best(tried, LABELS)["label_penalty"])
            penalties = [value for value in penalties if value >= chosen]
        *_, (penalty, Z) = _path(observed.Y, A, B, penalties, recipe)
        return _Stages(features, A, Z, penalty, tried)
