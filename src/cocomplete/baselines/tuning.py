"""Settings chosen on held-out cells: what turns a rival into a fair opponent.

The rivals' objectives are the paper's with other weights and λ2 = 0, so the project's exact solver follows
their paths; only how they are chosen and what is done with the answers is theirs.
"""

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.losses import log_loss
from cocomplete.parameter_checks import legacy_generator
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.factored import solve_factored
from cocomplete.solvers.path import rank_penalties, solve_path
from cocomplete.solvers.solution import Record, Solution

HELD_SHARE = 0.1
"""Share of the observed cells, of X and of Y each, that choose."""

PATIENCE = 3
"""So many candidates in a row without a better score end a path."""

PATH_LENGTH, PATH_END = 14, 2.0**-13
"""Values of λ1 on a path, and the smallest as a share of the largest: each is half of the one before."""

FAR_BEHIND = 10.0
"""An error so many times the best of an earlier path will not catch up."""

NEGLIGIBLE = 1e-6
"""Below this share of its largest value an error has nothing left to gain."""

PATH_GAP = 1e-2
"""Relative duality gap along a path: errors on held-out cells no longer move below it."""

FEATURES, LABELS = "feature_error", "label_error"
"""The two scores of a candidate, in its record."""

Answer = TypeVar("Answer")


@dataclass(frozen=True, eq=False)
class Validation:
    """A table with some of its observed cells held out.

    Attributes
    ----------
    visible : Observations
        The table without them.
    X_held, Y_held : ndarray of bool, shape of X and of Y
        The held-out cells.
    """

    visible: Observations
    X_held: BoolArray
    Y_held: BoolArray


def hold_out(observed: Observations, random_state: Any) -> Validation:
    """Hold out a share of the observed cells at random; a table with two cells or more loses at least one."""
    rng = legacy_generator("random_state", random_state)
    masks = []
    for known in (observed.X_known, observed.Y_known):
        cells = np.flatnonzero(known)
        count = max(round(HELD_SHARE * cells.size), 1) if cells.size > 1 else 0
        held = np.zeros(known.shape, dtype=bool)
        held.flat[rng.permutation(cells)[:count]] = True
        masks.append(held)
    X_held, Y_held = masks
    return Validation(observed.without(X_held, Y_held), X_held, Y_held)


class Followed(NamedTuple, Generic[Answer]):
    """What came of a path.

    Attributes
    ----------
    records : list of dict
        Setting and errors of every candidate that was tried.
    answers : dict
        The answer with the smallest error, for every score there is.
    """

    records: list[Record]
    answers: dict[str, Answer]


def follow(
    candidates: Iterable[tuple[Record, Answer]],
    score: Callable[[Answer], dict[str, float]],
    watched: Sequence[str] = (FEATURES, LABELS),
    rivals: Sequence[Record] = (),
) -> "Followed[Answer]":
    """Score candidates in turn, until no score that is watched has become much better for a while.

    Once one of them has turned, a path is not followed for the sake of another that is far behind what an
    earlier path reached.

    Parameters
    ----------
    candidates : iterable of (setting, answer)
        Found one after the other, from the strongest penalty down.
    score : callable
        Errors of an answer on the held-out cells.
    watched : sequence of str
        Scores that decide when to stop.
    rivals : sequence of dict
        Records of earlier paths.

    Returns
    -------
    Followed
    """
    records: list[Record] = []
    answers: dict[str, Answer] = {}
    for setting, answer in candidates:
        errors = score(answer)
        records.append(setting | errors)
        answers |= {name: answer for name in errors if best(records, name) is records[-1]}
        scored = [name for name in watched if name in errors]
        going = [name for name in scored if _since_better(records, name) < PATIENCE]
        if len(going) < len(scored) and all(_far_behind(records[-1], rivals, name) for name in going):
            break
    return Followed(records, answers)


def _since_better(records: list[Record], score: str) -> int:
    """Count the candidates after the first whose error is the smallest, or as good as none."""
    errors = [float(record[score]) for record in records]
    enough = max(min(errors), NEGLIGIBLE * max(errors))
    return len(errors) - 1 - next(k for k, error in enumerate(errors) if error <= enough)


def _far_behind(record: Record, rivals: Sequence[Record], score: str) -> bool:
    return any(float(record[score]) > FAR_BEHIND * float(rival[score]) for rival in rivals)


def best(records: list[Record], score: str) -> Record:
    """Give the candidate with the smallest error; among equals the first, whose penalty is strongest."""
    return min(records, key=lambda record: float(record[score]))


def choose(records: list[Record]) -> tuple[Record, Record]:
    """Give the best candidate for features and the best for labels.

    Where only one of the two could be scored it chooses both; where neither, the strongest penalty stands.
    """
    names = [name for name in (FEATURES, LABELS) if name in records[0]]
    if not names:
        return records[0], records[0]
    return best(records, names[0]), best(records, names[-1])


def path(objective: Objective, penalties: list[float]) -> Iterator[tuple[float, Solution]]:
    """Follow falling values of λ1, each answer starting from the one before."""
    for at, solution in solve_path(objective, penalties, tol=PATH_GAP):
        yield at.rank_penalty, solution


def full_path(objective: Objective) -> list[float]:
    """Values of λ1 from where everything is zero down."""
    return rank_penalties(objective, PATH_LENGTH, PATH_END)


def refit(
    objective: Objective,
    penalties: Iterable[float],
    *,
    tol: float,
    max_iter: int,
    start: Solution | None = None,
) -> dict[float, Solution]:
    """Solve for the chosen λ1 to a duality gap of ``tol``, coming down a path.

    Parameters
    ----------
    objective : Objective
    penalties : iterable of float
    tol, max_iter
        As for :func:`~cocomplete.solvers.factored.solve_factored`.
    start : Solution, optional
        Answer to nearly the same problem with the largest of the chosen λ1, to start from; without it, the
        way leads down the whole path. (A start at the smallest saves nothing: under a weak penalty what was
        fitted to other cells is far away, and comes back slowly.)

    Warns
    -----
    ConvergenceWarning
        If the gap is not reached.
    """
    chosen = set(penalties)
    way = [value for value in full_path(objective) if value > min(chosen)]
    if start is not None:
        way = [value for value in way if value < max(chosen)]
    down = solve_path(objective, sorted({*way, *chosen}, reverse=True), tol=PATH_GAP, start=start)
    begin = {at.rank_penalty: solution for at, solution in down}
    answers = {}
    for penalty in chosen:
        at = replace(objective, rank_penalty=penalty)
        solution = solve_factored(at, tol=tol, max_iter=max_iter, start=begin[penalty])
        answers[penalty] = solution
        if not solution.converged:
            msg = (
                f"the duality gap is {solution.duality_gap:.2g} after {solution.n_iter} rounds, above "
                f"tol={tol:g}; raise max_iter or tol, or use the answer as it is"
            )
            warnings.warn(msg, ConvergenceWarning, stacklevel=5)
    return answers


def squared_error(truth: FloatArray, model: FloatArray, held: BoolArray) -> float:
    """Mean squared error on the held-out cells."""
    return float(np.mean((model[held] - truth[held]) ** 2))


def brier(truth: FloatArray, probability: FloatArray, held: BoolArray) -> float:
    """Mean squared error of probabilities; unlike the share of wrong labels it is hardly ever flat."""
    return squared_error(truth, np.clip(probability, 0, 1), held)


def logistic_loss(truth: FloatArray, Z: FloatArray, held: BoolArray) -> float:
    """Mean log-loss of scores, on the held-out cells."""
    return float(np.mean(log_loss(Z[held], truth[held])))
