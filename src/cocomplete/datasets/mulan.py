"""Mulan's multi-label sets: an ARFF table and an XML list of its labels."""

from os import PathLike
from pathlib import Path

import numpy as np
import polars as pl
from sklearn.utils import Bunch

from cocomplete.arrays import FloatArray
from cocomplete.exceptions import InputError
from cocomplete.formats.arff import find_labels, parse
from cocomplete.formats.mulan_xml import read_labels
from cocomplete.parameter_checks import as_path


def load_mulan(path_to_arff: str | PathLike[str], path_to_xml: str | PathLike[str] | None = None) -> Bunch:
    """Read a multi-label data set in Mulan's format.

    Parameters
    ----------
    path_to_arff : path
        The table, dense or sparse; ``?`` is unknown.
    path_to_xml : path, optional
        The list of label names, nested or not. By default the file of the same name that ends in ``.xml``,
        or the one whose name begins it (``birds.xml`` for ``birds-train.arff``).

    Returns
    -------
    Bunch
        ``X`` and ``Y`` (float64, NaN where unknown), ``feature_names``, ``label_names`` (in the XML's order).
        A nominal feature becomes its category's position, in the order the file declares; ``{0, 1}`` keeps
        its values, and words such as ``{no, yes}`` become 0 and 1.

    Raises
    ------
    InputError
        If a file cannot be read or the two do not fit together.
    """
    arff = as_path("path_to_arff", path_to_arff)
    xml = _find_xml(arff) if path_to_xml is None else as_path("path_to_xml", path_to_xml)
    frame = parse(_content(arff), str(arff)).frame
    label_names = read_labels(_content(xml), str(xml))
    values = np.column_stack([_numbers(frame[name], arff) for name in frame.columns])
    position = {name: j for j, name in enumerate(frame.columns)}
    missing = [name for name in label_names if name not in position]
    if missing:
        msg = f"{xml} lists the label {missing[0]!r}, but {arff} has no such attribute"
        raise InputError(msg)
    labels = [position[name] for name in label_names]
    features = [j for j in range(frame.width) if j not in set(labels)]
    Y = values[:, labels]
    bad = ~(np.isnan(Y) | (Y == 0) | (Y == 1))
    if bad.any():
        column = int(np.flatnonzero(bad.any(axis=0))[0])
        found = Y[bad[:, column], column][0]
        msg = f"{arff}: label {label_names[column]!r} holds {found:g}; labels must be 0, 1 or ?"
        raise InputError(msg)
    return Bunch(
        X=values[:, features],
        Y=Y,
        feature_names=[frame.columns[j] for j in features],
        label_names=label_names,
    )


def _find_xml(arff: Path) -> Path:
    found = find_labels(arff)
    if found is not None:
        return found
    msg = f"no list of labels beside {arff}: expected {arff.stem}.xml; give it as path_to_xml"
    raise InputError(msg)


def _content(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise InputError(msg) from error


def _numbers(column: pl.Series, arff: Path) -> FloatArray:
    """Give a column as numbers; a category is its position in the order the file declares."""
    if isinstance(column.dtype, pl.Enum):
        column = column.to_physical()
    if column.dtype in (pl.String, pl.Date) or isinstance(column.dtype, pl.Datetime):
        kind = "STRING" if column.dtype == pl.String else "DATE"
        what = f"attribute {column.name!r} is of type {kind}"
        msg = f"{arff}: {what}; only numbers and nominal attributes can be used"
        raise InputError(msg)
    return column.cast(pl.Float64).to_numpy()
