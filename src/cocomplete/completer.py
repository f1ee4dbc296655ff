"""CoCompleter: the scikit-learn shell around Observations → EnsembleFit → Model."""

import logging
import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Self

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, OneToOneFeatureMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.callbacks import CallbackSupportMixin, task_reporter, with_callbacks
from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.choosing.judge import HeldOutLabels
from cocomplete.choosing.minimisers import Given, MinimiserSearch
from cocomplete.completion import Completion, Reconstruction
from cocomplete.containers import Table, column_label, fill_like, frame_like
from cocomplete.exceptions import InputError
from cocomplete.fitted.describe import describe, low_rank_member
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.fitted.model import Model
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS
from cocomplete.fitted.positive_labels import PositiveLabels
from cocomplete.members.average import Average
from cocomplete.members.minimiser import Minimiser, Penalties
from cocomplete.members.prediction import Prediction
from cocomplete.members.trivial import Trivial
from cocomplete.parameters import check_parameters
from cocomplete.problem.encoding import resolve_feature_types
from cocomplete.problem.informative import LARGE, Informative, rows_with_something
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.choice import choose, solve
from cocomplete.solvers.polish import polish
from cocomplete.solvers.solution import Progress, Record, Solution
from cocomplete.thresholds import cardinality_thresholds, f1_thresholds, given_thresholds

VAGUE = 1.25**2
"""Unrecorded ones are known to within a quarter, up or down, where they are at most so many times as many at
one end of the recorded share's interval as at the other; a warning says where they are not."""

logger = logging.getLogger("cocomplete")


class CoCompleter(OneToOneFeatureMixin, CallbackSupportMixin, TransformerMixin, BaseEstimator):
    """Complete features and 0/1 labels together with one low-rank matrix.

    Parameters
    ----------
    rank_penalty : "auto" or float, default="auto"
        λ1, weight of the trace norm of M = [X̂, Z]. With all three penalties "auto" an ensemble answers, of
        which the minimiser of F may be a member; with any of them given, or without ``averaging``, the
        minimiser of F answers alone, and what is still "auto" is chosen on held-out cells, for X and for Y
        apart, along paths of falling λ1.
    residual_penalty : "auto" or float, default="auto"
        λ2, weight of the trace norm of the residual on observed features. "auto" tries 0 and meeting every
        observed feature exactly, which a value of λ1 or more means (larger values than λ1 change nothing, so
        the exact solvers use λ1).
    feature_weight : "auto" or float, default="auto"
        w, weight of the squared error on observed features; "auto" tries a few.
    averaging : bool, default=True
        Let the model averaged over its factors answer, together with other members, each with the weight that
        held-out cells give it. Needs ``center`` and ``scale``.
    center : bool, default=True
        Give every column an offset, unpenalised and optimised with the rest.
    scale : bool, default=True
        Divide each feature by its observed standard deviation while fitting, outliers held back.
    feature_types : "auto", "number", list or dict, default="auto"
        Features that are "yes-no" are fitted under logistic loss, as labels are, and filled with 0 or 1;
        "auto" takes those that hold 0 and 1 and nothing else. A list gives "number" or "yes-no" for every
        feature, a dict for some, by name or position.
    clip : bool, default=True
        Keep filled features near the range observed in their column: beyond an end at most a quarter of what
        the tenth of the values next to it spans, and not at all where two or more cells share the end, as
        those of a scale do. Drawn ones stay inside the range.
    label_policy : {"observed", "positive-unlabelled"}, default="observed"
        "observed": an unknown label says nothing. "positive-unlabelled": only ones are ever recorded, so that
        an unknown label is probably, but not surely, a 0.
    recorded_share : "auto" or float, default="auto"
        With "positive-unlabelled": the share of the true ones that are recorded, the same for all labels.
        "auto" estimates it from how the rate of recorded ones levels off where features say that a label is
        surely 1, with a warning where the data do not identify it.
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
    certify : bool, default=False
        Where an ensemble answers, also solve for the minimiser of F at the penalties that held-out cells
        prefer, for its certificate. It changes no answer.
    threshold : float, array of float, "f1" or "cardinality", default=0.5
        A label is 1 where its probability exceeds this; one number for all labels or one for each. "f1"
        takes the best F1 on held-out cells, "cardinality" predicts each label as often as it was observed.
    random_state : int, Generator or None, default=None
        Which cells are held out; no solver uses randomness. None is 0: the same table, the same answer, in
        whatever order its rows and columns stand.
    verbose : int, default=0
        At 1, say on the ``cocomplete`` logger what was chosen and why, and how the solver ended; at 2, log
        every candidate and iteration too.

    Attributes
    ----------
    members_ : tuple of dict
        What answers: the name of every ensemble member and its weights for ``"numbers"``, ``"yes-no"``
        features, ``"labels"`` of rows in which others are known, and labels of ``"unlabelled"`` rows.
    validation_ : dict or None
        How wrong held-out cells were, beside the trivial answer (column means, observed rates):
        ``"features"``, ``"yes_no_features"``, ``"labels"`` and ``"unlabelled"``, labels of rows in which none
        is known, each with ``rmse`` in units of the columns' spread or ``log_loss`` and the share ``wrong``,
        the same with ``trivial_``, the number of ``cells`` and the members' ``weights``. The weights were
        found on the same cells. None if nothing was held out.
    rank_ : int
        Rank of the low-rank matrix M behind the answer: factors of the member that has the largest weight,
        in labels if there are any.
    singular_values_ : ndarray of shape (rank_,)
        Its singular values.
    components_ : ndarray of shape (rank_, n_features + n_labels)
        Its right singular vectors, on the scale of the fit.
    offsets_ : ndarray of shape (n_features + n_labels,)
        What every row starts from: features in the user's units (yes/no ones as probabilities), labels as
        log-odds.
    n_iter_ : int
        Iterations, or sweeps, that its fit took.
    rank_penalty_, residual_penalty_, feature_weight_ : float or None
        The penalties of that member, if it is a minimiser of F.
    recorded_share_ : float or None
        With "positive-unlabelled", the share of true ones that are recorded.
    certified_ : bool
        Whether there is a certified minimiser of F: penalties were given, or ``averaging`` is off, or
        ``certify`` is on. The attributes that follow speak of it and are there only then.
    objective_ : float
        F at the minimiser (on standardised data where ``center`` or ``scale`` is on).
    duality_gap_ : float
        Relative duality gap: F is at most this share above its minimum. NaN for "paper".
    converged_ : bool
        Whether ``duality_gap_`` is at most ``tol``.
    history_ : list of dict
        One record per iteration: iteration, objective, seconds, …
    solver_ : str
        The solver used.
    feature_solution_, label_solution_ : Solution
        The minimisers at the penalties for X and for Y; one object where these agree. ``objective_``,
        ``duality_gap_``, … speak of the second.
    polished_ : bool
        Whether a refit at a clear rank was done.
    feature_types_ : ndarray of str, shape (n_features,)
        "number" or "yes-no".
    thresholds_ : ndarray of shape (n_labels,)
        Above which a label is 1.
    n_features_in_, n_labels_ : int
        Number of feature and of label columns.
    feature_names_in_, label_names_in_ : ndarray of str
        Names, if the tables had any.

    Examples
    --------
    >>> import numpy as np
    >>> from cocomplete import CoCompleter
    >>> X = np.array([[1.0, 2.0], [2.0, np.nan], [3.0, 6.0], [4.0, 8.0]])
    >>> y = np.array([[0.0], [0.0], [np.nan], [1.0]])
    >>> model = CoCompleter().fit(X, y)
    >>> done = model.complete(X, y)
    >>> done.X[0], bool(np.isnan(done.X).any()), done.Y.ravel()[[0, 1, 3]]
    (array([1., 2.]), False, array([0., 0., 1.]))
    >>> model.predict_proba([[5.0, np.nan]]).shape
    (1, 1)
    """

    def __init__(
        self,
        *,
        rank_penalty: Any = "auto",
        residual_penalty: Any = "auto",
        feature_weight: Any = "auto",
        averaging: bool = True,
        center: bool = True,
        scale: bool = True,
        feature_types: Any = "auto",
        clip: bool = True,
        label_policy: str = "observed",
        recorded_share: Any = "auto",
        solver: str = "auto",
        solver_options: dict[str, Any] | None = None,
        max_rank: int | None = None,
        tol: float = 1e-3,
        max_iter: int | None = None,
        polish: bool = False,
        certify: bool = False,
        threshold: Any = 0.5,
        random_state: Any = None,
        verbose: int = 0,
    ) -> None:
        self.rank_penalty = rank_penalty
        self.residual_penalty = residual_penalty
        self.feature_weight = feature_weight
        self.averaging = averaging
        self.center = center
        self.scale = scale
        self.feature_types = feature_types
        self.clip = clip
        self.label_policy = label_policy
        self.recorded_share = recorded_share
        self.solver = solver
        self.solver_options = solver_options
        self.max_rank = max_rank
        self.tol = tol
        self.max_iter = max_iter
        self.polish = polish
        self.certify = certify
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
            "feature_types": "number",
            "clip": False,
            "solver": "paper",
            "solver_options": {"step": 100.0, "decay": 0.99, "floor": step_floor},
            "max_iter": max_iter,
        }
        return cls(**(settings | params))

    @with_callbacks
    def fit(self, X: Any, y: Any = None, *, progress: Progress | None = None) -> Self:
        """Complete a table and keep the model.

        Ctrl-C ends the judging of members, and pressed again the fit of one, where it is; the best model
        found by then is kept.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
            Features; NaN, None, NA or null where unknown.
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            Labels 0 or 1; unknown likewise.
        progress : callable, optional
            Called with a record of every candidate and every iteration.
        """
        check_parameters(self)
        given = Observations.from_tables(X, y)
        # One level more than usual: scikit-learn's callbacks stand between this and the user.
        given.check_fittable(stacklevel=5)
        self._set_names(X, given)
        if self.label_policy == "observed":
            _warn_of_ones_alone(given)
        yes_no = resolve_feature_types(self.feature_types, given)
        # A copy, because the user's own array may change, and the rows of the fit are asked for later.
        given = replace(given, X=given.X.copy(), Y=given.Y.copy())
        observed = given
        if self.label_policy == "positive-unlabelled":
            observed = replace(given, Y=np.where(given.Y_known, given.Y, 0).astype(given.Y.dtype))
        report, done = task_reporter(self, self._reporter(progress))
        if self._averages():
            held = self._fit_ensemble(given, observed, yes_no, report)
        else:
            held = self._fit_minimisers(given, observed, yes_no, report)
        self._keep(held)
        done()
        return self

    def complete(self, X: Any, y: Any = None) -> Completion:
        """Fill the holes of any rows, those of the fit or new ones, and leave the model as it is.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like or DataFrame of shape (n_samples, n_labels), optional
            Labels as far as they are known; None if none is.

        Returns
        -------
        Completion
            X and Y in the containers they came in, Y_proba, X_std. Where ``y`` is None, Y is a frame like X,
            or an array.
        """
        check_is_fitted(self)
        observed = self._read(X, y)
        answer = self._model.answer(observed)
        probability: FloatArray = expit(answer.Z)
        Y: Any = (probability > self.thresholds_).astype(observed.X.dtype)
        if y is not None:
            Y = fill_like(y, "y", Y, observed.Y_known)
        elif self.n_labels_:
            Y = frame_like(X, Y, getattr(self, "label_names_in_", None))
        return Completion(
            fill_like(X, "X", self._model.inside(answer.X), observed.X_known),
            Y if self.n_labels_ else None,
            probability,
            np.where(observed.X_known, 0.0, answer.X_std),
        )

    def sample_completions(
        self, n: int = 5, X: Any = None, y: Any = None, *, random_state: Any = None
    ) -> list[Completion]:
        """Draw completed tables, for multiple imputation.

        A drawn table is one draw: the same factors, from their posterior, make its features and its labels,
        noise included; the margins are those of all members together. Observed cells stay as they are.
        :func:`cocomplete.pool` pools what is estimated from several of them.

        Parameters
        ----------
        n : int, default=5
            Number of tables.
        X, y : tables, optional
            Rows to complete; those of the fit if None.
        random_state : int, Generator or None, default=None
            None takes the estimator's own.

        Returns
        -------
        list of Completion
            X and Y in the containers they came in (arrays, for the rows of the fit); Y_proba the model's
            probabilities; X_std None.
        """
        check_is_fitted(self)
        if not isinstance(n, int | np.integer) or n < 1:
            msg = f"n must be a whole number of at least 1, got {n!r}"
            raise InputError(msg)
        observed = self._model.observed if X is None else self._read(X, y)
        tables = (observed.X if X is None else X, observed.Y if X is None else y)
        rng = np.random.default_rng(self._seed() if random_state is None else random_state)
        probability: FloatArray = expit(self._model.answer(observed, std=False).Z)
        return [
            self._completion(observed, *tables, *drawn, probability)
            for drawn in self._model.draws(observed, rng, n)
        ]

    def reconstruct(self) -> Reconstruction:
        """Give the model's own value for every cell of the training rows (what the paper scores)."""
        check_is_fitted(self)
        observed = self._model.observed
        answer = self._model.answer(observed, std=False)
        return Reconstruction(answer.X.astype(observed.X.dtype, copy=False), answer.Z)

    def transform(self, X: Any) -> FloatArray:
        """Fill the holes of any rows' features.

        Returns
        -------
        ndarray of shape (n_samples, n_features)
            Or what :meth:`set_output` asks for.
        """
        check_is_fitted(self)
        observed = self._read(X, None)
        filled = self._model.inside(self._model.answer(observed, std=False).X)
        whole: FloatArray = np.where(observed.X_known, observed.X, filled).astype(
            observed.X.dtype, copy=False
        )
        return whole

    def decision_function(self, X: Any) -> FloatArray:
        """Give the labels' scores Z of any rows, from their features.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
            Log-odds.
        """
        check_is_fitted(self)
        self._need_labels("decision_function")
        return self._model.answer(self._read(X, None), std=False).Z

    def predict_proba(self, X: Any) -> FloatArray:
        """Give the probability that each label is 1, from the features of any rows.

        Returns
        -------
        ndarray of shape (n_samples, n_labels)
        """
        probability: FloatArray = expit(self.decision_function(X))
        return probability

    def predict(self, X: Any) -> Any:
        """Give the labels of any rows from their features.

        Returns
        -------
        ndarray of int, shape (n_samples, n_labels)
        """
        return (self.predict_proba(X) > self.thresholds_).astype(int)

    def predict_feature_proba(self, X: Any, y: Any = None) -> FloatArray:
        """Give the probability that each yes/no feature is 1, observed or not.

        Returns
        -------
        ndarray of shape (n_samples, number of yes/no features)
            In the order of the features that ``feature_types_`` calls "yes-no".
        """
        check_is_fitted(self)
        return self._model.answer(self._read(X, y), std=False).X[:, self._model.yes_no]

    def score(self, X: Any, y: Any) -> float:
        """Give the share of known labels that are predicted right from the features alone."""
        check_is_fitted(self)
        self._need_labels("score")
        observed = self._read(X, y)
        if not observed.Y_known.any():
            msg = "y has no known label, so there is nothing to score; pass the rows' labels"
            raise InputError(msg)
        return float((self.predict(X) == observed.Y)[observed.Y_known].mean())

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    # -- fitting ---------------------------------------------------------------------------------------

    def _given(self) -> Given:
        names = ("rank_penalty", "residual_penalty", "feature_weight")
        values = (getattr(self, name) for name in names)
        return Given(*(None if isinstance(value, str) else float(value) for value in values))

    def _averages(self) -> bool:
        """Whether the ensemble answers; otherwise it is the minimiser of F that was asked for."""
        return self.averaging and self._given().nothing and self.center and self.scale

    def _seed(self) -> int:
        if self.random_state is None or isinstance(self.random_state, int | np.integer):
            return int(self.random_state or 0)
        return int(np.random.default_rng(self.random_state).integers(2**62))

    def _fit_ensemble(
        self, given: Observations, observed: Observations, yes_no: BoolArray, report: Progress | None
    ) -> HeldOutLabels | None:
        """Let the members of an ensemble answer, each with the weight that held-out cells give it."""
        informative = Informative.of(observed)
        narrow = informative.narrow(observed)
        rows = rows_with_something(narrow)
        self.validation_ = None
        if not rows.any():
            whole = Informative.whole(observed)
            trivial = Ensemble.alone(Trivial.fit(observed, yes_no), yes_no)
            self._model = Model(given, yes_no, whole, trivial, clip=self.clip)
            self._certified: Minimiser | None = None
            return None
        fit = EnsembleFit(
            Observations(narrow.X[rows], narrow.Y[rows]),
            yes_no[informative.features],
            seed=self._seed(),
            solve=lambda objective: self._solve(objective, report),
            progress=report,
        ).run()
        self.validation_ = fit.summary()
        self._model = Model(
            given,
            yes_no,
            informative,
            fit.ensemble,
            fit.joint(),
            margins=fit.margins(),
            clip=self.clip,
            positive=self._positive_labels(narrow, yes_no[informative.features]),
            fitted_rows=_all_rows(fit, narrow, rows),
        )
        self._certified = None
        if self.certify:
            penalties = fit.best_minimiser() or Penalties()
            everything = Informative.whole(observed).narrow(observed)
            self._certified = self._minimise(everything, yes_no, penalties, report)
        self._warn(interrupted=fit.interrupted)
        labels = fit.held_out_labels()
        return labels._replace(column=np.flatnonzero(informative.labels)[labels.column])

    def _fit_minimisers(
        self, given: Observations, observed: Observations, yes_no: BoolArray, report: Progress | None
    ) -> HeldOutLabels | None:
        """Let the minimiser of F answer, at penalties that were given or chosen on held-out cells."""
        if not self.scale:
            _check_sizes(observed)
        # Where columns are scaled, a unit is of no account.
        informative = Informative.whole(observed, units=self.scale)
        observed = informative.narrow(observed)
        search = self._search(observed, yes_no, report)
        sides = {"features": FEATURE_PARTS, "labels": LABEL_PARTS}
        asked = {
            side: self._given().penalties() if search is None else search.best(side)
            for side in ("features", "labels")
        }
        fits: dict[Any, Any] = {}
        for one in dict.fromkeys(asked.values()):
            if one == "trivial":
                fits[one] = Trivial.fit(observed, yes_no)
            else:
                fits[one] = self._minimise(observed, yes_no, one, report)
        members = tuple(fits.values())
        weights = {
            part: np.array([float(asked[side] == one) for one in fits])
            for side, parts in sides.items()
            for part in parts
        }
        minimisers = [one for one in members if isinstance(one, Minimiser)]
        labels = fits[asked["labels"]]
        joint = labels if isinstance(labels, Minimiser) else next(iter(minimisers), None)
        self._certified = joint or self._minimise(observed, yes_no, self._given().penalties(), report)
        factor: FloatArray | float = (
            1.0 if search is None else search.std_factor(observed, yes_no, asked["features"])
        )
        self.validation_ = None if search is None else search.summary()
        self._model = Model(
            given,
            yes_no,
            informative,
            Ensemble(members, weights, yes_no, factor),
            joint,
            transductive=True,
            clip=self.clip,
            positive=self._positive_labels(observed, yes_no),
        )
        stopped = any(one.solution.interrupted for one in minimisers)
        self._warn(interrupted=stopped or (search is not None and search.interrupted))
        return None if search is None else search.held_out_labels()

    def _positive_labels(self, observed: Observations, yes_no: BoolArray) -> PositiveLabels | None:
        """Find the recorded share where only ones are recorded, and say where the data do not tell it."""
        if self.label_policy != "positive-unlabelled" or not observed.n_labels or not observed.n_features:
            return None
        alone = Observations(observed.X, np.empty((observed.n_samples, 0), observed.X.dtype))
        average = Average.fit(alone, yes_no, gaussian=not yes_no.all())
        share = None if isinstance(self.recorded_share, str) else float(self.recorded_share)
        labels = PositiveLabels.fit(observed, average, share)
        found = labels.found
        between = f"between {found.low:.2f} and {found.high:.2f}, {found.share:.2f} is used"
        cure = "give it as recorded_share= if you know it"
        if not found.identified:
            msg = f"the data hardly tell which share of the ones is recorded: {between}; {cure}"
            warnings.warn(msg, UserWarning, stacklevel=5)
        elif found.unrecorded_ratio > VAGUE:
            msg = (
                f"the share of the ones that is recorded is {between}; unrecorded ones may be "
                f"{found.unrecorded_ratio:.1f} times as many at one end as at the other; {cure}"
            )
            warnings.warn(msg, UserWarning, stacklevel=5)
        return labels

    def _search(
        self, observed: Observations, yes_no: BoolArray, report: Progress | None
    ) -> MinimiserSearch | None:
        """Choose penalties that are "auto" on held-out cells; None if there is nothing to choose."""
        given = self._given()
        tunes_threshold = isinstance(self.threshold, str) and self.threshold == "f1"
        if given.residual_penalty:
            # There is no path between the regimes: λ1 by a rule of thumb, w = 1/2.
            if tunes_threshold:
                msg = (
                    f"threshold='f1' holds cells out to choose by, which goes with residual_penalty 'auto' "
                    f"or 0, got {self.residual_penalty!r}; give numbers as threshold, or 'cardinality'"
                )
                raise InputError(msg)
            return None
        if given.complete and not tunes_threshold:
            return None
        return MinimiserSearch(
            observed,
            yes_no,
            center=self.center,
            scale=self.scale,
            given=given,
            seed=self._seed(),
            progress=report,
        )

    def _minimise(
        self, observed: Observations, yes_no: BoolArray, penalties: Penalties, report: Progress | None
    ) -> Minimiser:
        fit = Minimiser.fit(
            observed,
            yes_no,
            penalties,
            lambda objective: self._solve(objective, report),
            center=self.center,
            scale=self.scale,
            # Algorithm 1 knows no offsets of its own: it gets fixed ones.
            free_offsets=self.center and self.solver != "paper",
            exact=self.solver != "paper",
        )
        refit = polish(fit.objective, fit.certified) if self.polish else None
        return fit if refit is None else replace(fit, solution=refit)

    def _warn(self, *, interrupted: bool) -> None:
        """Say where a fit was cut short, and where the trivial answer is as good."""
        if interrupted:
            msg = "fit was interrupted: this is the best model found so far, not the best there is"
            warnings.warn(msg, UserWarning, stacklevel=5)
        for part, found in (self.validation_ or {}).items():
            if isinstance(found, dict) and "weights" in found:
                self._say(f"{part}: " + ", ".join(f"{k} {v}" for k, v in found.items()))
                simple = "column means" if part == "features" else "observed rates"
                if set(found["weights"]) == {"trivial"}:
                    msg = (
                        f"nothing predicted held-out cells of {part} better than {simple}, so these are "
                        "used; the table may be too small, or its columns unrelated"
                    )
                    warnings.warn(msg, UserWarning, stacklevel=5)

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
            progress=progress,
        )
        self._say(
            f"objective {solution.objective:.6g}, gap {solution.duality_gap:.2g}, rank {solution.M.rank} "
            f"after {solution.n_iter} iterations"
        )
        if solver != "paper" and not solution.converged and not solution.interrupted:
            capped = self.max_rank is not None and solution.M.rank >= self.max_rank
            cure = "raise max_rank" if capped else "raise max_iter or tol"
            msg = (
                f"the duality gap is {solution.duality_gap:.2g} after {solution.n_iter} iterations of "
                f"solver={solver!r}, above tol={self.tol:g}; {cure}, or use the answer as it is: its "
                "objective is at most that share above the minimum"
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=7)
        return solution

    def _reporter(self, progress: Progress | None) -> Progress | None:
        if self.verbose < 2:
            return progress

        def report(record: Record) -> None:
            logger.info(
                ", ".join(
                    f"{name} {value:.6g}" if isinstance(value, float) else f"{name} {value}"
                    for name, value in record.items()
                )
            )
            if progress is not None:
                progress(record)

        return report

    def _say(self, text: str) -> None:
        if self.verbose >= 1:
            logger.info(text)

    def _keep(self, held: HeldOutLabels | None) -> None:
        """Copy what was fitted into attributes; the certificate is that of the minimiser before polishing."""
        model = self._model
        self.n_labels_ = model.observed.n_labels
        self.feature_types_ = np.where(model.yes_no, "yes-no", "number")
        weights = model.ensemble.weights
        self.members_ = tuple(
            {"name": one.name, **{part: float(share[k]) for part, share in weights.items()}}
            for k, one in enumerate(model.ensemble.members)
        )
        self._describe()
        self._certify()
        self.recorded_share_ = None if model.positive is None else model.positive.found.share
        self.thresholds_ = self._thresholds(held)

    def _describe(self) -> None:
        """Set the attributes that speak of what answers."""
        model = self._model
        member = low_rank_member(model.ensemble)
        table = model.informative.narrow(model.fitted_as(model.observed))
        found = describe(member, table, model.informative)
        self.rank_ = len(found.singular_values)
        self.singular_values_, self.components_ = found.singular_values, found.components
        self.offsets_, self.n_iter_ = found.offsets, found.n_iter
        F = member.objective if isinstance(member, Minimiser) else None
        self.rank_penalty_ = None if F is None else F.rank_penalty
        self.residual_penalty_ = None if F is None else F.residual_penalty
        self.feature_weight_ = None if F is None else F.feature_weight

    def _certify(self) -> None:
        """Set the attributes that speak of F's minimiser, where one was asked for."""
        solutions = ("label_solution_", "feature_solution_", "polished_")
        for name in ("objective_", "duality_gap_", "converged_", "history_", *solutions):
            self.__dict__.pop(name, None)
        fit = self._certified
        self.certified_ = fit is not None
        if fit is None:
            return
        weights = self._model.ensemble.weights["numbers"]
        leading = self._model.ensemble.members[int(np.argmax(weights))]
        features = leading if isinstance(leading, Minimiser) else fit
        certified = fit.certified
        self.feature_solution_, self.label_solution_ = features.solution, fit.solution
        self.polished_ = fit.solution is not certified
        self.objective_, self.duality_gap_ = certified.objective, certified.duality_gap
        self.converged_ = certified.converged
        self.history_: list[Record] = certified.history

    def _set_names(self, X: Any, observed: Observations) -> None:
        if isinstance(X, Table):
            self.n_features_in_ = observed.n_features
            self.__dict__.pop("feature_names_in_", None)
            if X.names is not None:
                self.feature_names_in_ = np.asarray(X.names, dtype=object)
        else:
            validate_data(self, X, skip_check_array=True, reset=True)
            self.n_features_in_ = observed.n_features
        self.__dict__.pop("label_names_in_", None)
        if observed.label_names is not None:
            self.label_names_in_ = np.asarray(observed.label_names, dtype=object)

    # -- labels ----------------------------------------------------------------------------------------

    def _thresholds(self, hidden: HeldOutLabels | None) -> FloatArray:
        if not isinstance(self.threshold, str):
            return given_thresholds(self.threshold, self.n_labels_)
        model = self._model
        if self.threshold == "f1":
            if hidden is None:
                return np.full(self.n_labels_, 0.5)
            return f1_thresholds(hidden.column, hidden.truth, expit(hidden.score), self.n_labels_)
        Y, known = model.observed.Y, model.observed.Y_known
        if model.positive is not None:
            rate = np.minimum(np.nansum(Y, axis=0) / model.positive.found.share / len(Y), 1)
        else:
            rate = (np.nansum(Y, axis=0) + 0.5) / (known.sum(axis=0) + 1)
        return cardinality_thresholds(rate, expit(model.answer(model.observed, std=False).Z))

    def _need_labels(self, method: str) -> None:
        if not self.n_labels_:
            msg = f"{method} needs labels, but the model was fitted without; pass y to fit"
            raise InputError(msg)

    # -- predicting ------------------------------------------------------------------------------------

    def _read(self, X: Any, y: Any) -> Observations:
        """Validate rows against what the model was fitted on."""
        observed = Observations.from_tables(X, y)
        if not isinstance(X, Table):
            validate_data(self, X, skip_check_array=True, reset=False)
        if observed.n_features != self.n_features_in_:
            msg = (
                f"X has {observed.n_features} features, but {type(self).__name__} is expecting "
                f"{self.n_features_in_} features as input"
            )
            raise InputError(msg)
        if y is None:
            unknown = np.full((observed.n_samples, self.n_labels_), np.nan, observed.X.dtype)
            return replace(observed, Y=unknown)
        names = getattr(self, "label_names_in_", None)
        if observed.n_labels != self.n_labels_:
            msg = f"y has {observed.n_labels} labels, but the model was fitted with {self.n_labels_}"
            raise InputError(msg)
        if (
            names is not None
            and observed.label_names is not None
            and list(names) != list(observed.label_names)
        ):
            wrong = next(j for j, name in enumerate(names) if name != observed.label_names[j])
            msg = (
                f"y's {column_label(observed.label_names, wrong)} stands where the model was fitted with "
                f"{names[wrong]!r}; give the labels in the order of the fit"
            )
            raise InputError(msg)
        return observed

    def _completion(
        self,
        observed: Observations,
        X: Any,
        y: Any,
        filled: FloatArray,
        labels: FloatArray,
        probability: FloatArray,
    ) -> Completion:
        """Put drawn cells into the user's containers."""
        Y: Any = labels.astype(observed.X.dtype)
        if y is not None:
            Y = fill_like(y, "y", Y, observed.Y_known)
        return Completion(
            fill_like(X, "X", filled, observed.X_known), Y if self.n_labels_ else None, probability, None
        )


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
    model = CoCompleter(**params)
    model.fit(X, Y, progress=progress)
    return model.complete(X, Y)


def _all_rows(fit: EnsembleFit, observed: Observations, rows: BoolArray) -> Prediction:
    """Give the prediction of all rows of a fit, those of which nothing is known among them."""
    if rows.all():
        return fit.prediction
    empty = np.flatnonzero(~rows)[:1]
    others = fit.ensemble.predict(Observations(observed.X[empty], observed.Y[empty]))
    whole = []
    for known, unknown in zip(fit.prediction, others, strict=True):
        table = np.tile(unknown, (len(rows), 1))
        table[rows] = known
        whole.append(table)
    return Prediction(*whole)


def _check_sizes(observed: Observations) -> None:
    """Refuse numbers whose squares are not numbers, where they are not scaled."""
    size = np.abs(np.where(observed.X_known, observed.X, 0)).max(axis=0, initial=0)
    large = np.flatnonzero(size > LARGE)
    if large.size:
        where = column_label(observed.feature_names, int(large[0]))
        msg = (
            f"X holds {size[large[0]]:g} in {where}, too large for scale=False: its square is no number; "
            "use another unit, or scale=True"
        )
        raise InputError(msg)


def _warn_of_ones_alone(observed: Observations) -> None:
    ones, known = np.nansum(observed.Y, axis=0), observed.Y_known.sum(axis=0)
    alone = np.flatnonzero((known > 0) & (ones == known))
    # One or two observed ones are chance, not a habit of recording.
    alone = alone[known[alone] >= 3]
    if alone.size:
        first = column_label(observed.label_names, int(alone[0])).removeprefix("column ")
        more = f" and {alone.size - 1} more" if alone.size > 1 else ""
        msg = (
            f"label(s) {first}{more} have only ones observed; if only ones are ever recorded, use "
            "label_policy='positive-unlabelled'"
        )
        warnings.warn(msg, UserWarning, stacklevel=4)
