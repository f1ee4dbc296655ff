"""Heat maps: shades with their numbers, so that no colour has to be read."""

from collections.abc import Sequence

from cocomplete.report.svg.frame import WIDTH, Drawing, Mark, Path, Words, clipped, rectangle, short

SHADES = 5
LEFT, TOP = 118.0, 20.0
ROOM = 15  # pixels that a number of two digits needs


def heat_map(
    alternative: str,
    names: Sequence[str],
    values: Sequence[Sequence[float | None]],
    *,
    percent: bool,
    corner: str = "",
) -> Drawing:
    """Draw a square matrix of shares or counts.

    Parameters
    ----------
    alternative : str
        What it shows, in words.
    names : sequence of str
        Of rows and columns alike; above the columns stand their places.
    values : sequence of sequence of (float or None)
        By row; None is drawn as unknown.
    percent : bool
        Whether values are shares, written as per cent.
    corner : str
        What goes down and what goes across.

    Returns
    -------
    Drawing
        Numbers stand in the cells while there is room for them.
    """
    side = min((WIDTH - LEFT - 2) / max(len(names), 1), 44)
    tall = min(side, 30)
    most = max((value for row in values for value in row if value is not None), default=0.0) or 1.0
    shades = [""] * (SHADES + 1)
    unknown = ""
    # Names stand above the columns where they fit; else their places, which stand beside the rows too.
    fit = all(6.2 * len(name) < side for name in names)
    words: list[Mark] = [Words(LEFT - 6, TOP - 6, corner, anchor="end")] if corner else []
    for down, (name, row) in enumerate(zip(names, values, strict=True)):
        y = TOP + down * tall
        if tall >= 10:
            beside = clipped(name, 18) if fit else f"{clipped(name, 14)} · {down + 1}"
            words.append(Words(LEFT - 6, y + tall / 2 + 4, beside, "name", "end"))
            above = name if fit else str(down + 1)
            words.append(Words(LEFT + (down + 0.5) * side, TOP - 6, above, "tick", "middle"))
        for along, value in enumerate(row):
            x = LEFT + along * side
            box = rectangle(x + 0.5, y + 0.5, side - 1, tall - 1)
            if value is None:
                unknown += box
                continue
            shade = round(SHADES * value / most)
            shades[shade] += box
            if side >= ROOM:
                number = _percent(value) if percent else short(value, 4)
                css = "in-cell" + (" on-dark" if shade >= 4 else "") + (" small" if side < 21 else "")
                words.append(Words(x + side / 2, y + tall / 2 + 4, number, css, "middle"))
    boxes = (Path(f"heat heat-{shade}", commands) for shade, commands in enumerate(shades))
    height = TOP + tall * max(len(names), 1) + 2
    return Drawing(WIDTH, height, alternative, (*boxes, Path("unknown", unknown), *words))


def _percent(share: float) -> str:
    """Give a share as whole per cent: a cell has no room for more."""
    return "<1" if 0 < share < 0.005 else f"{100 * share:.0f}"


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
