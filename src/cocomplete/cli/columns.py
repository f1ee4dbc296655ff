"""Which columns of a file are features, which are labels, and what each is."""

from collections.abc import Collection
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from cocomplete.exceptions import InputError

if TYPE_CHECKING:
    import polars as pl

    from cocomplete.formats.table_file import TableFile

MOSTLY = 0.5
"""Share of a column's cells that must be numbers for the others to be errors."""

FEWEST_NAMES = 5
"""Rows from which on a different word in each of them is its name."""

WHOLE_COLUMN = "*"
"""After a label column and an equals sign: one label for each of its values."""


@dataclass(frozen=True)
class Choice:
    """The columns of a file that a command works with.

    Attributes
    ----------
    features, labels : tuple of str
    feature_types, label_types : dict
        Kinds that the user gives for some of them.
    set_aside : dict
        Columns that are carried over, and why.
    """

    features: tuple[str, ...]
    labels: tuple[str, ...]
    feature_types: dict[str, Any] = field(default_factory=dict)
    label_types: dict[str, str] = field(default_factory=dict)
    set_aside: dict[str, str] = field(default_factory=dict)

    def tables(self, frame: "pl.DataFrame") -> "tuple[pl.DataFrame, pl.DataFrame | None]":
        """Give features and labels; None for labels where there are none."""
        return frame.select(self.features), frame.select(self.labels) if self.labels else None


def choose_columns(
    table: "TableFile",
    *,
    labels: list[str] | None = None,
    features: list[str] | None = None,
    ignore: list[str] | None = None,
    types: list[str] | None = None,
) -> Choice:
    """Find features and labels by what was asked for; what looks like a row's name is set aside.

    Raises
    ------
    InputError
        If a pattern matches nothing, or no feature is left.
    """
    from cocomplete.formats.columns import select

    names, source = table.frame.columns, table.source
    label_types = dict(_label_type(spec) for spec in labels or () if _is_spec(spec, names))
    patterns = [spec.split("=")[0] if _is_spec(spec, names) else spec for spec in labels or ()]
    kinds = dict(_feature_type(spec, names, source) for spec in types or ())
    set_aside = dict.fromkeys(select(names, ignore or (), "--ignore", source), "as asked for")
    chosen = table.labels or () if labels is None else select(names, patterns, "--labels", source)
    own = [name for name in chosen if name not in set_aside]
    wanted = select(names, features, "--features", source) if features else names
    left = [name for name in wanted if name not in set_aside and name not in own]
    if features:
        set_aside |= {name: "not among --features" for name in names if name not in {*wanted, *own}}
    else:
        _check_numbers(table, [name for name in left if name not in kinds])
        found = {name: _row_name(table.frame[name]) for name in left if name not in kinds}
        set_aside |= {name: why for name, why in found.items() if why is not None}
    left = [name for name in left if name not in set_aside]
    if not left:
        msg = f"no feature column of {source} is left beside labels and columns set aside; one is needed"
        raise InputError(msg)
    return Choice(tuple(left), tuple(own), kinds, label_types, set_aside)


def row_names(frame: "pl.DataFrame", used: Collection[str]) -> list[str] | None:
    """Give the names of the rows by the first unused column that names or numbers them; None without one."""
    for name in frame.columns:
        if name not in used and frame[name].null_count() == 0 and _row_name(frame[name]) is not None:
            return [str(value) for value in frame[name]]
    return None


def _is_spec(spec: str, names: list[str]) -> bool:
    """Whether a label is given with what its column holds."""
    return spec not in names and spec.count("=") == 1 and spec.split("=", maxsplit=1)[0] in names


def _label_type(spec: str) -> tuple[str, str]:
    name, what = spec.split("=")
    return name, "class" if what == WHOLE_COLUMN else "tags"


def _feature_type(spec: str, names: list[str], source: str) -> tuple[str, Any]:
    """Read COLUMN=KIND; the column's own name may hold an equals sign."""
    name, mark, kind = spec.rpartition("=")
    if not mark or name not in names:
        msg = f"--types {spec!r} names no column of {source}; write COLUMN=KIND, such as {names[0]}=category"
        raise InputError(msg)
    if ".." in kind:
        try:
            low, high = kind.split("..")
            return name, (float(low or "-inf"), float(high or "inf"))
        except ValueError:
            msg = f"--types {spec!r}: bounds are two numbers, such as 0..10, or one, such as 0.."
            raise InputError(msg) from None
    if "<" in kind:
        return name, [level.strip() for level in kind.split("<")]
    return name, kind


def _check_numbers(table: "TableFile", names: list[str]) -> None:
    """Refuse a column of numbers with a word in it: as a category it would be of no use.

    Raises
    ------
    InputError
    """
    import polars as pl

    for name in names:
        column = table.frame[name]
        if column.dtype != pl.String:
            continue
        is_number = column.str.strip_chars().cast(pl.Float64, strict=False).is_not_null()
        if is_number.sum() < MOSTLY * (column.len() - column.null_count()):
            continue
        row = int((column.is_not_null() & ~is_number).arg_max() or 0)
        where = f"line {table.layout.lines[row]}" if len(table.layout.lines) > row else f"row {row + 1}"
        word = column[row]
        msg = (
            f"{table.source}: column {name!r} holds numbers, but {where} holds {word!r}; correct the cell, "
            f"say --missing '{word}' if it means unknown, or --types '{name}=category' if words are meant"
        )
        if not is_number.all():
            raise InputError(msg)


def _row_name(column: "pl.Series") -> str | None:
    """Tell why a column seems to name or number its rows; None if it does not."""
    import polars as pl

    known = column.drop_nulls()
    if known.len() < FEWEST_NAMES or known.n_unique() < known.len():
        if column.dtype == pl.String:
            from cocomplete.table.containers import TextColumn
            from cocomplete.table.recognise import is_free_text

            if is_free_text(TextColumn(column.to_numpy())):
                return "free text"
        return None
    if column.dtype == pl.String:
        return "a different word in every row"
    if column.dtype.is_integer() and known.len() == column.len():
        steps = known.diff().drop_nulls().unique()
        if steps.len() == 1 and steps[0] in (1, -1):
            return "it numbers the rows"
        if "id" in column.name.lower().replace("_", " ").replace("-", " ").split():
            return "a different number in every row, called an id"
    return None
