"""From settings and a table to a fitted model; nothing here, or below, sees the estimator."""

from cocomplete.estimator.fit_ensemble import fit_ensemble
from cocomplete.estimator.fit_minimisers import fit_minimisers
from cocomplete.estimator.messages import Messages
from cocomplete.estimator.settings import Settings
from cocomplete.estimator.solving import MinimiserSolver
from cocomplete.estimator.training import FitResult, TrainingTable
from cocomplete.solvers.solution import Progress


def fit_model(
    settings: Settings, table: TrainingTable, messages: Messages, progress: Progress | None
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
    """
    solver = MinimiserSolver(settings, messages, progress)
    result = (fit_ensemble if settings.wants_ensemble else fit_minimisers)(table, solver)
    if result.interrupted:
        messages.interrupted()
    messages.validation(result.validation)
    return result
