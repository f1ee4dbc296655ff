"""Settings every test shares."""

import os
import signal
from collections.abc import Iterator

import numba
import numpy as np
import pytest
from hypothesis import settings

from cocomplete.choosing import held_out

# Timings on a loaded machine vary; the laws do not.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("steady")

if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell that starts the tests in the background ignores Ctrl-C for them and for processes of theirs.
    signal.signal(signal.SIGINT, signal.default_int_handler)

THREADS = numba.get_num_threads()
if "PYTEST_XDIST_WORKER" in os.environ:
    # Workers share the cores among them; more threads than cores would only wait for each other.
    numba.set_num_threads(1)

LONGEST = (
    "test_ugly_numbers",
    "test_default_laws",
    "test_dask",
    "test_checkpoints",
    "test_report_page",
    "test_pages",
    "test_sklearn_contract",
    "test_baselines",
    "test_cli",
    "test_figures_and_theorem",
    "test_exact_solvers",
    "test_runner",
)
"""Files of more than twenty seconds come first, so that no worker is left alone with one in the end."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Bring the longest files to the front; the others stay in their random order."""
    places = {name: place for place, name in enumerate(LONGEST)}
    items.sort(key=lambda item: places.get(item.path.stem, len(places)))


USUAL_FOLDS, FEW_FOLDS = held_out.MOST_FOLDS, 2
"""Folds that small tables are judged by, and those of tests that ask for an answer but not for a good one: a
default fit takes a third of the time."""


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Set the folds before fixtures of the test's file fit anything."""
    usual = item.get_closest_marker("usual_folds") is not None or isinstance(item, pytest.DoctestItem)
    held_out.MOST_FOLDS = USUAL_FOLDS if usual else FEW_FOLDS


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
