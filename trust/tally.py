"""What a part of the campaign was asked to do, and what came of it."""

import faulthandler
import re
import signal
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from time import monotonic
from types import FrameType
from typing import Any, NamedTuple

from cocomplete.exceptions import ClusterLostError, InputError

ANSWERED, REFUSED = "answered", "refused"

EXAMPLES = 3
"""Of every kind of failure that are shown."""


LONGEST = 20_000
"""Characters of a sentence: a path may have 4 096, and be named twice."""


class HangsError(BaseException):
    """A call that should take milliseconds has taken far longer; nothing catches it."""


class Outcome(NamedTuple):
    """What came of a call: ``answered``, ``refused``, or a kind of failure; and what was said."""

    kind: str
    detail: str = ""


@dataclass(frozen=True)
class Budget:
    """How long a part may take and how much it is to try, whichever ends first.

    Parameters
    ----------
    seed : int
        What is tried follows from it.
    seconds : float
    tries : int
    """

    seed: int
    seconds: float
    tries: int

    def numbers(self) -> Iterator[int]:
        """Give the numbers of what is to be tried, until the time or the number is up."""
        end = monotonic() + self.seconds
        for number in count():
            if number >= self.tries or monotonic() >= end:
                return
            yield number


@dataclass
class Tally:
    """How often things came out in which way.

    Parameters
    ----------
    part : str
    """

    part: str
    counts: Counter[str] = field(default_factory=Counter)
    examples: dict[str, list[str]] = field(default_factory=dict)
    skipped: str = ""

    def add(self, outcome: Outcome | str, example: str = "") -> None:
        """Count something; whatever is neither answered nor refused is a failure."""
        kind, detail = (outcome, "") if isinstance(outcome, str) else outcome
        self.counts[kind] += 1
        if kind not in (ANSWERED, REFUSED):
            self.examples.setdefault(kind, []).append(f"{detail}  {example}".strip())

    @property
    def failed(self) -> int:
        """How many failures there were."""
        return sum(self.counts.values()) - self.counts[ANSWERED] - self.counts[REFUSED]

    def lines(self) -> Iterator[str]:
        """Give every kind of failure with examples, and the closing line."""
        for kind, examples in self.examples.items():
            yield f"{self.part}: {self.counts[kind]} x {kind}"
            yield from (f"    {example}" for example in examples[:EXAMPLES])
        if self.skipped:
            yield f"{self.part}: skipped, {self.skipped}"
            return
        yield (
            f"{self.part}: {sum(self.counts.values())} tries, {self.counts[ANSWERED]} answered, "
            f"{self.counts[REFUSED]} refused in one sentence, {self.failed} FAILED"
        )


@contextmanager
def at_most(seconds: float) -> Iterator[None]:
    """End what hangs: in Python with :class:`HangsError`, in compiled code with the whole process."""

    def ring(number: int, frame: FrameType | None) -> None:
        raise HangsError

    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)
    faulthandler.dump_traceback_later(10 * seconds, exit=True)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        faulthandler.cancel_dump_traceback_later()
        signal.signal(signal.SIGALRM, before)


def outcome_of(
    call: Callable[[], Any],
    words: Iterable[str],
    *,
    wrong: Callable[[Any], str] = lambda answer: "",
    seconds: float = 20.0,
) -> Outcome:
    """Make a call: ``answered``, ``refused``, or what went wrong.

    Parameters
    ----------
    call : callable
    words : iterable of str
        Names of arguments, one of which a refusal that is no InputError has to name.
    wrong : callable
        From an answer to what is wrong with it; nothing if it is good.
    seconds : float
        After which it hangs.
    """
    try:
        with at_most(seconds), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            warnings.simplefilter("error", RuntimeWarning)
            found = wrong(call())
    except InputError as error:
        if _one_line(error):
            return Outcome(REFUSED)
        return Outcome(f"no single sentence: {_place(error)}", _reason(error))
    except (ValueError, TypeError, ImportError, ClusterLostError) as error:
        named = any(re.search(rf"\b{re.escape(word)}\b", str(error)) for word in words)
        if named and _one_line(error):
            return Outcome(REFUSED)
        return Outcome(f"names no argument: {_place(error)}", _reason(error))
    except (KeyboardInterrupt, SystemExit):
        raise
    except BaseException as error:
        return Outcome(_place(error), _reason(error))
    return Outcome(found or ANSWERED)


def _one_line(error: BaseException) -> bool:
    text = str(error)
    # scikit-learn's contract asks for its own words, a list of names below them.
    return 0 < len(text) < LONGEST and (
        len(text.splitlines()) == 1 or text.startswith("The feature names should")
    )


def _place(error: BaseException) -> str:
    """Say what was raised, and by which line of the library."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "/cocomplete/" in frame.filename]
    at = f"{own[-1].filename.split('/cocomplete/')[-1]}:{own[-1].lineno}" if own else "the campaign itself"
    return f"{type(error).__name__} at {at}"


def _reason(error: BaseException) -> str:
    """Give the first words of what was raised; a name that is no text can be printed too."""
    return ascii((str(error).splitlines() or [""])[0][:160])
