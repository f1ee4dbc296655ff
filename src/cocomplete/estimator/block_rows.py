"""Functions of some rows of a table that is read in blocks: what is sent to where the blocks are."""

from typing import Any, NamedTuple

import narwhals.stable.v2 as nw
import numpy as np
from numpy.typing import NDArray

from cocomplete.engines.engine import Engine
from cocomplete.estimator.tables import UserTables
from cocomplete.exceptions import InputError
from cocomplete.fitted.column_ends import ColumnEnds
from cocomplete.members.linear_average import numbers_of
from cocomplete.problem.cells import Cells
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.informative import Informative, rows_with_something
from cocomplete.problem.observations import Observations
from cocomplete.table.block_table import BlockRows, BlockTable
from cocomplete.table.schema import Schema

LONG_NUMBERS = 40_000_000
"""Cells, known or not, from which on a table is worked on in blocks of rows: copies of the whole of it would
be larger than all that is computed from it."""

SAMPLE_NUMBERS, LEAST_SAMPLE = 12_000_000, 2_000
"""Cells of the rows that everything but the averages is fitted to, and the fewest of these rows."""


MOST_NAMED = 100
"""Values of a column that a block names at most."""


class RowsToRead(NamedTuple):
    """Some consecutive rows of a table, not read yet."""

    table: BlockTable
    first: int
    last: int

    def read(self) -> BlockRows:
        """Read them."""
        return self.table.read(self.first, self.last)


def rows_to_read(table: BlockTable) -> list[RowsToRead]:
    """Give the blocks of a table."""
    return [RowsToRead(table, *bounds) for bounds in table.bounds()]


def sampled_rows(shape: tuple[int, int]) -> int:
    """Give how many rows of a table of this shape choices are made by: all of them, unless it is long."""
    n, m = shape
    return n if n * m < LONG_NUMBERS else min(n, max(SAMPLE_NUMBERS // max(m, 1), LEAST_SAMPLE))


def sample_places(shape: tuple[int, int], seed: int) -> NDArray[np.intp]:
    """Pick the rows that choices are made by, all of them if they are few; by their places alone."""
    n, some = shape[0], sampled_rows(shape)
    if some == n:
        return np.arange(n)
    return np.sort(np.random.default_rng(seed).choice(n, some, replace=False))


def read_sample(engine: Engine, blocks: list[Any], bounds: list[tuple[int, int]], places: Any) -> BlockRows:
    """Read some rows of a table.

    Parameters
    ----------
    engine : Engine
    blocks : list
        References to blocks.
    bounds : list of tuple of int
        First row of every block, and the one after its last.
    places : ndarray of int
        Rows, in their order.
    """
    parts = list(engine.collect(_taken, blocks, places_in_blocks(places, bounds)))
    return BlockRows(*(stacked([part[k] for part in parts if len(part[0])]) for k in range(2)))


def places_in_blocks(places: Any, bounds: list[tuple[int, int]]) -> list[NDArray[np.intp]]:
    """Give rows, in their order, by their places in the blocks that they are in."""
    return [
        places[np.searchsorted(places, first) : np.searchsorted(places, last)] - first
        for first, last in bounds
    ]


def stacked(parts: list[Any]) -> Any:
    """Put some rows after others, in the container that they came in; None if there are none of a kind."""
    if parts[0] is None:
        return None
    if isinstance(parts[0], np.ndarray):
        return np.concatenate(parts)
    return nw.to_native(nw.concat([nw.from_native(part, eager_only=True) for part in parts]))


def _taken(block: Any, rows: NDArray[np.intp]) -> tuple[Any, Any]:
    X, y = read_rows(block)
    return _take(X, rows), None if y is None else _take(y, rows)


def _take(table: Any, rows: NDArray[np.intp]) -> Any:
    if hasattr(table, "iloc"):
        return table.iloc[rows]
    return table[rows]


def read_rows(block: Any) -> BlockRows:
    """Give the rows of a block, which may have been read already."""
    return block.read() if isinstance(block, RowsToRead) else block


def observations(block: Any, features: Schema, labels: Schema, *, only_ones: bool) -> Observations:
    """Encode the rows of a block as those of the sample were.

    Parameters
    ----------
    block : RowsToRead or BlockRows
    features, labels : Schema
    only_ones : bool
        Whether unknown labels are fitted as zeros.

    Raises
    ------
    InputError
        With the block's place in the table, where that is known.
    """
    _, found = _encoded(block, features, labels)
    if only_ones:
        return Observations(found.X, np.where(found.Y_known, found.Y, 0).astype(found.Y.dtype))
    return Observations(found.X, found.Y)


class Survey(NamedTuple):
    """What only a look at all rows can tell of a table whose choices are made by a sample.

    Attributes
    ----------
    strange : dict
        Values that the sample has none of, by column; they count as unknown.
    ends : ColumnEnds
        Smallest and largest features.
    """

    strange: dict[str, list[Any]]
    ends: ColumnEnds


def survey(block: Any, features: Schema, labels: Schema) -> Survey:
    """Look over the rows of a block.

    Parameters
    ----------
    block : RowsToRead or BlockRows
    features, labels : Schema

    Raises
    ------
    InputError
        As :func:`observations`.
    """
    tables, observed = _encoded(block, features, labels)
    strange = tables.strangers(features, labels, observed)
    named = {column: values[:MOST_NAMED] for column, values in strange.items()}
    return Survey(named, ColumnEnds.of(observed.X))


def _encoded(block: Any, features: Schema, labels: Schema) -> tuple[UserTables, Observations]:
    try:
        tables = UserTables.read(*read_rows(block))
        return tables, tables.observations(features, labels)
    except InputError as error:
        if not isinstance(block, RowsToRead):
            raise
        msg = f"in rows {block.first} to {block.last - 1}, counted from the first of these: {error}"
        raise InputError(msg) from error


def cells_of(observed: Observations, informative: Informative, encoding: Encoding) -> Cells:
    """Give the cells of all rows of a block on the solvers' scale.

    Parameters
    ----------
    observed : Observations
        In the user's units.
    informative : Informative
        Which columns take part.
    encoding : Encoding
        Of these.
    """
    return Cells.of(encoding.apply(informative.narrow(observed)))


def averaged_cells(observed: Observations, informative: Informative, encoding: Encoding) -> Cells:
    """Give the cells of rows in which something is known, for an average."""
    narrow = informative.narrow(observed)
    some = rows_with_something(narrow)
    return Cells.of(encoding.apply(Observations(narrow.X[some], narrow.Y[some])))


def linear_cells(
    observed: Observations, informative: Informative, encoding: Encoding, *, features: bool
) -> Cells:
    """Give the cells of such rows with 0/1 columns as numbers, of the whole table or of labels alone."""
    table = numbers_of(informative.narrow(observed), features=features)
    some = table.X_known.any(axis=1)
    return Cells.of(encoding.apply(Observations(table.X[some], table.Y[some])))
