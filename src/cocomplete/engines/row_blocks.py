"""Where the passes over row blocks run: here, shared out among threads.

A pass is a function of a block and of small arguments; what it returns is reduced in the order of the blocks.
Another engine needs these two methods and nothing else: to make blocks of a table, and to visit them.
"""

from collections import deque
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from typing import TypeVar

from numba import get_num_threads

from cocomplete.problem.cells import Cells

Block = TypeVar("Block")
Result = TypeVar("Result")

BLOCK_NUMBERS = 2_000_000
"""Numbers that one array of a block may hold. Products within a block are too small for threads of BLAS,
which would wait for each other; blocks are shared out among threads instead."""


class InProcess:
    """Keeps the blocks in memory and visits them in threads."""

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
        """Apply a function to every block; results come in the order of the blocks.

        Compiled loops and NumPy's own let other threads run meanwhile.
        """
        threads = min(len(blocks), get_num_threads())
        if threads == 1:
            yield from map(function, blocks)
            return
        # As many results are waiting as there are threads, no more: each may be large.
        with ThreadPoolExecutor(threads) as pool:
            waiting = deque(pool.submit(function, block) for block in blocks[:threads])
            for block in blocks[threads:]:
                yield waiting.popleft().result()
                waiting.append(pool.submit(function, block))
            while waiting:
                yield waiting.popleft().result()
