"""The observed cells of a table in row blocks, wherever these are."""

from dataclasses import dataclass

from cocomplete.engines.engine import Engine, Reference, Threads
from cocomplete.engines.row_blocks import InProcess
from cocomplete.problem.cells import Cells


@dataclass(frozen=True, eq=False)
class CellBlocks:
    """References to the cells of consecutive rows.

    Attributes
    ----------
    engine : Engine
        Where they are.
    blocks : list
        One reference to :class:`Cells` for each block.
    shape : tuple of int
        Of the whole table.
    n_features : int
    size : int
        Number of observed cells.
    """

    engine: Engine
    blocks: list[Reference]
    shape: tuple[int, int]
    n_features: int
    size: int

    @classmethod
    def of(cls, cells: Cells, width: int) -> "CellBlocks":
        """Cut cells in memory into blocks.

        Parameters
        ----------
        cells : Cells
        width : int
            Numbers per row that a pass works with.
        """
        blocks = InProcess.blocks(cells, width, lambda some: some)
        size = cells.x_value.size + cells.y_value.size
        return cls(Threads(), blocks, cells.shape, cells.n_features, size)

    @classmethod
    def at(cls, engine: Engine, blocks: list[Reference]) -> "CellBlocks":
        """Take blocks of cells where they are."""
        found = list(engine.collect(_sizes, blocks))
        (_, m), n_features, _ = found[0]
        n, size = sum(shape[0] for shape, _, _ in found), sum(each for _, _, each in found)
        return cls(engine, blocks, (n, m), n_features, size)


def _sizes(cells: Cells) -> tuple[tuple[int, int], int, int]:
    return cells.shape, cells.n_features, int(cells.x_value.size + cells.y_value.size)
