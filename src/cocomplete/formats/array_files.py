"""NumPy's own files: a matrix of features and one of labels, of which some rows at a time are read."""

import os
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from cocomplete.exceptions import InputError
from cocomplete.formats.guarded import one_sentence

NAME = "NPY"
ENDING = ".npy"
FEATURES, LABELS = "X.npy", "y.npy"
"""In a folder."""


@dataclass(frozen=True)
class ArrayFiles:
    """Matrices in files; the operating system reads the pages of a file that are looked at.

    Attributes
    ----------
    source : str
        The folder or file, as the user calls it.
    X : Path
    y : Path or None
    shapes : tuple of tuple of int
        Of both, as they were found; only the first without labels.
    chosen : tuple of str or None
        The columns that :meth:`read` gives; None for all.
    """

    source: str
    X: Path
    y: Path | None
    shapes: tuple[tuple[int, ...], ...]
    chosen: tuple[str, ...] | None = None

    @classmethod
    def of(cls, source: str, X: Path, y: Path | None) -> "ArrayFiles":
        """Look at the sizes of matrices, not at their cells.

        Raises
        ------
        InputError
            If one cannot be read, holds no numbers, or has another number of rows than the other.
        """
        arrays = [_mapped(file) for file in (X, y) if file is not None]
        shapes = tuple(array.shape for array in arrays)
        if len(shapes[0]) != 2 or 0 in shapes[0]:
            msg = f"{X} has shape {shapes[0]}; a table has rows and columns, some of each"
            raise InputError(msg)
        if y is not None and (len(shapes[1]) not in (1, 2) or shapes[1][0] != shapes[0][0]):
            msg = f"{y} has shape {shapes[1]}, and {X} has {shapes[0]}; both need the same rows"
            raise InputError(msg)
        return cls(source, X.absolute(), None if y is None else y.absolute(), shapes)

    @property
    def height(self) -> int:
        """Number of rows."""
        return self.shapes[0][0]

    @property
    def names(self) -> list[str]:
        """Names of the columns, as an NPZ file without names would have them."""
        return list(self.chosen or (*column_names("X", self.shapes[0]), *self.labels))

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the labels."""
        return tuple(column_names("y", self.shapes[1])) if len(self.shapes) > 1 else ()

    def only(self, names: list[str]) -> "ArrayFiles":
        """Give the same rows with some columns, for :meth:`read`."""
        return replace(self, chosen=tuple(names))

    def arrays(self, first: int, last: int) -> tuple[NDArray[Any], NDArray[Any] | None]:
        """Give some consecutive rows of both matrices, without reading them."""
        X, y = self._rows(self.X, 0, first, last), None
        if self.y is not None:
            y = self._rows(self.y, 1, first, last)
        return X, y

    def read(self, first: int, last: int) -> pl.DataFrame:
        """Give some consecutive rows of both as one frame."""
        columns = []
        for key, array in zip("Xy", self.arrays(first, last), strict=True):
            if array is not None:
                flat = array.reshape(len(array), -1)
                native = flat.astype(flat.dtype.newbyteorder("="), copy=False)
                names = column_names(key, array.shape)
                columns += [pl.Series(name, native[:, j]) for j, name in enumerate(names)]
        return pl.DataFrame(columns).select(self.names)

    def _rows(self, file: Path, which: int, first: int, last: int) -> NDArray[Any]:
        array = _mapped(file)
        if array.shape != self.shapes[which]:
            before = self.shapes[which]
            msg = f"{file} has shape {array.shape}, and had {before} when it was opened; open it again"
            raise InputError(msg)
        return np.asarray(array[first:last])


def column_names(key: str, shape: tuple[int, ...]) -> list[str]:
    """Name the columns of a matrix, or of a vector, as an NPZ file without names would have them."""
    return [key] if len(shape) == 1 else [f"{key} {j + 1}" for j in range(shape[1])]


def _mapped(file: Path) -> NDArray[Any]:
    """Map a matrix of numbers into memory."""
    with one_sentence(f"{file} cannot be read as {NAME}"):
        array: NDArray[Any] = np.load(os.fspath(file), mmap_mode="r", allow_pickle=False)
    if array.dtype.kind not in "biuf":
        msg = f"{file} holds {array.dtype}, which is neither numbers nor truth values; write these as Parquet"
        raise InputError(msg)
    return array
