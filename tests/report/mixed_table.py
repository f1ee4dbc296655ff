"""A small table with a column of every kind, ugly names among them."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl

UGLY_NAME, UGLY_VALUE = "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>'

LABEL_TYPES = {"kind": "class", "tags": "tags"}


def mixed_table(n: int = 60, seed: int = 0, share: float = 0.25) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Make features and labels that all follow one hidden number, a share of them missing."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=n)

    def holes(values: list[Any]) -> list[Any]:
        return [None if rng.random() < share else value for value in values]

    levels = ["low", "mid", "high"]
    X = pl.DataFrame(
        {
            UGLY_NAME: holes((2 * u + 0.3 * rng.normal(size=n)).tolist()),
            "visits": pl.Series(holes([int(abs(9 * v)) for v in u]), dtype=pl.Int64),
            "smokes": pl.Series(holes(["yes" if v > 0 else "no" for v in u]), dtype=pl.String),
            "colour": pl.Series(
                holes([("blue", UGLY_VALUE, "red")[(v > 0) + int(v > 1)] for v in u]), dtype=pl.String
            ),
            "pain": pl.Series(holes([levels[(v > -0.5) + int(v > 0.5)] for v in u]), dtype=pl.Enum(levels)),
            "seen": pl.Series(
                holes([date(2024, 1, 1) + timedelta(days=int(20 * v)) for v in u]), dtype=pl.Date
            ),
            "empty": pl.Series([None] * n, dtype=pl.Float64),
        }
    )
    Y = pl.DataFrame(
        {
            "ill": pl.Series(holes([int(v > 0) for v in u]), dtype=pl.Int64),
            "kind": pl.Series(holes([("a", "b", "c")[(v > 0) + int(v > 1)] for v in u]), dtype=pl.String),
            "tags": pl.Series(
                holes(["x;y" if v > 0 else "y" if v > -1 else "z" for v in u]), dtype=pl.String
            ),
        }
    )
    return X, Y
