import numpy as np
import pytest

from cocomplete.exceptions import InputError
from cocomplete.metrics import hamming_error, relative_error, standardized_rmse

nan = np.nan
TRUE = np.array([[1.0, 2.0], [3.0, nan]])
SEEN = np.array([[True, False], [False, True]])


def test_over_all_cells_hidden_cells_and_a_mask():
    guess = np.array([[1.0, 4.0], [3.0, 100.0]])
    assert relative_error(TRUE, guess) == pytest.approx(2 / np.sqrt(14))
    assert relative_error(TRUE, guess, observed=SEEN) == pytest.approx(2 / np.sqrt(13))
    assert relative_error(TRUE, guess, mask=SEEN) == 0
    assert relative_error(TRUE, guess, observed=SEEN, mask=[[True, False], [True, True]]) == 0


def test_hamming_skips_unknown_truth():
    truth = [[1, nan], [0, 1]]
    assert hamming_error(truth, [[1, 0], [1, 1]]) == pytest.approx(1 / 3)
    assert hamming_error(truth, [[True, False], [True, True]], observed=[[True, True], [False, False]]) == 0.5


def test_standardized_rmse_of_column_means_is_one():
    truth = np.random.default_rng(0).normal(size=(50, 3)) * [1, 1000, 0.001]
    means = np.broadcast_to(truth.mean(axis=0), truth.shape)
    assert standardized_rmse(truth, means) == pytest.approx(1)
    assert standardized_rmse([[5.0], [5.0]], [[5.0], [6.0]]) == pytest.approx(np.sqrt(0.5))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: relative_error([[1.0]], [[1.0, 2.0]]),
            r"truth has shape \(1, 1\) but prediction has \(1, 2\)",
        ),
        (lambda: relative_error([[1.0]], [[1.0]], observed=[[1]]), "observed must be a mask of booleans"),
        (lambda: hamming_error([[1.0]], [[1.0]], mask=[[False]]), "no cell is left to count"),
        (lambda: hamming_error([[nan]], [[1.0]]), "no cell is left to count"),
        (lambda: hamming_error([[1.0]], [[nan]]), r"prediction is unknown \(NaN\) in 1 counted"),
        (lambda: relative_error([[0.0]], [[1.0]]), "X_true is zero"),
    ],
)
def test_what_cannot_be_scored_is_said(call, message):
    with pytest.raises(InputError, match=message):
        call()
