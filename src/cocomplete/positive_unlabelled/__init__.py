"""Labels of which only ones are ever recorded: which share of them is, and what an unrecorded cell may be.

Every true one (y = 1) is recorded (s = 1) with the same unknown probability c, the *recorded share*; a zero
never is. A classifier fitted to s estimates P(s=1|x) = c P(y=1|x). The share is identified only by the shape
of that curve: where P(y=1|x) saturates at 1, the rate of recorded cells saturates at c.
"""

from cocomplete.positive_unlabelled.probabilities import probability_if_unrecorded, probability_of_one
from cocomplete.positive_unlabelled.recorded_share import (
    RecordedShare,
    RowFactors,
    best_described,
    estimate_recorded_share,
)

__all__ = [
    "RecordedShare",
    "RowFactors",
    "best_described",
    "estimate_recorded_share",
    "probability_if_unrecorded",
    "probability_of_one",
]
