"""What people watch while a command works: always on standard error."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str, *, quiet: bool = False) -> None:
    """Print a line for the person at the terminal."""
    if not quiet:
        stderr.print(text, markup=False)


@contextmanager
def progress_bar(total: int, *, quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show iterations and the objective as they come; silent when nobody is at a terminal."""
    columns = (
        TextColumn("completing"),
        BarColumn(),
        TextColumn("{task.completed}/{task.total}  objective {task.fields[objective]}"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as bar:
        task = bar.add_task("completing", total=total, objective="")

        def advance(record: dict[str, Any]) -> None:
            bar.update(task, completed=record["iteration"], objective=f"{record['objective']:.6g}")

        yield advance


@contextmanager
def plain_warnings(*, quiet: bool = False) -> Iterator[None]:
    """Turn Python warnings into one line each, without file names and source."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"cocomplete: warning: {text}", quiet=quiet)
