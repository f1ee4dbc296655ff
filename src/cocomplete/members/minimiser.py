"""The minimiser of F, exact and certified, as an ensemble member or alone."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.members.prediction import Prediction, decode
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.cells import Cells
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.mode import Mode
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.solution import Solution

RULE_OF_THUMB = 0.15
"""λ1 where there is too little to choose it by, as a share of the value that makes everything zero."""

Solve = Callable[[Objective], Solution]


@dataclass(frozen=True)
class Penalties:
    """What F's minimiser depends on.

    Attributes
    ----------
    rank_penalty : float or None
        λ1; None where ``share`` gives it.
    residual_penalty, feature_weight : float
        λ2 (above 0 with ``share`` given: features are met exactly) and w.
    share : float or None
        λ1 as a share of the value that makes everything zero.
    """

    rank_penalty: float | None = None
    residual_penalty: float = 0.0
    feature_weight: float = 0.5
    share: float | None = None


@dataclass(frozen=True, eq=False)
class Minimiser(FieldsAlone):
    """A minimiser of F and the table it belongs to.

    Attributes
    ----------
    encoding : Encoding
    cells : Cells
        The observed cells that it was fitted to, on the solvers' scale.
    objective : Objective
    certified : Solution
        The solver's answer, with its certificate.
    solution : Solution
        What answers: the same, or its refit at a clear rank.
    """

    encoding: Encoding
    cells: Cells
    objective: Objective
    certified: Solution
    solution: Solution
    name: str = "minimiser"

    @classmethod
    def fit(
        cls,
        observed: Observations,
        yes_no: BoolArray,
        penalties: Penalties,
        solve: Solve,
        *,
        center: bool = True,
        scale: bool = True,
        free_offsets: bool = True,
        exact: bool = True,
    ) -> "Minimiser":
        """Set F up on a table and minimise it.

        Parameters
        ----------
        observed : Observations
            In the user's units.
        yes_no : ndarray of bool, shape (n_features,)
        penalties : Penalties
        solve : callable
            From F to its minimiser.
        center, scale : bool, default=True
            As in :class:`cocomplete.CoCompleter`.
        free_offsets : bool, default=True
            Whether offsets are optimised with the rest.
        exact : bool, default=True
            Whether the solver finds the minimiser, so that λ2 above λ1 may as well be λ1.
        """
        encoding = Encoding.of(observed, yes_no, center=center, scale=scale)
        encoded = encoding.apply(observed)
        objective = set_up(encoded, encoding, penalties, free_offsets=free_offsets)
        solution = solve(objective := _at_most_rank_penalty(objective) if exact else objective)
        return cls(encoding, Cells.of(encoded), objective, solution, solution)

    @classmethod
    def of_blocks(
        cls,
        encoding: Encoding,
        cells: CellBlocks,
        sample: Cells,
        penalties: Penalties,
        solve: Solve,
        *,
        free_offsets: bool,
    ) -> "Minimiser":
        """Set F up on a table in blocks and minimise it.

        Parameters
        ----------
        encoding : Encoding
            Of the cells.
        cells : CellBlocks
            On the solvers' scale; with free offsets, no label of which only one value is observed.
        sample : Cells
            Those of the rows that the member keeps.
        penalties : Penalties
        solve : callable
            From F to its minimiser, of which it gives those rows.
        free_offsets : bool
        """
        objective = _at_most_rank_penalty(
            _with_penalties(cells, encoding, penalties, free_offsets=free_offsets)
        )
        solution = solve(objective)
        return cls(encoding, sample, replace(objective, observed=sample), solution, solution)

    def for_new_rows(self) -> "Minimiser":
        """Give the same without the rows of the fit, which ensemble members predict by the row step."""
        nothing = self.cells.rows(0, 0)
        solution = replace(
            self.solution, M=replace(self.solution.M, U=self.solution.M.U[:0]), multiplier=None
        )
        return replace(
            self, objective=replace(self.objective, observed=nothing), certified=solution, solution=solution
        )

    def of_rows(self, rows: NDArray[np.intp]) -> "Minimiser":
        """Give the same with some rows of the fit alone, for the solution's own values of these."""
        M = replace(self.solution.M, U=self.solution.M.U[rows])
        return replace(self, cells=self.cells.take(rows), solution=replace(self.solution, M=M))

    @cached_property
    def _mode(self) -> Mode:
        return Mode.of(self.objective, self.solution, self.cells)

    def moments(self, observed: Observations, *, training: bool = False, variance: bool = True) -> Moments:
        """Value and variance of every cell on the solvers' scale."""
        if training and self._mode.V.shape[1] and len(self.solution.M.U):
            return self._mode.at(self.solution.M.dense(), self.cells, variance=variance)
        return self._mode.predict(Cells.of(self.encoding.apply(observed)), variance=variance)

    def predict(self, observed: Observations, *, training: bool = False, std: bool = True) -> Prediction:
        """Predict by the row step; rows of the fit have the solution's own values."""
        prediction = decode(self.encoding, self.moments(observed, training=training, variance=std))
        return prediction if std else prediction._replace(std=np.full_like(prediction.std, np.nan))

    def draw(self, observed: Observations, rng: np.random.Generator) -> FloatArray:
        """Draw one t for every cell: rows from their normal approximation, columns as they are."""
        return self._mode.draw(Cells.of(self.encoding.apply(observed)), rng)


def set_up(
    encoded: Observations, encoding: Encoding, penalties: Penalties, *, free_offsets: bool
) -> Objective:
    """Give F on an encoded table, λ1 worked out where it is a share."""
    usable = encoded.without_one_sided_labels() if free_offsets else encoded
    return _with_penalties(usable, encoding, penalties, free_offsets=free_offsets)


def _at_most_rank_penalty(objective: Objective) -> Objective:
    """Give the same problem with the smallest λ2: from λ1 on, every one has the same minimiser."""
    if objective.regime != "interpolation":
        return objective
    return replace(objective, residual_penalty=objective.rank_penalty)


def _with_penalties(
    usable: Observations | CellBlocks, encoding: Encoding, penalties: Penalties, *, free_offsets: bool
) -> Objective:
    objective = Objective(
        usable,
        penalties.rank_penalty or 0.0,
        penalties.residual_penalty,
        penalties.feature_weight,
        encoding.offsets,
        free_offsets,
    )
    if penalties.rank_penalty is not None:
        return objective
    # λ2 is left aside here: a large one only means that features are met exactly.
    top = replace(objective, residual_penalty=0.0).rank_penalty_max
    share = RULE_OF_THUMB if penalties.share is None else penalties.share
    value = share * top or 1.0
    exact = penalties.share is not None and penalties.residual_penalty > 0
    return replace(
        objective, rank_penalty=value, residual_penalty=value if exact else penalties.residual_penalty
    )
