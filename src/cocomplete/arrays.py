"""Type aliases for the arrays that travel through the project."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
"""A real matrix or vector, float64 or float32; NaN means unknown where its docstring has it so."""

BoolArray = NDArray[np.bool_]
"""A mask."""
