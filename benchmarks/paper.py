"""Compare Algorithm 1, as implemented, with the paper's figures.

Prints measured errors beside the published ones: the first row of Table 1 (seeds 0 to 4) and, if the
folder named by COCOMPLETE_DATA holds it, CAL500 (5 splits). Run with ``make bench-paper``.
"""

import os
from pathlib import Path
from time import perf_counter

import numpy as np

from cocomplete import CoCompleter
from cocomplete.datasets import load_mulan, make_low_rank_multilabel
from cocomplete.metrics import hamming_error, relative_error


def errors(model: CoCompleter, X_true: np.ndarray, Y_true: np.ndarray) -> tuple[float, float]:
    fitted = model.reconstruct()
    return relative_error(X_true, fitted.X), hamming_error(Y_true, fitted.Z > 0)


def report(name: str, runs: list[tuple[float, float]], paper: tuple[str, str], seconds: float) -> None:
    means, stds = np.mean(runs, axis=0), np.std(runs, axis=0)
    for what, mean, std, printed in zip("XY", means, stds, paper, strict=True):
        print(f"{name:8s} {what}  measured {mean:.4f} ± {std:.4f}   paper {printed}")
    print(f"{'':8s}    {seconds / len(runs):.1f} s per fit")


def first_row() -> None:
    print("Table 1, first row: n 1000, d 500, l 100, r 10, 20 % observed; 300 iterations, seeds 0-4")
    for residual_penalty, paper in ((1.0, ("0.0221", "0.0318")), (0.0, ("0.0527", "0.0319"))):
        started, runs = perf_counter(), []
        for seed in range(5):
            data = make_low_rank_multilabel(1000, 500, 100, 10, 0.2, random_state=seed)
            model = CoCompleter.from_paper(residual_penalty).fit(data.X, data.Y)
            runs.append(errors(model, data.X_true, data.Y_true))
        report(f"COCO-{residual_penalty:.0f}", runs, paper, perf_counter() - started)


def cal500(folder: Path) -> None:
    print("CAL500: 80 % of rows, 20 % of cells, raw features, no step floor; 200 iterations, splits 0-4")
    music = load_mulan(folder / "cal500.arff")
    started, runs = perf_counter(), []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        rows = rng.permutation(len(music.X))[: int(0.8 * len(music.X))]
        X, Y = music.X[rows], music.Y[rows]
        shown = [np.where(rng.random(part.shape) < 0.2, part, np.nan) for part in (X, Y)]
        model = CoCompleter.from_paper(step_floor=None, max_iter=200).fit(*shown)
        runs.append(errors(model, X, Y))
    report("COCO-1", runs, ("0.6477 ± 0.0336", "0.1025 ± 0.0004"), perf_counter() - started)


if __name__ == "__main__":
    first_row()
    data_folder = os.environ.get("COCOMPLETE_DATA")
    if data_folder and (Path(data_folder) / "cal500.arff").exists():
        cal500(Path(data_folder))
    else:
        print("CAL500 left out: set COCOMPLETE_DATA to the folder that holds cal500.arff and cal500.xml")
