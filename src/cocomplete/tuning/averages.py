"""Averages that are tried, and the blend of the best of them with what is read out of features."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import softmax

from cocomplete.arrays import FloatArray
from cocomplete.candidates import Candidate, log_loss
from cocomplete.hiding import Part, View
from cocomplete.parts import Member
from cocomplete.solvers.blend import best_shares
from cocomplete.solvers.posterior import Posterior, Prior, fit_posterior
from cocomplete.solvers.readout import Likeness, completed, known_labels, read_out
from cocomplete.tuning.judge import Judge

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

LIKENESSES: tuple[Likeness, ...] = ("linear", "near")
VARIANCES = (0.3, 1.0, 3.0, 10.0, 30.0)
"""How rows are compared to read labels out of their features, which answers too, and prior variances that are
tried, from the stiffest on."""

FAR_OFF = 0.05
"""By this much more error on labels of rows without any, an average has e times less to say there."""

CLEARLY = 0.01
"""By this much less error on those labels an average is clearly better than another."""

LONG, LONGEST = 5_000, 20_000
"""Rows from which averages keep to the smaller rank, and from which none is tried: they cost n·k³ per sweep,
and what they gain over the mode shrinks as rows become many."""

SWEEPS = (25, 12, 40)
"""Most sweeps of an average while searching: from scratch, from the answer for the prior before, and from
scratch with more factors, of which there are few."""


class AverageSearch:
    """Tries priors, each search one coordinate at a time from a middle value.

    Parameters
    ----------
    judge : Judge
        Gets every candidate.
    """

    def __init__(self, judge: Judge) -> None:
        self.judge = judge
        self._ends: dict[tuple[Any, ...], tuple[Candidate, float, list[Posterior]]] = {}

    def run(self) -> None:
        """Try them all, unless there are too many rows."""
        if self.judge.n_samples > LONGEST:
            return
        if "features" in self.judge.parts:
            self._feature_averages()
        if "labels" in self.judge.parts:
            self._label_averages()

    def _feature_averages(self) -> None:
        for gaussian in (False, True) if not self.judge.yes_no.all() else (False,):
            priors = (Prior(self._rank(RANKS[0]), value, LABEL_PRECISION) for value in FEATURE_PRECISIONS)
            self._walk(priors, ("features",), gaussian=gaussian)
        # More factors, and features less beholden to the labels.
        if self.judge.n_samples <= LONG:
            self._change(self.judge.best("features", "average"), rank=self._rank(RANKS[1]))
        self._change(self.judge.best("features", "average"), label_precision=10 * LABEL_PRECISION)

    def _label_averages(self) -> None:
        gaussian = self.judge.encoding_for("labels")
        parts = tuple(part for part in self.judge.parts if part != "features")
        size = RANKS[1] if self.judge.n_samples <= LONG else RANKS[0]
        rank, small = self._rank(size), self._rank(RANKS[0])
        # What was found for features is where the others start from, each with less of their weight.
        alike = [one for one in self.judge.candidates if one.rank == rank and one.gaussian == gaussian]
        start = min(alike, key=lambda one: one.label_error, default=None)
        for emphasis in EMPHASES if "unlabelled" in self.judge.parts else (1.0,):
            weighed = Prior(
                rank, emphasis * LABEL_FEATURE_PRECISION, LABEL_PRECISIONS[0], feature_weight=emphasis
            )
            priors = (replace(weighed, label_precision=value) for value in LABEL_PRECISIONS)
            first = len(self.judge.candidates)
            self._walk(
                priors, parts, gaussian=gaussian, starts=None if start is None else self._ends_of(start)
            )
            start = min(self.judge.candidates[first:], key=lambda one: one.label_error)
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

    def blended(self, *, hurried: bool = False) -> Candidate | None:
        """Judge the best average of every kind and what is read out of features, all of them together.

        Shares are found by the hidden labels. For rows without labels they are nearly equal: the rows that
        judge have fewer features than new ones, and what suits them best need not suit these.

        Parameters
        ----------
        hurried : bool, default=False
            Whether to do without what is read out.
        """
        averages = [one for one in self.judge.candidates if one.method == "average"]
        if not averages or "labels" not in self.judge.parts:
            return None
        gaussian = self.judge.encoding_for("labels")
        kinds: dict[tuple[bool, float], Candidate] = {}
        for one in averages:
            if one.gaussian == gaussian:
                kinds[one.kind] = min(kinds.get(one.kind, one), one, key=lambda each: each.label_error)
        members = tuple(kinds.values())
        base, truth = self.judge.candidates[0].y_score, self.judge.truth.y_value
        readouts = {} if hurried else self._read_out()
        blind = np.stack([*(one.y_blind for one in members), *readouts.values()])
        blind_shares = _blind_shares(members, blind, truth)
        y_blind = blind_shares @ blind
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
        average = self.judge.best("features", "average")
        ends = None if average is None else self._ends_of(average)
        if average is None or ends is None or "unlabelled" not in self.judge.parts:
            return {}
        views, first = self.judge.look(gaussian=average.gaussian), len(self.judge.yes_no)
        prior = average.settings["prior"]
        rows = [completed(end, view.cells, first) for view, end in zip(views, ends, strict=True)]
        found = {}
        for likeness in LIKENESSES:
            paths = [
                read_out(end, one, known_labels(view.cells, first), likeness, VARIANCES)
                for view, end, one in zip(views, ends, rows, strict=True)
            ]
            lowest = np.inf
            for variance, step in zip(VARIANCES, zip(*paths, strict=True), strict=True):
                told = np.concatenate(
                    [view.read(*pair) for view, *pair in zip(views, step, rows, strict=True)]
                )
                error = log_loss(self.judge.truth.y_value, told)
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
        if not any(one.is_average(prior, gaussian=best.gaussian) for one in self.judge.candidates):
            starts = None if "rank" in change else self._ends_of(best)
            self._walk([prior], (), gaussian=best.gaussian, starts=starts)

    def _rank(self, wanted: int) -> int:
        """Bound a number of factors by what the table could need."""
        n, m = self.judge.look(gaussian=False)[0].cells.shape
        return max(1, min(wanted, n // 2, m // 2))

    @cached_property
    def _label_rank(self) -> int:
        """Number of factors that are the labels' own: enough for all that they have in common, or many."""
        table = self.judge.hidings[0].visible
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
        views = self.judge.look(gaussian=gaussian)
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
                first_label=len(self.judge.yes_no),
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
        candidate = self.judge.judge("average", views, {"prior": prior}, moments, blind)
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


def _blind_shares(members: Sequence[Candidate], blind: FloatArray, truth: FloatArray) -> FloatArray:
    """Share out what rows without labels are told among averages, one voice, and readouts, a voice each.

    Parameters
    ----------
    members : sequence of Candidate
        The averages.
    blind : ndarray of shape (number of averages and readouts, number of hidden labels)
        What each says of the hidden labels from the features of their rows alone.
    truth : ndarray of shape (number of hidden labels,)
    """
    averages = len(members)
    shares = _shares([one.errors["unlabelled"] for one in members])
    voices = _shares([log_loss(truth, one) for one in (shares @ blind[:averages], *blind[averages:])])
    shares = np.append(voices[0] * shares, voices[1:])
    # Under logistic loss, averages in which features have their whole weight become too sure in rows that are
    # more complete than those that judge: unless clearly the best, they leave their part to all others.
    errors = np.array([one.errors["unlabelled"] for one in members])
    sure = np.array([one.kind == (False, 1.0) for one in members])
    if (1 + CLEARLY) * errors[sure].min(initial=np.inf) >= errors[~sure].min(initial=np.inf):
        shares[:averages][sure] = 0
    return np.asarray(shares / shares.sum())


def _shares(errors: list[float]) -> FloatArray:
    """Give shares that add up to one, equal but for what is far off."""
    excess = np.asarray(errors) / min(errors) - 1
    return np.asarray(softmax(-excess / FAR_OFF))
