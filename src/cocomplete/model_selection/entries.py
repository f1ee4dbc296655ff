"""Splitters that hold out observed cells, so that a completion can be judged where the truth is known."""

from collections.abc import Iterator
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray
from cocomplete.exceptions import InputError
from cocomplete.model_selection.checks import check_same_rows, check_shuffle
from cocomplete.parameter_checks import as_float, check_count, is_number, legacy_generator, shown
from cocomplete.table.containers import read_container
from cocomplete.table.refill import hold_out_cells


class EntrySplit(NamedTuple):
    """A table to fit and the held-out cells to be judged on.

    Attributes
    ----------
    X_train, y_train : tables of shape (n_samples, n_features) and (n_samples, n_labels)
        In the container they came in, the held-out cells turned to unknown. ``y_train`` is None if there are
        no labels.
    X_hidden, y_hidden : ndarray of bool, same shapes
        The held-out cells, each of them observed before; what metrics take as ``mask``.
    """

    X_train: Any
    y_train: Any
    X_hidden: BoolArray
    y_hidden: BoolArray | None


class _Deck(NamedTuple):
    """The observed cells of a table, laid out stratum by stratum.

    Attributes
    ----------
    cells : ndarray of int, shape (n_observed,)
        Flat positions in the table.
    strata : ndarray of int, shape (n_observed,)
        Rising. Features are stratified by column; labels by column and value, so that neither the ones
        nor the zeros of a label all go the same way.
    shape : tuple of int
        Of the table.
    """

    cells: NDArray[np.intp]
    strata: NDArray[np.intp]
    shape: tuple[int, ...]

    def mask(self, chosen: BoolArray) -> BoolArray:
        """Mark the chosen cells, given as a mask over the deck, in the table."""
        marked = np.zeros(self.shape, dtype=bool)
        marked.flat[self.cells[chosen]] = True
        return marked


@dataclass(frozen=True)
class EntryKFold:
    """Hold out each observed cell exactly once, over ``n_splits`` splits.

    Feature cells and label cells are dealt out apart, column by column, and a label's ones and zeros apart
    too: a label with at least two ones and two zeros never loses all of either.

    Parameters
    ----------
    n_splits : int, default=5
        At least 2.
    shuffle : bool, default=True
        Deal a column's cells in random order; otherwise by row, each column from one row further on.
    random_state : int, RandomState or None, default=None
        Seed of the order.

    Examples
    --------
    >>> import numpy as np
    >>> X, y = np.arange(6.0).reshape(3, 2), [[1], [0], [None]]
    >>> for split in EntryKFold(2, random_state=0).split_entries(X, y):
    ...     print(split.X_hidden.sum(), split.y_hidden.sum(), np.isnan(split.X_train).sum())
    3 1 3
    3 1 3
    """

    n_splits: int = 5
    _: KW_ONLY
    shuffle: bool = True
    random_state: Any = None

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, least=2)
        check_shuffle(shuffle=self.shuffle, random_state=self.random_state)

    def get_n_splits(self, X: Any = None, y: Any = None) -> int:
        """Return the number of splits; the tables are ignored."""
        return int(self.n_splits)

    def split_entries(self, X: Any, y: Any = None) -> Iterator[EntrySplit]:
        """Yield the splits.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like or DataFrame of shape (n_samples, n_labels), optional

        Yields
        ------
        EntrySplit

        Raises
        ------
        InputError
            If a table has some observed cells, but fewer than splits; or if neither has any.
        """
        rng = legacy_generator("random_state", self.random_state) if self.shuffle else None
        decks = _decks(X, y, rng)
        for name, deck in zip("Xy", decks, strict=False):
            if 0 < len(deck.cells) < self.n_splits:
                msg = (
                    f"{name} has {len(deck.cells)} observed cell(s), too few to hold out some in each of "
                    f"n_splits={self.n_splits} splits; lower n_splits"
                )
                raise InputError(msg)
        for fold in range(self.n_splits):
            # Dealt in turn, stratum after stratum, each of them and the whole are shared to within one cell.
            held = [deck.mask(np.arange(len(deck.cells)) % self.n_splits == fold) for deck in decks]
            yield _split(X, y, held)


@dataclass(frozen=True)
class EntryShuffleSplit:
    """Hold out a random share of the observed cells, anew in each split.

    The share is taken of features and of labels, column by column, and of a label's ones and zeros. At least
    one observed cell of each column stays, and at least one 1 and one 0 of each label that has them.

    Parameters
    ----------
    n_splits : int, default=5
        At least 1.
    test_size : float, default=0.1
        Share of the observed cells to hold out, between 0 and 1.
    random_state : int, RandomState or None, default=None
        Seed of the choice.

    Examples
    --------
    >>> import numpy as np
    >>> splits = EntryShuffleSplit(1, test_size=0.25, random_state=0)
    >>> [split] = splits.split_entries(np.ones((4, 3)))
    >>> int(split.X_hidden.sum())
    3
    """

    n_splits: int = 5
    _: KW_ONLY
    test_size: float = 0.1
    random_state: Any = None

    def __post_init__(self) -> None:
        check_count("n_splits", self.n_splits, least=1)
        legacy_generator("random_state", self.random_state)
        if not is_number(self.test_size) or not 0 < as_float(self.test_size) < 1:
            found = shown(self.test_size)
            msg = f"test_size is a share of the observed cells, between 0 and 1, but is {found}"
            raise InputError(msg)

    def get_n_splits(self, X: Any = None, y: Any = None) -> int:
        """Return the number of splits; the tables are ignored."""
        return int(self.n_splits)

    def split_entries(self, X: Any, y: Any = None) -> Iterator[EntrySplit]:
        """Yield the splits.

        Parameters
        ----------
        X : array-like or DataFrame of shape (n_samples, n_features)
        y : array-like or DataFrame of shape (n_samples, n_labels), optional

        Yields
        ------
        EntrySplit

        Raises
        ------
        InputError
            If a table has some observed cells, but too few to hold any out; or if neither has any.
        """
        rng = legacy_generator("random_state", self.random_state)
        for _ in range(self.n_splits):
            held = []
            for name, deck in zip("Xy", _decks(X, y, rng), strict=False):
                chosen = self._choose(deck, rng)
                n_observed = len(deck.cells)
                if n_observed and (n_observed * self.test_size < 1 or not chosen.any()):
                    msg = (
                        f"{name} has {n_observed} observed cell(s), of which test_size={self.test_size} "
                        "leaves none to hold out; raise test_size"
                    )
                    raise InputError(msg)
                held.append(deck.mask(chosen))
            yield _split(X, y, held)

    def _choose(self, deck: _Deck, rng: np.random.RandomState) -> BoolArray:
        # Evenly spaced from a random start: every cell has the same chance, and each stratum, however
        # small, gives its share to within one cell.
        reached = np.floor(np.arange(len(deck.cells) + 1) * self.test_size + rng.uniform())
        chosen: BoolArray = np.diff(reached) > 0
        _, first, place, counts = np.unique(
            deck.strata, return_index=True, return_inverse=True, return_counts=True
        )
        emptied = np.bincount(place, weights=chosen, minlength=len(counts)) == counts
        chosen[first[emptied]] = False
        return chosen


def _decks(X: Any, y: Any, rng: np.random.RandomState | None) -> list[_Deck]:
    """Lay out the observed cells of X and, if there are labels, of y."""
    features = read_container(X, "X").known
    tables = [(features, np.zeros(features.shape, dtype=bool))]
    if y is not None:
        labels = read_container(y, "y")
        check_same_rows(len(features), len(labels.numbers))
        tables.append((labels.known, labels.numbers == 1))
    decks = []
    for known, side in tables:
        rows, columns = np.nonzero(known)
        strata = 2 * columns + side[rows, columns]
        # Unshuffled, each column starts one row later: a full table would else lose whole rows at once.
        turn = (rows - columns) % len(known) if rng is None else rng.permutation(len(rows))
        order = np.lexsort((turn, strata))
        cells = np.ravel_multi_index((rows[order], columns[order]), known.shape)
        decks.append(_Deck(cells, strata[order], known.shape))
    if not any(deck.cells.size for deck in decks):
        msg = "X and y have no observed cell at all, so there is nothing to hold out"
        raise InputError(msg)
    return decks


def _split(X: Any, y: Any, held: list[BoolArray]) -> EntrySplit:
    X_train = hold_out_cells(X, "X", held[0])
    if y is None:
        return EntrySplit(X_train, None, held[0], None)
    return EntrySplit(X_train, hold_out_cells(y, "y", held[1]), held[0], held[1])
