"""Where cells are missing: one line per column of the table, rows with alike holes side by side."""

from cocomplete.report.record import HolesMap
from cocomplete.report.svg.frame import Scale, at, chart, path, rectangle

ACROSS = 600  # units along the rows; the page stretches them to the room there is
TALL, FLAT = 20, 4  # pixels of a line with its name beside it, and without
NAMED = 40  # more lines than these stand without names

# Upper ends, in per cent missing, of the shades; none missing is left blank.
SHADES = (25, 50, 75, 99, 100)


def line_height(holes: HolesMap) -> int:
    """Give the height of a line: tall enough for a name while there are few."""
    return TALL if len(holes.columns) <= NAMED else FLAT


def hole_map(holes: HolesMap) -> str:
    """Draw the map of the holes, lying: the table's columns from top to bottom, its rows from left to right.

    Parameters
    ----------
    holes : HolesMap

    Returns
    -------
    str
        An ``svg`` element that the style sheet stretches sideways only; names of columns stand beside it, as text of
        the page.
    """
    height = line_height(holes)
    gap = 2 if height == TALL else 0
    along = Scale(0, sum(holes.rows), 0, ACROSS)
    starts = [sum(holes.rows[:place]) for place in range(len(holes.rows) + 1)]
    marks = dict.fromkeys(SHADES, "")
    track = ""
    for line in range(len(holes.columns)):
        track += rectangle(0, line * height + gap / 2, ACROSS, height - gap)
        shades = [_shade(row[line]) for row in holes.missing]
        begin = 0
        # Neighbours of one shade are one rectangle.
        for end in range(1, len(shades) + 1):
            if end < len(shades) and shades[end] == shades[begin]:
                continue
            if shades[begin]:
                left, right = along(starts[begin]), along(starts[end])
                marks[shades[begin]] += rectangle(left, line * height + gap / 2, right - left, height - gap)
            begin = end
    body = path(track, "track") + "".join(path(marks[shade], f"hole hole-{shade}") for shade in SHADES)
    drawn = chart(ACROSS, height * max(len(holes.columns), 1), f"Map of the holes. {holes.sentence}", body, "hole-map")
    # Only sideways: heights must stay those of the names.
    return drawn.replace(f'width="{at(ACROSS)}" ', 'preserveAspectRatio="none" ', 1)


def _shade(percent: int) -> int:
    return 0 if percent <= 0 else next(end for end in SHADES if percent <= end)
