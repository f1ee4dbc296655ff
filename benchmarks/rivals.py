"""The methods a user would pick instead of CoCompleter, behind one interface.

A rival is a function ``fill(X, Y, X_new, **setting)`` from features and labels with holes (NaN), and new rows
or None, whose features may have holes, to an :class:`protocol.Answer`, with a small grid of settings.
:func:`tune` chooses from the grid on held-out cells, separately for features and labels.

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
from sklearn.linear_model import BayesianRidge, LogisticRegression, Ridge

from glued import Glued, column_means_of, column_spread_of
from protocol import Answer

logger = logging.getLogger("bench-real")

HELD_OUT = 0.125
"""Share of the observed cells that is held out to choose a setting."""

LEAST_PROBABILITY = 1e-3
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
    """Choose a setting for features and one for labels on held-out cells, then refit on all of them.

    Parameters
    ----------
    rival : Rival
    X, Y : ndarray of shape (n_samples, n_features) and (n_samples, n_labels)
        NaN where unknown.
    X_new : ndarray of shape (n_new, n_features)
    seed : int
        Of the cells that are held out.

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
        for_features = for_labels if chosen_X == chosen_Y else rival.fill(X, Y, X_new, **chosen_X)
    answer = for_labels._replace(X=for_features.X, X_new=for_features.X_new)
    return Tuned(answer, {"X": chosen_X, "Y": chosen_Y})


def _choose(rival: Rival, X: np.ndarray, Y: np.ndarray, seed: int) -> tuple[dict[str, Any], dict[str, Any]]:
    if len(rival.grid) == 1:
        return rival.grid[0], rival.grid[0]
    # A stream of its own: the seed itself has drawn the missing cells of the case.
    rng = np.random.default_rng([seed, 1])
    held_X, held_Y = (~np.isnan(part) & (rng.random(part.shape) < HELD_OUT) for part in (X, Y))
    shown = np.where(held_X, np.nan, X), np.where(held_Y, np.nan, Y)
    spread = column_spread_of(X)
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
    p = np.clip(answer.Y_proba[held], LEAST_PROBABILITY, 1 - LEAST_PROBABILITY)
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


def column_means(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None) -> Answer:
    """Fill the column mean; a label's probability is its observed rate, so its value is the majority."""
    means, rates = column_means_of(X), column_means_of(Y)
    answer = Answer(np.where(np.isnan(X), means, X), np.tile(rates, (len(Y), 1)), None)
    if X_new is None:
        return answer
    X_new = np.where(np.isnan(X_new), means, X_new)
    return answer._replace(X_new=X_new, Y_proba_new=np.tile(rates, (len(X_new), 1)))


def nearest_rows(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, **setting: Any) -> Answer:
    """scikit-learn's KNNImputer on the glued table."""
    return _impute(KNNImputer(**setting), Glued(X, Y, "features"), X_new)


def chained_equations(
    X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, *, ridge: float | None
) -> Answer:
    """scikit-learn's IterativeImputer on the glued table, with Ridge or its default BayesianRidge (None).

    The default is left out of the grid of ``make bench-real``: at 20 % seen it was clearly worse on all four
    sets than the better Ridge, at 60 % on emotions and yeast (not tried on the others), and on wide tables
    it takes several times as long.
    """
    estimator = BayesianRidge() if ridge is None else Ridge(ridge)
    return _impute(IterativeImputer(estimator, random_state=0), Glued(X, Y, "all"), X_new)


def _impute(imputer: Any, glued: Glued, X_new: np.ndarray | None) -> Answer:
    filled = imputer.fit_transform(glued.table)
    return glued.answer(filled, None if X_new is None else imputer.transform(glued.new(X_new)))


def collective_factors(
    X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, *, lambda_: float, w_user: float | None
) -> Answer:
    """Cmfrec's CMF, on the glued table (``w_user=None``) or on labels with features as side information.

    ``w_user`` is the weight of the side information. New rows get their factors from features alone.
    """
    with _libraries_found_once():
        return _collective_factors(X, Y, X_new, lambda_, w_user)


@contextlib.contextmanager
def _libraries_found_once() -> Iterator[None]:
    """Let cmfrec look up the loaded BLAS libraries once; six times per iteration is most of its time."""
    import threadpoolctl

    controller = threadpoolctl.ThreadpoolController()
    with (
        mock.patch.object(threadpoolctl, "threadpool_info", controller.info),
        mock.patch.object(threadpoolctl, "threadpool_limits", controller.limit),
    ):
        yield


def _collective_factors(
    X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None, lambda_: float, w_user: float | None
) -> Answer:
    from cmfrec import CMF

    glued = Glued(X, Y, "all")
    model = CMF(
        # More factors than columns cannot be used.
        k=min(40, glued.table.shape[1]),
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
    filled_new = model.factors_multiple(X=labels_new, U=features_new) @ model.C_.T
    filled_new = np.where(np.isnan(features_new), filled_new, features_new)
    return glued.answer(filled, np.hstack((filled_new, model.transform(labels_new, U=features_new))))


def gaussian_copula(
    X: np.ndarray,
    Y: np.ndarray,
    X_new: np.ndarray | None,
    *,
    rank: int | None,
    yes_no_probability: bool = False,
) -> Answer:
    """Gcimpute on the glued table: the full Gaussian copula (``rank=None``) or the low-rank one.

    gcimpute fills labels with 0 or 1. Their probabilities are read from its latent Gaussian instead:
    conditional mean and spread against the cut that gives the label's rate. ``yes_no_probability`` asks for
    the same in features that hold only 0 and 1. At most 20 iterations keep a fit to about a minute on one
    core; the full copula converged within them on all four sets at 20 % seen.
    """
    glued = Glued(X, Y, "nothing")
    full, low_rank = _copulas()
    options = {"max_iter": 20, "random_state": 0}
    model = full(**options) if rank is None else low_rank(rank, **options)
    # This is gcimpute's own rule, without its truncated types: their bounds coincide and it refuses them.
    ordinal = np.array([_mode_share(column) >= 0.1 for column in glued.table.T])
    # New rows go along with the old ones, because gcimpute refuses a table without any ordinal value.
    rows = glued.table if X_new is None else np.vstack((glued.table, glued.new(X_new)))
    as_probability = np.arange(rows.shape[1]) >= glued.n_features
    if yes_no_probability:
        as_probability |= (np.isin(glued.table, (0.0, 1.0)) | np.isnan(glued.table)).all(axis=0)
    # A row without any value has no conditional mean: gcimpute never sees it and it gets the column means.
    empty = np.isnan(rows).all(axis=1)
    filled = np.tile(column_means_of(glued.table), (len(rows), 1))
    # gcimpute calls np.round_, which NumPy 2 has dropped.
    with mock.patch.object(np, "round_", np.round, create=True):
        # It takes an empty list of a type for an error; None means that there is none.
        types = {"continuous": np.flatnonzero(~ordinal), "ordinal": np.flatnonzero(ordinal)}
        model.fit(
            rows[: len(X)][~empty[: len(X)]],
            **{name: columns if len(columns) else None for name, columns in types.items()},
        )
        filled[~empty] = _copula_filled(model, glued, rows[~empty], as_probability)
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


def _copula_filled(model: Any, glued: Glued, rows: np.ndarray, as_probability: np.ndarray) -> np.ndarray:
    """Fill features as gcimpute does and labels, and what else is asked for, with its model's probability."""
    mean, ordinal_variance = model._fillup_latent(*model._observed_to_latent(rows))
    filled = model._latent_to_imp(mean, rows)
    correlation = _correlation(model)
    cuts = norm.ppf(1 - column_means_of(glued.table))
    for i, unknown in enumerate(np.isnan(rows)):
        known, asked = np.flatnonzero(~unknown), np.flatnonzero(unknown & as_probability)
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
    means, spread = column_means_of(X), column_spread_of(X)
    # The mean of a standardised column is 0.
    table = np.nan_to_num((X - means) / spread)
    new = None if X_new is None else np.nan_to_num((X_new - means) / spread)
    return _per_label(lambda: LogisticRegression(C=C, max_iter=1000), table, Y, new)


def _per_label(
    classifier: Callable[[], Any], X: np.ndarray, Y: np.ndarray, X_new: np.ndarray | None
) -> Answer:
    """One classifier per label from the rows where it is known; with one class only, its rate."""
    answer = column_means(X, Y, X_new)._replace(X=None, X_new=None)
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


def grid_of(**options: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    """All combinations of the options, as keyword arguments."""
    return tuple(dict(zip(options, values, strict=True)) for values in product(*options.values()))


RIVALS = {
    "mean/majority": Rival(column_means, ({},)),
    "logistic after mean": Rival(logistic, grid_of(C=(1e-3, 1e-2, 1e-1, 1.0))),
    "KNNImputer": Rival(
        nearest_rows,
        grid_of(n_neighbors=(10, 20, 40, 80)) + grid_of(n_neighbors=(40,), weights=("distance",)),
    ),
    "cmfrec CMF": Rival(
        collective_factors,
        grid_of(w_user=(None,), lambda_=(4, 7, 12, 20)) + grid_of(w_user=(0.3,), lambda_=(2, 4, 7, 12)),
    ),
    "IterativeImputer": Rival(chained_equations, grid_of(ridge=(30, 100, 300, 1000, 3000))),
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
    "gcimpute": Rival(gaussian_copula, grid_of(rank=(5, 10, None))),
}
"""Quick ones first, so that an interrupted run has something to show."""
