"""Penalties chosen by hiding observed cells.

A share of the observed cells of X and of Y is hidden, models are fitted to the rest, and each is judged by
what it says of the hidden cells: squared error of standardised features, log-loss of labels. X and Y are
judged, and choose, apart; and so do the labels of rows in which none is known, which is what most new rows
are: for them the hidden labels are predicted from the row's features alone.

Two families are tried. The *mode* is the minimiser of F, along warm-started paths of falling λ1 for a few
feature weights, with λ2 = 0 and with features met exactly. The *average* is the same model averaged over its
factors (:mod:`cocomplete.solvers.posterior`), for a few priors, each search one coordinate at a time from a
middle value. Labels are answered for by a *blend*: averages of different kinds, the best of each, and what is
read out of the features that the best average for features completes (:mod:`cocomplete.solvers.readout`). The
trivial answer (column means, label rates) is judged beside them.
"""

from dataclasses import replace
from typing import Any

import numpy as np
from scipy.special import ndtri

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.candidates import Candidate, Fixed
from cocomplete.hiding import HIDDEN_SHARE, PARTS, HiddenLabels, Part
from cocomplete.parts import Member, Setting
from cocomplete.problem.observations import Observations
from cocomplete.solvers.path import solve_path
from cocomplete.solvers.solution import Progress
from cocomplete.tuning.averages import AverageSearch
from cocomplete.tuning.judge import Judge
from cocomplete.tuning.modes import PATH_ROUNDS, PATH_TOL, ModeSearch

INDIFFERENT = 0.01
"""Relative difference of errors on hidden labels that decides nothing."""

OVERLAP = 0.5
"""How much of what features say, beyond the number of them that is usual in the table, others have said.
Found on four real tables, in complete rows with some known labels; half or twice of it does about as well.
The rows that judge are no more complete than the table, so that they cannot choose it."""

SMALLEST_FACTOR = 0.25
"""Standard deviations are not made smaller than this share of what the model says."""

ENOUGH_FOR_QUANTILES = 50
"""Hidden features needed to set the width of intervals by."""


class Search(Judge):
    """Fits candidates to what is visible, judges them by what is hidden, and chooses.

    Parameters
    ----------
    observed, yes_no, center, scale, random_state, progress
        As for :class:`cocomplete.tuning.judge.Judge`.
    fixed : Fixed
    averaging : bool
        Whether averages are tried.
    """

    def __init__(
        self,
        observed: Observations,
        yes_no: BoolArray,
        *,
        center: bool,
        scale: bool,
        fixed: Fixed,
        averaging: bool,
        random_state: Any,
        progress: Progress | None = None,
    ) -> None:
        super().__init__(
            observed, yes_no, center=center, scale=scale, random_state=random_state, progress=progress
        )
        self.fixed, self.averaging = fixed, averaging
        self.averages = AverageSearch(self)
        # Penalties grow with the square root of the number of cells, as the noise they hold back does.
        self.growth = float(np.sqrt(1 / (1 - HIDDEN_SHARE)))
        self.interrupted = False
        self.blend: Candidate | None = None

    def run(self) -> "Search":
        """Try everything; Ctrl-C ends the search with what has been found by then."""
        if not self.parts:
            return self
        modes = ModeSearch(self, self.fixed, self.growth)
        try:
            views = self.look(gaussian=False)
            trivial = [view.trivial() for view in views]
            self.judge(
                "trivial",
                views,
                {},
                trivial,
                [view.of_labels(one) for view, one in zip(views, trivial, strict=True)],
            )
            if self.averaging:
                self.averages.run()
            for gaussian in sorted({self.encoding_for(part) for part in self.parts}):
                modes.run(gaussian=gaussian)
            self.blend = self.averages.blended()
        except KeyboardInterrupt:
            self.interrupted = True
            self.blend = self.averages.blended(hurried=True)
        return self

    def chosen(self, part: Part) -> Candidate | None:
        """Give the candidate to use for a part: the best, or for labels the blend if that may be as good.

        Averages stay right about how sure they are in rows of which more is known than of those that judged
        them, as is the rule with new rows: for rows without labels they are always preferred to a mode.
        """
        best = self.best(part)
        if part == "features" or best is None or self.blend is None:
            return best
        worse = self.blend.errors[part] > (1 + INDIFFERENT) * best.errors[part]
        if best.method == "trivial":
            return best if self.blend.errors[part] >= best.errors[part] else self.blend
        return best if part == "labels" and best.method == "mode" and worse else self.blend

    def settings(self) -> dict[Part, Setting]:
        """Give what each part is to be fitted with; a part that could not be judged follows the other."""
        chosen = {part: self._setting(part) for part in self.parts}
        if not chosen:
            return dict.fromkeys(PARTS, self.fixed.setting())
        fallback = next(iter(chosen.values()))
        return {part: chosen.get(part, fallback) for part in PARTS}

    def _setting(self, part: Part) -> Setting:
        """Take the best candidate of a part, and the best mode beside it: every fit has a certificate."""
        best = self.chosen(part)
        averaged = best is not None and best.method in ("average", "blend")
        # Labels of all rows share a certificate where averages answer for them.
        judged: Part = "labels" if averaged and part == "unlabelled" and "labels" in self.parts else part
        mode = self.best(judged, "mode", gaussian=best.gaussian if best and averaged else None)
        if mode is None:
            penalties = replace(self.fixed.setting(), gaussian=self.encoding_for(part))
        else:
            penalties = Setting(gaussian=mode.gaussian, **mode.settings)
        if best is None or best.method == "mode":
            return penalties
        if best.method == "trivial":
            return replace(penalties, method="trivial")
        return replace(penalties, method="average", members=self._members(best, part))

    def _members(self, chosen: Candidate, part: Part) -> tuple[Member, ...]:
        """Give an average alone, or those of a blend with their shares.

        In rows of which some label is known, features beyond the usual number count for less; without any,
        the averages that this would hold back have a share only where they are clearly the best as they are.

        What is read out for rows without labels is learnt from completed labels. It is judged, and its
        variance chosen, by what the known ones alone teach: the labels that were hidden would be completed
        from others of their rows, and the larger variances that they prefer are too large for new rows.
        """
        if chosen.method == "average":
            return (Member(chosen.settings["prior"]),)
        overlap = OVERLAP if part == "labels" else 0.0
        averages = (Member(one.settings["prior"], overlap=overlap) for one in chosen.settings["members"])
        readouts = (replace(one, taught=part == "unlabelled") for one in chosen.settings["readouts"])
        members, shares = (*averages, *readouts), chosen.settings["shares"][part]
        return tuple(replace(one, share=share) for one, share in zip(members, shares, strict=True))

    def std_factor(self) -> float:
        """Say what to multiply standard deviations by for 90 % intervals to hold 90 % of the hidden cells."""
        best = self.chosen("features")
        numbers = ~self.yes_no[self.truth.x_column]
        if best is None or numbers.sum() < ENOUGH_FOR_QUANTILES:
            return 1.0
        error = np.abs(best.x_mean - self.truth.x_value)
        std = self._doubt(best) if best.method == "mode" else best.x_std
        ratio = error[numbers] / np.maximum(std[numbers], 1e-300)
        # Without noise most cells are met to many digits, and a quantile says nothing of those that are not.
        return max(float(np.quantile(ratio, 0.9) / ndtri(0.95)), SMALLEST_FACTOR)

    def _doubt(self, mode: Candidate) -> FloatArray:
        """Work out a mode's standard deviations in the hidden cells, as a path had no time for."""
        told = []
        for view in self.look(gaussian=mode.gaussian):
            penalty = mode.settings["rank_penalty"] / (1.0 if self.fixed.rank_penalty else self.growth)
            objective = replace(
                view.objective(mode.settings["feature_weight"]),
                rank_penalty=penalty,
                residual_penalty=penalty if mode.settings["residual_penalty"] else 0.0,
            )
            path = solve_path(objective, [penalty], tol=PATH_TOL, max_iter=PATH_ROUNDS)
            told.append(view.decode(view.with_doubt(*next(path)))[1])
        return np.concatenate(told)

    def hidden_labels(self) -> "HiddenLabels | None":
        """Give the hidden labels and what the chosen model says of them; None if too few were hidden."""
        best = self.chosen("labels")
        return None if best is None else HiddenLabels(self.truth.y_column, self.truth.y_value, best.y_score)

    def summary(self) -> dict[str, Any]:
        """Give what was chosen, why, and every candidate with its errors."""
        told: dict[str, Any] = {
            "hidden_cells": {part: sum(one.sizes[part] for one in self.hidings) for part in PARTS},
            "curves": [one.record() for one in self.candidates],
        }
        for part in self.parts:
            best = self.chosen(part)
            if best is not None:
                told[part] = {
                    **best.record(),
                    "error": best.errors[part],
                    **{
                        f"{method}_error": one.errors[part]
                        for method in ("trivial", "mode", "average")
                        if (one := self.best(part, method)) is not None
                    },
                }
        return told
