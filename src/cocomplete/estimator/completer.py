"""CoCompleter: stores parameters, validates once, delegates, exposes results."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Self

from cocomplete.estimator.attributes import fitted_attributes, without_fitted
from cocomplete.estimator.callbacks import CallbackSupportMixin, task_reporter, with_callbacks
from cocomplete.estimator.fit_sparse import fit_sparse
from cocomplete.estimator.long_tables import as_blocks, engine_for
from cocomplete.estimator.memory_forecast import check_memory
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.prediction_methods import PredictionMethods
from cocomplete.estimator.settings import Settings
from cocomplete.estimator.sparse_input import SparseInput, check_settings
from cocomplete.estimator.starting import BlockStart, TableStart
from cocomplete.interrupts import interrupts
from cocomplete.kernels.compiling import compiling_announced
from cocomplete.solvers.solution import Progress
from cocomplete.table.sparse_matrix import is_sparse


class CoCompleter(CallbackSupportMixin, PredictionMethods):
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
    feature_types : "auto", str, list or dict, default="auto"
        What features are: "number", "positive" (a number from 0 on), a tuple of two numbers (its bounds),
        "yes-no", "category" (one of several values without an order), "ordinal" or a list of its levels from
        the lowest on, "count" or "date". A list has one entry for every feature, a dict those of some, by
        name or position; the others, and all with "auto", are recognised by their type and content:
        ``feature_types_`` shows as what.
    label_types : "auto", str, list or dict, default="auto"
        What columns of ``y`` are, likewise: "yes-no" (0 and 1, truth values, or words such as yes and no),
        "class" (one of several values: one label for each) or "tags" (a list such as ``rock;live``: one label
        for each tag). Classes and tags must be asked for; they come back as the column that they were.
    fill : {"value", "mean"}, default="value"
        What stands in a hole: a value that the column could hold (the likeliest level, a whole number, 0 or
        1), or the expected value, where the column has such.
    clip : bool, default=True
        Keep filled features near the range observed in their column: beyond an end at most a quarter of what
        the tenth of the values next to it spans, and not at all where two or more cells share the end, as
        those of a scale do. Drawn ones stay inside the range.
    label_policy : {"observed", "positive-unlabelled"}, default="observed"
        "observed": an unknown label is missing, and no more. "positive-unlabelled": only ones are ever
        recorded, so that an unknown label is probably, but not certainly, a 0.
    recorded_share : "auto" or float, default="auto"
        With "positive-unlabelled": the share of the true ones that are recorded, the same for all labels.
        "auto" estimates it from how the rate of recorded ones levels off where features predict a 1 with
        near certainty, with a warning where the data do not identify it.
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
    sparse_missing : {"zero", "unknown"} or None, default=None
        What a cell of a SciPy sparse ``X`` or ``y`` means that is not stored: an observed 0 (a stored NaN is
        unknown then), or unknown (stored zeros are observed). Sparse tables need one of them; dense ones do
        not look at it. The minimiser of F with λ2 = 0 answers for sparse tables; with ``averaging`` and all
        penalties "auto", features of each label's own answer beside it.
    verbose : int, default=0
        At 1, log on the ``cocomplete`` logger what was chosen and why, and how the solver ended; at 2, log
        every candidate and iteration too.
    on_interrupt : {"raise", "keep"}, default="raise"
        What Ctrl-C does during :meth:`fit`. "raise": KeyboardInterrupt, and the estimator stays as it was.
        "keep": the fit ends soon with the best model so far and a warning; a second Ctrl-C raises. A search
        over parameters that fits "keep" does not notice the first Ctrl-C, and goes on.
    checkpoint : path or None, default=None
        A folder to which :meth:`fit` writes what it has reached, while it runs. A fit of the same table with
        the same parameters goes on from there, in this process or another, on any engine, to the same answer;
        states of other fits are not touched. They are removed when the fit ends. Trust the folder as you
        would a pickle.
    force : bool, default=False
        Begin a fit that is forecast to need more memory than there is.

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
    singular_values_ : ndarray of shape (rank,)
        Its singular values; of a table with more than 20 000 rows, estimated from so many.
    components_ : ndarray of shape (rank, number of encoded features and labels)
        Its right singular vectors, on the scale of the fit.
    offsets_ : ndarray of shape (number of encoded features and labels,)
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
        ``certify`` is on. The attributes that follow describe it and are there only then.
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
        ``duality_gap_``, … belong to the second.
    polished_ : bool
        Whether a refit at a clear rank was done.
    feature_types_ : ndarray of str, shape (n_features,)
        What every feature was taken for: "number", "yes-no", "category", "ordinal", "count" or "date".
    encoded_names_ : ndarray of str
        What the columns of ``components_`` and ``offsets_`` stand for, if the tables had names: a feature or
        a label, or one of the values of a category (``colour=red``).
    thresholds_ : ndarray of shape (n_labels,)
        Above which a label is 1.
    n_features_in_, n_labels_ : int
        Number of features, and of labels; each value of a class, and each tag, is a label.
    feature_names_in_, label_names_in_ : ndarray of str
        Names of the tables' columns, if they had any.

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
        label_types: Any = "auto",
        fill: str = "value",
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
        sparse_missing: str | None = None,
        verbose: int = 0,
        on_interrupt: str = "raise",
        checkpoint: Any = None,
        force: bool = False,
    ) -> None:
        self.rank_penalty = rank_penalty
        self.residual_penalty = residual_penalty
        self.feature_weight = feature_weight
        self.averaging = averaging
        self.center = center
        self.scale = scale
        self.feature_types = feature_types
        self.label_types = label_types
        self.fill = fill
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
        self.sparse_missing = sparse_missing
        self.verbose = verbose
        self.on_interrupt = on_interrupt
        self.checkpoint = checkpoint
        self.force = force

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

        Attributes are set at the very end: a fit that fails or raises leaves the estimator as it was.

        Parameters
        ----------
        X : array-like, DataFrame or SciPy sparse table of shape (n_samples, n_features)
            Features; NaN, None, NA or null where unknown.
        y : array-like, DataFrame or SciPy sparse table of shape (n_samples, n_labels), optional
            Labels 0 or 1; unknown likewise.
        progress : callable, optional
            Called with a record of every candidate and every iteration.
        """
        settings = Settings.checked(self.get_params(deep=False))
        if is_sparse(X) or is_sparse(y):
            return self._fit_sparse(settings, SparseInput.read(X, y, settings.sparse_missing), progress)
        messages = Messages(settings.verbose)
        with (
            interrupts(settings.on_interrupt),
            compiling_announced(messages.compiling),
            self._started(X, y, settings, messages) as start,
        ):
            report, done = task_reporter(self, messages.logging(progress))
            result = start.fit(report)
            attributes = fitted_attributes(settings, result)
            messages.issue(stacklevel=3)
            # In one step, so that Ctrl-C finds either the last fit or this one.
            self.__dict__ = without_fitted(vars(self)) | start.columns | attributes
            done()
        return self

    @contextmanager
    def _started(
        self, X: Any, y: Any, settings: Settings, messages: Messages
    ) -> Iterator[TableStart | BlockStart]:
        """Read a table, or a sample of its rows; the engine that holds the others goes with the context."""
        check_memory(settings, X, y)
        blocks = as_blocks(X, y)
        if blocks is None:
            yield TableStart(X, y, settings, messages)
            return
        with engine_for(blocks) as engine:
            yield BlockStart(blocks, settings, messages, engine)

    def _fit_sparse(self, settings: Settings, given: SparseInput, progress: Progress | None) -> Self:
        check_settings(settings)
        given.table.check_something_known()
        messages = Messages(settings.verbose)
        with interrupts(settings.on_interrupt), compiling_announced(messages.compiling):
            report, done = task_reporter(self, messages.logging(progress))
            attributes = fit_sparse(settings, given, messages, report)
            messages.issue(stacklevel=4)
            self.__dict__ = without_fitted(vars(self)) | attributes
            done()
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self.sparse_missing is not None
        tags.input_tags.allow_nan = True
        tags.target_tags.two_d_labels = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
