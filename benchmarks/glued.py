"""Features and labels glued into one table, for rivals that know only one, and observed column statistics."""

import numpy as np

from protocol import Answer


def column_means_of(table: np.ndarray) -> np.ndarray:
    """Give the observed column means; 0 where nothing is observed."""
    known = ~np.isnan(table)
    return np.where(known, table, 0.0).sum(axis=0) / np.maximum(known.sum(axis=0), 1)


def column_spread_of(table: np.ndarray) -> np.ndarray:
    """Give the observed standard deviations of the columns; 1 where there is none."""
    return np.where(is_varied(table), np.sqrt(column_means_of((table - column_means_of(table)) ** 2)), 1.0)


def is_varied(table: np.ndarray) -> np.ndarray:
    """Tell which columns show two values; a variance would be a rounding error above 0 where they do not."""
    return np.fmax.reduce(table) > np.fmin.reduce(table)


class Glued:
    """Features and labels as the columns of one table, for methods that know only one.

    Parameters
    ----------
    X, Y : ndarray of shape (n_samples, n_features) and (n_samples, n_labels)
        NaN where unknown.
    standardise : {"all", "features", "nothing"}
        Which columns are centred and divided by their observed spread.

    Attributes
    ----------
    table : ndarray of shape (n_samples, n_varied)
        Columns that show fewer than two values are left out, because the imputers drop or refuse them;
        :meth:`split` puts them back as their mean.
    """

    def __init__(self, X: np.ndarray, Y: np.ndarray, standardise: str) -> None:
        self._d, self._n_labels = X.shape[1], Y.shape[1]
        whole = np.hstack((X, Y))
        self._means, self._spread = column_means_of(whole), column_spread_of(whole)
        self._offsets = self._means.copy()
        self._varied = is_varied(whole)
        raw = {"all": self._d + self._n_labels, "features": self._d, "nothing": 0}[standardise]
        self._offsets[raw:], self._spread[raw:] = 0.0, 1.0
        self.n_features = int(self._varied[: self._d].sum())
        self.table = self._units(whole)

    def new(self, X_new: np.ndarray) -> np.ndarray:
        """Lay out new rows, whose labels are unknown, like the table."""
        return self._units(np.hstack((X_new, np.full((len(X_new), self._n_labels), np.nan))))

    def parts(self, table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Feature columns and label columns of a table."""
        return table[:, : self.n_features], table[:, self.n_features :]

    def split(self, filled: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Take a filled table apart: features in their own units and label probabilities."""
        whole = np.tile(self._means, (len(filled), 1))
        kept = self._varied
        whole[:, kept] = filled * self._spread[kept] + self._offsets[kept]
        return whole[:, : self._d], np.clip(whole[:, self._d :], 0.0, 1.0)

    def answer(self, filled: np.ndarray, filled_new: np.ndarray | None) -> Answer:
        """Give both tables in the form every rival answers in."""
        X, Y_proba = self.split(filled)
        X_new, Y_proba_new = (None, None) if filled_new is None else self.split(filled_new)
        return Answer(X, Y_proba, Y_proba_new, X_new=X_new)

    def _units(self, whole: np.ndarray) -> np.ndarray:
        return ((whole - self._offsets) / self._spread)[:, self._varied]
