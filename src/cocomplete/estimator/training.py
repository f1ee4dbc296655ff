"""What a fit starts from and what it ends with."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.judge import HeldOutLabels
from cocomplete.estimator.settings import Settings
from cocomplete.fitted.model import Model
from cocomplete.members.minimiser import Minimiser
from cocomplete.problem.observations import Observations
from cocomplete.table.schema import Schema


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """The table of a fit.

    Attributes
    ----------
    given : Observations
        As the user gave it.
    observed : Observations
        What is fitted: the same, but unknown labels are zeros where only ones are ever recorded.
    yes_no : ndarray of bool, shape (n_features,)
        Which features are 0/1.
    groups : ndarray of int, shape (n_features + n_labels,)
        Columns with the same number encode one of the user's.
    codes : dict
        Codes of levels in an order, by feature.
    """

    given: Observations
    observed: Observations
    yes_no: BoolArray
    groups: NDArray[np.intp]
    codes: dict[int, FloatArray]

    @classmethod
    def of(cls, given: Observations, features: Schema, labels: Schema, settings: Settings) -> "TrainingTable":
        """Take a copy: the user's own arrays may change, and the rows of the fit are asked for later."""
        given = observed = replace(given, X=given.X.copy(), Y=given.Y.copy())
        if settings.only_ones_recorded:
            Y = np.where(given.Y_known, given.Y, 0).astype(given.Y.dtype)
            observed = replace(given, Y=Y)
        groups = np.concatenate((features.groups, len(features.kinds) + labels.groups))
        return cls(given, observed, features.binary, groups, features.codes)


@dataclass(frozen=True, eq=False)
class FitResult:
    """What a fit leaves behind.

    Attributes
    ----------
    model : Model
        Predicts.
    certified : Minimiser or None
        The minimiser of F that has a certificate, where one was asked for.
    validation : dict or None
        Errors on held-out cells; None if none were held out.
    held_out : HeldOutLabels or None
        Held-out labels and their predicted log-odds.
    interrupted : bool
        Whether Ctrl-C cut it short.
    n_rows : int or None
        Of the table, if the model keeps a sample of them.
    """

    model: Model
    certified: Minimiser | None = None
    validation: dict[str, Any] | None = None
    held_out: HeldOutLabels | None = None
    interrupted: bool = False
    n_rows: int | None = None
