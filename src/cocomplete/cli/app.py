"""The commands. Only typer is imported here, so that ``--help`` answers at once."""

from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from cocomplete.cli.complete import complete
from cocomplete.cli.convert import convert
from cocomplete.cli.demo import demo
from cocomplete.cli.ending import ENDED, code_of, word_for
from cocomplete.cli.evaluate import evaluate
from cocomplete.cli.inspect import inspect
from cocomplete.cli.predict import predict
from cocomplete.cli.report import report
from cocomplete.cli.reproduce import app as reproduce


class _Commands(TyperGroup):
    """Commands that end in a sentence when a signal ends them; typer alone would say nothing."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except ENDED as ended:
            typer.echo(f"cocomplete: {word_for(ended)}; nothing was written", err=True)
            raise typer.Exit(code_of(ended)) from None


app = typer.Typer(
    name="cocomplete",
    cls=_Commands,
    help="Fill the holes in a table's features and its 0/1 labels together.",
    epilog="Exit codes: 0 done, 1 bad data or file, 2 wrong usage, 3 not converged, 130 Ctrl-C, 143 SIGTERM.",
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
