"""``cocomplete reproduce``: the paper's tables, figures and bound, beside its own figures."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocomplete.cli.ending import ENDED, code_of, word_for

if TYPE_CHECKING:
    from cocomplete.experiments.runner import Trial

app = typer.Typer(
    help="Re-create the paper's tables and figures; interrupted runs go on where they were.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)

Out = Annotated[Path, typer.Option("--out", "-o", help="Folder for results, tables and figures.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", min=1, help="Processes; they share the cores.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Say nothing unless something is wrong.")]
Methods = Annotated[str, typer.Option("--methods", "-m", help="Names with commas, or all.")]

FOLDER = Path("cocomplete-reproduction")


@app.command()
def table1(
    rows: Annotated[
        str, typer.Option(help="published (10), all (72), or numbers such as 1,2,9.")
    ] = "published",
    trials: Annotated[int, typer.Option(min=1, help="Trials of each row and method.")] = 5,
    methods: Methods = "all",
    iterations: Annotated[
        int, typer.Option(min=1, help="Of Algorithm 1, which the paper leaves open.")
    ] = 300,
    jobs: Jobs = 1,
    out: Out = FOLDER,
    *,
    quiet: Quiet = False,
) -> None:
    """Recover features and labels of the paper's synthetic tables (Table 1)."""
    from cocomplete.experiments import table_1

    chosen = table_1.parse_methods(methods, table_1.METHODS)
    todo = table_1.trials(table_1.parse_rows(rows), chosen, trials, iterations)
    _run(table_1, todo, jobs, out, quiet=quiet)


@app.command()
def table2(
    trials: Annotated[int, typer.Option(min=1, help="Splits of CAL500.")] = 20,
    methods: Methods = "all",
    iterations: Annotated[
        int, typer.Option(min=1, help="Of Algorithm 1, which the paper leaves open.")
    ] = 200,
    jobs: Jobs = 1,
    out: Out = FOLDER,
    *,
    quiet: Quiet = False,
) -> None:
    """Recover CAL500 and train classifiers on it (Table 2); needs COCOMPLETE_DATA."""
    from cocomplete.experiments import table_1, table_2

    table_2.data_file()
    chosen = table_1.parse_methods(methods, table_2.METHODS)
    _run(table_2, table_2.trials(chosen, trials, iterations), jobs, out, quiet=quiet)


@app.command()
def figure1(out: Out = FOLDER, *, quiet: Quiet = False) -> None:
    """Draw the singular values of CAL500's labels (Figure 1); needs COCOMPLETE_DATA."""
    from cocomplete.experiments import figure_1, table_2

    table_2.data_file()
    _run(figure_1, figure_1.trials(), 1, out, quiet=quiet)


@app.command()
def figure2(
    iterations: Annotated[
        int, typer.Option(min=1, help="Of Algorithm 1, which the paper leaves open.")
    ] = 300,
    jobs: Jobs = 1,
    out: Out = FOLDER,
    *,
    quiet: Quiet = False,
) -> None:
    """Draw errors against iterations and time (Figure 2)."""
    from cocomplete.experiments import figure_2

    _run(figure_2, figure_2.trials(iterations=iterations), jobs, out, quiet=quiet)


@app.command()
def theorem(jobs: Jobs = 1, out: Out = FOLDER, *, quiet: Quiet = False) -> None:
    """Measure Theorem 2's left side against the bound's rate, and when features are met exactly."""
    from cocomplete.experiments import regime
    from cocomplete.experiments import theorem as bound

    _run(bound, bound.trials(), jobs, out, quiet=quiet)
    _run(regime, regime.trials(), jobs, out, quiet=quiet)


@app.command(name="all")
def everything(jobs: Jobs = 1, out: Out = FOLDER, *, quiet: Quiet = False) -> None:
    """Do all of it: 72 rows, the printed ten five times; CAL500 twenty times; both figures; the theorem."""
    from cocomplete.experiments import table_1

    figure1(out, quiet=quiet)
    theorem(jobs, out, quiet=quiet)
    table2(jobs=jobs, out=out, quiet=quiet)
    figure2(jobs=jobs, out=out, quiet=quiet)
    _run(table_1, table_1.full_run(), jobs, out, quiet=quiet)


@app.command()
def pages(out: Out = FOLDER, *, quiet: Quiet = False) -> None:
    """Rebuild tables, figures and the summary from stored results, without running anything."""
    from cocomplete.cli.console import say
    from cocomplete.exceptions import InputError
    from cocomplete.experiments.pages import write

    if not (out / "results").is_dir():
        msg = f"--out {out} has no folder results; run one of the other commands with the same --out first"
        raise InputError(msg)
    written = write(out)
    say(f"{len(written)} page(s) changed in {out}", quiet=quiet)


def _run(experiment: Any, trials: "Sequence[Trial]", jobs: int, out: Path, *, quiet: bool) -> None:
    """Work through an experiment's trials, then write its pages and print its tables."""
    from cocomplete.cli.console import say
    from cocomplete.experiments import pages as made
    from cocomplete.experiments.runner import pending, run

    results = made.results(out, experiment.NAME)
    todo = list(pending(trials, results))
    done = len(trials) - len(todo)
    if done:
        say(f"{experiment.NAME}: {done} of {len(trials)} trials are in {results.path} already", quiet=quiet)
    try:
        with _progress(experiment.NAME, todo, quiet=quiet) as advance:
            run(todo, experiment.work, results, jobs=jobs, done=advance)
    except ENDED as ended:
        say(
            f"{word_for(ended)}; finished trials are kept in {results.path}, and the same command goes on "
            "from there"
        )
        raise typer.Exit(code_of(ended)) from None
    made.write(out)
    page = made.PAGES[experiment.NAME]
    if page.tables is not None:
        typer.echo("\n".join(table.markdown() for table in page.tables(results.read())))
    else:
        typer.echo("\n".join(page.verdicts(results.read())))
    say(f"pages are in {out}", quiet=quiet)


@contextmanager
def _progress(name: str, todo: "Sequence[Trial]", *, quiet: bool) -> "Iterator[Callable[[Trial], None]]":
    """Show what was finished and how long the rest may take: a bar at a terminal, lines elsewhere."""
    from time import perf_counter

    from rich.progress import BarColumn, Progress, TextColumn

    from cocomplete.cli.console import say, stderr

    total, started = sum(trial.effort for trial in todo), perf_counter()
    finished: list[Trial] = []
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.fields[left]}"))
    at_terminal = stderr.is_terminal and not quiet
    with Progress(*columns, console=stderr, transient=True, disable=not at_terminal) as bar:
        task = bar.add_task(name, total=total, left="")

        def advance(trial: "Trial") -> None:
            finished.append(trial)
            effort = sum(one.effort for one in finished)
            left = (perf_counter() - started) * (total / effort - 1)
            progress_text = f"{len(finished)} of {len(todo)} trials, about {_duration(left)} left"
            bar.update(task, completed=effort, description=f"{name}: {trial.method}", left=progress_text)
            if not at_terminal:
                say(f"{name}: {trial.method}, seed {trial.seed} done; {progress_text}", quiet=quiet)

        yield advance


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
