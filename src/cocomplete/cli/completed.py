"""What commands that complete have in common: columns put back, cells counted, the last line."""

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.estimator.completer import CoCompleter

PARTS = ("features", "labels")


@dataclass
class Counts:
    """Cells that were unknown, and cells, of features and of labels."""

    filled: list[int] = field(default_factory=lambda: [0, 0])
    cells: list[int] = field(default_factory=lambda: [0, 0])

    def add(self, X: "pl.DataFrame", y: "pl.DataFrame | None") -> None:
        """Count those of some rows, before they are filled."""
        for k, part in enumerate((X, y)):
            if part is not None:
                self.filled[k] += int(part.null_count().sum_horizontal().item()) + _nans(part)
                self.cells[k] += part.height * part.width


def _nans(part: "pl.DataFrame") -> int:
    return sum(int(column.is_nan().sum()) for column in part.get_columns() if column.dtype.is_float())


def with_columns(frame: "pl.DataFrame", done: Any) -> "pl.DataFrame":
    """Put completed columns where they were."""
    for part in (done.X, done.Y):
        if part is not None:
            frame = frame.with_columns(part.get_columns())
    return frame


def with_extras(
    frame: "pl.DataFrame", model: "CoCompleter", done: Any, names: list[str], *, proba: bool, std: bool
) -> "pl.DataFrame":
    """Add probabilities of labels and standard deviations of features.

    Parameters
    ----------
    frame : DataFrame
    model : CoCompleter
    done : Completion
    names : list of str
        The features.
    proba, std : bool
        Which of them.
    """
    import polars as pl

    extra = []
    if proba and model.n_labels_:
        labels = model.encoded_names_[-model.n_labels_ :]
        extra += [pl.Series(f"P({name})", done.Y_proba[:, j].round(6)) for j, name in enumerate(labels)]
    if std:
        extra += [pl.Series(f"std({name})", done.X_std[:, j]) for j, name in enumerate(names)]
    return frame.with_columns(extra)


def conclude(
    model: "CoCompleter", counts: Counts, names: list[str], output: str, *, json: bool, quiet: bool
) -> None:
    """Say what was filled and where it went."""
    from json import dumps

    from cocomplete.cli.console import say

    if json:
        record = {
            "filled": dict(zip(PARTS, counts.filled, strict=True)),
            "cells": dict(zip(PARTS, counts.cells, strict=True)),
            "kinds": dict(zip(names, map(str, model.feature_types_), strict=True)),
            "held_out": {
                part: {name: value for name, value in found.items() if name != "candidates"}
                for part, found in (model.validation_ or {}).items()
                if isinstance(found, dict)
            },
            "output": output,
        }
        typer.echo(dumps(record, indent=2))
    (features, labels), (of_features, of_labels) = counts.filled, counts.cells
    where = "standard output" if output == "-" else output
    say(
        f"filled {features} of {of_features} feature cells and {labels} of {of_labels} label cells; "
        f"written to {where}",
        quiet=quiet,
    )


def name_what_is_set_aside(set_aside: dict[str, str], *, quiet: bool) -> None:
    """Say which columns take no part without having been named."""
    from cocomplete.cli.console import say

    for name, why in set_aside.items():
        if why not in ("as asked for", "not among --features"):
            say(
                f"cocomplete: warning: column {name!r} is set aside ({why}); --types '{name}=…' makes it a "
                "feature, --ignore says that it is none",
                quiet=quiet,
            )
