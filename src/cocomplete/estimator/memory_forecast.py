"""How much memory a fit will need beyond its table, worked out before it begins.

Every term stands for arrays that are in memory at the same time. What an array's shape is follows from the
code; how many there are at the peak was measured (``make bench-memory`` prints both).
"""

import math
from typing import Any, NamedTuple

import numpy as np
from numba import get_num_threads

from cocomplete.available_memory import available_memory
from cocomplete.choosing.ensemble import JUDGED_ROWS
from cocomplete.estimator.block_rows import sampled_rows
from cocomplete.estimator.long_tables import as_blocks
from cocomplete.estimator.settings import Settings
from cocomplete.exceptions import InputError
from cocomplete.members.number_kernel import MOST_ROWS
from cocomplete.solvers.eliminated_block import MOST_KEPT
from cocomplete.solvers.factored_losses import PADDING
from cocomplete.solvers.moments import CHUNK
from cocomplete.solvers.start import START_ROWS
from cocomplete.table.block_table import BLOCK_NUMBERS, ArrayBlocks, BlockTable

SMALL_NUMBERS = 5_000_000
"""Cells, known or not, up to which a fit is not forecast: looking costs nothing then."""

LOOKED_AT = 1_000
"""Rows by which the share of known cells is estimated."""

USUAL_RANK = 15
"""Factors that a minimiser of F is taken to have where ``max_rank`` sets no bound."""

READ_COPIES, KEPT_COPIES = 4.5, 2.0
"""Copies of a table at the time when it is read and encoded, and later on."""

SLOPES, FACTOR_COPIES = 3.0, 8.0
"""Of the exact solver: numbers per known cell, and copies of the factors."""

BLOCK_SLOPES, ROW_COPIES = 1.2, 2.0
"""Of the exact solver on a table in blocks: numbers per known cell beside its value, and copies of the rows'
factors."""

JUDGED_COPIES, COMPARED_COPIES = 22.0, 4.0
"""Of the judging of members: copies of the rows that are judged by, and of their distances from those that
kernels of numbers are fitted to."""

COMPARED_ROWS = 1.2 * MOST_ROWS
"""These rows, if every number were known: some columns have fewer known cells than others."""

PREDICTED_COPIES, FIXED = 12.0, 20 * 2**20
"""Of the prediction of all rows: numbers per cell, known or not. And what no size changes."""

SITES, WORKING_COPIES, MOMENT_COPIES = 4.0, 6.0, 3.0
"""Of averages of a table in blocks: pairs of numbers per known label, at most; numbers per known cell of a
block at work, and copies of its rows' second moments."""

MOMENTS = (USUAL_RANK + 1) * (USUAL_RANK + 2) // 2
"""Numbers of a row's second moments."""

GIB, DOUBLE, INDEX = 2**30, 8, 4


class Size(NamedTuple):
    """What the memory of a fit depends on.

    Attributes
    ----------
    rows, features, labels : int
    known : float
        Share of the cells that are.
    number : int
        Bytes of a number.
    """

    rows: int
    features: int
    labels: int
    known: float
    number: int

    @property
    def columns(self) -> int:
        """Features and labels."""
        return self.features + self.labels

    @property
    def bytes(self) -> int:
        """Of the whole table, holes included."""
        return self.number * self.rows * self.columns

    @property
    def cells(self) -> float:
        """How many are known."""
        return self.known * self.rows * self.columns


def check_memory(settings: Settings, X: Any, y: Any, *, on_cluster: bool = False) -> None:
    """Refuse a fit that needs more memory than there is, unless it is forced.

    Parameters
    ----------
    settings : Settings
    X, y : containers with rows and columns, or a BlockTable and None
    on_cluster : bool, default=False
        Whether rows are on a cluster, so that this process holds what comes from it.

    Raises
    ------
    InputError
        With what it needs, what there is, and what can be done.
    """
    if settings.force or is_small(X, y):
        return
    there = available_memory()
    if there is None:
        return
    size, need = size_of(X, y), forecast(settings, X, y)
    if need <= there:
        return
    cures = ["pass float32"] if size.number > 4 else []
    stored = "read the table from disk (cocomplete.open)"
    if on_cluster:
        cures.append("run the client where there is more memory")
    else:
        cures += [] if isinstance(X, BlockTable) else [stored]
        cures.append("use a Dask cluster (cocomplete.dask)")
    msg = (
        f"fitting {size.rows} x {size.columns} cells needs about {need / GIB:.1f} GiB, {there / GIB:.1f} GiB "
        f"are available; {', '.join(cures)}, or try anyway with force=True"
    )
    raise InputError(msg)


def is_small(X: Any, y: Any) -> bool:
    """Whether a table has too few cells to be forecast, or is no array or frame."""
    shapes = [getattr(each, "shape", ()) for each in (X, y) if each is not None]
    if any(not 1 <= len(each) <= 2 for each in shapes):
        return True
    return sum(math.prod(each) for each in shapes) <= SMALL_NUMBERS


def forecast(settings: Settings, X: Any, y: Any) -> int:
    """Give the bytes that a fit needs at its peak, beyond the table and what the process has already.

    Parameters
    ----------
    settings : Settings
    X, y : containers with rows and columns, or a BlockTable and None
    """
    size, blocks = size_of(X, y), as_blocks(X, y)
    held = size
    if blocks is not None:
        held = size._replace(rows=sampled_rows((size.rows, size.columns)))
    if settings.wants_ensemble:
        need = _ensemble(held)
    else:
        solved = held._replace(rows=min(held.rows, START_ROWS)) if held.rows < size.rows else held
        need = max(READ_COPIES * held.bytes, KEPT_COPIES * held.bytes + _solve(solved, settings.max_rank))
    if held.rows < size.rows:
        in_memory = isinstance(blocks, ArrayBlocks)
        rows = _averaged(size) if settings.wants_ensemble else _minimised(size, settings)
        kept = rows.kept if in_memory else 0.0
        need = max(need, KEPT_COPIES * held.bytes + kept + rows.at_work * get_num_threads())
    return int(need)


def size_of(X: Any, y: Any) -> Size:
    """Measure a table by its shape and some of its rows."""
    if isinstance(X, BlockTable):
        rows = X.shape[0]
        X, y = X.read(0, min(rows, LOOKED_AT))
    else:
        rows = X.shape[0]
        step = max(rows // LOOKED_AT, 1)
        X, y = (None if each is None else _some_rows(each, step) for each in (X, y))
    parts = [each for each in (X, y) if each is not None]
    widths = [1 if len(each.shape) == 1 else each.shape[1] for each in parts]
    known = sum(_known(each) for each in parts) / max(sum(w * len(parts[0]) for w in widths), 1)
    return Size(rows, widths[0], sum(widths[1:]), known, _bytes(X))


def _ensemble(size: Size) -> float:
    """Of an ensemble: the judging of members or, with what is left of that, the prediction of all rows."""
    rows = min(size.rows, JUDGED_ROWS)
    judged = JUDGED_COPIES * DOUBLE * rows * size.columns
    compared = COMPARED_COPIES * DOUBLE * rows * min(rows, COMPARED_ROWS / max(size.known, 1e-3))
    at_work = min(size.rows, get_num_threads() * CHUNK // max(size.columns, MOMENTS))
    predicted = PREDICTED_COPIES * DOUBLE * size.rows * size.columns
    predicted += MOMENT_COPIES * DOUBLE * MOMENTS * at_work
    return FIXED + READ_COPIES * size.bytes + judged + max(compared, predicted)


class AllRows(NamedTuple):
    """What the rows of a table in blocks need beside its sample.

    Attributes
    ----------
    at_work : float
        Bytes of a block while a thread works on it.
    kept : float
        Bytes that are kept of all blocks, where these are in memory.
    """

    at_work: float
    kept: float


def _averaged(size: Size) -> AllRows:
    """Of an average: cells, and the labels' sites."""
    rows = min(size.rows, BLOCK_NUMBERS // size.columns)
    at_work = DOUBLE * rows * (WORKING_COPIES * size.known * size.columns + MOMENT_COPIES * MOMENTS)
    sites = SITES * 2 * DOUBLE * size.known * size.rows * size.labels
    return AllRows(at_work, (INDEX + size.number) * size.cells + sites)


def _minimised(size: Size, settings: Settings) -> AllRows:
    """Of a minimiser: cells, slopes and multipliers, and every row's factors and own matrix."""
    rank = _rank(size, settings.max_rank)
    own = rank * (rank + 1) // 2 if rank <= MOST_KEPT else 0
    per_row = size.number * (ROW_COPIES * _width(rank) + own)
    exact = bool(settings.given.residual_penalty) * size.features / size.columns
    per_cell = INDEX + size.number * (1 + BLOCK_SLOPES + exact)
    kept = per_cell * size.cells + per_row * size.rows
    return AllRows(kept * min(1.0, BLOCK_NUMBERS / (size.rows * size.columns)), kept)


def _solve(size: Size, max_rank: int | None) -> float:
    """Of the exact solver: known cells with their slopes, and factors."""
    width = _width(_rank(size, max_rank))
    factors = FACTOR_COPIES * (size.rows + size.columns) * width * size.number
    return (INDEX + (1 + SLOPES) * size.number) * size.cells + factors


def _rank(size: Size, max_rank: int | None) -> int:
    return min(USUAL_RANK if max_rank is None else max_rank, size.rows, size.columns)


def _width(rank: int) -> int:
    """Numbers per row or column of factors that are stacked and padded."""
    return (rank + PADDING) // PADDING * PADDING


def _some_rows(table: Any, step: int) -> Any:
    return table.iloc[::step] if hasattr(table, "iloc") else table[::step]


def _known(table: Any) -> int:
    """Count the known cells."""
    if hasattr(table, "isna"):
        return int(table.notna().to_numpy().sum())
    if hasattr(table, "null_count"):
        nulls = table.null_count()
        return int(np.prod(table.shape)) - int(
            nulls.to_numpy().sum() if hasattr(nulls, "to_numpy") else nulls
        )
    values = np.asarray(table)
    return int((~np.isnan(values)).sum()) if values.dtype.kind == "f" else values.size


def _bytes(X: Any) -> int:
    """Bytes of the numbers that a table is read as: those of single precision if all columns are."""
    kinds = getattr(X, "dtypes", None)
    if kinds is None:
        kinds = [X.dtype]
    return 4 if all(str(each).lower() in ("float32", "float16") for each in kinds) else DOUBLE
