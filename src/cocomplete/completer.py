"""CoCompleter: the scikit-learn shell around Observations → Objective → Solution."""

import hashlib
import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted

from cocomplete.arrays import FloatArray
from cocomplete.containers import fill_like
from cocomplete.exceptions import InputError
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.problem.standardize import Standardization
from cocomplete.solvers.choice import SOLVERS, choose, solve
from cocomplete.solvers.polish import polish
from cocomplete.solvers.solution import Progress, Record, Solution

logger = logging.getLogger("cocomplete")

AUTO_SHARE = 0.15
"""rank_penalty="auto", as a share of the value that makes everything zero."""


class Completion(NamedTuple):
    """A completed table.

    Attributes
    ----------
    X : features in the container they came in; observed cells bit-equal, holes filled.
    Y : labels likewise, 0 or 1 in every cell; None if there are no labels.
    Y_proba : ndarray of shape (n_samples, n_labels)
        The model's probability of a 1, for every cell, observed ones included.
    X_std : ndarray of shape (n_samples, n_features) or None
        Standard deviation of each filled feature; None if the solver gives none.
    """

    X: Any
    Y: Any
    Y_proba: FloatArray
    X_std: FloatArray | None


class Reconstruction(NamedTuple):
    """The model's own value in every cell of the training rows; observed cells are not put back.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        X̂, in the user's units.
    Z : ndarray of shape (n_samples, n_labels)
        Ẑ: label scores, whose sigmoid is the probability of a 1.
    """

    X: FloatArray
    Z: FloatArray


class CoCompleter(BaseEstimator):
    """Complete features and 0/1 labels together with one low-rank matrix.

    Parameters
    ----------
    rank_penalty : "auto" or float, default="auto"
        λ1, weight of the trace norm of M = [X̂, Z]. "auto" takes 15 % of the smallest value at which the
        answer would be M = 0 if λ2 were 0.
    residual_penalty : "auto" or float, default="auto"
        λ2, weight of the trace norm of the residual on observed features. "auto" is 0: with a value of λ1
        or more the model passes through every observed feature, noise included (and larger values than
        λ1 change nothing, so the exact solvers use λ1).
    feature_weight : "auto" or float, default="auto"
        w, weight of the squared error on observed features. "auto" is 1/2, the likelihood of unit noise.
    center : bool, default=True
        Give every column an offset, unpenalised and optimised with the rest.
    scale : bool, default=True
        Divide each feature by its observed standard deviation while fitting.
    solver : {"auto", "factored", "primal-dual", "paper"}, default="auto"
        "factored" is fast and exact where λ2 = 0 or λ2 ≥ λ1; "primal-dual" is exact for every λ2, on dense
        matrices; "paper" is the paper's Algorithm 1, which stops short of the minimum. "auto" takes
        "factored" where it can and "primal-dual" otherwise.
    solver_options : dict, optional
        Passed on to the solver; for "paper": ``step``, ``decay``, ``floor`` (by default a constant step at
        which it descends; :meth:`from_paper` gives the paper's own).
    max_rank : int or None, default=None
        Upper bound on the rank, for "factored".
    tol : float, default=1e-3
        Relative duality gap to reach; "paper" runs its iterations and does not look at it.
    max_iter : int or None, default=None
        Most iterations: rounds of "factored" (100 if None), iterations of "primal-dual" (2000) or of "paper"
        (300).
    polish : bool, default=False
        If the singular values show a clear gap, refit at that rank with a small penalty. The certificate
        belongs to the fit before it.
    threshold : float, default=0.5
        A label is 1 where its probability exceeds this.
    random_state : int, RandomState or None, default=None
        No solver uses randomness; kept for what will.
    verbose : int, default=0
        At 1, say on the ``cocomplete`` logger which solver was chosen and why, and how it ended; at 2, log
        every iteration too.

    Attributes
    ----------
    rank_ : int
        Rank of M.
    singular_values_ : ndarray of shape (rank_,)
        Its singular values.
    components_ : ndarray of shape (rank_, n_features + n_labels)
        Its right singular vectors, in standardised columns.
    offsets_ : ndarray of shape (n_features + n_labels,)
        What every row starts from: features in the user's units, labels as log-odds.
    polished_ : bool
        Whether a refit at a clear rank was done.
    solver_ : str
        The solver used.
    objective_ : float
        F at the answer (on standardised data where ``center`` or ``scale`` is on).
    duality_gap_ : float
        Relative duality gap: F is at most this share above its minimum. NaN for "paper".
    n_iter_ : int
        Iterations done.
    history_ : list of dict
        One record per iteration: iteration, objective, seconds, …
    converged_ : bool
        Whether ``duality_gap_`` is at most ``tol``.
    rank_penalty_, residual_penalty_, feature_weight_ : float
        The values used.
    n_features_in_ : int
        Number of feature columns.
    feature_names_in_, label_names_in_ : ndarray of str
        Names, if the tables had any.

    Examples
    --------
    >>> import numpy as np
    >>> from cocomplete import CoCompleter
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 6.0], [4.0, 8.0]])
    >>> y = np.array([[0.0], [0.0], [np.nan], [1.0]])
    >>> done = CoCompleter().fit(X, y).complete(X, y)
    >>> done.X[0], bool(np.isnan(done.X).any()), done.Y.ravel()[[0, 1, 3]]
    (array([1., 2.]), False, array([0., 0., 1.]))
    """

    def __init__(
        self,
        *,
        rank_penalty: Any = "auto",
        residual_penalty: Any = "auto",
        feature_weight: Any = "auto",
        center: bool = True,
        scale: bool = True,
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        max_rank: int | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        polish: bool = False,
        threshold: float = 0.5,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rank_penalty = rank_penalty
        self.residual_penalty = residual_penalty
        self.feature_weight = feature_weight
        self.center = center
        self.scale = scale
        self.solver = solver
        self.solver_options = solver_options
        self.max_rank = max_rank
        self.tol = tol
        self.max_iter = max_iter
        self.polish = polish
        self.threshold = threshold
        self.random_state = random_state
        self.verbose = verbose

    @classmethod
    def from_paper(
        cls,
        residual_penalty: float = 1.0,
        *,
        max_iter: int = 300,
        step_floor: float | None = 40.0,
        **params: Any,
    ) -> Self:
        """Give COCO as printed: λ1 = 1, w = 0.01, no offsets, raw features, Algorithm 1.

        Parameters
        ----------
        residual_penalty : float, default=1.0
            λ2: 1 is the paper's COCO-1, 0 its COCO-0.
        max_iter : int, default=300
            T. The paper does not print it; 200 to 300 give its figures.
        step_floor : float or None, default=40.0
            Where the step stops decaying; None (CAL500 in the paper) lets it go on.
        **params
            Any other parameter of the class.
        """
        settings: dict[str, Any] = {
            "rank_penalty": 1.0,
            "residual_penalty": residual_penalty,
            "feature_weight": 0.01,
            "center": False,
            "scale": False,
            "solver": "paper",
            "solver_options": {"step": 100.0, "decay": 0.99, "floor": step_floor},
            "max_iter": max_iter,
        }
        return cls(**(settings | params))

    def fit(self, X: Any, y: Any = None, *, progress: Progress | None = None) -> Self:
        """Complete a table and keep the model.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Features; NaN, None, NA or null where unknown.
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            Labels 0 or 1; unknown likewise.
        progress : callable, optional
            Called with the record of every iteration.
        """
        self._check_parameters()
        observed = Observations.from_tables(X, y)
        observed.check_fittable()
        units = Standardization.of(observed, center=self.center, scale=self.scale)
        objective = self._objective(units.apply(observed), units)
        solution = self._solve(objective, progress)
        polished = polish(objective, solution) if self.polish else None
        self._keep(observed, units, objective, solution, polished)
        return self

    def complete(self, X: Any, y: Any = None) -> Completion:
        """Fill the holes of the rows the model was fitted on.

        Parameters
        ----------
        X, y : the tables given to :meth:`fit`
            Rows that were not part of the fit are refused for now.

        Returns
        -------
        Completion
            X and Y in the containers they came in, Y_proba, X_std.
        """
        check_is_fitted(self)
        observed = Observations.from_tables(X, y)
        if _fingerprint(observed) != self._trained_on:
            msg = (
                "complete() fills only the rows the model was fitted on, and X and y differ from those; "
                "fit on all rows together: CoCompleter().fit(X, y).complete(X, y)"
            )
            raise InputError(msg)
        model = self.reconstruct()
        probability: FloatArray = expit(model.Z)
        filled = fill_like(X, "X", model.X, observed.X_known)
        labels = (probability > self.threshold).astype(observed.X.dtype)
        return Completion(
            filled,
            None if y is None else fill_like(y, "y", labels, observed.Y_known),
            probability,
            None,
        )

    def reconstruct(self) -> Reconstruction:
        """Give the model's own value for every cell of the training rows (what the paper scores)."""
        check_is_fitted(self)
        M = self._solution.M.dense() + self._solution.offsets
        d = self.n_features_in_
        return Reconstruction(self._units.undo(M[:, :d]), M[:, d:])

    def _check_parameters(self) -> None:
        for name in ("rank_penalty", "residual_penalty", "feature_weight"):
            value = getattr(self, name)
            if value == "auto":
                continue
            if (
                isinstance(value, bool)
                or not isinstance(value, int | float | np.number)
                or not 0 <= value < np.inf
            ):
                msg = f"{name} must be 'auto' or a number that is not negative, got {value!r}"
                raise InputError(msg)
            if name == "rank_penalty" and value == 0:
                msg = "rank_penalty must be above 0, got 0: without it nothing determines the hidden cells"
                raise InputError(msg)
        if self.solver not in SOLVERS:
            msg = f"solver must be one of {', '.join(map(repr, SOLVERS))}, got {self.solver!r}"
            raise InputError(msg)
        for name in ("max_iter", "max_rank"):
            value = getattr(self, name)
            if value is not None and (not isinstance(value, int | np.integer) or value < 1):
                msg = f"{name} must be None or a whole number of at least 1, got {value!r}"
                raise InputError(msg)
        if not isinstance(self.tol, int | float | np.number) or not 0 <= self.tol < np.inf:
            msg = f"tol must be a number that is not negative, got {self.tol!r}"
            raise InputError(msg)
        if not isinstance(self.threshold, int | float) or not 0 <= self.threshold <= 1:
            msg = f"threshold must be a number between 0 and 1, got {self.threshold!r}"
            raise InputError(msg)

    def _objective(self, observed: Observations, units: Standardization) -> Objective:
        # Algorithm 1 knows no offsets of its own: it gets fixed ones.
        free = self.center and self.solver != "paper"
        if free:
            observed = observed.without_one_sided_labels()
        objective = Objective(
            observed,
            0.0 if self.rank_penalty == "auto" else float(self.rank_penalty),
            0.0 if self.residual_penalty == "auto" else float(self.residual_penalty),
            0.5 if self.feature_weight == "auto" else float(self.feature_weight),
            np.concatenate((np.zeros_like(units.center), units.log_odds)),
            free,
        )
        if self.rank_penalty == "auto":
            # λ2 is left aside here: a large one only says that features are to be met exactly.
            top = replace(objective, residual_penalty=0.0).rank_penalty_max
            objective = replace(objective, rank_penalty=AUTO_SHARE * top or 1.0)
        if objective.regime == "interpolation" and self.solver != "paper":
            # From λ1 on, every λ2 has the same minimiser; the smallest has the best-behaved objective.
            objective = replace(objective, residual_penalty=objective.rank_penalty)
        return objective

    def _solve(self, objective: Objective, progress: Progress | None) -> Solution:
        solver, why = choose(self.solver, objective)
        self.solver_ = solver
        self._say(f"solver {solver!r}: {why}; {objective.shape[0]} x {objective.shape[1]} cells")
        solution = solve(
            solver,
            objective,
            tol=self.tol,
            max_rank=self.max_rank,
            max_iter=self.max_iter,
            options=self.solver_options,
            progress=self._reporter(progress),
        )
        self._say(
            f"objective {solution.objective:.6g}, gap {solution.duality_gap:.2g}, rank {solution.M.rank} "
            f"after {solution.n_iter} iterations"
        )
        if solver != "paper" and not solution.converged:
            capped = self.max_rank is not None and solution.M.rank >= self.max_rank
            cure = "raise max_rank" if capped else "raise max_iter or tol"
            msg = (
                f"the duality gap is {solution.duality_gap:.2g} after {solution.n_iter} iterations of "
                f"solver={solver!r}, above tol={self.tol:g}; {cure}, or use the answer as it is: its "
                "objective is at most that share above the minimum"
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=3)
        return solution

    def _reporter(self, progress: Progress | None) -> Progress | None:
        if self.verbose < 2:
            return progress

        def report(record: Record) -> None:
            logger.info(", ".join(f"{name} {value:.6g}" for name, value in record.items()))
            if progress is not None:
                progress(record)

        return report

    def _say(self, text: str) -> None:
        if self.verbose >= 1:
            logger.info(text)

    def _keep(
        self,
        observed: Observations,
        units: Standardization,
        objective: Objective,
        certified: Solution,
        polished: Solution | None,
    ) -> None:
        """Copy the solution into fitted attributes; the certificate is that of the fit before polishing."""
        solution = certified if polished is None else polished
        self._solution = solution
        self.polished_ = polished is not None
        self._units = units
        self._trained_on = _fingerprint(observed)
        self.n_features_in_ = observed.n_features
        for attribute, names in (
            ("feature_names_in_", observed.feature_names),
            ("label_names_in_", observed.label_names),
        ):
            if names is not None:
                setattr(self, attribute, np.asarray(names, dtype=object))
            elif hasattr(self, attribute):
                delattr(self, attribute)
        d = observed.n_features
        self.rank_ = solution.M.rank
        self.singular_values_ = solution.M.s
        self.components_ = solution.M.Vt
        self.offsets_ = np.concatenate((units.undo(solution.offsets[:d]), solution.offsets[d:]))
        self.objective_ = certified.objective
        self.duality_gap_ = certified.duality_gap
        self.n_iter_ = certified.n_iter
        self.history_: list[Record] = certified.history
        self.converged_ = certified.converged
        self.rank_penalty_ = objective.rank_penalty
        self.residual_penalty_ = objective.residual_penalty
        self.feature_weight_ = objective.feature_weight


def complete(
    X: Any, Y: Any = None, *, progress: Callable[[Record], None] | None = None, **params: Any
) -> Completion:
    """Complete a table in one call.

    Parameters
    ----------
    X : array-like or DataFrame of shape (n_samples, n_features)
        Features; NaN, None, NA or null where unknown.
    Y : array-like or DataFrame of shape (n_samples, n_labels), optional
        Labels 0 or 1; unknown likewise.
    progress : callable, optional
        Called with the record of every iteration.
    **params
        Parameters of :class:`CoCompleter`.

    Returns
    -------
    Completion
        X and Y in the containers they came in, Y_proba, X_std.
    """
    return CoCompleter(**params).fit(X, Y, progress=progress).complete(X, Y)


def _fingerprint(observed: Observations) -> bytes:
    """Recognise the training rows without keeping a second copy of them."""
    digest = hashlib.blake2b(digest_size=16)
    for part in (observed.X, observed.Y):
        digest.update(str(part.shape).encode())
        digest.update(np.ascontiguousarray(part).tobytes())
    return digest.digest()
