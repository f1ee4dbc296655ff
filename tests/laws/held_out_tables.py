"""Tables with holes, and which of their cells are held out."""

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import BoolArray, FloatArray
from cocomplete.choosing.held_out import (
    Fold,
    folds,
)
from cocomplete.problem.observations import Observations

nan = np.nan


def table(
    rng: np.random.Generator,
    n: int,
    numbers: int,
    yes_no: int,
    labels: int,
    share: float = 0.7,
    rate: float = 0.4,
) -> tuple[Observations, BoolArray]:
    """Numbers, then yes/no features, then labels; and which features are yes/no."""
    X = rng.normal(size=(n, numbers + yes_no))
    X[:, numbers:] = rng.random((n, yes_no)) < rate
    Y = (rng.random((n, labels)) < rate).astype(float)
    X[rng.random(X.shape) > share], Y[rng.random(Y.shape) > share] = nan, nan
    return Observations(X, Y), np.arange(numbers + yes_no) >= numbers


def small_table(seed: int) -> tuple[Observations, BoolArray]:
    rng = np.random.default_rng(seed)
    shape = (int(rng.integers(low, high)) for low, high in ((1, 40), (0, 5), (0, 4), (0, 5)))
    n, numbers, yes_no, labels = shape
    if numbers + yes_no == 0:
        numbers = 1
    return table(rng, n, numbers, yes_no, labels, share=rng.uniform(0.2, 1))


def whole(observed: Observations) -> FloatArray:
    return np.hstack((observed.X, observed.Y))


def mask(fold: Fold, shape: tuple[int, int]) -> BoolArray:
    """Which cells a fold holds out."""
    found = np.zeros(shape, bool)
    found[fold.row, fold.column] = True
    return found


def same_folds(
    observed: Observations,
    yes_no: BoolArray,
    other: Observations,
    other_yes_no: BoolArray,
    row: NDArray[np.intp],
    column: NDArray[np.intp],
) -> bool:
    """Whether ``other``, whose rows and columns are some of ``observed``, has the same cells held out."""
    one, two = folds(observed, yes_no), folds(other, other_yes_no)
    shape = whole(observed).shape
    return len(one) == len(two) and all(
        np.array_equal(mask(a, shape)[np.ix_(row, column)], mask(b, whole(other).shape))
        and mask(a, shape).sum() == b.value.size
        for a, b in zip(one, two, strict=True)
    )
