"""Sparse tables as a user passes them: what is allowed with them, and how they are read."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from cocomplete.estimator.settings import Settings
from cocomplete.exceptions import InputError
from cocomplete.problem.sparse_table import SparseTable
from cocomplete.table.containers import read_container
from cocomplete.table.sparse_matrix import SparseMatrix, is_sparse

NUMBER_TYPES, LABEL_TYPES = ("auto", "number"), ("auto", "yes-no")
"""What columns beside, or in, a sparse table may be."""


class SparseInput(NamedTuple):
    """A sparse table of a fit, and what is to be remembered of its containers.

    Attributes
    ----------
    table : SparseTable
    label_names : tuple of str or None
    label_interface : {"array", "matrix"} or None
    flat : bool
        Whether y has one dimension.
    """

    table: SparseTable
    label_names: tuple[str, ...] | None
    label_interface: str | None
    flat: bool

    @classmethod
    def read(cls, X: Any, y: Any, rule: str | None) -> "SparseInput":
        """Read tables of which at least one is sparse.

        Raises
        ------
        InputError
            Without the rule, or where a table holds what it may not.
        """
        features, _ = stored(X, "X", rule)
        labels, names = (None, None) if y is None else stored(y, "y", rule)
        interface = ("array" if isinstance(y, sparse.sparray) else "matrix") if is_sparse(y) else None
        flat = y is not None and not is_sparse(y) and np.ndim(y) == 1
        return cls(SparseTable.checked(features, labels), names, interface, flat)


def stored(data: Any, argument: str, rule: str | None) -> tuple[SparseMatrix, tuple[str, ...] | None]:
    """Read a table, sparse or dense; give the names of its columns too, if it has any."""
    if is_sparse(data):
        if rule is None:
            msg = (
                f"{argument} is a SciPy sparse matrix, in which an absent cell could mean zero or unknown: "
                "set sparse_missing='zero' if cells that are not stored are observed zeros, or "
                "sparse_missing='unknown' if only stored cells were observed"
            )
            raise InputError(msg)
        return SparseMatrix.read(data, argument, rule), None
    raw = read_container(data, argument)
    if raw.others:
        msg = (
            f"{argument}'s {raw.label(next(iter(raw.others)))} holds words or dates; beside a sparse table "
            "every column must hold numbers: encode it, or pass both tables dense"
        )
        raise InputError(msg)
    return SparseMatrix.dense(raw.numbers), raw.names


def check_settings(settings: Settings) -> None:
    """Refuse parameters that a sparse table does not go with.

    Raises
    ------
    InputError
    """
    allowed = {
        "residual_penalty": settings.residual_penalty in ("auto", 0),
        "solver": settings.solver in ("auto", "factored"),
        "feature_types": isinstance(settings.feature_types, str) and settings.feature_types in NUMBER_TYPES,
        "label_types": isinstance(settings.label_types, str) and settings.label_types in LABEL_TYPES,
        "label_policy": not settings.only_ones_recorded,
        "polish": not settings.polish,
        "threshold": not isinstance(settings.threshold, str),
    }
    instead = {
        "residual_penalty": "'auto' or 0",
        "solver": "'auto' or 'factored'",
        "feature_types": "'auto' or 'number'",
        "label_types": "'auto' or 'yes-no'",
        "label_policy": "'observed'",
        "polish": "False",
        "threshold": "numbers",
    }
    for name, right in allowed.items():
        if not right:
            msg = (
                f"{name}={getattr(settings, name)!r} does not go with sparse tables, which take "
                f"{instead[name]}; change it, or pass dense tables"
            )
            raise InputError(msg)
