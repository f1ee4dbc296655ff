"""Joint draws: one draw of a table's factors makes its features and its labels, noise included.

An ensemble has marginal distributions of its own. A draw from the joint model is therefore taken apart into
*deviates*, how far each cell is from its mean in units of its own spread, which carry the dependence between
cells; and the ensemble's margins turn such a deviate into a value.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit, ndtr

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.fitted.levels import LevelCuts
from cocomplete.members.average import Average
from cocomplete.members.minimiser import Minimiser
from cocomplete.members.prediction import Prediction
from cocomplete.problem.observations import Observations
from cocomplete.problem.scores import NODES, WEIGHTS, NormalScores

DRAW_WIDTH = 1.1
"""Mean-field posteriors are a little too narrow: what drawn numbers' standard deviations are multiplied by.
Set on generators of known truth, so that bands of 40 draws hold what they should."""

Z90 = 1.645
"""Half the width of a 90 % interval, in standard deviations of a normal."""

TINY = np.finfo(np.float64).tiny

SHIFTS = 4
"""Secant steps that move a margin on the scale of normal scores to the ensemble's mean."""


class Margin(NamedTuple):
    """Normal distribution of some numbers' scores: means and standard deviations."""

    mean: FloatArray
    std: FloatArray


@dataclass(frozen=True, eq=False)
class ScoreMargins:
    """Margins of numbers on the scale of normal scores, where they are sharper than in the user's units.

    Both are calibrated on held-out cells; of two calibrated margins the one with the shorter intervals knows
    more. Skewed, bounded and counted columns are sharper on the scale of normal scores.

    Attributes
    ----------
    average : Average
        A fit to normal scores.
    factor : ndarray of shape (n_features,)
        What its standard deviations are multiplied by, so that 90 % intervals hold 90 % of held-out numbers.
    columns : ndarray of bool, shape (n_features,)
        Numbers that have these margins.
    """

    average: Average
    factor: FloatArray
    columns: BoolArray

    @classmethod
    def sharper(
        cls,
        average: Average,
        factor: FloatArray,
        column: NDArray[np.intp],
        scores: Margin,
        std: FloatArray,
    ) -> "ScoreMargins":
        """Find the columns for which these margins are sharper, on average over held-out numbers.

        Parameters
        ----------
        average : Average
        factor : ndarray of shape (n_features,)
        column : ndarray of int, shape (n_cells,)
            Of the held-out numbers. A column without any has these margins: they keep to its range.
        scores : Margin
            Posterior of their normal scores.
        std : ndarray of shape (n_cells,)
            The ensemble's standard deviations of them, in the user's units.
        """
        scale, order = average.encoding.scale, average.encoding.order
        assert isinstance(scale, NormalScores)
        found = ~average.encoding.yes_no
        for j in np.unique(column):
            own = column == j
            half = Z90 * factor[j] * scores.std[own]
            low, high = (scale.value(int(order[j]), scores.mean[own] + side * half) for side in (-1, 1))
            found[j] = (high - low).mean() < 2 * Z90 * std[own].mean()
        return cls(average, factor, found)

    def of(self, observed: Observations, prediction: Prediction) -> dict[int, Margin]:
        """Give the margins of some rows, by column, moved to where their means are the ensemble's."""
        encoding, moments = self.average.encoding, self.average.moments(observed)
        found = {}
        for j in np.flatnonzero(self.columns):
            inner = int(encoding.order[j])
            spread = np.sqrt(moments.variance[:, inner] + moments.noise[inner])
            std = DRAW_WIDTH * self.factor[j] * spread
            mean, wanted = moments.mean[:, inner].copy(), prediction.mean[:, j]
            assert isinstance(encoding.scale, NormalScores)
            for _ in range(SHIFTS):
                value = encoding.scale.value(inner, mean + std * NODES[:, None])
                # Slope of the expected value, by Stein's identity.
                slope = WEIGHTS @ (value * NODES[:, None]) / np.maximum(std, 1e-12)
                # Where the map is flat, a step without end is cut to the longest.
                with np.errstate(over="ignore"):
                    step = (wanted - WEIGHTS @ value) / np.maximum(slope, 1e-300)
                mean += np.clip(step, -std, std)
            found[int(j)] = Margin(mean, std)
        return found


class JointDraws:
    """Draws of completed rows from a joint model, with the margins of an ensemble.

    Parameters
    ----------
    model : Average or Minimiser
        What makes features and labels depend on each other.
    margins : ScoreMargins or None
        Margins of numbers that are better described on the scale of normal scores.
    observed : Observations
        Rows to complete.
    prediction : Prediction
        The ensemble's margins of every cell.
    levels : dict, optional
        Cuts between levels in an order, by column.
    levels_by_trees : dict, optional
        Trees' probabilities of levels, by column.
    groups : ndarray of int, shape (n_features + n_labels,), optional
        0/1 columns with the same number mark one of several values.
    """

    def __init__(
        self,
        model: Average | Minimiser,
        margins: "ScoreMargins | None",
        observed: Observations,
        prediction: Prediction,
        levels: dict[int, LevelCuts] | None = None,
        levels_by_trees: dict[int, FloatArray] | None = None,
        groups: NDArray[np.intp] | None = None,
    ) -> None:
        self.levels, self.levels_by_trees = levels or {}, levels_by_trees or {}
        self.several = (
            []
            if groups is None
            else [np.flatnonzero(groups == one) for one in np.flatnonzero(np.bincount(groups) > 1)]
        )
        self.model, self.observed, self.prediction = model, observed, prediction
        self.moments = model.moments(observed)
        self.scores = None if margins is None else margins.average.encoding.scale
        self.margins = {} if margins is None else margins.of(observed, prediction)

    def draw(self, rng: np.random.Generator) -> tuple[FloatArray, BoolArray]:
        """Draw features, yes/no ones as 0 and 1, and labels.

        Returns
        -------
        X : ndarray of shape (n_samples, n_features)
        Y : ndarray of bool, shape (n_samples, n_labels)
        """
        encoding, mean = self.model.encoding, self.prediction.mean
        deviates = self._deviates(rng)
        d = len(encoding.yes_no)
        table = np.empty(mean.shape)
        for j, inner in enumerate(encoding.order):
            if j >= d or encoding.yes_no[j]:
                table[:, j] = mean[:, j] + deviates[:, inner] > 0
            elif j in self.levels:
                std = self.prediction.std[:, j]
                uniform, by_trees = ndtr(deviates[:, inner]), self.levels_by_trees.get(j)
                table[:, j] = self.levels[j].drawn(mean[:, j], std, uniform, by_trees)
            elif j in self.margins and isinstance(self.scores, NormalScores):
                score = self.margins[j].mean + self.margins[j].std * deviates[:, inner]
                table[:, j] = self.scores.value(int(inner), score)
            else:
                table[:, j] = mean[:, j] + DRAW_WIDTH * self.prediction.std[:, j] * deviates[:, inner]
        for columns in self.several:
            table[:, columns] = _one_of(expit(mean[:, columns]), deviates[:, encoding.order[columns]], rng)
        return table[:, :d], table[:, d:] > 0.5

    def _deviates(self, rng: np.random.Generator) -> FloatArray:
        """Give normal deviates of numbers and logistic ones of 0/1 columns, in the solvers' columns."""
        moments = self.moments
        off = self.model.draw(self.observed, rng) - moments.mean
        numbers = self.model.encoding.n_numbers
        noise = moments.noise
        off[:, :numbers] += np.sqrt(noise) * rng.standard_normal((len(off), numbers))
        # A number without any spread stays where it is.
        off[:, :numbers] /= np.maximum(np.sqrt(moments.variance[:, :numbers] + noise), TINY)
        off[:, numbers:] += rng.logistic(size=(len(off), off.shape[1] - numbers))
        # A logistic variable around a normal mean is nearly logistic again, this much wider (MacKay, 1992).
        off[:, numbers:] /= np.sqrt(1 + np.pi / 8 * moments.variance[:, numbers:])
        return off


def _one_of(p: FloatArray, deviates: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Mark one of several values, with exactly their shares of p as probabilities.

    The likeliest value is marked where its own deviate exceeds what it must to be so often, which carries the
    dependence on other columns; elsewhere one of the others is, by lot. (Deviates of all values together
    would carry more of it, but they depend on each other, and rare values would become rarer.)

    Parameters
    ----------
    p : ndarray of shape (n_rows, number of values)
    deviates : ndarray of the same shape
        Logistic.
    rng : Generator
    """
    p = np.maximum(p / p.sum(axis=1, keepdims=True), TINY)
    rows, likeliest = np.arange(len(p)), np.argmax(p, axis=1)
    score = np.log(p) + rng.gumbel(size=p.shape)
    is_likeliest = deviates[rows, likeliest] > -logit(p[rows, likeliest])
    score[rows, likeliest] = np.where(is_likeliest, np.inf, -np.inf)
    marked = np.zeros(p.shape)
    marked[rows, np.argmax(score, axis=1)] = 1
    return marked
