"""Hostile calls of every public entry point: an answer, or one sentence that names the argument."""

import logging
import os
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from trust.entry_points import Entry, drawn
from trust.estimator_calls import entries as of_the_estimator
from trust.other_calls import entries as of_the_rest
from trust.tally import Budget, Outcome, Tally, outcome_of

MEMORY = 8 * 2**30
"""Bytes of addresses: what asks for more is refused by the system instead of taking it from others."""


def run(budget: Budget) -> Tally:
    """Make as many calls as the budget allows; a call is its number and the seed."""
    tally = Tally("hostile calls")
    logging.disable(logging.CRITICAL)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    entries = [*of_the_estimator(), *of_the_rest()]
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, Path(os.devnull).open() as nothing:
        inner = Path(folder, "a", "b", "c")
        inner.mkdir(parents=True)
        os.chdir(inner)
        kept, sys.stdin = sys.stdin, nothing
        try:
            for number in budget.numbers():
                entry, arguments = call_of(entries, budget.seed, number)
                tally.add(*made(entry, arguments, number))
        finally:
            os.chdir(before)
            sys.stdin = kept
    return tally


def call_of(entries: list[Entry], seed: int, number: int) -> tuple[Entry, dict[str, Any]]:
    """Give the entry point and the arguments of a call."""
    rng = np.random.default_rng((seed, number))
    entry = entries[rng.integers(len(entries))]
    with np.errstate(all="ignore"):
        return entry, drawn(entry, rng)


def made(entry: Entry, arguments: dict[str, Any], number: int) -> tuple[Outcome, str]:
    """Make a call, and give what came of it and how it was made."""
    before = {name: _bytes(value) for name, value in arguments.items()}

    def wrong(answer: Any) -> str:
        if entry.finite and not _is_finite(answer):
            return f"{entry.name} gives an answer that is not finite"
        changed = [name for name, value in arguments.items() if _bytes(value) != before[name]]
        return f"{entry.name} has written to {changed[0]}" if changed else ""

    words = (*arguments, *entry.words, entry.name.rpartition(".")[2])
    outcome = outcome_of(lambda: entry.call(**arguments), words, wrong=wrong)
    return outcome, f"call {number}, {entry.name}: {_shown(arguments)}"


def _bytes(value: Any) -> bytes:
    plain = isinstance(value, np.ndarray) and value.dtype != object and not np.ma.isMaskedArray(value)
    return value.tobytes() if plain else b""


def _is_finite(answer: Any) -> bool:
    if isinstance(answer, tuple | list):
        return all(map(_is_finite, answer))
    if isinstance(answer, float | np.floating):
        return bool(np.isfinite(answer))
    if isinstance(answer, np.ndarray) and answer.dtype.kind == "f":
        return bool(np.isfinite(answer).all())
    return True


def _shown(arguments: dict[str, Any]) -> str:
    parts = []
    for name, value in arguments.items():
        try:
            text = " ".join(repr(value).split())
        except ValueError:
            # A whole number of more digits than Python writes.
            text = f"a {type(value).__name__}"
        parts.append(f"{name}={type(value).__name__} {text[:110]!a}")
    return "; ".join(parts)
