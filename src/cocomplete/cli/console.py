"""What people watch while a command works: always on standard error."""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from time import perf_counter
from typing import Any

from rich.console import Console
from rich.progress import (
    BarColumn,
    Progress,
    SpinnerColumn,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)

SECONDS_PER_LINE = 10.0
"""Between lines of progress where nobody is at a terminal."""

stderr = Console(stderr=True, highlight=False, soft_wrap=True)


def say(text: str, *, quiet: bool = False) -> None:
    """Print a line for the person at the terminal."""
    if not quiet:
        stderr.print(text, markup=False)


@contextmanager
def progress_line(*, quiet: bool = False) -> Iterator[Callable[[dict[str, Any]], None]]:
    """Show the share that is done and the time left; without a terminal, as a line every ten seconds."""
    from cocomplete.kernels.compiling import compiling_announced

    columns = (
        SpinnerColumn(),
        TextColumn("completing  {task.description}"),
        BarColumn(bar_width=20),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(compact=True),
    )
    live = stderr.is_terminal and not quiet
    line = Progress(*columns, console=stderr, transient=True, disable=not live)
    # Before rich 15 even a line that is never shown ends with a newline.
    with line if live else nullcontext():
        task = line.add_task("starting", total=None)
        lines = _Lines(quiet=quiet or live)

        def advance(record: dict[str, Any]) -> None:
            text, share = _described(record), record.get("share")
            line.update(task, description=text)
            if share is not None:
                line.update(task, total=1.0, completed=float(share))
            lines.advance(text, share)

        with compiling_announced(lambda: line.update(task, description="compiling, once")):
            yield advance


def _described(record: dict[str, Any]) -> str:
    """Say in a few words what a fit is doing."""
    if record.get("stage") == "judging":
        return f"on held-out cells: {record.get('what', 'candidate ' + str(record['iteration']))}"
    if record.get("stage") == "completing":
        return f"block {record['block']} of {record['blocks']}"
    if record.get("stage") == "averaging":
        return f"averaging over factors, sweep {record['iteration']}"
    text = f"iteration {record['iteration']}, objective {record['objective']:.6g}"
    if record.get("duality_gap", float("inf")) < float("inf"):
        text += f", gap {record['duality_gap']:.1g}"
    return text


class _Lines:
    """Progress where nobody is at a terminal: a line every so many seconds, with the time left.

    Parameters
    ----------
    quiet : bool
    """

    def __init__(self, *, quiet: bool) -> None:
        self.quiet, self.share = quiet, 0.0
        self.started = self.last = perf_counter()

    def advance(self, text: str, share: float | None) -> None:
        """Note how far it is, and say so if it is time."""
        self.share = self.share if share is None else float(share)
        now = perf_counter()
        if self.quiet or now - self.last < SECONDS_PER_LINE:
            return
        self.last = now
        spent = now - self.started
        left = f", about {spent * (1 - self.share) / self.share:.0f} s left" if self.share else ""
        say(f"cocomplete: {self.share:.0%} done after {spent:.0f} s{left}: {text}")


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
