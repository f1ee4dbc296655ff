"""Tables and settings that few people have, by ``benchmarks/ugly.py``: finite answers, or one sentence."""

from itertools import count

from trust.tally import Budget, Tally
from ugly import judge, make_case, warm_up


def run(budget: Budget) -> Tally:
    """Judge cases; the seed says where they begin, beyond those of the tests and of ``make ugly``."""
    tally = Tally("ugly tables")
    warm_up()
    first = 100_000 * (1 + budget.seed)
    for _, seed in zip(budget.numbers(), count(first), strict=False):
        outcome = judge(make_case(seed, dear=0.2))
        tally.add(outcome.kind, f"ugly case {seed}")
    return tally
