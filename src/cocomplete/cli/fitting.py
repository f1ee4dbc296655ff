"""What commands that fit have in common: settings, progress, warnings, errors that name the file."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from cocomplete.exceptions import InputError

if TYPE_CHECKING:
    from cocomplete.cli.columns import Choice
    from cocomplete.estimator.completer import CoCompleter


def fitted(choice: "Choice", X: Any, y: Any, source: str, *, quiet: bool, **settings: Any) -> "CoCompleter":
    """Fit a model to the columns that were chosen, with a line of progress."""
    from cocomplete.cli.console import progress_line
    from cocomplete.estimator.completer import CoCompleter

    model = CoCompleter(
        feature_types=choice.feature_types or "auto", label_types=choice.label_types or "auto", **settings
    )
    with guarded(source, quiet=quiet), progress_line(quiet=quiet) as progress:
        return model.fit(X, y, progress=progress)


@contextmanager
def guarded(source: str, *, quiet: bool) -> Iterator[None]:
    """Turn warnings into lines, and errors into sentences that begin with the file."""
    from cocomplete.cli.console import plain_warnings

    try:
        with plain_warnings(quiet=quiet):
            yield
    except InputError as error:
        msg = f"{source}: {error}"
        raise InputError(msg) from error


def limit_threads(jobs: int | None) -> None:
    """Use so many threads from here on."""
    if jobs is not None:
        from numba import get_num_threads, set_num_threads

        set_num_threads(min(jobs, get_num_threads()))
