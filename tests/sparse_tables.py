"""Sparse tables that several tests share."""

from typing import Any

import numpy as np
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.problem.sparse_encoding import SparseCells, SparseEncoding
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.table.sparse_matrix import SparseMatrix

Pair = tuple[sparse.csr_array, sparse.csr_array]


def sparse_pair(n: int = 120, d: int = 14, n_labels: int = 9, *, seed: int = 0, unknown: bool = True) -> Pair:
    """Features and labels of low rank, most cells absent; some stored cells are NaN, some labels stored 0."""
    rng = np.random.default_rng(seed)
    M = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d + n_labels))
    M += 0.5 * rng.standard_normal(M.shape)
    X = sparse.csr_array(np.where(M[:, :d] > 1, M[:, :d], 0))
    Y = sparse.csr_array((M[:, d:] > 1.5).astype(float))
    if unknown:
        X.data[rng.random(X.nnz) < 0.05] = np.nan
        Y.data[rng.random(Y.nnz) < 0.05] = np.nan
    return X, Y


def stored_table(X: Any, Y: Any, rule: str) -> SparseTable:
    return SparseTable.checked(SparseMatrix.read(X, "X", rule), SparseMatrix.read(Y, "y", rule))


def encoded(table: SparseTable, *, center: bool = True) -> tuple[SparseEncoding, SparseCells]:
    encoding = SparseEncoding.of(table, center=center, scale=True)
    return encoding, encoding.apply(table)


def with_nan(table: sparse.csr_array) -> FloatArray:
    """The dense table whose absent cells are unknown."""
    out = np.full(table.shape, np.nan)
    row = np.repeat(np.arange(table.shape[0]), np.diff(table.indptr))
    out[row, table.indices] = table.data
    return out
