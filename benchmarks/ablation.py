"""What every kind of member is worth: the ensemble's errors without it, and the seconds it costs.

Run with ``make bench-ablation``. Every case of the tables to choose with is judged once, with all kinds;
members are then weighed again with one kind left out, which costs next to nothing. A kind earns its place if
leaving it out costs 1 % of some error in the median over the cases, or 5 % on at least two tables.
"""

import argparse
import json
import logging
import sys
import warnings
from collections import defaultdict
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from threadpoolctl import threadpool_limits

from cocomplete.choosing.ensemble import EnsembleFit
from cocomplete.choosing.kinds import KIND_OF, KINDS
from cocomplete.fitted.ensemble import Ensemble
from cocomplete.fitted.model import Model
from cocomplete.fitted.parts import PARTS
from cocomplete.members.trivial import Trivial
from cocomplete.problem.informative import Informative, rows_with_something
from cocomplete.problem.observations import Observations
from cocomplete.solvers.choice import choose, solve
from cocomplete.table.containers import read_container
from cocomplete.table.feature_types import feature_kinds
from cocomplete.table.schema import Schema
from collection import TABLES, half
from table_cases import Key, TableCase, combinations, make_case
from table_scores import Filled, score
from tables import note_look

RECORDS = Path(__file__).with_name("records")

MEASURES = ("rmse", "yes_no", "log_loss", "hamming", "new_rmse", "new_yes_no", "new_log_loss", "new_hamming")

NOTHING = "–"
"""Name of the whole ensemble, with nothing left out."""

Losses = dict[str, dict[str, float]]

logger = logging.getLogger("bench-ablation")


def exact(objective: Any) -> Any:
    solver, _ = choose("auto", objective)
    return solve(solver, objective, tol=1e-3, max_rank=None, max_iter=None, options=None, progress=None)


class Ablation(EnsembleFit):
    """An ensemble's fit that can be weighed again without a kind; fits of members are kept."""

    def judged(self) -> dict[str, float]:
        """Judge all kinds, and give the CPU seconds that each takes; what kinds share is the first's."""
        seconds = {}
        for kind in self.kinds:
            started = process_time()
            kind.judge(self.folds, self.contest)
            seconds[kind.name] = process_time() - started
        self.fitted: dict[Any, Any] = {}
        return seconds

    def without(self, left_out: str) -> Ensemble:
        """Weigh the others and let them answer."""
        kinds, self.kinds = self.kinds, [kind for kind in self.kinds if kind.name != left_out]
        chosen = {part: self._chosen(part) for part in PARTS}
        self.weights = {
            part: dict(zip(chosen[part], self._weights(part, chosen[part]), strict=True)) for part in PARTS
        }
        wanted = {
            one: [part for part in PARTS if self.weights[part].get(one, 0) > 0 and self._asked(part)]
            for part in PARTS
            for one in chosen[part]
        }
        members = {one: self._member(one, parts) for one, parts in wanted.items() if parts}
        weights = {part: self._aligned(self.weights[part], list(members)) for part in PARTS}
        self.stretch = {part: self._stretch(part) for part in PARTS if part != "numbers"}
        self.kinds = kinds
        trivial = Trivial.fit(self.observed, self.yes_no).mean
        return Ensemble(tuple(members.values()), weights, self.yes_no, 1.0, trivial, self.stretch)

    def _member(self, one: Any, parts: list[Any]) -> Any:
        if (one, tuple(parts)) not in self.fitted:
            self.fitted[one, tuple(parts)] = KIND_OF[one.kind].fit(one.setting, self.whole, parts)
        return self.fitted[one, tuple(parts)]


def ablate(case: TableCase) -> tuple[Losses, dict[str, float]]:
    """Give the scores without each kind, and the seconds of judging it."""
    observed = Observations.from_tables(case.X, case.Y)
    yes_no = Schema(feature_kinds("auto", read_container(case.X, "X"))).binary
    informative = Informative.of(observed)
    narrow = informative.narrow(observed)
    rows = rows_with_something(narrow)
    fit = Ablation(
        Observations(narrow.X[rows], narrow.Y[rows]), yes_no[informative.features], seed=0, solve=exact
    )
    seconds = fit.judged()
    losses = {}
    unlabelled = np.full((len(case.X_new), case.Y.shape[1]), np.nan)
    for name in (NOTHING, *(kind.name for kind in fit.kinds if kind.name != "trivial")):
        model = Model(observed, yes_no, informative, fit.without(name))
        filled = []
        for X, Y in ((case.X, case.Y), (case.X_new, unlabelled)):
            answer = model.answer(Observations(X, Y), std=False)
            features = np.where(yes_no & case.yes_no, answer.X, model.inside(answer.X))
            filled.append(Filled(np.where(np.isnan(X), features, X), 1 / (1 + np.exp(-answer.Z))))
        losses[name] = {k: v for k, v in score(case, *filled).items() if v is not None}
    return losses, seconds


def run_case(key: Key, path: Path) -> None:
    """Ablate a case and keep the result at once."""
    logger.info("%s, %s, %.0f %% held out, seed %d", *key[:2], 100 * key.share, key.seed)
    with threadpool_limits(1), warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        losses, seconds = ablate(make_case(key))
    kept = {
        name: {measure: float(f"{value:.5g}") for measure, value in scores.items() if measure in MEASURES}
        for name, scores in losses.items()
    }
    short = {name: round(value, 3) for name, value in seconds.items()}
    with path.open("a") as file:
        file.write(json.dumps({**key._asdict(), "without": kept, "seconds": short}) + "\n")


def report(records: list[dict[str, Any]]) -> str:
    """Make a table: what leaving out a kind costs, by measure, and its share of the seconds."""
    lines = [
        "| left out | " + " | ".join(MEASURES) + " | tables 5 % worse | seconds of judging |",
        "| --- |" + " --- |" * (len(MEASURES) + 2),
    ]
    total = sum(sum(record["seconds"].values()) for record in records)
    for kind in KINDS:
        if kind.name == "trivial":
            continue
        ratios: dict[str, list[float]] = defaultdict(list)
        by_table: dict[tuple[str, str], list[float]] = defaultdict(list)
        for record in records:
            whole, without = record["without"][NOTHING], record["without"].get(kind.name)
            for measure in MEASURES:
                if whole.get(measure):
                    ratio = 1.0 if without is None else without[measure] / whole[measure]
                    ratios[measure].append(ratio)
                    by_table[record["table"], measure].append(ratio)
        worse = {table for (table, _), own in by_table.items() if np.exp(np.mean(np.log(own))) >= 1.05}
        cells = [f"{np.median(ratios[m]):.3f} ({_mean(ratios[m]):.3f})" for m in MEASURES]
        seconds = sum(record["seconds"].get(kind.name, 0.0) for record in records)
        lines.append(
            f"| {kind.name} | " + " | ".join(cells) + f" | {len(worse)} | {seconds:.0f} of {total:.0f} |"
        )
    return "\n".join(lines) + "\n"


def _mean(ratios: list[float]) -> float:
    """Geometric mean; an error of zero without a kind counts as a thousandth."""
    return float(np.exp(np.mean(np.log(np.maximum(ratios, 1e-3)))))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("choose", "confirm"), default="choose")
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--records", type=Path, default=RECORDS, help="folder of the records")
    parser.add_argument("--show", action="store_true", help="print the table of the records so far")
    options = parser.parse_args()
    logging.basicConfig(format="%(asctime)s %(message)s", datefmt="%H:%M:%S", stream=sys.stderr)
    logger.setLevel(logging.INFO)
    path = options.records / f"ablation-{options.half}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {tuple(record[name] for name in Key._fields) for record in records}
    tables = [table for table in sorted(TABLES) if half(table) == options.half]
    keys = [
        Key(table, *pair, seed) for seed in options.seeds for table in tables for pair in combinations(table)
    ]
    missing = [key for key in keys if tuple(key) not in done]
    if missing and not options.show:
        if options.half == "confirm":
            note_look(options.records / "confirm-looks.txt", tables)
        Parallel(options.jobs)(delayed(run_case)(key, path) for key in missing)
        records = [json.loads(line) for line in path.read_text().splitlines()]
    table = report(records)
    (options.records / f"ablation-{options.half}.md").write_text(table)
    print(table, end="")


if __name__ == "__main__":
    main()
