"""What the benchmark on real tables shows, holds out and scores; a case is a set, a share and a seed."""

import os
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import NamedTuple

import numpy as np
from sklearn.metrics import average_precision_score, roc_auc_score

from cocomplete.datasets import load_mulan
from cocomplete.exceptions import InputError
from cocomplete.metrics import hamming_error, standardized_rmse

SETS = ("cal500", "emotions", "yeast", "birds")
SHARES = (0.2, 0.4, 0.6)
SEEDS = (0, 1, 2)

TRAINING_ROWS = 0.8
"""Share of the rows that is trained on; the others are new rows with complete features."""


class Answer(NamedTuple):
    """What a method makes of a case.

    Attributes
    ----------
    X : ndarray of shape (n_samples, n_features) or None
        Features with every hole filled; None if the method does not fill them.
    Y_proba : ndarray of shape (n_samples, n_labels)
        Probability of a 1, at least for every unknown cell.
    Y_proba_new : ndarray of shape (n_new, n_labels) or None
        The same for the new rows; None if there are none.
    Y, Y_new : ndarrays of the same shapes or None
        Labels; where the probability exceeds one half if None.
    X_std : ndarray of shape (n_samples, n_features) or None
        Standard deviation of the filled features.
    X_new : ndarray of shape (n_new, n_features) or None
        Features of the new rows with every hole filled.
    """

    X: np.ndarray | None
    Y_proba: np.ndarray
    Y_proba_new: np.ndarray | None
    Y: np.ndarray | None = None
    Y_new: np.ndarray | None = None
    X_std: np.ndarray | None = None
    X_new: np.ndarray | None = None


@dataclass(frozen=True)
class Case:
    """A table with its truth: methods are given ``X``, ``Y`` and ``X_new`` alone."""

    X: np.ndarray
    Y: np.ndarray
    X_new: np.ndarray
    X_true: np.ndarray
    Y_true: np.ndarray
    Y_true_new: np.ndarray


@cache
def load_set(name: str) -> tuple[np.ndarray, np.ndarray]:
    """Read all rows of a set in COCOMPLETE_DATA, its train and test files joined if it comes as two."""
    folder = Path(os.environ["COCOMPLETE_DATA"])
    whole = folder / f"{name}.arff"
    parts = [whole] if whole.exists() else [folder / f"{name}-{part}.arff" for part in ("train", "test")]
    if not all(path.exists() for path in parts):
        msg = f"COCOMPLETE_DATA, {folder}, has neither {whole.name} nor {' and '.join(p.name for p in parts)}"
        raise InputError(msg)
    tables = [load_mulan(path) for path in parts]
    return np.vstack([table.X for table in tables]), np.vstack([table.Y for table in tables])


def make_case(name: str, share: float, seed: int) -> Case:
    """Split a set by rows and hold out cells of the training rows, each shown with probability ``share``."""
    X, Y = load_set(name)
    rng = np.random.default_rng(seed)
    rows = rng.permutation(len(X))
    n = int(TRAINING_ROWS * len(X))
    X_true, Y_true = X[rows[:n]], Y[rows[:n]]
    shown = [np.where(rng.random(part.shape) < share, part, np.nan) for part in (X_true, Y_true)]
    return Case(*shown, X[rows[n:]], X_true, Y_true, Y[rows[n:]])


def time_svd(case: Case) -> float:
    """Seconds of one SVD of the training table, the unit of cost."""
    whole = np.hstack((case.X_true, case.Y_true))
    return min(_seconds_of_svd(whole) for _ in range(3))


def _seconds_of_svd(whole: np.ndarray) -> float:
    started = perf_counter()
    np.linalg.svd(whole, full_matrices=False)
    return perf_counter() - started


def score(case: Case, answer: Answer) -> dict[str, float | None]:
    """Score the held-out cells of the training rows and the labels of the new rows."""
    Y = answer.Y_proba > 0.5 if answer.Y is None else answer.Y
    Y_new = answer.Y_proba_new > 0.5 if answer.Y_new is None else answer.Y_new
    held_out = np.isnan(case.Y)
    scores = {
        **_feature_scores(case, answer),
        "hamming": hamming_error(case.Y_true, Y, mask=held_out),
        "auc": _macro_auc(case.Y_true, answer.Y_proba, held_out),
        "ap": average_precision_score(case.Y_true[held_out], answer.Y_proba[held_out]),
        "new_hamming": hamming_error(case.Y_true_new, Y_new),
        "new_ap": average_precision_score(case.Y_true_new.ravel(), answer.Y_proba_new.ravel()),
    }
    return {name: None if value is None else float(value) for name, value in scores.items()}


def _feature_scores(case: Case, answer: Answer) -> dict[str, float | None]:
    if answer.X is None:
        return {"rmse": None, "coverage": None}
    held_out = np.isnan(case.X)
    rmse = standardized_rmse(case.X_true, answer.X, mask=held_out)
    if answer.X_std is None:
        return {"rmse": rmse, "coverage": None}
    # 1.645 standard deviations either way hold 90 % of a Gaussian.
    inside = np.abs(case.X_true - answer.X) <= 1.645 * answer.X_std
    shares = [inside[cells, j].mean() for j, cells in enumerate(held_out.T) if cells.any()]
    return {"rmse": rmse, "coverage": float(np.mean(shares))}


def _macro_auc(truth: np.ndarray, probability: np.ndarray, held_out: np.ndarray) -> float:
    """Mean over the labels that show both classes among the held-out cells."""
    areas = [
        roc_auc_score(truth[cells, j], probability[cells, j])
        for j, cells in enumerate(held_out.T)
        if len(np.unique(truth[cells, j])) == 2
    ]
    return float(np.mean(areas))
