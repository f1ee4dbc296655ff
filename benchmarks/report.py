"""What a report costs beyond the fit, and how large its page is: tables of up to 100 000 rows × 500 columns.

The fits are cheap ones: an ensemble of few members, whose held-out cells the report takes, and a minimiser at
given penalties, of which the report holds out cells itself.
"""

import argparse
from functools import partial
from time import perf_counter
from unittest.mock import patch

import numpy as np

from cocomplete import CoCompleter
from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.estimator import fit_ensemble
from cocomplete.report.report import Report

SIZES = ((400, 30, 5), (5_000, 100, 10), (20_000, 200, 20), (100_000, 480, 20))
"""Rows, features and labels."""

LARGEST_PAGE, LONGEST = 2_000_000, 10.0
"""Bytes of a page, and seconds of a report, that are promised for the last of them."""

FEW = {"average", "as-numbers", "rbf", "number-kernel", "trees", "minimiser", "logistic", "labels-alone"}
"""Kinds of members that are left out, so that the benchmark is about the report."""


def table(n: int, d: int, n_labels: int) -> tuple[np.ndarray, np.ndarray]:
    """Make a table of numbers, levels and labels with three factors, of which 40 % is missing."""
    rng = np.random.default_rng(0)
    T = rng.normal(size=(n, 3)) @ rng.normal(size=(3, d + n_labels)) + rng.normal(size=(n, d + n_labels))
    X, Y = T[:, :d], (T[:, d:] > 1).astype(float)
    X[:, ::5] = np.clip(np.round(X[:, ::5]), -2, 2)
    X[rng.random(X.shape) < 0.4], Y[rng.random(Y.shape) < 0.4] = np.nan, np.nan
    return X, Y


def measured(model: CoCompleter, X: np.ndarray, Y: np.ndarray) -> tuple[Report, str, float, float]:
    """Give the report, its page, and the seconds of both."""
    start = perf_counter()
    report = model.report(X, Y)
    middle = perf_counter()
    page = report.to_html()
    return report, page, middle - start, perf_counter() - middle


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=SIZES[-1][0], help="largest table, in rows")
    most = parser.parse_args().rows
    few = partial(EnsembleFit, leave_out=FEW)
    print(
        f"{'table':>18} {'fit':<10} {'fit s':>7} {'numbers s':>9} {'page s':>7} {'together':>8} "
        f"{'JSON kB':>8} {'page kB':>8}"
    )
    for n, d, n_labels in SIZES:
        if n > most:
            continue
        X, Y = table(n, d, n_labels)
        for name, settings in (
            ("ensemble", {}),
            ("minimiser", {"rank_penalty": 30.0, "residual_penalty": 0.0}),
        ):
            with patch.object(fit_ensemble, "EnsembleFit", few):
                start = perf_counter()
                model = CoCompleter(**settings).fit(X, Y)
                seconds = perf_counter() - start
            report, page, numbers, rendering = measured(model, X, Y)
            size, together = len(page.encode()), numbers + rendering
            print(
                f"{n:>9} × {d + n_labels:>6} {name:<10} {seconds:7.1f} {numbers:9.2f} {rendering:7.2f} "
                f"{together:8.2f} {len(report.to_json()) / 1000:8.0f} {size / 1000:8.0f}",
                flush=True,
            )
            if size > LARGEST_PAGE or together > LONGEST:
                print(f"  more than the {LARGEST_PAGE / 1e6:g} MB or {LONGEST:g} s that are promised")


if __name__ == "__main__":
    main()
