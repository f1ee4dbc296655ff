"""The kinds of ensemble members: how each is judged on held-out cells, and fitted to the whole table.

A kind has candidates, one per setting. ``judge`` adds their predictions of the held-out cells to a contest;
``fit`` makes one of them a member. A new kind is a class here and an entry of ``KINDS``.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.first_look import FirstLook
from cocomplete.choosing.held_out import ENOUGH
from cocomplete.choosing.judge import Contest
from cocomplete.choosing.kind import Candidate, Kind
from cocomplete.choosing.minimiser_kind import MinimiserKind
from cocomplete.choosing.shared import FoldFits, SharedFits
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS, PARTS, Part
from cocomplete.members.kernel import VARIANCES, CompletedRows, KernelRegression, kernel_path
from cocomplete.members.logistic_average import LogisticAverage
from cocomplete.members.number_kernel import NOISES, number_kernels, predict_cells
from cocomplete.members.prediction import Member, decode_cells
from cocomplete.members.trees import STOPS, BoostedTrees
from cocomplete.members.trivial import Trivial
from cocomplete.problem.observations import Observations

USUAL_VARIANCE, USUAL_NOISE, USUAL_TREES = 3.0, 0.2, 60
"""Settings that are usual: variance of a kernel's log-odds, noise of a kernel of numbers, number of trees."""

SETTING_TRUST = 1.0
"""What a factor of ten from the usual setting costs, in nats: with few held-out cells the usual is chosen."""

PAST_BEST = 1.02
"""A path of kernel variances ends where held-out labels' log-loss is so many times the lowest so far, if
there are enough of them."""

WORTH_ALL_COLUMNS = 1.2
"""How many times the best other member's error that of trees, or of kernels of numbers, may be in the columns
of a first look for the others to follow."""

LEAST_KNOWN = 50
"""Known cells of the usual feature, or label, from which on trees take part. Set on synthetic tables of one
label, in which trees of fewer cells lose to logistic regression. The tables to choose with do not ask for it:
with 30 to 60 known cells trees lower their labels' log-loss by 2 to 3 %, with fewer than 30 by 1 %."""

FEW_LABELS, MOST_FEATURES = 200, 100
"""Known labels up to which, and features up to which, logistic regression is averaged over its posterior.
With up to 200 known labels log-losses of the tables to choose with fall by 1 % on average, with 200 to 500
they rise by 4 %."""

LEAST_LABELS = 3
"""Labels from which on what they have in common is modelled without features, too."""


@dataclass(frozen=True)
class TrivialKind:
    """Column means and label rates."""

    name: str = "trivial"
    parts: tuple[Part, ...] = PARTS

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether it can predict anything: always."""
        return True

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Judge it; it has no settings."""
        for number, fits in enumerate(folds):
            prediction = Trivial.fit(fits.observed, fits.yes_no).predict(fits.observed)
            contest.add(Candidate(self.name), number, fits.fold, prediction)

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Take means and rates from the whole table."""
        return Trivial.fit(fits.observed, fits.yes_no)

    def setting_cost(self, setting: Any) -> float:
        """Give nothing."""
        return 0.0


@dataclass(frozen=True)
class AverageKind:
    """The posterior average, of features as they are or of their normal scores."""

    name: str
    gaussian: bool
    parts: tuple[Part, ...] = PARTS

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether there are numbers to make normal, where it does so."""
        return not (self.gaussian and yes_no.all())

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Judge it; its hyperparameters are set by the evidence lower bound."""
        for number, fits in enumerate(folds):
            encoding = fits.average(gaussian=self.gaussian).encoding
            moments, fold = fits.moments(gaussian=self.gaussian), fits.fold
            means, stds = decode_cells(encoding, moments, fold.row, fold.column)
            contest.add_means(Candidate(self.name), number, means, stds)

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Fit it, or take the fit that another member needed."""
        return fits.average(gaussian=self.gaussian)

    def setting_cost(self, setting: Any) -> float:
        """Give nothing."""
        return 0.0


@dataclass(frozen=True)
class LinearAverageKind:
    """The posterior average with 0/1 columns as numbers, of the whole table or of labels alone."""

    name: str
    features: bool
    parts: tuple[Part, ...]

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether there are 0/1 columns, or enough labels."""
        if self.features:
            return bool(observed.n_labels or yes_no.any())
        return observed.n_labels >= LEAST_LABELS and observed.n_features > 0

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Judge it; its hyperparameters are set by the evidence lower bound."""
        for number, fits in enumerate(folds):
            prediction = self.fit(None, fits, ()).predict(fits.observed)
            contest.add(Candidate(self.name), number, fits.fold, prediction)

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Fit it."""
        return fits.linear_average(features=self.features)

    def setting_cost(self, setting: Any) -> float:
        """Give nothing."""
        return 0.0


@dataclass(frozen=True)
class LabelKernelKind:
    """Kernel logistic regression of labels on completed rows."""

    name: str = "rbf"
    parts: tuple[Part, ...] = LABEL_PARTS

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether there are labels, and features to compare rows by."""
        return bool(observed.n_labels and observed.X_known.any())

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Judge variances along a path, which ends where the first fold's labels get clearly worse."""
        variances: tuple[float, ...] = VARIANCES
        # Of few labels chance makes as much of a difference.
        decisive = int((folds[0].fold.part >= PARTS.index("labels")).sum()) >= ENOUGH
        for number, fits in enumerate(folds):
            tried, losses = [], []
            for fitted, means in self._path(fits, variances):
                contest.add_means(Candidate(self.name, fitted.variance), number, means)
                tried.append(fitted.variance)
                losses.append(fits.fold.log_loss(means))
                if number == 0 and decisive and losses[-1] > PAST_BEST * min(losses):
                    break
            variances = tuple(tried)

    def _path(
        self, fits: FoldFits, variances: Sequence[float]
    ) -> Iterator[tuple[KernelRegression, FloatArray]]:
        """Fit growing variances to a fold's visible labels; give them and what they predict held-out ones."""
        fold, visible = fits.fold, fits.observed
        labels = np.flatnonzero(fold.column >= visible.n_features)
        asked, place = np.unique(fold.row[labels], return_inverse=True)
        near: FloatArray | None = None
        for fitted in kernel_path(fits.source, fits.completed, visible.Y, fits.keys.rows, variances):
            means = np.full(fold.row.size, np.nan)
            if labels.size:
                if near is None:
                    near = fits.completed.take(asked).radial(fitted.landmarks)
                means[labels] = fitted.log_odds(near)[place, fold.column[labels] - visible.n_features]
            yield fitted, means

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Fit one variance; the mode is unique, so that no path need lead there."""
        return next(kernel_path(fits.source, fits.completed, fits.observed.Y, fits.keys.rows, [setting]))

    def setting_cost(self, setting: Any) -> float:
        """Give what a variance costs."""
        return _unusual(setting, USUAL_VARIANCE)


@dataclass(frozen=True)
class LogisticAverageKind:
    """Logistic regression averaged over its posterior, where few labels are known."""

    name: str = "logistic"
    parts: tuple[Part, ...] = LABEL_PARTS

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether labels are few, and there are features to regress them on, but not too many."""
        known = int(observed.Y_known.sum())
        return bool(
            observed.X_known.any() and 0 < known <= FEW_LABELS and observed.n_features <= MOST_FEATURES
        )

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Judge it; its prior variance is set by the evidence."""
        for number, fits in enumerate(folds):
            prediction = self.fit(None, fits, ()).predict(fits.observed)
            contest.add(Candidate(self.name), number, fits.fold, prediction)

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Fit it to rows that the average of features as they are completes."""
        average = fits.average(gaussian=False)
        rows = CompletedRows.of(average, fits.observed)
        return LogisticAverage.fit(average, rows, fits.observed.Y)

    def setting_cost(self, setting: Any) -> float:
        """Give nothing."""
        return 0.0


@dataclass(frozen=True)
class NumberKernelKind:
    """Kernel ridge regression of numbers on completed rows."""

    name: str = "number-kernel"
    parts: tuple[Part, ...] = ("numbers",)

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether there are numbers, and something to regress them on."""
        return not yes_no.all() and observed.n_features > 1

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Judge all noises, after a first look at some columns on one fold."""
        numbers = np.flatnonzero(~folds[0].yes_no)
        look = FirstLook(folds[0], contest)
        tried = np.intersect1d(look.columns, numbers)
        found = self._means(folds[0], tried)
        if not look.pays([means for _, means, _ in found], "numbers", WORTH_ALL_COLUMNS):
            return
        for number, fits in enumerate(folds):
            if number or tried.size < numbers.size:
                found = self._means(fits, numbers)
            for noise, means, stds in found:
                contest.add_means(Candidate(self.name, noise), number, means, stds)

    @staticmethod
    def _means(fits: FoldFits, columns: NDArray[np.intp]) -> list[tuple[float, FloatArray, FloatArray]]:
        """Every noise, with means and standard deviations of a fold's held-out cells."""
        members = list(
            number_kernels(
                fits.source, fits.completed, fits.observed, fits.yes_no, fits.keys.rows, NOISES, columns
            )
        )
        found = predict_cells(members, fits.completed, fits.fold.row, fits.fold.column)
        return [(one.noise, *each) for one, *each in zip(members, *found, strict=True)]

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Fit one noise."""
        return next(
            number_kernels(fits.source, fits.completed, fits.observed, fits.yes_no, fits.keys.rows, [setting])
        )

    def setting_cost(self, setting: Any) -> float:
        """Give what a noise costs."""
        return _unusual(setting, USUAL_NOISE)


@dataclass(frozen=True)
class TreesKind:
    """Boosted trees, of features and of labels where a first look shows that it pays."""

    name: str = "trees"
    parts: tuple[Part, ...] = PARTS

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether there are columns to ask of."""
        return observed.n_features > 0 and observed.n_features + observed.n_labels > 1

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Judge all numbers of trees, after a first look at some columns on one fold."""
        first = folds[0]
        known = (_usually_known(first.observed.X_known), _usually_known(first.observed.Y_known))
        parts = [part for part in PARTS if known[part in LABEL_PARTS] >= LEAST_KNOWN]
        d = first.observed.n_features
        look = FirstLook(first, contest)
        usable = np.repeat([known[0] >= LEAST_KNOWN, known[1] >= LEAST_KNOWN], [d, first.observed.n_labels])
        if first.groups is not None and np.unique(first.groups).size == 1:
            # All columns encode one of the user's: there is no other to ask of.
            usable[:] = False
        tried = look.columns[usable[look.columns]]
        if not tried.size:
            return
        stops: tuple[int, ...] = STOPS
        found = self._means(first, tried, stops)
        wanted = np.flatnonzero(usable & look.paying_columns(found[0], parts, WORTH_ALL_COLUMNS))
        more = np.setdiff1d(wanted, tried).size > 0
        if more:
            # Beyond the number of trees after the best one nothing is grown in all columns.
            best = int(np.argmin([look.error(means) for means in found[0]]))
            stops = STOPS[: best + 2]
        for number, fits in enumerate(folds if wanted.size else ()):
            if number or more:
                found = self._means(fits, wanted, stops)
            means, stds = (np.where(np.isin(fits.fold.column, wanted), each, np.nan) for each in found)
            for stop, mean, std in zip(stops, means, stds, strict=True):
                contest.add_means(Candidate(self.name, stop), number, mean, std)

    @staticmethod
    def _means(
        fits: FoldFits, columns: NDArray[np.intp], stops: Sequence[int]
    ) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations of a fold's held-out cells after so many trees."""
        fitted = BoostedTrees.fit(fits.observed, fits.yes_no, fits.keys, columns, stops[-1], fits.groups)
        means, stds = fitted.at(fits.observed, fits.fold.row, fits.fold.column)
        return means[: len(stops)], stds[: len(stops)]

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Boost the columns of some parts."""
        wanted = np.zeros(fits.observed.n_features + fits.observed.n_labels, bool)
        for part in FEATURE_PARTS:
            wanted[: len(fits.yes_no)] |= (part in parts) & (fits.yes_no == (part == "yes-no"))
        wanted[len(fits.yes_no) :] = any(part in parts for part in LABEL_PARTS)
        columns = np.flatnonzero(wanted)
        return BoostedTrees.fit(fits.observed, fits.yes_no, fits.keys, columns, setting, fits.groups)

    def setting_cost(self, setting: Any) -> float:
        """Give what a number of trees costs."""
        return _unusual(setting, USUAL_TREES)


KINDS: tuple[Kind, ...] = (
    TrivialKind(),
    AverageKind("average", gaussian=False),
    AverageKind("scores", gaussian=True),
    LinearAverageKind("as-numbers", features=True, parts=("yes-no", *LABEL_PARTS)),
    LinearAverageKind("labels-alone", features=False, parts=("labels",)),
    LogisticAverageKind(),
    LabelKernelKind(),
    NumberKernelKind(),
    TreesKind(),
    MinimiserKind(),
)
"""What an ensemble is made of. Trees and minimisers come last: they look at what the others reach."""

KIND_OF: dict[str, Kind] = {kind.name: kind for kind in KINDS}


def _usually_known(known: BoolArray) -> float:
    """Median of the columns' numbers of known cells."""
    return float(np.median(known.sum(axis=0))) if known.size else 0.0


def _unusual(setting: float, usual: float) -> float:
    return SETTING_TRUST * float(np.log10(setting / usual)) ** 2
