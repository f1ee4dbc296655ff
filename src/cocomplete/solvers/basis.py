"""The basis of factors: where they start, and changes of it that leave every cell as it is."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Engine, Reference, Threads
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.cells import Cells
from cocomplete.solvers.packed import pack, unpack
from cocomplete.solvers.row_block import label_scores
from cocomplete.spectral import Census, Pair, SparseSpectrum

MOST_FACTORS, FEW_FACTORS = 32, 8
"""Factors that a fit starts with, at most: half the number of rows or columns if that is less, but for few
columns as many as they can have."""

NOISE_EDGE, SPARE_FACTORS = 0.9, 8
"""A fit starts with the zero-filled table's factors that are longer than this share of what noise alone would
have, and so many more: of what is shorter little survives, and a fit that goes on from it may add some."""

START_LENGTH, OWN_START_LENGTH, OWN_FACTORS = 0.3, 1.0, 8
"""The zero-filled table's factors, brought to scale, are noise for the most part: start shorter. Those of the
0/1 columns alone are found sooner if they are there before the others take their place; there are at most so
many."""


def most_factors(n: int, m: int) -> int:
    """Give the number of factors that a table of some size may have."""
    return min(MOST_FACTORS, -(-n // 2), max(-(-m // 2), min(m - 1, FEW_FACTORS)))


def first_factors(cells: CellBlocks, base: FloatArray) -> FloatArray:
    """Leading right singular vectors of the zero-filled table, to the scale of unit rows."""
    (n, m), d, engine = cells.shape, cells.n_features, cells.engine
    blocks = engine.derive(_from_base, cells.blocks, base=base)
    rank = most_factors(n, m)
    # What 0/1 columns have in common with each other may be nothing that numbers have: it has a start too.
    own = max(min(OWN_FACTORS, m - d - 1, rank // 2), 0) if d else 0
    first = residual_factors(blocks, rank - own, spare=SPARE_FACTORS, engine=engine)
    V = np.zeros((m, 1 + first.shape[1] + own))
    V[:, 1 : 1 + first.shape[1]] = START_LENGTH * first
    if own:
        labels = engine.derive(_labels_alone, blocks)
        of_labels = residual_factors(labels, own, cells.size / (n * m), engine=engine)
        begin = 1 + first.shape[1]
        V[d:, begin : begin + of_labels.shape[1]] = OWN_START_LENGTH * of_labels
    return V


def _from_base(cells: Cells, base: FloatArray) -> Pair:
    """Give what offsets leave of numbers, and of labels on the scale of log-odds."""
    scores = label_scores(cells.y_value, base[cells.y_column].astype(np.float64))
    return cells.matrices((cells.x_value - base[cells.x_column]).astype(np.float64), scores)


def _labels_alone(block: Pair) -> Pair:
    return block[0][:, :0], block[1]


def residual_factors(
    blocks: Sequence[Reference],
    most: int,
    share: float | None = None,
    *,
    spare: int | None = None,
    engine: Engine | None = None,
) -> FloatArray:
    """Leading right singular vectors of a sparse matrix, as loadings of unit rows.

    Parameters
    ----------
    blocks : sequence of pairs of csr_array, or references to them
        Features and labels of consecutive rows.
    most : int
    share : float, optional
        Share of the cells that is stored, which singular values shrink with; counted if not given.
    spare : int, optional
        How many are kept of those that noise may have made; all if not given.
    engine : Engine, optional
        Where the blocks are, if they are references.
    """
    engine = Threads() if engine is None else engine
    census = Census.of(blocks, engine)
    spectrum = SparseSpectrum(blocks, 0.0, engine, census)
    n, m = census.rows, census.columns
    if share is None:
        share = census.stored / max(n * m, 1)
    s, vectors = spectrum.above(0.0, most)
    if spare is not None:
        # Independent entries of the same size have a largest singular value of this, whatever their law.
        edge = np.sqrt(census.squares) * (1 / np.sqrt(max(n, 1)) + 1 / np.sqrt(max(m, 1)))
        count = int(np.count_nonzero(s > NOISE_EDGE * edge)) + spare
        s, vectors = s[:count], vectors[:, :count]
    return np.asarray(vectors * s / (max(share, 1e-6) * np.sqrt(max(n, 1))))


def whitening(spread: FloatArray) -> FloatArray:
    """Basis in which rows' factors have mean zero and unit second moments; symmetric, so least is turned."""
    width = len(spread)
    B = np.eye(width)
    if width > 1:
        mean = spread[0, 1:]
        values, vectors = np.linalg.eigh(spread[1:, 1:] - np.outer(mean, mean))
        root = np.sqrt(np.maximum(values, 1e-12 * values[-1]))
        B[1:, 1:] = (vectors * root) @ vectors.T
        # u ← B⁻¹ u takes the mean out where B's first column puts it into the offsets.
        B[1:, 0] = mean
    return B


def rotation(columns: FloatArray, sizes: NDArray[np.intp]) -> FloatArray:
    """Turn of the factors that makes the columns' second moments diagonal, groups weighed by their number."""
    R = np.eye(columns.shape[-1])
    if len(R) > 1:
        own = columns[:, 1:, 1:]
        trace = own.trace(axis1=1, axis2=2)
        weight = np.divide(sizes, trace, out=np.zeros(len(sizes)), where=trace > 0)
        R[1:, 1:] = np.linalg.eigh(np.tensordot(weight, own, 1))[1][:, ::-1]
    return R


def congruent(packed: FloatArray, T: FloatArray, width: int) -> FloatArray:
    """T E Tᵀ of a stack of packed symmetric matrices, as two large products."""
    half = unpack(packed, width).reshape(-1, width) @ T.T
    half = half.reshape(-1, width, width).swapaxes(1, 2).reshape(-1, width)
    return pack((half @ T.T).reshape(-1, width, width))
