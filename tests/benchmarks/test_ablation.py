"""The benchmark that leaves kinds of members out: what is left answers, and the report reads it right."""

from typing import Any

import numpy as np
import pytest

from ablation import MEASURES, NOTHING, ablate, report
from table_cases import TableCase

nan = np.nan


@pytest.fixture(scope="module")
def ablated() -> tuple[dict[str, dict[str, float]], dict[str, float]]:
    rng = np.random.default_rng(0)
    F = rng.normal(size=(90, 2))
    X = F @ rng.normal(size=(2, 4)) + 0.4 * rng.normal(size=(90, 4))
    Y = (F @ rng.normal(size=(2, 3)) > 0).astype(float)
    X_seen, Y_seen = (np.where(rng.random(part.shape) < 0.3, nan, part) for part in (X, Y))
    case = TableCase(X_seen[:70], Y_seen[:70], X_seen[70:], X[:70], Y[:70], X[70:], Y[70:], np.zeros(4, bool))
    with np.errstate(all="ignore"):
        return ablate(case)


def test_every_kind_is_left_out_once(ablated: tuple[dict[str, dict[str, float]], dict[str, float]]) -> None:
    losses, seconds = ablated
    assert set(losses) == {NOTHING} | set(seconds) - {"trivial"}
    for scores in losses.values():
        assert {"rmse", "log_loss", "new_log_loss"} <= set(scores)
        assert all(np.isfinite(value) for value in scores.values())


def test_the_report_gives_what_leaving_out_costs() -> None:
    def record(table: str, seconds: dict[str, float]) -> dict[str, Any]:
        whole, without = dict.fromkeys(MEASURES, 1.0), dict.fromkeys(MEASURES, 1.1)
        return {"table": table, "without": {NOTHING: whole, "rbf": without}, "seconds": seconds}

    lines = report([record("a", {"rbf": 1.0, "trivial": 1.0}), record("b", {"rbf": 2.0})]).splitlines()
    rbf, trees = (next(line for line in lines if line.startswith(f"| {name} ")) for name in ("rbf", "trees"))
    assert rbf.count("1.100 (1.100)") == len(MEASURES)
    assert rbf.endswith("| 2 | 3 of 4 |")
    assert trees.count("1.000 (1.000)") == len(MEASURES)
    assert trees.endswith("| 0 | 0 of 4 |")
