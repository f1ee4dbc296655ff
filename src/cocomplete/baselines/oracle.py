"""The oracle: it knows the truth, and a classifier trained on that is the one to come near."""

from typing import Any

import numpy as np

from cocomplete.baselines.transductive import TransductiveCompleter
from cocomplete.completion import Reconstruction
from cocomplete.exceptions import InputError
from cocomplete.problem.observations import Observations
from cocomplete.table.containers import to_table


class Oracle(TransductiveCompleter):
    """Complete with the truth, as the last row of the paper's Table 2 does.

    Parameters
    ----------
    X_true : array-like or DataFrame of shape (n_samples, n_features)
        True features, without holes.
    Y_true : array-like or DataFrame of shape (n_samples, n_labels)
        True labels 0 or 1, without holes.

    Attributes
    ----------
    n_features_in_, feature_names_in_, label_names_in_
        As everywhere.

    Notes
    -----
    Scores Z are −1 where the label is 0 and +1 where it is 1.

    Examples
    --------
    >>> X, y = [[3.0], [None]], [[None], [1]]
    >>> Oracle(X_true=[[3.0], [4.0]], Y_true=[[0], [1]]).fit(X, y).complete(X, y).X
    [[3.0], [4.0]]
    """

    def __init__(self, *, X_true: Any, Y_true: Any) -> None:
        self.X_true = X_true
        self.Y_true = Y_true

    def _check_parameters(self) -> None:
        """Nothing to check before the table is known."""

    def _solve(self, observed: Observations) -> Reconstruction:
        parts = []
        for name, given, holes in (
            ("X_true", self.X_true, observed.X),
            ("Y_true", self.Y_true, observed.Y),
        ):
            truth = to_table(given, name).values
            if truth.shape != holes.shape or np.isnan(truth).any():
                msg = (
                    f"{name} must be the whole table of shape {holes.shape}, but has shape {truth.shape} and "
                    f"{int(np.isnan(truth).sum())} unknown cell(s)"
                )
                raise InputError(msg)
            parts.append(truth)
        return Reconstruction(parts[0], 2 * parts[1] - 1)
