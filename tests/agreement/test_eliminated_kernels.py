"""How rows answer to the columns: compiled kernels against their NumPy twins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.agreement.test_kernels import assert_same, both, pattern, table

pytestmark = pytest.mark.usefixtures("every_thread")


@given(st.integers(0, 10_000), st.integers(0, 2))
def test_eliminated_rows(seed: int, padding: int) -> None:
    """Cholesky factors of every row, and the Hessian's product where rows follow the columns."""
    rng, cells, U, V, _, dV = table(seed)
    k, (n, m) = V.shape[1], cells.shape
    U = np.hstack((np.ones((n, 1)), U, np.zeros((n, padding))))
    V, dV = (np.hstack((rng.normal(size=(m, 1)), each, np.zeros((m, padding)))) for each in (V, dV))
    gx, gy = rng.normal(size=cells.x_value.size), rng.normal(size=cells.y_value.size)
    hy = rng.random(gy.size)
    xs, xc, ys, yc = pattern(cells)
    results = both(
        "row_factors", lambda: [np.empty((n, k * (k + 1) // 2))], xs, xc, 0.7, ys, yc, hy, V, k, 0.3, 1e-15
    )
    assert_same(results)
    factors = results[0][1][0]
    for kept in (factors, np.empty((0, 0))):
        room = np.empty(m), np.empty((5, U.shape[1]))
        given = xs, xc, gx, 0.7, ys, yc, gy, hy, U, V, kept, k, 0.3, 1e-24, dV, *room
        assert_same(both("eliminated_product", lambda: [np.empty(V.shape)], *given), rtol=1e-7)
