"""Cells of many row blocks brought together, of which hardly any is ever held twice."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray
from cocomplete.engines.engine import Engine, Reference
from cocomplete.engines.row_blocks import InProcess
from cocomplete.problem.cells import Cells

ARRAYS = ("x_column", "x_value", "y_column", "y_value")


def gather(engine: Engine, blocks: Sequence[Reference]) -> Cells:
    """Give all rows' cells in the memory of this process.

    Parameters
    ----------
    engine : Engine
    blocks : sequence of references to Cells
        Of consecutive rows.
    """
    parts = list(engine.collect(_itself, blocks))
    first = parts[0]
    rows = [part.shape[0] for part in parts]
    starts = {
        name: np.concatenate(
            ([0], np.cumsum(np.concatenate([np.diff(getattr(part, name)) for part in parts])))
        )
        for name in ("x_start", "y_start")
    }
    pieces: dict[str, list[Any]] = {name: [getattr(part, name) for part in parts] for name in ARRAYS}
    del parts
    # Each kind of array is dropped in pieces as soon as it is whole.
    whole = {name: _joined(pieces.pop(name)) for name in ARRAYS}
    return Cells(**starts, **whole, shape=(sum(rows), first.shape[1]), n_features=first.n_features)


def one_sided_labels(cells: Cells) -> BoolArray:
    """Find the 0/1 columns of which some cells are observed, but zeros alone or ones alone."""
    d, m = cells.n_features, cells.shape[1]
    count = np.bincount(cells.y_column, minlength=m)[d:]
    ones = np.bincount(cells.y_column, cells.y_value, m)[d:]
    return np.asarray((count > 0) & ((ones == 0) | (ones == count)))


def without_labels(cells: Cells, labels: BoolArray) -> Cells:
    """Leave the cells of some 0/1 columns out."""
    if not labels.any():
        return cells
    kept = ~labels[cells.y_column - cells.n_features]
    before = np.concatenate(([0], np.cumsum(kept)))
    return Cells(
        cells.x_start,
        cells.x_column,
        cells.x_value,
        before[cells.y_start].astype(np.int64),
        cells.y_column[kept],
        cells.y_value[kept],
        cells.shape,
        cells.n_features,
    )


def _joined(pieces: list[NDArray[Any]]) -> NDArray[Any]:
    """Put arrays one after the other, in threads: new memory takes as long to touch as to copy."""
    ends = np.cumsum([piece.size for piece in pieces])
    whole = np.empty(int(ends[-1]), pieces[0].dtype)

    def copy(place: int) -> None:
        whole[ends[place] - pieces[place].size : ends[place]] = pieces[place]

    InProcess.each(range(len(pieces)), copy)
    return whole


def _itself(cells: Cells) -> Cells:
    return cells
