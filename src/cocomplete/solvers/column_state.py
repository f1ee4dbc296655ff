"""What a solve by columns that was ended from outside goes on from: small sums, and every block's rows."""

from collections.abc import Iterable, Iterator, Sequence
from time import perf_counter
from typing import Any, NamedTuple, Protocol

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Engine, Reference
from cocomplete.solvers.column_objective import ColumnObjective, ColumnPoint
from cocomplete.solvers.eliminated_block import RowSums, as_arrays, as_state
from cocomplete.solvers.solution import History, Record
from cocomplete.solvers.trust_region import TrustRegion


class Run(Protocol):
    """What changes in a solve from round to round."""

    function: ColumnObjective
    point: ColumnPoint
    region: TrustRegion
    history: History
    gap: float
    highest: float
    growth: float
    first_rho: float


class ColumnState(NamedTuple):
    """All that the next round depends on, but for the rows and for what follows from the objective.

    Attributes
    ----------
    iteration : int
        The round to come.
    V, k, sums, value
        Of the point that was reached.
    region : TrustRegion
    gap, highest, growth
        Relative gap, best lower bound, and size at which the search for more factors begins.
    rho, first_rho : float
        Weight of the features, now and at the beginning.
    records, seconds
        What the history has, and the time that it took.
    """

    iteration: int
    V: FloatArray
    k: int
    sums: RowSums
    value: float
    region: TrustRegion
    gap: float
    highest: float
    growth: float
    rho: float
    first_rho: float
    records: list[Record]
    seconds: float

    @classmethod
    def of(cls, run: Run, iteration: int) -> "ColumnState":
        """Take it from a solve between two rounds."""
        point = run.point
        return cls(
            iteration,
            point.V,
            point.k,
            point.sums,
            point.value,
            run.region,
            run.gap,
            run.highest,
            run.growth,
            run.function.rho,
            run.first_rho,
            run.history.records,
            perf_counter() - run.history.started,
        )


def taken(engine: Engine, rows: Sequence[Reference]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Give what is kept of every block, one block after the other."""
    return engine.collect(as_arrays, rows)


def put_back(engine: Engine, blocks: Sequence[Reference], parts: Iterable[Any]) -> list[Reference]:
    """Put rows to where their blocks are, one block's at a time."""
    return [
        place
        for block, own in zip(blocks, parts, strict=True)
        for place in engine.map(as_state, [block], [own])
    ]
