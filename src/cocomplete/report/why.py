"""Why a cell was filled as it was: the observed cells of its row, by what each adds; and rows like it.

Exact for the posterior average, whose row step is linear in the row's cells
(:mod:`cocomplete.solvers.influences`). Where other members take part in the answer, its weight says how much
of the fill this explains.
"""

from collections.abc import Callable
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.fitted.parts import LABEL_PARTS, Part
from cocomplete.members.average import Average
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.report.record import Pull, Why
from cocomplete.report.source import Source, spread
from cocomplete.report.texts import short
from cocomplete.solvers.influences import Influences

MOST_PULLS = 5
"""Observed cells that are named."""

COMPARED = 3_000
"""Rows among which similar ones are looked for."""

SIMILAR = 3
"""Rows that are named."""

Text = Callable[[int, int], str]
"""From a row and a column to what stands there."""


class Explainer:
    """Explains fills by the posterior averages of a model, and compares rows.

    Parameters
    ----------
    source : Source
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        informative = source.model.informative
        self.place = np.cumsum(informative.columns) - 1
        owner = np.concatenate((source.features.groups, len(source.features.kinds) + source.labels.groups))
        self.owner = owner[informative.columns]

    def member(self, part: Part) -> tuple[int, Average, float] | None:
        """Give the posterior average with the largest weight in a part; that of draws where none has any.

        Returns
        -------
        tuple of int, Average and float, or None
            Its place among the members, itself, and its weight.
        """
        model = self.source.model
        weights = model.ensemble.weights[part]
        averages = [(k, one) for k, one in enumerate(model.ensemble.members) if isinstance(one, Average)]
        if averages:
            k, member = max(averages, key=lambda one: (float(weights[one[0]]), -one[0]))
            # Where only ones are recorded, labels are predicted by another model.
            replaced = model.positive is not None and part in LABEL_PARTS
            return k, member, 0.0 if replaced else float(weights[k])
        return (-1, model.joint, 0.0) if isinstance(model.joint, Average) else None

    def cells(self, member: Average, rows: NDArray[np.intp]) -> Cells:
        """Observed cells of some rows as a member sees them."""
        model, observed = self.source.model, self.source.observed
        some = model.fitted_as(Observations(observed.X[rows], observed.Y[rows]))
        return Cells.of(member.encoding.apply(model.informative.narrow(some)))

    def rows(self, rows: NDArray[np.intp]) -> "ExplainedRows":
        """Prepare some rows, whose cells are then explained one by one."""
        return ExplainedRows(self, rows)

    @cached_property
    def comparing(self) -> "tuple[int, Average, FloatArray] | None":
        """The member by which rows are compared, and the root of what its factors make of the columns."""
        found = self.member("numbers" if (~self.source.model.yes_no).any() else "yes-no")
        if found is None or not found[1].posterior.rank:
            return None
        V = found[1].posterior.V[:, 1:]
        values, vectors = np.linalg.eigh(V.T @ V)
        return found[0], found[1], vectors * np.sqrt(np.maximum(values, 0))

    @cached_property
    def pool(self) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        """Rows to compare with, their profiles, and the squared lengths of these."""
        if self.comparing is None:
            return np.empty(0, np.intp), np.empty((0, 0)), np.empty(0)
        _, member, root = self.comparing
        pool = spread(self.source.n_rows, COMPARED)
        profiles = member.posterior.rows(self.cells(member, pool)).U[:, 1:] @ root
        return pool, profiles, np.asarray((profiles**2).sum(axis=1))


class ExplainedRows:
    """Some rows of a report, with what their observed cells add to any cell.

    Parameters
    ----------
    explainer : Explainer
    rows : ndarray of int
        The user's rows.
    """

    def __init__(self, explainer: Explainer, rows: NDArray[np.intp]) -> None:
        self.explainer, self.rows = explainer, rows
        self._influences: dict[int, Influences] = {}

    def why(self, row: int, target: int, part: Part, text: Text, *, opposite: bool = False) -> Why | None:
        """Explain one cell.

        Parameters
        ----------
        row : int
            Position among the rows.
        target : int
            The encoded column, labels after features.
        part : str
            Of the table, by which the weight is.
        text : callable
            Gives what stands in a cell.
        opposite : bool, default=False
            Whether a 0 was filled in, so that log-odds count the other way round.

        Returns
        -------
        Why or None
            None where no posterior average is among the members, or the column took no part.
        """
        found = self.explainer.member(part)
        if found is None or not self.explainer.source.model.informative.columns[target]:
            return None
        k, member, weight = found
        order = member.encoding.order
        inner = int(order[self.explainer.place[target]])
        influences = self._of(k, member)
        column, terms, start = influences.terms(row, inner)
        scale, unit = 1.0, "standard deviations"
        if inner >= member.encoding.n_numbers:
            scale, unit = 1 / np.sqrt(1 + np.pi / 8 * influences.variance(row, inner)), "log-odds"
        scale = -scale if opposite else scale
        owner = self.explainer.owner[np.argsort(order)[column]]
        columns, place = np.unique(owner, return_inverse=True)
        amounts = scale * np.bincount(place, terms, minlength=len(columns))
        largest = np.argsort(-np.abs(amounts), kind="stable")[:MOST_PULLS]
        here = int(self.rows[row])
        return Why(
            unit,
            short(scale * start),
            tuple(
                Pull(int(columns[j]), text(here, int(columns[j])), short(amounts[j]))
                for j in largest
                if amounts[j]
            ),
            short(float(amounts.sum() - amounts[largest].sum())),
            short(float(scale * start + amounts.sum())),
            short(weight),
        )

    def similar(self, row: int) -> tuple[str, ...]:
        """Name the rows whose posterior means are nearest, measured by what they make of the columns."""
        source = self.explainer.source
        return tuple(source.row_name(int(one)) for one in self._nearest[row] if one >= 0)

    @cached_property
    def _nearest(self) -> NDArray[np.intp]:
        """The nearest rows of each, the nearest first; -1 where there are no more."""
        pool, profiles, norms = self.explainer.pool
        if self.explainer.comparing is None:
            return np.empty((len(self.rows), 0), np.intp)
        k, member, root = self.explainer.comparing
        own = self._of(k, member).rows.U[:, 1:] @ root
        # Squared distances, but for what is the same for all.
        distance = norms - 2 * (own @ profiles.T)
        distance[self.rows[:, None] == pool] = np.inf
        near = np.argpartition(distance, min(SIMILAR, len(pool) - 1), axis=1)[:, : SIMILAR + 1]
        far = np.take_along_axis(distance, near, axis=1)
        order = np.lexsort((near, far), axis=1)[:, :SIMILAR]
        found = pool[np.take_along_axis(near, order, axis=1)]
        return np.where(np.isfinite(np.take_along_axis(far, order, axis=1)), found, -1)

    def _of(self, k: int, member: Average) -> Influences:
        if k not in self._influences:
            cells = self.explainer.cells(member, self.rows)
            self._influences[k] = Influences.of(member.posterior, cells)
        return self._influences[k]
