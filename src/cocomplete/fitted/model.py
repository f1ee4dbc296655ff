"""The fitted model: an ensemble and the user's table around it."""

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.fitted.column_ends import COLUMN_NUMBERS, ColumnEnds
from cocomplete.fitted.draws import JointDraws, ScoreMargins
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.fitted.fitted_rows import FittedRows
from cocomplete.fitted.judged_cells import JudgedCells
from cocomplete.fitted.levels import LevelCuts, level_cuts
from cocomplete.fitted.parts import PARTS, Part
from cocomplete.fitted.positive_labels import PositiveLabels
from cocomplete.frozen import FieldsAlone
from cocomplete.members.average import Average
from cocomplete.members.level_trees import LevelTrees
from cocomplete.members.minimiser import Minimiser
from cocomplete.members.prediction import Prediction
from cocomplete.problem.informative import Informative
from cocomplete.problem.observations import Observations


class Answer(NamedTuple):
    """The model's predictions of every cell of some rows, in the user's columns.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        Numbers in the user's units; probabilities of yes/no features.
    X_std : ndarray of shape (n_samples, n_features)
    Z : ndarray of shape (n_samples, n_labels)
        Log-odds of labels.
    levels : dict
        Probabilities of levels in an order, by feature, each of shape (n_samples, n_levels); empty where no
        spread was asked for.
    """

    X: FloatArray
    X_std: FloatArray
    Z: FloatArray
    levels: dict[int, FloatArray]


@dataclass(frozen=True, eq=False)
class Model(FieldsAlone):
    """What a fit leaves behind to complete the same rows, or others, with.

    Attributes
    ----------
    observed : Observations
        The table of the fit, in the user's units.
    yes_no : ndarray of bool, shape (n_features,)
        Which features are yes/no.
    informative : Informative
        Which columns the ensemble was fitted to.
    ensemble : Ensemble
        Its members predict.
    joint : Average or Minimiser or None
        What is drawn from; None if the ensemble has only the trivial member.
    transductive : bool
        Whether rows of the fit have the minimiser's own values, which is what the paper scores.
    margins : ScoreMargins or None
        Margins of drawn numbers that are sharper on the scale of normal scores.
    clip : bool
        Whether filled features stay near the observed range.
    levels : dict
        Cuts between levels in an order, by feature.
    level_trees : LevelTrees or None
        Trees for levels, by informative column, where the cuts leave them a share.
    groups : ndarray of int, shape (n_features + n_labels,), or None
        Columns with the same number encode one of the user's.
    positive : PositiveLabels or None
        Predicts labels where only ones are ever recorded; unknown ones were fitted as zeros.
    fitted_rows : FittedRows or None
        The ensemble's prediction of the rows of the fit, so that it is not worked out again.
    judged : JudgedCells or None
        Held-out cells and what was predicted of them; None if nothing was held out.
    ends : ColumnEnds or None
        Of all rows, where ``observed`` are some of them.
    """

    observed: Observations
    yes_no: BoolArray
    informative: Informative
    ensemble: Ensemble
    joint: Average | Minimiser | None = None
    transductive: bool = False
    margins: ScoreMargins | None = None
    clip: bool = True
    levels: dict[int, LevelCuts] = field(default_factory=dict)
    level_trees: LevelTrees | None = None
    groups: NDArray[np.intp] | None = None
    positive: PositiveLabels | None = None
    fitted_rows: FittedRows | None = None
    judged: JudgedCells | None = None
    ends: ColumnEnds | None = None

    def answer(
        self,
        observed: Observations,
        *,
        std: bool = True,
        known: bool = False,
        parts: Collection[Part] = PARTS,
    ) -> Answer:
        """Give the model's own value in every cell, and on request its spread.

        Numbers that are known are not put back where ``known`` asks for what the model makes of them. Only
        the ``parts`` asked for are worked out.

        Where only ones are recorded, rows in which none is are taken for new ones, of which it is not known
        what would be recorded, unless they are among the rows of the fit.
        """
        prediction = self._prediction(observed, std=std, known=known, parts=parts)
        answer = self._answer(prediction, observed, knows=self.knows(observed))
        return self._with_levels(answer, observed, known=known) if std else answer

    def answer_rows(self, rows: NDArray[np.intp]) -> Answer:
        """Give what :meth:`answer` has in some rows of the fit, without working out the others.

        Parameters
        ----------
        rows : ndarray of int
        """
        whole = self.observed
        some = Observations(whole.X[rows], whole.Y[rows])
        if self.fitted_rows is not None:
            unknown = ~whole.X_known[:, self.informative.features & ~self.yes_no]
            prediction = self.fitted_rows.of_rows(
                rows, unknown.sum(axis=1), self._narrow(some), self._narrow_yes_no
            )
        else:
            prediction = self.ensemble.predict(self._narrow(some))
            if self.transductive:
                members = tuple(
                    one.of_rows(rows) if isinstance(one, Minimiser) else one for one in self.ensemble.members
                )
                own = replace(self.ensemble, members=members)
                mean = own.predict(self._narrow(some), training=True, std=False).mean
                prediction = prediction._replace(mean=mean)
        return self._with_levels(self._answer(prediction, some, knows=True), some)

    def _answer(self, prediction: Prediction, observed: Observations, *, knows: bool) -> Answer:
        """Bring a prediction of some rows to the user's columns."""
        prediction = self._widened(prediction)
        d = observed.n_features
        X, spread = prediction.mean[:, :d].copy(), prediction.std.copy()
        probability = expit(X[:, self.yes_no])
        varied = self.informative.features[self.yes_no]
        X[:, self.yes_no] = np.where(varied, probability, X[:, self.yes_no])
        spread[:, self.yes_no] = np.where(varied, np.sqrt(probability * (1 - probability)), 0)
        Z = prediction.mean[:, d:]
        if self.positive is not None:
            Z = Z.copy()
            Z[:, self.informative.labels] = self._positive_log_odds(observed, knows=knows)
        return Answer(np.clip(X, -self._largest, self._largest), spread, Z, {})

    def _with_levels(self, answer: Answer, observed: Observations, *, known: bool = False) -> Answer:
        """Add the probabilities of levels in an order."""
        if not self.levels:
            return answer
        trees = self._levels_by_trees(self._narrow(observed), known=known)
        levels = {
            j: cuts.probabilities(answer.X[:, j], answer.X_std[:, j], trees.get(int(self._place[j])))
            for j, cuts in self.levels.items()
        }
        return answer._replace(levels=levels)

    def _levels_by_trees(self, narrow: Observations, *, known: bool = False) -> dict[int, FloatArray]:
        """Give trees' probabilities of levels, by informative column; NaN where a level is known already."""
        if self.level_trees is None:
            return {}
        asked = np.ones(narrow.X.shape, bool) if known else ~narrow.X_known
        return self.level_trees.probabilities(narrow, asked)

    def _prediction(
        self,
        observed: Observations,
        *,
        std: bool,
        training: bool = True,
        known: bool = False,
        parts: Collection[Part] = PARTS,
    ) -> Prediction:
        """Predict some rows; those of the fit were predicted then, or have the minimiser's own values."""
        knows = self.knows(observed)
        if self.fitted_rows is not None and knows and not known:
            return self.fitted_rows.prediction(self._narrow(observed), self._narrow_yes_no)
        own = self.transductive and training and knows
        return self.ensemble.predict(self._narrow(observed), training=own, std=std, parts=parts)

    def _positive_log_odds(self, observed: Observations, *, knows: bool) -> FloatArray:
        """Log-odds of informative labels where only ones are recorded."""
        assert self.positive is not None
        narrow = self.informative.narrow(observed)
        open_to_recording = knows or observed.Y_known.any(axis=1)
        return np.where(
            np.reshape(open_to_recording, (-1, 1)),
            self.positive.log_odds(narrow, unrecorded=True),
            self.positive.log_odds(narrow, unrecorded=False),
        )

    def inside(self, X: FloatArray) -> FloatArray:
        """Keep predicted numbers near the observed range; probabilities are inside theirs."""
        if self.clip:
            return np.clip(X, *self._reach)
        return np.clip(X, -self._largest, self._largest)

    def inside_column(self, column: int, values: FloatArray) -> FloatArray:
        """Keep predicted numbers of one feature near its observed range."""
        low, high = self._reach if self.clip else (-self._largest, self._largest)
        least, most = (float(np.broadcast_to(end, self.yes_no.shape)[column]) for end in (low, high))
        return np.clip(values, least, most)

    def draws(
        self, observed: Observations, rng: np.random.Generator, n: int
    ) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Draw features and 0/1 labels of some rows, jointly, several times."""
        narrow = self._narrow(observed)
        prediction = self._prediction(observed, std=True, training=False)
        d = narrow.n_features
        if self.positive is not None:
            mean = prediction.mean.copy()
            mean[:, d:] = self._positive_log_odds(observed, knows=self.knows(observed))
            prediction = prediction._replace(mean=mean)
        joint = None
        if self.joint is not None:
            levels, groups = self._narrow_kinds
            by_trees = self._levels_by_trees(narrow)
            joint = JointDraws(self.joint, self.margins, narrow, prediction, levels, by_trees, groups)
        for _ in range(n):
            X, Y = _independent(prediction, self._narrow_yes_no, rng) if joint is None else joint.draw(rng)
            whole, _ = self.informative.widen(np.hstack((X, Y.astype(X.dtype))), prediction.std)
            labels = whole[:, observed.n_features :]
            # Labels that do not vary in the table have probabilities in ``whole``, all others draws.
            constant = ~self.informative.labels
            chance = rng.random((len(labels), int(constant.sum())))
            labels[:, constant] = chance < expit(labels[:, constant])
            drawn = whole[:, : observed.n_features]
            # A tail that is drawn from far out is not worth the risk of values that cannot be.
            yield self.inside(self._seen.within(drawn) if self.clip else drawn), labels

    @cached_property
    def _largest(self) -> float:
        """The largest number of the user's type, which stands for all that lies beyond."""
        return float(np.finfo(self.observed.X.dtype).max)

    @cached_property
    def _narrow_yes_no(self) -> BoolArray:
        return self.yes_no[self.informative.features]

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        """Where each informative feature is among those that the ensemble was fitted to."""
        return np.asarray(np.cumsum(self.informative.features) - 1)

    @cached_property
    def _narrow_kinds(self) -> tuple[dict[int, LevelCuts], NDArray[np.intp] | None]:
        """Cuts and groups of the columns that the ensemble was fitted to."""
        levels = {
            int(self._place[j]): cuts.in_units(self.informative.unit[j])
            for j, cuts in self.levels.items()
            if self.informative.features[j]
        }
        return levels, None if self.groups is None else self.groups[self.informative.columns]

    def _narrow(self, observed: Observations) -> Observations:
        return self.informative.narrow(self.fitted_as(observed))

    def _widened(self, prediction: Prediction) -> Prediction:
        return Prediction(*self.informative.widen(*prediction))

    def fitted_as(self, observed: Observations) -> Observations:
        """Turn unknown labels into what the fit took them for; a row without labels is left alone."""
        if self.positive is None:
            return observed
        seen = observed.Y_known.any(axis=1, keepdims=True)
        return Observations(observed.X, np.where(seen & ~observed.Y_known, 0, observed.Y))

    def knows(self, observed: Observations) -> bool:
        """Whether these are the rows of the fit."""
        return observed is self.observed or all(
            one.shape == other.shape and _equal(one, other)
            for one, other in ((observed.X, self.observed.X), (observed.Y, self.observed.Y))
        )

    @cached_property
    def _seen(self) -> ColumnEnds:
        return ColumnEnds.of(self.observed.X) if self.ends is None else self.ends

    @cached_property
    def _reach(self) -> tuple[FloatArray, FloatArray]:
        """What filled features stay inside of, by column."""
        low, high = self._seen.reach(self.observed.X)
        return np.maximum(low, -self._largest), np.minimum(high, self._largest)


def _equal(one: FloatArray, other: FloatArray) -> bool:
    """Whether two tables hold the same, NaN where the other has it; the first difference ends it."""
    step = max(1, COLUMN_NUMBERS // max(one.shape[1], 1))
    for first in range(0, len(one), step):
        some = slice(first, first + step)
        if not np.array_equal(one[some], other[some], equal_nan=True):
            return False
    return True


def _independent(
    prediction: Prediction, yes_no: BoolArray, rng: np.random.Generator
) -> tuple[FloatArray, BoolArray]:
    """Draw every cell by itself, where no model has the cells of a row depend on each other."""
    d = len(yes_no)
    t, std = prediction.mean, prediction.std
    X = t[:, :d] + std * rng.standard_normal(std.shape)
    binary = t + rng.logistic(size=t.shape) > 0
    return np.where(yes_no, binary[:, :d], X), binary[:, d:]


def levels_of_rows(model: Model, codes: dict[int, FloatArray]) -> dict[int, LevelCuts]:
    """Find cuts between levels in an order by what a model predicts of its rows; nothing was held out."""
    if not codes:
        return {}
    answer = model.answer(model.observed, known=True)
    return level_cuts(codes, model.observed.X, answer.X, answer.X_std)
