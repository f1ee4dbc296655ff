"""Where cells are missing: one line per column of the table, rows with alike holes side by side."""

from cocomplete.report.record import HolesMap
from cocomplete.report.svg.frame import STRETCHED, Drawing, Path, at

ACROSS = 600  # units along the rows; the page stretches them to the room there is
TALL, FLAT = 20, 4  # pixels of a line with its name beside it, and without
NAMED = 40  # more lines than these stand without names

# Upper ends, in per cent missing, of the shades; none missing is left blank.
SHADES = (25, 50, 75, 99, 100)


def hole_map(holes: HolesMap) -> Drawing:
    """Draw the map of the holes, lying: the table's columns from top to bottom, its rows from left to right.

    Parameters
    ----------
    holes : HolesMap

    Returns
    -------
    Drawing
        The page stretches it sideways only; names of columns stand beside it, as text of the page.
    """
    tall = len(holes.columns) <= NAMED
    height = TALL if tall else FLAT
    total = max(sum(holes.rows), 1)
    starts = [ACROSS * sum(holes.rows[:place]) / total for place in range(len(holes.rows) + 1)]
    marks = dict.fromkeys(SHADES, "")
    track = ""
    # Thick lines, drawn through the middle: a third of the bytes of rectangles.
    for line in range(len(holes.columns)):
        y = at((line + 0.5) * height)
        track += f"M0 {y}h{ACROSS}"
        shades = [_shade(row[line]) for row in holes.missing]
        begin = 0
        for end in range(1, len(shades) + 1):
            # Neighbours of one shade are one line.
            if end < len(shades) and shades[end] == shades[begin]:
                continue
            if shades[begin]:
                marks[shades[begin]] += f"M{at(starts[begin])} {y}H{at(starts[end])}"
            begin = end
    width = "tall" if tall else "flat"
    lines = (Path(f"hole {width} hole-{shade}", marks[shade]) for shade in SHADES)
    alternative = f"Map of the holes, one line per column. {holes.sentence}"
    return Drawing(
        ACROSS,
        height * max(len(holes.columns), 1),
        alternative,
        (Path(f"track {width}", track), *lines),
        STRETCHED,
    )


def _shade(percent: int) -> int:
    return 0 if percent <= 0 else next(end for end in SHADES if percent <= end)
