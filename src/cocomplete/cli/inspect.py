"""``cocomplete inspect``: what each column is taken for, and what complete would do; nothing is fitted."""

from json import dumps
from typing import TYPE_CHECKING, Annotated, Any

import typer

from cocomplete.cli import options

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.cli.columns import Choice


def inspect(
    table: Annotated[str, typer.Argument(help="The file to look at; '-' reads CSV from standard input.")],
    labels: options.Labels = None,
    features: options.Features = None,
    ignore: options.Ignore = None,
    types: options.Types = None,
    missing: options.Missing = None,
    separator: options.Separator = None,
    decimal: options.Decimal = None,
    encoding: options.Encoding = None,
    checked: options.Checked = None,
    sheet: options.Sheet = None,
    skip_lines: options.SkipLines = 0,
    *,
    json: options.Json = False,
) -> None:
    """Show what every column of TABLE is taken for and how much of it is unknown.

    Example: cocomplete inspect examples/patients.csv --labels 'hat_*'
    """
    from cocomplete.cli.columns import choose_columns
    from cocomplete.cli.fitting import guarded
    from cocomplete.cli.reading import Reading, read_file, say_notes

    reading = Reading(missing, separator, decimal, encoding, checked, sheet, skip_lines)
    read = read_file(table, reading)
    choice = choose_columns(read, labels=labels, features=features, ignore=ignore, types=types)
    say_notes(read, quiet=json)
    with guarded(table, quiet=False):
        rows = _rows(read.frame, choice)
        need = _need(*choice.tables(read.frame))
    if json:
        found = {"rows": read.frame.height, "columns": rows, "notes": read.notes, "memory": need}
        typer.echo(dumps(found, indent=2))
        return
    _show(rows, read.frame.height)
    if need is not None:
        typer.echo(f"complete needs about {need / 2**30:.1f} GiB of memory beyond the table")


def _need(X: "pl.DataFrame", y: "pl.DataFrame | None") -> int | None:
    """Give the bytes that a fit with the defaults needs; None of a table that is small."""
    from cocomplete.estimator.completer import CoCompleter
    from cocomplete.estimator.memory_forecast import forecast, is_small
    from cocomplete.estimator.settings import Settings

    return None if is_small(X, y) else forecast(Settings.checked(CoCompleter().get_params()), X, y)


def _rows(frame: "pl.DataFrame", choice: "Choice") -> list[dict[str, Any]]:
    """Describe every column: its part, its kind, why, and what is unknown of it."""
    from cocomplete.estimator.tables import UserTables, schemas

    tables = UserTables.read(*choice.tables(frame))
    features, labels = schemas(tables, choice.feature_types or "auto", choice.label_types or "auto")
    kinds = dict(zip(choice.features, features.kinds, strict=True)) | dict(
        zip(choice.labels, labels.kinds, strict=True)
    )
    return [_row(frame[name], kinds.get(name), choice) for name in frame.columns]


def _row(column: "pl.Series", kind: Any, choice: "Choice") -> dict[str, Any]:
    import polars as pl

    from cocomplete.report.reasons import kind_reason

    name = column.name
    unknown = column.null_count() + (int(column.is_nan().sum()) if column.dtype.is_float() else 0)
    if kind is None:
        part, what, why = "carried over", "", choice.set_aside.get(name, "")
    else:
        part = "label" if name in choice.labels else "feature"
        what = {"category": "class"}.get(kind.name, kind.name) if part == "label" else kind.name
        asked = name in choice.feature_types or name in choice.label_types
        order = "the order of the Enum" if column.dtype == pl.Enum else "an order"
        why = "as asked for" if asked else kind_reason(kind, column.drop_nulls().n_unique(), order)
    return {
        "column": name,
        "part": part,
        "kind": what,
        "why": why,
        "unknown": unknown,
        "share_unknown": round(unknown / max(column.len(), 1), 4),
    }


def _show(rows: list[dict[str, Any]], height: int) -> None:
    from rich.console import Console
    from rich.table import Table

    screen = Console(highlight=False, soft_wrap=True)
    table = Table(box=None, title=f"{height} rows, {len(rows)} columns", title_justify="left")
    for heading in ("column", "part", "kind", "unknown", "why"):
        table.add_column(heading, justify="right" if heading == "unknown" else "left", overflow="fold")
    for row in rows:
        share = f"{row['unknown']} ({row['share_unknown']:.0%})"
        table.add_row(*(_plain(row[key]) for key in ("column", "part", "kind")), share, _plain(row["why"]))
    screen.print(table)


def _plain(text: str) -> str:
    from rich.markup import escape

    return escape(text)
