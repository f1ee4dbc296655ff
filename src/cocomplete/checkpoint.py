"""What a fit has reached, in files of a folder, from which it goes on after it was ended from outside.

A fit has *stages*, each a file of its own: a head and, where the state is as long as the table, parts that
are written and read one after the other. Files appear whole or not at all and end with a digest of what is in
them, so that one that was damaged since is recognised before anything in it is used.

Files are pickles: whoever can write to the folder can run code in the process that reads it.
"""

import hashlib
import os
import pickle
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryFile
from time import monotonic
from typing import Any, BinaryIO, NamedTuple

from cocomplete.atomic import appearing
from cocomplete.exceptions import InputError

SHARE = 0.05
"""Of a fit's time that may go into writing its state: what is written quickly is written after every sweep,
what takes longer after every few."""

DIGEST_SIZE, CHUNK = 16, 2**20

ENDING = ".state"


class Reached(NamedTuple):
    """What a stage has stored: its head, and its parts, which are read when they are asked for."""

    head: Any
    parts: Iterator[Any]


class Checkpoint:
    """The states of one fit.

    Parameters
    ----------
    folder : Path
        Made if it does not exist; it may hold those of other fits.
    fit : bytes
        A digest of all that the fit's answer depends on. States under another one are never read.
    say : callable
        Called with a line for the log.

    Raises
    ------
    InputError
        If nothing can be written there.
    """

    def __init__(self, folder: Path, fit: bytes, say: Callable[[str], None]) -> None:
        self.folder, self.say = folder / fit.hex(), say
        try:
            folder.mkdir(parents=True, exist_ok=True)
            others = any(each.is_dir() and each != self.folder for each in folder.iterdir())
            known = self.folder.exists()
            self.folder.mkdir(exist_ok=True)
            with TemporaryFile(dir=self.folder):
                pass
        except OSError as error:
            msg = f"checkpoint={str(folder)!r} cannot be written: {error.strerror}; give a folder that can be"
            raise InputError(msg) from error
        if others and not known:
            say(f"checkpoint: {folder} holds states of another table or of other parameters; not used")

    def stage(self, name: str) -> "Stage":
        """Give a stage by its name, which is the same whenever the same fit comes there."""
        return Stage(self.folder / f"{name}{ENDING}", self.say)

    def clear(self) -> None:
        """Remove the states of this fit; what the folder holds of others stays."""
        # Files that a process was writing when it was killed are among them.
        for file in self.folder.glob("*"):
            file.unlink(missing_ok=True)
        # Another process that is at the same fit may have written meanwhile.
        with suppress(OSError):
            self.folder.rmdir()


class Stage:
    """A part of a fit whose state is stored while it runs, or once it has ended.

    Parameters
    ----------
    file : Path
    say : callable
        Called with a line for the log.
    """

    def __init__(self, file: Path, say: Callable[[str], None]) -> None:
        self.file, self.say = file, say
        self._not_before = -float("inf")

    def load(self) -> Reached | None:
        """Give what was stored last; None if there is nothing, or nothing that can be used."""
        try:
            with self.file.open("rb") as file:
                end = _checked_end(file)
                head, first = pickle.load(file), file.tell()
        except FileNotFoundError:
            return None
        except Exception as error:  # a pickle of other code fails in any way it likes
            self.say(f"checkpoint: {self.file} cannot be used: {error}; this stage begins anew")
            return None
        self.say(f"checkpoint: going on from {self.file}")
        return Reached(head, self._parts(first, end))

    def store(self, head: Any, parts: Iterable[Any] = (), *, ended: bool = False) -> None:
        """Write a state in place of the last one; not so soon after it that writing would take long.

        Parameters
        ----------
        head : object
        parts : iterable
            As many as there are blocks; made, and written, one at a time.
        ended : bool, default=False
            Whether the stage has ended: that is written in any case.
        """
        started = monotonic()
        if started < self._not_before and not ended:
            return
        try:
            self.file.parent.mkdir(exist_ok=True)
            with appearing(self.file, durable=True) as file:
                writer = _Digesting(file)
                for thing in chain([head], parts):
                    pickle.dump(thing, writer, protocol=5)
                file.write(writer.digest.digest())
        except OSError as error:
            # A disk that is full need not end a fit of hours.
            self.say(f"checkpoint: {self.file} cannot be written: {error.strerror}; the fit goes on")
        now = monotonic()
        self._not_before = now + (now - started) / SHARE

    def _parts(self, first: int, end: int) -> Iterator[Any]:
        with self.file.open("rb") as file:
            file.seek(first)
            while file.tell() < end:
                yield pickle.load(file)


class _Digesting:
    """A file that a digest is made of while it is written."""

    def __init__(self, file: BinaryIO) -> None:
        self.file, self.digest = file, hashlib.blake2b(digest_size=DIGEST_SIZE)

    def write(self, content: Any) -> int:
        """Write, and take note of it."""
        self.digest.update(content)
        return self.file.write(content)


def _checked_end(file: BinaryIO) -> int:
    """Give where the states of a file end and their digest begins.

    Raises
    ------
    ValueError
        If it is not the digest of what stands there.
    """
    end = file.seek(0, os.SEEK_END) - DIGEST_SIZE
    file.seek(0)
    digest, left = hashlib.blake2b(digest_size=DIGEST_SIZE), end
    while left > 0:
        content = file.read(min(left, CHUNK))
        digest.update(content)
        left -= len(content)
    if end <= 0 or file.read() != digest.digest():
        msg = "it is damaged"
        raise ValueError(msg)
    file.seek(0)
    return end
