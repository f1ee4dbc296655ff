"""Errors of a completed table against the truth; cells whose truth is unknown are never counted."""

from typing import Any

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError


def relative_error(X_true: Any, X_pred: Any, *, observed: Any = None, mask: Any = None) -> float:
    """Relative Frobenius error of features, ‖X̂ − X‖_F / ‖X‖_F.

    Parameters
    ----------
    X_true, X_pred : array-like of shape (n_samples, n_features)
        Truth and completion; NaN in the truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the hidden ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.

    Returns
    -------
    float
        The paper's X error when neither ``observed`` nor ``mask`` is given.

    Examples
    --------
    >>> relative_error([[3.0, 4.0]], [[3.0, 5.0]])
    0.2
    >>> relative_error([[3.0, 4.0]], [[3.0, 5.0]], observed=[[True, False]])
    0.25
    """
    truth, predicted, counted = _cells(X_true, X_pred, observed, mask)
    size = float(np.linalg.norm(truth[counted]))
    if size == 0:
        msg = "X_true is zero in every counted cell, so a relative error is undefined; use a root mean square"
        raise InputError(msg)
    return float(np.linalg.norm(predicted[counted] - truth[counted])) / size


def standardized_rmse(X_true: Any, X_pred: Any, *, observed: Any = None, mask: Any = None) -> float:
    """Root mean square error of features, each column divided by its true standard deviation.

    Filling column means scores about 1, whatever the units of the columns.

    Parameters
    ----------
    X_true, X_pred : array-like of shape (n_samples, n_features)
        Truth and completion; NaN in the truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the hidden ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.

    Examples
    --------
    >>> standardized_rmse([[0.0, 10.0], [2.0, 30.0]], [[1.0, 10.0], [2.0, 30.0]])
    0.5
    """
    truth, predicted, counted = _cells(X_true, X_pred, observed, mask)
    spread = np.nanstd(truth, axis=0)
    # A constant column has no scale of its own: its errors count in its own units.
    error = (predicted - truth) / np.where(spread > 0, spread, 1.0)
    return float(np.sqrt(np.mean(error[counted] ** 2)))


def hamming_error(Y_true: Any, Y_pred: Any, *, observed: Any = None, mask: Any = None) -> float:
    """Share of labels that are wrong.

    Parameters
    ----------
    Y_true, Y_pred : array-like of shape (n_samples, n_labels)
        True and predicted labels, 0 or 1; NaN in the truth is skipped.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the hidden ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.

    Returns
    -------
    float
        The paper's Y error when neither ``observed`` nor ``mask`` is given.

    Examples
    --------
    >>> hamming_error([[1, 0], [0, float("nan")]], [[1, 1], [0, 1]])
    0.3333333333333333
    """
    truth, predicted, counted = _cells(Y_true, Y_pred, observed, mask)
    return float(np.mean(truth[counted] != predicted[counted]))


def _cells(truth: Any, predicted: Any, observed: Any, mask: Any) -> tuple[FloatArray, FloatArray, BoolArray]:
    """Bring both to arrays and find the cells that count."""
    true, pred = (np.asarray(table, dtype=np.float64) for table in (truth, predicted))
    if true.shape != pred.shape:
        msg = f"truth has shape {true.shape} but prediction has {pred.shape}; they must be the same table"
        raise InputError(msg)
    counted = ~np.isnan(true)
    for name, given, sense in (("observed", observed, False), ("mask", mask, True)):
        if given is None:
            continue
        cells = np.asarray(given)
        if cells.dtype != np.bool_ or cells.shape != true.shape:
            msg = (
                f"{name} must be a mask of booleans of shape {true.shape}, "
                f"but has type {cells.dtype} and shape {cells.shape}"
            )
            raise InputError(msg)
        counted &= cells == sense
    if not counted.any():
        msg = "no cell is left to count: every truth is unknown or excluded by observed or mask"
        raise InputError(msg)
    if np.isnan(pred[counted]).any():
        holes = int(np.isnan(pred[counted]).sum())
        msg = f"the prediction is unknown (NaN) in {holes} counted cell(s); fill it first"
        raise InputError(msg)
    return true, pred, counted
