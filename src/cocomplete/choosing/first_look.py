"""A first look at some columns on one fold: whether a kind of member is worth its cost on all of them."""

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.combine import label_weights, number_weights
from cocomplete.choosing.judge import Contest, HeldOut
from cocomplete.choosing.shared import FoldFits
from cocomplete.fitted.parts import LABEL_PARTS, PARTS, Part

LOOKED_AT = 16
"""Features, and labels, that are looked at."""


class FirstLook:
    """Other members' predictions of some columns' held-out cells on the first fold.

    Parameters
    ----------
    first : FoldFits
    contest : Contest
        With what was judged so far.

    Attributes
    ----------
    columns : ndarray of int
        Those to try a kind on; the table's content decides, not their place.
    """

    def __init__(self, first: FoldFits, contest: Contest) -> None:
        fold, d = first.fold, first.observed.n_features
        self.held = HeldOut.of([fold], contest.held.units)
        keys = first.keys.columns
        features, labels = np.argsort(keys[:d], kind="stable"), np.argsort(keys[d:], kind="stable")
        tried = np.concatenate((features[:LOOKED_AT], d + labels[:LOOKED_AT]))
        self.columns: NDArray[np.intp] = np.sort(tried)
        self.yes_no, self.n_labels = first.yes_no, first.observed.n_labels
        self.others: dict[str, list[FloatArray]] = {}
        for candidate, means in contest.means.items():
            self.others.setdefault(candidate.kind, []).append(means[: fold.row.size])

    def pays(self, means: Iterable[FloatArray], part: Part, limit: float) -> bool:
        """Whether the best setting would have a weight in a part beside the best of every other kind.

        Parameters
        ----------
        means : iterable of ndarray
            Each setting's predictions of the fold's held-out cells; NaN where it was not tried.
        part : str
        limit : float
            Nor may its error be more than so many times the best of the others'.
        """
        columns = self.n_labels if part in LABEL_PARTS else len(self.yes_no)
        if columns <= LOOKED_AT:
            # All were looked at: nothing would be saved, and few cells are a poor judge.
            return True
        where, means = self.held.where(part), list(means)
        tried = ~np.isnan(means[0][where])
        if not tried.any():
            return False

        def loss(prediction: FloatArray) -> float:
            return float(self.held.errors(part, prediction[where])[tried].mean())

        others = [min(settings, key=loss) for settings in self.others.values()]
        others = [each for each in others if np.isfinite(loss(each))]
        own = min(means, key=loss)
        if loss(own) > limit * min(map(loss, others), default=np.inf):
            return False
        return bool(self._weights([own, *others], part, where[tried])[0] > 0)

    def _weights(self, means: list[FloatArray], part: Part, cells: NDArray[np.intp]) -> FloatArray:
        """Weights that some members would have, by some cells of a part alone."""
        predictions, truth = np.stack(means)[:, cells], self.held.value[cells]
        if part != "numbers":
            return label_weights(predictions, truth)
        column, units = self.held.column[cells], self.held.units
        return number_weights(units.standardized(column, predictions), units.standardized(column, truth))

    def error(self, means: FloatArray) -> float:
        """Sum of a setting's errors in all cells that it predicts, numbers' in units of their variance."""
        total = 0.0
        for part in PARTS:
            where = self.held.where(part)
            total += float(np.nansum(self.held.errors(part, means[where])))
        return total

    def paying_columns(self, means: Iterable[FloatArray], parts: Iterable[Part], limit: float) -> BoolArray:
        """Which columns to go on with: those of parts that pay; labels together."""
        means, parts = list(means), set(parts)
        pays = {part: part in parts and self.pays(means, part, limit) for part in PARTS}
        features = np.where(self.yes_no, pays["yes-no"], pays["numbers"])
        return np.concatenate((features, np.full(self.n_labels, pays["labels"] or pays["unlabelled"])))
