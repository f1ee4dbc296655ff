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
from cocomplete.fitted.parts import Part
from cocomplete.members.average import Average
from cocomplete.problem.cells import Cells
from cocomplete.problem.observations import Observations
from cocomplete.report.record import Pull, Why
from cocomplete.report.source import Source, spread
from cocomplete.report.texts import short
from cocomplete.solvers.influences import Influences

MOST_PULLS = 5
"""Observed cells that are named."""

COMPARED = 5_000
"""Rows among which similar ones are looked for."""

SIMILAR = 3
"""Rows that are named."""

Text = Callable[[int, int], str]
"""From a row and a column to what stands there."""


class Explained:
    """Some rows of a report, with what their observed cells add to any cell.

    Parameters
    ----------
    source : Source
    rows : ndarray of int
        The user's rows.
    """

    def __init__(self, source: Source, rows: NDArray[np.intp]) -> None:
        self.source, self.rows = source, rows
        self._influences: dict[int, Influences] = {}
        informative = source.model.informative
        self._place = np.cumsum(informative.columns) - 1
        wide = np.flatnonzero(informative.columns)
        d = len(source.features.kinds)
        owner = np.concatenate((source.features.groups, d + source.labels.groups))
        self._owner = owner[wide]

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
        found = self._member(part)
        if found is None or not self.source.model.informative.columns[target]:
            return None
        k, member, weight = found
        order = member.encoding.order
        inner = int(order[self._place[target]])
        influences = self._of(k, member)
        column, terms, start = influences.terms(row, inner)
        scale, unit = 1.0, "standard deviations"
        if inner >= member.encoding.n_numbers:
            scale, unit = 1 / np.sqrt(1 + np.pi / 8 * influences.variance(row, inner)), "log-odds"
        scale = -scale if opposite else scale
        owner = self._owner[np.argsort(order)[column]]
        columns, place = np.unique(owner, return_inverse=True)
        amounts = scale * np.bincount(place, terms, minlength=len(columns))
        largest = np.argsort(-np.abs(amounts), kind="stable")[:MOST_PULLS]
        here = int(self.rows[row])
        return Why(
            unit,
            short(scale * start),
            tuple(Pull(int(columns[j]), text(here, int(columns[j])), short(amounts[j])) for j in largest),
            short(float(amounts.sum() - amounts[largest].sum())),
            short(float(scale * start + amounts.sum())),
            short(weight),
        )

    def similar(self, row: int) -> tuple[str, ...]:
        """Name the rows whose posterior means are nearest, measured by what they make of the columns."""
        pool, profiles, own = self._profiles
        if not pool.size:
            return ()
        distance = ((profiles - own[row]) ** 2).sum(axis=1)
        distance[pool == self.rows[row]] = np.inf
        nearest = np.argsort(distance, kind="stable")[:SIMILAR]
        return tuple(self.source.row_name(int(pool[i])) for i in nearest if np.isfinite(distance[i]))

    def _member(self, part: Part) -> tuple[int, Average, float] | None:
        """Give the posterior average with the largest weight in a part; that of draws where none has any."""
        model = self.source.model
        weights = model.ensemble.weights[part]
        found = [
            (float(weights[k]), -k, one)
            for k, one in enumerate(model.ensemble.members)
            if isinstance(one, Average)
        ]
        # Where only ones are recorded, labels are predicted by another model.
        replaced = model.positive is not None and part in ("labels", "unlabelled")
        if found:
            weight, k, member = max(found, key=lambda one: one[:2])
            return -k, member, 0.0 if replaced else weight
        return (-1, model.joint, 0.0) if isinstance(model.joint, Average) else None

    def _of(self, k: int, member: Average) -> Influences:
        if k not in self._influences:
            cells = self._cells(member, self.rows)
            self._influences[k] = Influences.of(member.posterior, cells)
        return self._influences[k]

    def _cells(self, member: Average, rows: NDArray[np.intp]) -> Cells:
        """Observed cells of some rows as a member sees them."""
        model, observed = self.source.model, self.source.observed
        some = model.fitted_as(Observations(observed.X[rows], observed.Y[rows]))
        return Cells.of(member.encoding.apply(model.informative.narrow(some)))

    @cached_property
    def _profiles(self) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
        """Rows to compare with, and profiles of these and of the rows that are explained."""
        found = self._member("numbers" if (~self.source.model.yes_no).any() else "yes-no")
        if found is None or not found[1].posterior.rank:
            return np.empty(0, np.intp), np.empty((0, 0)), np.empty((0, 0))
        k, member, _ = found
        posterior = member.posterior
        V = posterior.V[:, 1:]
        values, vectors = np.linalg.eigh(V.T @ V)
        root = vectors * np.sqrt(np.maximum(values, 0))
        pool = spread(self.source.n_rows, COMPARED)
        profiles = posterior.rows(self._cells(member, pool)).U[:, 1:] @ root
        return pool, profiles, self._of(k, member).rows.U[:, 1:] @ root
