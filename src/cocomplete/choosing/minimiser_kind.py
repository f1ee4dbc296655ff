"""The minimiser of F as a kind of ensemble member: a path that is followed as far as it can win."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from cocomplete.arrays import BoolArray
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
        """Take a first look on one fold, and judge the best on the others where it can win."""
        first = Contest(HeldOut.of([folds[0].fold], contest.held.units), [folds[0].fold.row.size])
        size = folds[0].fold.row.size
        for one, means in contest.means.items():
            first.means[one] = means[:size]
        parts = [part for part in PARTS if first.held.where(part).size]
        rivals = {part: min(first.loss(one, part) for one in first.candidates()) for part in parts}
        for weight in FEATURE_WEIGHTS[:2]:
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
            behind = all(lowest[part] > WORTH_A_PATH * rivals[part] for part in rivals)
            if behind and penalties.share is not None and penalties.share <= FIRST_SHARE:
                break

    def fit(self, setting: Penalties, fits: SharedFits, parts: Collection[Part]) -> Member:
        """Solve for it."""
        return Minimiser.fit(fits.observed, fits.yes_no, setting, fits.solve).for_new_rows()

    def setting_cost(self, setting: Any) -> float:
        """Give nothing."""
        return 0.0
