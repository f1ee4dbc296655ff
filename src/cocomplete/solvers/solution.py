"""What a solver returns."""

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


def watch(
    monitor: Monitor | None, factors: Callable[[], LowRank], offsets: FloatArray
) -> tuple[dict[str, float], float]:
    """Let a monitor look, if there is one; give what it saw and how long that took."""
    if monitor is None:
        return {}, 0.0
    paused = perf_counter()
    seen = monitor(factors(), offsets)
    return seen, perf_counter() - paused


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
        True if the gap reached the tolerance asked for.
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
