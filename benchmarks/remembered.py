"""A fixed set of figures, kept commit by commit, so that a loss is seen when it happens.

Run with ``make bench``: ten minutes. Every figure is one line in ``benchmarks/records/history.jsonl``, with
the commit it was measured at, and a point in the picture beside that file. Costs are ratios of CPU seconds
within one run, so that machines matter little; errors are those of cells that were held out. What is worse
than at the last commit, by more than a fifth of a ratio or a hundredth of an error, is printed in red.
"""

import argparse
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from time import perf_counter, process_time

import numpy as np
from scipy.special import expit

from cost import low_rank, run

ROOT = Path(__file__).parent.parent
HISTORY = Path(__file__).parent / "records" / "history.jsonl"

ALLOWED = {"ratio": 0.2, "error": 0.01}
"""Share by which a figure of each sort may rise before it is called worse."""

RED, PLAIN = "\033[31m", "\033[0m"


@dataclass(frozen=True)
class Figure:
    """One number of one commit; all are better the lower they are.

    Attributes
    ----------
    name : str
    sort : {"ratio", "error"}
    value : float
    commit : str
        With a + if files had changed since.
    date : str
        Of the commit.
    """

    name: str
    sort: str
    value: float
    commit: str
    date: str


def costs() -> Iterator[tuple[str, str, float]]:
    """Give what a default fit costs beside IterativeImputer, one thread."""
    for name in ("1000x50+5", "5000x50+5"):
        theirs, ours = run("imputer", name), run("ours", name)
        yield f"default fit, {name}, per IterativeImputer", "ratio", ours["cpu"] / theirs["cpu"]


def solver() -> Iterator[tuple[str, str, float]]:
    """Give what the exact solver takes on the paper's first row, in units of one SVD; compiled before."""
    from cocomplete.solvers.factored import solve_factored
    from solvers import Case

    for title, residual in (("met exactly", 2.0), ("squared", 0.0)):
        case = Case("A", 2.0, residual)
        seconds = []
        for _ in range(4):
            started = perf_counter()
            solve_factored(case.objective, tol=1e-2)
            seconds.append(perf_counter() - started)
        yield f"exact solve to 1e-2, features {title}, per SVD", "ratio", min(seconds[1:]) / case.unit


def predicting() -> Iterator[tuple[str, str, float]]:
    """Give what new rows cost beside the fit."""
    from cocomplete import CoCompleter

    X, Y = low_rank(4_000, 50, 5, 0.6)
    CoCompleter().fit(X[:60], Y[:60])
    started = process_time()
    model = CoCompleter(random_state=0).fit(X, Y)
    fitted = process_time() - started
    started = process_time()
    model.predict_proba(X + 0)
    yield "predict_proba of 4 000 rows, per fit", "ratio", (process_time() - started) / fitted


def errors() -> Iterator[tuple[str, str, float]]:
    """Give errors of held-out cells of drawn tables, and of Mulan's where there are any."""
    from cocomplete import CoCompleter

    for name, (X, Y, X_true, Y_true) in drawn().items():
        done = CoCompleter(random_state=0).fit(X, Y).complete(X, Y)
        off = ((np.asarray(done.X) - X_true) / X_true.std(axis=0))[np.isnan(X)]
        p = np.clip(done.Y_proba, 1e-9, 1 - 1e-9)
        loss = -(Y_true * np.log(p) + (1 - Y_true) * np.log(1 - p))[np.isnan(Y)]
        yield f"{name}, hidden features, standardised RMSE", "error", float(np.sqrt(np.mean(off**2)))
        yield f"{name}, hidden labels, log-loss", "error", float(loss.mean())


def drawn() -> dict[str, tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]]:
    """Give tables with holes, and what was in them."""
    rng = np.random.default_rng(0)
    tables = {}
    for name, n, d, n_labels, noise in (
        ("800 x 30 + 6", 800, 30, 6, 0.6),
        ("200 x 120 + 10", 200, 120, 10, 0.4),
    ):
        T = rng.normal(size=(n, 5)) @ rng.normal(size=(5, d + n_labels)) / np.sqrt(5)
        X = T[:, :d] + noise * rng.normal(size=(n, d))
        # A third of the columns are skewed, as amounts are.
        X[:, ::3] = np.exp(X[:, ::3])
        Y = (rng.random((n, n_labels)) < expit(2 * T[:, d:])).astype(float)
        tables[name] = _with_holes(rng, X, Y)
    if "COCOMPLETE_DATA" in os.environ:
        from cocomplete.datasets import load_mulan

        for name in ("emotions", "cal500"):
            data = load_mulan(Path(os.environ["COCOMPLETE_DATA"]) / f"{name}.arff")
            tables[name] = _with_holes(rng, np.asarray(data.X, float), np.asarray(data.Y, float))
    return tables


def _with_holes(
    rng: np.random.Generator, X: np.ndarray, Y: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    holes = (np.where(rng.random(table.shape) < 0.5, np.nan, table) for table in (X, Y))
    return *holes, X, Y


GROUPS: dict[str, Callable[[], Iterator[tuple[str, str, float]]]] = {
    "costs": costs,
    "solver": solver,
    "predicting": predicting,
    "errors": errors,
}


def worse(value: float, before: float, sort: str) -> bool:
    """Whether a figure has risen by more than its sort allows."""
    return value > before * (1 + ALLOWED[sort])


def read(path: Path) -> list[Figure]:
    """Give all figures, in the order in which they were measured."""
    if not path.exists():
        return []
    return [Figure(**json.loads(line)) for line in path.read_text().splitlines()]


def last_of_another(history: list[Figure], name: str, commit: str) -> float | None:
    """Give what a figure was when it was last measured at another commit."""
    return next((one.value for one in reversed(history) if one.name == name and one.commit != commit), None)


def commit() -> tuple[str, str]:
    """Give the commit that is checked out, and its date."""

    def git(*words: str) -> str:
        return subprocess.run(
            ["git", "-C", str(ROOT), *words], capture_output=True, text=True, check=True
        ).stdout

    name, date = git("log", "-1", "--format=%h %cs").split()
    return name + ("+" if git("status", "--porcelain", "--", "src") else ""), date


def draw(history: list[Figure], path: Path) -> None:
    """Draw every figure against commits, as shares of what it first was."""
    import matplotlib as mpl
    from matplotlib.figure import Figure as Picture

    commits = list(dict.fromkeys(one.commit for one in history))
    picture = Picture(figsize=(12, 8), layout="constrained")
    axes = picture.subplots(2, 1, sharex=True)
    for ax, (sort, allowed) in zip(axes, ALLOWED.items(), strict=True):
        for name in dict.fromkeys(one.name for one in history if one.sort == sort):
            own = [one for one in history if one.name == name]
            shares = [one.value / own[0].value for one in own]
            ax.plot([commits.index(one.commit) for one in own], shares, marker="o", label=name)
        ax.axhline(1, color="0.7", zorder=0)
        ax.set_title(f"{sort}s as shares of the first; a rise of {allowed:.0%} is a loss", loc="left")
        if ax.lines[:-1]:
            ax.legend(fontsize="x-small", loc="upper left", bbox_to_anchor=(1, 1))
    axes[-1].set_xticks(range(len(commits)), commits, rotation=60, fontsize="x-small")
    # The same history is the same file.
    with mpl.rc_context({"svg.hashsalt": "cocomplete", "svg.fonttype": "none"}):
        picture.savefig(path, metadata={"Date": None})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="+", choices=list(GROUPS), default=list(GROUPS))
    parser.add_argument("--history", type=Path, default=HISTORY)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    name_of_commit, date = commit()
    before, losses = read(asked.history), 0
    asked.history.parent.mkdir(parents=True, exist_ok=True)
    for group in asked.only:
        for name, sort, value in GROUPS[group]():
            figure = Figure(name, sort, float(f"{value:.5g}"), name_of_commit, date)
            with asked.history.open("a") as file:
                file.write(json.dumps(asdict(figure)) + "\n")
            past = last_of_another(before, name, name_of_commit)
            text = f"{name:66} {figure.value:9.4g}" + ("" if past is None else f"  (was {past:.4g})")
            if past is not None and worse(figure.value, past, sort):
                losses += 1
                text = f"{RED}{text}  worse{PLAIN}"
            print(text, flush=True)
    draw(read(asked.history), asked.history.with_suffix(".svg"))
    if losses:
        sys.exit(f"{losses} figure(s) are worse than at the commit before")


if __name__ == "__main__":
    main()
