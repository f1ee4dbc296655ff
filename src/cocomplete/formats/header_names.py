"""Names of columns, each its own and none empty."""

from collections.abc import Sequence


def own_names(cells: Sequence[str], source: str) -> tuple[list[str], list[str]]:
    """Strip names, number those that are empty and tell duplicates apart.

    Parameters
    ----------
    cells : sequence of str
        The header.
    source : str
        The file's name for notes.

    Returns
    -------
    names : list of str
    notes : list of str
        A sentence for each kind of change.

    Examples
    --------
    >>> own_names([" age ", "", "age"], "t.csv")[0]
    ['age', 'column 2', 'age.1']
    """
    stripped = [cell.strip().strip("\ufeff") for cell in cells]
    taken = {name for name in stripped if name}
    names: list[str] = []
    for position, name in enumerate(stripped, start=1):
        if name and name not in names:
            names.append(name)
            continue
        base, count = (name, 1) if name else (f"column {position}", 0)
        fresh = f"{base}.{count}" if count else base
        while fresh in taken:
            count += 1
            fresh = f"{base}.{count}"
        names.append(fresh)
        taken.add(fresh)
    return names, _notes(list(cells), stripped, names, source)


def _notes(cells: list[str], stripped: list[str], names: list[str], source: str) -> list[str]:
    notes = []
    spaced = [name for cell, name in zip(cells, stripped, strict=True) if name and cell != name]
    if spaced:
        notes.append(f"{source}: spaces around column name(s) {_listed(spaced)} were left out")
    empty = [name for old, name in zip(stripped, names, strict=True) if not old]
    if empty:
        notes.append(f"{source}: column(s) without a name were called {_listed(empty)}")
    twice = [(old, name) for old, name in zip(stripped, names, strict=True) if old and old != name]
    if twice:
        pairs = ", ".join(f"{old!r} became {name!r}" for old, name in twice[:5])
        notes.append(f"{source} has columns of the same name: {pairs}{', …' if len(twice) > 5 else ''}")
    return notes


def _listed(names: list[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", …" if len(names) > 5 else "")
