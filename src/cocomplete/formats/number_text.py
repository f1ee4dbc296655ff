"""Numbers in text: decimal and thousands marks, percent and currency signs, and several kinds of minus."""

from typing import NamedTuple

import polars as pl

from cocomplete.formats.number_style import NumberStyle

SIGNS = r"(?:US|CA|AU|NZ|HK|R)?\$|[€£¥₹₽₩₺₪₫฿₴₦₱¢]"
CODES = (
    "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|RMB|INR|BRL|MXN|SEK|NOK|DKK|PLN|CZK|HUF|RON|RUB|TRY|ZAR|KRW|SGD|HKD"
    "|ILS|Fr\\.|kr|zł|Kč|Ft|lei"
)
SPACES = " \u00a0\u202f\u2009"
"""A space, and those that do not break: no-break, narrow no-break, thin."""

PLAIN = r"^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$|^[+-]?(?i:inf(?:inity)?)$"
AFFIXES = (
    rf"^(?P<open>\()?(?P<sign>[+\-−])?[{SPACES}]?(?P<prefix>(?:{SIGNS}|{CODES})[{SPACES}]?)?(?P<inner>[+\-−])?"
    rf"(?P<body>(?:\d|[.,]\d)[\d.,'’{SPACES}]*?(?:[eE][+\-−]?\d+)?)"
    rf"(?P<suffix>[{SPACES}]?(?:%|‰|{SIGNS}|{CODES}))?(?P<trail>-)?(?P<close>\))?$"
)
MARKS = (
    *((".", ""), (",", ""), (".", ","), (",", ".")),
    *((decimal, thousands) for thousands in (*SPACES, "'", "’") for decimal in (".", ",")),
)


MAX_DIGITS = 40
"""Of a whole number; longer ones are no measurements."""


class NumberScan(NamedTuple):
    """A column whose cells all look like numbers.

    Attributes
    ----------
    parts : DataFrame
        ``open``, ``sign``, ``prefix``, ``inner``, ``body``, ``suffix``, ``trail``, ``close``; null where
        absent.
    marks : list of (decimal, thousands)
        The marks under which every cell is a number, likelier ones first.
    """

    parts: pl.DataFrame
    marks: list[tuple[str, str]]

    @property
    def decimal(self) -> str | None:
        """The decimal mark, if the cells leave no choice and one of them has it."""
        marks = {decimal for decimal, _ in self.marks}
        mark = next(iter(marks)) if len(marks) == 1 else None
        return mark if mark and self.parts["body"].str.contains(mark, literal=True).any() else None

    @property
    def ambiguous(self) -> bool:
        """Whether one mark may be the decimal or the thousands mark."""
        return {(".", ""), (",", ".")} <= set(self.marks) or {(",", ""), (".", ",")} <= set(self.marks)


def scan(stripped: pl.Series) -> NumberScan | None:
    """Look whether a column holds numbers, and under which marks.

    Parameters
    ----------
    stripped : Series of str
        Cells without spaces around them; null is unknown.

    Returns
    -------
    NumberScan or None
        None if a cell is no number, if one begins with a zero that a number would not have (007), or if units
        differ.
    """
    known = stripped.drop_nulls()
    if not known.head(20).str.contains(AFFIXES).all() and not known.head(20).str.contains(PLAIN).all():
        return None
    if known.str.contains(PLAIN).all():
        parts = stripped.str.extract_groups(r"^(?P<sign>[+-])?(?P<body>.*)$").struct.unnest()
        none = pl.lit(None, dtype=pl.String)
        names = ("open", "prefix", "inner", "suffix", "trail", "close")
        parts = parts.with_columns(none.alias(name) for name in names)
    elif known.str.contains(AFFIXES).all():
        parts = stripped.str.extract_groups(AFFIXES).struct.unnest()
    else:
        return None
    bodies = parts["body"].drop_nulls()
    if bodies.str.contains(r"^0\d").any() or not _one_unit(parts):
        return None
    present = {mark for mark in ".," + SPACES + "'’" if bodies.str.contains(mark, literal=True).any()}
    # Under marks that group digits, some must be grouped; a point needs not occur, whole numbers have none.
    likely = [(d, t) for d, t in MARKS if (t in present if t else d in present or d == ".")]
    marks = [pair for pair in likely if bodies.str.contains(_pattern(*pair)).all()]
    return NumberScan(parts, marks) if marks else None


def read(scanned: NumberScan, decimal: str | None, name: str) -> tuple[pl.Series, NumberStyle] | None:
    """Read a scanned column.

    Parameters
    ----------
    scanned : NumberScan
    decimal : str or None
        The mark that the rest of the file uses; where it cannot be this column's, the column's own is taken.
    name : str
        The column's.

    Returns
    -------
    values : Series of Int64 or Float64
    style : NumberStyle
        None instead of both for whole numbers of more digits than either type holds.
    """
    fitting = [pair for pair in scanned.marks if pair[0] == decimal]
    mark, thousands = (fitting or scanned.marks)[0]
    parts = scanned.parts
    body = parts["body"]
    if thousands:
        body = body.str.replace_all(thousands, "", literal=True)
    body = body.str.replace(mark, ".", literal=True).str.replace("−", "-", literal=True)
    negative = (
        parts["sign"].is_in(["-", "−"]).fill_null(value=False)
        | parts["inner"].is_in(["-", "−"]).fill_null(value=False)
        | parts["trail"].is_not_null()
        | (parts["open"].is_not_null() & parts["close"].is_not_null())
    )
    whole = bool(body.drop_nulls().str.contains(r"^\d+$").all())
    values = body.cast(pl.Int64, strict=False) if whole else body.cast(pl.Float64, strict=False)
    if whole and values.null_count() > body.null_count():
        values = body.cast(pl.Float64, strict=False)
        cells = body.drop_nulls().to_list()
        if max(map(len, cells)) > MAX_DIGITS or any(int(float(text)) != int(text) for text in cells):
            return None
    if values.null_count() > body.null_count():
        # Digits of other scripts look like a number to the pattern, but not to the reader.
        return None
    values = pl.select(pl.when(negative).then(-values).otherwise(values)).to_series().rename(name)
    return values, _style(parts, body, negative, mark, thousands)


def _pattern(decimal: str, thousands: str) -> str:
    """Give the pattern of a number without sign and affixes under these marks."""
    point = rf"\{decimal}"
    group = thousands.replace(".", r"\.")
    grouped = rf"[1-9]\d{{0,2}}(?:{group}\d{{3}})+|" if thousands else ""
    infinite = "|(?i:inf(?:inity)?)" if (decimal, thousands) == (".", "") else ""
    return rf"^(?:(?:(?:{grouped}\d+)(?:{point}\d*)?|{point}\d+)(?:[eE][+\-−]?\d+)?{infinite})$"


def _one_unit(parts: pl.DataFrame) -> bool:
    """Tell whether signs agree: all percents or none, one currency, brackets in pairs, one minus a cell."""
    known = parts.filter(pl.col("body").is_not_null())
    suffix = known["suffix"].str.strip_chars()
    percent = suffix.is_in(["%", "‰"]).fill_null(value=False)
    units = pl.concat([known["prefix"].str.strip_chars(), suffix.filter(~percent)]).drop_nulls().n_unique()
    brackets = (known["open"].is_null() == known["close"].is_null()).all()
    marks = known.select(
        pl.sum_horizontal(pl.col(part).is_not_null() for part in ("open", "sign", "inner", "trail"))
    ).to_series()
    both = (known["prefix"].is_not_null() & known["suffix"].is_not_null()).any()
    same = suffix.filter(percent).n_unique() <= 1 and (percent.all() or not percent.any())
    return bool(
        same and units <= 1 and not (percent.any() and units) and brackets and not both and (marks <= 1).all()
    )


def _style(
    parts: pl.DataFrame, body: pl.Series, negative: pl.Series, mark: str, thousands: str
) -> NumberStyle:
    known = body.drop_nulls()
    fractions = known.str.extract(r"\.(\d*)").str.len_chars().fill_null(0)
    decimals = int(fractions.max() or 0)  # type: ignore[arg-type]
    exponents = known.str.extract(r"([eE])")
    scientific = ""
    if exponents.is_not_null().any():
        plus = "+" if known.str.contains(r"[eE][+-]?(?:0\d|\d\d)$|\+").all() else ""
        scientific = str(exponents.drop_nulls()[0]) + plus if exponents.is_not_null().all() else "g"
    figures = known.str.replace(r"[eE].*$", "").str.replace(".", "", literal=True).str.strip_chars_start("0")
    prefix, suffix = _commonest(parts["prefix"]), _commonest(parts["suffix"])
    money = bool(prefix or (suffix and suffix.strip() not in "%‰"))
    if money and 0 < decimals < 2:
        decimals = 2
    return NumberStyle(
        decimal=mark,
        thousands=thousands,
        decimals=decimals,
        fixed=money or bool((fractions == decimals).all()),
        scientific=scientific,
        digits=max(int(figures.str.len_chars().max() or 1), 1),  # type: ignore[arg-type]
        prefix=prefix,
        suffix=suffix,
        negative=_negative(parts.filter(negative & body.is_not_null())),
        plus=bool(parts["sign"].filter(~negative & body.is_not_null() & (body != "0")).eq_missing("+").all())
        and bool((parts["sign"] == "+").any()),
    )


def _commonest(affix: pl.Series) -> str:
    known = affix.drop_nulls()
    return str(known.mode().sort()[0]) if len(known) else ""


def _negative(negative: pl.DataFrame) -> str:
    """Give the shape of negative numbers by the first there is."""
    if negative.height == 0:
        return "-<{}>"
    first = negative.row(0, named=True)
    if first["open"]:
        return "(<{}>)"
    if first["trail"]:
        return "<{}>-"
    return f"<{first['inner']}{{}}>" if first["inner"] else f"{first['sign']}<{{}}>"
