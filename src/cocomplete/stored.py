"""Tables on disk, read some rows at a time."""

import os
from collections.abc import Iterable
from pathlib import Path

from cocomplete.exceptions import InputError
from cocomplete.formats.array_files import ENDING, FEATURES, LABELS, ArrayFiles
from cocomplete.formats.columns import select
from cocomplete.formats.frame_files import ENDINGS, FrameFiles
from cocomplete.formats.registry import BY_ENDING
from cocomplete.parameter_checks import as_path, listed_words
from cocomplete.table.block_table import BlockRows, BlockTable


class StoredFrames(BlockTable):
    """Features and labels by name, as polars frames.

    Parameters
    ----------
    files : FrameFiles or ArrayFiles
    features, labels : sequence of str
        Columns; the others are not read.
    """

    def __init__(
        self, files: FrameFiles | ArrayFiles, features: Iterable[str], labels: Iterable[str]
    ) -> None:
        self.features, self.labels = list(features), list(labels)
        self.files = files.only([*self.features, *self.labels])

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.files.height, len(self.features) + len(self.labels)

    def read(self, first: int, last: int) -> BlockRows:
        """Give some consecutive rows."""
        frame = self.files.read(first, last)
        return BlockRows(frame.select(self.features), frame.select(self.labels) if self.labels else None)


class StoredArrays(BlockTable):
    """A matrix of features and one of labels, as arrays.

    Parameters
    ----------
    files : ArrayFiles
    """

    def __init__(self, files: ArrayFiles) -> None:
        self.files = files

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and of columns."""
        return self.files.height, len(self.files.names)

    def read(self, first: int, last: int) -> BlockRows:
        """Give some consecutive rows; the operating system reads them when they are looked at."""
        return BlockRows(*self.files.arrays(first, last))


def open(
    path: str | os.PathLike[str],
    *,
    labels: str | Iterable[str] | None = None,
    features: str | Iterable[str] = "*",
    ignore: str | Iterable[str] = (),
    missing: Iterable[str] = (),
) -> BlockTable:
    """Open a table on disk, larger than memory or not, for ``CoCompleter.fit``; no cell is read yet.

    Parameters
    ----------
    path : path
        A folder of Parquet files or of Arrow (Feather) files, whose rows follow each other in the order of
        the files' names; one such file; a matrix of NumPy, ``.npy``; or a folder with ``X.npy`` and, if there
        are labels, ``y.npy``.
    labels : str or iterable of str, optional
        Label columns: names or glob patterns. ``y.npy`` holds labels without this.
    features : str or iterable of str, default="*"
        Feature columns, likewise; those that are labels are none.
    ignore : str or iterable of str, optional
        Columns that are neither, such as names of rows.
    missing : iterable of str
        Words, and numbers such as "-999", for unknown, beside null and NaN. Not of NumPy's files.

    Returns
    -------
    BlockTable
        Some rows at a time: ``table.read(first, last)`` gives them as frames or arrays, ``table.bounds()``
        where blocks begin and end. Pickled, it is the names of files.

    Raises
    ------
    InputError
        If there is no such file or folder, a file is damaged, files have different columns, or no column is
        called what ``labels``, ``features`` or ``ignore`` says.
    """
    files = stored_files(path, missing=missing)
    own_labels: str | Iterable[str] = (
        () if labels is None or (isinstance(labels, str) and not labels) else labels
    )
    given = {"labels": own_labels, "features": features, "ignore": ignore}
    asked = {option: _patterns(option, patterns) for option, patterns in given.items()}
    if isinstance(files, ArrayFiles):
        if asked != {"labels": [], "features": ["*"], "ignore": []}:
            msg = (
                f"columns of {files.source} have no names; labels are {LABELS} in a folder with {FEATURES}, "
                "and all columns take part"
            )
            raise InputError(msg)
        return StoredArrays(files)
    found = {what: select(files.names, patterns, what, files.source) for what, patterns in asked.items()}
    own = [name for name in found["labels"] if name not in set(found["ignore"])]
    left = [name for name in found["features"] if name not in {*own, *found["ignore"]}]
    if not left:
        msg = f"no feature column of {files.source} is left beside labels and ignored ones; one is needed"
        raise InputError(msg)
    return StoredFrames(files, left, own)


def _patterns(option: str, asked: str | Iterable[str]) -> list[str]:
    return list(listed_words(option, asked))


def stored_files(path: str | os.PathLike[str], *, missing: Iterable[str] = ()) -> FrameFiles | ArrayFiles:
    """Find the files of a table.

    Raises
    ------
    InputError
        If there are none, or of several kinds.
    """
    place = as_path("path", path)
    source = str(place)
    if not os.path.exists(place):
        msg = f"{source} does not exist; check the path"
        raise InputError(msg)
    files = [place]
    if place.is_dir():
        files = _files_of(place, source)
    kinds = {_kind(file): file.name for file in files}
    if len(kinds) > 1:
        one, other = list(kinds.values())[:2]
        msg = f"{source} holds {one} and {other}; files of one table are of one kind"
        raise InputError(msg)
    if files[0].suffix.lower() == ENDING:
        if listed_words("missing", missing):
            msg = f"missing: cells of {source} are numbers; make unknown ones NaN"
            raise InputError(msg)
        return _arrays(place, source, files)
    return FrameFiles.of(source, files, listed_words("missing", missing))


def _files_of(folder: Path, source: str) -> list[Path]:
    """Give the table files of a folder by name; what begins with a point or a bar is none."""
    try:
        found = sorted(file for file in folder.iterdir() if file.name[0] not in "._" and file.is_file())
    except OSError as error:
        msg = f"{source} cannot be read: {error.strerror}; check the folder"
        raise InputError(msg) from error
    files = [file for file in found if file.suffix.lower() in {*BY_ENDING, ENDING}]
    if not files:
        msg = f"{source} holds no table; a folder has Parquet files, Arrow files, or {FEATURES} and {LABELS}"
        raise InputError(msg)
    return files


def _kind(file: Path) -> str:
    ending = file.suffix.lower()
    if ending == ENDING:
        return ENDING
    if ending in ENDINGS:
        return ENDINGS[ending]
    msg = f"{file} is read as a whole or not at all; cocomplete convert makes Parquet of it"
    raise InputError(msg)


def _arrays(place: Path, source: str, files: list[Path]) -> ArrayFiles:
    if place not in files:
        names = {file.name: file for file in files}
        if FEATURES not in names or names.keys() - {FEATURES, LABELS}:
            msg = f"{source} holds {files[0].name}; matrices of a folder are called {FEATURES} and {LABELS}"
            raise InputError(msg)
        return ArrayFiles.of(source, names[FEATURES], names.get(LABELS))
    return ArrayFiles.of(source, place, None)
