"""What a long sparse table starts from: F on some of its rows, and their answer on the scale of all."""

from dataclasses import replace

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.problem.sparse_encoding import SparseCells
from cocomplete.problem.sparse_objective import SparseObjective
from cocomplete.solvers.solution import Solution


def in_single_precision(objective: SparseObjective) -> SparseObjective:
    """Give the same with numbers of single precision."""
    return SparseObjective.on(
        objective.stored.astype(np.float32),
        objective.rank_penalty,
        objective.feature_weight,
        objective.offsets,
        free=objective.free_offsets,
    )


def of_rows(objective: SparseObjective, rows: np.ndarray[tuple[int], np.dtype[np.intp]]) -> SparseObjective:
    """Give F on some rows of a table, with the λ1 at which their answer is nearest to that of all rows.

    Of n' rows in n the losses and ‖U‖² are the share n'/n; that of ‖V‖², the same share of λ1/2, is in the
    trace norm with λ1 √(n'/n).
    """
    share = len(rows) / objective.shape[0]
    return replace(
        objective,
        sparse_cells=objective.stored.take(rows),
        rank_penalty=objective.rank_penalty * float(np.sqrt(share)),
    )


def scaled_start(solution: Solution, times: float, offsets: FloatArray) -> Solution:
    """Bring an answer for some rows to the scale of one for so many times as many.

    Parameters
    ----------
    solution : Solution
    times : float
    offsets : ndarray of shape (m,)
        What to start from in columns of which the rows say nothing; NaN in the others.
    """
    M = replace(solution.M, s=solution.M.s * np.sqrt(times))
    return replace(solution, M=M, offsets=np.where(np.isnan(offsets), solution.offsets, offsets))


def one_sided(table: SparseCells) -> BoolArray:
    """Whether all known cells of a label are 0, or all are 1: its offset has run away then."""
    (n, m), d = table.shape, table.n_features
    ones, known = np.zeros(m), np.full(m, n)
    if table.labels is not None:
        labels = table.labels
        ones[d:] = np.bincount(labels.indices[labels.data == 1], minlength=m - d)
        known[d:] -= np.bincount(labels.indices[np.isnan(labels.data)], minlength=m - d)
    else:
        ones += np.bincount(table.explicit.y_column, table.explicit.y_value, m)
        known[d:] = np.bincount(table.explicit.y_column, minlength=m)[d:]
    answer: BoolArray = (ones == 0) | (ones == known)
    answer[:d] = False
    return answer
