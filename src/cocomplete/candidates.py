"""What was tried while penalties were chosen, and what it said of the hidden cells."""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.hiding import Part
from cocomplete.parts import Setting
from cocomplete.solvers.posterior import Prior
from cocomplete.solvers.solution import Record

FEATURE_WEIGHTS = (0.5, 0.1, 0.03)
"""w of the minimisers that are tried; the first where nothing chooses."""

Method = Literal["mode", "average", "blend", "trivial"]


@dataclass(frozen=True)
class Fixed:
    """Penalties that the user gave; None where they are to be chosen."""

    rank_penalty: float | None
    residual_penalty: float | None
    feature_weight: float | None

    def setting(self) -> Setting:
        """Give what to fit with where nothing could be judged."""
        return Setting(
            rank_penalty=self.rank_penalty,
            residual_penalty=self.residual_penalty or 0.0,
            feature_weight=FEATURE_WEIGHTS[0] if self.feature_weight is None else self.feature_weight,
        )


@dataclass(frozen=True, eq=False)
class Candidate:
    """One model and what it says of the hidden cells.

    Attributes
    ----------
    method : {"mode", "average", "blend", "trivial"}
    gaussian : bool
        Whether features were made normal by ranks.
    settings : dict
        λ1, λ2 and w of a mode (keys as the estimator's parameters), the prior of an average, the members of a
        blend and their shares.
    errors : dict
        Mean squared error of standardised hidden features; mean log-loss of hidden labels.
    x_mean, x_std, y_score, y_blind : ndarray
        Prediction for each hidden feature and its standard deviation, in the user's units; log-odds of each
        hidden label, and from the features of its row alone.
    """

    method: Method
    gaussian: bool
    settings: dict[str, Any]
    errors: dict[Part, float]
    x_mean: FloatArray = field(repr=False)
    x_std: FloatArray = field(repr=False)
    y_score: FloatArray = field(repr=False)
    y_blind: FloatArray = field(repr=False)

    @property
    def rank(self) -> int | None:
        """Number of factors of an average."""
        return self.settings["prior"].rank if self.method == "average" else None

    def is_average(self, prior: Prior, *, gaussian: bool) -> bool:
        """Say whether this is the average for a prior, on a scale."""
        return self.settings.get("prior") == prior and self.gaussian == gaussian

    @property
    def kind(self) -> tuple[bool, float]:
        """What sort of average it is: whether labels are numbers, and the features' weight."""
        prior: Prior = self.settings["prior"]
        return prior.linear, prior.feature_weight

    @property
    def label_error(self) -> float:
        """Errors of labels, known ones beside them or not."""
        return self.errors["labels"] + self.errors["unlabelled"]

    def record(self) -> Record:
        """Give all but the predictions, flat but for a blend's members."""
        settings = dict(self.settings)
        if self.method == "blend":
            shares = settings.pop("shares")
            told = [one.record() for one in settings.pop("members")]
            told += [
                {"method": "readout", "likeness": one.likeness, "variance": one.variance}
                for one in settings.pop("readouts")
            ]
            settings["members"] = [
                one | {f"{part}_share": shares[part][k] for part in shares} for k, one in enumerate(told)
            ]
        prior = settings.pop("prior", None)
        if prior is not None:
            settings |= {
                "factors": prior.rank,
                "feature_precision": prior.feature_precision,
                "label_precision": prior.label_precision,
                "feature_weight": prior.feature_weight / 2,
                "label_factors": prior.label_rank,
                "own_precision": prior.own_precision,
                "linear": prior.linear,
            }
        errors = {f"{part}_error": error for part, error in self.errors.items()}
        return {"method": self.method, "gaussian": self.gaussian, **settings, **errors}


def log_loss(truth: FloatArray, score: FloatArray) -> float:
    """Mean logistic loss of log-odds."""
    return float(np.mean(np.logaddexp(0, score) - truth * score))
