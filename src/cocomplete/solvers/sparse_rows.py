"""Rows of a sparse table for given columns: what predicts new rows."""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from cocomplete.arrays import FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.cells import Cells
from cocomplete.problem.sparse_encoding import Background, SparseCells
from cocomplete.problem.sparse_objective import SparseObjective
from cocomplete.solvers.factors import FactoredObjective, Point
from cocomplete.solvers.lbfgs import lbfgs
from cocomplete.solvers.mode import Mode
from cocomplete.solvers.solution import Solution
from cocomplete.solvers.sparse_losses import LEAST_CURVATURE, SparseLosses, SparseSlopes

EXACT_STEPS = 60
"""Steps that rows with known labels are solved by, where absent cells are zeros."""


@dataclass(frozen=True, eq=False)
class Columns(FieldsAlone):
    """The columns' half of a minimiser of F.

    Attributes
    ----------
    V : ndarray of shape (m, rank)
        Right factor, √s included.
    offsets : ndarray of shape (m,)
    rank_penalty, feature_weight : float
        λ1 and w.
    """

    V: FloatArray
    offsets: FloatArray
    rank_penalty: float
    feature_weight: float

    @classmethod
    def of(cls, objective: SparseObjective, solution: Solution) -> "Columns":
        """Take them from a solution."""
        V = solution.M.Vt.T * np.sqrt(solution.M.s)
        return cls(
            np.ascontiguousarray(V), solution.offsets, objective.rank_penalty, objective.feature_weight
        )

    def rows(self, table: SparseCells) -> FloatArray:
        """Minimise every row's share of F given the columns.

        Returns
        -------
        U : ndarray of shape (n_samples, rank)
        """
        if table.features is None and table.labels is None:
            return self._mode(table.explicit).rows(table.explicit)
        if table.features is not None and table.labels is None and not table.explicit.y_value.size:
            return self.rows_by_features(table.features)
        return self._by_all(table)

    def _mode(self, cells: Cells) -> Mode:
        return Mode(self.V, self.offsets, self.rank_penalty, 2 * self.feature_weight, cells)

    def rows_by_features(self, features: Background) -> FloatArray:
        """Features alone: a row's problem is linear, and the matrix is every row's but for unknown cells."""
        d, rho = len(features.base), 2 * self.feature_weight
        V = self.V[:d].astype(np.float64)
        away = self.offsets[:d].astype(np.float64) - features.base
        matrix = rho * (V.T @ V) + self.rank_penalty * np.eye(V.shape[1])
        right = rho * (features.above @ V - away @ V)
        hidden = np.flatnonzero(np.diff(features.unknown.indptr))
        U = cho_solve(cho_factor(matrix), right.T).T if V.shape[1] else right
        for i in hidden:
            own = features.unknown.indices[features.unknown.indptr[i] : features.unknown.indptr[i + 1]]
            gone = V[own]
            U[i] = np.linalg.solve(matrix - rho * (gone.T @ gone), right[i] + rho * (away[own] @ gone))
        return np.asarray(U, self.V.dtype)

    def _by_all(self, table: SparseCells) -> FloatArray:
        """Labels too: all rows together, by gradients."""
        objective = SparseObjective.on(
            table.astype(np.float64), self.rank_penalty, self.feature_weight, self.offsets, free=False
        )
        function = FactoredObjective(objective, SparseLosses(objective.stored), np.float64)
        start = np.zeros((table.shape[0], self.V.shape[1]))
        W = solved_rows(function, function.pack(start, self.V, self.offsets), EXACT_STEPS)
        return np.asarray(W[: table.shape[0], 1 : self.V.shape[1] + 1], self.V.dtype)


def solved_rows(function: FactoredObjective, W: FloatArray, steps: int) -> FloatArray:
    """Minimise over the rows alone, all of them together."""
    losses, n = function.losses, function.losses.n
    assert isinstance(losses, SparseLosses)

    def evaluate(W: FloatArray) -> Point:
        point = function.evaluate(W)
        point.gradient[n:] = 0
        return point

    point = evaluate(W)
    assert isinstance(point.slopes, SparseSlopes)
    # Rows share the columns' Gram matrix, all but exactly: in its eigenvectors a diagonal says all.
    V, weight = W[n:, 1:], losses.column_weights(point.slopes, function.rho)
    _, rotation = np.linalg.eigh((V.T * weight.astype(W.dtype)) @ V)
    turned = W.copy()
    turned[:, 1:] = W[:, 1:] @ rotation
    point = evaluate(turned)
    assert isinstance(point.slopes, SparseSlopes)
    diagonal = losses.preconditioner(point.W, point.slopes, function.rho)
    diagonal[:, 1:] += function.ridge
    inverse = np.asarray(1 / np.maximum(diagonal, LEAST_CURVATURE))
    inverse[n:] = 0
    function.freeze(inverse)
    point, _ = lbfgs(evaluate, point, inverse, steps)
    back = point.W.copy()
    back[:, 1:] = point.W[:, 1:] @ rotation.T
    return back
