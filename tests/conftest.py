"""Settings every test shares."""

import os
from collections.abc import Iterator

import numba
import numpy as np
import pytest
from hypothesis import settings

# Timings on a loaded machine vary; the laws do not.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")

THREADS = numba.get_num_threads()
if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores among them; more threads than cores would only wait for each other.
    numba.set_num_threads(1)


@pytest.fixture(scope="module")
def every_thread() -> Iterator[None]:
    """Compiled passes run in all threads: sums that race for a cell would differ from their twins."""
    before = numba.get_num_threads()
    numba.set_num_threads(THREADS)
    yield
    numba.set_num_threads(before)


@pytest.fixture(autouse=True)
def _same_draws_every_time() -> None:
    """Tests come in random order, but what ``random_state=None`` draws in them is the same in every run."""
    np.random.seed(0)  # noqa: NPY002  (it is NumPy's global state that is meant)
