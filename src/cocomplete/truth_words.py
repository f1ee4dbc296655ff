"""Words for yes and no."""

from collections.abc import Iterable

PAIRS = (
    ("yes", "no"),
    ("true", "false"),
    ("ja", "nein"),
    ("oui", "non"),
    ("sí", "no"),
    ("si", "no"),
    ("ja", "nee"),
    ("ja", "nej"),
    ("sim", "não"),
    ("positive", "negative"),
    ("pos", "neg"),
    ("y", "n"),
    ("t", "f"),
    ("j", "n"),
    ("+", "-"),
    (".true.", ".false."),
)
"""Words for yes and no, in lower case."""

DIGITS = (("1", "0"), ("1.0", "0.0"))
"""The same in digits that are kept as text."""

ENGLISH = {"yes": True, "true": True, "no": False, "false": False}
"""Words that may stand in one column together."""

ALONE = frozenset(("yes", "no", "true", "false", "ja", "nein", "oui", "non", "sí", ".true.", ".false."))
"""Words that mean yes or no even where the opposite does not occur: a column of f alone may hold anything."""


def meaning(words: set[str]) -> dict[str, bool] | None:
    """Tell what the words of a column mean, if they are words for yes and no.

    Parameters
    ----------
    words : set of str
        In lower case.

    Examples
    --------
    >>> meaning({"ja", "nein"}) == {"ja": True, "nein": False}
    True
    >>> meaning({"f"}) is None
    True
    """
    if not words or len(words) > len(ENGLISH):
        return None
    if words <= set(ENGLISH):
        return ENGLISH
    for yes, no in PAIRS:
        if words <= {yes, no} and (len(words) == 2 or words <= ALONE):
            return {yes: True, no: False}
    return None


def truth_pair(words: Iterable[str]) -> tuple[str, str] | None:
    """Give the words for no and for yes that a column holds, as it spells them; None if it holds others.

    A word of the pair that does not occur is spelt in lower case.

    Examples
    --------
    >>> truth_pair(["Ja", "Nein"])
    ('Nein', 'Ja')
    >>> truth_pair(["yes", "maybe"]) is None
    True
    """
    spelt: dict[str, str] = {}
    for word in sorted(words):
        spelt.setdefault(word.strip().lower(), word)
    for yes, no in (*PAIRS, *DIGITS):
        if spelt and set(spelt) <= {yes, no} and (len(spelt) == 2 or set(spelt) <= ALONE):
            return spelt.get(no, no), spelt.get(yes, yes)
    return None
