"""What a solver returns, and the record of its iterations."""

from collections.abc import Callable
from dataclasses import dataclass
from time import perf_counter
from typing import Any

from cocomplete.arrays import FloatArray
from cocomplete.spectral import LowRank

Record = dict[str, Any]
"""One iteration: at least ``iteration``, ``objective`` and ``seconds``, plus what the monitor adds."""

Monitor = Callable[[LowRank, FloatArray], dict[str, float]]
"""Called with M and the offsets; what it returns (errors against a truth) is added to the record.

A solver's clock, ``seconds`` in the record, stands still meanwhile.
"""

Progress = Callable[[Record], None]
"""Called with every finished record, for people who watch."""


class History:
    """The records of a solver's iterations.

    Parameters
    ----------
    started : float
        Clock reading that ``seconds`` count from.
    monitor, progress : callable or None
        As given to the solver.
    """

    def __init__(self, started: float, monitor: Monitor | None, progress: Progress | None) -> None:
        self.started, self.monitor, self.progress = started, monitor, progress
        self.records: list[Record] = []

    def add(
        self,
        iteration: int,
        objective: float,
        factors: Callable[[], LowRank],
        offsets: FloatArray,
        **figures: float,
    ) -> None:
        """Record an iteration, with what the monitor finds; its time does not count."""
        seen: dict[str, float] = {}
        if self.monitor is not None:
            paused = perf_counter()
            seen = self.monitor(factors(), offsets)
            self.started += perf_counter() - paused
        seconds = perf_counter() - self.started
        record = {"iteration": iteration, "objective": objective, "seconds": seconds, **figures}
        self.records.append(record | seen)
        if self.progress is not None:
            self.progress(self.records[-1])


@dataclass(frozen=True, eq=False)
class Solution:
    """The answer of a solver, whatever its method.

    Attributes
    ----------
    M : LowRank
        The low-rank matrix, offsets not included.
    offsets : ndarray of shape (n_features + n_labels,)
        Added to every row of M.
    objective : float
        F at this point.
    duality_gap : float
        Relative duality gap; NaN if the solver computes none.
    n_iter : int
        Iterations done.
    converged : bool
        True if the gap reached the tolerance asked for; where none was asked for, if the gains had ended.
    history : list of dict
        One record per iteration.
    multiplier : ndarray or None
        Multiplier of every observed feature where they are constraints; a warm start uses it.
    interrupted : bool
        Whether a request to stop, by Ctrl-C, ended the solver.
    """

    M: LowRank
    offsets: FloatArray
    objective: float
    duality_gap: float
    n_iter: int
    converged: bool
    history: list[Record]
    multiplier: FloatArray | None = None
    interrupted: bool = False
