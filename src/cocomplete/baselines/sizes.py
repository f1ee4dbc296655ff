"""How large numbers may be for methods that multiply them with each other as they are."""

from typing import Any

import numpy as np

from cocomplete.exceptions import InputError

LARGEST, LARGEST_SINGLE = 1e100, 1e12
"""Of double and of single precision: products of three are still numbers."""


def check_sizes(X: Any) -> None:
    """Refuse numbers whose products are none.

    Raises
    ------
    InputError
    """
    known = np.abs(X[~np.isnan(X)])
    limit = LARGEST_SINGLE if X.dtype.itemsize == 4 else LARGEST
    if known.size and known.max() > limit:
        msg = (
            f"X holds {known.max():g}, but this method multiplies numbers as they are and takes them up to "
            f"{limit:g}; use other units"
        )
        raise InputError(msg)
