"""From the user's table to the columns that the solvers see, and back.

Features that are numbers are standardised, or made normal by ranks; features that are yes or no join the
labels, under the same logistic loss. The solvers' columns are: numbers, yes/no features, labels.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, logit

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.containers import column_label
from cocomplete.exceptions import InputError
from cocomplete.frozen import FieldsAlone
from cocomplete.problem.observations import Observations
from cocomplete.problem.scores import NormalScores
from cocomplete.problem.standardize import Standardization

FEATURE_TYPES = ("number", "yes-no")


@dataclass(frozen=True, eq=False)
class Encoding(FieldsAlone):
    """How a user's table and the solvers' columns correspond.

    Attributes
    ----------
    yes_no : ndarray of bool, shape (n_features,)
        Features under logistic loss.
    scale : Standardization or NormalScores
        Map of the other features, in their order.
    log_odds : ndarray of shape (number of yes/no features + n_labels,)
        Shrunken log-odds of the observed rates, or 0.
    """

    yes_no: BoolArray
    scale: Standardization | NormalScores
    log_odds: FloatArray

    @classmethod
    def of(
        cls, observed: Observations, yes_no: BoolArray, *, center: bool, scale: bool, gaussian: bool = False
    ) -> "Encoding":
        """Estimate the correspondence from the observed cells alone.

        Parameters
        ----------
        observed : Observations
            In the user's units.
        yes_no : ndarray of bool, shape (n_features,)
        center, scale : bool
            As in :class:`cocomplete.CoCompleter`.
        gaussian : bool, default=False
            Normal scores instead of centring and scaling.
        """
        numbers = observed.X[:, ~yes_no]
        logistic = np.hstack((observed.X[:, yes_no], observed.Y))
        log_odds = shrunken_log_odds(logistic)
        return cls(
            yes_no,
            NormalScores.of(numbers) if gaussian else Standardization.of(numbers, center=center, scale=scale),
            (log_odds if center else np.zeros_like(log_odds)).astype(observed.X.dtype),
        )

    @property
    def gaussian(self) -> bool:
        """Whether columns are made normal by ranks."""
        return isinstance(self.scale, NormalScores)

    @cached_property
    def n_numbers(self) -> int:
        """Number of features that are not yes/no."""
        return int((~self.yes_no).sum())

    @cached_property
    def offsets(self) -> FloatArray:
        """Where every column of the solvers' starts: 0 or log-odds."""
        return np.concatenate((np.zeros(self.n_numbers, self.log_odds.dtype), self.log_odds))

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The solvers' column of each of the user's: features, then labels."""
        d, n_labels = len(self.yes_no), len(self.offsets) - len(self.yes_no)
        order = np.empty(d + n_labels, np.intp)
        order[np.flatnonzero(~self.yes_no)] = np.arange(self.n_numbers)
        order[np.flatnonzero(self.yes_no)] = np.arange(self.n_numbers, d)
        order[d:] = np.arange(d, d + n_labels)
        return order

    def apply(self, observed: Observations) -> Observations:
        """Give the observations as the solvers see them, without names."""
        numbers = self.scale.apply(observed.X[:, ~self.yes_no])
        if not self.yes_no.any():
            return Observations(numbers, observed.Y)
        return Observations(numbers, np.hstack((observed.X[:, self.yes_no], observed.Y)))

    def feature(
        self, column: int, t: FloatArray, score: FloatArray, variance: FloatArray
    ) -> tuple[FloatArray, FloatArray]:
        """Give a feature's mean and standard deviation in the user's units; a probability if it is yes/no.

        Parameters
        ----------
        column : int
            The user's column.
        t, variance : ndarray
            Mean and variance of the feature on the solvers' scale, noise included.
        score : ndarray
            Log-odds, for a yes/no feature.
        """
        if self.yes_no[column]:
            probability = expit(score)
            return probability, np.sqrt(probability * (1 - probability))
        return self.scale.undo(int(self.order[column]), t, variance)


def shrunken_log_odds(Y: FloatArray) -> FloatArray:
    """Log-odds of each column's observed rate; half a 0 and half a 1 more keep one-sided ones finite."""
    rate = (np.nansum(Y, axis=0) + 0.5) / ((~np.isnan(Y)).sum(axis=0) + 1)
    return np.asarray(logit(rate), Y.dtype)


def find_yes_no(X: FloatArray) -> BoolArray:
    """Which columns hold 0 and 1 and nothing else, both of them."""
    zero, one, known = X == 0, X == 1, ~np.isnan(X)
    found: BoolArray = (zero | one | ~known).all(axis=0) & zero.any(axis=0) & one.any(axis=0)
    return found


def resolve_feature_types(types: Any, observed: Observations) -> BoolArray:
    """Decide which features are yes/no.

    Parameters
    ----------
    types : "auto", one of ``FEATURE_TYPES``, a list with one of them per feature, or a dict
        A dict gives the type of some features by name or position; the others are found by their values.
    observed : Observations

    Returns
    -------
    ndarray of bool, shape (n_features,)

    Raises
    ------
    InputError
        If a type or a feature is unknown, or a yes/no feature holds something else.
    """
    names, d = observed.feature_names, observed.n_features
    found = find_yes_no(observed.X)
    if isinstance(types, str):
        asked = {} if types == "auto" else dict.fromkeys(range(d), types)
    elif isinstance(types, dict):
        asked = {_position(key, names, d): value for key, value in types.items()}
    elif not isinstance(types, Iterable):
        msg = f"feature_types must be 'auto', a type, a list or a dict, got {types!r}"
        raise InputError(msg)
    else:
        asked = dict(enumerate(types))
        if len(asked) != d:
            msg = f"feature_types has {len(asked)} entries, but X has {d} features; give one per feature"
            raise InputError(msg)
    for column, kind in asked.items():
        if kind not in FEATURE_TYPES:
            msg = (
                f"feature_types must be 'auto' or made of {', '.join(map(repr, FEATURE_TYPES))}, "
                f"got {kind!r} for {column_label(names, column)}"
            )
            raise InputError(msg)
        values = observed.X[observed.X_known[:, column], column]
        bad = values[(values != 0) & (values != 1)]
        if kind == "yes-no" and bad.size:
            msg = (
                f"feature_types says that {column_label(names, column)} is yes/no, but it holds {bad[0]:g}; "
                "recode it to 0 and 1, or call it a 'number'"
            )
            raise InputError(msg)
        found[column] = kind == "yes-no"
    return found


def _position(key: Any, names: tuple[str, ...] | None, count: int) -> int:
    if names is not None and key in names:
        return names.index(key)
    if isinstance(key, int | np.integer) and 0 <= key < count:
        return int(key)
    msg = f"feature_types names feature {key!r}, which X does not have; use a column's name or position"
    raise InputError(msg)
