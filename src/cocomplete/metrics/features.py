"""Errors of filled features."""

from math import ldexp
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
    cells = _read_features(X_true, X_pred, observed, mask)
    truth = cells.truth[cells.counted]
    if not truth.any():
        msg = "X_true is zero in every counted cell, so a relative error is undefined; use a root mean square"
        raise InputError(msg)
    errors, power = _errors(cells)
    (size, size_power), (error, error_power) = _norm(truth), _norm(errors)
    value = _times_power(error / size, power + error_power - size_power)
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
    cells = _read_features(X_true, X_pred, observed, mask)
    error, power = _norm(_standardized(cells))
    value = _times_power(error / np.sqrt(cells.counted.sum()), power)
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
    cells = _read_features(X_true, X_pred, observed, mask)
    errors, power = _errors(cells)
    value = _times_power(float(np.sqrt(np.mean(errors**2))), power)
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
    cells = _read_features(X_true, X_pred, observed, mask)
    errors, power = _errors(cells)
    value = _times_power(float(np.mean(np.abs(errors))), power)
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
    cells = _read_features(X_true, X_pred, observed, mask)
    std = _read_std(X_std, cells)
    inside = np.zeros(cells.counted.shape, dtype=bool)
    errors, power = _errors(cells)
    with np.errstate(over="ignore"):
        # An interval beyond the largest number holds everything.
        inside[cells.counted] = np.abs(errors) <= ndtri((1 + float(level)) / 2) * np.ldexp(std, -power)
    hits, counts = inside.sum(axis=0), cells.counted.sum(axis=0)
    shares = hits[counts > 0] / counts[counts > 0]
    value = float(np.mean(shares)) if average == "columns" else float(hits.sum() / counts.sum())
    return cells.score(value).answer(return_counts=return_counts)


def _read_features(X_true: Any, X_pred: Any, observed: Any, mask: Any) -> Cells:
    """Read numbers that can be subtracted from each other."""
    cells = read_cells(X_true, X_pred, observed, mask)
    for name, table in (("truth", cells.truth), ("prediction", cells.predicted)):
        infinite = int(np.isinf(table[cells.counted]).sum())
        if infinite:
            msg = f"the {name} is infinite in {infinite} counted cell(s); pass finite numbers"
            raise InputError(msg)
    return cells


def _errors(cells: Cells) -> tuple[FloatArray, int]:
    """Return prediction minus truth in the counted cells, shape (n_cells,), and the power of two beside it.

    Scaled like this, which is exact, numbers of any size have differences and squares.
    """
    truth, predicted = cells.truth[cells.counted], cells.predicted[cells.counted]
    power = max(_power(truth), _power(predicted))
    return np.ldexp(predicted, -power) - np.ldexp(truth, -power), power


def _norm(values: FloatArray) -> tuple[float, int]:
    """Return the Euclidean norm as a number of usual size and a power of two."""
    power = _power(values)
    return float(np.linalg.norm(np.ldexp(values, -power))), power


def _power(values: FloatArray) -> int:
    """Return the exponent of the largest number."""
    return int(np.frexp(np.abs(values).max(initial=0.0))[1])


def _times_power(value: float, power: int) -> float:
    """Return a number of usual size times a power of two, at most the largest float."""
    try:
        return ldexp(value, power)
    except OverflowError:
        return float(np.finfo(np.float64).max)


def _standardized(cells: Cells) -> FloatArray:
    """Return errors in units of their column's true standard deviation, shape (n_cells,)."""
    known = np.isfinite(cells.truth)
    truth, predicted = np.where(known, cells.truth, 0.0), np.where(cells.counted, cells.predicted, 0.0)
    power = np.frexp(np.maximum(np.abs(truth), np.abs(predicted)).max(axis=0, initial=0.0))[1]
    truth, predicted = np.ldexp(truth, -power), np.ldexp(predicted, -power)
    spread = np.zeros(truth.shape[1])
    some = known.any(axis=0)
    spread[some] = np.nanstd(np.where(known, truth, np.nan)[:, some], axis=0)
    ratio = (predicted - truth) / np.where(spread > 0, spread, 1.0)
    # A constant column has no scale of its own: its errors count in its own units.
    largest = np.finfo(np.float64).max
    with np.errstate(over="ignore"):
        own = np.clip(np.ldexp(ratio, power), -largest, largest)
    return np.asarray(np.where(spread > 0, ratio, own)[cells.counted])


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
