"""Tables and settings that few people have, by ``benchmarks/ugly.py``: finite answers, or one sentence."""

from itertools import count
from time import process_time

from trust.tally import Budget, Tally
from ugly import SLOW, judge, make_case, warm_up


def run(budget: Budget) -> Tally:
    """Judge cases; the seed says where they begin, beyond those of the tests and of ``make ugly``."""
    tally = Tally("ugly tables")
    warm_up()
    first = 100_000 * (1 + budget.seed)
    for _, seed in zip(budget.numbers(), count(first), strict=False):
        started = process_time()
        outcome = judge(make_case(seed, dear=0.2))
        # Others at work on the machine make a case slow; its own time does not count theirs.
        own = outcome.kind.removeprefix("slow: ") if process_time() - started < SLOW else outcome.kind
        tally.add(own, f"ugly case {seed}")
    return tally
