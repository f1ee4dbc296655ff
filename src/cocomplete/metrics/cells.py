"""Which cells count, and the answer a metric gives about them."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import check_flag
from cocomplete.table.containers import as_frame, to_table

SHOWN = 10
"""How many names a message lists before it only counts the rest."""


class Score(NamedTuple):
    """A score and what it rests on.

    Attributes
    ----------
    value : float or ndarray of shape (n_labels,)
        The score; one per label with ``average=None``.
    n_cells : int
        Cells it was computed from.
    skipped : tuple
        What the value does not cover: columns, by name if the truth is a DataFrame and by index
        otherwise; rows, by position, for the metrics that average over rows.
    """

    value: Any
    n_cells: int
    skipped: tuple[str | int, ...]

    def answer(self, *, return_counts: bool) -> Any:
        """Give the whole score or its value alone, as the caller of a metric asked."""
        check_flag("return_counts", return_counts)
        return self if return_counts else self.value


class Cells(NamedTuple):
    """Truth and prediction as matrices, and the cells that count.

    Attributes
    ----------
    truth, predicted : ndarray of shape (n_rows, n_columns)
        float64; anything may stand in cells that do not count.
    counted : ndarray of bool, same shape
    names : tuple of str or None
        Column names of the truth.
    """

    truth: FloatArray
    predicted: FloatArray
    counted: BoolArray
    names: tuple[str, ...] | None

    def columns(self, numbers: Iterable[int]) -> tuple[str | int, ...]:
        """Give the columns that are meant, by name if they have names."""
        return tuple(int(j) if self.names is None else self.names[j] for j in numbers)

    def score(self, value: Any) -> Score:
        """Report a value computed from all counted cells."""
        return Score(value, int(self.counted.sum()), self.columns(np.flatnonzero(~self.counted.any(axis=0))))


def read_cells(truth: Any, predicted: Any, observed: Any, mask: Any) -> Cells:
    """Bring both tables to arrays and find the cells that count.

    Parameters
    ----------
    truth, predicted : array-like or DataFrame of shape (n_rows, n_columns)
        Unknown truth does not count; a prediction must be known wherever a cell counts.
    observed : array-like of bool, same shape, or None
        Cells that do not count, since the method was shown them.
    mask : array-like of bool, same shape, or None
        Cells to count.

    Raises
    ------
    InputError
        If the tables do not match, nothing is left to count or a counted prediction is unknown.
    """
    true, names = to_table(truth, "truth")
    pred, pred_names = to_table(predicted, "prediction")
    if true.shape != pred.shape:
        msg = f"truth has shape {true.shape} but prediction has {pred.shape}; they must be the same table"
        raise InputError(msg)
    if names and pred_names and names != pred_names and set(names) == set(pred_names):
        msg = (
            "truth and prediction have the same columns in a different order; "
            f"bring the prediction into the truth's order: {listed(names)}"
        )
        raise InputError(msg)
    counted = ~np.isnan(true)
    for name, given, sense in (("observed", observed, False), ("mask", mask, True)):
        if given is not None:
            counted &= _read_mask(given, name, true.shape) == sense
    if not counted.any():
        msg = "no cell is left to count: every truth is unknown or excluded by observed or mask"
        raise InputError(msg)
    holes = int(np.isnan(pred[counted]).sum())
    if holes:
        msg = f"the prediction is unknown (NaN) in {holes} counted cell(s); fill it first"
        raise InputError(msg)
    return Cells(true.astype(np.float64, copy=False), pred.astype(np.float64, copy=False), counted, names)


def read_labels(Y_true: Any, Y_score: Any, observed: Any, mask: Any) -> Cells:
    """Read 0/1 truth and real scores, any scale."""
    cells = read_cells(Y_true, Y_score, observed, mask)
    truth, score = cells.truth[cells.counted], cells.predicted[cells.counted]
    strange = truth[(truth != 0) & (truth != 1)]
    if strange.size:
        msg = (
            f"Y_true must hold 0, 1 or unknown, but a counted cell holds {strange[0]:g}; recode it to 0 and 1"
        )
        raise InputError(msg)
    infinite = int(np.isinf(score).sum())
    if infinite:
        msg = f"the label scores are infinite in {infinite} counted cell(s); pass finite scores"
        raise InputError(msg)
    return cells


def read_probabilities(Y_true: Any, Y_proba: Any, observed: Any, mask: Any) -> Cells:
    """Read 0/1 truth and probabilities of a 1."""
    cells = read_labels(Y_true, Y_proba, observed, mask)
    proba = cells.predicted[cells.counted]
    outside = proba[(proba < 0) | (proba > 1)]
    if outside.size:
        msg = (
            f"Y_proba must lie between 0 and 1, but a counted cell holds {outside[0]:g}; "
            "pass probabilities, as predict_proba gives them, not scores"
        )
        raise InputError(msg)
    return cells


def listed(names: tuple[str | int, ...]) -> str:
    """Put the first few names into a message and count the rest."""
    shown = ", ".join(repr(name) for name in names[:SHOWN])
    return shown + (f" and {len(names) - SHOWN} more" if len(names) > SHOWN else "")


def _read_mask(given: Any, name: str, shape: tuple[int, ...]) -> BoolArray:
    frame = as_frame(given, name)
    try:
        cells = np.asarray(given) if frame is None else frame.to_numpy()
    except (TypeError, ValueError) as error:
        msg = f"{name} must be a mask of booleans of shape {shape}, but cannot be read: {error}"
        raise InputError(msg) from error
    if cells.ndim == 1:
        # A one-dimensional table is read as one column, so its mask is too.
        cells = cells.reshape(-1, 1)
    if cells.dtype != np.bool_ or cells.shape != shape:
        msg = (
            f"{name} must be a mask of booleans of shape {shape}, "
            f"but has type {cells.dtype} and shape {cells.shape}"
        )
        raise InputError(msg)
    return cells
