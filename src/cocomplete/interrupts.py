"""Ctrl-C: raised at once, as everywhere in Python, or a request to stop that loops poll."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from types import FrameType

ON_INTERRUPT = ("raise", "keep")


@dataclass
class _StopRequest:
    pending: bool = False
    presses: int = 0


_request: ContextVar[_StopRequest | None] = ContextVar("stop_request", default=None)


@contextmanager
def interrupts(on_interrupt: str) -> Iterator[None]:
    """Handle Ctrl-C inside the block as asked.

    Parameters
    ----------
    on_interrupt : {"raise", "keep"}
        "raise" changes nothing: KeyboardInterrupt is raised wherever the program is. "keep" makes the first
        Ctrl-C a request, which :func:`stop_requested` gives to the loops; the second has its usual effect.
        Only the main thread receives signals, so that in any other "keep" changes nothing either.
    """
    previous = signal.getsignal(signal.SIGINT)
    in_main_thread = threading.current_thread() is threading.main_thread()
    # None: a handler that Python did not install and could not restore. SIG_IGN: Ctrl-C is switched off.
    if on_interrupt == "raise" or not in_main_thread or previous in (None, signal.SIG_IGN):
        yield
        return
    request = _StopRequest()

    def handle(number: int, frame: FrameType | None) -> None:
        request.presses += 1
        if request.presses == 1:
            request.pending = True
        elif callable(previous):
            previous(number, frame)
        else:
            raise KeyboardInterrupt

    token = _request.set(request)
    signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        _request.reset(token)


def stop_requested() -> bool:
    """Whether Ctrl-C asks a loop to end with the best it has; always False unless it is to be kept."""
    request = _request.get()
    return request is not None and request.pending


def acknowledge_stop() -> None:
    """Note that a phase has ended as requested, so that what is still needed for a model is done in full."""
    request = _request.get()
    if request is not None:
        request.pending = False
