"""An ensemble of members, each with its weight."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.engines.row_blocks import BLOCK_NUMBERS
from cocomplete.fitted.parts import FEATURE_PARTS, PARTS, Part
from cocomplete.members.average import Average
from cocomplete.members.kernel import CompletedRows, KernelRegression
from cocomplete.members.number_kernel import NumberKernel
from cocomplete.members.prediction import Member, Prediction, decode
from cocomplete.members.trivial import Trivial
from cocomplete.problem.observations import Observations


@dataclass(frozen=True, eq=False)
class Ensemble:
    """Weighted members; one of weight 1 is an ensemble too.

    Attributes
    ----------
    members : tuple of Member
    weights : dict
        By part, one number per member; not negative, their sum is 1. Numbers are averaged in the user's
        units, 0/1 columns in log-odds.
    yes_no : ndarray of bool, shape (n_features,)
    base : ndarray of shape (n_features + n_labels,) or None
        Log-odds of 0/1 columns' observed rates, which combined log-odds are stretched from.
    stretch : dict
        By part of 0/1 columns, the factor that calibrated their combined log-odds on held-out cells.
    std_factor : ndarray of shape (n_features,) or float
        What standard deviations are multiplied by, so that 90 % intervals hold 90 % of held-out numbers.
    """

    members: tuple[Member, ...]
    weights: dict[Part, FloatArray]
    yes_no: BoolArray
    std_factor: FloatArray | float = 1.0
    base: FloatArray | None = None
    stretch: dict[Part, float] = field(default_factory=dict)

    def predict(
        self,
        observed: Observations,
        *,
        training: bool = False,
        std: bool = True,
        parts: Collection[Part] = PARTS,
        unknown: bool = False,
        completed: CompletedRows | None = None,
    ) -> Prediction:
        """Predict the cells of some rows.

        Parameters
        ----------
        observed : Observations
        training : bool, default=False
            Whether these are the rows of the fit.
        std : bool, default=True
            Whether standard deviations are needed; they are 0 without.
        parts : collection of str
            What is asked for; other cells may hold anything.
        unknown : bool, default=False
            Whether numbers are asked for where they are unknown alone.
        completed : CompletedRows, optional
            These rows with their features completed, as kernels compare them, if they are at hand.
        """
        n, d = observed.X.shape
        # A minimiser's own rows are known all together.
        step = n if training else max(1, BLOCK_NUMBERS // max(d + observed.n_labels, 1))
        if step >= n:
            return self._predict_block(
                observed, parts, completed, training=training, std=std, unknown=unknown
            )
        mean, spread = np.empty((n, d + observed.n_labels)), np.zeros((n, d))
        for first in range(0, n, step):
            some = slice(first, first + step)
            rows = Observations(observed.X[some], observed.Y[some])
            own = None if completed is None else completed.take(some)
            mean[some], spread[some] = self._predict_block(
                rows, parts, own, training=training, std=std, unknown=unknown
            )
        return Prediction(mean, spread)

    def _predict_block(
        self,
        observed: Observations,
        parts: Collection[Part],
        completed: CompletedRows | None,
        *,
        training: bool,
        std: bool,
        unknown: bool,
    ) -> Prediction:
        asked = ~observed.X_known if unknown else None
        predictions = self._predictions(observed, parts, asked, completed, training=training, std=std)
        d = observed.n_features
        numbers = self.weights["numbers"]
        mean: FloatArray = np.zeros((observed.n_samples, d + observed.n_labels))
        # Features are left as they are where nobody asks for them.
        asks = bool(set(parts) & set(FEATURE_PARTS))
        for k, one in predictions.items():
            features, labels = self._weights_of(k, observed)
            if asks and features.any():
                _add(mean[:, :d], features, one.mean[:, :d])
            _add(mean[:, d:], labels, one.mean[:, d:])
        some = slice(0 if asks and self.yes_no.any() else d, None)
        mean[:, some] = self._stretched(mean[:, some], observed, some)
        if not std:
            return Prediction(mean, np.zeros((len(mean), d)))
        pieces = [(numbers[k], one.mean[:, :d], one.std) for k, one in predictions.items() if numbers[k] > 0]
        spread = mixture_std(*zip(*pieces, strict=True)) if pieces else np.zeros((len(mean), d))
        spread = self.std_factor * spread
        return Prediction(mean, np.where(self.yes_no, 0, spread) if self.yes_no.any() else spread)

    def _stretched(self, mean: FloatArray, observed: Observations, some: slice) -> FloatArray:
        """Calibrate the combined log-odds of 0/1 columns, in some columns."""
        if self.base is None:
            return mean
        features, labels = self._by_column({"numbers": 1.0, **self.stretch}, observed)
        factor: FloatArray = labels
        if some.start == 0:
            factor = np.hstack((np.broadcast_to(features, (len(labels), features.size)), labels))
        base = self.base[some]
        return np.where(factor == 1, mean, base + factor * (mean - base))

    def _predictions(
        self,
        observed: Observations,
        parts: Collection[Part],
        asked: BoolArray | None,
        rows: CompletedRows | None,
        *,
        training: bool,
        std: bool,
    ) -> dict[int, Prediction]:
        """Predictions of all members that have a weight in what is asked for."""
        found: dict[int, Prediction] = {}
        # A minimiser's standard deviation costs a Newton system per row; the averages' serve for it.
        alone = len(self.members) == 1 or not any(
            isinstance(one, Average | Trivial) and weight > 0
            for one, weight in zip(self.members, self.weights["numbers"], strict=True)
        )
        for k, member in enumerate(self.members):
            if not any(self.weights[part][k] > 0 for part in parts):
                continue
            if isinstance(member, KernelRegression | NumberKernel):
                # Kernels compare the same completed rows.
                rows = CompletedRows.of(member.average, observed) if rows is None else rows
                found[k] = member.of(rows, asked) if isinstance(member, NumberKernel) else member.of(rows)
            elif isinstance(member, Average):
                numbers = "numbers" in parts and bool(self.weights["numbers"][k] > 0)
                # The way back from normal scores costs more than all else.
                own = asked if numbers else np.zeros(observed.X.shape, bool)
                found[k] = decode(member.encoding, member.moments(observed, numbers=numbers), own)
            else:
                found[k] = member.predict(observed, training=training, std=std and alone)
        return found

    def _weights_of(self, k: int, observed: Observations) -> tuple[FloatArray, FloatArray]:
        """Weights of a member, as :meth:`_by_column` gives them."""
        return self._by_column({part: float(weights[k]) for part, weights in self.weights.items()}, observed)

    def _by_column(self, of_part: dict[Part, float], observed: Observations) -> tuple[FloatArray, FloatArray]:
        """Spread one number per part over the columns.

        Returns
        -------
        features : ndarray of shape (n_features,)
        labels : ndarray of shape (n_samples, n_labels)
            Rows alike in whether labels are known share one number.
        """
        features = np.where(self.yes_no, of_part["yes-no"], of_part["numbers"])
        rows = np.full((2, observed.n_labels), [[of_part["unlabelled"]], [of_part["labels"]]])
        seen = np.asarray(observed.Y_known.any(axis=1))
        if seen.all() or not seen.any():
            return features, np.broadcast_to(rows[int(seen.any())], (len(seen), observed.n_labels))
        return features, rows[seen.astype(np.intp)]

    @classmethod
    def alone(cls, member: Member, yes_no: BoolArray) -> "Ensemble":
        """Give one member all the weight."""
        return cls((member,), {part: np.ones(1) for part in PARTS}, yes_no)


def _add(total: FloatArray, weight: FloatArray, values: FloatArray) -> None:
    """Add weighted values; those without a weight may be anything."""
    part = weight * values
    total += part if (weight > 0).all() else np.where(weight > 0, part, 0)


def mixture_std(
    weights: Sequence[float], means: Sequence[FloatArray], stds: Sequence[FloatArray]
) -> FloatArray:
    """Give the standard deviation of a mixture; a member without one (NaN) has that of the others together.

    Parameters
    ----------
    weights : sequence of float
    means, stds : sequence of ndarray, all of one shape
    """
    if len(stds) == 1:
        return np.where(np.isnan(stds[0]), 0.0, stds[0])
    share, M, S = np.asarray(weights), np.stack(means), np.stack(stds)
    share = share.reshape(-1, *(1,) * (M.ndim - 1)) / share.sum()
    known = ~np.isnan(S)
    within = np.where(known, share * S**2, 0).sum(axis=0)
    within /= np.maximum(np.where(known, share, 0).sum(axis=0), 1e-300)
    between = (share * (M - (share * M).sum(axis=0)) ** 2).sum(axis=0)
    return np.asarray(np.sqrt(within + between))
