"""Row blocks in files: only those that are worked on are in memory.

What is kept of a block is pickled with its arrays beside it, each at a multiple of the memory page, and is
read by mapping the file: arrays then are views of the file's pages, which the operating system brings in and
drops as it likes.
"""

import mmap
import pickle
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any, NamedTuple, Self

from cocomplete.engines.engine import Recipe, Reference
from cocomplete.engines.row_blocks import InProcess

ALIGNMENT = 64
"""Arrays begin at a multiple of so many bytes, as vector instructions like it."""


class StoredBlock(NamedTuple):
    """Something that was made of a block, in a file.

    Attributes
    ----------
    path : Path
    head : int
        Bytes of its pickle; arrays follow.
    spans : tuple of tuple of int
        First byte of every array, and the one after its last.
    """

    path: Path
    head: int
    spans: tuple[tuple[int, int], ...]


class OnDisk:
    """Blocks in files of a folder that goes with the engine, visited in threads.

    Parameters
    ----------
    folder : path, optional
        In which there is room; where temporary files go, without.
    """

    def __init__(self, folder: str | Path | None = None) -> None:
        self._folder = TemporaryDirectory(prefix="cocomplete-", dir=folder)
        self._names = count()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._folder.cleanup()

    def derive(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Note how it is made; it is made for every visit."""
        return [Recipe(function, each, shared) for each in zip(*blocks, strict=True)]

    def map(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> list[Reference]:
        """Apply a function to every block and store the results."""
        return list(self._visit(lambda *each: self._stored(function(*each, **shared)), blocks))

    def collect(
        self, function: Callable[..., Any], *blocks: Sequence[Reference], **shared: Any
    ) -> Iterator[Any]:
        """Apply a function to every block, in threads; results come in order."""
        return self._visit(lambda *each: function(*each, **shared), blocks)

    def advance(
        self, function: Callable[..., tuple[Any, Any]], *blocks: Sequence[Reference], **shared: Any
    ) -> tuple[list[Reference], Iterator[Any]]:
        """Store the states in order, give the results."""
        states: list[Reference] = []

        def step(*each: Any) -> tuple[Reference, Any]:
            state, result = function(*each, **shared)
            return self._stored(state), result

        def results() -> Iterator[Any]:
            for state, result in self._visit(step, blocks):
                states.append(state)
                yield result

        return states, results()

    def release(self, blocks: Sequence[Reference]) -> None:
        """Remove the files."""
        for block in blocks:
            if isinstance(block, StoredBlock):
                block.path.unlink(missing_ok=True)

    @staticmethod
    def _visit(function: Callable[..., Any], blocks: Sequence[Sequence[Reference]]) -> Iterator[Any]:
        each = list(zip(*blocks, strict=True))
        return InProcess.visit(each, lambda one: function(*map(made, one)))

    def _stored(self, thing: Any) -> StoredBlock:
        """Write something to a file of its own."""
        arrays: list[pickle.PickleBuffer] = []
        head = pickle.dumps(thing, protocol=5, buffer_callback=arrays.append)
        path = Path(self._folder.name) / f"{next(self._names)}.block"
        spans, end = [], len(head)
        with path.open("wb") as file:
            file.write(head)
            for array in arrays:
                content = array.raw()
                first = -(-end // ALIGNMENT) * ALIGNMENT
                file.seek(first)
                file.write(content)
                end = first + content.nbytes
                spans.append((first, end))
        return StoredBlock(path, len(head), tuple(spans))


def made(block: Reference) -> Any:
    """Give what a reference stands for."""
    if isinstance(block, Recipe):
        return block.function(*map(made, block.arguments), **block.shared)
    if isinstance(block, StoredBlock):
        with block.path.open("rb") as file:
            pages = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        return pickle.loads(pages[: block.head], buffers=[pages[a:b] for a, b in block.spans])
    return block
