"""Table 1: features and labels recovered on the paper's synthetic data."""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import product
from typing import Any, NamedTuple

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.utils import Bunch

from cocomplete.baselines import GoldbergMC, Maxide, Mc
from cocomplete.datasets import make_low_rank_multilabel
from cocomplete.estimator.completer import CoCompleter
from cocomplete.exceptions import InputError
from cocomplete.experiments.published import METHODS_1, SETTINGS_1, TABLE_1
from cocomplete.experiments.runner import Figures, Record, Trial
from cocomplete.experiments.tables import Cell, Table, summarize
from cocomplete.metrics import hamming_error, relative_error
from cocomplete.problem.objective import Objective
from cocomplete.problem.observations import Observations
from cocomplete.solvers.polish import polish

NAME = "table1"

ITERATIONS = 300
"""T of Algorithm 1, which the paper does not print."""

WEAK_PENALTY = 100.0
"""C of the logistic regression on the true row space, whose columns have unit mean square."""


class Setting(NamedTuple):
    """One row of the table: the paper's n, d, l, r and ω."""

    n: int
    d: int
    l: int  # noqa: E741 - the paper's symbol
    r: int
    observed: float


PUBLISHED = tuple(Setting(*sizes) for sizes in SETTINGS_1)
"""The ten rows the paper prints, numbered from 1."""

ALL = PUBLISHED + tuple(
    setting
    for sizes in product((1000, 5000, 10000), (500, 800), (100, 300), (10, 20), (0.2, 0.3, 0.4))
    if (setting := Setting(*sizes)) not in PUBLISHED
)
"""All 72 settings: the printed ones first, then the others in the order of their sizes."""

UNPRINTED = ALL[len(PUBLISHED) :]
"""The 62 of which the paper says only, in words, how its methods compare."""

GAP = 1e-3
"""Duality gap that COCO is solved to, and the features of Maxide when tuned."""

RIVALS_GAP = 1e-2
"""Duality gap that MC-b is solved to when tuned, and Mc on tables of more than a thousand rows.

λ is weak there and the gap mostly the bound's, which goes with the root of what the objective is above its
least: 3e-6 of it at this gap, where it was looked at (1000 × 500 × 300). From 0.01 to 0.001 labels hardly
change; Mc's X falls by 0.3 to 5 % in the ten rows, which on small tables may decide a comparison.
"""

Fit = Callable[[Bunch, int, int], Figures]
"""Gives a method's figures on a table, with a seed and Algorithm 1's iterations."""


def _completer(make: Callable[[int, int], Any], dtype: type = np.float64) -> Fit:
    def figures(data: Bunch, seed: int, iterations: int) -> Figures:
        X, Y = (table.astype(dtype, copy=False) for table in (data.X, data.Y))
        return _figures(data, make(seed, iterations).fit(X, Y))

    return figures


def _figures(data: Bunch, model: Any) -> Figures:
    fitted = model.reconstruct()
    return recovery(data, fitted.X, fitted.Z) | how_it_went(model)


def _exact(residual_penalty: float) -> Fit:
    return _completer(lambda *_: exact_coco(residual_penalty))


def _coco_1(data: Bunch, seed: int, iterations: int) -> Figures:
    """Solve COCO-1 exactly; the table keeps the answer, for polishing goes on from it."""
    data.coco_1 = exact_coco(1.0).fit(data.X, data.Y)
    return _figures(data, data.coco_1)


def _polished(data: Bunch, seed: int, iterations: int) -> Figures:
    if "coco_1" not in data:
        _coco_1(data, seed, iterations)
    model, d = data.coco_1, data.X.shape[1]
    weights = (model.rank_penalty_, model.residual_penalty_, model.feature_weight_)
    objective = Objective(Observations(data.X, data.Y), *weights, np.zeros_like(model.offsets_))
    refit = polish(objective, model.label_solution_)
    answer = model.label_solution_ if refit is None else refit
    T = answer.M.dense() + answer.offsets
    return recovery(data, T[:, :d], T[:, d:]) | how_it_went(model) | {"rank": float(answer.M.rank)}


def _algorithm_1(residual_penalty: float) -> Fit:
    return _completer(lambda _, iterations: CoCompleter.from_paper(residual_penalty, max_iter=iterations))


def exact_coco(residual_penalty: float, **params: Any) -> CoCompleter:
    """Give COCO with the paper's weights, solved to a duality gap of ``GAP``."""
    settings = {"solver": "factored", "solver_options": None, "max_iter": 100, "tol": GAP} | params
    return CoCompleter.from_paper(residual_penalty, **settings)


def _tuned_mc(data: Bunch, seed: int, iterations: int) -> Figures:
    gap = GAP if len(data.X) <= 1000 else RIVALS_GAP
    return _figures(data, Mc(preset="tuned", tol=gap, random_state=seed).fit(data.X, data.Y))


def _true_scores(data: Bunch, seed: int, iterations: int) -> Figures:
    """Label errors if Z were known: what the noise of the labels leaves."""
    return label_errors(data, data.Z_true)


def _true_rows(data: Bunch, seed: int, iterations: int) -> Figures:
    """Label errors if the row space were known, and only each label's weights had to be estimated."""
    M = np.hstack((data.X_true, data.Z_true))
    # The Gram matrix is enough: the rank is known and nothing small is asked of it.
    _, vectors = np.linalg.eigh(M.T @ M)
    rank = int(np.linalg.matrix_rank(M[: M.shape[1]]))
    rows = M @ vectors[:, -rank:]
    rows /= np.sqrt(np.mean(rows**2, axis=0))
    Z = np.empty_like(data.Z_true)
    for j, known in enumerate(~np.isnan(data.Y.T)):
        y = data.Y[known, j]
        if y.min() == y.max():
            Z[:, j] = 2 * y[0] - 1
            continue
        regression = LogisticRegression(C=WEAK_PENALTY, fit_intercept=False, max_iter=1000)
        Z[:, j] = regression.fit(rows[known], y).decision_function(rows)
    return label_errors(data, Z)


METHODS: dict[str, tuple[Fit, float]] = {
    "COCO-1": (_algorithm_1(1.0), 130.0),
    "COCO-0": (_algorithm_1(0.0), 80.0),
    # A hundred steps far from any minimum: single precision moves no printed mean and takes half the time.
    "Maxide": (_completer(lambda *_: Maxide(), np.float32), 30.0),
    "Mc": (_completer(lambda *_: Mc(), np.float32), 30.0),
    "COCO-1 exact": (_coco_1, 12.0),
    "COCO-0 exact": (_exact(0.0), 12.0),
    "COCO-1 exact, polished": (_polished, 4.0),
    "Maxide tuned": (_completer(lambda seed, _: Maxide(preset="tuned", random_state=seed)), 35.0),
    "Mc tuned": (_tuned_mc, 100.0),
    "MC-b tuned": (
        _completer(
            lambda seed, _: GoldbergMC(preset="tuned", variant="mc-b", tol=RIVALS_GAP, random_state=seed)
        ),
        130.0,
    ),
    "true row space": (_true_rows, 5.0),
    "true Z": (_true_scores, 1.0),
}
"""Every method, with about what it costs in SVDs of the table."""

FLOORS = ("true row space", "true Z")
"""What no method can beat, because it does not know the truth."""

SLOW = ("MC-b tuned",)
"""Methods that are left out above a thousand rows, where a trial takes many minutes."""

ONE_FIT = ("COCO-1 exact", "COCO-1 exact, polished")
"""The second goes on from where the first ends, if it comes right after it."""

ALGORITHM_1 = ("COCO-1", "COCO-0")
"""Methods that depend on the number of iterations."""


def recovery(data: Bunch, X: Any, Z: Any) -> Figures:
    """Errors as the paper has them, over all cells, and over held-out cells alone."""
    shown = ~np.isnan(data.X)
    return {
        "X": float(relative_error(data.X_true, X)),
        "X hidden": float(relative_error(data.X_true, X, observed=shown)),
        **label_errors(data, Z),
    }


def label_errors(data: Bunch, Z: Any) -> Figures:
    """Share of wrong labels over all cells and over held-out ones, where a score above 0 means 1."""
    labels = Z > 0
    return {
        "Y": float(hamming_error(data.Y_true, labels)),
        "Y hidden": float(hamming_error(data.Y_true, labels, observed=~np.isnan(data.Y))),
    }


def how_it_went(model: Any) -> Figures:
    """Give iterations, duality gap, objective and rank, as far as a model has them."""
    named = {"iterations": "n_iter_", "gap": "duality_gap_", "objective": "objective_", "rank": "rank_"}
    found = {name: getattr(model, attribute, None) for name, attribute in named.items()}
    return {name: float(value) for name, value in found.items() if value is not None and np.isfinite(value)}


def work(trial: Trial) -> Figures:
    """Make the trial's table and run its method on it."""
    figures, _ = METHODS[trial.method]
    table = _table_of(setting_of(trial), trial.seed)
    return figures(table, trial.seed, int(trial.setting.get("iterations", ITERATIONS)))


def setting_of(trial: Trial | Record) -> Setting:
    """Give the table's row that a trial belongs to."""
    return Setting(*(trial.setting[name] for name in Setting._fields))


@lru_cache(maxsize=1)
def _table_of(setting: Setting, seed: int) -> Bunch:
    """Make a table, or give the last one again with what was found for it."""
    return make_low_rank_multilabel(*setting, random_state=seed)


def trials(
    rows: Iterable[Setting] = PUBLISHED,
    methods: Sequence[str] = tuple(METHODS),
    count: int = 5,
    iterations: int = ITERATIONS,
) -> list[Trial]:
    """Give the trials of these rows: first seed first, within a seed the longest first."""
    found = []
    for setting, method, seed in product(rows, methods, range(count)):
        if method in SLOW and setting.n > 1000:
            continue
        given: dict[str, Any] = setting._asdict()
        if method in ALGORITHM_1:
            given["iterations"] = iterations
        cells = setting.n * (setting.d + setting.l)
        group = f"{setting} {seed}" if method in ONE_FIT else None
        found.append(Trial(NAME, given, method, seed, METHODS[method][1] * cells, group))
    return sorted(found, key=lambda trial: (trial.seed, -trial.effort))


def full_run() -> list[Trial]:
    """Give what a full run holds: the printed rows by every method, the others once by each of the paper's.

    Small tables of the others come first, so that an unfinished run has whole settings to show.
    """

    def cells(trial: Trial) -> int:
        setting = setting_of(trial)
        return setting.n * (setting.d + setting.l)

    return trials() + sorted(trials(UNPRINTED, METHODS_1, count=1), key=cells)


def gather(
    records: Iterable[Record], figure: str, methods: Iterable[str]
) -> dict[Setting, dict[str, dict[int, float]]]:
    """Sort a figure by setting, method and seed; settings in the order of their numbers."""
    names = tuple(methods)
    found: dict[Setting, dict[str, dict[int, float]]] = {}
    for record in records:
        if record.method in names and figure in record.figures:
            by_method = found.setdefault(setting_of(record), {name: {} for name in names})
            by_method[record.method][record.seed] = float(record.figures[figure])
    return {setting: found[setting] for setting in ALL if setting in found}


def tables(records: Sequence[Record]) -> list[Table]:
    """Give the paper's own comparison, then what it leaves out, for features and for labels.

    With records of several numbers of iterations, the last ones count.
    """
    beyond = tuple(name for name in METHODS if name not in METHODS_1)
    every = (*ALGORITHM_1, *beyond)
    printed = [record for record in records if setting_of(record) in PUBLISHED]
    # Of one trial nothing is compared before every method has had its own.
    whole = {
        setting for setting, by_method in gather(records, "Y", METHODS_1).items() if all(by_method.values())
    }
    unprinted = [record for record in records if setting_of(record) in whole.difference(PUBLISHED)]
    made = [
        _table(printed, "X", METHODS_1, "X, relative error: the paper's methods (paper's figure)"),
        _table(printed, "X", every, "X, relative error: beyond the paper"),
        _table(printed, "Y", METHODS_1, "Y, share of wrong labels: the paper's methods (paper's figure)"),
        _table(printed, "Y", every, "Y, share of wrong labels: beyond the paper"),
        # All cells credit a method for remembering the labels it was shown.
        _table(printed, "Y hidden", every, "Y, share of wrong labels over held-out cells alone"),
        _table(unprinted, "X", METHODS_1, "X, relative error: settings that the paper does not print"),
        _table(unprinted, "Y", METHODS_1, "Y, share of wrong labels: settings that the paper does not print"),
    ]
    return [table for table in made if table.rows]


def _table(records: Sequence[Record], figure: str, methods: tuple[str, ...], caption: str) -> Table:
    printed = methods == METHODS_1
    found = gather(records, figure, methods)
    shown = [name for name in methods if printed or any(results[name] for results in found.values())]
    rows: list[tuple[str | Cell, ...]] = []
    for setting, results in found.items():
        column = summarize(results, exclude=FLOORS)
        sizes = (str(setting.n), str(setting.d), str(setting.l), str(setting.r), f"{setting.observed:.0%}")
        papers = [TABLE_1.get((setting, name, figure)) if printed else None for name in shown]
        rows.append((*sizes, *map(column.cell, shown, papers)))
    return Table(caption, ("n", "d", "l", "r", "ω", *shown), tuple(rows))


def parse_rows(text: str) -> list[Setting]:
    """Read ``published``, ``all`` or row numbers such as ``1,2,9``."""
    named = {"published": PUBLISHED, "all": ALL}
    if text in named:
        return list(named[text])
    rows = []
    for part in text.split(","):
        if not part.strip().isdigit() or not 1 <= int(part) <= len(ALL):
            msg = f"--rows takes published, all or numbers from 1 to {len(ALL)} with commas, got {part!r}"
            raise InputError(msg)
        rows.append(ALL[int(part) - 1])
    return list(dict.fromkeys(rows))


def parse_methods(text: str, known: Iterable[str]) -> list[str]:
    """Read method names with commas, or ``all``; capitals do not matter."""
    names = {name.lower().replace(", ", "-").replace(" ", "-"): name for name in known}
    if text == "all":
        return list(names.values())
    chosen = []
    for part in text.lower().split(","):
        slug = part.strip().replace(" ", "-")
        if slug not in names:
            msg = f"--methods has {part!r}; known are {', '.join(names)} and all"
            raise InputError(msg)
        chosen.append(names[slug])
    return list(dict.fromkeys(chosen))
