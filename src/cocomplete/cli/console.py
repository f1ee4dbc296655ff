"""What people watch while a command works: always on standard error."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str, *, quiet: bool = False) -> None:
    """Print a line for the person at the terminal."""
    if not quiet:
        stderr.print(text, markup=False)


@contextmanager
def progress_line(*, quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show the iteration and how far it is from done; silent when nobody is at a terminal."""
    from cocomplete.kernels.compiling import compiling_announced

    columns = (SpinnerColumn(), TextColumn("completing  {task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=stderr, transient=True, disable=quiet or not stderr.is_terminal) as line:
        task = line.add_task("starting", total=None)

        def advance(record: dict[str, Any]) -> None:
            if record.get("stage") == "judging":
                what = record.get("what", f"candidate {record['iteration']}")
                line.update(task, description=f"judging on held-out cells: {what}")
                return
            if record.get("stage") == "averaging":
                line.update(task, description=f"averaging over factors, sweep {record['iteration']}")
                return
            text = f"iteration {record['iteration']}, objective {record['objective']:.6g}"
            if record.get("duality_gap", float("inf")) < float("inf"):
                text += f", gap {record['duality_gap']:.1g}"
            line.update(task, description=text)

        with compiling_announced(lambda: line.update(task, description="compiling, once")):
            yield advance


@contextmanager
def plain_warnings(*, quiet: bool = False) -> Iterator[None]:
    """Turn Python warnings into one line each, without file names and source."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield
    for text in dict.fromkeys(str(warning.message) for warning in caught):
        say(f"cocomplete: warning: {text}", quiet=quiet)


def error_lines(validation: dict[str, Any] | None) -> list[str]:
    """Give the errors on held-out cells beside the trivial prediction's, one line per part of the table."""
    lines = []
    for part, what, simple in (
        ("features", "features", "column means"),
        ("yes_no_features", "yes/no features", "the commoner value"),
        ("labels", "labels beside other labels", "the commoner value"),
        ("unlabelled", "labels of rows without any", "the commoner value"),
    ):
        found = (validation or {}).get(part)
        if found is None:
            continue
        if "rmse" in found:
            error = f"off by {found['rmse']:.2f} standard deviations ({simple}: {found['trivial_rmse']:.2f})"
        else:
            error = f"{found['wrong']:.1%} wrong ({simple}: {found['trivial_wrong']:.1%})"
        lines.append(f"{what}: {found['cells']} held-out cells were {error}")
    return lines
