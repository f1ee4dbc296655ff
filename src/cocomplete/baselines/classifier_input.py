"""Tables for the classifiers: features and labels without holes."""

from typing import Any

import numpy as np
from scipy import sparse

from cocomplete.arrays import FloatArray
from cocomplete.baselines.sizes import check_sizes
from cocomplete.exceptions import InputError
from cocomplete.table.containers import to_table


def full_features(X: Any, n_features: int | None = None) -> Any:
    """Read complete features, dense or sparse.

    Parameters
    ----------
    X : array-like, DataFrame or SciPy sparse matrix of shape (n_samples, n_features)
        In a sparse matrix an absent cell is 0.
    n_features : int, optional
        How many columns the classifier was trained on.

    Returns
    -------
    ndarray or scipy.sparse.csr_array

    Raises
    ------
    InputError
        If a cell is unknown or infinite, or the columns are not those of the training.
    """
    table = sparse.csr_array(X, dtype=np.float64) if sparse.issparse(X) else to_table(X, "X").values
    cells = table.data if sparse.issparse(table) else table
    bad = int((~np.isfinite(cells)).sum())
    if bad:
        msg = (
            f"X has {bad} unknown or infinite cell(s); a classifier needs them all: complete the table first"
        )
        raise InputError(msg)
    check_sizes(cells)
    if n_features is not None and table.shape[1] != n_features:
        msg = f"X has {table.shape[1]} features, but the classifier was trained on {n_features}; pass those"
        raise InputError(msg)
    return table if sparse.issparse(table) else table.astype(table.dtype.newbyteorder("="), copy=False)


def full_labels(y: Any, n_samples: int, *, at_least: int = 1) -> FloatArray:
    """Read complete 0/1 labels.

    Parameters
    ----------
    y : array-like, DataFrame or SciPy sparse matrix of shape (n_samples, n_labels)
    n_samples : int
        Rows of X.
    at_least : int, default=1
        Labels that the method needs.

    Raises
    ------
    InputError
        If a cell is neither 0 nor 1, rows differ from those of X, or there are too few labels.
    """
    values = np.asarray(y.todense()) if sparse.issparse(y) else to_table(y, "y").values
    bad = int((~np.isin(values, (0, 1))).sum())
    if bad:
        msg = (
            f"y must hold 0 or 1 in every cell, but {bad} cell(s) are unknown or something else; complete it"
        )
        raise InputError(msg)
    if len(values) != n_samples:
        msg = f"X has {n_samples} rows but y has {len(values)}; every row needs its features and its labels"
        raise InputError(msg)
    if values.shape[1] < at_least:
        msg = f"y has {values.shape[1]} label(s), but this classifier needs at least {at_least}"
        raise InputError(msg)
    return values.astype(np.float64)
