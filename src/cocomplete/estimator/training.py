"""What a fit starts from and what it ends with."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from cocomplete.arrays import BoolArray
from cocomplete.choosing.judge import HeldOutLabels
from cocomplete.estimator.settings import Settings
from cocomplete.fitted.model import Model
from cocomplete.members.minimiser import Minimiser
from cocomplete.problem.encoding import resolve_feature_types
from cocomplete.problem.observations import Observations


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
        Which features are yes/no.
    """

    given: Observations
    observed: Observations
    yes_no: BoolArray

    @classmethod
    def of(cls, given: Observations, settings: Settings) -> "TrainingTable":
        """Take a copy: the user's own arrays may change, and the rows of the fit are asked for later."""
        yes_no = resolve_feature_types(settings.feature_types, given)
        given = replace(given, X=given.X.copy(), Y=given.Y.copy())
        if not settings.only_ones_recorded:
            return cls(given, given, yes_no)
        labels = np.where(given.Y_known, given.Y, 0).astype(given.Y.dtype)
        return cls(given, replace(given, Y=labels), yes_no)


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
    """

    model: Model
    certified: Minimiser | None = None
    validation: dict[str, Any] | None = None
    held_out: HeldOutLabels | None = None
    interrupted: bool = False
