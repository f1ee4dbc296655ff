"""The first fit after an installation says that it compiles, and does not compile the same twice."""

import logging
import subprocess
import sys

import numpy as np
import pytest
from numba import njit

from cocomplete.estimator.messages import Messages
from cocomplete.kernels.compiling import compiling_announced


def test_compiling_is_announced_once_and_only_where_something_is_compiled() -> None:
    calls: list[str] = []

    @njit
    def one(x):  # type: ignore[no-untyped-def]
        return x + 1

    @njit
    def other(x):  # type: ignore[no-untyped-def]
        return x - 1

    with compiling_announced(lambda: calls.append("now")):
        np.sqrt(2.0)
        assert calls == []
        one(1.0)
        other(1.0)
    assert calls == ["now"]
    with compiling_announced(lambda: calls.append("again")):
        one(1.0)
    assert calls == ["now"]


def test_the_logger_names_it(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.INFO, logger="cocomplete"):
        Messages(verbose=0).compiling()
    assert "compiling, once" in caplog.text


SCRIPT = """
import numpy as np
from cocomplete import CoCompleter, kernels
from cocomplete.solvers import factored_run

rng = np.random.default_rng(0)
U = rng.normal(size=(60, 2))
X = U @ rng.normal(size=(2, 8)) + 0.3 * rng.normal(size=(60, 8))
Y = (U @ rng.normal(size=(2, 2)) > 0).astype(float)
X[rng.random(X.shape) < 0.3] = np.nan
Y[rng.random(Y.shape) < 0.3] = np.nan
# Tables of both precisions, and each as if it were large enough for search directions in single precision.
for factored_run.SMALL in (20_000, 0):
    for dtype in (np.float64, np.float32):
        CoCompleter().fit(X.astype(dtype), Y.astype(dtype)).complete(X[:5].astype(dtype))
for name in kernels.__all__:
    print(name, len(getattr(kernels, name).signatures))
"""

SEARCHED = {"evaluate", "evaluate_panel", "scatter", "diagonal", "spread", "clear", "curvature_product"}
"""Kernels that are called in both precisions; a user waits for every set of types that a kernel meets."""


def test_default_fits_call_every_kernel_with_the_same_types() -> None:
    done = subprocess.run([sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=True)
    counts = {name: int(count) for name, count in (line.split() for line in done.stdout.splitlines())}
    assert counts["row_step"] == counts["gaussians"] == 1
    for name, count in counts.items():
        assert count <= (2 if name in SEARCHED else 1), name
    # Those of the paper's algorithm on dense matrices are not needed.
    assert counts["slopes"] == counts["blend"] == counts["descend"] == 0
