"""Bars: loadings to both sides of zero, an error beside the trivial answer's, the states of a label."""

from cocomplete.report.record import Factor, Judged, LabelReport
from cocomplete.report.svg.frame import (
    WIDTH,
    Drawing,
    Mark,
    Path,
    Scale,
    Words,
    at,
    clipped,
    rectangle,
    short,
)


def loadings(title: str, factor: Factor) -> Drawing:
    """Draw the largest loadings of a factor, to the right of zero and to the left.

    Parameters
    ----------
    title : str
        Of the factor.
    factor : Factor

    Returns
    -------
    Drawing
        Side and number tell signs apart, not colour.
    """
    line, left = 22, 136
    most = max((abs(one.loading) for one in factor.loadings), default=0.0) or 1.0
    # Numbers stand outside the bars on both sides.
    across = Scale(-most, most, left + 38, WIDTH - 38)
    zero = across(0)
    more = less = ""
    words: list[Mark] = []
    for place, one in enumerate(factor.loadings):
        y, end, plus = place * line, across(one.loading), one.loading >= 0
        words.append(Words(left - 6, y + 15, clipped(one.name, 20), "name", "end"))
        box = rectangle(min(zero, end), y + 4, max(abs(end - zero), 0.6), line - 8)
        more, less = (more + box, less) if plus else (more, less + box)
        away = 5 if plus else -5
        words.append(Words(end + away, y + 15, signed(one.loading), "tick", "start" if plus else "end"))
    height = line * max(len(factor.loadings), 1)
    said = ", ".join(f"{one.name} {signed(one.loading)}" for one in factor.loadings)
    alternative = f"{title}, {short(100 * factor.share, 2)} % of the whole: {said or 'no loadings'}."
    marks = (Path("plus", more), Path("minus", less), Path("axis", f"M{at(zero)} 0V{at(height)}"), *words)
    return Drawing(WIDTH, height, alternative, marks)


def signed(number: float) -> str:
    """Give a number with its sign, minus as a minus."""
    words = short(abs(number), 2)
    return words if words == "0" else f"{'−' if number < 0 else '+'}{words}"


def beside_trivial(judged: Judged) -> Drawing:
    """Draw an error above the trivial answer's: a hatched bar and a plain one, from a common zero."""
    across = Scale(0, max(judged.error, judged.trivial, 1e-12), 0, WIDTH - 4)
    marks = (
        Path("filled-bar", rectangle(1, 2, max(across(judged.error), 1), 15)),
        Path("observed", rectangle(1, 22, max(across(judged.trivial), 1), 9)),
        Path("axis", "M1 0V34"),
    )
    alternative = (
        f"Error of {judged.part}: {short(judged.error)}; of the trivial answer, {judged.trivial_name}: "
        f"{short(judged.trivial)}."
    )
    return Drawing(WIDTH, 34, alternative, marks)


def label_states(label: LabelReport) -> Drawing:
    """Draw the known zeros and ones of a label, as what unknown cells were filled, and its rates."""
    zeros = label.unknown - label.filled_ones
    parts = (
        (label.ones, "observed", "1"),
        (label.filled_ones, "filled-bar", "filled 1"),
        (zeros, "filled-bar pale", "filled 0"),
        (label.zeros, "observed pale", "0"),
    )
    along = Scale(0, max(sum(count for count, _, _ in parts), 1), 1, WIDTH - 1)
    marks: list[Mark] = []
    reached = 0
    for count, css, words in parts:
        start, end = along(reached), along(reached + count)
        if count:
            marks.append(Path(css, rectangle(start, 8, max(end - start, 0.6), 24)))
        # Too narrow a part goes without its words; the caption has the numbers.
        if end - start > 7 * len(words):
            marks.append(Words((start + end) / 2, 47, words, "tick", "middle"))
        reached += count
    before = "unknown" if label.rate_before is None else f"{short(100 * label.rate_before, 2)}\u00a0%"
    after = f"{short(100 * label.rate_after, 2)}\u00a0%"
    alternative = (
        f"{label.name}: {label.ones} known ones, {label.zeros} known zeros; of {label.unknown} unknown cells "
        f"{label.filled_ones} were filled with 1, {zeros} with 0. "
        f"Rate of ones: {before} before, {after} after."
    )
    return Drawing(WIDTH, 146, alternative, (*marks, *_rates(label, before, after)))


def _rates(label: LabelReport, before: str, after: str) -> tuple[Mark, ...]:
    """Draw the rates of ones before and after, from a common zero to all."""
    left, right = 92, WIDTH - 44
    across = Scale(0, 1, 0, right - left)
    known, whole = across(label.rate_before or 0.0), across(label.rate_after)
    return (
        Words(0, 80, "Rate of ones"),
        Words(left - 8, 103, "before", "name", "end"),
        Path("observed", rectangle(left, 93, max(known, 0.6), 12) if label.rate_before is not None else ""),
        Words(left + known + 6, 103, before),
        Words(left - 8, 127, "after", "name", "end"),
        Path("filled-bar", rectangle(left, 117, max(whole, 0.6), 12)),
        Words(left + whole + 6, 127, after, "tick filled-text"),
        Path("axis", f"M{left} 88V134"),
    )


def share_bar(name: str, share: float) -> Drawing:
    """Draw a thin bar of a share, for a cell of a table; its number stands beside it."""
    bar = Path("filled-bar", rectangle(1, 2, max(Scale(0, 1, 0, 58)(share), 1), 8) if share > 0 else "")
    return Drawing(60, 12, f"{name}: {short(100 * share, 2)} %", (bar,), "mini")
