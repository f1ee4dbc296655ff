"""The rivals of the benchmark on many tables: those of ``make bench-real`` with grids that suit small tables.

Tables are narrower here and often nearly complete, so the grids reach to weaker penalties, and
IterativeImputer also has its default estimator. Wide tables get shorter grids and some rivals not at all,
because tuning them would take longer than everything else together; :func:`why_skipped` names them.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

from protocol import Answer
from rivals import (
    Rival,
    boosted_trees,
    chained_equations,
    collective_factors,
    column_means,
    gaussian_copula,
    grid_of,
    logistic,
    nearest_rows,
)

TRIVIAL = "mean/majority"

WIDE = 80
"""A table with more columns, features and labels together, gets the shorter grid."""


@dataclass(frozen=True)
class TableRival:
    """A method, the settings to try, and the tables it can afford.

    Attributes
    ----------
    fill : callable
    grid : tuple of dict
    wide_grid : tuple of dict or None
        Settings for tables of more than ``WIDE`` columns; the same if None.
    most_columns, most_cells : float
        Greatest number of columns, and of cells, the rival is run on.
    """

    fill: Any
    grid: tuple[dict[str, Any], ...]
    wide_grid: tuple[dict[str, Any], ...] | None = None
    most_columns: float = np.inf
    most_cells: float = np.inf

    def on(self, n_columns: int) -> Rival:
        """Give the rival with the grid for a table of this many columns."""
        wide = n_columns > WIDE and self.wide_grid is not None
        return Rival(self.fill, self.wide_grid if wide else self.grid)

    def why_skipped(self, n_rows: int, n_columns: int) -> str | None:
        """Tell why a table is too large for the rival; None if it is not."""
        if n_columns > self.most_columns:
            return f"more than {self.most_columns} columns"
        if n_rows * n_columns > self.most_cells:
            return f"more than {self.most_cells} cells"
        return None


def boosted_columns(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, **setting: Any) -> Answer:
    """Boosted trees for every column, feature or label, from all other columns with their holes as NaN.

    A column of zeros and ones gets a classifier and is filled with the probability of a 1, any other one a
    regressor. Unlike chained equations it never sees a filled value.
    """
    n, d = X.shape
    table = np.hstack((X, Y))
    if X_new is not None:
        table = np.vstack((table, np.hstack((X_new, np.full((len(X_new), Y.shape[1]), np.nan)))))
    filled = np.empty_like(table)
    for j in range(table.shape[1]):
        filled[:, j] = _boosted_column(table, n, j, setting)
    filled = np.where(np.isnan(table), filled, table)
    new = (None, None) if X_new is None else (filled[n:, :d], filled[n:, d:])
    return Answer(filled[:n, :d], filled[:n, d:], new[1], X_new=new[0])


def _boosted_column(table: np.ndarray, n: int, j: int, setting: dict[str, Any]) -> np.ndarray:
    """Predict column ``j`` for all rows from its observed cells in the first ``n``."""
    target, others = table[:n, j], np.delete(table, j, axis=1)
    known = ~np.isnan(target)
    values = np.unique(target[known])
    # The trees take NaN, but not a column that shows nothing else.
    usable = ~np.isnan(others[:n][known]).all(axis=0)
    if len(values) < 2 or not usable.any():
        return np.full(len(table), target[known].mean() if known.any() else 0.0)
    inputs = others[:n][known][:, usable]
    if np.isin(values, (0.0, 1.0)).all():
        fitted = HistGradientBoostingClassifier(random_state=0, **setting).fit(inputs, target[known])
        return fitted.predict_proba(others[:, usable])[:, 1]
    fitted = HistGradientBoostingRegressor(random_state=0, **setting).fit(inputs, target[known])
    return fitted.predict(others[:, usable])


LIGHT_TREES = (
    {"max_iter": 60, "learning_rate": 0.03, "max_depth": 3, "max_features": 0.5, "min_samples_leaf": 5},
    {"max_iter": 60, "learning_rate": 0.1, "max_leaf_nodes": 15, "max_features": 0.5, "min_samples_leaf": 10},
)

TABLE_RIVALS = {
    TRIVIAL: TableRival(column_means, ({},)),
    "logistic after mean": TableRival(
        logistic, grid_of(C=(1e-3, 1e-2, 1e-1, 1.0, 10.0)), grid_of(C=(1e-3, 1e-2, 1e-1))
    ),
    "KNNImputer": TableRival(
        nearest_rows,
        grid_of(n_neighbors=(5, 10, 20, 40, 80)) + grid_of(n_neighbors=(10, 40), weights=("distance",)),
        grid_of(n_neighbors=(10, 20, 40, 80)),
    ),
    "cmfrec CMF": TableRival(
        collective_factors,
        grid_of(w_user=(None,), lambda_=(1, 3, 8, 20)) + grid_of(w_user=(0.3,), lambda_=(1, 3, 8)),
        grid_of(w_user=(None,), lambda_=(4, 10, 20)) + grid_of(w_user=(0.3,), lambda_=(3, 8)),
    ),
    "IterativeImputer": TableRival(
        chained_equations,
        grid_of(ridge=(None, 1, 3, 10, 30, 100, 300, 1000)),
        grid_of(ridge=(30, 300)),
    ),
    "HistGradientBoosting": TableRival(
        boosted_trees,
        (
            {"learning_rate": 0.005, "max_depth": 3, "max_features": 0.3, "min_samples_leaf": 5},
            {"learning_rate": 0.02, "max_depth": 2, "max_features": 0.3, "min_samples_leaf": 5},
            {"learning_rate": 0.05, "max_depth": 3, "max_features": 0.3, "min_samples_leaf": 5},
            {"learning_rate": 0.1, "max_leaf_nodes": 15, "max_features": 0.5, "min_samples_leaf": 10},
        ),
        (
            {
                "max_iter": 50,
                "learning_rate": 0.02,
                "max_depth": 2,
                "max_features": 0.1,
                "min_samples_leaf": 5,
            },
        ),
    ),
    "boosting per column": TableRival(boosted_columns, LIGHT_TREES, most_columns=40),
    "gcimpute": TableRival(
        gaussian_copula,
        grid_of(rank=(None, 5), yes_no_probability=(True,)),
        most_columns=40,
        most_cells=15000,
    ),
}
"""Quick ones first, so that an interrupted run has something to show."""
