"""Table 2: CAL500 recovered, and classifiers trained on what was recovered."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import Bunch

from cocomplete.arrays import FloatArray
from cocomplete.baselines import (
    AllZero,
    GoldbergMC,
    LabelMajority,
    LIMOClassifier,
    Maxide,
    Mc,
    MeanMode,
    NetworkClassifier,
    Oracle,
)
from cocomplete.datasets import load_mulan
from cocomplete.datasets.missing import observe_at_random
from cocomplete.estimator.completer import CoCompleter
from cocomplete.exceptions import InputError
from cocomplete.experiments.published import METHODS_2, TABLE_2
from cocomplete.experiments.runner import Figures, Record, Trial
from cocomplete.experiments.table_1 import exact_coco, how_it_went, recovery
from cocomplete.experiments.tables import Cell, Table, summarize
from cocomplete.metrics import hamming_error

NAME = "table2"

ITERATIONS = 200
"""T of Algorithm 1 on CAL500, which the paper does not print."""

TRAINING_ROWS = 0.8
OBSERVED = 0.2

Make = Callable[[Bunch, int, int], Any]
"""Makes a completer for a split, with a seed and Algorithm 1's iterations."""

COMPLETERS: dict[str, tuple[Make, float]] = {
    "COCO": (lambda _, __, T: CoCompleter.from_paper(step_floor=None, max_iter=T), 8.0),
    "Maxide": (lambda *_: Maxide(), 3.0),
    "Mc": (lambda *_: Mc(), 3.0),
    "Oracle": (lambda split, *_: Oracle(X_true=split.X_true, Y_true=split.Y_true), 2.0),
    "COCO exact": (lambda *_: exact_coco(1.0), 5.0),
    "Maxide tuned": (lambda _, seed, __: Maxide(preset="tuned", random_state=seed), 6.0),
    "Mc tuned": (lambda _, seed, __: Mc(preset="tuned", random_state=seed), 8.0),
    "MC-b tuned": (
        lambda _, seed, __: GoldbergMC(preset="tuned", variant="mc-b", random_state=seed),
        40.0,
    ),
    "CoCompleter": (lambda _, seed, __: CoCompleter(random_state=seed), 15.0),
    "column means": (lambda *_: MeanMode(), 2.0),
}
"""Methods that recover the table, with about how many seconds they take, classifiers included."""

REFERENCES: dict[str, Callable[[], Any]] = {"all zero": AllZero, "label majority": LabelMajority}
"""Classifiers that look at no feature, trained on the clean labels."""

METHODS = (*COMPLETERS, *REFERENCES)
"""Every row of the table."""

FIGURES = {
    "X": "X",
    "Y": "Y",
    "X hidden": "X, held-out cells",
    "Y hidden": "Y, held-out cells",
    "LIMO": "LIMO, test",
    "network": "network, test",
    "itself": "itself, test",
}
"""Columns of the table, and what they are called."""

CLASSIFIERS: dict[str, Callable[[int], Any]] = {
    "LIMO": lambda seed: LIMOClassifier(random_state=seed),
    "network": lambda seed: NetworkClassifier(random_state=seed),
}


def data_file() -> Path:
    """Find CAL500 in the folder named by COCOMPLETE_DATA."""
    folder = os.environ.get("COCOMPLETE_DATA")
    if not folder:
        msg = (
            "CAL500 is needed: set the environment variable COCOMPLETE_DATA to a folder that holds "
            "cal500.arff and cal500.xml (from Mulan's collection of multi-label data sets)"
        )
        raise InputError(msg)
    path = Path(folder) / "cal500.arff"
    if not path.exists():
        msg = f"COCOMPLETE_DATA is {folder}, but there is no cal500.arff in it; put Mulan's CAL500 there"
        raise InputError(msg)
    return path


@cache
def _cal500() -> Bunch:
    return load_mulan(data_file())


def split(seed: int) -> Bunch:
    """Draw 80 % of the rows for training and show 20 % of their cells.

    Returns
    -------
    Bunch
        ``X``, ``Y`` with NaN where missing; ``X_true``, ``Y_true``; ``X_test``, ``Y_test``.
    """
    music = _cal500()
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(music.X))
    count = int(TRAINING_ROWS * len(order))
    train, test = order[:count], order[count:]
    X, Y = music.X[train], music.Y[train]
    shown = [observe_at_random(part, OBSERVED, rng) for part in (X, Y)]
    return Bunch(X=shown[0], Y=shown[1], X_true=X, Y_true=Y, X_test=music.X[test], Y_test=music.Y[test])


def work(trial: Trial) -> Figures:
    """Recover a split with the trial's method, then train classifiers on what it recovered."""
    table = split(trial.seed)
    if trial.method in REFERENCES:
        reference = REFERENCES[trial.method]().fit(table.X_true, table.Y_true)
        error = _test_error(table, reference.predict(table.X_test))
        return dict.fromkeys(CLASSIFIERS, error)
    make, _ = COMPLETERS[trial.method]
    iterations = int(trial.setting.get("iterations", ITERATIONS))
    model = make(table, trial.seed, iterations).fit(table.X, table.Y)
    fitted = model.reconstruct()
    figures = recovery(table, fitted.X, fitted.Z) | how_it_went(model)
    if hasattr(model, "predict"):
        # A completer that takes new rows needs no classifier.
        figures["itself"] = _test_error(table, model.predict(table.X_test))
    labels = (fitted.Z > 0).astype(np.float64)
    for name, classifier in CLASSIFIERS.items():
        trained = classifier(trial.seed).fit(fitted.X, labels)
        figures[name] = _test_error(table, trained.predict(table.X_test))
    return figures


def _test_error(table: Bunch, labels: FloatArray) -> float:
    return float(hamming_error(table.Y_test, labels))


def trials(methods: Sequence[str] = METHODS, count: int = 20, iterations: int = ITERATIONS) -> list[Trial]:
    """Give the trials: first seed first, within a seed the longest first."""
    found = []
    for method in methods:
        given = {"iterations": iterations} if method == "COCO" else {}
        effort = COMPLETERS[method][1] if method in COMPLETERS else 1.0
        found += [Trial(NAME, given, method, seed, effort) for seed in range(count)]
    return sorted(found, key=lambda trial: (trial.seed, -trial.effort))


def gather(records: Sequence[Record], figure: str) -> dict[str, dict[int, float]]:
    """Sort a figure by method and seed."""
    found: dict[str, dict[int, float]] = {method: {} for method in METHODS}
    for record in records:
        if figure in record.figures:
            found[record.method][record.seed] = float(record.figures[figure])
    return found


def tables(records: Sequence[Record]) -> list[Table]:
    """Give the paper's own comparison, then every method."""
    return [
        _table(records, METHODS_2, ("X", "Y", "LIMO", "network"), "CAL500: the paper's table (its figure)"),
        _table(records, METHODS, tuple(FIGURES), "CAL500: beyond the paper"),
    ]


def _table(records: Sequence[Record], methods: Sequence[str], figures: Sequence[str], caption: str) -> Table:
    # The oracle and classifiers trained on the clean labels know what the others have to recover.
    unfair = ("Oracle", *REFERENCES)
    columns = {}
    for figure in figures:
        results = gather(records, figure)
        columns[figure] = summarize({name: results[name] for name in methods}, exclude=unfair)
    printed = tuple(methods) == METHODS_2
    rows: list[tuple[str | Cell, ...]] = []
    for name in methods:
        if any(name in column.summaries for column in columns.values()):
            papers = [TABLE_2[name, figure] if printed else None for figure in figures]
            cells = (columns[figure].cell(name, paper) for figure, paper in zip(figures, papers, strict=True))
            rows.append((name, *cells))
    return Table(caption, ("", *(FIGURES[figure] for figure in figures)), tuple(rows))
