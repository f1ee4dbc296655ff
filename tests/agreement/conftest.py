"""Two sides agree whatever the number of threads."""

import pytest


@pytest.fixture(scope="module", autouse=True)
def _threads(every_thread: None) -> None:
    """Run every test of this folder in all threads."""
