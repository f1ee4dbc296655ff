"""Every singular value decomposition of the project.

Tall and wide matrices are decomposed through the smaller of their two Gram matrices, which costs about a
quarter of a LAPACK SVD at the sizes of the paper. Squaring loses the small singular values, so each
routine documents which ones it needs and falls back to a true SVD where they would be wrong. Everything goes
through NumPy's own BLAS: SciPy brings a second one, and two pools of threads on the same cores slow each
other down severalfold.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, eigsh

from cocomplete.arrays import FloatArray
from cocomplete.engines.engine import Engine, Reference, Threads
from cocomplete.kernels import scatter


@dataclass(frozen=True, eq=False)
class LowRank:
    """A matrix U diag(s) Vt, never stored dense.

    Attributes
    ----------
    U : ndarray of shape (n_rows, rank)
        Orthonormal columns.
    s : ndarray of shape (rank,)
        Singular values, positive, in descending order.
    Vt : ndarray of shape (rank, n_columns)
        Orthonormal rows.
    """

    U: FloatArray
    s: FloatArray
    Vt: FloatArray

    @classmethod
    def zero(cls, shape: tuple[int, int], dtype: np.dtype[np.floating]) -> "LowRank":
        """Give the zero matrix of that shape."""
        return cls(np.empty((shape[0], 0), dtype), np.empty(0, dtype), np.empty((0, shape[1]), dtype))

    @property
    def rank(self) -> int:
        """Number of singular values kept."""
        return int(self.s.size)

    @property
    def shape(self) -> tuple[int, int]:
        """Shape of the matrix that is meant."""
        return (int(self.U.shape[0]), int(self.Vt.shape[1]))

    @property
    def trace_norm(self) -> float:
        """Sum of the singular values."""
        return float(self.s.sum())

    def dense(self) -> FloatArray:
        """Multiply out."""
        out: FloatArray = (self.U * self.s) @ self.Vt
        return out


def spectral_norm(A: FloatArray) -> float:
    """Largest singular value of a dense matrix."""
    if 0 in A.shape:
        return 0.0
    gram = _gram(A)
    return float(np.sqrt(max(float(np.linalg.eigvalsh(gram)[-1]), 0.0)))


@dataclass(frozen=True, eq=False)
class Shrunken:
    """A matrix with soft-thresholded singular values, multiplied out in whichever way is asked for.

    Attributes
    ----------
    A : ndarray of shape (n_rows, n_columns)
        The matrix before.
    basis : ndarray of shape (min(n_rows, n_columns), rank)
        Singular vectors of its shorter side that were kept, in descending order of their values.
    before : ndarray of shape (rank,)
        Their singular values in ``A``.
    threshold : float
    """

    A: FloatArray
    basis: FloatArray
    before: FloatArray
    threshold: float

    @property
    def s(self) -> FloatArray:
        """Singular values after."""
        # A threshold beyond the largest number leaves nothing, and so does that number.
        largest = float(np.finfo(self.A.dtype).max)
        return self.before - self.A.dtype.type(min(self.threshold, largest))

    @property
    def rank(self) -> int:
        """Number of singular values kept."""
        return int(self.before.size)

    @property
    def trace_norm(self) -> float:
        """Sum of the singular values after."""
        return float(self.s.sum())

    def low_rank(self) -> LowRank:
        """Give its factors."""
        A, basis = self.A, self.basis
        if A.shape[0] >= A.shape[1]:
            return LowRank((A @ basis) / self.before, self.s, basis.T)
        return LowRank(basis, self.s, (A.T @ basis).T / self.before[:, None])

    def dense(self) -> FloatArray:
        """Multiply out; where most directions were kept, without going through the factors."""
        if 2 * self.rank <= min(self.A.shape):
            return self.low_rank().dense()
        keep = (self.basis * (self.s / self.before)) @ self.basis.T
        out: FloatArray = self.A @ keep if self.A.shape[0] >= self.A.shape[1] else keep @ self.A
        return out


def shrink(A: FloatArray, threshold: float) -> Shrunken:
    """Soft-threshold the singular values: the proximal step of ``threshold``·‖·‖_*.

    Parameters
    ----------
    A : ndarray of shape (n_rows, n_columns)
    threshold : float
        The paper's D_λ with λ = ``threshold`` (in Algorithm 1 this is η_t·λ1).

    Notes
    -----
    Only singular values above the threshold are needed. The Gram matrix gives them up to ε·σ_1²/threshold;
    where that would exceed ε^⅔·σ_1, a full SVD is used.
    """
    if 0 in A.shape:
        return Shrunken(A, np.empty((min(A.shape), 0), A.dtype), np.empty(0, A.dtype), threshold)
    # Squares of single precision lose nothing in double precision.
    safe = float(np.cbrt(np.finfo(np.float64).eps))
    # σ_1 is at least the root mean square of all singular values, which costs nothing to know.
    hopeless = threshold <= safe * float(np.linalg.norm(A) / np.sqrt(min(A.shape)))
    if not hopeless:
        # The divide-and-conquer driver finds all pairs sooner than any driver finds a few of them.
        values, vectors = np.linalg.eigh(_gram(A.astype(np.float64, copy=False)))
    if hopeless or threshold <= safe * np.sqrt(max(values[-1], 0)):
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        keep = s > threshold
        return Shrunken(A, Vt[keep].T if A.shape[0] >= A.shape[1] else U[:, keep], s[keep], threshold)
    # Beyond 1e150 a square is no number, nor is there a singular value.
    above = int(np.searchsorted(values, min(float(threshold), 1e150) ** 2, side="right"))
    # eigh orders upwards; singular values go downwards.
    basis, before = vectors[:, above:][:, ::-1], np.sqrt(values[above:][::-1])
    return Shrunken(A, basis.astype(A.dtype, copy=False), before.astype(A.dtype, copy=False), threshold)


def polar(A: FloatArray) -> tuple[FloatArray, float]:
    """Polar factor U Vᵀ over the nonzero singular values, and the trace norm.

    The factor is the subgradient of ‖·‖_* that the paper's Lemma 1 names.

    Returns
    -------
    factor : ndarray, shape of ``A``
    trace_norm : float

    Notes
    -----
    Through the Gram matrix the factor is accurate while the smallest nonzero singular value stays above
    about 1e-4 of the largest; otherwise the full SVD decides what is zero.
    """
    if 0 in A.shape:
        return np.zeros_like(A), 0.0
    tall = A.shape[0] >= A.shape[1]
    values, vectors = np.linalg.eigh(_gram(A))
    if values[0] <= _safe_ratio(A) * values[-1]:
        U, s, Vt = np.linalg.svd(A, full_matrices=False)
        keep = s > s[0] * max(A.shape) * np.finfo(A.dtype).eps
        return U[:, keep] @ Vt[keep], float(s.sum())
    s = np.sqrt(values)
    root = (vectors / s) @ vectors.T
    return (A @ root if tall else root @ A), float(s.sum())


def trace_norm(A: FloatArray) -> float:
    """Sum of the singular values of a dense matrix."""
    if 0 in A.shape:
        return 0.0
    return float(np.linalg.svd(A, compute_uv=False).sum())


def _gram(A: FloatArray) -> FloatArray:
    gram: FloatArray = A.T @ A if A.shape[0] >= A.shape[1] else A @ A.T
    return gram


def _safe_ratio(A: FloatArray) -> float:
    """Eigenvalue ratio of a Gram matrix below which the square root has lost half of its digits."""
    return float(np.sqrt(np.finfo(A.dtype).eps))


Pair = tuple[sparse.csr_array, sparse.csr_array]
"""Two sparse matrices with the same rows, side by side."""

GRAM_PANEL = 1024
"""Rows, or columns, that are multiplied as a dense panel at a time."""

DENSE_GRAM = 1500
"""Up to this many columns, or rows if they are fewer, a sparse matrix is judged by its dense Gram matrix,
exactly; beyond by Lanczos."""


class Census(NamedTuple):
    """What blocks of a sparse matrix hold: its shape, how many numbers, and the sum of their squares."""

    rows: int
    columns: int
    stored: int
    squares: float
    dtype: np.dtype[np.floating]

    @classmethod
    def of(cls, blocks: Sequence[Reference], engine: Engine) -> "Census":
        """Count."""
        found = list(engine.collect(_counted, blocks))
        rows, stored, squares = (sum(each[k] for each in found) for k in (0, 2, 3))
        return cls(rows, found[0].columns, stored, float(squares), found[0].dtype)


def _counted(block: Pair) -> Census:
    left, right = block
    squares = float(sum(np.square(part.data).sum() for part in block))
    return Census(left.shape[0], left.shape[1] + right.shape[1], left.nnz + right.nnz, squares, left.dtype)


class SparseSpectrum:
    """Largest singular values and right singular vectors of a sparse matrix.

    Parameters
    ----------
    blocks : sequence of pairs of scipy.sparse.csr_array
        Consecutive rows of the matrix; each pair has the same rows and lies side by side. Every product goes
        through the engine, block by block.
    floor : float, default=inf
        Directions at or below this singular value will not be asked for; by default none will.
    engine : Engine, optional
        Where the blocks are, if ``blocks`` are references; here, without.
    census : Census, optional
        Of the blocks, if the caller has it already.
    """

    def __init__(
        self,
        blocks: Sequence[Reference],
        floor: float = float("inf"),
        engine: Engine | None = None,
        census: "Census | None" = None,
    ) -> None:
        self.blocks, self.floor = blocks, floor
        self.engine = Threads() if engine is None else engine
        census = Census.of(blocks, self.engine) if census is None else census
        self.dtype, self.columns = census.dtype, census.columns
        self.wide = self.columns > DENSE_GRAM >= census.rows
        self.exact = self.wide or self.columns <= DENSE_GRAM

    def largest(self) -> float:
        """Spectral norm, never below the true one beyond rounding."""
        return self._found[0]

    def above(self, bound: float, most: int) -> tuple[FloatArray, FloatArray]:
        """Singular values above ``bound``, at most ``most`` of them, descending, and their right vectors.

        Returns
        -------
        values : ndarray of shape (count,)
        vectors : ndarray of shape (columns, count)
        """
        _, values, vectors = self._found
        count = min(int(np.count_nonzero(values > max(bound, self.floor))), most)
        return values[:count], vectors[:, :count]

    def images(self, vectors: FloatArray) -> FloatArray:
        """Multiply the matrix by vectors, one per column."""
        return np.concatenate(list(self.engine.collect(_image, self.blocks, vectors=vectors)))

    def trace_norm(self) -> float:
        """Sum of the singular values; infinite if the matrix is too large to know it exactly."""
        if not self.exact:
            return float("inf")
        return float(np.sqrt(np.maximum(np.linalg.eigvalsh(self._gram()), 0)).sum())

    @cached_property
    def _found(self) -> tuple[float, FloatArray, FloatArray]:
        """Spectral norm, and the directions above the floor."""
        nothing = np.empty(0, self.dtype), np.empty((self.columns, 0), self.dtype)
        if self.columns == 0:
            return 0.0, *nothing
        if not self.exact:
            return self._lanczos_norm(), *(self._lanczos(50) if self.floor < np.inf else nothing)
        if self.floor == np.inf:
            return float(np.sqrt(max(float(np.linalg.eigvalsh(self._gram())[-1]), 0.0))), *nothing
        squares, vectors = np.linalg.eigh(self._gram())
        values = np.sqrt(np.maximum(squares, 0))
        if self.wide:
            # Left vectors; of what is next to zero rounding leaves no right ones.
            floor = max(self.floor, float(values[-1]) * float(np.sqrt(np.finfo(self.dtype).eps)))
            first = int(np.searchsorted(values, floor, side="right"))
            values, left = values[first:][::-1], vectors[:, first:][:, ::-1]
            return float(np.sqrt(max(float(squares[-1]), 0.0))), values, self._stacked().T @ left / values
        first = int(np.searchsorted(values, self.floor, side="right"))
        # Copies, so that the vectors below the floor do not stay in memory behind a view.
        return float(values[-1]), values[first:][::-1].copy(), vectors[:, first:][:, ::-1].copy()

    def _gram(self) -> FloatArray:
        """Gram matrix of the columns, summed over the blocks, or of the rows if they are few."""
        if self.wide:
            return _block_gram(
                (self._stacked().T.tocsr(), sparse.csr_array((self.columns, 0), dtype=self.dtype))
            )
        # Added up in the first block's, each as large as the sum.
        grams = self.engine.collect(_block_gram, self.blocks)
        return reduce(lambda total, own: np.add(total, own, out=total), grams)

    def _stacked(self) -> sparse.csr_array:
        """All of a matrix with few rows."""
        return sparse.vstack(list(self.engine.collect(sparse.hstack, self.blocks)), format="csr")

    def _lanczos_norm(self) -> float:
        values, vectors = self._lanczos(1)
        square = values[0] ** 2
        # A Ritz value errs downwards, by at most the size of its residual.
        residual = np.linalg.norm(self._apply(vectors[:, 0]) - square * vectors[:, 0])
        return float(np.sqrt(square + residual))

    def _apply(self, v: FloatArray) -> FloatArray:
        total = np.zeros_like(v)
        for of_block in self.engine.collect(_applied, self.blocks, v=v):
            total += of_block
        return total

    def _lanczos(self, count: int) -> tuple[FloatArray, FloatArray]:
        operator = LinearOperator((self.columns, self.columns), matvec=self._apply, dtype=self.dtype)
        # A fixed start vector makes the answer repeatable.
        start = np.random.default_rng(0).standard_normal(self.columns).astype(self.dtype)
        squares, vectors = eigsh(operator, k=count, which="LA", v0=start, tol=1e-6)
        return np.sqrt(np.maximum(squares, 0))[::-1], vectors[:, ::-1]


def _block_gram(block: Pair) -> FloatArray:
    """Gram matrix of a block: products of panels of its rows, summed in double precision."""
    left, right = block
    columns = left.shape[1] + right.shape[1]
    gram: FloatArray = np.zeros((columns, columns))
    n = left.shape[0]
    whole_panel = np.empty((min(n, GRAM_PANEL), columns), left.dtype)
    for first in range(0, n, GRAM_PANEL):
        last = min(first + GRAM_PANEL, n)
        panel = whole_panel[: last - first]
        panel[:] = 0
        for part, shift in ((left, 0), (right, left.shape[1])):
            scatter(first, last, part.indptr, part.indices, part.data, shift, panel)
        gram += panel.T @ panel
    return gram


def _image(block: Pair, vectors: FloatArray) -> FloatArray:
    """Multiply a block by vectors, one per column."""
    left, right = block
    d = left.shape[1]
    out: FloatArray = left @ vectors[:d] + right @ vectors[d:]
    return out


def _applied(block: Pair, v: FloatArray) -> FloatArray:
    """Multiply a vector by a block and by its transpose."""
    image = _image(block, v)
    return np.concatenate((block[0].T @ image, block[1].T @ image))
