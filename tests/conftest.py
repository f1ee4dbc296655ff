"""Settings every test shares."""

import numpy as np
import pytest
from hypothesis import settings

# Timings on a loaded machine vary; the laws do not.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")


@pytest.fixture(autouse=True)
def _same_draws_every_time() -> None:
    """Tests come in random order, but what ``random_state=None`` draws in them is the same in every run."""
    np.random.seed(0)  # noqa: NPY002  (it is NumPy's global state that is meant)
