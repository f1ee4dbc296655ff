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

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import ndtri, softmax

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.candidates import FEATURE_WEIGHTS, Candidate, Fixed, Method, log_loss
from cocomplete.hiding import HIDDEN_SHARE, PARTS, Hidden, HiddenLabels, Part, Truth, View
from cocomplete.parts import Member, Setting
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.solvers.blend import best_shares
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.path import solve_path
from cocomplete.solvers.posterior import Posterior, Prior, fit_posterior
from cocomplete.solvers.readout import Likeness, completed, read_out
from cocomplete.solvers.solution import Progress

FEWEST = 10
"""A part with fewer hidden cells than this is not judged: chance would choose."""

ENOUGH, MOST_HIDINGS = 300, 3
"""Where one hiding has fewer cells of a part than this, a small table is hidden from several times."""

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

SMALLEST_FACTOR = 0.25
"""Standard deviations are not made smaller than this share of what the model says."""

ENOUGH_FOR_QUANTILES = 50
"""Hidden features needed to set the width of intervals by."""

RANKS = (16, 32)
FEATURE_PRECISIONS = (100.0, 30.0, 10.0)
LABEL_PRECISION = 2.0
"""Averages for features: ranks and prior precisions that are tried, from the stiffest on."""

LABEL_FEATURE_PRECISION = 30.0
EMPHASES, LABEL_PRECISIONS = (0.6, 0.35), (8.0, 2.0, 0.5)
"""Averages for labels: weights of the features, below 1 so that labels have more say in what the factors are,
and prior precisions of labels."""

NUMBER_PRECISIONS, OWN_NUMBER_PRECISION = (100.0, 30.0, 10.0), 3.0
"""The same where labels are taken as numbers, standardised as features are: precisions of what they share
with the features, and of what is their own."""

LABEL_RANK = 16
"""Most factors that are the labels' own."""

INDIFFERENT = 0.01
"""Relative difference of errors on hidden labels that decides nothing."""

LIKENESSES: tuple[Likeness, ...] = ("linear", "near")
VARIANCES = (0.3, 1.0, 3.0, 10.0, 30.0)
"""How rows are compared to read labels out of their features, which answers too, and prior variances that are
tried, from the stiffest on."""

FAR_OFF = 0.05
"""By this much more error on labels of rows without any, an average has e times less to say there."""

LONG, LONGEST = 5_000, 20_000
"""Rows from which averages keep to the smaller rank, and from which none is tried: they cost n·k³ per sweep,
and what they gain over the mode shrinks as rows become many."""

SWEEPS = (25, 12, 40)
"""Most sweeps of an average while searching: from scratch, from the answer for the prior before, and from
scratch with more factors, of which there are few."""


class Search:
    """Fits candidates to what is visible and judges them by what is hidden.

    Parameters
    ----------
    observed : Observations
        In the user's units.
    yes_no : ndarray of bool, shape (n_features,)
    center, scale : bool
    fixed : Fixed
    averaging : bool
        Whether averages are tried.
    random_state : int
    progress : callable, optional
        Called with a record per candidate.
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
        self.yes_no, self.center, self.scale, self.fixed = yes_no, center, scale, fixed
        self.averaging = averaging
        rng = np.random.default_rng(random_state)
        self.hidings = [Hidden.of(observed, rng)]
        self.parts = tuple(part for part, size in self.hidings[0].sizes.items() if size >= FEWEST)
        fewest = min((self.hidings[0].weights[part] for part in self.parts), default=ENOUGH)
        self.hidings += [Hidden.of(observed, rng) for _ in range(min(-(-ENOUGH // fewest), MOST_HIDINGS) - 1)]
        # Penalties grow with the square root of the number of cells, as the noise they hold back does.
        self.growth = float(np.sqrt(1 / (1 - HIDDEN_SHARE)))
        self.candidates: list[Candidate] = []
        self.progress = progress
        self.interrupted = False
        self.blend: Candidate | None = None
        self._views: dict[bool, list[View]] = {}
        self._ends: dict[tuple[Any, ...], tuple[Candidate, float, list[Posterior]]] = {}

    def run(self) -> "Search":
        """Try everything; Ctrl-C ends the search with what has been found by then."""
        if not self.parts:
            return self
        try:
            views = self._look(gaussian=False)
            trivial = [view.trivial() for view in views]
            self._judge(
                "trivial",
                views,
                {},
                trivial,
                [view.of_labels(one) for view, one in zip(views, trivial, strict=True)],
            )
            if self.averaging:
                self._averages()
            for gaussian in sorted({self.encoding_for(part) for part in self.parts}):
                self._modes(gaussian=gaussian)
            self.blend = self._blended()
        except KeyboardInterrupt:
            self.interrupted = True
            self.blend = self._blended()
        return self

    def best(
        self, part: Part, method: str | None = None, *, gaussian: bool | None = None
    ) -> Candidate | None:
        """Give the candidate with the smallest error of a part, of any method and scale or of one."""
        if part not in self.parts:
            return None
        among = (
            one
            for one in self.candidates
            if method in (None, one.method) and gaussian in (None, one.gaussian)
        )
        return min(among, key=lambda one: one.errors[part], default=None)

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

    def encoding_for(self, part: Part) -> bool:
        """Say whether features are made normal by ranks for a part: as its averages have it, or not."""
        best = self.best(part if part == "features" else self.parts[0], "average")
        return False if best is None else best.gaussian

    # -- averages ------------------------------------------------------------------------------------

    def _averages(self) -> None:
        if self.hidings[0].visible.n_samples > LONGEST:
            return
        if "features" in self.parts:
            self._feature_averages()
        if "labels" in self.parts:
            self._label_averages()

    def _feature_averages(self) -> None:
        for gaussian in (False, True) if not self.yes_no.all() else (False,):
            priors = (Prior(self._rank(RANKS[0]), value, LABEL_PRECISION) for value in FEATURE_PRECISIONS)
            self._walk(priors, ("features",), gaussian=gaussian)
        # More factors, and features less beholden to the labels.
        if self.hidings[0].visible.n_samples <= LONG:
            self._change(self.best("features", "average"), rank=self._rank(RANKS[1]))
        self._change(self.best("features", "average"), label_precision=10 * LABEL_PRECISION)

    def _label_averages(self) -> None:
        gaussian = self.encoding_for("labels")
        parts = tuple(part for part in self.parts if part != "features")
        size = RANKS[1] if self.hidings[0].visible.n_samples <= LONG else RANKS[0]
        rank, small = self._rank(size), self._rank(RANKS[0])
        # What was found for features is where the others start from, each with less of their weight.
        alike = [one for one in self.candidates if one.rank == rank and one.gaussian == gaussian]
        start = min(alike, key=lambda one: one.label_error, default=None)
        for emphasis in EMPHASES if "unlabelled" in self.parts else (1.0,):
            weighed = Prior(
                rank, emphasis * LABEL_FEATURE_PRECISION, LABEL_PRECISIONS[0], feature_weight=emphasis
            )
            priors = (replace(weighed, label_precision=value) for value in LABEL_PRECISIONS)
            first = len(self.candidates)
            self._walk(
                priors, parts, gaussian=gaussian, starts=None if start is None else self._ends_of(start)
            )
            start = min(self.candidates[first:], key=lambda one: one.label_error)
        numbers = Prior(
            small,
            LABEL_FEATURE_PRECISION,
            NUMBER_PRECISIONS[0],
            label_rank=self._label_rank,
            own_precision=OWN_NUMBER_PRECISION,
            linear=True,
        )
        priors = (replace(numbers, label_precision=value) for value in NUMBER_PRECISIONS)
        self._walk(priors, parts, gaussian=gaussian)

    def _blended(self) -> Candidate | None:
        """Judge the best average of every kind and what is read out of features, all of them together.

        Shares are found by the hidden labels. For rows without labels only what is far off is left aside: the
        rows that judge have fewer features than new ones, and what suits them best need not suit these.
        """
        averages = [one for one in self.candidates if one.method == "average"]
        if not averages or "labels" not in self.parts:
            return None
        gaussian = self.encoding_for("labels")
        kinds: dict[tuple[bool, float], Candidate] = {}
        for one in averages:
            if one.gaussian == gaussian:
                kinds[one.kind] = min(kinds.get(one.kind, one), one, key=lambda each: each.label_error)
        members = tuple(kinds.values())
        base, truth = self.candidates[0].y_score, self.truth.y_value
        blind_shares = _shares([one.errors["unlabelled"] for one in members])
        y_blind = blind_shares @ np.stack([one.y_blind for one in members])
        readouts = self._read_out()
        # Averages are one voice here, and whatever is read out another each.
        told = np.stack([y_blind, *readouts.values()])
        voices = _shares([log_loss(truth, one) for one in told])
        y_blind, blind_shares = voices @ told, np.append(voices[0] * blind_shares, voices[1:])
        scores = [*(one.y_score for one in members), *readouts.values()]
        shares = best_shares(scores, base, truth)
        y_score = base + np.asarray(shares) @ (np.stack(scores) - base)
        settings: dict[str, Any] = {
            "members": members,
            "readouts": tuple(readouts),
            "shares": {"labels": shares, "unlabelled": tuple(blind_shares.tolist())},
        }
        errors: dict[Part, float] = {
            "labels": log_loss(truth, y_score),
            "unlabelled": log_loss(truth, y_blind),
        }
        none = np.empty(0)
        return Candidate("blend", gaussian, settings, errors, none, none, y_score, y_blind)

    def _read_out(self) -> dict[Member, FloatArray]:
        """Read hidden labels out of completed features, with the best variance for every likeness."""
        average = self.best("features", "average")
        ends = None if average is None else self._ends_of(average)
        if average is None or ends is None or "unlabelled" not in self.parts or self.interrupted:
            return {}
        views, first = self._look(gaussian=average.gaussian), len(self.yes_no)
        prior = average.settings["prior"]
        rows = [completed(end, view.cells, first) for view, end in zip(views, ends, strict=True)]
        found = {}
        for likeness in LIKENESSES:
            paths = [
                read_out(end, view.cells, one, likeness, VARIANCES)
                for view, end, one in zip(views, ends, rows, strict=True)
            ]
            lowest = np.inf
            for variance, step in zip(VARIANCES, zip(*paths, strict=True), strict=True):
                told = np.concatenate(
                    [view.read(*pair) for view, *pair in zip(views, step, rows, strict=True)]
                )
                error = log_loss(self.truth.y_value, told)
                if error > lowest:
                    break
                lowest, best = error, (Member(prior, likeness=likeness, variance=variance), told)
            found[best[0]] = best[1]
        return found

    def _change(self, best: Candidate | None, **change: Any) -> None:
        """Try the prior of a candidate with one number changed."""
        if best is None:
            return
        prior = replace(best.settings["prior"], **change)
        if not any(one.is_average(prior, gaussian=best.gaussian) for one in self.candidates):
            starts = None if "rank" in change else self._ends_of(best)
            self._walk([prior], (), gaussian=best.gaussian, starts=starts)

    def _rank(self, wanted: int) -> int:
        """Bound a number of factors by what the table could need."""
        n, m = self._look(gaussian=False)[0].cells.shape
        return max(1, min(wanted, n // 2, m // 2))

    @cached_property
    def _label_rank(self) -> int:
        """Number of factors that are the labels' own: enough for all that they have in common, or many."""
        table = self.hidings[0].visible
        return max(0, min(LABEL_RANK, table.n_labels - 1, table.n_samples // 2))

    def _walk(
        self,
        priors: Iterable[Prior],
        parts: tuple[Part, ...],
        *,
        gaussian: bool,
        starts: Sequence[Posterior | None] | None = None,
    ) -> None:
        """Follow priors of one rank, each from the answer before, until the error of every part rises."""
        views = self._look(gaussian=gaussian)
        if starts is None:
            starts = [None] * len(views)
        lowest = dict.fromkeys(parts, np.inf)
        for prior in priors:
            starts, errors = self._average(views, prior, starts)
            better = {part: errors[part] for part in parts if errors[part] < lowest[part]}
            if not better:
                break
            lowest |= better

    def _average(
        self, views: "list[View]", prior: Prior, starts: Sequence[Posterior | None]
    ) -> tuple[list[Posterior], dict[Part, float]]:
        """Fit one prior to every hiding; give the answers and their errors."""
        ends: list[Posterior] = []
        moments = []
        for view, start in zip(views, starts, strict=True):
            base = view.encoding.offsets.astype(np.float64)
            posterior, rows = fit_posterior(
                view.cells,
                prior,
                base,
                first_label=len(self.yes_no),
                start=start,
                max_iter=SWEEPS[1 if start is not None else 2 if prior.rank > RANKS[0] else 0],
            )
            if posterior.interrupted:
                raise KeyboardInterrupt
            ends.append(posterior)
            moments.append(posterior.at(rows, view.hidden_cells))
        blind = [
            one.labels_of(view.blind_cells, view.hidden_labels) for view, one in zip(views, ends, strict=True)
        ]
        candidate = self._judge("average", views, {"prior": prior}, moments, blind)
        self._remember(candidate, ends)
        return ends, candidate.errors

    def _remember(self, candidate: Candidate, ends: list[Posterior]) -> None:
        """Keep what the best averages ended with, for features and of every kind for labels.

        That is all that others ever start from, and they are large.
        """
        marks: dict[tuple[Any, ...], float] = {}
        if "features" in candidate.errors:
            marks["features", candidate.gaussian] = candidate.errors["features"]
        if "labels" in candidate.errors:
            marks["labels", candidate.gaussian, candidate.rank, candidate.kind] = candidate.label_error
        for key, error in marks.items():
            if key not in self._ends or error < self._ends[key][1]:
                self._ends[key] = (candidate, error, ends)

    def _ends_of(self, candidate: Candidate) -> list[Posterior] | None:
        """Give what an average ended with, if it was kept."""
        return next((ends for one, _, ends in self._ends.values() if one is candidate), None)

    # -- modes ---------------------------------------------------------------------------------------

    def _modes(self, *, gaussian: bool) -> None:
        views = self._look(gaussian=gaussian)
        given = self.fixed
        wanted = tuple(
            part
            for part in self.parts
            # Rows without labels are left to averages where there are any: see `chosen`.
            if self.encoding_for(part) == gaussian
            and (part != "unlabelled" or self.best(part, "average") is None)
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
            errors = self._judge("mode", views, settings, moments, blind).errors
            better = {part: errors[part] for part in wanted if errors[part] < lowest[part]}
            lowest |= better
            turned = len(better) < len(wanted) or not wanted
            if (turned and self._behind(better, HOPELESS if exact else FAR_BEHIND)) or (
                exact and self._behind(lowest, HOPELESS)
            ):
                break

    def _behind(self, errors: dict[Part, float], factor: float) -> bool:
        """Say whether errors are so many times the best, in every part."""
        best = {part: self.best(part) for part in errors}
        return all(one is not None and errors[part] > factor * one.errors[part] for part, one in best.items())

    # -- judging -------------------------------------------------------------------------------------

    def _look(self, *, gaussian: bool) -> "list[View]":
        """Every hiding as an encoding has it."""
        if gaussian not in self._views:
            settings = {"center": self.center, "scale": self.scale, "gaussian": gaussian}
            self._views[gaussian] = [
                View(hidden, Encoding.of(hidden.visible, self.yes_no, **settings), free_offsets=self.center)
                for hidden in self.hidings
            ]
        return self._views[gaussian]

    def _judge(
        self,
        method: Method,
        views: "list[View]",
        settings: dict[str, Any],
        moments: list[Moments],
        blind: list[Moments],
    ) -> Candidate:
        parts = [view.decode(one) for view, one in zip(views, moments, strict=True)]
        x_mean, x_std, y_score = (np.concatenate(part) for part in zip(*parts, strict=True))
        y_blind = np.concatenate([view.in_order(one) for view, one in zip(views, blind, strict=True)])
        truth = self.truth
        errors: dict[Part, float] = {}
        if x_mean.size:
            residual = np.clip(x_mean, truth.x_low, truth.x_high) - np.clip(
                truth.x_value, truth.x_low, truth.x_high
            )
            errors["features"] = float(np.mean((residual / truth.x_scale) ** 2))
        if y_score.size:
            errors["labels"] = log_loss(truth.y_value, y_score)
            errors["unlabelled"] = log_loss(truth.y_value, y_blind)
        gaussian = views[0].encoding.gaussian
        candidate = Candidate(method, gaussian, settings, errors, x_mean, x_std, y_score, y_blind)
        self.candidates.append(candidate)
        if self.progress is not None:
            self.progress({"iteration": len(self.candidates), "stage": "tuning", **candidate.record()})
        return candidate

    @cached_property
    def truth(self) -> "Truth":
        """What the hidden cells hold, one hiding after the other."""
        names = ("x_column", "x_value", "x_scale", "x_low", "x_high", "y_column", "y_value")
        return Truth(*(np.concatenate([getattr(one, name) for one in self.hidings]) for name in names))

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
        judge: Part = "labels" if averaged and part == "unlabelled" and "labels" in self.parts else part
        mode = self.best(judge, "mode", gaussian=best.gaussian if best and averaged else None)
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
        """Give an average alone, or those of a blend with their shares."""
        if chosen.method == "average":
            return (Member(chosen.settings["prior"]),)
        averages = (Member(one.settings["prior"]) for one in chosen.settings["members"])
        members, shares = (*averages, *chosen.settings["readouts"]), chosen.settings["shares"][part]
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
        for view in self._look(gaussian=mode.gaussian):
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


def _shares(errors: list[float]) -> FloatArray:
    """Give shares that add up to one, equal but for what is far off."""
    excess = np.asarray(errors) / min(errors) - 1
    return np.asarray(softmax(-excess / FAR_OFF))
