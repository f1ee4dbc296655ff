"""The minimiser of F as a kind of ensemble member: a path that is followed as far as it can win."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray
from cocomplete.choosing.held_out import Fold
from cocomplete.choosing.judge import Contest, HeldOut
from cocomplete.choosing.kind import Candidate
from cocomplete.choosing.minimisers import FEATURE_WEIGHTS, SHARES, Path
from cocomplete.choosing.shared import FoldFits, SharedFits
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS, PARTS, Part
from cocomplete.interrupts import stop_requested
from cocomplete.members.minimiser import Minimiser, Penalties
from cocomplete.members.prediction import Member
from cocomplete.problem.observations import Observations

PROMISING = 1.02
"""A minimiser whose error on held-out cells of a part is so many times the best other member's, or less, is
worth following further."""

COARSE_SHARES = SHARES[1::2]
"""Shares of λ_max along a minimiser's path: every other one of those where it is to answer alone."""

FIRST_SHARE, WORTH_A_PATH = 0.15, 1.1
"""Share of λ_max down to which a path is followed in any case, and how many times the best other member's
error the minimiser's may be there for the path to be followed further."""

LOOKED_AT = 60_000
"""Observed cells in the rows of a first look, about: of a larger table, some rows say whether all of them are
worth a path."""

FAR_BEHIND = 1.15
"""Once a part has turned, a path is not followed for others whose errors are so many times the best."""


@dataclass(frozen=True)
class MinimiserKind:
    """The minimiser of F, where a first look on one fold shows that it can win."""

    name: str = "minimiser"
    parts: tuple[Part, ...] = PARTS

    def applies(self, observed: Observations, yes_no: BoolArray) -> bool:
        """Whether it can predict anything: always."""
        return True

    def judge(self, folds: Sequence[FoldFits], contest: Contest) -> None:
        """Take a first look on one fold, at few rows if they do, and judge the best where it can win."""
        fold, yes_no = folds[0].fold, folds[0].yes_no
        some, cells = _some_rows(folds[0])
        if cells.size < fold.row.size:
            sample = _contest(some, cells, contest)
            self._look(Path(FEATURE_WEIGHTS[0], exact=False, values=COARSE_SHARES), some, yes_no, sample)
            if not self._wins(sample, WORTH_A_PATH):
                return
        first = _contest(fold, np.arange(fold.row.size), contest)
        for weight in FEATURE_WEIGHTS[:2]:
            self._look(Path(weight, exact=False, values=COARSE_SHARES), fold, yes_no, first)
            if not self._wins(first, PROMISING):
                return
        tried = [one for one in first.candidates() if one.kind == self.name]
        parts = [part for part in PARTS if first.held.where(part).size]
        for together in (FEATURE_PARTS, LABEL_PARTS):
            if any(part in parts for part in together):
                chosen = min(tried, key=lambda one: sum(first.total(one, part) for part in together))
                contest.add_means(chosen, 0, first.means[chosen])
                for number, fits in enumerate(folds[1:], 1):
                    *_, (_, means) = Path.to(chosen.setting, COARSE_SHARES).follow(fits.fold, fits.yes_no)
                    contest.add_means(chosen, number, means)

    def _lowest(self, first: Contest, *, own: bool) -> dict[Part, float]:
        """Give the lowest error in every part of the minimisers, or of all other members."""
        candidates = [one for one in first.candidates() if (one.kind == self.name) == own]
        parts = [part for part in PARTS if first.held.where(part).size]
        return {part: min(first.loss(one, part) for one in candidates) for part in parts}

    def _wins(self, first: Contest, limit: float) -> bool:
        """Whether the best minimiser's error is less than so many times the others' in some part."""
        best, rivals = self._lowest(first, own=True), self._lowest(first, own=False)
        return any(best[part] < limit * rivals[part] for part in best)

    def _look(self, path: Path, fold: Fold, yes_no: BoolArray, first: Contest) -> None:
        """Follow a path on the first fold until all parts have turned and are far behind."""
        rivals = self._lowest(first, own=False)
        lowest = dict.fromkeys(rivals, np.inf)
        for penalties, means in path.follow(fold, yes_no):
            first.add_means(Candidate(self.name, penalties), 0, means)
            losses = {part: first.loss(Candidate(self.name, penalties), part) for part in rivals}
            falling = [part for part in rivals if losses[part] < lowest[part]]
            lowest = {part: min(lowest[part], losses[part]) for part in rivals}
            hopeless = all(losses[part] > FAR_BEHIND * rivals[part] for part in falling)
            if stop_requested() or (hopeless and len(falling) < len(rivals)):
                break
            behind = all(lowest[part] > WORTH_A_PATH * rivals[part] for part in rivals)
            if behind and penalties.share is not None and penalties.share <= FIRST_SHARE:
                break

    def fit(self, setting: Penalties, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Solve for it."""
        return Minimiser.fit(fits.observed, fits.yes_no, setting, fits.solve).for_new_rows()

    def setting_cost(self, setting: Any) -> float:
        """Give nothing."""
        return 0.0


def _some_rows(fits: FoldFits) -> tuple[Fold, NDArray[np.intp]]:
    """Give as many rows of a fold as a first look needs, and which of the held-out cells are theirs."""
    fold, visible = fits.fold, fits.observed
    count = int(visible.X_known.sum() + visible.Y_known.sum())
    rows = fits.first_rows(max(1, visible.n_samples * LOOKED_AT // max(count, LOOKED_AT)))
    cells = np.flatnonzero(np.isin(fold.row, rows))
    some = Observations(visible.X[rows], visible.Y[rows])
    row = np.searchsorted(rows, fold.row[cells])
    return Fold(some, row, fold.column[cells], fold.value[cells], fold.part[cells]), cells


def _contest(fold: Fold, cells: NDArray[np.intp], contest: Contest) -> Contest:
    """Give what other members predict of some cells of the first fold."""
    first = Contest(HeldOut.of([fold], contest.held.units), [fold.row.size])
    for one, means in contest.means.items():
        first.means[one] = means[cells]
    return first
