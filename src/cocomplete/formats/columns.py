"""Columns of a table by name or pattern."""

import fnmatch
from collections.abc import Iterable

from cocomplete.exceptions import InputError


def select(names: list[str], patterns: Iterable[str], option: str, source: str) -> list[str]:
    """Choose columns by name or glob pattern, in the table's order.

    A pattern may hold several, separated by commas; a column whose name is exactly the pattern wins.

    Raises
    ------
    InputError
        If a pattern matches nothing.
    """
    chosen: set[str] = set()
    for pattern in patterns:
        parts = [pattern] if pattern in names else [part.strip() for part in pattern.split(",")]
        for part in parts:
            found = [part] if part in names else [name for name in names if fnmatch.fnmatchcase(name, part)]
            if not found:
                shown = ", ".join(names[:8]) + (", …" if len(names) > 8 else "")
                msg = f"{option} {part!r} matches no column of {source}; its columns are {shown}"
                raise InputError(msg)
            chosen.update(found)
    return [name for name in names if name in chosen]
