"""The user's features and labels together: read, matched row by row, and given back."""

import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cocomplete.exceptions import InputError
from cocomplete.problem.observations import Observations
from cocomplete.table.containers import RawTable, Table, read_container
from cocomplete.table.feature_types import feature_kinds, label_kinds
from cocomplete.table.refill import fill_like
from cocomplete.table.schema import Filled, Schema, values_by_column


@dataclass(frozen=True, eq=False)
class UserTables:
    """What a user passes to a method, as it was read.

    Attributes
    ----------
    X, y : the user's containers
    features : RawTable
    labels : RawTable or None
        Rows in the order of the features'.
    order : ndarray of int or None
        Row of ``y`` that belongs to each row of ``X``, where they stand in another order.
    """

    X: Any
    y: Any
    features: RawTable
    labels: RawTable | None
    order: NDArray[np.intp] | None

    @classmethod
    def read(cls, X: Any, y: Any) -> "UserTables":
        """Read both; rows of pandas objects are matched by their index."""
        features = read_container(X, "X")
        if y is None:
            return cls(X, y, features, None, None)
        labels, order = read_container(y, "y"), row_order(X, y)
        if order is not None:
            labels = labels.take(order)
        return cls(X, y, features, labels, order)

    def observations(self, features: Schema, labels: Schema) -> Observations:
        """Encode both, and check them against each other."""
        encoded = features.without_strangers(features.encode(self.features, "X"))
        X = Table(encoded, features.encoded_names)
        if self.labels is None:
            return Observations.checked(X, None)
        Y = Table(labels.encode(self.labels, "y"), labels.encoded_names)
        return Observations.checked(X, Y)

    def warn_of_strangers(
        self, features: Schema, labels: Schema, observed: Observations, *, stacklevel: int
    ) -> None:
        """Warn, once, of words that were not there when the model was fitted.

        Parameters
        ----------
        features, labels : Schema
        observed : Observations
            What :meth:`observations` gives.
        stacklevel : int
            Which caller the warning points to.
        """
        found = self.strangers(features, labels, observed)
        if found:
            msg = (
                "values that were not there when the model was fitted are taken for unknown: "
                f"{values_by_column(found)}"
            )
            warnings.warn(msg, UserWarning, stacklevel=stacklevel)

    def strangers(self, features: Schema, labels: Schema, observed: Observations) -> dict[str, list[Any]]:
        """Give known values that the schemas do not have, sorted, by the name of their column."""
        parts = [("X", features, self.features, observed.X)]
        if self.labels is not None:
            parts.append(("y", labels, self.labels, observed.Y))
        return {
            f"{argument}'s {raw.label(j)}": values
            for argument, schema, raw, encoded in parts
            for j, values in schema.strangers(raw, encoded).items()
        }

    def filled_features(self, filled: Filled) -> Any:
        """Give the features back, filled."""
        return fill_like(self.X, "X", filled.numbers, self.features.known, filled.others)

    def filled_labels(self, filled: Filled) -> Any:
        """Give the labels back, filled, in the order of their own rows."""
        assert self.labels is not None
        known = self.labels.known
        if self.order is not None:
            back = np.argsort(self.order)
            filled = Filled(filled.numbers[back], {j: one[back] for j, one in filled.others.items()})
            known = known[back]
        return fill_like(self.y, "y", filled.numbers, known, filled.others)


def schemas(given: UserTables, feature_types: Any, label_types: Any) -> tuple[Schema, Schema]:
    """Decide what every feature and every label is."""
    features = Schema(feature_kinds(feature_types, given.features), given.features.names)
    if given.labels is None:
        return features, Schema(())
    return features, Schema(label_kinds(label_types, given.labels), given.labels.names)


def row_order(X: Any, y: Any) -> NDArray[np.intp] | None:
    """Give the row of y that belongs to each row of X, by their indexes; None for the order they have.

    Raises
    ------
    InputError
        If the indexes hold different labels, so that no row can be matched with certainty.
    """
    rows, others = getattr(X, "index", None), getattr(y, "index", None)
    if rows is None or others is None or callable(rows) or callable(others) or len(rows) != len(others):
        return None
    if rows.equals(others):
        return None
    if rows.is_unique and others.is_unique:
        order = np.asarray(others.get_indexer(rows))
        if (order >= 0).all():
            return order
    plain = [type(index).__name__ == "RangeIndex" for index in (rows, others)]
    if any(plain):
        one, other = ("X", "y") if plain[0] else ("y", "X")
        warnings.warn(
            f"{one} has no row labels of its own but {other} has: rows of X and y are matched by position; "
            "give both the same index to match them by it",
            UserWarning,
            stacklevel=5,
        )
        return None
    msg = (
        "X and y have different row labels (index), so their rows cannot be matched; give both the same "
        "labels, in any order, or reset both indexes to match rows by position"
    )
    raise InputError(msg)
