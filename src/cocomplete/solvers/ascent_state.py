"""What a variational fit that was ended from outside goes on from: small sums, and the labels' sites."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Engine, Reference
from cocomplete.solvers.factor_state import FactorState
from cocomplete.solvers.row_block import Sites


class AscentState(NamedTuple):
    """What a fit has reached, but for the sites that its last pass began with.

    Attributes
    ----------
    there, next : FactorState
        Where the last pass that was kept was made, and where the next one will be. That pass is made again:
        what it adds up to is as large as what is stored here, and its sites are twice as many.
    left_to_warm_up, bounds, pace, removes, shrunk, fresh, sweeps
        As the fit has them.
    """

    there: FactorState
    next: FactorState
    left_to_warm_up: int
    bounds: list[float]
    pace: float
    removes: bool
    shrunk: bool
    fresh: bool
    sweeps: int


def taken(engine: Engine, sites: Sequence[Reference]) -> Iterator[tuple[FloatArray, FloatArray]]:
    """Give the sites of every block, one block after the other."""
    return engine.collect(_as_arrays, sites)


def put_back(engine: Engine, blocks: Sequence[Reference], parts: Iterable[Any]) -> list[Reference]:
    """Put sites to where their blocks are; one block's at a time, as there are as many as labels."""
    return [
        place
        for block, own in zip(blocks, parts, strict=True)
        for place in engine.map(_as_sites, [block], [own])
    ]


def _as_arrays(sites: Sites) -> tuple[FloatArray, FloatArray]:
    return sites.weight, sites.pull


def _as_sites(block: Any, arrays: tuple[FloatArray, FloatArray]) -> Sites:
    """Stand for a block's sites; the block tells the engine where."""
    return Sites(*arrays)
