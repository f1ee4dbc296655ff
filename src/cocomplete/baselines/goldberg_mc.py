"""Goldberg's MC-1 and MC-b: squared loss on features, logistic loss on labels, one trace norm."""

from collections import deque
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.baselines.soft_impute import PRESETS
from cocomplete.baselines.transductive import TransductiveCompleter
from cocomplete.baselines.tuning import (
    FEATURES,
    LABELS,
    Validation,
    choose,
    follow,
    full_path,
    hold_out,
    logistic_loss,
    path,
    refit,
    squared_error,
)
from cocomplete.completion import Reconstruction
from cocomplete.parameter_checks import check_choice, check_count, check_positive
from cocomplete.problem.encoding import shrunken_log_odds
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import Standardization
from cocomplete.solvers.proximal import Loss, Recipe, solve_continuation, with_gap
from cocomplete.solvers.solution import Record, Solution
from cocomplete.spectral import LowRank, shrink, spectral_norm

VARIANTS = ("mc-1", "mc-b", "plain")

SHRINKAGE = 0.25
"""η: each μ of the continuation is this share of the one before."""

LABEL_WEIGHTS = (1.0, 5.0, 25.0)
"""What a tuned fit may try: how much a label cell weighs against a feature cell."""

Model = tuple[Solution, FloatArray]
"""A solution and T (n × (d + l)), the value it gives every cell."""


class GoldbergMC(TransductiveCompleter):
    """Goldberg et al.'s MC-1 and MC-b, with a logistic loss on labels and fixed-point continuation.

    They differ from what the paper calls Mc (:class:`Mc`) in that labels have a logistic instead of a squared
    loss, and a bias: a column of ones inside the low-rank matrix (MC-1) or a free one per label (MC-b).

    Parameters
    ----------
    preset : {"paper", "tuned"}, default="paper"
        "paper": Goldberg et al.'s own steps on raw columns, down to μ = 1e-5 at λ = 1. "tuned": features
        centred; μ, λ and whether to scale features chosen on held-out cells, for X and for Y apart;
        solved to ``tol``. In MC-b the features' offsets are then free too.
    variant : {"mc-1", "mc-b", "plain"}, default="mc-1"
        "plain" has no bias at all and is the paper's COCO-0 with other weights.
    rank_penalty : float or None, default=None
        μ. None leaves it to the preset.
    label_weight : float or None, default=None
        λ. None leaves it to the preset.
    max_iter : int, default=500
        Most steps, or rounds of the solver in "tuned", per value of μ.
    tol : float or None, default=None
        For "paper" and for MC-1: a value of μ is done when a step changes the objective by less than this
        share (1e-5 if None). Else the relative duality gap to reach (1e-3 if None).
    random_state : int, RandomState or None, default=None
        Draws the held-out cells of "tuned".

    Attributes
    ----------
    feature_solution_, label_solution_ : Solution
        The answers used for features and for labels; one object unless chosen apart.
    rank_penalty_, label_weight_ : float
        μ and λ used for labels.
    n_iter_, history_, objective_, duality_gap_
        Of ``label_solution_``, without the path that led near it; the gap is NaN where no bound is known. The
        objective is divided by ``λ/|Ω_Y|``.
    validation_ : list of dict or None
        What was tried on held-out cells, and its errors.
    n_features_in_, feature_names_in_, label_names_in_
        As everywhere.

    Notes
    -----
    The objective, with y in {−1, +1} and z the label part of M (plus b in MC-b), is::

        μ‖M‖_* + (1/|Ω_X|) Σ_{Ω_X} ½(M_ij − X_ij)² + (λ/|Ω_Y|) Σ_{Ω_Y} log(1 + exp(−y_ij z_ij)).

    Divided by ``λ/|Ω_Y|`` it is the paper's F with ``w = |Ω_Y|/(2λ|Ω_X|)``, ``λ1 = μ|Ω_Y|/λ`` and λ2 = 0,
    which is how it is solved. A fixed-point step is M ← SVT_{τμ}(M − τ∇) with ``τ = min(3.8|Ω_Y|/λ, |Ω_X|)``,
    and for b a gradient step of ``3.8|Ω_Y|/(λn)``; MC-1 resets its column of ones after each. μ falls from a
    quarter of the largest singular value of the observed matrix by a factor of four at a time.

    Examples
    --------
    >>> from cocomplete.datasets import make_low_rank_multilabel
    >>> data = make_low_rank_multilabel(30, 10, 4, rank=2, observed=0.7, random_state=0)
    >>> GoldbergMC(rank_penalty=1e-3).fit(data.X, data.Y).reconstruct().Z.shape
    (30, 4)
    """

    def __init__(
        self,
        *,
        preset: str = "paper",
        variant: str = "mc-1",
        rank_penalty: float | None = None,
        label_weight: float | None = None,
        max_iter: int = 500,
        tol: float | None = None,
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.variant = variant
        self.rank_penalty = rank_penalty
        self.label_weight = label_weight
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("preset", self.preset, PRESETS)
        check_choice("variant", self.variant, VARIANTS)
        check_positive("rank_penalty", self.rank_penalty, optional=True)
        check_positive("label_weight", self.label_weight, optional=True)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol, optional=True)

    def _probability(self, Z: FloatArray) -> FloatArray:
        probability: FloatArray = expit(Z)
        return probability

    def _solve(self, observed: Observations) -> Reconstruction:
        return self._as_paper(observed) if self.preset == "paper" else self._tuned(observed)

    def _as_paper(self, observed: Observations) -> Reconstruction:
        weight = 1.0 if self.label_weight is None else float(self.label_weight)
        mu = 1e-5 if self.rank_penalty is None else float(self.rank_penalty)
        objective = _objective(observed, weight)
        unit = _unit(observed, weight)
        D = np.hstack((np.nan_to_num(observed.X), np.nan_to_num(2 * observed.Y - 1)))
        top = spectral_norm(D)
        penalties = [max(SHRINKAGE * top, mu) * unit]
        while penalties[-1] > mu * unit:
            penalties.append(max(SHRINKAGE * penalties[-1], mu * unit))
        # The start is the strongest direction of what was observed; shrinking finds it among a few others.
        strong = shrink(D, SHRINKAGE * top).low_rank()
        start = LowRank(strong.U[:, :1], strong.s[:1] + SHRINKAGE * top, strong.Vt[:1])
        *_, (_, (solution, T)) = self._fixed_point(objective, penalties, start)
        if self.variant == "plain":
            solution = with_gap(replace(objective, rank_penalty=penalties[-1]), solution)
        self._keep(solution, solution, mu, weight, None)
        d = observed.n_features
        return Reconstruction(T[:, :d], T[:, d:])

    def _fixed_point(
        self, objective: Objective, penalties: list[float], start: LowRank | None = None
    ) -> Iterator[tuple[float, Model]]:
        """Goldberg et al.'s plain steps, or accelerated ones where nothing has to be as published."""
        n, d = objective.shape[0], objective.table.n_features
        published = self.preset == "paper"
        # 3.8 instead of 4 leaves room for the step in b, taken at the same time.
        curvature = max(1 / 3.8, 2 * objective.feature_weight) if published else objective.smoothness
        steps = None
        if self.variant == "mc-b":
            steps = np.zeros(objective.shape[1], objective.dtype)
            steps[d:] = 3.8 / n
        first = LowRank.zero(objective.shape, objective.dtype) if start is None else start
        loss: Loss = objective.smooth
        offsets = objective.offsets
        ones = self.variant == "mc-1"
        if ones:
            loss, offsets = _with_ones(loss), np.concatenate(([0], offsets)).astype(objective.dtype)
            first = LowRank(first.U, first.s, np.hstack((np.zeros_like(first.Vt[:, :1]), first.Vt)))
        recipe = Recipe(
            curvature=curvature,
            accelerate=not published,
            restart=not published,
            offset_steps=steps,
            constrain=_reset_ones if ones else None,
            max_iter=self.max_iter,
            tol=1e-5 if self.tol is None else float(self.tol),
        )
        for penalty, solution in solve_continuation(loss, penalties, first, offsets, recipe):
            yield penalty, (solution, (solution.M.dense() + solution.offsets)[:, int(ones) :])

    def _tuned(self, observed: Observations) -> Reconstruction:
        weights = [weight / _balance(observed) for weight in LABEL_WEIGHTS]
        if self.label_weight is not None:
            weights = [float(self.label_weight)]
        records = self._validate(observed, weights)
        for_features, for_labels = choose(records)
        d = observed.n_features
        together = all(for_features[name] == for_labels[name] for name in ("label_weight", "scale"))
        penalties = {for_features["rank_penalty"]} | ({for_labels["rank_penalty"]} if together else set())
        units, fits = self._refit(observed, for_features, penalties)
        features, X = fits[for_features["rank_penalty"]]
        if not together:
            _, fits = self._refit(observed, for_labels, {for_labels["rank_penalty"]})
        labels, Z = fits[for_labels["rank_penalty"]]
        self._keep(features, labels, for_labels["rank_penalty"], for_labels["label_weight"], records)
        return Reconstruction(units.restore(X[:, :d]), Z[:, d:])

    def _validate(self, observed: Observations, weights: list[float]) -> list[Record]:
        """Try raw and scaled features at the smallest λ, then the others as labels liked it best.

        Heavier labels do nothing for features: after the first λ a path ends as soon as labels have turned.
        """
        held = hold_out(observed, self.random_state)
        first, *others = weights
        records: list[Record] = []
        for scale in (False, True):
            setting = {"label_weight": first, "scale": scale}
            records += self._try(observed, held, setting, (FEATURES, LABELS), records)
        scale = choose(records)[1]["scale"]
        for weight in others if held.Y_held.any() else []:
            setting = {"label_weight": weight, "scale": scale}
            records += self._try(observed, held, setting, (LABELS,), records)
        return records

    def _try(
        self,
        observed: Observations,
        held: Validation,
        setting: Record,
        watched: tuple[str, ...],
        rivals: list[Record],
    ) -> list[Record]:
        """Follow the path for one setting on the visible cells and score it on the held-out ones."""
        units, objective = self._standardized(held.visible, setting)
        unit, d = _unit(held.visible, setting["label_weight"]), observed.n_features
        # Errors of raw and of scaled features are to be compared, so both are counted in scaled units.
        spread = Standardization.of(held.visible.X, center=True, scale=True).scale

        def score(model: Model) -> dict[str, float]:
            errors, T = {}, model[1]
            if held.X_held.any():
                X = units.restore(T[:, :d])
                errors[FEATURES] = squared_error(observed.X / spread, X / spread, held.X_held)
            if held.Y_held.any():
                errors[LABELS] = logistic_loss(observed.Y, T[:, d:], held.Y_held)
            return errors

        penalties = full_path(objective)
        if self.rank_penalty is not None:
            penalties = _down_to(objective, float(self.rank_penalty) * unit)
        models: Iterable[tuple[float, Model]] = (
            self._fixed_point(objective, penalties)
            if self.variant == "mc-1"
            else ((penalty, (at, at.M.dense() + at.offsets)) for penalty, at in path(objective, penalties))
        )
        if self.rank_penalty is not None:
            # Only the rest is left to choose: the way down to μ does not compete.
            models = deque(models, maxlen=1)
        candidates = (({"rank_penalty": penalty / unit, **setting}, model) for penalty, model in models)
        return follow(candidates, score, watched, rivals).records

    def _refit(
        self, observed: Observations, setting: Record, penalties: set[float]
    ) -> tuple[Standardization, dict[float, Model]]:
        """Fit everything for these values of μ, the rest as in the setting."""
        units, objective = self._standardized(observed, setting)
        unit = _unit(observed, setting["label_weight"])
        if self.variant == "mc-1":
            paths = {mu: self._fixed_point(objective, _down_to(objective, mu * unit)) for mu in penalties}
            return units, {mu: deque(path, maxlen=1)[0][1] for mu, path in paths.items()}
        tol = 1e-3 if self.tol is None else float(self.tol)
        found = refit(objective, [mu * unit for mu in penalties], tol=tol, max_iter=self.max_iter)
        solutions = {mu: found[mu * unit] for mu in penalties}
        return units, {mu: (at, at.M.dense() + at.offsets) for mu, at in solutions.items()}

    def _standardized(self, observed: Observations, setting: Record) -> tuple[Standardization, Objective]:
        units = Standardization.of(observed.X, center=True, scale=setting["scale"])
        objective = _objective(replace(observed, X=units.apply(observed.X)), setting["label_weight"])
        if self.variant != "mc-b":
            return units, objective
        offsets = np.concatenate((np.zeros_like(units.center), shrunken_log_odds(observed.Y)))
        data = objective.table.without_one_sided_labels()
        return units, replace(objective, observed=data, offsets=offsets, free_offsets=True)

    def _keep(
        self,
        features: Solution,
        labels: Solution,
        mu: float,
        weight: float,
        records: list[Record] | None,
    ) -> None:
        self.feature_solution_, self.label_solution_ = features, labels
        self.rank_penalty_, self.label_weight_ = mu, weight
        self.n_iter_, self.history_ = labels.n_iter, labels.history
        self.objective_, self.duality_gap_ = labels.objective, labels.duality_gap
        self.validation_ = records


def _balance(observed: Observations) -> float:
    """|Ω_X| / |Ω_Y|: times λ, how much a label cell weighs against a feature cell."""
    return max(int(observed.X_known.sum()), 1) / max(int(observed.Y_known.sum()), 1)


def _unit(observed: Observations, weight: float) -> float:
    """|Ω_Y| / λ, what turns μ into the λ1 of F."""
    return max(int(observed.Y_known.sum()), 1) / weight


def _objective(observed: Observations, weight: float) -> Objective:
    """F with MC's weights; its λ1 is set along the path."""
    m = observed.n_features + observed.n_labels
    return Objective(observed, 1.0, 0.0, 0.5 / (weight * _balance(observed)), np.zeros(m, observed.X.dtype))


def _down_to(objective: Objective, penalty: float) -> list[float]:
    """Values of λ1 on the way down to this one."""
    return [value for value in full_path(objective) if value > penalty] + [penalty]


def _with_ones(loss: Loss) -> Loss:
    """Give the same loss of a matrix with one more column in front, which it does not look at."""

    def wider(T: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = loss(T[:, 1:])
        return value, np.hstack((np.zeros_like(gradient[:, :1]), gradient))

    return wider


def _reset_ones(M: FloatArray) -> None:
    M[:, 0] = 1
