"""Names of months in the languages that dates in text may have them in."""

import unicodedata
from collections.abc import Collection, Sequence

LANGUAGES = {
    "English": (
        "January February March April May June July August September October November December",
        "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec",
        {"Sept": 9},
    ),
    "German": (
        "Januar Februar März April Mai Juni Juli August September Oktober November Dezember",
        "Jan Feb Mär Apr Mai Jun Jul Aug Sep Okt Nov Dez",
        {"Mrz": 3, "Maerz": 3, "Sept": 9, "Jänner": 1, "Feber": 2},
    ),
    "French": (
        "janvier février mars avril mai juin juillet août septembre octobre novembre décembre",
        "janv févr mars avr mai juin juil août sept oct nov déc",
        {"jan": 1, "fév": 2},
    ),
    "Spanish": (
        "enero febrero marzo abril mayo junio julio agosto septiembre octubre noviembre diciembre",
        "ene feb mar abr may jun jul ago sep oct nov dic",
        {"sept": 9, "setiembre": 9},
    ),
}
"""Long names, short ones, and others that occur, by language; of several that fit a column, the first."""


def language_of(names: Collection[str], languages: Collection[str] = tuple(LANGUAGES)) -> str | None:
    """Find the first of some languages in which all words are names of months; None if there is none.

    Examples
    --------
    >>> language_of(["févr.", "mars"])
    'French'
    """
    plain = {_plain(name) for name in names}
    return next((language for language in languages if plain <= NUMBERS[language].keys()), None)


def month_number(name: str, language: str) -> int:
    """Give the number of a month, from 1 to 12."""
    return NUMBERS[language][_plain(name)]


def names_like(seen: Sequence[str], language: str) -> tuple[str, ...]:
    """Give the twelve names as a column writes those that it holds: long or short, with its letters and dots.

    Parameters
    ----------
    seen : sequence of str
        Names that occur in the column.
    language : str

    Examples
    --------
    >>> names_like(["févr.", "mars"], "French")[:4]
    ('janv.', 'févr.', 'mars', 'avr.')
    """
    long, short = (names.split() for names in LANGUAGES[language][:2])
    is_long = bool({*map(_plain, seen)} & ({*map(_plain, long)} - {*map(_plain, short)}))
    dot = "." if any(name.endswith(".") for name in seen) else ""
    names = (
        long
        if is_long
        else [name if name == whole else name + dot for name, whole in zip(short, long, strict=True)]
    )
    if all(name == name.lower() for name in seen):
        names = [name.lower() for name in names]
    elif all(name == name.upper() for name in seen):
        names = [name.upper() for name in names]
    else:
        names = [name[0].upper() + name[1:] for name in names]
    own = {month_number(name, language): name for name in sorted(seen)}
    return tuple(own.get(number, name) for number, name in enumerate(names, start=1))


def _plain(name: str) -> str:
    """Leave out accents, dots and capitals."""
    letters = unicodedata.normalize("NFKD", name.casefold())
    return "".join(letter for letter in letters if not unicodedata.combining(letter)).rstrip(".")


NUMBERS = {
    language: {
        _plain(name): number for names in (long, short) for number, name in enumerate(names.split(), start=1)
    }
    | {_plain(name): number for name, number in others.items()}
    for language, (long, short, others) in LANGUAGES.items()
}
