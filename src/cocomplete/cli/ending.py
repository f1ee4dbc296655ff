"""Signals that end a command: Ctrl-C and SIGTERM, each with its sentence and its exit code."""

import signal
from types import FrameType

INTERRUPTED, TERMINATED = 130, 143
"""Exit codes as shells have them: 128 and the number of the signal."""


class TerminatedError(BaseException):
    """SIGTERM has come; like KeyboardInterrupt, it passes what catches errors."""


ENDED = (KeyboardInterrupt, TerminatedError)


def listen() -> None:
    """Let SIGTERM unwind as Ctrl-C does, so that locks and unfinished files go."""

    def end(number: int, frame: FrameType | None) -> None:
        # A second one, while the first unwinds, would leave behind what the first is clearing away.
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        raise TerminatedError

    signal.signal(signal.SIGTERM, end)


def code_of(ended: BaseException) -> int:
    """Give the exit code of a command that was ended."""
    return TERMINATED if isinstance(ended, TerminatedError) else INTERRUPTED


def word_for(ended: BaseException) -> str:
    """Say what has ended a command."""
    return "terminated" if isinstance(ended, TerminatedError) else "interrupted"
