"""A table to fit members to, with the averages and completed rows that several of them share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.held_out import Fold
from cocomplete.fitted.parts import PARTS
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows
from cocomplete.members.level_trees import LevelTrees
from cocomplete.members.linear_average import LinearAverage, as_numbers
from cocomplete.members.minimiser import Solve
from cocomplete.problem.content_keys import ContentKeys
from cocomplete.problem.observations import Observations
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.solution import Progress

GROWTH = 8
"""Factors that an average adds to those of the fit it starts from. Without them, what died there would stay
dead: errors of single tables to choose with are up to 8 % higher, and 1 % on average with half as many."""


class SharedFits:
    """A table, and fits to it that are made when they are first asked for.

    Averages start from each other: that of normal scores from that of features as they are, and those of the
    whole table from those of ``earlier`` fits, to a fold. A fold's never start from anything that has seen
    its held-out cells.

    Parameters
    ----------
    observed : Observations
        The whole table, or the visible cells of a fold.
    yes_no : ndarray of bool, shape (n_features,)
    keys : ContentKeys
        Of the whole table.
    solve : callable
        From F to its minimiser.
    progress : callable, optional
        Called with a record per sweep of an average.
    groups : ndarray of int, shape (n_features + n_labels,), optional
        Columns with the same number encode one of the user's.
    """

    growth = GROWTH
    """Factors that every average may add."""

    def __init__(
        self,
        observed: Observations,
        yes_no: BoolArray,
        keys: ContentKeys,
        solve: Solve,
        progress: Progress | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> None:
        self.observed, self.yes_no, self.keys, self.solve = observed, yes_no, keys, solve
        self.groups = groups
        self.progress = progress
        self.earlier: SharedFits | None = None
        self._averages: dict[bool, Average] = {}
        self._linear: dict[bool, LinearAverage] = {}
        self._moments: dict[bool, Moments] = {}
        self._completed: CompletedRows | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave functions out, which belong to the process."""
        return vars(self) | {"solve": None, "progress": None}

    @property
    def _spare(self) -> int | None:
        """How many factors an average may add that noise alone may have made.

        Where the fit it starts from has seen some rows alone, those of all rows are for what stands out.
        """
        some_rows = self.earlier is not None and self.earlier.observed.n_samples < self.observed.n_samples
        return 0 if some_rows else None

    def first_rows(self, count: int) -> NDArray[np.intp]:
        """Give some rows, by their keys, in the order of the table."""
        return np.sort(np.argsort(self.keys.rows, kind="stable")[:count])

    def sample(self, count: int) -> Observations:
        """Give the observations of these rows."""
        some = self.first_rows(count)
        return Observations(self.observed.X[some], self.observed.Y[some])

    def average(self, *, gaussian: bool) -> Average:
        """Give the average of features as they are, or of their normal scores."""
        if gaussian not in self._averages:
            start = None
            if self.earlier is not None:
                start = self.earlier.average(gaussian=gaussian)
            elif gaussian and False in self._averages:
                start = self._averages[False]
            self._averages[gaussian] = Average.fit(
                self.observed,
                self.yes_no,
                gaussian=gaussian,
                start=None if start is None else start.posterior,
                growth=self.growth,
                spare=self._spare,
                progress=self.progress,
            )
        return self._averages[gaussian]

    def linear_average(self, *, features: bool) -> LinearAverage:
        """Give the average with 0/1 columns as numbers, of the whole table or of labels alone."""
        if features not in self._linear:
            start = None
            if self.earlier is not None:
                start = self.earlier.linear_average(features=features).average.posterior
            elif features:
                start = as_numbers(self.source)
            self._linear[features] = LinearAverage.fit(
                self.observed,
                self.yes_no,
                features=features,
                start=start,
                growth=self.growth,
                spare=self._spare,
            )
        return self._linear[features]

    def level_trees(self, codes: dict[int, FloatArray]) -> LevelTrees | None:
        """Grow trees for levels in an order."""
        return LevelTrees.fit(self.observed, self.keys, codes, self.groups)

    def moments(self, *, gaussian: bool) -> Moments:
        """Give that average's posterior moments of every cell."""
        if gaussian not in self._moments:
            self._moments[gaussian] = self.average(gaussian=gaussian).moments(self.observed)
        return self._moments[gaussian]

    def averages(self) -> list[Average]:
        """Give the averages that were fitted."""
        return list(self._averages.values())

    @property
    def source(self) -> Average:
        """The average whose completed rows kernels compare, and whose margins drawn numbers may have."""
        return self.average(gaussian=not self.yes_no.all())

    @property
    def completed(self) -> CompletedRows:
        """All rows with their features completed; labels are not looked at."""
        if self._completed is None:
            self._completed = CompletedRows.of(self.source, self.observed)
        return self._completed

    @property
    def completed_so_far(self) -> CompletedRows | None:
        """The same if a member has needed them."""
        return self._completed


class HeldOutScores(NamedTuple):
    """Normal scores of held-out numbers: truth, posterior mean and standard deviation."""

    truth: FloatArray
    mean: FloatArray
    std: FloatArray

    @classmethod
    def together(cls, folds: Sequence["HeldOutScores"]) -> "HeldOutScores":
        """Give those of several folds, one after the other; none of no fold."""
        nothing = cls(*(np.empty(0) for _ in range(3)))
        return cls(*(np.concatenate(parts) for parts in zip(nothing, *folds, strict=True)))


class FoldFits(SharedFits):
    """The visible cells of a fold, likewise.

    Parameters
    ----------
    fold : Fold
    whole : SharedFits
        The whole table.
    """

    def __init__(self, fold: Fold, whole: SharedFits) -> None:
        super().__init__(fold.visible, whole.yes_no, whole.keys, whole.solve, groups=whole.groups)
        self.fold = fold

    def held_out_scores(self) -> HeldOutScores:
        """Give the normal scores of held-out numbers, and their predictions."""
        if True not in self._moments:
            return HeldOutScores.together([])
        fold, encoding, moments = self.fold, self.average(gaussian=True).encoding, self._moments[True]
        numbers = fold.part == PARTS.index("numbers")
        row, column = fold.row[numbers], encoding.order[fold.column[numbers]]
        truth = np.full(self.observed.X.shape, np.nan)
        truth[row, fold.column[numbers]] = fold.value[numbers]
        encoded = encoding.apply(replace(self.observed, X=truth))
        spread = np.sqrt(moments.variance[row, column] + moments.noise[column])
        return HeldOutScores(encoded.X[row, column], moments.mean[row, column], spread)

    def held_out_levels(self, codes: dict[int, FloatArray]) -> dict[int, FloatArray]:
        """Give trees' probabilities of the levels of held-out cells, in their order, by feature."""
        fitted, fold = self.level_trees(codes), self.fold
        if fitted is None:
            return {}
        cells = {j: fold.row[fold.column == j] for j in fitted.codes}
        asked = np.zeros(self.observed.X.shape, bool)
        for j, rows in cells.items():
            asked[rows, j] = True
        found = fitted.probabilities(self.observed, asked)
        return {j: found[j][rows] for j, rows in cells.items()}
