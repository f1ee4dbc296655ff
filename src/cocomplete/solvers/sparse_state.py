"""What a solve on a sparse table that was ended from outside goes on from."""

from time import perf_counter
from typing import NamedTuple

from cocomplete.arrays import FloatArray
from cocomplete.solvers.solution import History, Record


class SparseState(NamedTuple):
    """All that the next round of L-BFGS depends on, but for what follows from the objective.

    A round begins without the memory of the last, so that factors say all.

    Attributes
    ----------
    W : ndarray of shape (n + m, width)
    taken : int
        Steps so far.
    gap, highest : float
        Relative gap and best lower bound.
    records, seconds
        What the history has, and the time that it took.
    """

    W: FloatArray
    taken: int
    gap: float
    highest: float
    records: list[Record]
    seconds: float

    @classmethod
    def of(cls, W: FloatArray, taken: int, gap: float, highest: float, history: History) -> "SparseState":
        """Take it from a solve between two rounds."""
        return cls(W, taken, gap, highest, history.records, perf_counter() - history.started)

    def put_back(self, history: History) -> tuple[FloatArray, int, float, float]:
        """Bring a fresh history of the same solve to where this was taken."""
        history.records = self.records
        history.started -= self.seconds
        return self.W, self.taken, self.gap, self.highest
