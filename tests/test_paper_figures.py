"""A short, honest slice of the paper; the full figures are printed by ``make bench-paper``."""

import os
from pathlib import Path

import numpy as np
import pytest

from cocomplete import CoCompleter
from cocomplete.datasets import load_mulan, make_low_rank_multilabel
from cocomplete.metrics import hamming_error, relative_error


@pytest.mark.parametrize(("residual_penalty", "X_error"), [(1.0, 0.0221), (0.0, 0.0527)])
def test_first_row_of_table_1(residual_penalty, X_error):
    data = make_low_rank_multilabel(1000, 500, 100, 10, 0.2, random_state=0)
    fitted = CoCompleter.from_paper(residual_penalty, max_iter=250).fit(data.X, data.Y).reconstruct()
    assert relative_error(data.X_true, fitted.X) == pytest.approx(X_error, abs=0.0015)
    assert hamming_error(data.Y_true, fitted.Z > 0) == pytest.approx(0.0318, abs=0.002)


@pytest.mark.skipif(
    "COCOMPLETE_DATA" not in os.environ, reason="COCOMPLETE_DATA names no folder of data sets"
)
def test_cal500_of_table_2():
    music = load_mulan(Path(os.environ["COCOMPLETE_DATA"]) / "cal500.arff")
    rng = np.random.default_rng(0)
    rows = rng.permutation(502)[:401]
    X, Y = music.X[rows], music.Y[rows]
    shown = [np.where(rng.random(part.shape) < 0.2, part, np.nan) for part in (X, Y)]
    fitted = CoCompleter.from_paper(step_floor=None, max_iter=200).fit(*shown).reconstruct()
    assert 0.60 <= relative_error(X, fitted.X) <= 0.69
    assert 0.099 <= hamming_error(Y, fitted.Z > 0) <= 0.106
