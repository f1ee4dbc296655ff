"""Penalties of F's minimiser on a sparse table, chosen on what is held out of some of its rows.

Where there are labels, those of a fifth of the rows are held out and predicted from the features; otherwise a
tenth of the known cells of the features is. Along a path of falling λ1 each answer starts from the last; a
path ends when it has become worse twice. Where features of each label's own are to answer together with the
factors, it is their answer that is judged.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.choosing.minimisers import FEATURE_WEIGHTS, Given
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

ROWS, CELLS = (1_500, 6_000), 40_000_000
"""Rows of which something is held out, at least and at most, and cells that decide between the two."""

SHARES = tuple(float(share) for share in np.geomspace(0.5, 0.08, 6))
"""λ1 along a path, as shares of the value that makes everything zero."""

PATH_TOL, PATH_STEPS, PATH_ROUNDS = 1e-2, 20, 15
"""Gap, and most steps of L-BFGS or rounds of the Newton solver: the order of candidates needs no more."""

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


@dataclass(frozen=True, eq=False)
class _HeldOut:
    """A table to fit, and cells to predict.

    Attributes
    ----------
    visible : SparseTable
    rows : SparseTable
        Rows whose labels, or features, are predicted from what is visible in them.
    truth : SparseMatrix
        What is held out of them.
    labels : bool
        Whether that is labels; otherwise features.
    """

    visible: SparseTable
    rows: SparseTable
    truth: SparseMatrix
    labels: bool


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
    """
    if given.rank_penalty is not None and given.feature_weight is not None:
        return SparseChoice(given.rank_penalty, given.feature_weight)
    held = _held_out(table, seed)
    encoding = SparseEncoding.of(held.visible, center=center, scale=scale)
    cells = encoding.apply(held.visible)
    weights = FEATURE_WEIGHTS if given.feature_weight is None else (given.feature_weight,)
    if not held.labels or not held.truth.shape[1]:
        # Without labels there is nothing to weigh features against.
        weights = weights[:1]
    # λ1 stands against noise, whose spectral norm grows as √n + √m.
    times = _noise_norm(table) / _noise_norm(held.visible)
    candidates: list[dict[str, Any]] = []
    interrupted = False
    for weight in weights:
        objective = SparseObjective.on(cells, 1.0, weight, encoding.offsets, free=center)
        best, worse = np.inf, 0
        for share, rank_penalty, solution in _path(objective, given, times, max_rank):
            columns = Columns.of(_at(objective, rank_penalty), solution)
            own = own_of(held.visible, cells, columns, PATH_OWN_STEPS) if own_features else None
            loss = _loss(held, encoding, columns, own)
            candidates.append(
                {
                    "rank_penalty": rank_penalty * times,
                    "share": share,
                    "feature_weight": weight,
                    "loss": loss,
                }
            )
            if progress is not None:
                progress({"stage": "judging", "iteration": len(candidates)} | candidates[-1])
            worse = worse + 1 if loss > best else 0
            best = min(best, loss)
            if worse == 2 or stop_requested():
                break
        if stop_requested():
            # The minimiser that was found best is still to be fitted, in full.
            acknowledge_stop()
            interrupted = True
            break
    chosen = min(candidates, key=lambda one: one["loss"])
    validation = _validation(held, encoding, chosen, candidates, own_features=own_features)
    return SparseChoice(float(chosen["rank_penalty"]), chosen["feature_weight"], validation, interrupted)


def own_of(table: SparseTable, cells: SparseCells, columns: Columns, steps: int = STEPS) -> OwnFeatures:
    """Fit features of each label's own beside a minimiser's columns; absent cells of both are zeros."""
    assert cells.labels is not None
    d = table.n_features
    U = columns.rows(replace(cells, labels=None))
    return OwnFeatures.fit(
        table.X, cells.labels, U, columns.V[d:], columns.offsets[d:], columns.rank_penalty, steps
    )


def _path(
    objective: SparseObjective, given: Given, times: float, max_rank: int | None
) -> Iterator[tuple[float | None, float, Solution]]:
    """Give answers along a path of falling λ1, on the scale of the rows that are fitted."""
    if given.rank_penalty is None:
        top = largest_penalty(objective) or 1.0
        values: list[tuple[float | None, float]] = [(share, share * top) for share in SHARES]
    else:
        values = [(None, given.rank_penalty / times)]
    last: Solution | None = None
    listed = objective.stored.features is None and objective.stored.labels is None
    for share, rank_penalty in values:
        last = solve_sparse(
            _at(objective, rank_penalty),
            tol=PATH_TOL,
            max_iter=PATH_ROUNDS if listed else PATH_STEPS,
            max_rank=max_rank,
            start=last,
            certify=False,
        )
        yield share, rank_penalty, last


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


# -- what is held out ----------------------------------------------------------------------------------


def _held_out(table: SparseTable, seed: int) -> _HeldOut:
    rng = np.random.default_rng(seed)
    count = int(np.clip(CELLS // (table.n_features + table.n_labels), *ROWS))
    rows = np.sort(rng.permutation(table.n_samples)[:count])
    some = table.take(rows)
    if table.n_labels and len(rows) >= 5:
        judged = np.zeros(len(rows), bool)
        judged[rng.permutation(len(rows))[: len(rows) // 5]] = True
        hidden = some.take(np.flatnonzero(judged))
        if hidden.Y.known_counts().any():
            return _HeldOut(
                some.take(np.flatnonzero(~judged)), hidden.with_features_alone(), hidden.Y, labels=True
            )
    visible, truth = _without_cells(some.X, rng)
    visible_table = SparseTable(visible, some.Y)
    return _HeldOut(visible_table, visible_table, truth, labels=False)


def _without_cells(X: SparseMatrix, rng: np.random.Generator) -> tuple[SparseMatrix, SparseMatrix]:
    """Hide a tenth of the known cells; give what is left, and what was hidden, cells listed one by one."""
    n, m = X.shape
    if not X.zeros:
        gone = rng.random(X.matrix.nnz) < 0.1
        values = np.where(gone, np.nan, X.matrix.data)
        left = sparse.csr_array((values, X.matrix.indices, X.matrix.indptr), shape=X.shape)
        values = np.where(gone, X.matrix.data, np.nan)
        hidden = sparse.csr_array((values, X.matrix.indices, X.matrix.indptr), shape=X.shape)
        return SparseMatrix.read(left, "X", "unknown"), SparseMatrix.read(hidden, "X", "unknown")
    # As many of all cells as a tenth of them, or of those that are stored ten times over.
    count = min(n * m // 10 + 1, max(10 * X.matrix.nnz, 1))
    place = np.unique(rng.integers(0, n * m, count))
    mask = sparse.csr_array((np.ones(place.size), (place // m, place % m)), shape=X.shape)
    value = X.matrix[mask.nonzero()]
    value = np.asarray(value.todense()).ravel() if sparse.issparse(value) else np.asarray(value).ravel()
    row, column = mask.nonzero()
    known = ~np.isnan(value)
    truth = SparseMatrix(
        sparse.csr_array((value[known].astype(X.matrix.dtype), (row[known], column[known])), shape=X.shape),
        zeros=False,
    )
    left = X.matrix.tocoo()
    both = sparse.coo_array(
        (
            np.concatenate((left.data, np.full(row.size, np.nan, X.matrix.dtype))),
            (np.concatenate((left.row, row)), np.concatenate((left.col, column))),
        ),
        shape=X.shape,
    )
    # Sums with NaN are NaN: what is listed twice is hidden.
    return SparseMatrix.read(both, "X", "zero"), truth


# -- how wrong it is -----------------------------------------------------------------------------------


def _loss(
    held: _HeldOut, encoding: SparseEncoding, columns: Columns | None, own: OwnFeatures | None = None
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
    held: _HeldOut,
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
