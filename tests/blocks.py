"""Tables of a few thousand rows that go through row blocks, because the limits are set low."""

from typing import Any

import joblib
import numpy as np
import pytest

from cocomplete.arrays import FloatArray
from cocomplete.estimator import block_rows, fit_blocks
from cocomplete.estimator.fit_ensemble import fit_ensemble
from cocomplete.estimator.solving import MinimiserSolver
from cocomplete.estimator.training import FitResult, TrainingTable
from cocomplete.table import block_table
from cocomplete.table.block_table import ArrayBlocks, BlockRows, BlockTable


class Elsewhere(BlockTable):
    """A table that is not in memory, as far as anyone can tell."""

    def __init__(self, X: Any, y: Any = None) -> None:
        self.table = ArrayBlocks(X, y)

    @property
    def shape(self) -> tuple[int, int]:
        return self.table.shape

    def read(self, first: int, last: int) -> BlockRows:
        return self.table.read(first, last)


def low_limits(
    patch: pytest.MonkeyPatch, *, long: int = 1_000, sample: int = 5_000, block: int = 3_000
) -> None:
    """Let tables of so many cells be long, samples and blocks of them have so many."""
    patch.setattr(block_rows, "LONG_NUMBERS", long)
    patch.setattr(block_rows, "SAMPLE_NUMBERS", sample)
    patch.setattr(block_rows, "LEAST_SAMPLE", 100)
    patch.setattr(block_table, "BLOCK_NUMBERS", block)
    patch.setattr(block_table, "COMPLETED_NUMBERS", block)


_SAMPLES: dict[str, FitResult] = {}


def remember_samples(patch: pytest.MonkeyPatch) -> None:
    """Fit each sample once: fits of the same table differ in where its other rows are, and in that alone."""

    def remembered(table: TrainingTable, solver: MinimiserSolver) -> FitResult:
        key = joblib.hash((table.given.X, table.observed.X, table.observed.Y, table.groups, solver.settings))
        if key not in _SAMPLES:
            _SAMPLES[key] = fit_ensemble(table, solver)
        return _SAMPLES[key]

    patch.setattr(fit_blocks, "fit_ensemble", remembered)


def long_table(n: int = 1_200, d: int = 12, labels: int = 4, seed: int = 0) -> tuple[FloatArray, FloatArray]:
    """A low-rank table with noise, half observed."""
    rng = np.random.default_rng(seed)
    T = rng.standard_normal((n, 3)) @ rng.standard_normal((3, d + labels))
    X = T[:, :d] + 0.3 * rng.standard_normal((n, d))
    y = (rng.random((n, labels)) < 1 / (1 + np.exp(-T[:, d:]))).astype(float)
    X[rng.random(X.shape) < 0.5] = np.nan
    y[rng.random(y.shape) < 0.5] = np.nan
    return X, y
