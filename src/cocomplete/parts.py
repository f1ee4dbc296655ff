"""Features and labels: each is answered for by the model that suits it."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.special import expit

from cocomplete.arrays import FloatArray
from cocomplete.problem.cells import Cells
from cocomplete.problem.encoding import Encoding
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.blend import Blend
from cocomplete.solvers.mode import Mode
from cocomplete.solvers.moments import Moments
from cocomplete.solvers.posterior import Posterior, Prior, fit_posterior
from cocomplete.solvers.readout import Likeness, Readout, completed, completed_labels, known_labels, read_out
from cocomplete.solvers.solution import Progress, Solution

RULE_OF_THUMB = 0.15
"""λ1 where there is too little to choose it by, as a share of the value that makes everything zero."""

SWEEPS = 40
"""Most sweeps of an average. It starts from scratch: what was found with cells hidden, from averages of other
kinds, stays more like those than it should, and answers worse together with them."""

HURRIED_SWEEPS = 10
"""The same once Ctrl-C has ended an average before: the others must be there too."""


@dataclass(frozen=True)
class Member:
    """An average, or what is read out of features as it completes them, alone or one of several.

    Attributes
    ----------
    prior : Prior
    share : float
        Its share in what is said of labels.
    likeness : {"linear", "near"} or None
        If given, labels are read out of features as the average completes them, rows compared this way.
    variance : float
        Prior variance of what is read out.
    taught : bool
        Whether that is learnt from unknown labels too, as what answers for them completes them.
    overlap : float
        How much of what features say beyond the usual number of them others have said; of an average alone.
    """

    prior: Prior
    share: float = 1.0
    likeness: Likeness | None = None
    variance: float = 1.0
    taught: bool = False
    overlap: float = 0.0


@dataclass(frozen=True)
class Setting:
    """What was chosen for a part.

    Attributes
    ----------
    method : {"mode", "average", "trivial"}
        Which model answers: the minimiser of F, the average over factors, or the offsets alone.
    gaussian : bool
        Whether features are made normal by ranks.
    rank_penalty : float or None
        λ1; None for the rule of thumb.
    residual_penalty, feature_weight : float
        λ2 and w.
    members : tuple of Member
        Of the average: one, or several that answer together.
    """

    method: str = "mode"
    gaussian: bool = False
    rank_penalty: float | None = None
    residual_penalty: float = 0.0
    feature_weight: float = 0.5
    members: tuple[Member, ...] = ()

    @property
    def mode(self) -> "Setting":
        """All that the minimiser of F depends on."""
        return replace(self, method="mode", members=())


@dataclass(frozen=True, eq=False)
class Certified:
    """F, its cells, and its minimiser with a certificate."""

    encoding: Encoding
    cells: Cells
    objective: Objective
    solution: Solution


@dataclass(frozen=True, eq=False)
class FittedPart:
    """A fitted model of the whole table, used for features or for labels.

    Attributes
    ----------
    fit : Certified
        The minimiser of F.
    model : Mode, Posterior or Blend
        What answers.
    std_factor : float
        What standard deviations are multiplied by, so that 90 % intervals hold 90 % of hidden cells.
    interrupted : bool
        Whether Ctrl-C left out what was to be read out of features.
    """

    fit: Certified
    model: Mode | Posterior | Blend
    std_factor: float = 1.0
    interrupted: bool = False

    @property
    def encoding(self) -> Encoding:
        """The solvers' columns."""
        return self.fit.encoding

    def training(self, *, variance: bool = True) -> Moments:
        """Give the moments of every cell of the table that the model was fitted to."""
        model, cells = self.model, self.fit.cells
        if isinstance(model, Mode) and model.V.shape[1]:
            return model.at(self.fit.solution.M.dense(), cells, variance=variance)
        return self._predict(cells, variance=variance)

    def of(self, observed: Observations, *, variance: bool = True) -> Moments:
        """Give the moments of every cell of any rows, by the row step alone."""
        return self._predict(Cells.of(self.encoding.apply(observed)), variance=variance)

    def _predict(self, cells: Cells, *, variance: bool) -> Moments:
        if isinstance(self.model, Mode):
            return self.model.predict(cells, variance=variance)
        return self.model.predict(cells)

    def features(self, moments: Moments) -> tuple[FloatArray, FloatArray]:
        """Give features and their standard deviations in the user's columns and units."""
        encoding, score = self.encoding, moments.score
        n, d = len(moments.mean), len(encoding.yes_no)
        X, std = np.empty((n, d)), np.empty((n, d))
        for j in range(d):
            inner = int(encoding.order[j])
            noise = 0.0 if encoding.yes_no[j] else moments.noise[inner]
            X[:, j], std[:, j] = encoding.feature(
                j, moments.mean[:, inner], score[:, inner], moments.variance[:, inner] + noise
            )
        std[:, ~encoding.yes_no] *= self.std_factor
        return X, std

    def labels(self, moments: Moments) -> FloatArray:
        """Give the labels' scores Z."""
        return moments.score[:, len(self.encoding.yes_no) :]

    def teach(self) -> FloatArray:
        """Give the table's labels with probabilities in the place of unknown ones."""
        labels = known_labels(self.fit.cells, len(self.encoding.yes_no))
        return completed_labels(labels, self.labels(self.training(variance=False)))

    def draw_features(self, observed: Observations, rng: np.random.Generator) -> FloatArray:
        """Draw the features of some rows, noise included."""
        encoding = self.encoding
        cells = Cells.of(encoding.apply(observed))
        moments = self._predict(cells, variance=False)
        t = self.model.draw(cells, rng)
        X = np.empty((len(t), len(encoding.yes_no)))
        for j, inner in enumerate(encoding.order[: X.shape[1]]):
            if encoding.yes_no[j]:
                X[:, j] = rng.random(len(t)) < expit(t[:, inner])
                continue
            noise = np.sqrt(self.model.noise[inner]) * rng.standard_normal(len(t))
            mean = moments.mean[:, inner]
            drawn = mean + self.std_factor * (t[:, inner] + noise - mean)
            X[:, j], _ = encoding.feature(j, drawn, drawn, np.zeros_like(drawn))
        return X

    def draw_labels(self, observed: Observations, rng: np.random.Generator) -> FloatArray:
        """Draw the labels' scores of some rows."""
        t = self.model.draw(Cells.of(self.encoding.apply(observed)), rng)
        return t[:, len(self.encoding.yes_no) :]


def certify(
    observed: Observations,
    encoding: Encoding,
    setting: Setting,
    solve: Callable[[Objective], Solution],
    *,
    free_offsets: bool,
    exact: bool,
) -> Certified:
    """Set F up on a table as an encoding has it, and minimise it.

    Parameters
    ----------
    observed : Observations
        In the user's units.
    encoding : Encoding
    setting : Setting
    solve : callable
    free_offsets : bool
        Whether offsets are optimised with the rest.
    exact : bool
        Whether the solver finds the minimiser, so that λ2 above λ1 may as well be λ1.
    """
    encoded = encoding.apply(observed)
    usable = encoded.without_one_sided_labels() if free_offsets else encoded
    objective = Objective(
        usable,
        setting.rank_penalty or 0.0,
        setting.residual_penalty,
        setting.feature_weight,
        encoding.offsets,
        free_offsets,
    )
    if setting.rank_penalty is None:
        # λ2 is left aside here: a large one only says that features are to be met exactly.
        top = replace(objective, residual_penalty=0.0).rank_penalty_max
        objective = replace(objective, rank_penalty=RULE_OF_THUMB * top or 1.0)
    if objective.regime == "interpolation" and exact:
        # From λ1 on, every λ2 has the same minimiser; the smallest has the best-behaved objective.
        objective = replace(objective, residual_penalty=objective.rank_penalty)
    return Certified(encoding, Cells.of(encoded), objective, solve(objective))


Fitted = dict[tuple[bool, Member], Posterior | Readout]
"""What was fitted to a table by encoding (made normal by ranks or not) and member, whatever its share."""


def fit_part(
    fit: Certified,
    setting: Setting,
    fitted: Fitted,
    std_factor: float = 1.0,
    *,
    teacher: FittedPart | None = None,
    progress: Progress | None = None,
) -> FittedPart:
    """Make the model that answers for a part out of F's minimiser and what was chosen.

    Parameters
    ----------
    fit : Certified
    setting : Setting
    fitted : dict
        What other parts were fitted with; what this part needs besides is added.
    std_factor : float, default=1.0
    teacher : FittedPart, optional
        What completes the labels that taught members learn from; needed if there are any.
    progress : callable, optional
        Called with a record per sweep of an average.
    """
    if setting.method == "average" and setting.members:
        if len(setting.members) == 1:
            return FittedPart(fit, _average(fit, setting.members[0].prior, fitted, progress), std_factor)
        models: list[Posterior | Readout] = [
            replace(_average(fit, one.prior, fitted, progress), overlap=one.overlap)
            for one in setting.members
            if one.likeness is None
        ]
        shares = [one.share for one in setting.members]
        try:
            models += _readouts(fit, setting.members[len(models) :], fitted, teacher, progress)
        except KeyboardInterrupt:
            # Averages answer alone, and as much as all were to say.
            alone = shares[: len(models)]
            shares = [share * sum(shares) / (sum(alone) or 1.0) for share in alone]
        interrupted = len(shares) < len(setting.members)
        return FittedPart(fit, Blend(tuple(models), tuple(shares)), std_factor, interrupted)
    if setting.method == "trivial":
        return FittedPart(fit, Mode.trivial(fit.encoding.offsets, fit.cells), std_factor)
    return FittedPart(fit, Mode.of(fit.objective, fit.solution, fit.cells), std_factor)


def averages_interrupted(fitted: Fitted) -> bool:
    """Say whether Ctrl-C ended one of the averages."""
    return any(isinstance(one, Posterior) and one.interrupted for one in fitted.values())


def _readouts(
    fit: Certified,
    members: Sequence[Member],
    fitted: Fitted,
    teacher: FittedPart | None,
    progress: Progress | None,
) -> list[Posterior | Readout]:
    """Read labels out as each member says."""
    labels = known_labels(fit.cells, len(fit.encoding.yes_no))
    told = teacher.teach() if teacher is not None and any(one.taught for one in members) else labels
    found = []
    for one in members:
        key = (fit.encoding.gaussian, replace(one, share=1.0))
        if key not in fitted and one.likeness is not None:
            average = _average(fit, one.prior, fitted, progress)
            rows = completed(average, fit.cells, len(fit.encoding.yes_no))
            fitted[key] = next(
                read_out(average, rows, told if one.taught else labels, one.likeness, [one.variance])
            )
        found.append(fitted[key])
    return found


def _average(fit: Certified, prior: Prior, fitted: Fitted, progress: Progress | None) -> Posterior:
    key = (fit.encoding.gaussian, Member(prior))
    if key not in fitted:
        fitted[key], _ = fit_posterior(
            fit.cells,
            prior,
            fit.encoding.offsets.astype(np.float64),
            first_label=len(fit.encoding.yes_no),
            max_iter=HURRIED_SWEEPS if averages_interrupted(fitted) else SWEEPS,
            progress=progress,
        )
    average = fitted[key]
    assert isinstance(average, Posterior)
    return average
