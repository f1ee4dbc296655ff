"""The methods a user would pick instead of CoCompleter, behind one interface.

A rival is a function ``fill(X, Y, X_new, **setting)`` from features and labels with holes (NaN), and new rows
with complete features or None, to an :class:`protocol.Answer`, with a small grid of settings. :func:`tune`
chooses from the grid by hiding observed cells, separately for features and labels.

Methods that fill one table get ``[X, Y]`` glued together, and new rows as rows whose labels are unknown.
"""

import contextlib
import logging
import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from scipy.stats import norm
from sklearn.ensemble import HistGradientBoostingClassifier
from sklearn.experimental import enable_iterative_imputer  # noqa: F401  (makes the import below possible)
from sklearn.impute import IterativeImputer, KNNImputer
from sklearn.linear_model import LogisticRegression, Ridge

from protocol import Answer

logger = logging.getLogger("bench-real")

HELD_OUT = 0.125
"""Share of the observed cells that is hidden to choose a setting."""

SURE = 1e-3
"""Probabilities are kept this far from 0 and 1 in the log-loss: averages of 0/1 labels reach both."""


@dataclass(frozen=True)
class Rival:
    """A method and the settings to try."""

    fill: Callable[..., Answer]
    grid: tuple[dict[str, Any], ...]


class Tuned(NamedTuple):
    """An answer and the settings it was reached with."""

    answer: Answer
    settings: dict[str, dict[str, Any]]


def tune(rival: Rival, X: np.ndarray, Y: np.ndarray, X_new: np.ndarray, seed: int) -> Tuned:
    """Choose a setting for features and one for labels on hidden observed cells, then refit on all of them.

    Parameters
    ----------
    rival : Rival
    X, Y : ndarray of shape (n_samples, n_features) and (n_samples, n_labels)
        NaN where unknown.
    X_new : ndarray of shape (n_new, n_features)
    seed : int
        Of the cells that are hidden.

    Notes
    -----
    Features are judged by squared error in units of each column's observed spread, labels by log-loss. A
    setting that fails (gcimpute does, on columns with too few values) is left out.
    """
    with _quiet():
        chosen_X, chosen_Y = _choose(rival, X, Y, seed)
        for_labels = rival.fill(X, Y, X_new, **chosen_Y)
        if for_labels.X is None:
            return Tuned(for_labels, {"Y": chosen_Y})
        same = chosen_X == chosen_Y
        features = for_labels.X if same else rival.fill(X, Y, None, **chosen_X).X
    return Tuned(for_labels._replace(X=features), {"X": chosen_X, "Y": chosen_Y})


def _choose(rival: Rival, X: np.ndarray, Y: np.ndarray, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    if len(rival.grid) == 1:
        return rival.grid[0], rival.grid[0]
    # A stream of its own: the seed itself has hidden the cells of the case.
    rng = np.random.default_rng([seed, 1])
    held_X, held_Y = (~np.isnan(part) & (rng.random(part.shape) < HELD_OUT) for part in (X, Y))
    shown = np.where(held_X, np.nan, X), np.where(held_Y, np.nan, Y)
    spread = _spread(X)
    losses_X, losses_Y = [], []
    for setting in rival.grid:
        try:
            answer = rival.fill(*shown, None, **setting)
        except Exception as error:
            logger.info("  setting %s fails and is left out: %r", setting, error)
            answer = None
        losses_X.append(_squared_loss(answer, X / spread, spread, held_X))
        losses_Y.append(_log_loss(answer, Y, held_Y))
    return rival.grid[int(np.argmin(losses_X))], rival.grid[int(np.argmin(losses_Y))]


def _squared_loss(answer: Answer | None, truth: np.ndarray, spread: np.ndarray, held: np.ndarray) -> float:
    if answer is None or answer.X is None:
        return np.inf
    return float(np.mean((answer.X / spread - truth)[held] ** 2))


def _log_loss(answer: Answer | None, truth: np.ndarray, held: np.ndarray) -> float:
    if answer is None:
        return np.inf
    p = np.clip(answer.Y_proba[held], SURE, 1 - SURE)
    return -float(np.mean(np.log(np.where(truth[held] == 1, p, 1 - p))))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Silence warnings (no convergence, empty columns) and gcimpute's prints: a benchmark reports figures."""
    with (
        warnings.catch_warnings(),
        np.errstate(all="ignore"),
        open(os.devnull, "w") as nowhere,
        contextlib.redirect_stdout(nowhere),
    ):
        warnings.simplefilter("ignore")
        yield


def _means(table: np.ndarray) -> np.ndarray:
    """Observed column means; 0 where nothing is observed."""
    known = ~np.isnan(table)
    return np.where(known, table, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def _spread(table: np.ndarray) -> np.ndarray:
    """Observed standard deviations of the columns; 1 where there is none."""
    return np.where(_varied(table), np.sqrt(_means((table - _means(table)) ** 2)), 1.0)


def _varied(table: np.ndarray) -> np.ndarray:
    """Tell which columns show two values; a variance would be a rounding error above 0 where they do not."""
    return np.fmax.reduce(table) > np.fmin.reduce(table)


class Glued:
    """Features and labels as the columns of one table, for methods that know only one.

    Parameters
    ----------
    X, Y : ndarray of shape (n_samples, n_features) and (n_samples, n_labels)
        NaN where unknown.
    standardise : {"all", "features", "nothing"}
        Which columns are centred and divided by their observed spread.

    Attributes
    ----------
    table : ndarray of shape (n_samples, n_varied)
        Columns that show fewer than two values are left out, because the imputers drop or refuse them;
        :meth:`split` puts them back as their mean.
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, standardise: str) -> None:
        self._d, self._n_labels = X.shape[1], Y.shape[1]
        whole = np.hstack((X, Y))
        self._means, self._spread = _means(whole), _spread(whole)
        self._offsets = self._means.copy()
        self._varied = _varied(whole)
        raw = {"all": self._d + self._n_labels, "features": self._d, "nothing": 0}[standardise]
        self._offsets[raw:], self._spread[raw:] = 0.0, 1.0
        self.n_features = int(self._varied[: self._d].sum())
        self.table = self._units(whole)

    def new(self, X_new: np.ndarray) -> np.ndarray:
        """Lay out new rows, whose labels are unknown, like the table."""
        return self._units(np.hstack((X_new, np.full((len(X_new), self._n_labels), np.nan))))

    def parts(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Feature columns and label columns of a table."""
        return table[:, : self.n_features], table[:, self.n_features :]

    def split(self, filled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take a filled table apart: features in their own units and label probabilities."""
        whole = np.tile(self._means, (len(filled), 1))
        kept = self._varied
        whole[:, kept] = filled * self._spread[kept] + self._offsets[kept]
        return whole[:, : self._d], np.clip(whole[:, self._d :], 0.0, 1.0)

    def answer(self, filled: np.ndarray, filled_new: np.ndarray | None) -> Answer:
        """Give both tables in the form every rival answers in."""
        return Answer(*self.split(filled), None if filled_new is None else self.split(filled_new)[1])

    def _units(self, whole: np.ndarray) -> np.ndarray:
        return ((whole - self._offsets) / self._spread)[:, self._varied]


def column_means(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None) -> Answer:
    """Fill the column mean; a label's probability is its observed rate, so its value is the majority."""
    filled = np.where(np.isnan(X), _means(X), X)
    rates = _means(Y)
    new = None if X_new is None else np.tile(rates, (len(X_new), 1))
    return Answer(filled, np.tile(rates, (len(Y), 1)), new)


def nearest_rows(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, **setting: Any) -> Answer:
    """scikit-learn's KNNImputer on the glued table."""
    return _impute(KNNImputer(**setting), Glued(X, Y, "features"), X_new)


def chained_equations(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, *, ridge: float) -> Answer:
    """scikit-learn's IterativeImputer on the glued table, with Ridge.

    Its default, BayesianRidge, is left out of the grid: at 20 % seen it was clearly worse on all four sets
    than the better Ridge, at 60 % on emotions and yeast (not tried on the others), and on wide tables it
    takes several times as long.
    """
    return _impute(IterativeImputer(Ridge(ridge), random_state=0), Glued(X, Y, "all"), X_new)


def _impute(imputer: Any, glued: Glued, X_new: np.ndarray | None) -> Answer:
    filled = imputer.fit_transform(glued.table)
    return glued.answer(filled, None if X_new is None else imputer.transform(glued.new(X_new)))


def collective_factors(
    X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, *, lambda_: float, w_user: float | None
) -> Answer:
    """Cmfrec's CMF, on the glued table (``w_user=None``) or on labels with features as side information.

    ``w_user`` is the weight of the side information. New rows get their factors from features alone.
    """
    from cmfrec import CMF

    model = CMF(
        k=40,
        lambda_=lambda_,
        w_user=1.0 if w_user is None else w_user,
        # Columns come centred, and rows of a table, unlike users, have no bias of their own.
        center=False,
        center_U=False,
        user_bias=False,
        use_cg=False,
        niter=30,
        use_float=False,
        nthreads=1,
    )
    glued = Glued(X, Y, "all")
    if w_user is None:
        model.fit(glued.table)
        new = None if X_new is None else model.transform(glued.new(X_new))
        return glued.answer(model.transform(glued.table), new)
    features, labels = glued.parts(glued.table)
    model.fit(labels, U=features)
    filled = np.hstack((model.A_ @ model.C_.T, model.transform(labels, U=features)))
    filled = np.where(np.isnan(glued.table), filled, glued.table)
    if X_new is None:
        return glued.answer(filled, None)
    features_new, labels_new = glued.parts(glued.new(X_new))
    return glued.answer(filled, np.hstack((features_new, model.transform(labels_new, U=features_new))))


def gaussian_copula(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, *, rank: int | None) -> Answer:
    """Gcimpute on the glued table: the full Gaussian copula (``rank=None``) or the low-rank one.

    gcimpute fills labels with 0 or 1. Their probabilities are read from its latent Gaussian instead:
    conditional mean and spread against the cut that gives the label's rate. At most 20 iterations keep a fit
    to about a minute on one core; the full copula converged within them on all four sets at 20 % seen.
    """
    glued = Glued(X, Y, "nothing")
    full, low_rank = _copulas()
    options = {"max_iter": 20, "random_state": 0}
    model = full(**options) if rank is None else low_rank(rank, **options)
    # This is gcimpute's own rule, without its truncated types: their bounds coincide and it refuses them.
    ordinal = np.array([_mode_share(column) >= 0.1 for column in glued.table.T])
    # New rows go along with the old ones, because gcimpute refuses a table without any ordinal value.
    rows = glued.table if X_new is None else np.vstack((glued.table, glued.new(X_new)))
    # gcimpute calls np.round_, which NumPy 2 has dropped.
    with mock.patch.object(np, "round_", np.round, create=True):
        model.fit(glued.table, continuous=np.flatnonzero(~ordinal), ordinal=np.flatnonzero(ordinal))
        filled = _copula_filled(model, glued, rows)
    return glued.answer(filled[: len(X)], None if X_new is None else filled[len(X) :])


def _copulas() -> tuple[Any, Any]:
    # gcimpute turns every warning into an error when it is imported; that stays in here.
    with warnings.catch_warnings():
        from gcimpute.gaussian_copula import GaussianCopula
        from gcimpute.low_rank_gaussian_copula import LowRankGaussianCopula
    return GaussianCopula, LowRankGaussianCopula


def _mode_share(column: np.ndarray) -> float:
    """Share of a column's observed values that equal the commonest one."""
    counts = np.unique(column[~np.isnan(column)], return_counts=True)[1]
    return float(counts.max() / counts.sum())


def _copula_filled(model: Any, glued: Glued, rows: np.ndarray) -> np.ndarray:
    """Fill features as gcimpute does and labels with their probability under its model."""
    mean, ordinal_variance = model._fillup_latent(*model._observed_to_latent(rows))
    filled = model._latent_to_imp(mean, rows)
    correlation = _correlation(model)
    cuts = norm.ppf(1 - _means(glued.table))
    is_label = np.arange(rows.shape[1]) >= glued.n_features
    for i, unknown in enumerate(np.isnan(rows)):
        known, asked = np.flatnonzero(~unknown), np.flatnonzero(unknown & is_label)
        across = correlation[np.ix_(known, asked)]
        weights = np.linalg.solve(correlation[np.ix_(known, known)], across)
        # The latent value of an observed 0 or 1 is itself uncertain.
        variance = 1 - np.sum(across * weights, axis=0) + ordinal_variance[i, known] @ weights**2
        filled[i, asked] = norm.cdf((mean[i, asked] - cuts[asked]) / np.sqrt(np.maximum(variance, 1e-6)))
    return filled


def _correlation(model: Any) -> np.ndarray:
    if model._corr is not None:
        return model._corr
    return model._W @ model._W.T + model._sigma * np.eye(len(model._W))


def boosted_trees(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, **setting: Any) -> Answer:
    """HistGradientBoostingClassifier per label, unknown features left NaN. Fills no features."""
    return _per_label(lambda: HistGradientBoostingClassifier(random_state=0, **setting), X, Y, X_new)


def logistic(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, *, C: float) -> Answer:
    """Logistic regression per label on standardised features, holes filled with the mean."""
    means, spread = _means(X), _spread(X)
    # The mean of a standardised column is 0.
    table = np.nan_to_num((X - means) / spread)
    new = None if X_new is None else (X_new - means) / spread
    return _per_label(lambda: LogisticRegression(C=C, max_iter=1000), table, Y, new)._replace(X=None)


def _per_label(
    classifier: Callable[[], Any], X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None
) -> Answer:
    """One classifier per label from the rows where it is known; with one class only, its rate."""
    answer = column_means(X, Y, X_new)._replace(X=None)
    for j, label in enumerate(Y.T):
        known = ~np.isnan(label)
        if len(np.unique(label[known])) < 2:
            continue
        # The trees take NaN, but not a feature that shows nothing else.
        usable = ~np.isnan(X[known]).all(axis=0)
        fitted = classifier().fit(X[np.ix_(known, usable)], label[known])
        answer.Y_proba[:, j] = fitted.predict_proba(X[:, usable])[:, 1]
        if X_new is not None:
            answer.Y_proba_new[:, j] = fitted.predict_proba(X_new[:, usable])[:, 1]
    return answer


def _each(**options: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    """All combinations of the options, as keyword arguments."""
    return tuple(dict(zip(options, values, strict=True)) for values in product(*options.values()))


RIVALS = {
    "mean/majority": Rival(column_means, ({},)),
    "logistic after mean": Rival(logistic, _each(C=(1e-3, 1e-2, 1e-1, 1.0))),
    "KNNImputer": Rival(
        nearest_rows,
        _each(n_neighbors=(10, 20, 40, 80)) + _each(n_neighbors=(40,), weights=("distance",)),
    ),
    "cmfrec CMF": Rival(
        collective_factors,
        _each(w_user=(None,), lambda_=(4, 7, 12, 20)) + _each(w_user=(0.3,), lambda_=(2, 4, 7, 12)),
    ),
    "IterativeImputer": Rival(chained_equations, _each(ridge=(30, 100, 300, 1000, 3000))),
    # From hardly more than the rate upwards: with most cells NaN, the defaults overfit at once.
    "HistGradientBoosting": Rival(
        boosted_trees,
        (
            {"learning_rate": 0.005, "max_depth": 3, "max_features": 0.2, "min_samples_leaf": 5},
            {"learning_rate": 0.02, "max_depth": 2, "max_features": 0.1, "min_samples_leaf": 5},
            {"learning_rate": 0.05, "max_depth": 3, "max_features": 0.2, "min_samples_leaf": 5},
            {"learning_rate": 0.05, "max_leaf_nodes": 15, "max_features": 0.2, "min_samples_leaf": 10},
        ),
    ),
    "gcimpute": Rival(gaussian_copula, _each(rank=(5, 10, None))),
}
"""Quick ones first, so that an interrupted run has something to show."""
