"""Which format a file has, by its ending."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import polars as pl

from cocomplete.exceptions import InputError
from cocomplete.formats import arff, delimited, excel, feather, libsvm, npz, parquet
from cocomplete.formats.table_file import ReadOptions, TableFile


@dataclass(frozen=True)
class Format:
    """A kind of file.

    Attributes
    ----------
    name : str
    endings : tuple of str
    read : callable
        From bytes, the file's name and options to a table.
    encode : callable
        From the table to write, the one that was read and the path to the paths and bytes to write.
    """

    name: str
    endings: tuple[str, ...]
    read: Callable[[bytes, str, ReadOptions], TableFile]
    encode: Callable[[pl.DataFrame, TableFile, str], list[tuple[str, bytes]]]


DELIMITED = Format(delimited.NAME, delimited.ENDINGS, delimited.read, delimited.encode)
LIBSVM = Format(libsvm.NAME, libsvm.ENDINGS, libsvm.read, libsvm.encode)

FORMATS = (
    DELIMITED,
    Format(parquet.NAME, parquet.ENDINGS, parquet.read, parquet.encode),
    Format(feather.NAME, feather.ENDINGS, feather.read, feather.encode),
    Format(excel.NAME, excel.ENDINGS, excel.read, excel.encode),
    Format(arff.NAME, arff.ENDINGS, arff.read, arff.encode),
    LIBSVM,
    Format(npz.NAME, npz.ENDINGS, npz.read, npz.encode),
)

BY_ENDING = {ending: form for form in FORMATS for ending in form.endings}


def format_of(path: str) -> Format:
    """Choose the format by the ending of a path.

    Raises
    ------
    InputError
        If no format has this ending.
    """
    ending = Path(path).suffix.lower()
    if ending in BY_ENDING:
        return BY_ENDING[ending]
    known = ", ".join(BY_ENDING)
    msg = f"{path} ends in {ending or 'nothing'!r}, which is no known kind of table; use one of {known}"
    raise InputError(msg)


def format_to_read(path: str, content: bytes) -> Format:
    """Choose the format of a file that is there: a .txt may be LIBSVM's with a line of sizes."""
    form = format_of(path)
    return LIBSVM if form is DELIMITED and libsvm.looks_like_sizes(content) else form
