"""What an exact solve that was ended from outside goes on from."""

from time import perf_counter
from typing import NamedTuple, Protocol

from cocomplete.arrays import FloatArray
from cocomplete.solvers.augmented_lagrangian import FeatureConstraints
from cocomplete.solvers.factors import FactoredObjective
from cocomplete.solvers.solution import History, Record
from cocomplete.solvers.trust_region import TrustRegion


class Run(Protocol):
    """What changes in a solve from round to round, beside its factors."""

    function: FactoredObjective
    constraints: FeatureConstraints | None
    highest: float
    growth: float


class RoundState(NamedTuple):
    """All that the next round depends on, but for what follows from the objective.

    Attributes
    ----------
    iteration : int
        The round to come.
    W : ndarray of shape (n + m, width)
    region : TrustRegion
    gap, highest, growth
        Relative gap, best lower bound, and size at which the search for more factors begins.
    multiplier, rho, first_rho
        Of the features, where they are constraints.
    records, seconds
        What the history has, and the time that it took.
    """

    iteration: int
    W: FloatArray
    region: TrustRegion
    gap: float
    highest: float
    growth: float
    multiplier: FloatArray
    rho: float
    first_rho: float | None
    records: list[Record]
    seconds: float

    @classmethod
    def of(
        cls, run: Run, history: History, iteration: int, W: FloatArray, region: TrustRegion, gap: float
    ) -> "RoundState":
        """Take it from a solve between two rounds."""
        return cls(
            iteration,
            W,
            region,
            gap,
            run.highest,
            run.growth,
            run.function.multiplier,
            run.function.rho,
            None if run.constraints is None else run.constraints.first_rho,
            history.records,
            perf_counter() - history.started,
        )

    def put_back(self, run: Run, history: History) -> tuple[FloatArray, TrustRegion, float]:
        """Bring a fresh solve of the same objective to where this was taken."""
        run.highest, run.growth = self.highest, self.growth
        run.function.multiplier, run.function.rho = self.multiplier, self.rho
        if run.constraints is not None and self.first_rho is not None:
            run.constraints.first_rho = self.first_rho
        history.records = self.records
        history.started -= self.seconds
        return self.W, self.region, self.gap
