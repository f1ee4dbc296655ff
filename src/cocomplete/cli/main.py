"""The ``cocomplete`` command. Only typer is imported here, so that ``--help`` answers at once."""

import sys
from typing import Annotated

import typer

from cocomplete.cli.complete import complete
from cocomplete.cli.convert import convert
from cocomplete.cli.demo import demo
from cocomplete.cli.evaluate import evaluate
from cocomplete.cli.inspect import inspect
from cocomplete.cli.locking import INTERRUPTED
from cocomplete.cli.predict import predict
from cocomplete.cli.report import report
from cocomplete.cli.reproduce import app as reproduce
from cocomplete.exceptions import InputError

app = typer.Typer(
    name="cocomplete",
    help="Fill the holes in a table's features and its 0/1 labels together.",
    epilog="Exit codes: 0 done, 1 bad data or file, 2 wrong usage, 3 not converged, 130 interrupted.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (complete, predict, evaluate, report, inspect, convert, demo):
    app.command()(command)
app.add_typer(reproduce, name="reproduce")


def _show_version(wanted: bool) -> None:  # noqa: FBT001 - typer's callback signature
    if wanted:
        from cocomplete import __version__

        typer.echo(f"cocomplete {__version__}")
        raise typer.Exit


@app.callback()
def root(
    *,
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version."),
    ] = False,
) -> None:
    """Fill the holes in a table's features and its 0/1 labels together."""


def main() -> None:
    """Run the command line; a user's mistake becomes one sentence and exit code 1."""
    try:
        app()
    except InputError as error:
        typer.echo(f"cocomplete: error: {error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        typer.echo("cocomplete: interrupted; nothing was written", err=True)
        sys.exit(INTERRUPTED)
    except BrokenPipeError:
        # The reader of our standard output has gone; that is its right.
        sys.stderr.close()
        sys.exit(0)
