"""Kernels whose outer loop runs over threads, and on one thread in forked processes.

GNU's OpenMP, which Numba runs on where nothing else is installed, does not live on in a process that is
forked from one that has used it: the first kernel there would end the process, and whoever waits for it would
wait for ever.
"""

import os
from collections.abc import Callable
from functools import wraps
from types import FunctionType
from typing import Any

from numba import njit
from numba.np.ufunc.parallel import threading_layer

# Threads that spin while they wait would starve BLAS, which runs between our passes on the same cores.
os.environ.setdefault("OMP_WAIT_POLICY", "passive")

_pool_is_lost = False


def _look_for_the_pool() -> None:
    """Find out, right after a fork, whether the parent had started its threads, which stay behind."""
    global _pool_is_lost  # noqa: PLW0603  (it is the process's state that is meant)
    try:
        threading_layer()
    except ValueError:
        # None was started, so that this process can start its own.
        return
    _pool_is_lost = True


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_look_for_the_pool)


def over_threads(**options: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Compile a kernel for threads, and for one where they are lost; either when it is first called.

    Parameters
    ----------
    **options
        Those of :func:`numba.njit`.
    """

    def compile_both(function: Any) -> Callable[..., Any]:
        threaded = njit(parallel=True, cache=True, **options)(function)
        # Of another name, because Numba's files on disk know kernels by name and not by options.
        twin = FunctionType(function.__code__, function.__globals__, f"{function.__name__}_on_one_thread")
        twin.__qualname__, twin.__module__ = twin.__name__, function.__module__
        alone = njit(cache=True, **options)(twin)

        @wraps(function)
        def call(*args: Any) -> Any:
            return alone(*args) if _pool_is_lost else threaded(*args)

        return call

    return compile_both
