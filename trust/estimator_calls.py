"""CoCompleter and what it is fitted with, as entry points."""

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
from scipy import sparse

import cocomplete
from cocomplete import CoCompleter
from cocomplete.dask import DaskCoCompleter
from cocomplete.table.block_table import ArrayBlocks
from trust.entry_points import (
    FEATURES,
    LABELS,
    Argument,
    Entry,
    amount,
    choice,
    features,
    labels,
    mixed,
    table,
    targets,
)
from trust.hostile_values import WORDS, hostile_scalar, hostile_table

GIVEN: dict[str, Any] = {
    "rank_penalty": 1.0,
    "residual_penalty": 0.0,
    "feature_weight": 0.5,
    "tol": 0.1,
    "max_iter": 3,
}
"""One quick fit instead of a search."""

MODELS = ("plain", "ensemble", "mixed", "flat", "unlabelled", "sparse", "positive", "unfitted")


@cache
def model(kind: str) -> CoCompleter:
    """Give a fitted estimator, the same every time: methods change nothing in it."""
    rng = np.random.default_rng(0)
    X, Y = table(rng), labels(rng)
    parameters, tables = {
        "plain": (GIVEN, (X, Y)),
        "ensemble": ({}, (X, Y)),
        "mixed": (GIVEN, (mixed(rng), Y)),
        "flat": (GIVEN, (X, Y[:, 0])),
        "unlabelled": (GIVEN, (X,)),
        "sparse": (
            GIVEN | {"sparse_missing": "zero"},
            (sparse.csr_array(np.nan_to_num(X)), np.nan_to_num(Y)),
        ),
        "positive": (
            GIVEN | {"label_policy": "positive-unlabelled", "recorded_share": 0.5},
            (X, np.where(Y == 1, 1.0, np.nan)),
        ),
        "unfitted": ({}, ()),
    }[kind]
    made = CoCompleter(**parameters)
    return made.fit(*tables) if tables else made


def _methods(kind: str) -> list[Entry]:
    own = model(kind)
    X = features(mixed if kind == "mixed" else table)
    y = targets()
    rows, both = {"X": X}, {"X": X, "y": y}
    drawing = {"n": amount(1, 2), "X": X._replace(optional=True), "y": y, "random_state": choice(0, 1)}
    about = {
        "title": choice("t"),
        "row_names": choice([f"r{k}" for k in range(8)]),
        "seconds": choice(1.5),
        "texts": choice({"c0": str}),
    }
    words = ("fitted", "features", "labels", "sparse", "columns", "feature names", "sample_completions")
    entries: list[tuple[str, Callable[..., Any], dict[str, Argument]]] = [
        ("complete", own.complete, both),
        ("transform", own.transform, rows),
        ("predict", own.predict, rows),
        ("predict_proba", own.predict_proba, rows),
        ("decision_function", own.decision_function, rows),
        ("predict_feature_proba", own.predict_feature_proba, both),
        ("score", own.score, both | {"y": targets(optional=False)}),
        ("predict_top", own.predict_top, rows | {"k": choice(1, 5)}),
        ("sample_completions", own.sample_completions, drawing),
        ("complete_blocks", lambda table: list(own.complete_blocks(table)), {"table": _blocks()}),
        ("save", own.save, {"path": paths()}),
    ]
    if kind in ("plain", "unfitted"):
        entries.append(("report", own.report, both | about | {"path": paths()._replace(optional=True)}))
    return [Entry(f"{kind}.{name}", call, arguments, words=words) for name, call, arguments in entries]


def _blocks() -> Argument:
    return Argument(
        lambda rng: ArrayBlocks(table(rng), labels(rng)), lambda rng: hostile_table(rng, (8, FEATURES))
    )


def paths() -> Argument:
    """Give names of files to write or read: folders, links, devices, names that no system has."""
    strange = (
        "nowhere/at/all",
        "/proc/none",
        "/dev/null/x",
        "a" * 4000,
        ".",
        "x" * 250,
        "~",
        "new.model",
        b"b.model",
    )
    names: tuple[Any, ...] = (*WORDS, *strange)

    def hostile(rng: np.random.Generator) -> Any:
        return names[rng.integers(len(names))] if rng.random() < 0.7 else hostile_scalar(rng, huge=True)

    return Argument(lambda rng: "good.model", hostile)


def _parameters() -> dict[str, Argument]:
    """Give every parameter of the estimator: good ones keep a fit quick."""
    good: dict[str, tuple[Any, ...]] = {
        **{name: (value,) for name, value in GIVEN.items()},
        "feature_types": ("auto", "number"),
        "solver": ("auto", "factored", "paper"),
        "threshold": (0.5, "cardinality", [0.1, 0.9]),
        "label_policy": ("observed",),
        "random_state": (None, 0),
    }
    found = {}
    for name, parameter in inspect.signature(CoCompleter).parameters.items():
        kind = amount if name in ("max_iter", "verbose") else choice
        # Without penalties a fit chooses, which takes tenths of a second.
        found[name] = kind(*good.get(name, (parameter.default,)), optional=name not in GIVEN)
    return found


def _fitted(X: Any, y: Any = None, **parameters: Any) -> Any:
    return CoCompleter(**parameters).fit(X, y).complete(X, y)


def _from_paper(X: Any, y: Any = None, **parameters: Any) -> Any:
    return CoCompleter.from_paper(**parameters).fit(X, y).reconstruct()


def _on_dask(X: Any, y: Any = None, **parameters: Any) -> Any:
    return DaskCoCompleter(**parameters).fit(X, y)


def _set(value: Any) -> Any:
    return CoCompleter().set_params(tol=value, max_iter=value, rank_penalty=1.0).fit([[1.0, 2.0], [3.0, 4.0]])


def _with_given(X: Any, y: Any = None) -> Any:
    return _fitted(X, y, **GIVEN)


def _sparse(X: Any, y: Any = None, **parameters: Any) -> Any:
    return CoCompleter(**GIVEN, **parameters).fit(X, y).complete(X, y)


def entries() -> list[Entry]:
    """Give the entry points."""
    both, parameters = {"X": features(), "y": targets()}, _parameters()
    good = {name: argument._replace(hostile=argument.good) for name, argument in both.items()}
    penalties = {
        "residual_penalty": choice(0.0, 1.0),
        "max_iter": amount(2),
        "step_floor": choice(40.0, None),
    }
    seldom = ("columns", "labels", "features", "solver", "Dask")
    sparse_table = Argument(
        lambda rng: sparse.csr_array(np.nan_to_num(table(rng))),
        lambda rng: hostile_table(rng, (8, FEATURES)),
    )
    return [
        *(entry for kind in MODELS for entry in _methods(kind)),
        *(Entry("fit a table", _with_given, both, words=seldom) for _ in range(12)),
        *(Entry("fit with parameters", _fitted, good | parameters, words=seldom) for _ in range(12)),
        Entry("complete", cocomplete.complete, {"X": features(), "Y": targets()} | parameters, words=seldom),
        Entry("from_paper", _from_paper, both | penalties, words=seldom),
        Entry(
            "set_params", _set, {"value": amount(1, optional=False)}, finite=False, words=("tol", "max_iter")
        ),
        Entry(
            "fit a sparse table",
            _sparse,
            {"X": sparse_table, "y": targets(), "sparse_missing": choice("zero", "unknown", optional=False)},
            words=seldom,
        ),
        Entry("fit on Dask", _on_dask, both | {"client": choice(None)}, words=seldom),
        Entry("load", cocomplete.load, {"path": paths()}, finite=False),
        Entry(
            "labels",
            lambda X, y: _fitted(X, y, **GIVEN),
            {
                "X": features(),
                "y": Argument(
                    lambda rng: labels(rng, LABELS + 1), lambda rng: hostile_table(rng, (8, 1), labels=True)
                ),
            },
            words=seldom,
        ),
    ]
