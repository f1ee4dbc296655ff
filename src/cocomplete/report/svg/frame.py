"""What all charts share: numbers as short text, scales, ticks, and the frame with its text alternative."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape

WIDTH = 320  # drawn one to one on a phone, so that text in charts is as large as text beside them


def short(number: float, digits: int = 3) -> str:
    """Give a number with so many significant digits, without trailing zeros: for readers and for axes.

    Examples
    --------
    >>> short(0.12345), short(1234567), short(-0.0), short(12.0), short(1e-9)
    ('0.123', '1 230 000', '0', '12', '1e-9')
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
        if not self.high > self.low:
            return (self.start + self.end) / 2
        share = min(max((value - self.low) / (self.high - self.low), 0.0), 1.0)
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
    away = (high - low) * margin
    return low - away, high + away


def ticks(low: float, high: float, about: int = 4) -> list[float]:
    """Give round numbers between two ends."""
    if not high > low or not math.isfinite(high - low):
        return []
    raw = (high - low) / about
    power = 10.0 ** math.floor(math.log10(raw))
    step = next(times * power for times in (1, 2, 5, 10) if times * power >= raw * 0.999)
    first = math.ceil(low / step - 1e-9)
    last = math.floor(high / step + 1e-9)
    return [count * step for count in range(first, last + 1)]


def text(x: float, y: float, words: str, css: str = "", anchor: str = "") -> str:
    """Draw words, escaped."""
    style = (f' class="{css}"' if css else "") + (f' text-anchor="{anchor}"' if anchor else "")
    return f'<text x="{at(x)}" y="{at(y)}"{style}>{escape(words)}</text>'


def path(commands: str, css: str) -> str:
    """Draw a path; colours and strokes are the style sheet's."""
    return f'<path class="{css}" d="{commands}"/>' if commands else ""


def rectangle(left: float, top: float, width: float, height: float) -> str:
    """Give the commands of a rectangle, so that many share one path."""
    return f"M{at(left)} {at(top)}h{at(width)}v{at(height)}h{at(-width)}z"


def bottom_axis(scale: Scale, y: float, marks: Sequence[float], labels: Sequence[str] = ()) -> str:
    """Draw a horizontal axis: a hair line, ticks and their numbers."""
    line = f"M{at(scale.start)} {at(y)}H{at(scale.end)}"
    line += "".join(f"M{at(scale(mark))} {at(y)}v4" for mark in marks)
    words = labels or [short(mark) for mark in marks]
    return path(line, "axis") + "".join(
        text(scale(mark), y + 15, word, "tick", "middle") for mark, word in zip(marks, words, strict=True)
    )


def clipped(name: str, characters: int) -> str:
    """Give a name that fits: its beginning and an ellipsis; the whole one stands in the page beside it."""
    return name if len(name) <= characters else name[: max(characters - 1, 1)].rstrip() + "…"


def chart(width: float, height: float, alternative: str, body: str, css: str = "") -> str:
    """Wrap a drawing so that a screen reader says one sentence in its place.

    Parameters
    ----------
    width, height : float
        Size in pixels at which text is as large as the page's.
    alternative : str
        What a reader who cannot see the drawing should hear.
    body : str
        Marks.
    css : str
        More classes, for the style sheet.

    Returns
    -------
    str
        An ``svg`` element with ``role="img"``.
    """
    classes = f"chart {css}".strip()
    return (
        f'<svg class="{classes}" role="img" aria-label="{escape(alternative)}" '
        f'viewBox="0 0 {at(width)} {at(height)}" width="{at(width)}" height="{at(height)}">{body}</svg>'
    )
