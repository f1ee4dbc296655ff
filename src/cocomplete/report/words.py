"""Numbers as readers of the page meet them; no line ends between a number and its per cent."""

from collections.abc import Sequence

from cocomplete.report.record import Compared, Judged
from cocomplete.report.svg.frame import short

COMPARED: dict[Compared, tuple[str, str]] = {
    "better": ("✓", "better than"),
    "level": ("≈", "no better than"),
    "worse": ("✗", "worse than"),
}
"""A sign and words: colour says nothing here."""
OFF = "off by, in "


def percent(share: float | None, digits: int = 2) -> str:
    r"""Give a share as per cent; what rounds to all or nothing but is neither says so.

    Examples
    --------
    >>> [text.replace("\u00a0", " ") for text in map(percent, (0.1234, 1.0, 0.9999, 0.0001, None))]
    ['12 %', '100 %', 'over 99 %', 'under 1 %', 'unknown']
    """
    if share is None:
        return "unknown"
    if 0 < share < 0.005:
        return "under 1\u00a0%"
    if 0.995 <= share < 1:
        return "over 99\u00a0%"
    return f"{short(100 * share, digits)}\u00a0%"


def judged_parts(judged: Sequence[Judged]) -> dict[str, list[Judged]]:
    """Put the measures of a part together, in the order in which they come."""
    parts: dict[str, list[Judged]] = {}
    for one in judged:
        parts.setdefault(one.part, []).append(one)
    return parts


def headline(judged: Sequence[Judged]) -> str:
    """Say in one sentence where fills are better than the trivial answer, and where not.

    A part that is worse by any of its measures is called worse; else its first one decides, which is shown
    largest.
    """
    groups: dict[Compared, list[str]] = {"better": [], "level": [], "worse": []}
    for part, measures in judged_parts(judged).items():
        worse = any(one.compared == "worse" for one in measures)
        groups["worse" if worse else measures[0].compared].append(part)
    said: list[str] = []
    for compared, parts in groups.items():
        if parts:
            words = COMPARED[compared][1]
            said.append(f"{_listed(parts)} {words.removesuffix(' than')}" if said else _opening(parts, words))
    return f"{'; '.join(said)}." if said else ""


def _opening(parts: list[str], words: str) -> str:
    return f"{_listed(parts).capitalize()} were filled {words} by the trivial answer"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def count(number: int) -> str:
    """Give a whole number, its thousands apart."""
    return f"{number:,}".replace(",", "\u202f")


def counted(number: int, one: str, many: str = "") -> str:
    """Give a number with its noun: 1 cell, 2 cells."""
    return f"{count(number)} {one if number == 1 else many or one + 's'}"


def error_text(measure: str, error: float) -> str:
    """Give an error with its unit: "0.61 standard deviations off", "12 % wrong" or "0.30 log-loss".

    Examples
    --------
    >>> error_text("off by, in standard deviations", 0.613), error_text("log-loss", 0.3)
    ('0.61 standard deviations off', '0.30 log-loss')
    """
    number, unit = error_parts(measure, error)
    return f"{number} {unit}"


def error_parts(measure: str, error: float) -> tuple[str, str]:
    """Give an error's number and its unit apart, so that the page can set one larger."""
    if measure == "share wrong":
        return f"{short(100 * error, 2)}\u00a0%", "wrong"
    if measure.startswith(OFF):
        return f"{error:.2f}", f"{measure.removeprefix(OFF)} off"
    return f"{error:.2f}", measure
