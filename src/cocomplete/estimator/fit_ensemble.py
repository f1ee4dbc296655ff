"""The ensemble that predicts by default."""

from dataclasses import replace

import numpy as np

from cocomplete.arrays import BoolArray
from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.estimator.recorded_share import fit_positive_labels
from cocomplete.estimator.settings import seed_of
from cocomplete.estimator.solving import MinimiserSolver
from cocomplete.estimator.training import FitResult, TrainingTable
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.fitted.fitted_rows import FittedRows
from cocomplete.fitted.levels import HeldOutNumbers, LevelCuts, level_cuts
from cocomplete.fitted.model import Model, levels_of_rows
from cocomplete.fitted.sharing import shared
from cocomplete.interrupts import stop_requested
from cocomplete.members.minimiser import Penalties
from cocomplete.members.prediction import Prediction
from cocomplete.members.trivial import Trivial
from cocomplete.problem.informative import Informative, rows_with_something
from cocomplete.problem.observations import Observations


def fit_ensemble(table: TrainingTable, solver: MinimiserSolver) -> FitResult:
    """Fit an ensemble, whose members have the weights that held-out cells give them."""
    settings, observed, yes_no = solver.settings, table.observed, table.yes_no
    informative = Informative.of(observed)
    narrow = informative.narrow(observed)
    rows = rows_with_something(narrow)
    if not rows.any():
        informative = Informative.whole(observed)
        trivial = Ensemble.alone(Trivial.fit(informative.narrow(observed), yes_no), yes_no)
        model = Model(table.given, yes_no, informative, trivial, clip=settings.clip, groups=table.groups)
        return FitResult(replace(model, levels=levels_of_rows(model, table.codes)))
    fit = EnsembleFit(
        Observations(narrow.X[rows], narrow.Y[rows]),
        yes_no[informative.features],
        seed=seed_of(settings.random_state),
        solve=solver.solve,
        progress=solver.progress,
        groups=table.groups[informative.columns],
    ).run()
    whole = _all_rows(fit, narrow, rows)
    model = Model(
        table.given,
        yes_no,
        informative,
        fit.ensemble,
        fit.joint(),
        margins=fit.margins(),
        clip=settings.clip,
        levels=_levels(table, informative, whole, fit.held_out_numbers()),
        groups=table.groups,
        positive=fit_positive_labels(narrow, yes_no[informative.features], settings, solver.messages),
        fitted_rows=FittedRows.of(whole, narrow, yes_no[informative.features]),
        judged=fit.judged_cells().widened(informative, np.flatnonzero(rows)),
    )
    model = shared(model)
    certified = None
    if settings.certify:
        everything = Informative.whole(observed).narrow(observed)
        certified = solver.minimise(everything, yes_no, fit.best_minimiser() or Penalties())
    labels = fit.held_out_labels()
    held_out = labels._replace(column=np.flatnonzero(informative.labels)[labels.column])
    cut_short = fit.interrupted or stop_requested()
    if certified is not None:
        cut_short |= certified.certified.interrupted
    return FitResult(model, certified, fit.summary(), held_out, interrupted=cut_short)


def _levels(
    table: TrainingTable, informative: Informative, prediction: Prediction, held_out: HeldOutNumbers
) -> dict[int, LevelCuts]:
    """Find cuts between levels in an order, by held-out cells."""
    mean, std = informative.widen(*prediction)
    column = np.flatnonzero(informative.features)[held_out.column]
    unit = informative.unit[column]
    in_units = HeldOutNumbers(column, *(unit * part for part in held_out[1:]))
    return level_cuts(table.codes, table.observed.X, mean, std, in_units)


def _all_rows(fit: EnsembleFit, observed: Observations, rows: BoolArray) -> Prediction:
    """Give the prediction of all rows of a fit, those in which nothing is observed among them."""
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
