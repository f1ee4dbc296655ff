"""Row blocks on the workers of a Dask cluster.

Only functions, small arguments and small results travel. Every result is a task of its inputs, so that what a
lost worker held is made again by the others, from the table's own partitions if need be, to the same bits. No
task asks for a worker.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import count
from operator import itemgetter
from time import monotonic
from typing import Any, NamedTuple
from uuid import uuid4

from distributed import Client, Future

from cocomplete.engines.blas import one_thread
from cocomplete.engines.engine import Recipe, Reference
from cocomplete.exceptions import ClusterLostError

PATIENCE = 20.0
"""Seconds without the scheduler after which it is given up."""

LOOK_EVERY = 2.0
"""Seconds between looks at whether it is still there."""


TOGETHER = 8
"""Results that travel together: a request of the scheduler takes longer than most results."""


class _State(NamedTuple):
    """First of the two things that a task on the cluster gave."""

    both: Future


class _Leaf(NamedTuple):
    """Place of a task's result among the arguments."""

    place: int


class OnDask:
    """Blocks as futures of a client.

    Parameters
    ----------
    client : Client
    """

    def __init__(self, client: Client) -> None:
        self.client = client
        # Two fits with the same functions are different tasks: one may be released while the other goes on.
        self._names = (f"cocomplete-{uuid4().hex}-{number}" for number in count())

    def derive(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Note how it is made; it is made for every visit."""
        sent = self._sent(shared)
        return [Recipe(function, each, sent) for each in zip(*blocks, strict=True)]

    def map(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Apply a function to every block; the results stay on the workers."""
        sent = self._sent(shared)
        leaves: list[list[Future]] = []
        plans = []
        for each in zip(*blocks, strict=True):
            own: list[Future] = []
            plans.append(_planned(Recipe(function, each, sent), own))
            leaves.append(own)
        # All at once: one by one takes the scheduler twice as long.
        return self._submitted(_run, plans, *map(list, zip(*leaves, strict=True)))

    def collect(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> Iterator[Any]:
        """Apply a function to every block; results come in order."""
        return self._results(self.map(function, *blocks, **shared))

    def advance(
        self, function: Callable[..., tuple[Any, Any]], *blocks: Sequence[Reference], **shared: Any
    ) -> tuple[list[Reference], Iterator[Any]]:
        """Let the states stay on the workers, give the results."""
        both = self.map(function, *blocks, **shared)
        results = self._submitted(itemgetter(1), both)
        return [_State(each) for each in both], self._results(results)

    def release(self, blocks: Sequence[Reference]) -> None:
        """Let the workers forget."""
        for block in blocks:
            if isinstance(block, Future):
                block.release()
            elif isinstance(block, _State):
                block.both.release()

    def _sent(self, shared: dict[str, Any]) -> Any:
        """Send small arguments once for all blocks, as a task: unlike scattered data, it can be run again."""
        return self.client.submit(_itself, shared, key=next(self._names)) if shared else {}

    def _submitted(self, function: Callable[..., Any], *arguments: list[Any]) -> list[Future]:
        """Submit a task for each of some arguments."""
        if not arguments[0]:
            return []
        names = [next(self._names) for _ in arguments[0]]
        futures: list[Future] = self.client.map(function, *arguments, key=names)
        return futures

    def _results(self, futures: list[Future]) -> Iterator[Any]:
        """Wait for results in order; each is forgotten once it has come."""
        waiting = [
            self.client.submit(_together, *futures[first : first + TOGETHER], key=next(self._names))
            for first in range(0, len(futures), TOGETHER)
        ]
        futures.clear()
        waiting.reverse()
        while waiting:
            yield from self.result(waiting.pop())

    def result(self, future: Future) -> Any:
        """Wait for one result, as long as there is a scheduler to wait for.

        Raises
        ------
        ClusterLostError
        """
        last_seen = monotonic()
        while True:
            try:
                return future.result(timeout=LOOK_EVERY)
            except TimeoutError:
                if self.client.status == "running":
                    last_seen = monotonic()
            except Exception as error:
                # What a block raises is the caller's affair; what no scheduler is left to run, is not.
                if self.client.status != "running" or future.cancelled():
                    raise _lost(error) from error
                raise
            if monotonic() - last_seen > PATIENCE or self.client.status == "closed":
                raise _lost(None)


def _lost(error: BaseException | None) -> ClusterLostError:
    reason = "" if error is None else f" ({type(error).__name__})"
    return ClusterLostError(
        f"the connection to the Dask scheduler was lost{reason}, and with it the fit; start a cluster and "
        "fit again: with checkpoint=FOLDER it goes on from the last checkpoint"
    )


def _planned(thing: Any, leaves: list[Future]) -> Any:
    """Replace what is on the cluster by places among the arguments."""
    if isinstance(thing, Future):
        leaves.append(thing)
        return _Leaf(len(leaves) - 1)
    if isinstance(thing, _State):
        return Recipe(itemgetter(0), (_planned(thing.both, leaves),), {})
    if isinstance(thing, Recipe):
        arguments = tuple(_planned(each, leaves) for each in thing.arguments)
        return Recipe(thing.function, arguments, _planned(thing.shared, leaves))
    return thing


def _run(plan: Recipe, *leaves: Any) -> Any:
    """Carry a plan out on a worker, whose threads are for blocks and not for BLAS."""
    with one_thread():
        return _carried_out(plan, leaves)


def _carried_out(thing: Any, leaves: tuple[Any, ...]) -> Any:
    if isinstance(thing, _Leaf):
        return leaves[thing.place]
    if isinstance(thing, Recipe):
        arguments = [_carried_out(each, leaves) for each in thing.arguments]
        return thing.function(*arguments, **_carried_out(thing.shared, leaves))
    return thing


def _together(*results: Any) -> tuple[Any, ...]:
    return results


def _itself(thing: Any) -> Any:
    return thing
