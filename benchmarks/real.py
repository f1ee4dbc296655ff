"""CoCompleter's defaults and the methods a user would pick instead, on real multi-label tables.

Run with ``make bench-real``; COCOMPLETE_DATA names the folder with Mulan's sets. Every result is kept as a
line of JSON as soon as it is there, so a run that was interrupted goes on where it stopped. ``--show`` prints
the table of the results so far and computes nothing.
"""

import argparse
import json
import logging
import os
import sys
import warnings
from importlib.metadata import PackageNotFoundError, version
from itertools import product
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from cocomplete import CoCompleter
from cocomplete.exceptions import InputError
from protocol import SEEDS, SETS, SHARES, Answer, Case, make_case, score, time_svd
from rivals import RIVALS, tune
from scoreboard import OURS, Result, render

RESULTS = Path(__file__).with_name("results") / "real.jsonl"

NOTES = """\
Means over seeds. 80 % of the rows are trained on, and each of their cells is seen with the probability given;
RMSE (each feature divided by its standard deviation), Hamming, macro AUC and micro AP are over their held-out
cells. The other rows are new: features complete, labels unknown. Rivals choose a setting for features and one
for labels by holding out 12.5 % of the observed cells; CoCompleter has its defaults. Seconds are those of
tuning, fitting and completing; the unit of SVDs is one numpy.linalg.svd of the training table in the same
process. "90 % holds" is the share of held-out feature cells within 1.645 of the standard deviations a method
gives. Sets are whole: cal500, emotions and yeast one file each, birds its train and test files joined. Best
in bold; "–" where a method does not give it."""

logger = logging.getLogger("bench-real")


def cocompleter(X: np.ndarray, Y: np.ndarray, X_new: np.ndarray) -> Answer:
    model = CoCompleter(fill="mean")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        done = model.fit(X, Y).complete(X, Y)
        return Answer(
            done.X, done.Y_proba, model.predict_proba(X_new), done.Y, model.predict(X_new), done.X_std
        )


def installed(package: str) -> str:
    """Give a package's version; a table of some methods alone does not need them all."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def compile_once() -> None:
    """Fit a tiny table, so that the first case does not pay for compiling."""
    rng = np.random.default_rng(0)
    X, Y = rng.normal(size=(20, 4)), rng.integers(2, size=(20, 2)).astype(float)
    X[0, 0] = Y[0, 0] = np.nan
    cocompleter(X, Y, X[1:])


def run(name: str, case: Case, unit: float, seed: int) -> Result:
    """Run one method on one case and score it."""
    started = perf_counter()
    settings: dict[str, Any] = {}
    if name == OURS:
        answer = cocompleter(case.X, case.Y, case.X_new)
    else:
        answer, settings = tune(RIVALS[name], case.X, case.Y, case.X_new, seed)
    seconds = perf_counter() - started
    return {**score(case, answer), "seconds": seconds, "svds": seconds / unit, "settings": settings}


def run_missing(options: argparse.Namespace, done: dict[tuple[Any, ...], Result]) -> None:
    """Run every selected case that has no result yet and append what comes out."""
    if OURS in options.methods:
        compile_once()
    options.results.parent.mkdir(parents=True, exist_ok=True)
    # Seeds outside sets: an early table covers all sets.
    for share, seed, name in product(options.shares, options.seeds, options.sets):
        missing = [method for method in options.methods if (name, share, seed, method) not in done]
        if not missing:
            continue
        case = make_case(name, share, seed)
        unit = time_svd(case)
        for method in missing:
            logger.info("%s, %.0f %% seen, seed %d: %s", name, 100 * share, seed, method)
            try:
                outcome = run(method, case, unit, seed)
            except Exception:
                # One method that fails on one table must not cost the others their results.
                logger.exception("%s gives no result", method)
                continue
            result = {"set": name, "share": share, "seed": seed, "method": method, **outcome}
            with options.results.open("a") as file:
                file.write(json.dumps(result) + "\n")
            done[name, share, seed, method] = result


def read_results(path: Path) -> dict[tuple[Any, ...], Result]:
    """Read results by set, share, seed and method; of two for the same case the later one counts."""
    if not path.exists():
        return {}
    results = [json.loads(line) for line in path.read_text().splitlines()]
    return {(each["set"], each["share"], each["seed"], each["method"]): each for each in results}


def write_atomically(path: Path, text: str) -> None:
    """Write a file that is never seen half-written."""
    draft = path.with_suffix(path.suffix + ".part")
    draft.write_text(text)
    draft.replace(path)


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    methods = [OURS, *RIVALS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS, metavar="SET", help=", ".join(SETS))
    parser.add_argument("--shares", nargs="+", type=float, default=SHARES, help="observed shares of cells")
    parser.add_argument("--seeds", nargs="+", type=int, default=SEEDS)
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=methods,
        default=methods,
        metavar="METHOD",
        help=", ".join(map(repr, methods)),
    )
    parser.add_argument("--results", type=Path, default=RESULTS, help="file of results, one JSON line each")
    parser.add_argument("--table", type=Path, help="file of the table (default: beside the results, .md)")
    parser.add_argument("--fresh", action="store_true", help="run the selected cases again")
    parser.add_argument("--show", action="store_true", help="print the table of the results so far")
    options = parser.parse_args(arguments)
    options.table = options.table or options.results.with_suffix(".md")
    return options


def main() -> None:
    options = parse()
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logger.setLevel(logging.INFO)
    results = read_results(options.results)
    if not options.show:
        folder = os.environ.get("COCOMPLETE_DATA")
        if not folder or not Path(folder).is_dir():
            sys.exit("Set COCOMPLETE_DATA to the folder with Mulan's cal500, emotions, yeast and birds.")
        try:
            run_missing(options, {} if options.fresh else results)
        except InputError as error:
            sys.exit(str(error))
        results = read_results(options.results)
    if not results:
        sys.exit(f"There are no results in {options.results} yet.")
    packages = ("cocomplete", "numpy", "scikit-learn", "cmfrec", "gcimpute")
    versions = ", ".join(f"{package} {installed(package)}" for package in packages)
    table = render(list(results.values()), f"{NOTES}\n\nVersions: {versions}.")
    write_atomically(options.table, table)
    print(table, end="")


if __name__ == "__main__":
    main()
