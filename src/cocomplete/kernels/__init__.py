"""Inner loops over observed cells: compiled, each with a NumPy twin that defines it.

Every kernel is one pass over row blocks and keeps no state. What concerns rows is written in place; what
concerns columns is given as one sum per block, so that the caller adds the blocks up, wherever they ran.

Conventions shared by all: ``bounds`` (n_blocks + 1) cuts the rows into blocks that run in parallel;
features and labels come as two CSR patterns (``x_start``, ``x_column`` and ``y_start``, ``y_column``,
label columns counted after the features); U (n × k) and V (m × k) are the factors, and the model's value
in a cell is t_ij = u_i · v_j. Offsets are a column of V whose partner in U is all ones.
"""

from cocomplete.kernels.averages import cell_moments, gaussians, weighted_sums
from cocomplete.kernels.dense_losses import blend, descend, slopes
from cocomplete.kernels.factored_losses import (
    clear,
    curvature_product,
    diagonal,
    evaluate,
    products,
    spread,
)
from cocomplete.kernels.row_newton import row_step
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
