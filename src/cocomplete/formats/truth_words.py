"""Yes and no in the words of a column."""

from collections import Counter
from dataclasses import dataclass

import polars as pl

from cocomplete.truth_words import PAIRS, meaning


@dataclass(frozen=True)
class TruthStyle:
    """The words of a column.

    Attributes
    ----------
    yes, no : str
        As the column spells them most often.
    before, after : str
        Spaces around every cell.
    """

    yes: str
    no: str
    before: str = ""
    after: str = ""

    def write(self, values: pl.Series) -> list[str]:
        """Write truth values, or numbers of which those above a half mean yes."""
        truth = values if values.dtype == pl.Boolean else values.cast(pl.Float64) > 0.5
        return [self.before + (self.yes if value else self.no) + self.after for value in truth]


def read_truth(stripped: pl.Series) -> tuple[pl.Series, TruthStyle] | None:
    """Read a column of words for yes and no; None if it is not one.

    Parameters
    ----------
    stripped : Series of str
        Cells without spaces around them; null is unknown.
    """
    known = stripped.drop_nulls()
    # A column of truth words has few spellings; one look at its head spares most columns the rest.
    if known.head(50).n_unique() > 12:
        return None
    spellings = Counter(known.to_list())
    means = meaning({word.lower() for word in spellings})
    if means is None:
        return None
    values = stripped.str.to_lowercase().replace_strict(means, default=None, return_dtype=pl.Boolean)
    return values, TruthStyle(_spelt(spellings, means, truth=True), _spelt(spellings, means, truth=False))


def _spelt(spellings: Counter[str], means: dict[str, bool], *, truth: bool) -> str:
    """Take the commonest spelling; the opposite of what occurs is spelt in the same case of letters."""
    for word, _ in spellings.most_common():
        if means[word.lower()] == truth:
            return word
    only = spellings.most_common(1)[0][0]
    opposite = next(
        (no if truth is False else yes)
        for yes, no in PAIRS
        if only.lower() in (yes, no) and means[only.lower()] != truth
    )
    if only.isupper():
        return opposite.upper()
    return opposite.capitalize() if only[:1].isupper() else opposite
