"""Everything public beside the estimator, as entry points."""

from pathlib import Path
from typing import Any

import numpy as np

import cocomplete
from cocomplete import baselines, datasets, formats, metrics, model_selection, plot, statistics
from trust.entry_points import (
    LABELS,
    Argument,
    Entry,
    amount,
    choice,
    features,
    labels,
    mask,
    table,
    targets,
)
from trust.estimator_calls import model, paths
from trust.hostile_values import hostile_scalar, hostile_table

CSV = "a,b,c\n1,2,x\n,3,y\n4,,x\n"


def _full(rng: np.random.Generator) -> Any:
    return np.nan_to_num(table(rng))


def _probabilities(rng: np.random.Generator) -> Any:
    return rng.random((8, LABELS))


def _against(make: Any, columns: int) -> Argument:
    return Argument(make, lambda rng: hostile_table(rng, (8, columns)))


def _of_metrics() -> list[Entry]:
    truth, label = features(), targets(optional=False)
    counted = {"return_counts": choice(True, False)}
    found = []
    for name in ("relative_error", "standardized_rmse", "rmse", "mae", "interval_coverage"):
        arguments = {
            "X_true": truth,
            "X_pred": _against(_full, 4),
            "observed": mask(),
            "mask": mask(),
        } | counted
        if name == "interval_coverage":
            arguments |= {
                "X_std": _against(lambda rng: rng.random((8, 4)), 4),
                "level": choice(0.9),
                "average": choice("columns", "cells"),
            }
        found.append((name, arguments))
    masks = {"observed": mask(LABELS), "mask": mask(LABELS)}
    scores = {
        **dict.fromkeys(("log_loss", "brier", "reliability", "expected_calibration_error"), "Y_proba"),
        **dict.fromkeys(
            ("roc_auc", "average_precision", "ranking_loss", "coverage", "precision_at_k"), "Y_score"
        ),
        "hamming_error": "Y_pred",
    }
    for name, second in scores.items():
        predicted = labels_without_holes if second == "Y_pred" else _probabilities
        arguments = {"Y_true": label, second: _against(predicted, LABELS)} | masks
        arguments |= {} if name == "reliability" else counted
        if "calibration" in name or name == "reliability":
            arguments |= {"n_bins": amount(3, 10)}
        if name in ("roc_auc", "average_precision"):
            arguments |= {"average": choice("macro", "micro", None)}
        if name == "precision_at_k":
            arguments |= {"k": choice(1, 2)}
        found.append((name, arguments))
    # A score that is not defined is NaN, with a warning that says so.
    words = ("truth", "prediction", "scores")
    return [
        Entry(f"metrics.{name}", getattr(metrics, name), arguments, finite=False, words=words)
        for name, arguments in found
    ]


def labels_without_holes(rng: np.random.Generator) -> Any:
    """Give labels as a completion has them."""
    return np.nan_to_num(labels(rng))


def _splits(kind: str, X: Any, y: Any = None, **parameters: Any) -> Any:
    splitter = getattr(model_selection, kind)(**parameters)
    return list((splitter.split if kind == "RowKFold" else splitter.split_entries)(X, y))


def _judged(X: Any, y: Any = None, cv: Any = 3) -> Any:
    return model_selection.cross_val_entries(baselines.MeanMode(), X, y, cv=cv)


def _of_model_selection() -> list[Entry]:
    both = {"X": features(), "y": targets()}
    seeds = {"n_splits": amount(2, 3), "random_state": choice(0, None)}
    words = ("folds", "scorer", "shuffle")
    own = {
        "EntryKFold": {"shuffle": choice(True, False)},
        "EntryShuffleSplit": {"test_size": choice(0.2)},
        "RowKFold": {"shuffle": choice(True, False)},
    }
    return [
        *(
            Entry(
                f"model_selection.{kind}",
                lambda _kind=kind, **given: _splits(_kind, **given),
                both | seeds | more,
                finite=False,
                words=words,
            )
            for kind, more in own.items()
        ),
        Entry("cross_val_entries", _judged, both | {"cv": amount(2, 3)}, finite=False, words=words),
        Entry(
            "get_scorer",
            model_selection.get_scorer,
            {"name": choice("masked_log_loss", optional=False)},
            finite=False,
            words=words,
        ),
        Entry(
            "a scorer",
            lambda X, y: model_selection.get_scorer("masked_roc_auc_macro")(model("plain"), X, y),
            {"X": features(), "y": targets(optional=False)},
            finite=False,
            words=("truth", "features"),
        ),
    ]


def _pooled(null: Any = 0.0, **given: Any) -> Any:
    return cocomplete.pool(**given).p_value(null)


def _of_statistics() -> list[Entry]:
    trials = Argument(lambda rng: rng.random(4), lambda rng: hostile_table(rng, (4, 1)))
    several = Argument(lambda rng: rng.random((4, 2)), lambda rng: hostile_table(rng, (4, 2)))
    results = Argument(
        lambda rng: {"a": rng.random(4), "b": rng.random(4)},
        lambda rng: (
            {"a": rng.random(4), "b": hostile_table(rng, (4, 1))}
            if rng.random() < 0.7
            else hostile_scalar(rng, huge=True)
        ),
    )
    pooling = {"confidence": choice(0.9), "complete_df": choice(None, 9.0), "null": choice(0.0, 1)}
    return [
        Entry("pool", _pooled, {"estimates": several, "variances": several} | pooling),
        Entry(
            "statistics.paired_test",
            statistics.paired_test,
            {"worse": trials, "better": trials},
            finite=False,
            words=("results",),
        ),
        Entry(
            "statistics.compare",
            statistics.compare,
            {
                "results": results,
                "lower_is_better": choice(True),
                "confidence": choice(0.9),
                "exclude": choice((), ("a",)),
            },
            finite=False,
            words=("trials",),
        ),
    ]


def _read(path: Any = "table.csv", **options: Any) -> Any:
    Path("table.csv").write_text(CSV, encoding="utf-8")
    return formats.read_table(path, **options)


def _written(path: Any) -> Any:
    read = _read()
    return formats.write_table(read.frame, read, path)


def _opened(path: Any, **options: Any) -> Any:
    np.save("X.npy", np.ones((4, 3)))
    _read().frame.write_parquet("t.parquet")
    return cocomplete.open(path, **options)


def _of_files() -> list[Entry]:
    options = {
        "missing": choice((), ("-1",)),
        "separator": choice(","),
        "decimal": choice(".", ","),
        "encoding": choice("utf-8"),
        "day_first": choice(True),
        "checked": choice("x"),
        "sheet": choice("s"),
        "as_text": choice((), ("a",)),
        "skip_lines": amount(0, 1),
    }
    stored = {
        "labels": choice("c", None),
        "features": choice("*"),
        "ignore": choice(()),
        "missing": choice(()),
    }
    place = Argument(lambda rng: ("t.parquet", "X.npy")[rng.integers(2)], paths().hostile)
    blocks = Argument(lambda rng: [_read().frame], lambda rng: hostile_table(rng, (4, 2)))
    return [
        Entry(
            "formats.read_table",
            _read,
            {"path": paths()._replace(good=lambda rng: "table.csv")} | options,
            finite=False,
        ),
        Entry("formats.write_table", _written, {"path": paths()}, finite=False),
        Entry(
            "formats.write_blocks",
            formats.write_blocks,
            {"folder": paths(), "blocks": blocks, "force": choice(True, False)},
            finite=False,
        ),
        Entry("open", _opened, {"path": place} | stored, finite=False),
        Entry(
            "datasets.load_mulan",
            datasets.load_mulan,
            {"path_to_arff": paths(), "path_to_xml": paths()._replace(optional=True)},
            finite=False,
        ),
        Entry(
            "datasets.make_clinic",
            datasets.make_clinic,
            {
                "n_samples": amount(3),
                "feature_share": choice(0.5),
                "label_share": choice(0.5),
                "random_state": choice(0),
            },
            finite=False,
        ),
        Entry(
            "datasets.make_low_rank_multilabel",
            datasets.make_low_rank_multilabel,
            {name: amount(3, optional=False) for name in ("n_samples", "n_features", "n_labels", "rank")}
            | {"observed": choice(0.5), "random_state": choice(0)},
            finite=False,
        ),
    ]


def _rival(kind: str, X: Any, y: Any = None, **parameters: Any) -> Any:
    return getattr(baselines, kind)(**parameters).fit(X, y).complete(X, y)


def _classifier(kind: str, X: Any, y: Any, **parameters: Any) -> Any:
    return getattr(baselines, kind)(**parameters).fit(X, y).predict(X)


def _of_baselines() -> list[Entry]:
    both = {"X": features(), "y": targets(optional=False)}
    whole = {"X": Argument(_full, features().hostile), "y": Argument(labels_without_holes, targets().hostile)}
    quick = {"max_iter": amount(2, optional=False), "random_state": choice(0)}
    rivals = {
        "MeanMode": {},
        "SoftImpute": quick
        | {
            "preset": choice("paper"),
            "rank_penalty": choice(1.0, optional=False),
            "use_labels": choice(True),
            "center": choice(True),
            "scale": choice(True),
            "tol": choice(1e-2),
        },
        "Maxide": quick
        | {
            "preset": choice("paper"),
            "feature_penalty": choice(1.0),
            "label_penalty": choice(1.0, optional=False),
        },
        "Mc": quick
        | {"preset": choice("paper"), "rank_penalty": choice(1.0, optional=False), "tol": choice(1e-2)},
        "GoldbergMC": quick
        | {
            "preset": choice("paper"),
            "variant": choice("mc-1", "mc-b"),
            "rank_penalty": choice(1.0, optional=False),
            "label_weight": choice(1.0, optional=False),
            "tol": choice(1e-2),
        },
    }
    classifiers = {
        "AllZero": {},
        "LabelMajority": {},
        "LIMOClassifier": {
            "step": choice(0.01),
            "epochs": amount(1, optional=False),
            "label_margin": choice(1.0),
            "instance_margin": choice(1.0),
            "random_state": choice(0),
        },
        "NetworkClassifier": {
            "hidden": amount(3, optional=False),
            "epochs": amount(1, optional=False),
            "batch_size": amount(4),
            "learning_rate": choice(1e-3),
            "weight_decay": choice(1e-4),
            "random_state": choice(0),
        },
    }
    words = ("features", "labels", "preset")
    return [
        *(
            Entry(
                f"baselines.{kind}",
                lambda _kind=kind, **given: _rival(_kind, **given),
                both | more,
                words=words,
            )
            for kind, more in rivals.items()
        ),
        *(
            Entry(
                f"baselines.{kind}",
                lambda _kind=kind, **given: _classifier(_kind, **given),
                whole | more,
                words=words,
            )
            for kind, more in classifiers.items()
        ),
    ]


def _drawn_figure(name: str, **given: Any) -> None:
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot

    try:
        getattr(plot, name)(**given)
    finally:
        pyplot.close("all")


def _of_plots() -> list[Entry]:
    fitted = Argument(lambda rng: model("plain"), lambda rng: hostile_scalar(rng, huge=True))
    more = {
        "spectrum": {},
        "convergence": {},
        "validation": {},
        "loadings": {"factor": choice(1), "most": choice(3)},
        "missingness": {"X": features(), "y": targets()},
        "observed_against_filled": {"X": features(), "column": choice(0)},
    }
    return [
        Entry(
            f"plot.{name}",
            lambda _name=name, **given: _drawn_figure(_name, **given),
            {"model": fitted, "ax": choice(None)} | arguments,
            finite=False,
            words=("features",),
        )
        for name, arguments in more.items()
    ]


def entries() -> list[Entry]:
    """Give the entry points; those that draw are among the dearest and come once."""
    cheap = [*_of_metrics(), *_of_model_selection(), *_of_statistics(), *_of_files()]
    return [*cheap, *cheap, *_of_baselines(), *_of_plots()]
