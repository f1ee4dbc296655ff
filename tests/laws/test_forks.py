"""Processes that are forked after a fit: they answer, and nobody waits for ever."""

import os
import subprocess
import sys

import pytest

SCRIPT = """
import os
import sys

import numpy as np
from joblib import Parallel, delayed

from cocomplete import CoCompleter

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 4))
X[rng.random(X.shape) < 0.2] = np.nan
Y = (rng.random((30, 2)) < 0.4).astype(float)
new = X[:5] + 0.1
model = CoCompleter(rank_penalty=1.0, residual_penalty=0.0, feature_weight=0.5).fit(X, Y)
expected = model.predict_proba(new)
if sys.argv[1] == "fork":
    child = os.fork()
    if child == 0:
        try:
            again = model.fit(X, Y).predict_proba(new)
            os._exit(0 if np.allclose(again, expected, atol=1e-6) else 3)
        except BaseException:
            os._exit(4)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    assert code == 0, code
else:
    many = Parallel(n_jobs=2, backend="multiprocessing")(delayed(model.predict_proba)(new) for _ in range(4))
    for one in many:
        np.testing.assert_allclose(one, expected, atol=1e-6)
# The parent goes on with its threads.
np.testing.assert_array_equal(model.predict_proba(new), expected)
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there are no forks on this system")
@pytest.mark.parametrize("way", ["fork", "joblib"])
def test_forked_processes_answer(way: str) -> None:
    # Two threads, so that the parent has a pool to lose; the first run compiles.
    environment = os.environ | {"NUMBA_NUM_THREADS": "2"}
    subprocess.run([sys.executable, "-c", SCRIPT, way], env=environment, check=True, timeout=240)
