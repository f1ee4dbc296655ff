"""The ensemble that answers by default: members fitted to folds to be weighed, then to everything to answer.

Every member is judged by cells that were held out from its fit, in the state in which it will answer: labels
of rows with other labels, and of rows without any. One rule combines members for every part of the table
 (:mod:`cocomplete.choosing.combine`); none is preferred.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Any, Literal

import numpy as np
from threadpoolctl import threadpool_limits

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.combine import label_weights, number_weights, stretch
from cocomplete.choosing.held_out import Fold, Units, folds, row_keys
from cocomplete.choosing.judge import PART_NAMES, Contest, HeldOut, HeldOutLabels, calibrated, error_summary
from cocomplete.choosing.minimisers import FEATURE_WEIGHTS, SHARES, Path
from cocomplete.fitted.draws import ScoreMargins
from cocomplete.fitted.ensemble import Ensemble, mixture_std
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS, PARTS, Part
from cocomplete.members.average import Average
from cocomplete.members.kernel import KERNELS, VARIANCES, CompletedRows, KernelKind, kernel_path
from cocomplete.members.linear_average import LinearAverage
from cocomplete.members.minimiser import Minimiser, Penalties, Solve
from cocomplete.members.number_kernel import number_kernels
from cocomplete.members.prediction import Member, decode
from cocomplete.members.trivial import Trivial
from cocomplete.problem.observations import Observations
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.solution import Progress

PROMISING = 1.02
"""A minimiser whose error on held-out cells of a part is so many times the best other member's, or less, is
worth following further."""

USUAL_VARIANCE, USUAL_NOISE, KERNEL_TRUST = 3.0, 0.2, 1.0
"""Variance of a kernel's log-odds, and noise of a kernel of numbers, that are usual, and what a factor of ten
from them costs in nats: with few held-out cells these are chosen."""

FAR_BEHIND = 1.15
"""Once a part has turned, a path is not followed for others whose errors are so many times the best."""

SMALL = 1_000_000
"""Cells up to which BLAS is kept to one thread."""

Kernel = tuple[KernelKind | Literal["number-kernel"], float]
Candidate = str | Kernel | Penalties
"""A member before it is fitted: its name, a kernel with its variance or noise, or penalties."""

MEMBERS = ("trivial", "average", "scores", "as-numbers", "linear", "rbf", "number-kernel", "minimiser")
"""What an ensemble is made of; any but the trivial answer can be left out, to see what it is worth."""


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
        Members (of ``MEMBERS``) that are not to take part.
    progress : callable, optional
        Called with a record per fit.
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
    ) -> None:
        self.observed, self.yes_no, self.solve, self.progress = observed, yes_no, solve, progress
        self.used = [name for name in MEMBERS if name not in leave_out or name == "trivial"]
        if yes_no.all():
            # There are no numbers to make normal.
            self.used = [name for name in self.used if name != "scores"]
        if not observed.n_labels or not observed.X_known.any():
            self.used = [name for name in self.used if name not in KERNELS]
        if not observed.n_labels and not yes_no.any():
            self.used = [name for name in self.used if name != "as-numbers"]
        if yes_no.all() or observed.n_features < 2:
            self.used = [name for name in self.used if name != "number-kernel"]
        self.keys = row_keys(observed, seed)
        self.folds = folds(observed, yes_no, seed)
        self.held = HeldOut.of(self.folds, Units.of(observed))
        self.contest = Contest(self.held, [fold.row.size for fold in self.folds])
        self.finished = 0
        self.interrupted = False
        self.score_ratios: list[FloatArray] = []

    def run(self) -> "EnsembleFit":
        """Judge, weigh and fit; Ctrl-C goes on with what has been judged, or fitted, by then."""
        # Small products: threads of BLAS would wait for each other longer than they work.
        with threadpool_limits(1 if self.observed.X.size < SMALL else None, "blas"):
            return self._run()

    def _run(self) -> "EnsembleFit":
        try:
            self._judge()
        except KeyboardInterrupt:
            self._forget_unfinished()
        chosen = {part: self._chosen(part) for part in PARTS}
        by_part = {part: self._weights(part, chosen[part]) for part in PARTS}
        self.weights: dict[Part, dict[Candidate, float]] = {
            part: dict(zip(chosen[part], map(float, by_part[part]), strict=True)) for part in PARTS
        }
        wanted = dict.fromkeys(
            one
            for part in PARTS
            if self._asked(part)
            for one, weight in self.weights[part].items()
            if weight > 0
        )
        members = self._fit(wanted)
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

    # -- judging ---------------------------------------------------------------------------------------

    def _judge(self) -> None:
        for number, fold in enumerate(self.folds):
            self._judge_members(number, fold)
            self.finished = number + 1
        if "minimiser" in self.used and self.folds:
            self._judge_minimisers()

    def _forget_unfinished(self) -> None:
        """Go on with the folds that were judged to the end; minimisers need all of them."""
        self.interrupted = True
        self.folds = self.folds[: self.finished]
        self.held = HeldOut.of(self.folds, self.held.units)
        before, self.contest = self.contest, Contest(self.held, [fold.row.size for fold in self.folds])
        size = self.held.value.size
        for one, means in before.means.items():
            if size and not isinstance(one, Penalties):
                self.contest.means[one], self.contest.stds[one] = means[:size], before.stds[one][:size]
        if not size:
            self.used = ["trivial", "average"]

    def _judge_members(self, number: int, fold: Fold) -> None:
        """Fit all but minimisers to a fold's visible cells."""
        contest, visible, d = self.contest, fold.visible, self.observed.n_features
        contest.add("trivial", number, fold, Trivial.fit(visible, self.yes_no).predict(visible))
        averages: dict[str, Average] = {}
        for name in ("average", "scores"):
            if name in self.used:
                average = averages[name] = Average.fit(visible, self.yes_no, gaussian=name == "scores")
                moments = average.moments(visible)
                contest.add(name, number, fold, decode(average.encoding, moments))
                if name == "scores":
                    self.score_ratios.append(_score_ratios(average, moments, fold))
                self._report(f"fold {number + 1}, {name}")
        if "as-numbers" in self.used:
            contest.add("as-numbers", number, fold, LinearAverage.fit(visible, self.yes_no).predict(visible))
            self._report(f"fold {number + 1}, labels as numbers")
        if not averages:
            return
        average = averages[self._source]
        rows = CompletedRows.of(average, visible)
        if "number-kernel" in self.used:
            for one in number_kernels(average, rows, visible, self.yes_no, self.keys):
                means = one.at(rows, fold.row, fold.column)
                contest.add_means(("number-kernel", one.noise), number, means)
            self._report(f"fold {number + 1}, kernel of numbers")
        asked = np.unique(fold.row[fold.column >= d])
        if not asked.size:
            return
        for kind in KERNELS:
            if kind in self.used:
                for fitted in kernel_path(average, rows, visible.Y, self.keys, kind):
                    labels = fitted.of(rows.take(asked)).mean
                    mean = np.full((visible.n_samples, labels.shape[1]), np.nan)
                    mean[asked] = labels
                    contest.add_means((kind, fitted.variance), number, mean[fold.row, fold.column])
                self._report(f"fold {number + 1}, {kind} kernel")

    def _judge_minimisers(self) -> None:
        """Take a first look on one fold, and judge the best on the others where it can win."""
        size = self.folds[0].row.size
        first = Contest(HeldOut.of(self.folds[:1], self.held.units), [size])
        for one in self.contest.candidates():
            first.means[one] = self.contest.means[one][:size]
        parts = [part for part in PARTS if first.held.where(part).size]
        rivals = {part: min(first.loss(one, part) for one in first.candidates()) for part in parts}
        for weight in FEATURE_WEIGHTS:
            self._look(Path(weight, exact=False, values=SHARES), first, rivals)
            tried = [one for one in first.candidates() if isinstance(one, Penalties)]
            best = {part: min(first.loss(one, part) for one in tried) for part in parts}
            if not any(best[part] < PROMISING * rivals[part] for part in parts):
                return
        self._report("minimisers")
        for together in (FEATURE_PARTS, LABEL_PARTS):
            if any(part in parts for part in together):
                chosen = min(tried, key=lambda one: sum(first.total(one, part) for part in together))
                self.contest.add_means(chosen, 0, first.means[chosen])
                for number, fold in enumerate(self.folds[1:], 1):
                    *_, (_, means) = Path.to(chosen, SHARES).follow(fold, self.yes_no)
                    self.contest.add_means(chosen, number, means)

    def _look(self, path: Path, first: Contest, rivals: dict[Part, float]) -> None:
        """Follow a path on the first fold until all parts have turned and are far behind."""
        lowest = dict.fromkeys(rivals, np.inf)
        for penalties, means in path.follow(self.folds[0], self.yes_no):
            first.add_means(penalties, 0, means)
            losses = {part: first.loss(penalties, part) for part in rivals}
            falling = [part for part in rivals if losses[part] < lowest[part]]
            lowest = {part: min(lowest[part], losses[part]) for part in rivals}
            hopeless = all(losses[part] > FAR_BEHIND * rivals[part] for part in falling)
            if hopeless and len(falling) < len(rivals):
                break

    def _minimisers(self) -> list[Penalties]:
        return [one for one in self.contest.candidates() if isinstance(one, Penalties)]

    def _judged(self, part: Part) -> bool:
        return bool(self.held.where(part).size)

    def _asked(self, part: Part) -> bool:
        """Whether the table has such cells at all."""
        if part in FEATURE_PARTS:
            return bool((self.yes_no == (part == "yes-no")).any())
        return self.observed.n_labels > 0

    # -- choosing and weighing -------------------------------------------------------------------------

    def _chosen(self, part: Part) -> list[Candidate]:
        """Give the candidates that are weighed for a part: the best of each kind, for features or labels."""
        together = FEATURE_PARTS if part in FEATURE_PARTS else LABEL_PARTS
        names = ["trivial", "average", "scores"] + (["as-numbers"] if part != "numbers" else [])
        found: list[Candidate] = [name for name in names if name in self.used]
        groups: list[list[Candidate]] = [list(self._minimisers())]
        kinds = ["number-kernel"] if part == "numbers" else KERNELS if part in LABEL_PARTS else []
        groups += [
            [one for one in self.contest.candidates() if isinstance(one, tuple) and one[0] == kind]
            for kind in kinds
        ]
        if part == "numbers":
            together = ("numbers",)
        found += [min(group, key=lambda one: self._nats(one, together)) for group in groups if group]
        return found

    def _nats(self, candidate: Candidate, parts: Sequence[Part]) -> float:
        """Give the error of a candidate in nats, a kernel's with what its variance or noise costs."""
        total = 0.0
        for part in parts:
            error = self.contest.total(candidate, part)
            # Squared errors in nats: in units of twice the mean squared error of the trivial answer.
            unit = 2 * self.contest.loss("trivial", part) if part == "numbers" else 1.0
            total += error / max(unit, 1e-12)
        if not isinstance(candidate, tuple):
            return total
        middle = USUAL_NOISE if candidate[0] == "number-kernel" else USUAL_VARIANCE
        return total + KERNEL_TRUST * float(np.log10(candidate[1] / middle)) ** 2

    def _weights(self, part: Part, candidates: list[Candidate]) -> FloatArray:
        where = self.held.where(part)
        if not where.size:
            # Nothing was held out to weigh others by: averages learn what they need by themselves.
            averages = np.array([one in ("average", "scores") for one in candidates], float)
            return np.asarray(averages / averages.sum() if averages.any() else np.eye(1, averages.size)[0])
        predictions = np.stack([self.contest.means[one][where] for one in candidates])
        truth = self.held.value[where]
        if part != "numbers":
            return label_weights(predictions, truth)
        column, units = self.held.column[where], self.held.units
        return number_weights(units.standardized(column, predictions), units.standardized(column, truth))

    @staticmethod
    def _aligned(weights: dict[Candidate, float], members: list[Candidate]) -> FloatArray:
        found = np.array([weights.get(one, 0.0) for one in members])
        return found / found.sum() if found.sum() > 0 else np.full(len(members), 1 / len(members))

    def _stretch(self, part: Part) -> float:
        """Say what combined log-odds are to be multiplied by, counted from the trivial answer's."""
        where = self.held.where(part)
        if not where.size:
            return 1.0
        return stretch(self._pooled(part), self.contest.means["trivial"][where], self.held.value[where])

    def _std_factor(self) -> FloatArray:
        """Say what to multiply standard deviations by for 90 % intervals to hold 90 % of held-out numbers."""
        where = self.held.where("numbers")
        if not where.size:
            return np.ones(self.observed.n_features)
        kept = [(one, weight) for one, weight in self.weights["numbers"].items() if weight > 0]
        means = [self.contest.means[one][where] for one, _ in kept]
        shares = [weight for _, weight in kept]
        mean = np.asarray(shares) @ np.stack(means)
        std = mixture_std(shares, means, [self.contest.stds[one][where] for one, _ in kept])
        ratios = np.abs(mean - self.held.value[where]) / np.maximum(std, 1e-300)
        return calibrated(ratios, self.held.column[where], self.observed.n_features)

    def margins(self) -> ScoreMargins | None:
        """Give margins on the scale of normal scores, calibrated likewise, where they are sharper."""
        if self.source is None or not self.source.encoding.gaussian:
            return None
        ratios = np.concatenate(self.score_ratios or [np.empty(0)])
        column = self.held.column[self.held.where("numbers")][: ratios.size]
        factor = calibrated(ratios, column, self.observed.n_features)
        prediction = self.ensemble.predict(self.observed)
        return ScoreMargins.sharper(self.source, factor, self.observed, prediction)

    # -- fitting ---------------------------------------------------------------------------------------

    def _fit(self, wanted: Iterable[Candidate]) -> dict[Candidate, Member]:
        """Fit members to the whole table, and what is drawn from in any case."""
        observed, yes_no = self.observed, self.yes_no
        source = self._source
        needed = {source, *(one for one in wanted if isinstance(one, str))}
        names = [one for one in ("average", "scores") if one in self.used and one in needed]
        averages: dict[str, Average] = {
            name: Average.fit(observed, yes_no, gaussian=name == "scores", progress=self.progress)
            for name in names
        }
        self.source = averages.get(source)
        self.interrupted |= any(one.posterior.interrupted for one in averages.values())
        members: dict[Candidate, Member] = {"trivial": Trivial.fit(observed, yes_no)}
        members |= {name: averages[name] for name in names if name in wanted}
        try:
            members |= self._fit_others(wanted)
        except KeyboardInterrupt:
            self.interrupted = True
        if "trivial" not in wanted and len(members) > 1:
            del members["trivial"]
        return members

    def _fit_others(self, wanted: Iterable[Candidate]) -> dict[Candidate, Member]:
        """Fit minimisers, and kernels on completed rows."""
        observed = self.observed
        members: dict[Candidate, Member] = {}
        rows: CompletedRows | None = None
        for one in wanted:
            if isinstance(one, Penalties):
                minimiser = Minimiser.fit(observed, self.yes_no, one, self.solve)
                self.interrupted |= minimiser.solution.interrupted
                members[one] = minimiser
            elif one == "as-numbers":
                members[one] = LinearAverage.fit(observed, self.yes_no)
            elif isinstance(one, tuple) and self.source is not None:
                rows = CompletedRows.of(self.source, observed) if rows is None else rows
                members[one] = self._fit_kernel(one, rows, self.source)
        return members

    @property
    def _source(self) -> str:
        """The average whose completed rows kernels compare, and whose margins drawn numbers may have."""
        return "scores" if "scores" in self.used else "average"

    def joint(self) -> Average | None:
        """Give what is drawn from: the average with the larger weight, in numbers if there are any."""
        shares = sum(
            (self.ensemble.weights[part] for part in LABEL_PARTS),
            1e3 * self.ensemble.weights["numbers"],
        )
        found = [
            (float(share), -k, one)
            for k, (share, one) in enumerate(zip(np.asarray(shares), self.ensemble.members, strict=True))
            if isinstance(one, Average) and share > 0
        ]
        return max(found)[2] if found else self.source

    def _fit_kernel(self, candidate: Kernel, rows: CompletedRows, source: Average) -> Member:
        kind, value = candidate
        if kind == "number-kernel":
            return next(number_kernels(source, rows, self.observed, self.yes_no, self.keys, [value]))
        *_, fitted = kernel_path(source, rows, self.observed.Y, self.keys, kind, _up_to(value))
        return fitted

    # -- what was found --------------------------------------------------------------------------------

    def combined(self, part: Part) -> FloatArray:
        """Give the ensemble's prediction of a part's held-out cells."""
        pooled = self._pooled(part)
        if part == "numbers" or not pooled.size:
            return pooled
        base = self.contest.means["trivial"][self.held.where(part)]
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
        tried = self._minimisers()
        return min(tried, key=lambda one: sum(self.contest.total(one, part) for part in parts), default=None)

    def held_out_labels(self) -> HeldOutLabels:
        """Give the held-out labels and the ensemble's log-odds for them."""
        where = np.concatenate([self.held.where(part) for part in LABEL_PARTS])
        score = np.concatenate([self.combined(part) for part in LABEL_PARTS])
        column = self.held.column[where] - self.observed.n_features
        return HeldOutLabels(column, self.held.value[where], score)

    def summary(self) -> dict[str, Any]:
        """Give errors on held-out cells beside the trivial answer's, and the members' weights, by part."""
        found: dict[str, Any] = {}
        for part in PARTS:
            if not self._judged(part):
                continue
            where = self.held.where(part)
            errors = error_summary(self.held, part, self.combined(part), self.contest.means["trivial"][where])
            members = {
                self.names[one]: weight
                for one, weight in self.weights[part].items()
                if weight > 0 and one in self.names
            }
            found[PART_NAMES[part]] = {**errors, "weights": members}
        return found

    def _report(self, stage: str) -> None:
        if self.progress is not None:
            self.progress({"stage": "judging", "iteration": len(self.contest.means), "what": stage})


def _score_ratios(average: Average, moments: Moments, fold: Fold) -> FloatArray:
    """Errors of held-out numbers' normal scores in units of their standard deviations."""
    encoding = average.encoding
    numbers = fold.part == PARTS.index("numbers")
    row, column = fold.row[numbers], encoding.order[fold.column[numbers]]
    truth = np.full((fold.visible.n_samples, encoding.n_numbers), np.nan)
    truth[row, column] = fold.value[numbers]
    error = encoding.scale.apply(truth)[row, column] - moments.mean[row, column]
    return np.asarray(np.abs(error) / np.sqrt(moments.variance[row, column] + moments.noise[column]))


def _up_to(variance: float) -> list[float]:
    """Variances of a path that ends at one."""
    return [value for value in VARIANCES if value <= variance]
