"""A row splitter that shares out what is known of the labels."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.exceptions import InputError
from cocomplete.model_selection.checks import check_same_rows, check_shuffle
from cocomplete.parameter_checks import check_count, legacy_generator, shown
from cocomplete.table.containers import to_table

IntArray = NDArray[np.intp]


@dataclass(frozen=True)
class RowKFold:
    """K folds of rows, each with its share of every label's known ones and known zeros.

    Works wherever scikit-learn takes a splitter (``cross_val_score``, ``GridSearchCV``), with unknown cells
    in ``y``, which its own stratified splitters refuse.

    Parameters
    ----------
    n_splits : int, default=5
        At least 2.
    shuffle : bool, default=True
        Take the rows in random order.
    random_state : int, RandomState or None, default=None
        Seed of the order.

    Notes
    -----
    Iterative stratification (Sechidis, Tsoumakas and Vlahavas, 2011): the rarest kind of known label cell
    goes first, and each of its rows to the fold that has fewest of that kind. Unlike there, a label counts
    as two kinds, known 1 and known 0, and unknown is neither; of several such folds the one poorest in the
    row's other kinds gets it; and folds are kept to equal size, to within one row.

    Examples
    --------
    >>> import numpy as np
    >>> y = np.array([[1], [1], [0], [0], [np.nan], [np.nan]])
    >>> for train, test in RowKFold(2, shuffle=False).split(np.zeros((6, 3)), y):
    ...     print(test, y[test].ravel())
    [0 2 4] [ 1.  0. nan]
    [1 3 5] [ 1.  0. nan]
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = True
    random_state: Any = None

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, least=2)
        check_shuffle(shuffle=self.shuffle, random_state=self.random_state)

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of splits; the arguments are ignored."""
        return int(self.n_splits)

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterator[tuple[IntArray, IntArray]]:
        """Yield row numbers to train and to test on.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Only its number of rows is used.
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            0, 1 or unknown. Without it, rows are simply shared out.
        groups : ignored

        Yields
        ------
        train, test : ndarray of int
        """
        n_rows = _row_count(X)
        labels = np.empty((n_rows, 0)) if y is None else to_table(y, "y").values
        check_same_rows(n_rows, len(labels))
        if n_rows < self.n_splits:
            msg = f"n_splits={self.n_splits} folds need as many rows, but X has {n_rows}; lower n_splits"
            raise InputError(msg)
        order = np.arange(n_rows)
        if self.shuffle:
            order = legacy_generator("random_state", self.random_state).permutation(n_rows)
        fold = np.empty(n_rows, dtype=np.intp)
        fold[order] = _share_out(_kinds(labels[order]), self.n_splits)
        for k in range(self.n_splits):
            yield np.flatnonzero(fold != k), np.flatnonzero(fold == k)


def _row_count(X: Any) -> int:
    """Count the rows of whatever has rows."""
    try:
        return int(X.shape[0] if hasattr(X, "shape") else len(X))
    except (TypeError, IndexError):
        msg = f"X must be a table, one row after the other, got {shown(X)}"
        raise InputError(msg) from None


def _kinds(labels: FloatArray) -> BoolArray:
    """Mark known ones and known zeros, shape (n_rows, 2 · n_labels)."""
    return np.hstack([labels == 1, labels == 0])


def _share_out(kinds: BoolArray, n_splits: int) -> IntArray:
    """Give every row its fold, shape (n_rows,)."""
    n_rows = len(kinds)
    fold = np.full(n_rows, -1)
    room = np.full(n_splits, n_rows // n_splits)
    room[: n_rows % n_splits] += 1
    given = np.zeros((n_splits, kinds.shape[1]), dtype=np.intp)
    left = kinds.sum(axis=0)
    rarity = 1 / np.maximum(left, 1)

    def place(row: int, first: IntArray) -> None:
        # Of the folds with room: least of what comes first, then of the row's other kinds, then the emptiest.
        best = np.lexsort((-room, given @ (kinds[row] * rarity), first, room == 0))[0]
        fold[row] = best
        room[best] -= 1
        given[best] += kinds[row]
        left[...] -= kinds[row]

    while left.any():
        rarest = int(np.argmin(np.where(left > 0, left, n_rows + 1)))
        for row in np.flatnonzero(kinds[:, rarest] & (fold < 0)).tolist():
            place(row, given[:, rarest])
    for row in np.flatnonzero(fold < 0).tolist():
        place(row, -room)
    return fold
