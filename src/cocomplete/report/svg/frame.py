"""What all charts share: numbers as short text, scales, ticks, and the frame with its text alternative."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from sys import float_info
from typing import Any

WIDTH = 320  # drawn one to one on a phone, so that text in charts is as large as text beside them


def short(number: float, digits: int = 3) -> str:
    """Give a number with so many significant digits, without trailing zeros: for readers and for axes.

    Examples
    --------
    >>> short(0.12345), short(1234.5), short(-0.0), short(12.0), short(1e-9)
    ('0.123', '1230', '0', '12', '1e-9')
    """
    if not math.isfinite(number):
        return "unknown"
    size = abs(number)
    if size == 0:
        return "0"
    if size < 1e-4 or size >= 1e9:
        mantissa, exponent = f"{number:.{digits - 1}e}".split("e")
        return f"{plain(float(mantissa))}e{int(exponent)}"
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    rounded = round(number, digits - 1 - math.floor(math.log10(size)))
    text = plain(rounded, decimals)
    whole, dot, rest = text.partition(".")
    return f"{int(whole):,}".replace(",", "\u202f") + dot + rest if abs(rounded) >= 10_000 else text


def plain(number: float, decimals: int = 6) -> str:
    """Give a number without exponent and trailing zeros."""
    text = f"{number:.{decimals}f}"
    text = text.rstrip("0").rstrip(".") if "." in text else text
    return "0" if text in {"-0", ""} else text


def at(position: float) -> str:
    """Give a coordinate: a tenth of a pixel is enough, and bytes count 500 times."""
    text = f"{position:.1f}".removesuffix(".0")
    if text == "-0":
        return "0"
    return text.replace("0.", ".", 1) if text.startswith(("0.", "-0.")) else text


@dataclass(frozen=True)
class Scale:
    """A linear map from values to pixels that never leaves them.

    Attributes
    ----------
    low, high : float
        Ends of the values; equal ends put everything in the middle.
    start, end : float
        Ends of the pixels.
    """

    low: float
    high: float
    start: float
    end: float

    def __call__(self, value: float) -> float:
        """Give the pixel of a value; values beyond the ends are drawn at the ends."""
        if not self.high > self.low or math.isnan(value):
            return (self.start + self.end) / 2
        # Halves, for the whole range of numbers near the largest there are would be infinite.
        share = (value / 2 - self.low / 2) / (self.high / 2 - self.low / 2)
        share = min(max(share, 0.0), 1.0)
        return self.start + share * (self.end - self.start)


def limits(values: Iterable[float], margin: float = 0.0) -> tuple[float, float]:
    """Give the finite ends of some values, widened by a share of their range; (0, 1) of none."""
    finite = [value for value in values if math.isfinite(value)]
    if not finite:
        return 0.0, 1.0
    low, high = min(finite), max(finite)
    if low == high:
        away = abs(low) / 10 or 1.0
        return low - away, high + away
    away = 2 * margin * (high / 2 - low / 2)
    return max(low - away, -float_info.max), min(high + away, float_info.max)


@dataclass(frozen=True)
class Path:
    """Lines or areas; colours and strokes are the style sheet's."""

    css: str
    commands: str


@dataclass(frozen=True)
class Words:
    """A text at a place; anchor is "start", "middle" or "end"."""

    x: float
    y: float
    words: str
    css: str = "tick"
    anchor: str = "start"


@dataclass(frozen=True)
class Ring:
    """A circle."""

    x: float
    y: float
    radius: float


Mark = Path | Words | Ring


@dataclass(frozen=True)
class Drawing:
    """A chart: marks in a frame, and what is said to readers who cannot see it.

    Attributes
    ----------
    width, height : float
        Size in pixels at which text is as large as the page's.
    alternative : str
        What a reader who cannot see the drawing should hear.
    marks : tuple of Path, Words or Ring
        From back to front.
    css : str
        More classes, for the style sheet.
    """

    width: float
    height: float
    alternative: str
    marks: tuple[Mark, ...]
    css: str = ""

    def svg(self) -> str:
        """Give an ``svg`` element with ``role="img"`` and the text alternative; all words are escaped."""
        # Stretched drawings fill the width there is; their heights stay.
        size = 'preserveAspectRatio="none"' if self.css == STRETCHED else f'width="{at(self.width)}"'
        return (
            f'<svg class="{f"chart {self.css}".strip()}" role="img" aria-label="{escape(self.alternative)}" '
            f'viewBox="0 0 {at(self.width)} {at(self.height)}" {size} height="{at(self.height)}">'
            f"{''.join(map(_element, self.marks))}</svg>"
        )

    def packed(self) -> list[Any]:
        """Give the same as a short list, from which a script draws it when somebody looks."""
        return [
            round(self.width),
            round(self.height),
            self.alternative,
            [_packed(mark) for mark in self.marks],
        ]


STRETCHED = "stretched"


def _element(mark: Mark) -> str:
    match mark:
        case Path(css, commands):
            return f'<path class="{css}" d="{commands}"/>' if commands else ""
        case Ring(x, y, radius):
            return f'<circle class="ring" cx="{at(x)}" cy="{at(y)}" r="{at(radius)}"/>'
        case Words(x, y, words, css, anchor):
            place = f' text-anchor="{anchor}"' if anchor != "start" else ""
            return f'<text x="{at(x)}" y="{at(y)}" class="{css}"{place}>{escape(words)}</text>'


def _packed(mark: Mark) -> list[Any]:
    match mark:
        case Path(css, commands):
            return [css, commands]
        case Ring(x, y, radius):
            return [round(x, 1), round(y, 1), round(radius, 1)]
        case Words(x, y, words, css, anchor):
            return [css, anchor, round(x, 1), round(y, 1), words]


def rectangle(left: float, top: float, width: float, height: float) -> str:
    """Give the commands of a rectangle, so that many share one path."""
    return f"M{at(left)} {at(top)}h{at(width)}v{at(height)}h{at(-width)}z"


def bottom_axis(scale: Scale, y: float, marks: Sequence[float], labels: Sequence[str]) -> tuple[Mark, ...]:
    """Draw a horizontal axis: a hair line, ticks and their words; words that would touch are left out."""
    line = f"M{at(scale.start)} {at(y)}H{at(scale.end)}"
    words: list[Mark] = []
    reached = -math.inf
    for mark, label in zip(marks, labels, strict=True):
        x, half = scale(mark), 3.1 * len(label)
        line += f"M{at(x)} {at(y)}v4"
        # Words at the ends stay inside the drawing.
        centre = min(max(x, half), WIDTH - half)
        if centre - half > reached + 6:
            words.append(Words(centre, y + 15, label, "tick", "middle"))
            reached = centre + half
    return (Path("axis", line), *words)


def side_axis(scale: Scale, x: float, marks: Sequence[float], labels: Sequence[str]) -> tuple[Mark, ...]:
    """Draw a vertical axis at the left, likewise."""
    line = f"M{at(x)} {at(scale.end)}V{at(scale.start)}"
    line += "".join(f"M{at(x)} {at(scale(mark))}h-4" for mark in marks)
    words = (
        Words(x - 7, scale(mark) + 4, word, "tick", "end") for mark, word in zip(marks, labels, strict=True)
    )
    return (Path("axis", line), *words)


def clipped(name: str, characters: int) -> str:
    """Give a name that fits: its beginning and an ellipsis; the whole one stands in the page beside it."""
    return name if len(name) <= characters else name[: max(characters - 1, 1)].rstrip() + "…"
