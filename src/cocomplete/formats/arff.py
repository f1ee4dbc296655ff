"""ARFF, dense or sparse, as one numeric matrix."""

import re
from pathlib import Path
from typing import NamedTuple

import arff
import numpy as np

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError

NUMERIC = ("NUMERIC", "REAL", "INTEGER")


class ArffTable(NamedTuple):
    """Numbers and attribute names.

    Attributes
    ----------
    values : ndarray of shape (n_rows, n_attributes)
        NaN where the file has ``?``.
    names : list of str
    """

    values: FloatArray
    names: list[str]


def read_arff(path: Path) -> ArffTable:
    """Read an ARFF file whose attributes are numbers or nominal.

    Cells absent from a sparse row are 0 (for a nominal attribute, its first category), as the format defines.

    Raises
    ------
    InputError
        With the file, and the line where the reader knows it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig", errors="surrogateescape")
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise InputError(msg) from error
    if not text.strip():
        msg = f"{path} is empty; an ARFF file begins with @relation"
        raise InputError(msg)
    sparse = _is_sparse(text)
    try:
        content = arff.loads(text, return_type=arff.LOD if sparse else arff.DENSE)
    except arff.ArffException as error:
        msg = f"{path} is not valid ARFF: {error}"
        raise InputError(msg) from error
    attributes: list[tuple[str, str | list[str]]] = content["attributes"]
    codes = [_codes(path, name, kind) for name, kind in attributes]
    absent = [0.0 if code is None else next(iter(code.values())) for code in codes]
    values = np.tile(absent, (len(content["data"]), 1))
    for i, row in enumerate(content["data"]):
        for j, cell in row.items() if sparse else enumerate(row):
            code = codes[j]
            values[i, j] = np.nan if cell is None else cell if code is None else code[cell]
    # The reader leaves the backslash before a quote inside a quoted name.
    return ArffTable(values, [re.sub(r"\\(.)", r"\1", name) for name, _ in attributes])


def _is_sparse(text: str) -> bool:
    """Decide by the first row of data."""
    lines = iter(text.splitlines())
    for line in lines:
        if line.strip().lower() == "@data":
            break
    for line in lines:
        row = line.strip()
        if row and not row.startswith("%"):
            return row.startswith("{")
    return False


def _codes(path: Path, name: str, kind: str | list[str]) -> dict[str, float] | None:
    """Map categories to numbers; None for a numeric attribute."""
    if not isinstance(kind, str):
        try:
            return {category: float(category) for category in kind}
        except ValueError:
            return {category: float(code) for code, category in enumerate(kind)}
    if kind in NUMERIC:
        return None
    msg = f"{path}: attribute {name!r} is of type {kind}; only numbers and nominal attributes can be used"
    raise InputError(msg)
