"""The objective F on a sparse table, λ2 = 0: what solvers need to know of it beside the cells."""

from dataclasses import dataclass

import numpy as np
from scipy.special import logit

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.objective import Objective, Regime
from cocomplete.problem.observations import Observations
from cocomplete.problem.sparse_encoding import SparseCells


@dataclass(frozen=True, eq=False)
class SparseObjective(Objective):
    """F on cells that no dense table holds; ``observed`` has the columns and no row.

    Attributes
    ----------
    sparse_cells : SparseCells or None
        On the solvers' scale.
    """

    sparse_cells: SparseCells | None = None

    @classmethod
    def on(
        cls,
        table: SparseCells,
        rank_penalty: float,
        feature_weight: float,
        offsets: FloatArray,
        *,
        free: bool,
    ) -> "SparseObjective":
        """Set F up on a table."""
        dtype, (_, m), d = table.explicit.x_value.dtype, table.shape, table.n_features
        nothing = Observations(np.empty((0, d), dtype), np.empty((0, m - d), dtype))
        return cls(nothing, rank_penalty, 0.0, feature_weight, offsets.astype(dtype), free, table)

    @property
    def stored(self) -> SparseCells:
        """The table."""
        assert self.sparse_cells is not None
        return self.sparse_cells

    @property
    def regime(self) -> Regime:
        """λ2 is 0."""
        return "smooth"

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of M."""
        return self.stored.shape

    @property
    def cells(self) -> Cells:
        """The observed cells of tables whose absent cells are unknown."""
        return self.stored.explicit

    @property
    def offsets_alone(self) -> FloatArray:
        """Best offsets where M = 0, for cells that are listed one by one; of the others, the start's."""
        if not self.free_offsets:
            return self.offsets
        cells, best = self.cells, self.offsets.copy()
        for column, value, labels in (
            (cells.x_column, cells.x_value, False),
            (cells.y_column, cells.y_value, True),
        ):
            count = np.bincount(column, minlength=self.shape[1])
            seen = count > 0
            mean = np.bincount(column, value, self.shape[1])[seen] / count[seen]
            best[seen] = logit(mean) if labels else mean
        return best
