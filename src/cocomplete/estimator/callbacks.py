"""scikit-learn's callbacks (new in 1.9, still experimental there), or nothing where they are missing."""

from collections.abc import Callable
from typing import Any, TypeVar

from cocomplete.solvers.solution import Progress, Record

Method = TypeVar("Method", bound=Callable[..., Any])

try:
    from sklearn.callback import CallbackSupportMixin
    from sklearn.callback import with_callbacks as _with_callbacks
except ImportError:  # scikit-learn before 1.9

    class CallbackSupportMixin:  # type: ignore[no-redef]
        """Stands in where scikit-learn has no callbacks."""

    def _with_callbacks(method: Method) -> Method:
        return method


def with_callbacks(method: Method) -> Method:
    """Run a fit among scikit-learn's callbacks, where it has any."""
    wrapped: Method = _with_callbacks(method)
    return wrapped


__all__ = ["CallbackSupportMixin", "task_reporter", "with_callbacks"]


def task_reporter(estimator: Any, progress: Progress | None) -> tuple[Progress | None, Callable[[], None]]:
    """Give a progress function that also notifies the estimator's callbacks, and what to call at the end.

    Every record, a candidate of the search or an iteration of a solver, is one task to them.
    """
    if not getattr(estimator, "_skl_callbacks", None):
        return progress, lambda: None
    root = estimator._init_callback_context(max_subtasks=None)
    root.call_on_fit_task_begin(estimator=estimator)

    def report(record: Record) -> None:
        task = root.subcontext(task_name=record.get("stage", "iteration"))
        task.call_on_fit_task_begin(estimator=estimator)
        task.call_on_fit_task_end(estimator=estimator)
        if progress is not None:
            progress(record)

    return report, lambda: root.call_on_fit_task_end(estimator=estimator)
