"""``feature_types`` and ``label_types``: kinds that the user gives; other columns are recognised."""

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from cocomplete.exceptions import InputError
from cocomplete.parameter_checks import is_number, shown
from cocomplete.table.containers import DateColumn, RawTable, TextColumn
from cocomplete.table.kinds import Category, Column, Count, Date, Kind, Number, Ordinal, Tags, UnixTime, YesNo
from cocomplete.table.recognise import recognise
from cocomplete.truth_words import truth_pair

FEATURE_TYPES = ("number", "positive", "yes-no", "category", "ordinal", "count", "date")
"""Kinds of features by name. Two numbers in a tuple are bounds, a list is the levels of an ordinal column."""

LABEL_TYPES = ("yes-no", "class", "tags")
"""Kinds of labels by name."""


def feature_kinds(types: Any, raw: RawTable) -> tuple[Kind, ...]:
    """Decide what every feature is.

    Parameters
    ----------
    types : "auto", one of ``FEATURE_TYPES``, a list with one entry per feature, or a dict
        A dict gives the type of some features by name or position; the others are recognised.
    raw : RawTable

    Raises
    ------
    InputError
        If a type or a feature is unknown, or a column holds what its type cannot.
    """
    asked = _asked(types, raw, "feature_types", FEATURE_TYPES)
    return tuple(
        _made(asked[j], column_of(raw, j), raw.label(j))
        if j in asked
        else recognise(column_of(raw, j), raw.label(j))
        for j in range(raw.numbers.shape[1])
    )


def label_kinds(types: Any, raw: RawTable) -> tuple[Any, ...]:
    """Decide what every column of labels is: yes or no, unless classes or tags are asked for.

    Raises
    ------
    InputError
        If a type or a column is unknown, or a column of words is neither yes/no nor said to be anything else.
    """
    asked = _asked(types, raw, "label_types", LABEL_TYPES)
    return tuple(
        _label_kind(asked.get(j, "yes-no"), column_of(raw, j), raw.label(j))
        for j in range(raw.numbers.shape[1])
    )


def column_of(raw: RawTable, j: int) -> Column:
    """Give a column as it was read."""
    return raw.others[j] if j in raw.others else raw.numbers[:, j]


def _asked(types: Any, raw: RawTable, parameter: str, known: tuple[str, ...]) -> dict[int, Any]:
    """Give what the user says, by position; "auto" says nothing."""
    d = raw.numbers.shape[1]
    if isinstance(types, str):
        asked = dict.fromkeys(range(d), types)
    elif isinstance(types, dict):
        asked = {_position(key, raw.names, d, parameter): value for key, value in types.items()}
    elif not isinstance(types, Iterable):
        msg = f"{parameter} must be 'auto', a type, a list or a dict, got {shown(types)}"
        raise InputError(msg)
    else:
        asked = dict(enumerate(_listed(types, parameter)))
        if len(asked) != d:
            table, what = ("X", "feature") if parameter == "feature_types" else ("y", "label")
            msg = f"{parameter} has {len(asked)} entries, but {table} has {d} {what}s; give one per {what}"
            raise InputError(msg)
    for column, kind in asked.items():
        word = isinstance(kind, str)
        if (word and kind not in (*known, "auto")) or not (word or parameter == "feature_types"):
            msg = (
                f"{parameter} must be 'auto' or made of {', '.join(map(repr, known))}, "
                f"got {shown(kind)} for {raw.label(column)}"
            )
            raise InputError(msg)
    return {j: kind for j, kind in asked.items() if not (isinstance(kind, str) and kind == "auto")}


def _listed(types: Iterable[Any], parameter: str) -> list[Any]:
    try:
        return list(types)
    except TypeError:
        # Arrays without a dimension say that they can be gone through, and cannot.
        msg = f"{parameter} must be 'auto', a type, a list or a dict, got {shown(types)}"
        raise InputError(msg) from None


def _position(key: Any, names: tuple[str, ...] | None, count: int, parameter: str) -> int:
    if names is not None and key in names:
        return names.index(key)
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and 0 <= key < count:
        return int(key)
    table, what = ("X", "feature") if parameter == "feature_types" else ("y", "column")
    missing = f"{what} {shown(key)}, which {table} does not have"
    msg = f"{parameter} names {missing}; use a column's name or position"
    raise InputError(msg)


def _made(kind: Any, column: Column, label: str) -> Kind:
    """Make the kind that was asked for, if the column can be of it."""
    if isinstance(kind, tuple):
        return _bounded(kind, column, label)
    if isinstance(kind, list | np.ndarray):
        return _with_levels(list(kind), column, label)
    makers: dict[str, Callable[[], Kind]] = {
        "number": lambda: _number(column, label, "number"),
        "positive": lambda: _bounded((0.0, np.inf), column, label),
        "yes-no": lambda: _yes_no(column, label),
        "category": lambda: _category(column, label),
        "ordinal": lambda: _with_levels(None, column, label),
        "count": lambda: _count(column, label),
        "date": lambda: _date(column, label),
    }
    if not isinstance(kind, str) or kind not in makers:
        msg = (
            f"feature_types must be 'auto' or made of {', '.join(map(repr, FEATURE_TYPES))}, a tuple of two "
            f"bounds or a list of levels, got {shown(kind)} for {label}"
        )
        raise InputError(msg)
    return makers[kind]()


def _values(column: Column, label: str, kind: str) -> Any:
    """Give the known numbers of a column that must hold such."""
    if not isinstance(column, np.ndarray):
        found = [repr(str(value)) for value in column.values[column.known][:1]]
        held = "".join(found) or "words or dates"
        msg = (
            f"feature_types says that {label} is {kind!r}, but it holds {held}; "
            "numbers are needed, or another type"
        )
        raise InputError(msg)
    return column[~np.isnan(column)]


def _number(column: Column, label: str, kind: str) -> Kind:
    _values(column, label, kind)
    return Number()


def _bounded(bounds: tuple[Any, ...], column: Column, label: str) -> Kind:
    if len(bounds) != 2 or not all(is_number(end) for end in bounds) or not bounds[0] < bounds[1]:
        msg = f"feature_types has {shown(bounds)} for {label}; bounds are two numbers, the lower one first"
        raise InputError(msg)
    low, high = map(float, bounds)
    values = _values(column, label, f"between {low:g} and {high:g}")
    outside = values[(values < low) | (values > high)]
    if outside.size:
        msg = (
            f"feature_types says that {label} lies between {low:g} and {high:g}, but it holds "
            f"{outside[0]:g}; correct the cell or the bounds"
        )
        raise InputError(msg)
    return Number(low, high)


def _yes_no(column: Column, label: str) -> Kind:
    if isinstance(column, TextColumn):
        words = sorted(set(column.values[column.known]))
        pair = truth_pair(words)
        if pair is None and len(words) == 2:
            pair = (words[0], words[1])
        if pair is None:
            msg = (
                f"feature_types says that {label} is yes/no, but it holds {len(words)} different words, "
                f"such as {', '.join(map(repr, words[:3]))}; call it a 'category'"
            )
            raise InputError(msg)
        return YesNo(pair)
    values = _values(column, label, "yes-no")
    bad = values[(values != 0) & (values != 1)]
    if bad.size:
        msg = (
            f"feature_types says that {label} is yes/no, but it holds {bad[0]:g}; "
            "recode it to 0 and 1, or call it a 'number'"
        )
        raise InputError(msg)
    return YesNo()


def _category(column: Column, label: str) -> Kind:
    if isinstance(column, DateColumn):
        msg = f"feature_types says that {label} is a category, but it holds dates; call it a 'date'"
        raise InputError(msg)
    return _with_values(column, label, "feature_types")


def _with_values(column: Column, label: str, parameter: str) -> Kind:
    """Make a category, which has to have a value that can be filled in."""
    kind = Category.of(column)
    if not kind.levels:
        word = "class" if parameter == "label_types" else "category"
        msg = (
            f"{parameter} says that {label} is a {word}, but none of its cells is known, so that there is no "
            "value to fill in; leave the column out"
        )
        raise InputError(msg)
    return kind


def _with_levels(levels: list[Any] | None, column: Column, label: str) -> Kind:
    """Make an ordinal kind with levels that are given, declared by the container, or numbers."""
    if isinstance(column, DateColumn):
        msg = f"feature_types says that {label} is ordinal, but it holds dates; call it a 'date'"
        raise InputError(msg)
    if isinstance(column, TextColumn):
        found: set[Any] = set(column.values[column.known])
        if levels is None and column.levels is None:
            msg = (
                f"feature_types says that {label} is ordinal, but not in which order its words stand; "
                f"give them as a list, from the lowest: feature_types={{…: {sorted(found)[:4]!r}}}"
            )
            raise InputError(msg)
        levels = [str(level) for level in (column.levels if levels is None else levels) or ()]
    else:
        found = set(column[~np.isnan(column)].tolist())
        levels = sorted(found) if levels is None else [float(level) for level in levels]
    missing = sorted(found - set(levels))
    if missing or len(set(levels)) < max(len(levels), 1):
        what = f"{label} also holds {missing[0]!r}" if missing else f"{label} would have one twice, or none"
        msg = f"feature_types gives the levels {levels[:6]!r}, but {what}; give every level once"
        raise InputError(msg)
    return Ordinal(tuple(levels))


def _count(column: Column, label: str) -> Kind:
    values = _values(column, label, "count")
    bad = values[(values < 0) | (values != np.round(values))]
    if bad.size:
        msg = (
            f"feature_types says that {label} is a count, but it holds {bad[0]:g}; counts are whole and not "
            "negative: call it a 'number'"
        )
        raise InputError(msg)
    return Count()


def _date(column: Column, label: str) -> Kind:
    if isinstance(column, DateColumn):
        return Date.of(column)
    if isinstance(column, TextColumn):
        msg = (
            f"feature_types says that {label} is a date, but it holds words such as "
            f"{', '.join(map(repr, column.values[column.known][:1]))}; convert it first, with "
            "pandas.to_datetime or polars' str.to_date"
        )
        raise InputError(msg)
    # If these are no Unix times: whatever the user counts, whole where all observed are.
    values = column[~np.isnan(column)]
    return UnixTime.of(column) or Number(step=float((values == np.round(values)).all()))


def _label_kind(kind: str, column: Column, label: str) -> Any:
    if kind == "class" and not isinstance(column, DateColumn):
        return _with_values(column, label, "label_types")
    if kind == "tags" and isinstance(column, TextColumn):
        return Tags.of(column)
    if kind == "yes-no" and isinstance(column, np.ndarray):
        return YesNo()
    if not isinstance(column, TextColumn):
        held = "it holds dates"
        if isinstance(column, np.ndarray):
            held = "no cell is known; leave it out" if np.isnan(column).all() else "it holds numbers"
        msg = f"y: {label} cannot be of type {kind!r}: {held}"
        raise InputError(msg)
    words = sorted(set(column.values[column.known]))
    pair = truth_pair(words)
    if pair is None:
        msg = (
            f"y: {label} must be yes or no, but it holds the words {', '.join(map(repr, words[:4]))}"
            f"{', …' if len(words) > 4 else ''}; label_types={{…: 'class'}} makes a label of every word, "
            "'tags' of every part of a list such as 'rock;live'"
        )
        raise InputError(msg)
    return YesNo(pair)
