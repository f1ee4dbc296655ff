"""Mulan's multi-label sets: an ARFF table and an XML list of its labels."""

from os import PathLike
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
from sklearn.utils import Bunch

from cocomplete.exceptions import InputError
from cocomplete.formats.arff import read_arff


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
        its values.

    Raises
    ------
    InputError
        If a file cannot be read or the two do not fit together.
    """
    arff = Path(path_to_arff)
    xml = _find_xml(arff) if path_to_xml is None else Path(path_to_xml)
    table = read_arff(arff)
    label_names = _label_names(xml)
    position = {name: j for j, name in enumerate(table.names)}
    missing = [name for name in label_names if name not in position]
    if missing:
        msg = f"{xml} lists the label {missing[0]!r}, but {arff} has no such attribute"
        raise InputError(msg)
    labels = [position[name] for name in label_names]
    features = [j for j in range(len(table.names)) if j not in set(labels)]
    Y = table.values[:, labels]
    bad = ~(np.isnan(Y) | (Y == 0) | (Y == 1))
    if bad.any():
        column = int(np.flatnonzero(bad.any(axis=0))[0])
        found = Y[bad[:, column], column][0]
        msg = f"{arff}: label {label_names[column]!r} holds {found:g}; labels must be 0, 1 or ?"
        raise InputError(msg)
    return Bunch(
        X=table.values[:, features],
        Y=Y,
        feature_names=[table.names[j] for j in features],
        label_names=label_names,
    )


def _find_xml(arff: Path) -> Path:
    same = arff.with_suffix(".xml")
    if same.exists():
        return same
    shorter = [xml for xml in arff.parent.glob("*.xml") if arff.stem.startswith(xml.stem)]
    if shorter:
        return max(shorter, key=lambda xml: len(xml.stem))
    msg = f"no list of labels beside {arff}: expected {same.name}; give it as path_to_xml"
    raise InputError(msg)


def _label_names(path: Path) -> list[str]:
    try:
        root = ElementTree.parse(path).getroot()
    except OSError as error:
        msg = f"{path} cannot be read: {error.strerror}"
        raise InputError(msg) from error
    except ElementTree.ParseError as error:
        msg = f"{path} is not an XML list of labels: {error}"
        raise InputError(msg) from error
    # Labels may be nested (a hierarchy) and the namespace varies, so only the local name is looked at.
    names = [str(node.get("name")) for node in root.iter() if node.tag.rpartition("}")[2] == "label"]
    if not names:
        msg = f"{path} holds no <label name=…> element; it should list the labels of the ARFF file"
        raise InputError(msg)
    return names
