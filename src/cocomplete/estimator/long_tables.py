"""Tables that are not fitted, or predicted, in one piece."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from threading import Lock
from typing import Any

import numpy as np

from cocomplete.engines.engine import Engine, Threads
from cocomplete.engines.on_disk import OnDisk
from cocomplete.engines.row_blocks import InProcess
from cocomplete.estimator import block_rows
from cocomplete.estimator.block_rows import stacked
from cocomplete.estimator.tables import row_order
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import shown
from cocomplete.table.block_table import ArrayBlocks, BlockRows, BlockTable


def as_blocks(X: Any, y: Any) -> BlockTable | None:
    """Give a table in blocks if it is one, or is long; None if it is to be read as a whole.

    Raises
    ------
    InputError
        If labels are given beside a table that has its own.
    """
    if isinstance(X, BlockTable):
        if y is not None:
            msg = (
                "y must be None where X is an opened table; name its labels in cocomplete.open(…, labels=[…])"
            )
            raise InputError(msg)
        return X
    if not _sliced(X) or len(X.shape) != 2 or not (y is None or (_sliced(y) and len(X) == len(y))):
        return None
    table = ArrayBlocks(X, y)
    n, m = table.shape
    if n * m < block_rows.LONG_NUMBERS:
        return None
    order = None if y is None else row_order(X, y)
    return table if order is None else ArrayBlocks(X, y.iloc[order])


def engine_for(table: BlockTable) -> AbstractContextManager[Engine]:
    """Give the engine for a table: threads for one in memory, files for others."""
    if isinstance(table, ArrayBlocks):
        return nullcontext(Threads(keeps=False))
    return OnDisk()


def stacked_results(table: BlockTable, function: Callable[[BlockRows], tuple[Any, ...]]) -> tuple[Any, ...]:
    """Apply a function to every block's rows, and put its results together, each written in its place.

    Parameters
    ----------
    table : BlockTable
    function : callable
        Returns arrays, frames or None, with one row for each row of the block.
    """
    n, bounds = table.shape[0], table.completed_bounds()
    whole: list[Any] = []
    guard = Lock()

    def of_block(each: tuple[int, int]) -> tuple[Any, ...]:
        parts = function(table.read(*each))
        with guard:
            if not whole:
                whole.extend(
                    np.empty((n, *part.shape[1:]), part.dtype) if isinstance(part, np.ndarray) else None
                    for part in parts
                )
        # Arrays are written where the block is worked on, so that nobody waits for one thread's copying.
        for one, part in zip(whole, parts, strict=True):
            if one is not None:
                one[slice(*each)] = part
        return tuple(part if one is None else None for one, part in zip(whole, parts, strict=True))

    others = list(InProcess.visit(bounds, of_block))
    return tuple(
        stacked([parts[k] for parts in others]) if one is None else one for k, one in enumerate(whole)
    )


def check_block_table(table: Any) -> None:
    """Refuse a table that is not read in blocks.

    Raises
    ------
    InputError
    """
    if not isinstance(table, BlockTable):
        msg = f"table must be one that cocomplete.open gives, got {shown(table)}; complete takes others"
        raise InputError(msg)


def check_in_memory(table: BlockTable, method: str, instead: str) -> None:
    """Refuse a table whose answer may be larger than the memory.

    Raises
    ------
    InputError
    """
    if not isinstance(table, ArrayBlocks):
        msg = f"{method} gives a whole table, and X is one that is read in blocks; use {instead}(X)"
        raise InputError(msg)


def _sliced(table: Any) -> bool:
    """Whether rows can be taken from a table without reading it: an array of numbers, or a frame."""
    if isinstance(table, np.ma.MaskedArray):
        return False
    if isinstance(table, np.ndarray):
        return table.dtype.kind == "f" and table.ndim in (1, 2)
    # Unknown values are of pandas too, and have no shape.
    frames = type(table).__module__.split(".")[0] in ("pandas", "polars")
    return frames and len(getattr(table, "shape", ())) == 2
