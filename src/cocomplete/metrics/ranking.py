"""How well each row ranks its labels, averaged over rows.

Only a row's counted cells are ranked. A row with nothing to rank is skipped, never valued at 0: with many
unknown labels most rows would be such rows and any method would look perfect. scikit-learn counts them as 0;
where every row holds a 0 and a 1, and no label is unknown, the two agree.
"""

import warnings
from typing import Any

import numpy as np
from scipy.stats import rankdata
from sklearn.exceptions import UndefinedMetricWarning

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError
from cocomplete.metrics.cells import Cells, Score, read_labels
from cocomplete.parameter_checks import is_whole, shown


def ranking_loss(
    Y_true: Any, Y_score: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """Share of a row's pairs of a 1 and a 0 that are in the wrong order, averaged over rows.

    Equal scores are in the wrong order. Rows without such a pair are skipped.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_score : array-like or DataFrame, same shape
        Scores or probabilities; more means more likely a 1.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the rows skipped.

    Returns
    -------
    float or Score
        0 is best; NaN, with a warning, if every row is skipped.

    Examples
    --------
    >>> ranking_loss([[1, 0, 0], [0, None, 0]], [[0.5, 0.7, 0.1], [0.2, 0.3, 0.4]], return_counts=True)
    Score(value=0.5, n_cells=3, skipped=(1,))
    """
    cells = read_labels(Y_true, Y_score, observed, mask)
    ones = cells.counted & (cells.truth == 1)
    n_ones, n_cells = ones.sum(axis=1), cells.counted.sum(axis=1)
    pairs = n_ones * (n_cells - n_ones)
    # Of the cells scored at least as high as a 1, those that are not ones themselves are out of order.
    ahead = _position(cells.predicted, cells.counted) - _position(cells.predicted, ones)
    wrong = np.sum(ahead, axis=1, where=ones)
    score = _over_rows(wrong / np.maximum(pairs, 1), pairs > 0, cells, "ranking loss needs a 0 and a 1")
    return score.answer(return_counts=return_counts)


def coverage(
    Y_true: Any, Y_score: Any, *, observed: Any = None, mask: Any = None, return_counts: bool = False
) -> Any:
    """How far down a row's ranking one must go to meet all its ones, averaged over rows.

    Equal scores share the lowest of their places. Rows without a 1 are skipped.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_score : array-like or DataFrame, same shape
        Scores or probabilities; more means more likely a 1.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the rows skipped.

    Returns
    -------
    float or Score
        At best the mean number of ones in a row; NaN, with a warning, if every row is skipped.

    Examples
    --------
    >>> coverage([[1, 0, 1]], [[0.9, 0.5, 0.2]])
    3.0
    """
    cells = read_labels(Y_true, Y_score, observed, mask)
    ones = cells.counted & (cells.truth == 1)
    depth = np.max(_position(cells.predicted, cells.counted), axis=1, where=ones, initial=0.0)
    score = _over_rows(depth, ones.any(axis=1), cells, "coverage needs a 1")
    return score.answer(return_counts=return_counts)


def precision_at_k(
    Y_true: Any,
    Y_score: Any,
    k: int = 1,
    *,
    observed: Any = None,
    mask: Any = None,
    return_counts: bool = False,
) -> Any:
    """Share of ones among a row's k highest scores, averaged over rows.

    A row with fewer than k counted cells is judged on all of them. Equal scores at the border share the
    remaining places, so the order of the columns does not matter. Rows without a counted cell are skipped.

    Parameters
    ----------
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels, 0 or 1; unknown truth is skipped.
    Y_score : array-like or DataFrame, same shape
        Scores or probabilities; more means more likely a 1.
    k : int, default=1
        Number of labels to look at, 1 or more.
    observed : array-like of bool, same shape, optional
        Cells that the method was shown. If given, only the held-out ones count.
    mask : array-like of bool, same shape, optional
        Cells to count.
    return_counts : bool, default=False
        Return a :class:`Score`, with the number of cells used and the rows skipped.

    Returns
    -------
    float or Score

    Examples
    --------
    >>> precision_at_k([[1, 0, 1]], [[0.9, 0.5, 0.2]], k=2)
    0.5
    """
    if not is_whole(k) or k < 1:
        msg = f"k must be a whole number of 1 or more, but is {shown(k)}"
        raise InputError(msg)
    cells = read_labels(Y_true, Y_score, observed, mask)
    n_cells = cells.counted.sum(axis=1)
    places = np.minimum(min(k, cells.truth.shape[1]), n_cells)
    scores = np.where(cells.counted, cells.predicted, -np.inf)
    ranked = -np.sort(-scores, axis=1)
    border = np.take_along_axis(ranked, np.maximum(places - 1, 0)[:, None], axis=1)
    ones = cells.counted & (cells.truth == 1)
    above, level = scores > border, cells.counted & (scores == border)
    left = (places - above.sum(axis=1)) / np.maximum(level.sum(axis=1), 1)
    hits = (ones & above).sum(axis=1) + left * (ones & level).sum(axis=1)
    score = _over_rows(hits / np.maximum(places, 1), n_cells > 0, cells, "precision at k needs a cell")
    return score.answer(return_counts=return_counts)


def _position(scores: FloatArray, among: BoolArray) -> FloatArray:
    """Count, for each cell of ``among``, the cells of its row and of ``among`` scored at least as high."""
    position: FloatArray = rankdata(np.where(among, -scores, np.inf), method="max", axis=1)
    return position


def _over_rows(values: FloatArray, defined: BoolArray, cells: Cells, need: str) -> Score:
    """Average over the rows where the value is defined."""
    skipped = tuple(int(i) for i in np.flatnonzero(~defined))
    if not defined.any():
        msg = f"{need} among a row's counted cells, but no row has that; the score is NaN"
        warnings.warn(msg, UndefinedMetricWarning, stacklevel=3)
        return Score(float("nan"), 0, skipped)
    return Score(float(values[defined].mean()), int(cells.counted[defined].sum()), skipped)
