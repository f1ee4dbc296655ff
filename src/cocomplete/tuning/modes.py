"""Minimisers of F that are tried: paths of falling λ1, for a few feature weights and both kinds of λ2."""

from dataclasses import replace

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.candidates import FEATURE_WEIGHTS, Fixed
from cocomplete.hiding import Part, View
from cocomplete.solvers.path import solve_path
from cocomplete.tuning.judge import Judge

PATH = np.geomspace(0.7, 0.03, 10)
"""λ1 along a path, as shares of λ_max."""

EXACT_PATH = np.geomspace(0.4, 0.03, 4)
"""The same where features are met exactly: each value costs more."""

HOPELESS = 1.05
"""Errors that are so many times the best, in every part that has not turned, end the path with features met
exactly."""

FAR_BEHIND = 1.15
"""Once a part has turned, a path is not followed for others whose errors are so many times the best."""

PATH_TOL, PATH_ROUNDS = 1e-2, 15
"""A path is followed to this gap, or as many rounds: the order of candidates does not need more."""


class ModeSearch:
    """Follows warm-started paths.

    Parameters
    ----------
    judge : Judge
        Gets every candidate.
    fixed : Fixed
        Penalties that are not to be chosen.
    growth : float
        What penalties are multiplied by for the whole table.
    """

    def __init__(self, judge: Judge, fixed: Fixed, growth: float) -> None:
        self.judge, self.fixed, self.growth = judge, fixed, growth

    def run(self, *, gaussian: bool) -> None:
        """Follow every path, with features made normal by ranks or not."""
        views = self.judge.look(gaussian=gaussian)
        given = self.fixed
        wanted = tuple(
            part
            for part in self.judge.parts
            # Rows without labels are left to averages where there are any: see `chosen`.
            if self.judge.encoding_for(part) == gaussian
            and (part != "unlabelled" or self.judge.best(part, "average") is None)
        )
        weights = FEATURE_WEIGHTS if given.feature_weight is None else (given.feature_weight,)
        has_features, has_labels = (
            values.size > 0 for values in (views[0].cells.x_value, views[0].cells.y_value)
        )
        if not (has_features and has_labels):
            # Nothing to weigh against each other.
            weights = weights[:1]
        if given.residual_penalty in (None, 0):
            for weight in weights:
                self._follow(views, weight, PATH, wanted, exact=False)
        if given.residual_penalty is None and has_features:
            self._follow(views, weights[0], EXACT_PATH, wanted, exact=True)

    def _follow(
        self,
        views: "list[View]",
        weight: float,
        shares: FloatArray,
        wanted: tuple[Part, ...],
        *,
        exact: bool,
    ) -> None:
        """Judge the answers along a path of λ1, on every hiding alike, until all wanted parts have turned."""
        objectives = [view.objective(weight) for view in views]
        penalties = [float(objectives[0].rank_penalty_max * share) for share in shares]
        growth = self.growth
        if self.fixed.rank_penalty is not None:
            penalties, growth = [self.fixed.rank_penalty], 1.0
        if exact:
            objectives = [
                replace(one, residual_penalty=penalties[0], rank_penalty=penalties[0]) for one in objectives
            ]
        paths = [solve_path(one, penalties, tol=PATH_TOL, max_iter=PATH_ROUNDS) for one in objectives]
        lowest = dict.fromkeys(wanted, np.inf)
        for step in zip(*paths, strict=True):
            penalty = growth * step[0][0].rank_penalty
            settings = {
                "rank_penalty": penalty,
                "residual_penalty": penalty if exact else 0.0,
                "feature_weight": weight,
            }
            moments = [view.at(solution) for view, (_, solution) in zip(views, step, strict=True)]
            blind = [
                view.blindly(objective, solution)
                for view, (objective, solution) in zip(views, step, strict=True)
            ]
            errors = self.judge.judge("mode", views, settings, moments, blind).errors
            better = {part: errors[part] for part in wanted if errors[part] < lowest[part]}
            lowest |= better
            turned = len(better) < len(wanted) or not wanted
            if (turned and self._behind(better, HOPELESS if exact else FAR_BEHIND)) or (
                exact and self._behind(lowest, HOPELESS)
            ):
                break

    def _behind(self, errors: dict[Part, float], factor: float) -> bool:
        """Say whether errors are so many times the best, in every part."""
        best = {part: self.judge.best(part) for part in errors}
        return all(one is not None and errors[part] > factor * one.errors[part] for part, one in best.items())
