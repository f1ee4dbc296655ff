"""The compiled pass of normal scores against its NumPy twin."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cocomplete import kernels as compiled
from tests.agreement.test_kernels import assert_same, both


@given(st.integers(0, 10_000))
def test_interpolate(seed: int) -> None:
    """Columns of no, one and many knots, and cells at them, between them and beyond."""
    rng = np.random.default_rng(seed)
    knots = [np.sort(rng.normal(size=size)) for size in rng.integers(0, 9, size=5)]
    heights = [np.sort(rng.random(len(each))) for each in knots]
    cells = [np.concatenate((2 * rng.normal(size=4), each[::2])) for each in knots]
    first, end = np.cumsum([0, *map(len, knots)]), np.cumsum([len(each) for each in cells])
    pieces = (end, first, *(np.concatenate(each) for each in (knots, heights, cells)))
    assert_same(both("interpolate", lambda: [np.full(end[-1], 0.5)], *pieces), rtol=1e-14)


def test_numbers_as_far_apart_as_numbers_are_can_be_interpolated() -> None:
    least, most = -np.finfo(float).max, np.finfo(float).max
    found = np.empty(4)
    compiled.interpolate(
        np.array([3, 4]),
        np.array([0, 2, 4]),
        np.array([least, most, 0.0, 5e-324]),
        np.array([0.0, 1.0, 0.25, 0.75]),
        np.array([least / 2, 0.0, most / 2, 5e-324]),
        found,
    )
    np.testing.assert_allclose(found, [0.25, 0.5, 0.75, 0.75], rtol=1e-15)
