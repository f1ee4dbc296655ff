"""Cells that are held out of some rows of a sparse table, to choose penalties by."""

from dataclasses import dataclass

import numpy as np
from scipy import sparse

from cocomplete.problem.sparse_table import SparseTable
from cocomplete.table.sparse_matrix import SparseMatrix

ROWS, CELLS = (1_500, 6_000), 40_000_000
"""Rows of which something is held out, at least and at most, and cells that decide between the two."""


@dataclass(frozen=True, eq=False)
class SparseHeldOut:
    """A table to fit, and cells to predict.

    Attributes
    ----------
    visible : SparseTable
    rows : SparseTable
        Rows whose labels, or features, are predicted from what is visible in them.
    truth : SparseMatrix
        What is held out of them.
    labels : bool
        Whether that is labels; otherwise features.
    """

    visible: SparseTable
    rows: SparseTable
    truth: SparseMatrix
    labels: bool


def hold_out(table: SparseTable, seed: int) -> SparseHeldOut:
    """Hold out labels of a fifth of some rows or, if there are none, a tenth of the features' cells."""
    rng = np.random.default_rng(seed)
    count = int(np.clip(CELLS // (table.n_features + table.n_labels), *ROWS))
    rows = np.sort(rng.permutation(table.n_samples)[:count])
    some = table.take(rows)
    if table.n_labels and len(rows) >= 5:
        judged = np.zeros(len(rows), bool)
        judged[rng.permutation(len(rows))[: len(rows) // 5]] = True
        hidden = some.take(np.flatnonzero(judged))
        if hidden.Y.known_counts().any():
            return SparseHeldOut(
                some.take(np.flatnonzero(~judged)), hidden.with_features_alone(), hidden.Y, labels=True
            )
    visible, truth = _without_cells(some.X, rng)
    visible_table = SparseTable(visible, some.Y)
    return SparseHeldOut(visible_table, visible_table, truth, labels=False)


def _without_cells(X: SparseMatrix, rng: np.random.Generator) -> tuple[SparseMatrix, SparseMatrix]:
    """Hide a tenth of the known cells; give what is left, and what was hidden, cells listed one by one."""
    n, m = X.shape
    if not X.zeros:
        gone = rng.random(X.matrix.nnz) < 0.1
        values = np.where(gone, np.nan, X.matrix.data)
        left = sparse.csr_array((values, X.matrix.indices, X.matrix.indptr), shape=X.shape)
        values = np.where(gone, X.matrix.data, np.nan)
        hidden = sparse.csr_array((values, X.matrix.indices, X.matrix.indptr), shape=X.shape)
        return SparseMatrix.read(left, "X", "unknown"), SparseMatrix.read(hidden, "X", "unknown")
    # As many of all cells as a tenth of them, or of those that are stored ten times over.
    count = min(n * m // 10 + 1, max(10 * X.matrix.nnz, 1))
    place = np.unique(rng.integers(0, n * m, count))
    mask = sparse.csr_array((np.ones(place.size), (place // m, place % m)), shape=X.shape)
    value = X.matrix[mask.nonzero()]
    value = np.asarray(value.todense()).ravel() if sparse.issparse(value) else np.asarray(value).ravel()
    row, column = mask.nonzero()
    known = ~np.isnan(value)
    truth = SparseMatrix(
        sparse.csr_array((value[known].astype(X.matrix.dtype), (row[known], column[known])), shape=X.shape),
        zeros=False,
    )
    left = X.matrix.tocoo()
    both = sparse.coo_array(
        (
            np.concatenate((left.data, np.full(row.size, np.nan, X.matrix.dtype))),
            (np.concatenate((left.row, row)), np.concatenate((left.col, column))),
        ),
        shape=X.shape,
    )
    # Sums with NaN are NaN: what is listed twice is hidden.
    return SparseMatrix.read(both, "X", "zero"), truth
