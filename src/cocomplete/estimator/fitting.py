"""From settings and a table to a fitted model; nothing here, or below, sees the estimator."""

from cocomplete.estimator.fit_blocks import WholeTable, fit_blocks
from cocomplete.estimator.fit_ensemble import fit_ensemble
from cocomplete.estimator.fit_minimisers import fit_minimisers
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.resuming import checkpoint_of
from cocomplete.estimator.settings import Settings
from cocomplete.estimator.solving import MinimiserSolver
from cocomplete.estimator.training import FitResult, TrainingTable
from cocomplete.solvers.solution import Progress


def fit_model(
    settings: Settings,
    table: TrainingTable,
    messages: Messages,
    progress: Progress | None,
    whole: WholeTable | None = None,
) -> FitResult:
    """Fit an ensemble, or the minimiser of F where that was asked for.

    Parameters
    ----------
    settings : Settings
    table : TrainingTable
    messages : Messages
        Collects warnings.
    progress : callable or None
        Called with a record of every candidate and every iteration.
    whole : WholeTable, optional
        All rows, if those of ``table`` are a sample.
    """
    checkpoint = checkpoint_of(settings, table, whole, messages)
    solver = MinimiserSolver(settings, messages, progress, checkpoint)
    if whole is not None:
        result = fit_blocks(table, whole, solver)
    else:
        result = (fit_ensemble if settings.wants_ensemble else fit_minimisers)(table, solver)
    if result.interrupted:
        messages.interrupted()
    elif checkpoint is not None:
        checkpoint.clear()
    messages.validation(result.validation)
    return result
