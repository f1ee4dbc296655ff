"""What a completer gives back."""

from typing import Any, NamedTuple

from cocomplete.arrays import FloatArray


class Completion(NamedTuple):
    """A completed table.

    Attributes
    ----------
    X : features in the container they came in; observed cells bit-equal, holes filled.
    Y : labels likewise, 0 or 1 in every cell; None if there are no labels.
    Y_proba : ndarray of shape (n_samples, n_labels)
        The model's probability of a 1, for every cell, observed ones included.
    X_std : ndarray of shape (n_samples, n_features) or None
        Standard deviation of each feature's prediction, 0 where it was observed; None if the method gives
        none.
    """

    X: Any
    Y: Any
    Y_proba: FloatArray
    X_std: FloatArray | None


class Reconstruction(NamedTuple):
    """The model's own value in every cell of the training rows; observed cells are not put back.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features)
        X̂, in the user's units; the probability of a 1 for yes/no features.
    Z : ndarray of shape (n_samples, n_labels)
        Ẑ: label scores, whose sigmoid is the probability of a 1.
    """

    X: FloatArray
    Z: FloatArray
