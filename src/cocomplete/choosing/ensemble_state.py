"""What an ensemble's fit that was ended from outside goes on from: kinds judged, members fitted."""

from typing import Protocol

from cocomplete.checkpoint import Stage
from cocomplete.choosing.judge import Contest, HeldOut
from cocomplete.choosing.kind import Candidate
from cocomplete.choosing.shared import FoldFits, SharedFits
from cocomplete.members.prediction import Member

KEPT = ("whole", "folds", "held", "contest", "n_judged", "members")


class Progressing(Protocol):
    """What changes in an ensemble's fit from kind to kind, and from member to member.

    Fits that kinds share are part of it: how they were come by may depend on which was needed first.
    """

    whole: SharedFits
    folds: list[FoldFits]
    held: HeldOut
    contest: Contest
    n_judged: int
    members: dict[Candidate, Member]


def store(fit: Progressing, stage: Stage | None) -> None:
    """Store what a fit has reached."""
    if stage is not None:
        stage.store({name: getattr(fit, name) for name in KEPT})


def go_on(fit: Progressing, stage: Stage | None) -> None:
    """Bring a fit that has just begun to where another has been, if that was stored."""
    reached = None if stage is None else stage.load()
    if reached is None:
        return
    solve, progress = fit.whole.solve, fit.whole.progress
    for name, value in reached.head.items():
        setattr(fit, name, value)
    for each in (fit.whole, *fit.folds):
        each.solve = solve
    fit.whole.progress = progress
