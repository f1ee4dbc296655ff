"""What must not change the default estimator's answer, in any order and combination, as a state machine.

A table is written down in other ways, one after the other: rows, columns and labels in another order,
features in other units or with the other sign, labels with 0 and 1 exchanged, columns and rows that say
nothing. Between steps it is completed, and the answer, put back into the first way, must be the first answer.

Two relations are no laws and are not here. Twice the same rows are twice the evidence: posteriors narrow, and
fills move. Rows have no weights, so that nothing can be said of them.
"""

import warnings
from typing import Any

import numpy as np
from hypothesis import HealthCheck, Phase, Verbosity, settings
from hypothesis import seed as hypothesis_seed
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    precondition,
    rule,
    run_state_machine_as_test,
)

from cocomplete import CoCompleter
from tests.laws.test_default_laws import NEXT_TO_NOTHING, spread, table
from trust.tally import ANSWERED, Budget, Tally

nan = np.nan

STEPS = 6

RANDOM = st.integers(0, 2**32 - 1)


class Relations(RuleBasedStateMachine):
    """A table, how it is written down now, and the answer that it had at first."""

    compared = 0

    def __init__(self) -> None:
        super().__init__()
        self.changed = False

    @initialize(number=st.integers(0, 100_000))
    def begin(self, number: int) -> None:
        """Make a table, and complete it as it is."""
        self.X0, self.Y0 = table(number)
        self.first, types = _completed(self.X0, self.Y0)
        self.number = types == "number"
        n, d, labels = *self.X0.shape, self.Y0.shape[1]
        self.rows, self.columns, self.labels = np.arange(n), np.arange(d), np.arange(labels)
        self.factor, self.offset = np.ones(d), np.zeros(d)
        self.flipped = np.zeros(labels, bool)
        self.more_rows = 0
        self.more_columns: list[Any] = []

    @rule(number=RANDOM)
    def reorder(self, number: int) -> None:
        """Put rows, columns and labels into another order."""
        rng = np.random.default_rng(number)
        for order in (self.rows, self.columns, self.labels):
            rng.shuffle(order)
        self.changed = True

    @rule(number=RANDOM)
    def other_units(self, number: int) -> None:
        """Multiply numbers and move them."""
        rng = np.random.default_rng(number)
        self.factor = np.where(self.number, self.factor * rng.uniform(0.2, 5, len(self.factor)), 1.0)
        self.offset = np.where(self.number, self.offset + rng.normal(size=len(self.factor)), 0.0)
        self.changed = True

    @rule(number=RANDOM)
    def other_sign(self, number: int) -> None:
        """Turn some numbers around."""
        turned = self.number & (np.random.default_rng(number).random(len(self.number)) < 0.5)
        self.factor = np.where(turned, -self.factor, self.factor)
        self.changed = True

    @rule(number=RANDOM)
    def flip(self, number: int) -> None:
        """Exchange 0 and 1 of some labels."""
        self.flipped ^= np.random.default_rng(number).random(len(self.flipped)) < 0.5
        self.changed = True

    @precondition(lambda self: len(self.more_columns) < 3)
    @rule(value=st.sampled_from((nan, 0.0, 7.5)), holes=st.booleans())
    def column_that_says_nothing(self, value: float, holes: bool) -> None:  # noqa: FBT001
        """Add a column of one value, or of none."""
        column = np.full(len(self.X0), value)
        if holes:
            column[::2] = nan
        self.more_columns.append(column)
        self.changed = True

    @precondition(lambda self: self.more_rows < 4)
    @rule()
    def row_that_says_nothing(self) -> None:
        """Add a row of which nothing is known."""
        self.more_rows += 1
        self.changed = True

    @precondition(lambda self: self.changed)
    @rule()
    def compare(self) -> None:
        """Complete the table as it is written down now, and put the answer back."""
        X = (self.X0 * self.factor + self.offset)[self.rows][:, self.columns]
        Y = np.where(self.flipped, 1 - self.Y0, self.Y0)[self.rows][:, self.labels]
        d = X.shape[1]
        X = np.hstack((X, *(column[self.rows][:, None] for column in self.more_columns)))
        X, Y = (np.vstack((part, np.full((self.more_rows, part.shape[1]), nan))) for part in (X, Y))
        done, _ = _completed(X, Y)
        n = len(self.X0)
        back, units = np.argsort(self.columns), spread(self.X0)
        rows, labels = np.argsort(self.rows), np.argsort(self.labels)
        filled = done.X[:n, :d][rows][:, back]
        std = done.X_std[:n, :d][rows][:, back] / np.abs(self.factor)
        proba = done.Y_proba[:n][rows][:, labels]
        proba = np.where(self.flipped, 1 - proba, proba)
        _agree("filled features", (filled - self.offset) / self.factor / units, self.first.X / units)
        _agree("standard deviations", std / units, self.first.X_std / units)
        _agree("probabilities", proba, self.first.Y_proba)
        self.changed = False
        type(self).compared += 1


def _completed(X: Any, Y: Any) -> tuple[Any, Any]:
    with warnings.catch_warnings():
        # Columns and rows that say nothing are announced.
        warnings.simplefilter("ignore")
        model = CoCompleter().fit(X, Y)
        return model.complete(X, Y), model.feature_types_


def _agree(what: str, one: Any, other: Any) -> None:
    off = np.abs(one - other).max(initial=0)
    if not off < NEXT_TO_NOTHING:
        msg = f"{what} are off by {off:.2g}"
        raise AssertionError(msg)


def run(budget: Budget) -> Tally:
    """Run the machine, some examples at a time, until the budget is spent; a try is a comparison."""
    tally = Tally("relations")
    for number in budget.numbers():
        before, Relations.compared = Relations.compared, 0
        machine = hypothesis_seed(1_000 * budget.seed + number)(Relations)
        try:
            run_state_machine_as_test(
                machine,
                settings=settings(
                    max_examples=2,
                    stateful_step_count=STEPS,
                    deadline=None,
                    database=None,
                    verbosity=Verbosity.quiet,
                    suppress_health_check=list(HealthCheck),
                    # A failure is shown as it was found: shrinking fits of a second takes hours.
                    phases=[Phase.generate],
                ),
            )
        except AssertionError as error:
            tally.add(str(error).splitlines()[0], f"machine {number} of seed {budget.seed}")
        tally.counts[ANSWERED] += Relations.compared
        Relations.compared += before
    return tally
