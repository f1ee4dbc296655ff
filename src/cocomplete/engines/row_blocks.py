"""Where the passes over row blocks run: here, one block after the other.

A pass is a function of a block and of small arguments; what it returns is reduced in the order of the blocks.
Another engine needs these two methods and nothing else: to make blocks of a table, and to visit them.
"""

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import TypeVar

from cocomplete.problem.cells import Cells

Block = TypeVar("Block")
Result = TypeVar("Result")

BLOCK_NUMBERS = 2_000_000
"""Numbers that one array of a block may hold. Products within a block are large enough for threads of BLAS
and of compiled loops; blocks themselves come one after the other, and one block's arrays are in memory."""


class InProcess:
    """Keeps the blocks in memory and visits them in their order."""

    @staticmethod
    def blocks(cells: Cells, width: int, make: Callable[[Cells], Block]) -> list[Block]:
        """Cut rows into blocks whose sizes depend on the table alone.

        Parameters
        ----------
        cells : Cells
        width : int
            Numbers per row that a pass works with.
        make : callable
            From the cells of some rows to their block.
        """
        n = cells.shape[0]
        step = max(1, BLOCK_NUMBERS // max(width, cells.shape[1]))
        count = max(1, -(-n // step))
        bounds = [n * k // count for k in range(count + 1)]
        return [make(cells.rows(first, last)) for first, last in pairwise(bounds)]

    @staticmethod
    def visit(blocks: list[Block], function: Callable[[Block], Result]) -> Iterator[Result]:
        """Apply a function to every block; results come in the order of the blocks."""
        return map(function, blocks)
