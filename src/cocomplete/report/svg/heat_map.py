"""Heat maps: shades with their numbers, so that no colour has to be read."""

from collections.abc import Sequence

from cocomplete.report.svg.frame import WIDTH, chart, clipped, path, rectangle, short, text

SHADES = 5


def heat_map(
    alternative: str,
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    percent: bool,
) -> str:
    """Draw a matrix of shares or counts.

    Parameters
    ----------
    alternative : str
        What it shows, in words.
    rows, columns : sequence of str
        Names; those of the columns are their places, which stand before the names of the rows if both are alike.
    values : sequence of sequence of (float or None)
        By row; None is drawn as unknown.
    percent : bool
        Whether values are shares, written as per cent.

    Returns
    -------
    str
        An ``svg`` element; numbers stand in the cells while there is room for them.
    """
    alike = list(rows) == list(columns)
    left, top = 118.0, 20.0
    side = min((WIDTH - left - 2) / max(len(columns), 1), 44)
    tall = min(side, 30) if len(rows) <= 8 else side
    known = [value for row in values for value in row if value is not None]
    most = max(known, default=0.0) or 1.0
    marks = dict.fromkeys(range(SHADES + 1), "")
    words = unknown = ""
    for down, (name, row) in enumerate(zip(rows, values, strict=True)):
        y = top + down * tall
        title = f"{clipped(name, 13)} {down + 1}" if alike and len(rows) > 3 else clipped(name, 16)
        if tall >= 9:
            words += text(left - 6, y + tall / 2 + 4, title, "name", "end")
        for along, value in enumerate(row):
            x = left + along * side
            box = rectangle(x + 0.5, y + 0.5, side - 1, tall - 1)
            if value is None:
                unknown += box
                continue
            shade = round(SHADES * value / most)
            marks[shade] += box
            if side >= 21 and tall >= 14:
                number = short(100 * value, 2) if percent else short(value, 4)
                words += text(x + side / 2, y + tall / 2 + 4, number, "in-cell" + (" on-dark" if shade >= 4 else ""), "middle")
    for along, name in enumerate(columns):
        heading = str(along + 1) if alike and len(rows) > 3 else clipped(name, max(int(side / 6.5), 2))
        if side >= 11:
            words += text(left + (along + 0.5) * side, top - 6, heading, "tick", "middle")
    height = top + tall * max(len(rows), 1) + 2
    body = "".join(path(marks[shade], f"heat heat-{shade}") for shade in range(SHADES + 1)) + path(unknown, "unknown")
    return chart(max(left + side * len(columns) + 2, WIDTH), height, alternative, body + words)


def strongest(names: Sequence[str], values: Sequence[Sequence[float | None]]) -> str:
    """Say which two are most often 1 together, for the text alternative."""
    pairs = [
        (value, names[one], names[two])
        for one, row in enumerate(values)
        for two, value in enumerate(row[:one])
        if value is not None
    ]
    if not pairs:
        return "no two were ever known together"
    share, one, two = max(pairs)
    return f"most often together are {two} and {one}, in {short(100 * share, 2)} % of the rows"


