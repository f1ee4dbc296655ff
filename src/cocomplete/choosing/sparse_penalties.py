"""Penalties of F's minimiser on a sparse table, chosen on what is held out of some of its rows.

Where there are labels, those of a fifth of the rows are held out and predicted from the features; otherwise a
tenth of the known cells of the features is. Along a path of falling λ1 each answer starts from the last; a
path ends when it has become worse twice, and the next begins a little above where that was best. Where
features of each label's own are to answer together with the factors, it is their answer that is judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.checkpoint import Stage
from cocomplete.choosing.minimisers import FEATURE_WEIGHTS, Given
from cocomplete.choosing.sparse_held_out import SparseHeldOut, hold_out
from cocomplete.engines.row_blocks import row_bounds
from cocomplete.interrupts import acknowledge_stop, stop_requested
from cocomplete.losses import log_loss
from cocomplete.problem.sparse_encoding import SparseCells, SparseEncoding
from cocomplete.problem.sparse_objective import SparseObjective
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.solvers.own_features import STEPS, OwnFeatures
from cocomplete.solvers.solution import Progress, Solution
from cocomplete.solvers.sparse_factored import largest_penalty, solve_sparse
from cocomplete.solvers.sparse_rows import Columns
from cocomplete.table.sparse_matrix import SparseMatrix

SHARES = tuple(float(share) for share in np.geomspace(0.5, 0.08, 6))
"""λ1 along a path, as shares of the value that makes everything zero."""

PATH_TOL, PATH_STEPS, PATH_ROUNDS = 1e-2, 20, 15
"""Gap, and most steps of L-BFGS or rounds of the Newton solver: the order of candidates needs no more."""

SINGLE = 1_000_000
"""Cells beyond which candidates are fitted in single precision, for the same reason."""

PATH_OWN_STEPS = 10
"""Steps of the labels' own features, likewise."""

PANEL_NUMBERS = 4_000_000
"""Log-odds that are worked out together."""


@dataclass(frozen=True)
class SparseChoice:
    """What was chosen, and by what.

    Attributes
    ----------
    rank_penalty, feature_weight : float
        λ1, on the scale of the whole table, and w.
    validation : dict or None
        As ``validation_`` of the estimator; None if nothing was held out.
    interrupted : bool
        Whether a request to stop cut the choice short.
    """

    rank_penalty: float
    feature_weight: float
    validation: dict[str, Any] | None = None
    interrupted: bool = False


def choose_sparse(
    table: SparseTable,
    given: Given,
    *,
    center: bool,
    scale: bool,
    max_rank: int | None,
    own_features: bool,
    seed: int,
    progress: Progress | None,
    stage: Stage | None = None,
) -> SparseChoice:
    """Choose λ1 and w, as far as they are not given.

    Parameters
    ----------
    table : SparseTable
    given : Given
    center, scale, max_rank
        As in :class:`cocomplete.CoCompleter`.
    own_features : bool
        Whether features of each label's own answer too; see :mod:`cocomplete.solvers.own_features`.
    seed : int
        Of what is held out.
    progress : callable or None
        Called with a record of every candidate.
    stage : Stage, optional
        Where what was judged is stored; what is found there is gone on from.
    """
    if given.rank_penalty is not None and given.feature_weight is not None:
        return SparseChoice(given.rank_penalty, given.feature_weight)
    held = hold_out(table, seed)
    encoding = SparseEncoding.of(held.visible, center=center, scale=scale)
    weights = FEATURE_WEIGHTS if given.feature_weight is None else (given.feature_weight,)
    if not held.labels or not held.truth.shape[1]:
        # Without labels there is nothing to weigh features against.
        weights = weights[:1]
    # λ1 stands against noise, whose spectral norm grows as √n + √m.
    times = _noise_norm(table) / _noise_norm(held.visible)
    search = _Search(held, encoding, given, times, max_rank, center=center, own_features=own_features)
    reached = None if stage is None else stage.load()
    if reached is not None:
        search.candidates, search.last = reached.head
    interrupted = False
    for weight in weights:
        for candidate in search.along(weight):
            if progress is not None:
                progress({"stage": "judging", "iteration": len(search.candidates)} | candidate)
            if stop_requested():
                break
            if stage is not None:
                stage.store((search.candidates, search.last))
        if stop_requested():
            # The minimiser that was found best is still to be fitted, in full.
            acknowledge_stop()
            interrupted = True
            break
    if stage is not None and not interrupted:
        stage.store((search.candidates, None), ended=True)
    chosen = min(search.candidates, key=lambda one: one["loss"])
    validation = _validation(held, encoding, chosen, search.candidates, own_features=own_features)
    return SparseChoice(float(chosen["rank_penalty"]), chosen["feature_weight"], validation, interrupted)


class _Search:
    """Candidates along paths of falling λ1, and what was held out of them.

    Parameters
    ----------
    held : SparseHeldOut
    encoding : SparseEncoding
        Of what is visible.
    given : Given
    times : float
        From λ1 on the scale of the rows that are fitted to that of the whole table.
    max_rank : int or None
    center, own_features : bool
    """

    def __init__(
        self,
        held: SparseHeldOut,
        encoding: SparseEncoding,
        given: Given,
        times: float,
        max_rank: int | None,
        *,
        center: bool,
        own_features: bool,
    ) -> None:
        self.held, self.encoding, self.given, self.times = held, encoding, given, times
        self.max_rank, self.center, self.own_features = max_rank, center, own_features
        self.cells = encoding.apply(held.visible)
        if self.cells.shape[0] * self.cells.shape[1] > SINGLE:
            self.cells = self.cells.astype(np.float32)
        self.candidates: list[dict[str, Any]] = []
        self.last: Solution | None = None

    def along(self, weight: float) -> Iterator[dict[str, Any]]:
        """Judge the candidates of one w that are not judged yet, until they become worse twice."""
        losses = [one["loss"] for one in self.candidates if one["feature_weight"] == weight]
        if _has_risen_twice(losses):
            return
        objective = SparseObjective.on(self.cells, 1.0, weight, self.encoding.offsets, free=self.center)
        values = self._values(objective, weight)
        if len(losses) == len(values):
            return
        if not losses:
            self.last = None
        for share, rank_penalty in values[len(losses) :]:
            losses.append(self._judge(_at(objective, rank_penalty), share))
            yield self.candidates[-1]
            if _has_risen_twice(losses):
                break

    def _values(self, objective: SparseObjective, weight: float) -> list[tuple[float | None, float]]:
        """λ1 of a path, on the scale of the rows that are fitted, with their shares of the largest."""
        if self.given.rank_penalty is not None:
            return [(None, self.given.rank_penalty / self.times)]
        top = largest_penalty(objective) or 1.0
        weights = [one["feature_weight"] for one in self.candidates]
        # Of the paths before this one, which may have begun already.
        before = self.candidates[: weights.index(weight) if weight in weights else None]
        first = 0
        if before:
            last = [one for one in before if one["feature_weight"] == before[-1]["feature_weight"]]
            best = min(last, key=lambda one: float(one["loss"]))
            first = max(SHARES.index(best["share"]) - 1, 0)
        return [(share, share * top) for share in SHARES[first:]]

    def _judge(self, objective: SparseObjective, share: float | None) -> float:
        """Solve at one λ1 from the last solution, and work out the loss of what is held out."""
        listed = objective.stored.features is None and objective.stored.labels is None
        self.last = solve_sparse(
            objective,
            tol=PATH_TOL,
            max_iter=PATH_ROUNDS if listed else PATH_STEPS,
            max_rank=self.max_rank,
            start=self.last,
            certify=False,
        )
        columns = Columns.of(objective, self.last)
        own = own_of(self.held.visible, self.cells, columns, PATH_OWN_STEPS) if self.own_features else None
        loss = _loss(self.held, self.encoding, columns, own)
        self.candidates.append(
            {
                "rank_penalty": objective.rank_penalty * self.times,
                "share": share,
                "feature_weight": objective.feature_weight,
                "loss": loss,
            }
        )
        return loss


def _has_risen_twice(losses: list[float]) -> bool:
    """Whether the last two losses were each above the best before them."""
    return len(losses) > 2 and min(losses[-2:]) > min(losses[:-2])


def own_of(
    table: SparseTable,
    cells: SparseCells,
    columns: Columns,
    steps: int = STEPS,
    stage: Stage | None = None,
) -> OwnFeatures:
    """Fit features of each label's own beside a minimiser's columns; absent cells of both are zeros."""
    assert cells.labels is not None
    d = table.n_features
    U = columns.rows(replace(cells, labels=None))
    return OwnFeatures.fit(
        table.X, cells.labels, U, columns.V[d:], columns.offsets[d:], columns.rank_penalty, steps, stage
    )


def _at(objective: SparseObjective, rank_penalty: float) -> SparseObjective:
    return SparseObjective.on(
        objective.stored,
        rank_penalty,
        objective.feature_weight,
        objective.offsets,
        free=objective.free_offsets,
    )


def _noise_norm(table: SparseTable) -> float:
    return float(np.sqrt(table.n_samples) + np.sqrt(table.n_features + table.n_labels))


# -- how wrong it is -----------------------------------------------------------------------------------


def _loss(
    held: SparseHeldOut, encoding: SparseEncoding, columns: Columns | None, own: OwnFeatures | None = None
) -> float:
    """Give the mean loss of held-out cells: log-loss of labels, squares of features in units of their spread.

    Without columns, that of the trivial answer.
    """
    d = held.rows.n_features
    total, count = 0.0, 0
    for first, last in row_bounds(held.rows.n_samples, max(held.truth.shape[1], 1), PANEL_NUMBERS):
        truth = held.truth.rows(first, last)
        T = _values(held.rows.rows(first, last), encoding, columns, own)
        if held.labels:
            z = np.tile(encoding.log_odds, (last - first, 1))
            z[:, encoding.varied] = T[:, d:]
            y = _dense(truth)
            known = ~np.isnan(y)
            total += float(log_loss(z[known], y[known]).sum())
            count += int(known.sum())
        else:
            row = np.repeat(np.arange(last - first), np.diff(truth.matrix.indptr))
            column = truth.matrix.indices
            x = encoding.standard(truth.matrix.data, column)
            total += float(((T[row, column] - x) ** 2).sum())
            count += int(row.size)
    return total / max(count, 1)


def _values(
    rows: SparseTable, encoding: SparseEncoding, columns: Columns | None, own: OwnFeatures | None
) -> FloatArray:
    """Give the model's value in every cell of the solvers' columns."""
    if columns is None:
        return np.tile(encoding.offsets, (rows.n_samples, 1))
    U = columns.rows(encoding.apply(rows))
    T = np.asarray(U @ columns.V.T + columns.offsets)
    if own is not None:
        T[:, rows.n_features :] = own.log_odds(rows.X, U)
    return T


def _dense(table: SparseMatrix) -> FloatArray:
    """Give a few rows with all their cells; NaN where unknown."""
    if table.zeros:
        return np.asarray(table.matrix.toarray())
    out = np.full(table.shape, np.nan)
    row: NDArray[np.intp] = np.repeat(np.arange(table.shape[0]), np.diff(table.matrix.indptr))
    out[row, table.matrix.indices] = table.matrix.data
    return out


def _validation(
    held: SparseHeldOut,
    encoding: SparseEncoding,
    chosen: dict[str, Any],
    candidates: list[dict[str, Any]],
    *,
    own_features: bool,
) -> dict[str, Any]:
    """Give errors on held-out cells beside the trivial answer's, and every candidate."""
    trivial, cells = _loss(held, encoding, None), int(held.truth.known_counts().sum())
    if held.labels:
        errors = {"log_loss": chosen["loss"], "trivial_log_loss": trivial}
    else:
        errors = {"rmse": float(np.sqrt(chosen["loss"])), "trivial_rmse": float(np.sqrt(trivial))}
    part = "unlabelled" if held.labels else "features"
    name = "own features" if own_features else "minimiser"
    return {part: {**errors, "cells": cells, "weights": {name: 1.0}}, "candidates": candidates}
