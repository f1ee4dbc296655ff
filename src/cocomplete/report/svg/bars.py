"""Bars: loadings to both sides of zero, and an error beside the trivial answer's."""

from collections.abc import Sequence

from cocomplete.report.record import Factor, Judged, LabelReport
from cocomplete.report.svg.frame import WIDTH, Scale, at, chart, clipped, path, rectangle, short, text


def loadings(title: str, factor: Factor) -> str:
    """Draw the largest loadings of a factor, to the right of zero and to the left.

    Parameters
    ----------
    title : str
        Of the factor.
    factor : Factor

    Returns
    -------
    str
        An ``svg`` element; side and number tell signs apart, not colour.
    """
    line, left = 22, 136
    most = max((abs(one.loading) for one in factor.loadings), default=0.0) or 1.0
    # Numbers stand outside the bars on both sides.
    across = Scale(-most, most, left + 34, WIDTH - 34)
    zero = across(0)
    more = less = words = ""
    for place, one in enumerate(factor.loadings):
        y, end = place * line, across(one.loading)
        words += text(left - 6, y + 15, clipped(one.name, 20), "name", "end")
        box = rectangle(min(zero, end), y + 4, max(abs(end - zero), 0.6), line - 8)
        sign = one.loading >= 0
        more, less = (more + box, less) if sign else (more, less + box)
        words += text(end + (5 if sign else -5), y + 15, signed(one.loading), "tick", "start" if sign else "end")
    height = line * max(len(factor.loadings), 1)
    body = path(more, "plus") + path(less, "minus") + path(f"M{at(zero)} 0V{at(height)}", "axis") + words
    said = ", ".join(f"{one.name} {signed(one.loading)}" for one in factor.loadings)
    return chart(WIDTH, height, f"{title}, {short(100 * factor.share, 2)} % of the whole: {said or 'none'}.", body)


def signed(number: float) -> str:
    """Give a number with its sign, minus as a minus."""
    words = short(number, 2)
    if words.startswith("-"):
        return f"−{words[1:]}"
    return f"+{words}" if number > 0 else words


def beside_trivial(judged: Judged) -> str:
    """Draw an error above the trivial answer's: a hatched bar and a plain one, from a common zero."""
    across = Scale(0, max(judged.error, judged.trivial, 1e-12), 0, WIDTH - 4)
    ours, theirs = across(judged.error), across(judged.trivial)
    body = (
        path(rectangle(1, 2, max(ours, 1), 15), "filled-bar")
        + path(rectangle(1, 22, max(theirs, 1), 9), "observed")
        + path("M1 0V34", "axis")
    )
    alternative = (
        f"Error of {judged.part}: {short(judged.error)}; of the trivial answer, {judged.trivial_name}: "
        f"{short(judged.trivial)}."
    )
    return chart(WIDTH, 34, alternative, body, "stretch")


def label_states(label: LabelReport) -> str:
    """Draw the known zeros and ones of a label, and as what its unknown cells were filled."""
    unknown_zeros = label.unknown - label.filled_ones
    parts = (
        (label.ones, "observed", "1"),
        (label.filled_ones, "filled-bar", "filled 1"),
        (unknown_zeros, "filled-bar pale", "filled 0"),
        (label.zeros, "observed pale", "0"),
    )
    along = Scale(0, max(sum(count for count, _, _ in parts), 1), 0, WIDTH - 2)
    body, reached = "", 0
    for count, css, words in parts:
        if count:
            start, end = along(reached), along(reached + count)
            body += path(rectangle(1 + start, 1, max(end - start, 0.6), 20), css)
            if end - start > 7 * len(words):
                body += text(1 + (start + end) / 2, 36, words, "tick", "middle")
        reached += count
    alternative = (
        f"{label.name}: {label.ones} known ones, {label.zeros} known zeros; of {label.unknown} unknown cells "
        f"{label.filled_ones} were filled with 1, {unknown_zeros} with 0."
    )
    return chart(WIDTH, 42, alternative, body)


def shares(name: str, values: Sequence[float]) -> str:
    """Draw one thin bar per share, for a cell of a table; its number stands beside it."""
    across = Scale(0, 1, 0, 58)
    body = "".join(path(rectangle(1, 3 + 8 * place, across(share), 6), "filled-bar") for place, share in enumerate(values))
    said = ", ".join(f"{short(100 * share, 2)} %" for share in values)
    return chart(60, 4 + 8 * max(len(values), 1), f"{name}: {said}", body, "mini")
