"""Words for yes and no."""

from collections.abc import Iterable

TRUTH_WORDS: tuple[tuple[str, str], ...] = (
    ("no", "yes"),
    ("false", "true"),
    ("n", "y"),
    ("f", "t"),
    ("nein", "ja"),
    ("non", "oui"),
    ("no", "sí"),
    ("no", "si"),
    ("neg", "pos"),
    ("negative", "positive"),
    ("-", "+"),
    ("0", "1"),
    ("0.0", "1.0"),
)
"""Pairs, the word for no first, in lower case."""


def truth_pair(words: Iterable[str]) -> tuple[str, str] | None:
    """Give the pair that all words of a column belong to, as the column spells it; None if there is none.

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
    for pair in TRUTH_WORDS:
        if spelt and set(spelt) <= set(pair):
            no, yes = (spelt.get(word, word) for word in pair)
            return no, yes
    return None
