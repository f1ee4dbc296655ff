"""A dual matrix in blocks proves what the same matrix proves as a whole."""

import numpy as np
import pytest

from cocomplete.engines.engine import Threads
from cocomplete.problem.block_certificate import BlockDual, DualRows
from cocomplete.problem.cell_blocks import CellBlocks
from cocomplete.problem.cells import Cells, matrix_blocks
from cocomplete.problem.certificate import DualPoint, shaved
from cocomplete.problem.observations import Observations
from cocomplete.spectral import SparseSpectrum
from tests.blocks import long_table


def duals(seed: int, *, squared: bool) -> tuple[BlockDual, DualPoint, Cells]:
    X, y = long_table(90, 6, 3, seed)
    cells = Cells.of(Observations(X, y))
    rng = np.random.default_rng(seed)
    A = rng.normal(size=cells.x_value.size)
    S = rng.random(cells.y_value.size) - cells.y_value
    parts = [cells.rows(first, first + 30) for first in range(0, 90, 30)]
    rows = [
        DualRows(
            A[cells.x_start[first] : cells.x_start[first + 30]],
            S[cells.y_start[first] : cells.y_start[first + 30]],
        )
        for first in range(0, 90, 30)
    ]
    blocks = CellBlocks.at(Threads(keeps=False), parts)
    found = BlockDual(blocks, rows, blocks.census().counts, squared)
    return found, DualPoint(A, A if squared else None, S), cells


def whole(dual: BlockDual) -> tuple[np.ndarray, np.ndarray]:
    rows = list(dual.cells.engine.collect(tuple, dual.rows))
    return np.concatenate([one for one, _ in rows]), np.concatenate([other for _, other in rows])


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("seed", range(3))
def test_balancing_shaving_and_spectrum_are_those_of_the_whole(seed: int, squared: bool) -> None:
    dual, point, cells = duals(seed, squared=squared)
    balanced, same = dual.balanced(), point.balanced(cells)
    for one, other in zip(whole(balanced), (same.features, same.labels), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    spectrum = balanced.spectrum(0.0)
    expected = SparseSpectrum(matrix_blocks(cells.parts(), same.features, same.labels), 0.0)
    assert spectrum.largest() == pytest.approx(expected.largest())
    limit = 0.7 * spectrum.largest()
    less = shaved(cells, same.features, same.labels, expected, limit)
    for one, other in zip(whole(balanced.shaved(spectrum, limit)), less, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-9)
    assert balanced.shaved(spectrum, 2 * limit) is balanced


@pytest.mark.parametrize("squared", [True, False])
@pytest.mark.parametrize("largest", [0.0, 0.02, 0.3, 1.0])
def test_the_bound_is_that_of_the_whole(largest: float, squared: bool) -> None:
    """Best scalings are found by other ways; neither is above the best, and both are near it."""
    for seed in range(4):
        dual, point, cells = duals(seed, squared=squared)
        offsets = np.linspace(-1, 1, 9)
        expected = point.bound(cells, offsets, 0.7, largest)
        scale = max(abs(expected), 1.0)
        assert dual.bound(offsets, 0.7, largest) == pytest.approx(expected, abs=2e-3 * scale)
        # Any scaling that is allowed proves no more.
        some = [point.bound(cells, offsets, 0.7, each) for each in np.linspace(0, largest, 50)]
        assert dual.bound(offsets, 0.7, largest) <= max(some) + 1e-3 * scale
