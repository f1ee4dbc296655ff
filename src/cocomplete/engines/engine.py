"""What a pass over a table's row blocks asks of the place where they are.

An algorithm is written once, as functions of a block and of small arguments. Blocks are *references*: only an
engine looks behind them. Threads of this process, a disk and a cluster each offer these five methods:

``derive``
    What can be made of every block at any time; an engine may keep it or make it again.
``map``
    What costs to make of every block; the engine keeps it where the blocks are.
``collect``
    Small results, in the order of the blocks whatever finished first, so that sums do not depend on where
    they were made.
``advance``
    Both: the next state of every block, which stays, and a small result, which comes.
``release``
    Gives back what is no longer needed.

Functions are named at the top of a module, so that they can be sent; what they return depends on their
arguments alone, so that what was lost can be made again.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from cocomplete.engines.row_blocks import InProcess

Reference = Any
"""Stands for a block, or for something that was made of it; only its engine knows what it is."""


class Engine(Protocol):
    """Where row blocks are, and where functions of them run."""

    def derive(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Stand for ``function(*one of each, **shared)`` of every block."""

    def map(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Apply a function to every block; what it returns stays where the block is."""

    def collect(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> Iterator[Any]:
        """Apply a function to every block; what it returns comes here, in the order of the blocks."""

    def advance(
        self, function: Callable[..., tuple[Any, Any]], *blocks: Sequence[Reference], **shared: Any
    ) -> tuple[list[Reference], Iterator[Any]]:
        """Apply a function that returns a state, which stays, and a result, which comes.

        States are there once all results have been taken.
        """

    def release(self, blocks: Sequence[Reference]) -> None:
        """Forget what these stand for."""


class Recipe(NamedTuple):
    """What is made again for every visit."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    shared: Any


class Threads:
    """Blocks in the memory of this process, visited in threads.

    Parameters
    ----------
    keeps : bool, default=True
        Whether what is derived is kept. Where a table fills the memory it is made again instead.
    """

    def __init__(self, *, keeps: bool = True) -> None:
        self.keeps = keeps

    def derive(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Make it now, or note how it is made."""
        if self.keeps:
            return [function(*map(_made, each), **shared) for each in zip(*blocks, strict=True)]
        return [Recipe(function, each, shared) for each in zip(*blocks, strict=True)]

    def map(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Apply a function to every block and keep the results."""
        return list(self.collect(function, *blocks, **shared))

    def collect(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> Iterator[Any]:
        """Apply a function to every block, in threads; results come in order."""
        each = list(zip(*blocks, strict=True))
        return InProcess.visit(each, lambda one: function(*map(_made, one), **shared))

    def advance(
        self, function: Callable[..., tuple[Any, Any]], *blocks: Sequence[Reference], **shared: Any
    ) -> tuple[list[Reference], Iterator[Any]]:
        """Keep the states in order, give the results."""
        states: list[Reference] = []

        def results() -> Iterator[Any]:
            for state, result in self.collect(function, *blocks, **shared):
                states.append(state)
                yield result

        return states, results()

    def release(self, blocks: Sequence[Reference]) -> None:
        """Nothing to do: memory goes with the last reference."""


def _made(block: Reference) -> Any:
    """Give what a reference stands for."""
    if isinstance(block, Recipe):
        return block.function(*map(_made, block.arguments), **block.shared)
    return block
