"""SoftImpute: squared loss and a trace norm, on the features or on features and labels together."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.baselines.transductive import TransductiveCompleter
from cocomplete.baselines.tuning import (
    FEATURES,
    LABELS,
    Validation,
    brier,
    choose,
    follow,
    full_path,
    hold_out,
    path,
    refit,
)
from cocomplete.completion import Reconstruction
from cocomplete.parameter_checks import check_choice, check_count, check_flag, check_positive
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import Standardization
from cocomplete.solvers.proximal import Recipe, solve_proximal, with_gap
from cocomplete.solvers.solution import Record, Solution
from cocomplete.spectral import LowRank

PRESETS = ("paper", "tuned")


@dataclass(frozen=True, eq=False)
class Imputed:
    """A completed matrix D (features, or features and labels side by side).

    Attributes
    ----------
    units : Standardization
        Of the columns of D.
    features, labels : Solution
        The answers that were chosen for features and for labels; the same object unless tuned apart.
    penalties : tuple of float
        λ of the two.
    validation : list of dict or None
        What was tried on held-out cells; None if nothing was chosen.
    """

    units: Standardization
    features: Solution
    labels: Solution
    penalties: tuple[float, float]
    validation: list[Record] | None

    def table(self, solution: Solution) -> FloatArray:
        """D̂ in the user's units."""
        return self.units.restore(solution.M.dense() + solution.offsets)


def impute_as_paper(
    D: FloatArray, *, rank_penalty: float, max_iter: int, center: bool, scale: bool
) -> Imputed:
    """Take ``max_iter`` accelerated steps from zero, and no more.

    Parameters
    ----------
    D : ndarray of shape (n_samples, n_columns)
        NaN where unknown.
    rank_penalty : float
        λ of ½‖P_Ω(M − D)‖_F² + λ‖M‖_*.
    max_iter : int
        T.
    center, scale : bool
        Whether columns are first centred and scaled by their observed cells.
    """
    units, objective = _problem(D, center=center, scale=scale)
    # These steps know no offsets of their own: the columns' means stay where they are.
    objective = replace(objective, rank_penalty=rank_penalty, free_offsets=False)
    start = LowRank.zero(objective.shape, objective.dtype)
    solution = solve_proximal(
        objective.smooth, rank_penalty, start, objective.offsets, Recipe(max_iter=max_iter)
    )
    solution = with_gap(objective, solution)
    return Imputed(units, solution, solution, (rank_penalty, rank_penalty), None)


def impute_tuned(
    observed: Observations,
    *,
    use_labels: bool,
    rank_penalty: float | None,
    tol: float,
    max_iter: int,
    center: bool,
    scale: bool,
    random_state: Any,
) -> Imputed:
    """Minimise to a duality gap of ``tol``, with free offsets if centred and λ chosen on held-out cells.

    Parameters
    ----------
    observed : Observations
    use_labels : bool
        Whether D is [X, Y] or X alone.
    rank_penalty : float or None
        λ; None holds cells out, follows the warm path and chooses for X and for Y apart.
    tol, max_iter
        Of the last minimisation; the path to it is followed less closely.
    center, scale : bool
        Whether columns have free offsets, and are scaled by their observed spread.
    random_state : int, RandomState or None
        Draws the held-out cells.
    """
    D = _joined if use_labels else _features
    records, start = None, None
    if rank_penalty is None:
        held = hold_out(observed, random_state)
        units, objective = _problem(D(held.visible), center=center, scale=scale)
        followed = path(objective, full_path(objective))
        candidates = (({"rank_penalty": penalty}, solution) for penalty, solution in followed)
        records, answers = follow(candidates, lambda solution: _errors(observed, held, units, solution))
        for_features, for_labels = choose(records)
        penalties = (float(for_features["rank_penalty"]), float(for_labels["rank_penalty"]))
        # The held-out cells change little: what was found without them is near the answer with them.
        strongest = FEATURES if penalties[0] > penalties[1] else LABELS
        start = answers.get(strongest)
    else:
        penalties = (rank_penalty, rank_penalty)
    units, objective = _problem(D(observed), center=center, scale=scale)
    fits = refit(objective, penalties, tol=tol, max_iter=max_iter, start=start)
    return Imputed(units, fits[penalties[0]], fits[penalties[1]], penalties, records)


def _joined(observed: Observations) -> FloatArray:
    return np.hstack((observed.X, observed.Y))


def _features(observed: Observations) -> FloatArray:
    return observed.X


def _problem(D: FloatArray, *, center: bool, scale: bool) -> tuple[Standardization, Objective]:
    """Every column a feature: squared loss knows no labels. λ is set by the caller or along the path."""
    table = Observations(D, np.empty((len(D), 0), D.dtype))
    units = Standardization.of(D, center=center, scale=scale)
    return units, Objective(
        replace(table, X=units.apply(D)), 1.0, 0.0, 0.5, np.zeros_like(units.center), center
    )


def _errors(
    observed: Observations, held: Validation, units: Standardization, solution: Solution
) -> dict[str, float]:
    """Errors on the held-out cells, of those parts of the table that the solution has."""
    d, D = observed.n_features, solution.M.dense() + solution.offsets
    errors = {}
    if held.X_held.any():
        rows, columns = np.nonzero(held.X_held)
        truth = (observed.X[rows, columns] - units.center[columns]) / units.scale[columns]
        errors[FEATURES] = float(np.mean((D[rows, columns] - truth) ** 2))
    if D.shape[1] > d and held.Y_held.any():
        labels = D[:, d:] * units.scale[d:] + units.center[d:]
        errors[LABELS] = brier(observed.Y, labels, held.Y_held)
    return errors


class SoftImpute(TransductiveCompleter):
    """Complete features by squared loss and a trace norm: ½‖P_Ω(M − D)‖_F² + λ‖M‖_*.

    Parameters
    ----------
    preset : {"tuned", "paper"}, default="tuned"
        "paper" is how the paper completes features for Maxide: λ = 1 and 100 accelerated proximal gradient
        steps from zero on raw columns, far from the minimum. "tuned" is a fair opponent: columns centred and
        scaled, free offsets, λ chosen on held-out cells along a warm-started path, solved to ``tol``.
    use_labels : bool, default=False
        Whether D is [X, Y], labels as the numbers 0 and 1, instead of X alone. Without them labels get their
        observed majority.
    rank_penalty : float or None, default=None
        λ, on standardised columns where they are. None leaves it to the preset.
    center, scale : bool or None, default=None
        Whether columns are centred (free offsets in "tuned", observed means in "paper") and divided by their
        observed spread. None leaves it to the preset.
    max_iter : int, default=100
        T, the steps of "paper"; the most rounds of the last minimisation in "tuned".
    tol : float, default=1e-3
        Relative duality gap that "tuned" reaches; "paper" runs its steps and does not look at it.
    random_state : int, RandomState or None, default=None
        Draws the held-out cells of "tuned".

    Attributes
    ----------
    feature_solution_, label_solution_ : Solution
        The answers used for features and for labels; one object unless λ was chosen apart.
    rank_penalty_, label_rank_penalty_ : float
        λ used for features and for labels.
    rank_, singular_values_, n_iter_, history_, objective_, duality_gap_
        Of ``feature_solution_``; the path that led a tuned one near its answer is not counted.
    validation_ : list of dict or None
        λ and errors on held-out cells of everything tried; None if nothing was chosen.
    n_features_in_, feature_names_in_, label_names_in_
        As everywhere.

    Notes
    -----
    Scores Z are on the scale where −1 means 0 and +1 means 1.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.outer([1.0, 2.0, 3.0, 4.0], [1.0, 2.0, 3.0])
    >>> X[0, 2] = np.nan
    >>> done = SoftImpute(rank_penalty=0.01, center=False, scale=False, tol=1e-6).fit(X).complete(X)
    >>> round(float(done.X[0, 2]), 1)
    3.0
    """

    def __init__(
        self,
        *,
        preset: str = "tuned",
        use_labels: bool = False,
        rank_penalty: float | None = None,
        center: bool | None = None,
        scale: bool | None = None,
        max_iter: int = 100,
        tol: float = 1e-3,
        random_state: Any = None,
    ) -> None:
        self.preset = preset
        self.use_labels = use_labels
        self.rank_penalty = rank_penalty
        self.center = center
        self.scale = scale
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def _check_parameters(self) -> None:
        check_choice("preset", self.preset, PRESETS)
        check_flag("use_labels", self.use_labels)
        check_positive("rank_penalty", self.rank_penalty, optional=True)
        check_flag("center", self.center, optional=True)
        check_flag("scale", self.scale, optional=True)
        check_count("max_iter", self.max_iter)
        check_positive("tol", self.tol)

    def _solve(self, observed: Observations) -> Reconstruction:
        paper = self.preset == "paper"
        units = {
            name: (not paper) if value is None else bool(value)
            for name, value in (("center", self.center), ("scale", self.scale))
        }
        use_labels = bool(self.use_labels) and observed.n_labels > 0
        if paper:
            penalty = 1.0 if self.rank_penalty is None else float(self.rank_penalty)
            D = _joined(observed) if use_labels else observed.X
            answer = impute_as_paper(D, rank_penalty=penalty, max_iter=self.max_iter, **units)
        else:
            answer = impute_tuned(
                observed,
                use_labels=use_labels,
                rank_penalty=None if self.rank_penalty is None else float(self.rank_penalty),
                tol=self.tol,
                max_iter=self.max_iter,
                random_state=self.random_state,
                **units,
            )
        self._keep(answer)
        d = observed.n_features
        table = answer.table(answer.features)
        if not use_labels:
            # Half a one and half a zero keep the share of a label without observed cells defined.
            rate = (np.nansum(observed.Y, axis=0) + 0.5) / (observed.Y_known.sum(axis=0) + 1)
            return Reconstruction(table, np.tile(2 * rate - 1, (observed.n_samples, 1)))
        labels = table if answer.labels is answer.features else answer.table(answer.labels)
        return Reconstruction(table[:, :d], 2 * labels[:, d:] - 1)

    def _keep(self, answer: Imputed) -> None:
        self.feature_solution_, self.label_solution_ = answer.features, answer.labels
        self.rank_penalty_, self.label_rank_penalty_ = answer.penalties
        self.rank_ = answer.features.M.rank
        self.singular_values_ = answer.features.M.s
        self.n_iter_ = answer.features.n_iter
        self.history_ = answer.features.history
        self.objective_ = answer.features.objective
        self.duality_gap_ = answer.features.duality_gap
        self.validation_ = answer.validation
