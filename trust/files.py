"""Damaged files of every format through the readers, by ``benchmarks/mutated_files.py``."""

import logging

from mutated_files import mutated, outcome
from trust.tally import ANSWERED, REFUSED, Budget, Tally, at_most

SECONDS = 30.0
"""After which a file of a few kilobytes hangs its reader."""

NAMES = {"table": ANSWERED, "sentence": REFUSED}


def run(budget: Budget) -> Tally:
    """Read damaged files."""
    tally = Tally("damaged files")
    logging.disable(logging.CRITICAL)
    files = mutated(budget.tries, 1_000 + budget.seed)
    for number, (ending, content) in zip(budget.numbers(), files, strict=False):
        with at_most(SECONDS):
            found = outcome(ending, content)
        tally.add(NAMES.get(found, found), f"file {number}, {ending}")
    return tally
