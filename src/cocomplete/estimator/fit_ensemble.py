"""The ensemble that predicts by default."""

from collections.abc import Collection
from dataclasses import replace

import numpy as np

from cocomplete.arrays import BoolArray, FloatArray
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
from cocomplete.members.level_trees import LevelTrees
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
        stage=None if solver.checkpoint is None else solver.checkpoint.stage("ensemble"),
    ).run()
    whole = _all_rows(fit, narrow, rows)
    by_trees = _held_out_levels(table, informative, fit)
    levels = _levels(table, informative, whole, fit, by_trees)
    judged = replace(
        fit.judged_cells().widened(informative, np.flatnonzero(rows)),
        by_trees={j: each.astype(np.float32) for j, each in by_trees.items() if levels[j].share},
    )
    model = Model(
        table.given,
        yes_no,
        informative,
        fit.ensemble,
        fit.joint(),
        margins=fit.margins(),
        clip=settings.clip,
        levels=levels,
        level_trees=_level_trees(table, informative, levels, fit),
        groups=table.groups,
        positive=fit_positive_labels(narrow, yes_no[informative.features], settings, solver.messages),
        fitted_rows=FittedRows.of(whole, narrow, yes_no[informative.features]),
        judged=judged,
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


def _held_out_levels(
    table: TrainingTable, informative: Informative, fit: EnsembleFit
) -> dict[int, FloatArray]:
    """Give trees' probabilities of the levels of held-out cells, by the user's feature."""
    place = np.flatnonzero(informative.features)
    found = fit.held_out_levels(_narrow_codes(table, informative, table.codes))
    return {int(place[j]): each for j, each in found.items()}


def _levels(
    table: TrainingTable,
    informative: Informative,
    prediction: Prediction,
    fit: EnsembleFit,
    by_trees: dict[int, FloatArray],
) -> dict[int, LevelCuts]:
    """Find cuts between levels in an order, and the share of trees for them, by held-out cells."""
    mean, std = informative.widen(*prediction)
    held_out, place = fit.held_out_numbers(), np.flatnonzero(informative.features)
    column = place[held_out.column]
    unit = informative.unit[column]
    # Beyond the largest number there are no levels: columns that reach there have none.
    with np.errstate(over="ignore"):
        in_units = HeldOutNumbers(column, *(np.nan_to_num(unit * part) for part in held_out[1:]))
    return level_cuts(table.codes, table.observed.X, mean, std, in_units, by_trees)


def _level_trees(
    table: TrainingTable, informative: Informative, levels: dict[int, LevelCuts], fit: EnsembleFit
) -> LevelTrees | None:
    """Grow trees for levels to the whole table, where they have a share."""
    return fit.whole.level_trees(
        _narrow_codes(table, informative, [j for j, cuts in levels.items() if cuts.share])
    )


def _narrow_codes(
    table: TrainingTable, informative: Informative, columns: Collection[int]
) -> dict[int, FloatArray]:
    """Give the codes of some features with levels, by the columns that the ensemble was fitted to."""
    place = np.cumsum(informative.features) - 1
    return {int(place[j]): table.codes[j] / informative.unit[j] for j in columns if informative.features[j]}


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
