"""Symmetric matrices as their lower triangles, row after row: second moments of factors are kept so."""

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray


def pack(matrices: FloatArray) -> FloatArray:
    """Lower triangles, row after row, of a stack of symmetric matrices."""
    k = matrices.shape[-1]
    flat = matrices.reshape(*matrices.shape[:-2], k * k)
    return np.take(flat, _triangle(k)[0], axis=-1)


def unpack(packed: FloatArray, k: int) -> FloatArray:
    """Give the whole k × k matrices back."""
    return np.take(packed, _triangle(k)[1], axis=-1).reshape(*packed.shape[:-1], k, k)


def diagonals(packed: FloatArray, k: int) -> FloatArray:
    """Give the diagonals of packed k × k matrices."""
    return packed[..., np.arange(1, k + 1).cumsum() - 1]


@lru_cache(maxsize=64)
def weights(k: int) -> FloatArray:
    """How often each entry of a packed k × k matrix stands in the whole one."""
    found = np.bincount(_triangle(k)[1]).astype(np.float64)
    # Everybody gets the same array.
    found.flags.writeable = False
    return found


@lru_cache(maxsize=64)
def _triangle(k: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Where packed entries are in a whole k × k matrix, and where whole ones are among the packed."""
    row, column = np.tril_indices(k)
    whole = np.empty((k, k), np.intp)
    whole[row, column] = whole[column, row] = np.arange(row.size)
    return row * k + column, whole.ravel()
