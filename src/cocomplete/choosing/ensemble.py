"""The ensemble that predicts by default: members judged on folds, weighted, then fitted to everything.

Every member is judged by cells that were held out from its fit, in the state in which it will answer: labels
of rows with other labels, and of rows without any. One rule combines members for every part of the table
(:mod:`cocomplete.choosing.combine`); none is preferred.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.checkpoint import Stage
from cocomplete.choosing.combine import equal_shares, label_weights, number_weights, stretch
from cocomplete.choosing.ensemble_state import go_on, store
from cocomplete.choosing.held_out import Units, folds
from cocomplete.choosing.judge import (
    PART_NAMES,
    Contest,
    HeldOut,
    HeldOutLabels,
    calibrated,
    error_summary,
    judged_cells,
)
from cocomplete.choosing.kind import Candidate
from cocomplete.choosing.kinds import KIND_OF, KINDS
from cocomplete.choosing.shared import FoldFits, HeldOutScores, SharedFits
from cocomplete.fitted.draws import Margin, ScoreMargins
from cocomplete.fitted.ensemble import Ensemble, mixture_std
from cocomplete.fitted.judged_cells import JudgedCells
from cocomplete.fitted.levels import HeldOutNumbers
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS, PARTS, Part
from cocomplete.interrupts import acknowledge_stop, stop_requested
from cocomplete.members.average import Average
from cocomplete.members.minimiser import Minimiser, Penalties, Solve
from cocomplete.members.prediction import Member, Prediction
from cocomplete.members.trivial import Trivial
from cocomplete.problem.content_keys import content_keys
from cocomplete.problem.observations import Observations
from cocomplete.solvers.solution import Progress

JUDGED_ROWS = 6_000
"""Of a longer table so many rows are judged by; members are then fitted to all of them."""

JUDGING_SHARE = 0.75
"""Of a fit's time that judging takes, roughly, for the progress that is shown."""

SHORT = 500
"""Rows up to which a fit predicts all cells of its own rows, not the unknown ones alone."""

AVERAGES = (Candidate("average"), Candidate("scores"))
"""Members where nothing was held out: the evidence lower bound sets their hyperparameters."""

TRIVIAL = Candidate("trivial")
BY_EVIDENCE, EVIDENCE_SHARE = "logistic", 0.5
"""The kind that takes part where few labels can be held out and needs none of them, and what part of the
labels' weights is pulled towards it; the other kinds share the rest equally."""


class EnsembleFit:
    """Judges candidates on folds, weighs the best of each kind, and fits them to the whole table.

    Parameters
    ----------
    observed : Observations
        Every column varied, something observed in every row.
    yes_no : ndarray of bool, shape (n_features,)
    seed : int
        Of the cells that are held out.
    solve : callable
        From F to its minimiser, for the final fit.
    leave_out : collection of str, default=()
        Kinds of members that are not to take part, to see what they are worth; the trivial answer stays.
    progress : callable, optional
        Called with a record per fit.
    groups : ndarray of int, shape (n_features + n_labels,), optional
        Columns with the same number encode one of the user's: they are held out together, and none of them
        is predicted from another.
    stage : Stage, optional
        Where it is stored what has been judged and fitted; what is found there is gone on from.
    """

    def __init__(
        self,
        observed: Observations,
        yes_no: BoolArray,
        *,
        seed: int,
        solve: Solve,
        leave_out: Collection[str] = (),
        progress: Progress | None = None,
        groups: NDArray[np.intp] | None = None,
        stage: Stage | None = None,
    ) -> None:
        self.observed, self.yes_no, self.progress = observed, yes_no, progress
        self.kinds = [
            kind
            for kind in KINDS
            if kind.applies(observed, yes_no) and (kind.name not in leave_out or kind.name == "trivial")
        ]
        keys = content_keys(observed, seed)
        self.whole = SharedFits(observed, yes_no, keys, solve, progress, groups=groups)
        judged = self.whole
        self.judged_rows = np.arange(observed.n_samples)
        if observed.n_samples > JUDGED_ROWS:
            sample, self.judged_rows = self.whole.sample(JUDGED_ROWS), self.whole.first_rows(JUDGED_ROWS)
            judged = SharedFits(sample, yes_no, content_keys(sample, seed), solve, groups=groups)
        self.folds = [FoldFits(fold, judged) for fold in folds(judged.observed, yes_no, seed, groups)]
        self.whole.earlier = self.folds[0] if self.folds else None
        self.held = HeldOut.of([fits.fold for fits in self.folds], Units.of(observed))
        self.contest = Contest(self.held, [fits.fold.row.size for fits in self.folds])
        self.interrupted, self.n_judged, self.stage = False, 0, stage
        self.members: dict[Candidate, Member] = {}
        go_on(self, stage)

    def run(self) -> "EnsembleFit":
        """Judge, weigh and fit; where asked to stop, go on with what has been judged, or fitted, by then."""
        # Small products: threads of BLAS would wait for each other longer than they work. Blocks of rows are
        # shared out among threads instead.
        with threadpool_limits(1, "blas"):
            return self._run()

    def _run(self) -> "EnsembleFit":
        self._judge()
        chosen = {part: self._chosen(part) for part in PARTS}
        by_part = {part: self._weights(part, chosen[part]) for part in PARTS}
        self.weights: dict[Part, dict[Candidate, float]] = {
            part: dict(zip(chosen[part], map(float, by_part[part]), strict=True)) for part in PARTS
        }
        members = self._fit()
        weights = {part: self._aligned(self.weights[part], list(members)) for part in PARTS}
        self.names = {one: member.name for one, member in members.items()}
        self.stretch: dict[Part, float] = {part: self._stretch(part) for part in PARTS if part != "numbers"}
        self.ensemble = Ensemble(
            tuple(members.values()),
            weights,
            self.yes_no,
            self._std_factor(),
            Trivial.fit(self.observed, self.yes_no).mean,
            self.stretch,
        )
        return self

    def _judge(self) -> None:
        """Let every kind predict the held-out cells; where asked to stop, finished ones take part."""
        if not self.folds:
            return
        for kind in self.kinds[self.n_judged :]:
            finished = self.contest.candidates()
            kind.judge(self.folds, self.contest)
            if stop_requested():
                self.interrupted = True
                self.contest.keep(finished)
                acknowledge_stop()
                return
            self.n_judged += 1
            store(self, self.stage)
            self._report(kind.name, JUDGING_SHARE * self.n_judged / len(self.kinds))

    def _judged(self, part: Part) -> bool:
        return bool(self.held.where(part).size) and len(self.contest.candidates()) > 1

    def _asked(self, part: Part) -> bool:
        """Whether the table has such cells at all."""
        of_features = bool((self.yes_no == (part == "yes-no")).any())
        return of_features if part in FEATURE_PARTS else self.observed.n_labels > 0

    # -- choosing and weighing -------------------------------------------------------------------------

    def _chosen(self, part: Part) -> list[Candidate]:
        """Give the candidates that are weighed for a part: each kind's best for it, or for labels."""
        if not self._judged(part):
            used = [kind.name for kind in self.kinds]
            return [one for one in AVERAGES if one.kind in used] or [TRIVIAL]
        together: Sequence[Part] = LABEL_PARTS if part in LABEL_PARTS else (part,)
        found = []
        for kind in self.kinds:
            own = [
                one
                for one in self.contest.candidates()
                if one.kind == kind.name and part in kind.parts and np.isfinite(self._nats(one, [part]))
            ]
            if own:
                found.append(min(own, key=lambda one: self._nats(one, together)))
        return found

    def _nats(self, candidate: Candidate, parts: Sequence[Part]) -> float:
        """Give the error of a candidate in nats, with what its setting costs."""
        kind = KIND_OF[candidate.kind]
        total = kind.setting_cost(candidate.setting)
        for part in parts:
            if part not in kind.parts:
                continue
            # Squared errors in nats: in units of twice the mean squared error of the trivial answer.
            unit = 2 * self.contest.loss(TRIVIAL, part) if part == "numbers" else 1.0
            total += self.contest.total(candidate, part) / max(unit, 1e-12)
        return total

    def _weights(self, part: Part, candidates: list[Candidate]) -> FloatArray:
        where = self.held.where(part)
        if not self._judged(part):
            return np.full(len(candidates), 1 / len(candidates))
        predictions = np.stack([self.contest.means[one][where] for one in candidates])
        truth = self.held.value[where]
        if part != "numbers":
            pulled_towards = equal_shares([one.kind == BY_EVIDENCE for one in candidates], EVIDENCE_SHARE)
            return label_weights(predictions, truth, pulled_towards)
        column, units = self.held.column[where], self.held.units
        return number_weights(units.standardized(column, predictions), units.standardized(column, truth))

    @staticmethod
    def _aligned(weights: dict[Candidate, float], members: list[Candidate]) -> FloatArray:
        found = np.array([weights.get(one, 0.0) for one in members])
        return found / found.sum() if found.sum() > 0 else np.full(len(members), 1 / len(members))

    def _stretch(self, part: Part) -> float:
        """Give the factor that calibrates combined log-odds, counted from the trivial prediction's."""
        where = self.held.where(part)
        if not self._judged(part):
            return 1.0
        return stretch(self._pooled(part), self.contest.means[TRIVIAL][where], self.held.value[where])

    def _std_factor(self) -> FloatArray:
        """Give the factor of standard deviations for 90 % intervals to hold 90 % of held-out numbers."""
        if not self._judged("numbers"):
            return np.ones(self.observed.n_features)
        where = self.held.where("numbers")
        ratios = np.abs(self._pooled("numbers") - self.held.value[where])
        ratios /= np.maximum(self._pooled_std(), 1e-300)
        return calibrated(ratios, self.held.column[where], self.observed.n_features)

    def _pooled_std(self) -> FloatArray:
        """Give the standard deviations that members together have of held-out numbers."""
        where = self.held.where("numbers")
        kept = [(one, weight) for one, weight in self.weights["numbers"].items() if weight > 0]
        means = [self.contest.means[one][where] for one, _ in kept]
        stds = [self.contest.stds[one][where] for one, _ in kept]
        return mixture_std([weight for _, weight in kept], means, stds)

    def margins(self) -> ScoreMargins | None:
        """Give margins on the scale of normal scores, calibrated likewise, where they are sharper."""
        source = self.whole.source
        if not source.encoding.gaussian:
            return None
        numbers = self.held_out_numbers()
        scores = HeldOutScores.together([fits.held_out_scores() for fits in self.folds])
        # Where it was asked to stop some have no prediction of the ensemble's, or no scores.
        truth, mean, std = (each[: numbers.column.size] for each in scores)
        column, own_std = numbers.column[: truth.size], numbers.std[: truth.size]
        factor = calibrated(np.abs(truth - mean) / std, column, self.observed.n_features)
        return ScoreMargins.sharper(source, factor, column, Margin(mean, std), own_std)

    @cached_property
    def prediction(self) -> Prediction:
        """The ensemble's prediction of the table; of a long one's numbers where they are unknown alone."""
        return self.ensemble.predict(
            self.observed, unknown=self.observed.n_samples > SHORT, completed=self.whole.completed_so_far
        )

    # -- fitting ---------------------------------------------------------------------------------------

    def _fit(self) -> dict[Candidate, Member]:
        """Fit members that have a weight somewhere to the whole table, averages first."""
        wanted = {
            one: [part for part in PARTS if self._asked(part) and self.weights[part].get(one, 0) > 0]
            for part in PARTS
            for one in self.weights[part]
        }
        wanted = {one: parts for one, parts in wanted.items() if parts}
        members = self.members
        for one in AVERAGES:
            if one in wanted and one not in members:
                members[one] = KIND_OF[one.kind].fit(None, self.whole, wanted[one])
        # What is drawn from, and completes rows, is fitted in any case.
        source = self.whole.source
        self.interrupted |= any(one.posterior.interrupted for one in (source, *self.whole.averages()))
        for place, (one, parts) in enumerate(wanted.items()):
            self._report(one.kind, JUDGING_SHARE + (1 - JUDGING_SHARE) * place / len(wanted))
            if stop_requested():
                self.interrupted = True
                break
            if one not in members:
                member = members[one] = KIND_OF[one.kind].fit(one.setting, self.whole, parts)
                self.interrupted |= isinstance(member, Minimiser) and member.solution.interrupted
            if not self.interrupted:
                store(self, self.stage)
        # Asked to stop before any: what was fitted in any case.
        own = AVERAGES[int(source.encoding.gaussian)]
        if not members and own.kind in [kind.name for kind in self.kinds]:
            members[own] = source
        return members or {TRIVIAL: Trivial.fit(self.observed, self.yes_no)}

    def joint(self) -> Average:
        """Give what is drawn from: the average with the larger weight, in numbers if there are any."""
        weights = self.ensemble.weights
        shares = sum((weights[part] for part in LABEL_PARTS), 1e3 * weights["numbers"])
        found = [
            (float(share), -k, one)
            for k, (share, one) in enumerate(zip(np.asarray(shares), self.ensemble.members, strict=True))
            if isinstance(one, Average) and share > 0
        ]
        return max(found)[2] if found else self.whole.source

    # -- what was found --------------------------------------------------------------------------------

    def combined(self, part: Part) -> FloatArray:
        """Give the ensemble's prediction of a part's held-out cells."""
        pooled = self._pooled(part)
        if part == "numbers" or not pooled.size:
            return pooled
        base = self.contest.means[TRIVIAL][self.held.where(part)]
        return np.asarray(base + self.stretch[part] * (pooled - base))

    def _pooled(self, part: Part) -> FloatArray:
        """Give the members' weighted predictions of a part's held-out cells."""
        where = self.held.where(part)
        found = np.zeros(where.size)
        for one, weight in self.weights[part].items():
            if weight > 0 and where.size:
                found += weight * self.contest.means[one][where]
        return found

    def best_minimiser(self) -> Penalties | None:
        """Give the minimiser with the smallest error on held-out cells; None if none was tried."""
        parts = LABEL_PARTS if self.observed.n_labels else FEATURE_PARTS
        tried = [one for one in self.contest.candidates() if one.kind == "minimiser"]
        best = min(tried, key=lambda one: sum(self.contest.total(one, part) for part in parts), default=None)
        return None if best is None else best.setting

    def held_out_numbers(self) -> HeldOutNumbers:
        """Give the held-out numbers, and the ensemble's means and standard deviations of them."""
        if not self._judged("numbers"):
            return HeldOutNumbers(np.empty(0, np.intp), *(np.empty(0) for _ in range(3)))
        where = self.held.where("numbers")
        column = self.held.column[where]
        std = np.broadcast_to(self.ensemble.std_factor, self.observed.n_features)[column] * self._pooled_std()
        return HeldOutNumbers(column, self.held.value[where], self._pooled("numbers"), std)

    def held_out_levels(self, codes: dict[int, FloatArray]) -> dict[int, FloatArray]:
        """Give trees' probabilities of the levels of held-out cells, by feature, where every fold has them.

        Parameters
        ----------
        codes : dict
            Codes of levels in an order, by feature.
        """
        if not (codes and self._judged("numbers")) or stop_requested():
            return {}
        found = [fits.held_out_levels(codes) for fits in self.folds]
        return {
            j: np.concatenate([each[j] for each in found]) for j in codes if all(j in each for each in found)
        }

    def held_out_labels(self) -> HeldOutLabels:
        """Give the held-out labels and the ensemble's log-odds for them."""
        judged = [part for part in LABEL_PARTS if self._judged(part)]
        where = np.concatenate([self.held.where(part) for part in judged] or [np.empty(0, np.intp)])
        score = np.concatenate([self.combined(part) for part in judged] or [np.empty(0)])
        column = self.held.column[where] - self.observed.n_features
        return HeldOutLabels(column, self.held.value[where], score)

    def judged_cells(self) -> JudgedCells:
        """Give all held-out cells with the ensemble's predictions; rows are counted in the whole table."""
        mean, std, trivial = (np.full(self.held.value.size, np.nan) for _ in range(3))
        for part in PARTS:
            if self._judged(part):
                where = self.held.where(part)
                mean[where], trivial[where] = self.combined(part), self.contest.means[TRIVIAL][where]
        if self._judged("numbers"):
            std[self.held.where("numbers")] = self.held_out_numbers().std
        width = self.observed.n_features + self.observed.n_labels
        found = judged_cells([fits.fold for fits in self.folds], mean, std, trivial, width)
        return replace(found, row=self.judged_rows[found.row])

    def summary(self) -> dict[str, Any]:
        """Give errors on held-out cells beside the trivial answer's, and the members' weights, by part."""
        found: dict[str, Any] = {}
        for part in PARTS:
            if not self._judged(part):
                continue
            where = self.held.where(part)
            errors = error_summary(self.held, part, self.combined(part), self.contest.means[TRIVIAL][where])
            members = {
                self.names[one]: weight
                for one, weight in self.weights[part].items()
                if weight > 0 and one in self.names
            }
            found[PART_NAMES[part]] = {**errors, "weights": members}
        return found

    def _report(self, what: str, share: float) -> None:
        record = {"stage": "judging", "iteration": len(self.contest.means), "what": what, "share": share}
        if self.progress is not None:
            self.progress(record)
