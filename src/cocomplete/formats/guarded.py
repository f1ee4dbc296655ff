"""Other people's readers, whose every failure becomes one sentence."""

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from cocomplete.exceptions import InputError

MAX_BYTES = 8 * 2**30
"""Bytes that the parts of a compressed file may say they unpack to."""

MAX_CELLS = 500_000_000
"""Cells that a sparse file may say it has: as floats, 4 GB."""

MAX_COLUMNS = 100_000
"""Columns that a sparse file may say it has."""


@contextmanager
def one_sentence(beginning: str, advice: str = "is the file whole?") -> Iterator[None]:
    """Turn whatever a foreign reader raises into an ``InputError``.

    Only calls of foreign readers belong inside: what our own code raises there would pass for a damaged file.

    Parameters
    ----------
    beginning : str
        Of the sentence: the file and what cannot be done with it.
    advice : str
        Its end; the reader's own words stand between.
    """
    try:
        yield
    except (InputError, KeyboardInterrupt, SystemExit, GeneratorExit):
        raise
    except MemoryError as error:
        msg = f"{beginning}: it says it holds more than fits into memory; {advice}"
        raise InputError(msg) from error
    except BaseException as error:  # a panic of polars is no Exception
        msg = f"{beginning}: {_reason(error)}; {advice}"
        raise InputError(msg) from error


@contextmanager
def quiet_panics() -> Iterator[None]:
    """Keep polars' panics, which become one sentence, from printing pages of their own.

    Rust writes them to the process's standard error, so for the moment of one call nothing else gets there.
    """
    try:
        saved = os.dup(2)
    except OSError:
        # There is no standard error to keep clean.
        yield
        return
    try:
        with Path(os.devnull).open("wb") as sink:
            if sys.stderr is not None:
                sys.stderr.flush()
            os.dup2(sink.fileno(), 2)
        yield
    finally:
        os.dup2(saved, 2)
        os.close(saved)


def _reason(error: BaseException) -> str:
    """Give the first line of what a foreign exception says, if it can say anything."""
    try:
        lines = str(error).strip().splitlines()
    except Exception:  # liac-arff's fail while they put their own message together
        lines = []
    return lines[0].rstrip(".;: ") if lines else type(error).__name__
