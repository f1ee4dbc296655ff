"""Inner loops over observed cells: compiled, each with a NumPy twin that says what it means.

Every kernel is one pass over row blocks and keeps no state. What concerns rows is written in place; what
concerns columns is given as one sum per block, so that the caller adds the blocks up, wherever they ran.
"""

from cocomplete.kernels.averages import cell_moments, gaussians, weighted_sums
from cocomplete.kernels.compiled import (
    blend,
    clear,
    curvature_product,
    descend,
    diagonal,
    evaluate,
    products,
    row_step,
    slopes,
    spread,
)
from cocomplete.kernels.trees import boost, grow

__all__ = [
    "blend",
    "boost",
    "cell_moments",
    "clear",
    "curvature_product",
    "descend",
    "diagonal",
    "evaluate",
    "gaussians",
    "grow",
    "products",
    "row_step",
    "slopes",
    "spread",
    "weighted_sums",
]
