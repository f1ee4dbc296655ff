"""The fitted model: a part for features, one for labels, one for labels of rows that have none known."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from scipy.special import expit, logit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.frozen import FieldsAlone
from cocomplete.parts import FittedPart
from cocomplete.problem.observations import Observations


@dataclass(frozen=True, eq=False)
class Model(FieldsAlone):
    """What a fit leaves behind to complete the same rows, or others, with.

    Attributes
    ----------
    observed : Observations
        The table of the fit, in the user's units.
    features, labels, unlabelled : FittedPart
        What answers for features; for labels of rows in which some label is known; for those of other rows.
    clip : bool
        Whether filled features stay inside the observed range.
    unknown_is_zero : bool
        Whether an unknown label was fitted as a 0, because only ones are ever recorded.
    recorded_share : float
        Share of the true ones that are recorded; 1 where unknown means unknown.
    """

    observed: Observations
    features: FittedPart
    labels: FittedPart
    unlabelled: FittedPart
    clip: bool = True
    unknown_is_zero: bool = False
    recorded_share: float = 1.0

    @property
    def yes_no(self) -> BoolArray:
        """Which features are yes/no."""
        return self.features.encoding.yes_no

    def reconstruct_features(
        self, observed: Observations, *, std: bool = True
    ) -> tuple[FloatArray, FloatArray]:
        """Give every feature's own value and standard deviation, in the user's units."""
        # The way back from normal scores is an expectation, which needs the variance.
        variance = std or self.features.encoding.gaussian
        if self._knows(observed):
            return self.features.features(self.features.training(variance=variance))
        return self.features.features(self.features.of(self._fitted_as(observed), variance=variance))

    def scores(self, observed: Observations) -> FloatArray:
        """Give every label's log-odds of being 1, shape (n_samples, n_labels).

        A row's labels come from the part that suits what is known of it.
        """
        seen = observed.Y_known.any(axis=1)
        if not seen.any():
            return self._of_being_one(self.unlabelled.labels(self.unlabelled.of(observed, variance=False)))
        if self._knows(observed):
            Z = self.labels.labels(self.labels.training(variance=False))
        else:
            Z = self.labels.labels(self.labels.of(self._fitted_as(observed), variance=False))
        if not seen.all() and self.unlabelled is not self.labels:
            some = Observations(observed.X[~seen], observed.Y[~seen])
            Z[~seen] = self.unlabelled.labels(self.unlabelled.of(some, variance=False))
        return self._of_being_one(Z)

    def inside(self, X: FloatArray) -> FloatArray:
        """Make filled features fit to give out: yes/no as 0 or 1, others in the observed range."""
        X = np.where(self.yes_no, (X > 0.5).astype(X.dtype), X)
        return np.clip(X, *self._range) if self.clip else X

    def draw(self, observed: Observations, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Draw features, and probabilities of labels, of some rows.

        As with :meth:`scores`, a row's labels come from the part that suits what is known of it.
        """
        fitted = self._fitted_as(observed)
        X = self.inside(self.features.draw_features(fitted, rng))
        seen = observed.Y_known.any(axis=1)
        Z = np.empty(observed.Y.shape)
        for part, rows in ((self.labels, seen), (self.unlabelled, ~seen)):
            if rows.any():
                Z[rows] = part.draw_labels(Observations(fitted.X[rows], fitted.Y[rows]), rng)
        return X, expit(self._of_being_one(Z))

    def judge_recorded_share(self, recorded: FloatArray | None) -> "Model":
        """Set the share of true ones that are recorded (Elkan and Noto, 2008).

        It is the mean probability of being recorded among ones that are; hidden ones tell it without bias.

        Parameters
        ----------
        recorded : ndarray or None
            That probability for hidden ones; None to ask the fit about its own.
        """
        if recorded is None:
            recorded = expit(self.scores(self.observed))[self.observed.Y == 1]
        share = float(np.clip(recorded.mean(), 0.01, 1)) if recorded.size else 1.0
        return replace(self, recorded_share=share)

    def _of_being_one(self, Z: FloatArray) -> FloatArray:
        """Turn log-odds of being recorded as 1 into log-odds of being 1."""
        if self.recorded_share == 1:
            return Z
        return np.asarray(logit(np.clip(expit(Z) / self.recorded_share, 1e-12, 1 - 1e-6)))

    def _fitted_as(self, observed: Observations) -> Observations:
        """Turn unknown labels into what the fit took them for; a row without labels is left alone."""
        if not self.unknown_is_zero:
            return observed
        seen = observed.Y_known.any(axis=1, keepdims=True)
        return replace(observed, Y=np.where(seen & ~observed.Y_known, 0, observed.Y))

    def _knows(self, observed: Observations) -> bool:
        """Whether these are the rows of the fit."""
        return observed is self.observed or all(
            one.shape == other.shape and np.array_equal(one, other, equal_nan=True)
            for one, other in ((observed.X, self.observed.X), (observed.Y, self.observed.Y))
        )

    @cached_property
    def _range(self) -> tuple[FloatArray, FloatArray]:
        """Smallest and largest observed value of each feature; without limit where there is none."""
        X, known = self.observed.X, self.observed.X_known
        low = np.where(known, X, np.inf).min(axis=0)
        high = np.where(known, X, -np.inf).max(axis=0)
        empty = ~known.any(axis=0)
        return np.where(empty, -np.inf, low), np.where(empty, np.inf, high)
