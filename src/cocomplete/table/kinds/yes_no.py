"""Yes or no: 0 and 1, truth values, or two words."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.table.containers import TextColumn
from cocomplete.table.kinds.kind import Column, Posterior


@dataclass(frozen=True)
class YesNo:
    """A column of which every cell is yes or no, under logistic loss, as labels are.

    Attributes
    ----------
    words : tuple of str or None
        For no and for yes, where the column holds words.
    """

    words: tuple[str, str] | None = None
    name: ClassVar[str] = "yes-no"
    binary: ClassVar[bool] = True

    @property
    def parts(self) -> tuple[str, ...]:
        """One column, whose 1 is yes."""
        return ("",)

    @property
    def codes(self) -> FloatArray | None:
        """No levels."""
        return None

    @property
    def values(self) -> tuple[Any, ...]:
        """No and yes."""
        return (0.0, 1.0) if self.words is None else self.words

    def encode(self, column: Column) -> FloatArray:
        """Take 0 and 1 as they are, words by their meaning; other words are unknown."""
        if isinstance(column, TextColumn):
            meaning = dict(zip(map(_folded, self.values), (0.0, 1.0), strict=True))
            return np.array([[meaning.get(_folded(word), np.nan)] for word in column.values])
        assert isinstance(column, np.ndarray)
        return column[:, None]

    def fill(self, posterior: Posterior) -> NDArray[Any]:
        """Give the likelier of the two."""
        return self.drawn(posterior.mean)

    def expected(self, posterior: Posterior) -> NDArray[Any]:
        """Give the probability of a yes; the likelier word, of words."""
        return posterior.mean[:, 0] if self.words is None else self.fill(posterior)

    def std(self, posterior: Posterior) -> FloatArray:
        """Give the standard deviation of a 0/1 variable with that probability."""
        return posterior.std[:, 0]

    def probabilities(self, posterior: Posterior) -> FloatArray:
        """Give those of no and of yes."""
        p = posterior.mean[:, 0]
        return np.column_stack((1 - p, p))

    def drawn(self, encoded: FloatArray) -> NDArray[Any]:
        """Give 0 and 1, or words, by which side of one half they are."""
        return self.chosen(encoded, np.full(1, 0.5))

    def chosen(self, probability: FloatArray, thresholds: FloatArray) -> NDArray[Any]:
        """Give yes where its probability exceeds a threshold."""
        yes = probability[:, 0] > thresholds[0]
        if self.words is None:
            return np.asarray(yes, np.float64)
        return np.asarray(np.array(self.words, object)[yes.astype(np.intp)])


def _folded(word: Any) -> Any:
    return word.strip().lower() if isinstance(word, str) else word
