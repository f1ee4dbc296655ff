"""What a kind of ensemble member has to offer, and a member before it is fitted."""

from collections.abc import Collection, Sequence
from typing import Any, NamedTuple, Protocol

from cocomplete.arrays import BoolArray
from cocomplete.choosing.judge import Contest
from cocomplete.choosing.shared import FoldFits, SharedFits
from cocomplete.fitted.parts import Part
from cocomplete.members.prediction import Member
from cocomplete.problem.observations import Observations


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
