"""The kinds of ensemble members: how each is judged on held-out cells, and fitted to the whole table.

A kind has candidates, one per setting. ``judge`` adds their predictions of the held-out cells to a contest;
``fit`` makes one of them a member. A new kind is a class here and an entry of ``KINDS``.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.first_look import FirstLook
from cocomplete.choosing.held_out import ENOUGH
from cocomplete.choosing.judge import Contest, HeldOut
from cocomplete.choosing.minimisers import FEATURE_WEIGHTS, SHARES, Path
from cocomplete.choosing.shared import FoldFits, SharedFits
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS, PARTS, Part
from cocomplete.interrupts import stop_requested
from cocomplete.members.kernel import VARIANCES, KernelKind, KernelRegression, kernel_path
from cocomplete.members.minimiser import Minimiser, Penalties
from cocomplete.members.number_kernel import NOISES, number_kernels
from cocomplete.members.prediction import Member, decode
from cocomplete.members.trees import STOPS, BoostedTrees
from cocomplete.members.trivial import Trivial
from cocomplete.problem.observations import Observations

USUAL_VARIANCE, USUAL_NOISE, USUAL_TREES = 3.0, 0.2, 60
"""Settings that are usual: variance of a kernel's log-odds, noise of a kernel of numbers, number of trees."""

SETTING_TRUST = 1.0
"""What a factor of ten from the usual setting costs, in nats: with few held-out cells the usual is chosen."""

PROMISING = 1.02
"""A minimiser whose error on held-out cells of a part is so many times the best other member's, or less, is
worth following further."""

PAST_BEST = 1.02
"""A path of kernel variances ends where held-out labels' log-loss is so many times the lowest so far, if
there are enough of them."""

COARSE_SHARES = SHARES[1::2]
"""Shares of λ_max along a minimiser's path: every other one of those where it is to answer alone."""

FIRST_SHARES, WORTH_A_PATH = (0.35, 0.12), 1.1
"""Shares of λ_max that a minimiser is first tried at, and how many times the best other member's error its
own may be for the path to be followed."""

FAR_BEHIND = 1.15
"""Once a part has turned, a path is not followed for others whose errors are so many times the best."""

WORTH_ALL_COLUMNS = 1.2
"""How many times the best other member's error that of trees, or of kernels of numbers, may be in the columns
of a first look for the others to follow."""

LEAST_KNOWN = 50
"""Known cells of the usual feature, or label, from which on trees take part. Set on synthetic tables of one
label, in which trees of fewer cells lose to logistic regression. The tables to choose with do not ask for it:
with 30 to 60 known cells trees lower their labels' log-loss by 2 to 3 %, with fewer than 30 by 1 %."""

LEAST_LABELS = 3
"""Labels from which on what they have in common is modelled without features, too."""


class Candidate(NamedTuple):
    """A member before it is fitted: its kind, and a variance, a noise, a number of trees, or penalties."""

    kind: str
    setting: Any = None


class Kind(Protocol):
    """One kind of member."""

    @property
    def name(self) -> str:
        """What it is called where it is to be left out."""

    @property
    def parts(self) -> tuple[Part, ...]:
        """The parts of a table that it can predict."""

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether it can predict anything of a table."""

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Fit candidates to every fold's visible cells and add their predictions of the held-out ones."""

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Fit a candidate to the whole table, for the parts in which it has a weight."""

    def setting_cost(self, setting: Any) -> float:
        """Give what a setting costs, in nats, because it is unusual."""


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
            prediction = decode(encoding, fits.moments(gaussian=self.gaussian))
            contest.add(Candidate(self.name), number, fits.fold, prediction)

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

    name: KernelKind
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
        asked, place = np.unique(fold.row, return_inverse=True)
        rows = fits.completed.take(asked)
        for fitted in kernel_path(
            fits.source, fits.completed, visible.Y, fits.keys.rows, self.name, variances
        ):
            yield fitted, fitted.of(rows).mean[place, fold.column]

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Fit one variance, by the path that leads there."""
        path = [variance for variance in VARIANCES if variance <= setting]
        *_, fitted = kernel_path(
            fits.source, fits.completed, fits.observed.Y, fits.keys.rows, self.name, path
        )
        return fitted

    def setting_cost(self, setting: Any) -> float:
        """Give what a variance costs."""
        return _unusual(setting, USUAL_VARIANCE)


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
        return [
            (one.noise, *one.at(fits.completed, fits.fold.row, fits.fold.column))
            for one in number_kernels(
                fits.source, fits.completed, fits.observed, fits.yes_no, fits.keys.rows, NOISES, columns
            )
        ]

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
        tried = look.columns[usable[look.columns]]
        if not tried.size:
            return
        found = self._means(first, tried)
        wanted = np.flatnonzero(usable & look.paying_columns(found[0], parts, WORTH_ALL_COLUMNS))
        for number, fits in enumerate(folds if wanted.size else ()):
            if number or np.setdiff1d(wanted, tried).size:
                found = self._means(fits, wanted)
            means, stds = (np.where(np.isin(fits.fold.column, wanted), each, np.nan) for each in found)
            for stop, mean, std in zip(STOPS, means, stds, strict=True):
                contest.add_means(Candidate(self.name, stop), number, mean, std)

    @staticmethod
    def _means(fits: FoldFits, columns: NDArray[np.intp]) -> tuple[FloatArray, FloatArray]:
        """Means and standard deviations of a fold's held-out cells after every number of trees."""
        fitted = BoostedTrees.fit(fits.observed, fits.yes_no, fits.keys, columns)
        return fitted.at(fits.observed, fits.fold.row, fits.fold.column)

    def fit(self, setting: Any, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Boost the columns of some parts."""
        wanted = np.zeros(fits.observed.n_features + fits.observed.n_labels, bool)
        for part in FEATURE_PARTS:
            wanted[: len(fits.yes_no)] |= (part in parts) & (fits.yes_no == (part == "yes-no"))
        wanted[len(fits.yes_no) :] = any(part in parts for part in LABEL_PARTS)
        return BoostedTrees.fit(fits.observed, fits.yes_no, fits.keys, np.flatnonzero(wanted), setting)

    def setting_cost(self, setting: Any) -> float:
        """Give what a number of trees costs."""
        return _unusual(setting, USUAL_TREES)


@dataclass(frozen=True)
class MinimiserKind:
    """The minimiser of F, where a first look on one fold shows that it can win."""

    name: str = "minimiser"
    parts: tuple[Part, ...] = PARTS

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether it can predict anything: always."""
        return True

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Take a first look on one fold, and judge the best on the others where it can win."""
        first = Contest(HeldOut.of([folds[0].fold], contest.held.units), [folds[0].fold.row.size])
        size = folds[0].fold.row.size
        for one, means in contest.means.items():
            first.means[one] = means[:size]
        parts = [part for part in PARTS if first.held.where(part).size]
        rivals = {part: min(first.loss(one, part) for one in first.candidates()) for part in parts}
        look = Contest(first.held, [size])
        for penalties, means in Path(FEATURE_WEIGHTS[0], exact=False, values=FIRST_SHARES).follow(
            folds[0].fold, folds[0].yes_no
        ):
            look.add_means(penalties, 0, means)
        if not any(
            look.loss(one, part) < WORTH_A_PATH * rivals[part] for one in look.candidates() for part in parts
        ):
            return
        for weight in FEATURE_WEIGHTS:
            self._look(Path(weight, exact=False, values=COARSE_SHARES), folds[0], first, rivals)
            tried = [one for one in first.candidates() if one.kind == self.name]
            best = {part: min(first.loss(one, part) for one in tried) for part in parts}
            if not any(best[part] < PROMISING * rivals[part] for part in parts):
                return
        for together in (FEATURE_PARTS, LABEL_PARTS):
            if any(part in parts for part in together):
                chosen = min(tried, key=lambda one: sum(first.total(one, part) for part in together))
                contest.add_means(chosen, 0, first.means[chosen])
                for number, fits in enumerate(folds[1:], 1):
                    *_, (_, means) = Path.to(chosen.setting, COARSE_SHARES).follow(fits.fold, fits.yes_no)
                    contest.add_means(chosen, number, means)

    def _look(self, path: Path, fits: FoldFits, first: Contest, rivals: dict[Part, float]) -> None:
        """Follow a path on the first fold until all parts have turned and are far behind."""
        lowest = dict.fromkeys(rivals, np.inf)
        for penalties, means in path.follow(fits.fold, fits.yes_no):
            first.add_means(Candidate(self.name, penalties), 0, means)
            losses = {part: first.loss(Candidate(self.name, penalties), part) for part in rivals}
            falling = [part for part in rivals if losses[part] < lowest[part]]
            lowest = {part: min(lowest[part], losses[part]) for part in rivals}
            hopeless = all(losses[part] > FAR_BEHIND * rivals[part] for part in falling)
            if stop_requested() or (hopeless and len(falling) < len(rivals)):
                break

    def fit(self, setting: Penalties, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Solve for it."""
        return Minimiser.fit(fits.observed, fits.yes_no, setting, fits.solve)

    def setting_cost(self, setting: Any) -> float:
        """Give nothing."""
        return 0.0


KINDS: tuple[Kind, ...] = (
    TrivialKind(),
    AverageKind("average", gaussian=False),
    AverageKind("scores", gaussian=True),
    LinearAverageKind("as-numbers", features=True, parts=("yes-no", *LABEL_PARTS)),
    LinearAverageKind("labels-alone", features=False, parts=("labels",)),
    LabelKernelKind("linear"),
    LabelKernelKind("rbf"),
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
