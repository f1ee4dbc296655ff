"""Says when kernels are compiled: once after an installation, later ones are found on disk."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from numba.core import event


class _FirstCompilation(event.Listener):
    """Calls a function when the first kernel is compiled, and never again."""

    def __init__(self, announce: Callable[[], None]) -> None:
        self.announce: Callable[[], None] | None = announce

    def on_start(self, event: event.Event) -> None:
        """Hear that a kernel is about to be compiled."""
        announce, self.announce = self.announce, None
        if announce is not None:
            announce()

    def on_end(self, event: event.Event) -> None:
        """Hear that it has been; nothing is to be done."""


@contextmanager
def compiling_announced(announce: Callable[[], None]) -> Iterator[None]:
    """Call a function at most once, where something inside the block has to be compiled.

    Parameters
    ----------
    announce : callable
    """
    with event.install_listener("numba:compile", _FirstCompilation(announce)):
        yield
