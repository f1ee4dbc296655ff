"""CoCompleter's defaults and its rivals on many real tables with four kinds of holes.

Run with ``make bench-tables``. Tables come inside wheels, apart from three that are read from the folder
COCOMPLETE_DATA names and left out without it. Every result is appended to a file of records as soon as it is
there, so a run that was interrupted goes on where it stopped. ``--show`` computes nothing.

One half of the tables serves to choose between versions of CoCompleter, the other one to confirm the choice:
``--half choose`` neither runs nor shows CoCompleter on the others, and every run that does leaves a line in
``records/confirm-looks.txt``.
"""

import argparse
import json
import logging
import os
import sys
import warnings
from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from time import perf_counter, process_time
from typing import Any

import numpy as np
from joblib import Parallel, delayed

from cocomplete import CoCompleter
from collection import TABLES, half, is_available
from real import compile_once
from rivals import tune
from scoreboard import OURS
from table_cases import SEEDS, Key, TableCase, combinations, make_case
from table_page import write_page
from table_report import render
from table_rivals import TABLE_RIVALS
from table_scores import Filled, Scores, score

RECORDS = Path(__file__).with_name("records")
DRAWS = 40
"""Drawn tables that the bands of drawn cells are made of; for seed 0 alone, because drawing takes long."""

Record = dict[str, Any]

logger = logging.getLogger("bench-tables")


def run_cocompleter(case: TableCase) -> tuple[Any, Filled, Filled]:
    """Fit the defaults to the training rows and complete both parts; also give the model.

    Squared errors and log-losses are asked of expected values and probabilities, as of every rival.
    """
    model = CoCompleter(fill="mean").fit(case.X, case.Y)
    return model, _completed(model, case.X, case.Y), _completed(model, case.X_new, None)


def _completed(model: Any, X: np.ndarray, Y: np.ndarray | None) -> Filled:
    done = model.complete(X, Y)
    return Filled(np.array(done.X, dtype=float), done.Y_proba, done.Y, done.X_std)


def with_draws(model: Any, filled: Filled, X: np.ndarray, Y: np.ndarray | None) -> Filled:
    """Add the features of drawn tables, if the model draws any."""
    if not hasattr(model, "sample_completions"):
        return filled
    tables = model.sample_completions(DRAWS, X, Y, random_state=0)
    return filled._replace(X_draws=np.stack([np.asarray(table.X, dtype=float) for table in tables]))


def run_rival(name: str, case: TableCase, seed: int) -> tuple[Filled, Filled, list[int]]:
    """Tune and fit a rival; also give the places of the chosen settings in its grid."""
    rival = TABLE_RIVALS[name].on(case.X.shape[1] + case.Y.shape[1])
    answer, settings = tune(rival, case.X, case.Y, case.X_new, seed)
    places = [rival.grid.index(settings[part]) for part in ("X", "Y") if part in settings]
    return Filled(answer.X, answer.Y_proba), Filled(answer.X_new, answer.Y_proba_new), places


def outcome(method: str, case: TableCase, seed: int) -> Record:
    """Run one method on one case: its scores and what it cost, or why there are none."""
    if method != OURS:
        skipped = TABLE_RIVALS[method].why_skipped(len(case.X), case.X.shape[1] + case.Y.shape[1])
        if skipped:
            return {"skipped": skipped}
    started, started_cpu = perf_counter(), process_time()
    extra: Record = {}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            if method == OURS:
                model, training, new = run_cocompleter(case)
            else:
                training, new, extra["settings"] = run_rival(method, case, seed)
            cost = {"seconds": perf_counter() - started, "cpu": process_time() - started_cpu}
            if method == OURS and seed == 0:
                # After the clock has stopped: nobody else draws tables.
                training = with_draws(model, training, case.X, case.Y)
                new = with_draws(model, new, case.X_new, None)
        scores = score(case, training, new)
    except Exception as error:
        # A method that fails on a table is part of the result, and must not cost the others theirs.
        logger.info("  %s fails: %r", method, error)
        return {"failed": f"{type(error).__name__}: {error}"[:120], "seconds": perf_counter() - started}
    return {**_known(scores), **cost, **extra}


def _known(scores: Scores) -> Record:
    return {name: value for name, value in scores.items() if value is not None}


def write_record(path: Path, key: Key, method: str, result: Record) -> None:
    """Append one line; figures are kept to five digits."""
    short = {name: _short(value) for name, value in result.items()}
    line = json.dumps({**key._asdict(), "method": method, **short}, separators=(",", ":"))
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(line + "\n")


def _short(value: Any) -> Any:
    return float(f"{value:.5g}") if isinstance(value, float) else value


def read_records(paths: Iterable[Path]) -> dict[tuple[Key, str], Record]:
    """Read records by case and method; of two for the same case the later one counts."""
    lines = [line for path in paths if path.exists() for line in path.read_text().splitlines()]
    records = [json.loads(line) for line in lines]
    return {(Key(*(each[name] for name in Key._fields)), each["method"]): each for each in records}


def planned(tables: Iterable[str], seeds: Iterable[int]) -> list[Key]:
    """All cases, seeds outermost and the half to choose with first: an early report covers all its tables."""
    in_order = sorted(tables, key=lambda table: (half(table) != "choose", table))
    return [
        Key(table, mechanism, share, seed)
        for seed in seeds
        for table in in_order
        for mechanism, share in combinations(table)
    ]


def run_case(key: Key, methods: list[str], files: dict[str, Path]) -> None:
    """Run the methods on a case, and keep each result at once."""
    case = make_case(key)
    for method in methods:
        logger.info("%s, %s, %.0f %% held out, seed %d: %s", *key[:2], 100 * key.share, key.seed, method)
        write_record(files[method], key, method, outcome(method, case, key.seed))


def run_missing(options: argparse.Namespace, files: dict[str, Path]) -> None:
    """Run every selected case that has no record yet."""
    done = {} if options.fresh else read_records(set(files.values()))
    keys = planned(options.tables, options.seeds)
    wanted = [(key, [name for name in options.methods if (key, name) not in done]) for key in keys]
    tasks = [(key, methods) for key, methods in wanted if methods]
    looked_at = sorted(
        {key.table for key, methods in tasks if OURS in methods and half(key.table) == "confirm"}
    )
    if looked_at:
        note_look(options.records / "confirm-looks.txt", looked_at)
    if any(OURS in methods for _, methods in tasks):
        compile_once()
    if options.jobs == 1:
        for key, methods in tasks:
            run_case(key, methods, files)
    else:
        Parallel(options.jobs)(delayed(run_case)(key, methods, files) for key, methods in tasks)


def note_look(path: Path, tables: list[str]) -> None:
    """Write down that CoCompleter is run on tables that are there to confirm."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(
            f"{datetime.now().astimezone():%Y-%m-%d %H:%M %z}: {len(tables)} tables: {', '.join(tables)}\n"
        )


def record_files(folder: Path) -> dict[str, Path]:
    """Give the file of records of every method."""
    rivals = dict.fromkeys(TABLE_RIVALS, folder / "tables-rivals.jsonl")
    return {OURS: folder / "tables-cocompleter.jsonl", **rivals}


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    methods = [OURS, *TABLE_RIVALS]
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("choose", "confirm", "all"), default="choose")
    parser.add_argument(
        "--tables", nargs="+", choices=sorted(TABLES), metavar="TABLE", help=", ".join(sorted(TABLES))
    )
    parser.add_argument(
        "--methods",
        nargs="+",
        choices=[*methods, "rivals"],
        default=methods,
        metavar="METHOD",
        help=f"{', '.join(map(repr, methods))}; rivals stands for all but the first",
    )
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--records", type=Path, default=RECORDS, help="folder of the records")
    parser.add_argument("--fresh", action="store_true", help="run the selected cases again")
    parser.add_argument("--show", action="store_true", help="print the report of the records so far")
    options = parser.parse_args(arguments)
    if "rivals" in options.methods:
        options.methods = [name for name in methods if name in options.methods or name in TABLE_RIVALS]
    chosen = options.tables or sorted(TABLES)
    options.tables = [table for table in chosen if options.half in ("all", half(table))]
    return options


def main() -> None:
    options = parse()
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logger.setLevel(logging.INFO)
    files = record_files(options.records)
    if not options.show:
        folder = os.environ.get("COCOMPLETE_DATA")
        missing = [table for table in options.tables if not is_available(table, folder)]
        if missing:
            logger.info("left out, what they come from is not there: %s", ", ".join(missing))
        options.tables = [table for table in options.tables if table not in missing]
        run_missing(options, files)
    records = read_records(set(files.values()))
    print(render(records, planned(options.tables, options.seeds)), end="")
    # The page shows all tables of the halves asked for, whatever else was selected.
    shown = [table for table in TABLES if options.half in ("all", half(table))]
    write_page(options.records, records, planned(shown, SEEDS))


if __name__ == "__main__":
    main()
