"""The dual matrix of :mod:`.certificate`, which has the mathematics, in row blocks wherever these are."""

from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from scipy.special import entr

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Reference
from cocomplete.kernels import products
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.cells import Cells
from cocomplete.spectral import Census, Pair, SparseSpectrum

SCALES = 16
"""How many scalings of a dual matrix are looked at in one pass over the blocks."""


class DualRows(NamedTuple):
    """Some rows of a dual matrix G = [A, S] on Ω, in the order of the cells."""

    features: FloatArray
    labels: FloatArray


class Balance(NamedTuple):
    """What makes every column sum to zero.

    Attributes
    ----------
    mean : ndarray of shape (n_features + n_labels,)
        That features lose; zero for labels.
    up, down : ndarray, likewise
        By what positive and negative slopes of labels are multiplied.
    """

    mean: FloatArray
    up: FloatArray
    down: FloatArray


@dataclass(frozen=True, eq=False)
class BlockDual:
    """A candidate G in blocks, where λ2 = 0 or λ2 ≥ λ1.

    Attributes
    ----------
    cells : CellBlocks
    rows : list
        References to :class:`DualRows`.
    counts : ndarray of shape (n_features + n_labels,)
        Observed cells of every column.
    squared : bool
        Whether features are answered by the squared loss; otherwise by the constraints.
    """

    cells: CellBlocks
    rows: list[Reference]
    counts: FloatArray
    squared: bool

    def balanced(self) -> "BlockDual":
        """Make every column sum to zero, as free offsets demand: see :meth:`DualPoint.balanced`."""
        engine = self.cells.engine
        positive, negative = reduce(np.add, engine.collect(_sides, self.cells.blocks, self.rows))
        d = self.cells.n_features
        mean = np.where(np.arange(len(self.counts)) < d, positive / np.maximum(self.counts, 1), 0)
        lighter = np.minimum(positive, negative)
        up, down = (
            np.divide(lighter, side, out=np.zeros_like(side), where=side > 0) for side in (positive, negative)
        )
        balance = Balance(mean, up, down)
        return replace(self, rows=engine.derive(_balanced, self.cells.blocks, self.rows, balance=balance))

    def spectrum(self, floor: float) -> SparseSpectrum:
        """Singular values; see :class:`SparseSpectrum`."""
        cells = self.cells
        blocks = cells.engine.derive(as_matrices, cells.blocks, self.rows)
        census = Census(*cells.shape, cells.size, 0.0, np.dtype(cells.dtype))
        return SparseSpectrum(blocks, floor, cells.engine, census)

    def bound(self, offsets: FloatArray, feature_weight: float, largest: float) -> float:
        """Best lower bound D(θG) found over 0 ≤ θ ≤ ``largest``.

        D is concave in θ: where it still rises at the right end, that is the best; otherwise the best of some
        is looked around once more.
        """
        if largest <= 0:
            return self._values(offsets, feature_weight, np.zeros(1))[0][0]
        values, slope = self._values(offsets, feature_weight, np.array([largest]))
        if slope >= 0:
            return values[0]
        best, first, last = values[0], 0.0, largest
        for _ in range(2):
            scales = np.linspace(first, last, SCALES + 1)[:-1]
            values, _ = self._values(offsets, feature_weight, scales)
            at = int(np.argmax(values))
            best = max(best, values[at])
            width = (last - first) / SCALES
            first, last = max(scales[at] - width, 0.0), min(scales[at] + width, largest)
        return best

    def _values(
        self, offsets: FloatArray, feature_weight: float, scales: FloatArray
    ) -> tuple[list[float], float]:
        """D at some scalings, and its slope at the last of them."""
        engine, blocks = self.cells.engine, self.cells.blocks
        shared = {"scales": scales, "offsets": offsets}
        sums = reduce(np.add, engine.collect(_bound_sums, blocks, self.rows, **shared))
        linear, square, of_labels, slope = sums[0], sums[1], sums[3:], sums[2]
        quadratic = square / (4 * feature_weight) if self.squared and square > 0 else 0.0
        values = of_labels + scales * linear - scales**2 * quadratic
        return [float(each) for each in values], float(slope + linear - 2 * scales[-1] * quadratic)

    def shaved(self, spectrum: SparseSpectrum, limit: float) -> "BlockDual":
        """Take from G most of what exceeds a spectral norm of ``limit``: see :func:`certificate.shaved`."""
        n, m = self.cells.shape
        values, vectors = spectrum.above(limit, m)
        if not values.size:
            return self
        shared: dict[str, Any] = {
            "vectors": np.ascontiguousarray(vectors),
            "excess": (values - limit) / values,
            "share": self.cells.size / (n * m),
        }
        return replace(self, rows=self.cells.engine.derive(_shaved, self.cells.blocks, self.rows, **shared))


def as_matrices(cells: Cells, rows: DualRows) -> Pair:
    """Give some rows as sparse matrices, features and labels."""
    return cells.matrices(rows.features, rows.labels)


def _sides(cells: Cells, rows: DualRows) -> FloatArray:
    """Add up over every column: features, beside labels above zero; and labels below it."""
    m, S = cells.shape[1], rows.labels
    positive = np.bincount(cells.x_column, rows.features, m)
    positive = positive + np.bincount(cells.y_column, np.maximum(S, 0), m)
    return np.stack((positive, np.bincount(cells.y_column, np.maximum(-S, 0), m)))


def _balanced(cells: Cells, rows: DualRows, balance: Balance) -> DualRows:
    dtype = rows.features.dtype
    mean, up, down = (each.astype(dtype) for each in balance)
    features = rows.features - mean[cells.x_column]
    side = np.where(rows.labels > 0, up[cells.y_column], down[cells.y_column])
    return DualRows(features, rows.labels * side)


def _bound_sums(cells: Cells, rows: DualRows, scales: FloatArray, offsets: FloatArray) -> FloatArray:
    """Add up what a bound is made of.

    Returns
    -------
    ndarray of shape (3 + n_scales,)
        −⟨A, X − 1oᵀ⟩ + ⟨S, 1oᵀ⟩; ‖A‖²; the slope of the labels' part at the last scaling; that part itself,
        at each.
    """
    A, S = (each.astype(np.float64, copy=False) for each in rows)
    linear = float(A @ (offsets[cells.x_column] - cells.x_value)) + float(S @ offsets[cells.y_column])
    found = np.empty(3 + len(scales))
    found[:3] = linear, float(A @ A), 0.0
    for place, theta in enumerate(scales):
        p = np.clip(cells.y_value + theta * S, 0.0, 1.0)
        found[3 + place] = float((entr(p) + entr(1 - p)).sum())
    inside = (p > 0) & (p < 1)
    found[2] = float(S[inside] @ (np.log1p(-p[inside]) - np.log(p[inside])))
    return found


def _shaved(cells: Cells, rows: DualRows, vectors: FloatArray, excess: FloatArray, share: float) -> DualRows:
    left, right = as_matrices(cells, rows)
    d = left.shape[1]
    U = np.ascontiguousarray((left @ vectors[:d] + right @ vectors[d:]) * excess)
    less = []
    for start, column, given in (
        (cells.x_start, cells.x_column, rows.features),
        (cells.y_start, cells.y_column, rows.labels),
    ):
        # In the vectors' own precision whatever the table's is: the kernel is compiled for one.
        over = np.empty(given.size, U.dtype)
        products(start, column, U, vectors, over)
        less.append((given - over / share).astype(given.dtype, copy=False))
    features, labels = less
    return DualRows(features, np.clip(labels, -cells.y_value, 1 - cells.y_value))
