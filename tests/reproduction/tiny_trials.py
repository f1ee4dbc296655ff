"""Trials that take no time, and records of trials that never ran."""

from collections.abc import Sequence
from typing import Any

from cocomplete.experiments import table_1
from cocomplete.experiments.published import SETTINGS_1
from cocomplete.experiments.runner import Record, Trial

TINY = table_1.Setting(60, 20, 8, 2, 0.5)


def tiny_trials(methods: Sequence[str] = ("COCO-1 exact", "true Z"), count: int = 2) -> list[Trial]:
    return table_1.trials([TINY], methods, count, iterations=5)


def record(
    method: str = "COCO-1",
    seed: int = 0,
    setting: tuple[float, ...] = SETTINGS_1[0],
    seconds: float = 1.0,
    **figures: Any,
) -> Record:
    given = dict(zip(table_1.Setting._fields, setting, strict=True))
    return Record("table1", given, method, seed, figures, seconds, 0.1, 100.0, [], {})
