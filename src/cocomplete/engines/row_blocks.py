"""Where the passes over row blocks run: here, shared out among threads.

A pass is a function of a block and of small arguments; what it returns is reduced in the order of the blocks.
Another engine needs these two methods and nothing else: to make blocks of a table, and to visit them.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import Protocol, Self, TypeVar

from numba import get_num_threads

from cocomplete.engines.blas import one_thread


class Rows(Protocol):
    """What can be cut into blocks: cells of some rows, or matrices."""

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""

    def rows(self, first: int, last: int) -> Self:
        """Give some consecutive rows."""


Table = TypeVar("Table", bound=Rows)
Block = TypeVar("Block")
Result = TypeVar("Result")

BLOCK_NUMBERS = 2_000_000
"""Numbers that one array of a block may hold. Products within a block are too small for threads of BLAS,
which would wait for each other; blocks are shared out among threads instead."""


def row_bounds(n: int, width: int, numbers: int = BLOCK_NUMBERS) -> list[tuple[int, int]]:
    """Cut rows into blocks of about equally many; how many depends on the arguments alone.

    Parameters
    ----------
    n : int
        Number of rows.
    width : int
        Numbers per row that a pass works with.
    numbers : int
        Numbers that an array of a block may hold.
    """
    step = max(1, numbers // max(width, 1))
    count = max(1, -(-n // step))
    return list(pairwise(n * k // count for k in range(count + 1)))


class InProcess:
    """Keeps the blocks in memory and visits them in threads."""

    @staticmethod
    def blocks(table: Table, width: int, make: Callable[[Table], Block]) -> list[Block]:
        """Cut a table into row blocks whose sizes depend on the table alone.

        Parameters
        ----------
        table : Cells, or anything else that has rows
        width : int
            Numbers per row that a pass works with.
        make : callable
            From some rows to their block.
        """
        n, m = table.shape
        return [make(table.rows(first, last)) for first, last in row_bounds(n, max(width, m), BLOCK_NUMBERS)]

    @staticmethod
    def visit(blocks: Sequence[Block], function: Callable[[Block], Result]) -> Iterator[Result]:
        """Apply a function to every block; results come in the order of the blocks.

        Compiled loops and NumPy's own let other threads run meanwhile.
        """
        threads = min(len(blocks), get_num_threads())
        if threads <= 1:
            yield from map(function, blocks)
            return
        # One more is handed out than there are threads, so that none is idle while the oldest result is
        # waited for; no more than that, because each may be large.
        ahead = threads + 1
        with one_thread(), ThreadPoolExecutor(threads) as pool:
            waiting = deque(pool.submit(function, block) for block in blocks[:ahead])
            for block in blocks[ahead:]:
                yield waiting.popleft().result()
                waiting.append(pool.submit(function, block))
            while waiting:
                yield waiting.popleft().result()

    @staticmethod
    def each(blocks: Sequence[Block], function: Callable[[Block], None]) -> None:
        """Visit every block for what the function writes in its rows' places."""
        for _ in InProcess.visit(blocks, function):
            pass
