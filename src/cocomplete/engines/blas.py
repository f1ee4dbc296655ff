"""BLAS kept to one thread beside small products, which several threads only slow down.

On two cores that others use too, a fit of 400 x 60 cells took 0.6 s with two threads and 0.2 s with one, by
the primal-dual solver 4 s and 0.1 s.
"""

from contextlib import AbstractContextManager, nullcontext
from functools import lru_cache
from typing import Any

from threadpoolctl import ThreadpoolController

FEW = 1_000_000
"""Cells up to which one thread is enough."""


def one_thread_if_small(shape: tuple[int, int]) -> AbstractContextManager[Any]:
    """Give a context in which BLAS has one thread, if matrices of this shape are small."""
    return nullcontext() if shape[0] * shape[1] > FEW else one_thread()


def one_thread() -> AbstractContextManager[Any]:
    """Give a context in which BLAS has one thread."""
    context: AbstractContextManager[Any] = _libraries().limit(limits=1, user_api="blas")
    return context


@lru_cache(maxsize=1)
def _libraries() -> Any:
    """Find the libraries that are loaded, once: it takes milliseconds, and those of NumPy and SciPy stay."""
    return ThreadpoolController()
