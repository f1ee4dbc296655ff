"""From settings and a sparse table to fitted attributes.

The minimiser of F with λ2 = 0 answers. With all penalties "auto" and ``averaging``, where absent cells of
both tables are zeros, labels of rows whose features alone are known are answered by its factors together
with features of each label's own.
"""

import hashlib
from typing import Any

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.checkpoint import Checkpoint
from cocomplete.choosing.sparse_penalties import choose_sparse, own_of
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.resuming import sparse_checkpoint_of
from cocomplete.estimator.settings import Settings, seed_of
from cocomplete.estimator.sparse_input import SparseInput
from cocomplete.estimator.thresholds import given_thresholds
from cocomplete.fitted.parts import PARTS
from cocomplete.fitted.sparse_model import SparseModel, reach
from cocomplete.interrupts import acknowledge_stop, stop_requested
from cocomplete.problem.sparse_encoding import SparseEncoding
from cocomplete.problem.sparse_objective import SparseObjective
from cocomplete.solvers.solution import Progress, Solution
from cocomplete.solvers.sparse_factored import solve_sparse, with_gap
from cocomplete.solvers.sparse_rows import Columns
from cocomplete.table.schema import Schema

STILL_GAINS = 5.0
"""Tolerances that ten steps must gain, as a share of F, to be followed by others, where features of labels'
own answer. On 10 000 x 1 500 x 2 000 the log-loss of new rows' labels was 0.0474 after 25 steps and after 50;
steps 11 to 20 had gained 0.4 %."""


def fit_sparse(
    settings: Settings, given: SparseInput, messages: Messages, progress: Progress | None
) -> dict[str, Any]:
    """Choose what is "auto", minimise F, and give every attribute that the fit sets."""
    table = given.table
    own_features = settings.wants_ensemble and table.X.zeros and table.Y.zeros and table.n_labels > 0
    checkpoint = sparse_checkpoint_of(settings, given, messages)
    choice = choose_sparse(
        table,
        settings.given,
        center=settings.center,
        scale=settings.scale,
        max_rank=settings.max_rank,
        own_features=own_features,
        seed=seed_of(settings.random_state),
        progress=progress,
        stage=None if checkpoint is None else checkpoint.stage("choice"),
    )
    messages.validation(choice.validation)
    encoding = SparseEncoding.of(table, center=settings.center, scale=settings.scale)
    cells = encoding.apply(table)
    objective = SparseObjective.on(
        cells,
        choice.rank_penalty,
        choice.feature_weight,
        encoding.offsets,
        free=settings.center,
    )
    certify = not own_features or settings.certify
    solution = _solved(objective, settings, messages, progress, checkpoint, own_features=own_features)
    columns = Columns.of(objective, solution)
    own = None
    if own_features:
        # Those of a fit that was cut short begin elsewhere.
        stage = None if checkpoint is None else checkpoint.stage(f"own-{_digest(columns.V, columns.offsets)}")
        own = own_of(table, cells, columns, stage=stage)
        messages.log(f"{own.weight.size} features of labels' own, of {own.start.size - 1} by {len(own.V)}")
    interrupted = solution.interrupted or choice.interrupted or stop_requested()
    if interrupted:
        acknowledge_stop()
        messages.interrupted()
    elif checkpoint is not None:
        checkpoint.clear()
    model = SparseModel(encoding, columns, *reach(table.X, clip=settings.clip), given.label_interface, own)
    return {
        "_model": model,
        "validation_": choice.validation,
        "thresholds_": given_thresholds(settings.threshold, table.n_labels),
        **_column_attributes(given),
        **_low_rank_attributes(model, objective, solution),
        **(_certificate_attributes(solution) if certify else {"certified_": False}),
    }


def _solved(
    objective: SparseObjective,
    settings: Settings,
    messages: Messages,
    progress: Progress | None,
    checkpoint: Checkpoint | None,
    *,
    own_features: bool,
) -> Solution:
    """Minimise F, to the gap that was asked for or, where features of labels' own answer, while it gains."""
    messages.log(f"solver 'factored': a sparse table of {objective.shape[0]} x {objective.shape[1]} cells")
    # A choice that was cut short leads to other penalties than one that goes on.
    penalties = _digest(np.array([objective.rank_penalty, objective.feature_weight]))
    solution = solve_sparse(
        objective,
        tol=STILL_GAINS * settings.tol if own_features else settings.tol,
        max_iter=settings.max_iter,
        max_rank=settings.max_rank,
        certify=not own_features,
        progress=progress,
        stages=None if checkpoint is None else lambda name: checkpoint.stage(f"{name}-{penalties}"),
    )
    if solution.interrupted:
        acknowledge_stop()
    elif own_features and not solution.converged:
        messages.still_gaining(solution)
    if own_features and settings.certify:
        # The gap of what answers: it is looked at, and changes nothing.
        solution = with_gap(objective, solution, settings.tol)
    messages.log(
        f"objective {solution.objective:.6g}, gap {solution.duality_gap:.2g}, rank {solution.M.rank} "
        f"after {solution.n_iter} iterations"
    )
    if not (solution.converged or solution.interrupted) and (not own_features or settings.certify):
        messages.not_converged("factored", solution, settings.tol, settings.max_rank or solution.M.rank)
    return solution


def _digest(*arrays: FloatArray) -> str:
    """Name numbers by their bits."""
    digest = hashlib.blake2b(digest_size=8)
    for array in arrays:
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _column_attributes(given: SparseInput) -> dict[str, Any]:
    """Describe the table's columns."""
    found: dict[str, Any] = {
        "n_features_in_": given.table.n_features,
        "n_labels_": given.table.n_labels,
        "feature_types_": np.full(given.table.n_features, "number"),
        "_features": Schema(()),
        "_labels": Schema(()),
        "_flat_labels": given.flat,
    }
    if given.label_names is not None:
        found["label_names_in_"] = np.asarray(given.label_names, dtype=object)
    return found


def _low_rank_attributes(
    model: SparseModel, objective: SparseObjective, solution: Solution
) -> dict[str, Any]:
    """Describe M in the user's columns."""
    d, varied, M = model.n_features, model.encoding.varied, solution.M
    kept = np.concatenate((np.ones(d, bool), varied))
    components = np.zeros((M.rank, len(kept)), M.Vt.dtype)
    components[:, kept] = M.Vt
    features = model.encoding.scale.restore(solution.offsets[:d].astype(np.float64))
    labels = model.encoding.log_odds.astype(np.float64)
    labels[varied] = solution.offsets[d:]
    members: list[dict[str, Any]] = [{"name": "minimiser", **dict.fromkeys(PARTS, 1.0)}]
    if model.own is not None:
        members[0]["unlabelled"] = 0.0
        members.append({"name": "own features", **{part: float(part == "unlabelled") for part in PARTS}})
    return {
        "members_": tuple(members),
        "rank_": M.rank,
        "singular_values_": M.s,
        "components_": components,
        "offsets_": np.concatenate((features, labels)),
        "n_iter_": solution.n_iter,
        "rank_penalty_": objective.rank_penalty,
        "residual_penalty_": 0.0,
        "feature_weight_": objective.feature_weight,
        "recorded_share_": None,
    }


def _certificate_attributes(solution: Solution) -> dict[str, Any]:
    return {
        "certified_": True,
        "solver_": "factored",
        "feature_solution_": solution,
        "label_solution_": solution,
        "polished_": False,
        "objective_": solution.objective,
        "duality_gap_": solution.duality_gap,
        "converged_": solution.converged,
        "history_": solution.history,
    }
