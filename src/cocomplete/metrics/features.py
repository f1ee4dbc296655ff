"""Errors of filled features."""

from typing import Any

import numpy as np
from scipy.special import ndtri

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.metrics.cells import Cells, read_cells
from cocomplete.parameter_checks import check_choice, check_confidence
from cocomplete.table.containers import to_table


def relative_error(
    X_true: Any, X_pred: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Relative Frobenius error of features, ‖X̂ − X‖_F / ‖X‖_F.

    Parameters
    ----------
    X_true, X_pred : array-like or DataFrame of shape (n_samples, n_features)
        Truth and completion; unknown truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the columns without any.

    Returns
    -------
    float or Score
        The paper's X error when neither ``observed`` nor ``mask`` is given.

    Examples
    --------
    >>> relative_error([[3.0, 4.0]], [[3.0, 5.0]])
    0.2
    >>> relative_error([[3.0, 4.0]], [[3.0, 5.0]], observed=[[True, False]])
    0.25
    """
    cells = read_cells(X_true, X_pred, observed, mask)
    size = float(np.linalg.norm(cells.truth[cells.counted]))
    if size == 0:
        msg = "X_true is zero in every counted cell, so a relative error is undefined; use a root mean square"
        raise InputError(msg)
    value = float(np.linalg.norm(_errors(cells))) / size
    return cells.score(value).answer(return_counts=return_counts)


def standardized_rmse(
    X_true: Any, X_pred: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Root mean square error of features, each column divided by its true standard deviation.

    Filling column means scores about 1, whatever the units of the columns.

    Parameters
    ----------
    X_true, X_pred : array-like or DataFrame of shape (n_samples, n_features)
        Truth and completion; unknown truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the columns without any.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> standardized_rmse([[0.0, 10.0], [2.0, 30.0]], [[1.0, 10.0], [2.0, 30.0]])
    0.5
    """
    cells = read_cells(X_true, X_pred, observed, mask)
    spread = np.broadcast_to(_spread(cells.truth), cells.truth.shape)[cells.counted]
    value = float(np.sqrt(np.mean((_errors(cells) / spread) ** 2)))
    return cells.score(value).answer(return_counts=return_counts)


def rmse(
    X_true: Any, X_pred: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Root mean square error of features in their own units, all counted cells together.

    Parameters
    ----------
    X_true, X_pred : array-like or DataFrame of shape (n_samples, n_features)
        Truth and completion; unknown truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the columns without any.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> rmse([[1.0, float("nan")], [3.0, 4.0]], [[1.0, 9.0], [3.0, 4.0]])
    0.0
    """
    cells = read_cells(X_true, X_pred, observed, mask)
    value = float(np.sqrt(np.mean(_errors(cells) ** 2)))
    return cells.score(value).answer(return_counts=return_counts)


def mae(
    X_true: Any, X_pred: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Mean absolute error of features in their own units, all counted cells together.

    Parameters
    ----------
    X_true, X_pred : array-like or DataFrame of shape (n_samples, n_features)
        Truth and completion; unknown truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the columns without any.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> mae([[1.0, 2.0]], [[2.0, 4.0]], return_counts=True)
    Score(value=1.5, n_cells=2, skipped=())
    """
    cells = read_cells(X_true, X_pred, observed, mask)
    value = float(np.mean(np.abs(_errors(cells))))
    return cells.score(value).answer(return_counts=return_counts)


def interval_coverage(
    X_true: Any,
    X_pred: Any,
    X_std: Any,
    level: float = 0.9,
    *,
    average: str = "columns",
    observed: Any = None,
    mask: Any = None,
    return_counts: bool = False,
) -> Any:
    """Share of true features inside their Gaussian interval; it should be close to ``level``.

    The interval of a cell is its prediction ± z·std, where z is the normal quantile of (1 + level) / 2.

    Parameters
    ----------
    X_true, X_pred : array-like or DataFrame of shape (n_samples, n_features)
        Truth and completion; unknown truth is skipped.
    X_std : array-like or DataFrame, same shape
        Standard deviation of each filled cell.
    level : float, default=0.9
        Share the intervals are meant to hold, between 0 and 1.
    average : {"columns", "cells"}, default="columns"
        Average each column's own share, or count all cells equally.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the columns without any.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> interval_coverage([[0.0], [5.0]], [[0.5], [0.5]], [[1.0], [1.0]])
    0.5
    """
    check_confidence(level, "level")
    check_choice("average", average, ("columns", "cells"))
    cells = read_cells(X_true, X_pred, observed, mask)
    std = _read_std(X_std, cells)
    inside = np.zeros(cells.counted.shape, dtype=bool)
    inside[cells.counted] = np.abs(_errors(cells)) <= ndtri((1 + level) / 2) * std
    hits, counts = inside.sum(axis=0), cells.counted.sum(axis=0)
    shares = hits[counts > 0] / counts[counts > 0]
    value = float(np.mean(shares)) if average == "columns" else float(hits.sum() / counts.sum())
    return cells.score(value).answer(return_counts=return_counts)


def _errors(cells: Cells) -> FloatArray:
    """Return prediction minus truth in the counted cells, shape (n_cells,)."""
    errors: FloatArray = cells.predicted[cells.counted] - cells.truth[cells.counted]
    return errors


def _spread(truth: FloatArray) -> FloatArray:
    """Return each column's standard deviation over its known cells, shape (n_columns,)."""
    known = ~np.isnan(truth)
    spread = np.ones(truth.shape[1])
    spread[known.any(axis=0)] = np.nanstd(truth[:, known.any(axis=0)], axis=0)
    # A constant column has no scale of its own: its errors count in its own units.
    spread[spread == 0] = 1.0
    return spread


def _read_std(X_std: Any, cells: Cells) -> FloatArray:
    """Return the standard deviations of the counted cells, shape (n_cells,)."""
    table = to_table(X_std, "X_std").values
    if table.shape != cells.truth.shape:
        msg = f"X_std has shape {table.shape} but X_true has {cells.truth.shape}; give every cell its own"
        raise InputError(msg)
    std = table[cells.counted].astype(np.float64)
    unfit = int((~(std >= 0)).sum())
    if unfit:
        msg = f"X_std must be 0 or more, but is negative or unknown in {unfit} counted cell(s)"
        raise InputError(msg)
    return std
