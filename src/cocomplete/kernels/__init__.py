"""Inner loops over observed cells: compiled, each with a NumPy twin that defines it.

Every kernel is one pass over the rows of a block, on one thread, and keeps no state: it lets other threads
run meanwhile, which visit other blocks. What concerns rows is written in place; what concerns columns is the
sum over the block's rows, so that the caller adds the blocks up, wherever they ran.

A user waits for the compiler when a kernel first meets types that it has not met. So each is called with the
same types and memory layouts from everywhere, its numbers all in one precision; Numba's own threads are not
used, because its analysis for them takes as long again, and assignments of slices to slices are written out
as loops: they come with seconds of code for their error messages. Numbers of a row are ``V[j, c]`` and not
those of a view ``V[j]``, whose references are counted, cell by cell.

Conventions shared by all: features and labels come as two CSR patterns (``x_start``, ``x_column`` and
``y_start``, ``y_column``, label columns counted after the features); U (n × k) and V (m × k) are the factors,
and the model's value in a cell is t_ij = u_i · v_j. Offsets are a column of V whose partner in U is all ones.
"""

from cocomplete.kernels.averages import cell_moments, gaussians, label_integrals, weighted_sums
from cocomplete.kernels.dense_losses import blend, descend, slopes
from cocomplete.kernels.eliminated_rows import eliminated_product, row_factors
from cocomplete.kernels.factored_losses import (
    clear,
    curvature_product,
    diagonal,
    evaluate,
    evaluate_panel,
    products,
    scatter,
    spread,
)
from cocomplete.kernels.row_newton import row_step
from cocomplete.kernels.scores import interpolate
from cocomplete.kernels.trees import boost, grow

__all__ = [
    "blend",
    "boost",
    "cell_moments",
    "clear",
    "curvature_product",
    "descend",
    "diagonal",
    "eliminated_product",
    "evaluate",
    "evaluate_panel",
    "gaussians",
    "grow",
    "interpolate",
    "label_integrals",
    "products",
    "row_factors",
    "row_step",
    "scatter",
    "slopes",
    "spread",
    "weighted_sums",
]
