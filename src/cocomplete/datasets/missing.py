"""Cells that are missing completely at random."""

from typing import Any

import numpy as np


def observe_at_random(table: Any, share: float, rng: np.random.Generator) -> Any:
    """Give a copy in which each cell is observed with probability ``share``, and NaN otherwise."""
    return np.where(rng.random(table.shape) < share, table, np.nan)
