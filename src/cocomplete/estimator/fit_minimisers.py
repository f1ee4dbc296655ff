"""The minimiser of F alone, at penalties that were given or chosen on held-out cells."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from cocomplete.arrays import BoolArray
from cocomplete.choosing.minimisers import MinimiserSearch
from cocomplete.estimator.recorded_share import fit_positive_labels
from cocomplete.estimator.settings import Settings, seed_of
from cocomplete.estimator.solving import MinimiserSolver
from cocomplete.estimator.training import FitResult, TrainingTable
from cocomplete.exceptions import InputError
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.fitted.judged_cells import JudgedCells
from cocomplete.fitted.model import Model, levels_of_rows
from cocomplete.fitted.parts import FEATURE_PARTS, LABEL_PARTS
from cocomplete.interrupts import stop_requested
from cocomplete.members.minimiser import Minimiser, Penalties
from cocomplete.members.trivial import Trivial
from cocomplete.problem.informative import Informative
from cocomplete.problem.observations import Observations
from cocomplete.solvers.solution import Progress

SIDES = {"features": FEATURE_PARTS, "labels": LABEL_PARTS}


Minimise = Callable[[Observations, Informative, BoolArray, Penalties], Minimiser]
"""From a table, which of its columns take part, which of its features are yes/no, and penalties."""


def fit_minimisers(
    table: TrainingTable, solver: MinimiserSolver, minimise: Minimise | None = None
) -> FitResult:
    """Minimise F: once, or for features and for labels apart where held-out cells prefer other penalties.

    Parameters
    ----------
    table : TrainingTable
    solver : MinimiserSolver
    minimise : callable, optional
        Minimises F on other rows too, of which ``table`` is a sample; on these alone, without.
    """
    settings, yes_no = solver.settings, table.yes_no
    # Where columns are scaled, a unit is of no account.
    informative = Informative.whole(table.observed, units=settings.scale)
    observed = informative.narrow(table.observed)

    def minimiser(penalties: Penalties) -> Minimiser:
        if minimise is not None:
            return minimise(observed, informative, yes_no, penalties)
        return solver.minimise(observed, yes_no, penalties)

    search = _search(observed, table, settings, solver.progress)
    given = settings.given.penalties()
    asked: dict[str, Any] = dict.fromkeys(SIDES, given)
    if search is not None:
        asked = {"features": search.best("features"), "labels": search.best("labels")}
    fits: dict[Any, Any] = {
        one: Trivial.fit(observed, yes_no) if one == "trivial" else minimiser(one)
        for one in dict.fromkeys(asked.values())
    }
    weights = {
        part: np.array([float(asked[side] == one) for one in fits])
        for side, parts in SIDES.items()
        for part in parts
    }
    minimisers = [one for one in fits.values() if isinstance(one, Minimiser)]
    labels = fits[asked["labels"]]
    joint = labels if isinstance(labels, Minimiser) else next(iter(minimisers), None)
    certified = joint or minimiser(given)
    factor = 1.0 if search is None else search.std_factor(observed, yes_no, asked["features"])
    model = Model(
        table.given,
        yes_no,
        informative,
        Ensemble(tuple(fits.values()), weights, yes_no, factor),
        joint,
        transductive=True,
        clip=settings.clip,
        groups=table.groups,
        positive=fit_positive_labels(observed, yes_no, settings, solver.messages),
        judged=_judged(search, informative, observed.n_samples),
    )
    model = replace(model, levels=levels_of_rows(model, table.codes))
    cut_short = stop_requested() or any(one.certified.interrupted for one in (certified, *minimisers))
    if search is None:
        return FitResult(model, certified, interrupted=cut_short)
    cut_short |= search.interrupted
    return FitResult(model, certified, search.summary(), search.held_out_labels(), interrupted=cut_short)


def _judged(search: MinimiserSearch | None, informative: Informative, n: int) -> JudgedCells | None:
    """Keep what was held out to choose penalties by."""
    return None if search is None else search.judged_cells().widened(informative, np.arange(n))


def _search(
    observed: Observations, table: TrainingTable, settings: Settings, progress: Progress | None
) -> MinimiserSearch | None:
    """Choose penalties that are "auto" on held-out cells; None if there is nothing to choose."""
    given = settings.given
    if given.residual_penalty:
        # There is no path between the regimes: λ1 by a rule of thumb, w = 1/2.
        if settings.tunes_threshold:
            msg = (
                f"threshold='f1' holds cells out to choose by, which goes with residual_penalty 'auto' "
                f"or 0, got {settings.residual_penalty!r}; give numbers as threshold, or 'cardinality'"
            )
            raise InputError(msg)
        return None
    if given.complete and not settings.tunes_threshold:
        return None
    return MinimiserSearch(
        observed,
        table.yes_no,
        center=settings.center,
        scale=settings.scale,
        given=given,
        seed=seed_of(settings.random_state),
        progress=progress,
        groups=table.groups,
    )
