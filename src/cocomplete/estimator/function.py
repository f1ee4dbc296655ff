"""The estimator as a function."""

from typing import Any

from cocomplete.completion import Completion
from cocomplete.estimator.completer import CoCompleter
from cocomplete.solvers.solution import Progress


def complete(X: Any, Y: Any = None, *, progress: Progress | None = None, **params: Any) -> Completion:
    """Complete a table in one call.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Features; NaN, None, NA or null where unknown.
    Y : array-like or DataFrame of shape (n_samples, n_labels), optional
        Labels 0 or 1; unknown likewise.
    progress : callable, optional
        Called with the record of every iteration.
    **params
        Parameters of :class:`CoCompleter`.

    Returns
    -------
    Completion
        X and Y in the containers they came in, Y_proba, X_std.
    """
    model = CoCompleter(**params)
    model.fit(X, Y, progress=progress)
    return model.complete(X, Y)
