"""Penalties of F's minimiser, chosen on held-out cells along warm-started paths."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.held_out import Fold, Units, folds
from cocomplete.choosing.judge import (
    PART_NAMES,
    Contest,
    HeldOut,
    HeldOutLabels,
    calibrated,
    error_summary,
    judged_cells,
)
from cocomplete.fitted.judged_cells import JudgedCells
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS, PARTS, Part
from cocomplete.interrupts import acknowledge_stop, stop_requested
from cocomplete.members.minimiser import Minimiser, Penalties, set_up
from cocomplete.members.prediction import number_cells
from cocomplete.members.trivial import Trivial
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.observations import Observations
from cocomplete.solvers.path import solve_path
from cocomplete.solvers.solution import Progress

SHARES = tuple(float(share) for share in np.geomspace(0.7, 0.03, 10))
"""λ1 along a path, as shares of the value that makes everything zero."""

EXACT_SHARES = tuple(float(share) for share in np.geomspace(0.4, 0.03, 4))
"""The same where features are met exactly: each value costs more."""

FEATURE_WEIGHTS = (0.5, 0.1, 0.03)
"""w of the minimisers that are tried; the first where nothing chooses."""

PATH_TOL, PATH_ROUNDS = 1e-2, 15
"""A path is followed to this gap, or as many rounds: the order of candidates does not need more."""


@dataclass(frozen=True)
class Path:
    """Minimisers that share all but λ1.

    Attributes
    ----------
    feature_weight : float
        w.
    exact : bool
        Whether features are met exactly.
    values : tuple of float
        λ1, falling; shares of the value that makes everything zero, unless ``given``.
    given : bool
        Whether they are λ1 itself.
    """

    feature_weight: float
    exact: bool
    values: tuple[float, ...]
    given: bool = False

    @classmethod
    def to(cls, penalties: Penalties, shares: tuple[float, ...]) -> "Path":
        """Give the path that ends at some penalties."""
        values = tuple(share for share in shares if penalties.share is None or share >= penalties.share)
        return cls(penalties.feature_weight, exact=penalties.residual_penalty > 0, values=values)

    def penalties(self) -> list[Penalties]:
        """Give what to fit with along the path."""
        if self.given:
            return [
                Penalties(value, value if self.exact else 0.0, self.feature_weight) for value in self.values
            ]
        return [
            Penalties(None, 1.0 if self.exact else 0.0, self.feature_weight, share) for share in self.values
        ]

    def follow(
        self, fold: Fold, yes_no: BoolArray, *, center: bool = True, scale: bool = True
    ) -> Iterator[tuple[Penalties, FloatArray]]:
        """Give, for every λ1, what the minimiser on a fold's visible cells has in its held-out ones."""
        encoding = Encoding.of(fold.visible, yes_no, center=center, scale=scale)
        all_penalties = self.penalties()
        encoded = encoding.apply(fold.visible)
        objectives = [set_up(encoded, encoding, one, free_offsets=center) for one in all_penalties[:1]]
        first = objectives[0]
        falling = [first.rank_penalty * value / self.values[0] for value in self.values]
        if self.exact:
            first = replace(first, residual_penalty=first.rank_penalty)
        column = encoding.order[fold.column]
        numbers = column < encoding.n_numbers
        nothing = np.zeros(int(numbers.sum()))
        path = solve_path(first, falling, tol=PATH_TOL, max_iter=PATH_ROUNDS)
        for penalties, (_, solution) in zip(all_penalties, path, strict=True):
            M = solution.M
            t = np.einsum("qr,qr->q", M.U[fold.row] * M.s, M.Vt.T[column]) + solution.offsets[column]
            t = t.astype(np.float64)
            t[numbers] = number_cells(encoding, column[numbers], t[numbers], nothing)[0]
            yield penalties, t


@dataclass(frozen=True)
class Given:
    """Penalties that the user gave; None where they are to be chosen."""

    rank_penalty: float | None
    residual_penalty: float | None
    feature_weight: float | None

    @property
    def nothing(self) -> bool:
        """Whether all are to be chosen."""
        return self == Given(None, None, None)

    @property
    def complete(self) -> bool:
        """Whether none is to be chosen."""
        return None not in (self.rank_penalty, self.residual_penalty, self.feature_weight)

    def penalties(self) -> Penalties:
        """Give what to fit with where nothing can be judged."""
        weight = FEATURE_WEIGHTS[0] if self.feature_weight is None else self.feature_weight
        return Penalties(self.rank_penalty, self.residual_penalty or 0.0, weight)

    def paths(self, *, weights_matter: bool) -> list[Path]:
        """All paths that are open."""
        weights = FEATURE_WEIGHTS if self.feature_weight is None else (self.feature_weight,)
        # Without features, or without labels, there is nothing to weigh against each other.
        weights = weights if weights_matter else weights[:1]
        values, known = SHARES, self.rank_penalty is not None
        if self.rank_penalty is not None:
            values = (self.rank_penalty,)
        paths = [Path(weight, exact=False, values=values, given=known) for weight in weights]
        if self.residual_penalty is None:
            exact = values if known else EXACT_SHARES
            paths.append(Path(weights[0], exact=True, values=exact, given=known))
        return paths


class MinimiserSearch:
    """Chooses penalties for features and for labels apart, where a minimiser is to answer alone.

    Parameters
    ----------
    observed : Observations
    yes_no : ndarray of bool, shape (n_features,)
    center, scale : bool
        As in :class:`cocomplete.CoCompleter`.
    given : Given
    seed : int
        Of the cells that are held out.
    progress : callable, optional
        Called with a record per path.
    groups : ndarray of int, shape (n_features + n_labels,), optional
        Columns with the same number encode one of the user's.
    """

    def __init__(
        self,
        observed: Observations,
        yes_no: BoolArray,
        *,
        center: bool,
        scale: bool,
        given: Given,
        seed: int,
        progress: Progress | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> None:
        self.given, self.center, self.scale = given, center, scale
        self.n_features = observed.n_features
        self.n_columns = observed.n_features + observed.n_labels
        self.folds = folds(observed, yes_no, seed, groups)
        self.held = HeldOut.of(self.folds, Units.of(observed))
        self.contest = Contest(self.held, [fold.row.size for fold in self.folds])
        # Of held-out numbers, once the factor of standard deviations is asked for.
        self.stds = np.full(self.held.value.size, np.nan)
        self.interrupted = False
        has_both = bool(observed.X_known.any() and observed.Y_known.any())
        paths = given.paths(weights_matter=has_both)
        for number, fold in enumerate(self.folds):
            trivial = Trivial.fit(fold.visible, yes_no).predict(fold.visible)
            self.contest.add("trivial", number, fold, trivial)
        for path in paths:
            self._follow(path, yes_no, center=center, scale=scale)
            if progress is not None:
                progress({"stage": "judging", "iteration": len(self.contest.means)})
            if stop_requested():
                self.interrupted = True
                # The minimiser that was found best is still to be fitted, in full.
                acknowledge_stop()
                break

    def _follow(self, path: Path, yes_no: BoolArray, *, center: bool, scale: bool) -> None:
        """Judge the minimisers along a path; none of them, if a request to stop comes on the way."""
        found: dict[Penalties, list[FloatArray]] = {}
        for fold in self.folds:
            for penalties, means in path.follow(fold, yes_no, center=center, scale=scale):
                if stop_requested():
                    return
                found.setdefault(penalties, []).append(means)
        for penalties, parts in found.items():
            for number, means in enumerate(parts):
                self.contest.add_means(penalties, number, means)

    def best(self, side: Literal["features", "labels"]) -> Penalties | Literal["trivial"]:
        """Give the candidate with the smallest error for features or for labels."""
        parts: tuple[Part, ...] = FEATURE_PARTS if side == "features" else LABEL_PARTS
        if not any(self.held.where(part).size for part in parts):
            # What cannot be judged follows the other side.
            parts = FEATURE_PARTS + LABEL_PARTS
        if not self.held.value.size:
            return self.given.penalties()
        found: Penalties | Literal["trivial"] = min(
            self.contest.candidates(),
            key=lambda one: sum(self.contest.total(one, part) for part in parts),
        )
        return found

    def held_out_labels(self) -> HeldOutLabels | None:
        """Give the held-out labels and the chosen minimiser's log-odds for them; None if there are none."""
        where = np.concatenate([self.held.where(part) for part in LABEL_PARTS])
        if not where.size:
            return None
        score = self.contest.means[self.best("labels")][where]
        return HeldOutLabels(self.held.column[where] - self.n_features, self.held.value[where], score)

    def summary(self) -> dict[str, Any]:
        """Give errors on held-out cells beside the trivial answer's, and every candidate, by part."""
        found: dict[str, Any] = {}
        for part in PARTS:
            where = self.held.where(part)
            if not where.size:
                continue
            best = self.best("features" if part in FEATURE_PARTS else "labels")
            trivial = self.contest.means["trivial"][where]
            errors = error_summary(self.held, part, self.contest.means[best][where], trivial)
            name = "trivial" if best == "trivial" else "minimiser"
            found[PART_NAMES[part]] = {**errors, "weights": {name: 1.0}}
        found["candidates"] = [
            {
                "rank_penalty": one.rank_penalty,
                "share": one.share,
                "exact": one.residual_penalty > 0,
                "feature_weight": one.feature_weight,
                **{PART_NAMES[part]: self.contest.loss(one, part) for part in PARTS},
            }
            for one in self.contest.candidates()
            if isinstance(one, Penalties)
        ]
        return found

    def std_factor(
        self, observed: Observations, yes_no: BoolArray, chosen: Penalties | Literal["trivial"]
    ) -> FloatArray:
        """Give the factor of standard deviations for 90 % intervals to hold 90 % of held-out numbers."""
        where = self.held.where("numbers")
        if not where.size or chosen == "trivial":
            return np.ones(self.n_features)
        ratios = []
        stds = np.full(self.held.value.size, np.nan)
        for number, fold in enumerate(self.folds):
            fit = Minimiser.fit(
                fold.visible,
                yes_no,
                chosen,
                lambda objective: next(
                    solve_path(objective, [objective.rank_penalty], tol=PATH_TOL, max_iter=PATH_ROUNDS)
                )[1],
                center=self.center,
                scale=self.scale,
                free_offsets=self.center,
            )
            numbers = fold.part == PARTS.index("numbers")
            row, column = fold.row[numbers], fold.column[numbers]
            std = fit.predict(fold.visible).std[row, column]
            own = slice(self.contest.bounds[number], self.contest.bounds[number + 1])
            stds[own][numbers] = std
            means = self.contest.means[chosen][own]
            with np.errstate(over="ignore"):
                errors = np.abs(means[numbers] - fold.value[numbers]) / np.maximum(std, 1e-300)
            ratios.append(np.minimum(errors, np.finfo(np.float64).max))
        factor = calibrated(np.concatenate(ratios), self.held.column[where], self.n_features)
        self.stds[where] = factor[self.held.column[where]] * stds[where]
        return factor

    def judged_cells(self) -> JudgedCells:
        """Give all held-out cells with the predictions of the minimisers that were chosen."""
        mean, trivial = np.full(self.held.value.size, np.nan), self.contest.means.get("trivial", np.empty(0))
        for part in PARTS:
            where = self.held.where(part)
            if where.size:
                best = self.best("features" if part in FEATURE_PARTS else "labels")
                mean[where] = self.contest.means[best][where]
        return judged_cells(self.folds, mean, self.stds, trivial, self.n_columns)
