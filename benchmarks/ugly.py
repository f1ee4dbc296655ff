"""Tables and settings that few people have, and what CoCompleter makes of them.

A case is a seed: a small table of numbers as large, as small, as equal or as few as there are, in any layout,
and an estimator that suits it or does not. It must give finite answers that keep the observed cells, or
refuse with one sentence. The tests run 2 000 cases, ``make ugly`` 20 000.
"""

import argparse
import faulthandler
import traceback
import warnings
from collections import Counter
from dataclasses import dataclass
from time import perf_counter
from typing import Any

import numpy as np

from cocomplete import CoCompleter
from cocomplete.exceptions import InputError

Params = dict[str, Any]

SLOW = 20.0
"""Seconds after which a case of a few dozen cells hangs."""

REGIMES: tuple[Params, ...] = (
    {"residual_penalty": 0.0},
    {"residual_penalty": 1.0},
    {"residual_penalty": 1e3},
    {"residual_penalty": 0.4},
    {"residual_penalty": 1e-12},
)

CHEAP: tuple[Params, ...] = (
    {},
    {"solver": "factored"},
    {"solver": "primal-dual"},
    {"solver": "paper"},
    {"center": False},
    {"scale": False},
    {"center": False, "scale": False},
    {"center": False, "scale": False, "solver": "primal-dual"},
    {"scale": False, "solver": "paper"},
    {"polish": True},
    {"polish": True, "scale": False},
    {"max_rank": 1},
    {"tol": 0.0},
    {"threshold": "cardinality"},
    {"clip": False},
    {"feature_types": "number"},
    {"rank_penalty": 1e300},
    {"rank_penalty": 1e100},
    {"rank_penalty": 1e-300},
    {"rank_penalty": 1e-300, "solver": "primal-dual"},
    {"rank_penalty": 1e-300, "solver": "paper"},
    {"rank_penalty": 1e-5, "scale": False},
    {"feature_weight": 1e100},
    {"feature_weight": 1e-300},
    {"feature_weight": 0.0},
    {"feature_weight": 0.0, "solver": "primal-dual"},
    {"paper": 1.0},
    {"paper": 0.0},
    {"paper": 1.0, "feature_weight": 1.0},
    {"paper": 0.0, "solver_options": {"step": 1e200}},
    {"solver": "paper", "solver_options": {"step": 1e-200, "decay": 3.0}},
)
"""With all penalties given: one fit, hundredths of a second."""

DEAR: tuple[Params, ...] = (
    {},
    {"certify": True},
    {"threshold": "f1"},
    {"threshold": "cardinality"},
    {"label_policy": "positive-unlabelled"},
    {"label_policy": "positive-unlabelled", "recorded_share": 0.3},
    {"clip": False},
    {"averaging": False},
    {"averaging": False, "threshold": "f1"},
    {"averaging": False, "polish": True},
    {"averaging": False, "label_policy": "positive-unlabelled"},
    {"center": False},
    {"scale": False},
    {"rank_penalty": 1.0},
    {"residual_penalty": 0.0},
    {"feature_weight": 0.5, "max_rank": 1},
)
"""With something held out to choose by: tenths of a second."""


LAYOUTS = (0.4, 0.2, 0.15, 0.05, 0.08, 0.06, 0.06)


@dataclass(frozen=True, eq=False)
class Case:
    """A table to fit, rows to answer for, and an estimator's parameters."""

    X: Any
    y: Any
    new: Any
    params: Params

    def estimator(self) -> CoCompleter:
        """Give the estimator, not fitted."""
        params = dict(self.params)
        paper = params.pop("paper", None)
        return CoCompleter(**params) if paper is None else CoCompleter.from_paper(paper, **params)

    def __str__(self) -> str:
        shape = "no y" if self.y is None else f"y {self.y.dtype.str}{self.y.shape}"
        return f"X {self.X.dtype.str}{self.X.shape}, {shape}, {self.params}"


def make_case(seed: int, *, dear: float = 0.5, quick: bool = False) -> Case:
    """Give the case of a seed.

    Parameters
    ----------
    dear : float, default=0.5
        Share of cases in which something is held out, which takes ten times as long.
    quick : bool, default=False
        Whether solvers stop early, in all cases rather than in most.
    """
    rng = np.random.default_rng(seed)
    rows = int(rng.choice((1, 2, 3, int(rng.integers(4, 24))), p=(0.05, 0.1, 0.1, 0.75)))
    columns, labels = int(rng.integers(1, 6)), int(rng.choice((0, 1, 3)))
    X = _numbers(rng, rows + 4, columns)
    Y = (rng.random((rows, labels)) < rng.choice((0, 0.05, 0.4, 1), p=(0.1, 0.1, 0.7, 0.1))).astype(float)
    for table in (X, Y):
        _hide(rng, table)
    (X, new), (Y,) = _layout(rng, X[:rows], X[rows:]), _layout(rng, Y)
    held_out = rng.random() < dear
    params = dict(DEAR[rng.integers(len(DEAR))] if held_out else CHEAP[rng.integers(len(CHEAP))])
    if not held_out and "paper" not in params:
        regime = REGIMES[rng.integers(len(REGIMES))]
        params = {"rank_penalty": 1.0, "feature_weight": 0.5, **regime} | params
    if quick or rng.random() < 0.7:
        params["max_iter"] = int(rng.choice((1, 20)))
    y = None if not labels else Y[:, 0] if labels == 1 and rng.random() < 0.5 else Y
    return Case(X, y, new, params)


def _numbers(rng: np.random.Generator, n: int, d: int) -> Any:
    normal = rng.normal(size=(n, d))
    low = rng.choice((-310, -300, -160, -30))
    high = rng.choice((30, 154, 160, 300, 307))
    return (
        lambda: normal,
        lambda: normal * 10.0 ** rng.integers(low, high, d),
        lambda: normal * 10.0 ** rng.integers(low, high, (n, d)),
        lambda: normal * 10.0**high,
        lambda: normal * 10.0**low,
        lambda: np.where(rng.random((n, d)) < 0.5, 5e-324, 1e-310),
        lambda: np.where(rng.random((n, d)) < 0.1, 10.0**high, normal),
        lambda: np.where(rng.random((n, d)) < 0.1, 5e-324, normal),
        lambda: rng.choice((-1.7e308, 0.0, 1.7e308), (n, d)),
        lambda: np.full((n, d), rng.choice((0.0, 3.0, 1e-310, 1e300, -1.7e308))),
        lambda: np.tile(10.0 ** rng.integers(low, high, d).astype(float), (n, 1)),
        lambda: np.round(normal)[:, [0] * d],
        lambda: normal[[0] * n],
        lambda: 1e8 + 1e-8 * normal,
        lambda: 1e16 + 4 * np.round(normal),
        lambda: np.exp(20 * normal),
        lambda: (normal > 0).astype(float),
        lambda: np.where(rng.random(d) < 0.5, normal > 0, normal * 1e300),
    )[rng.integers(18)]().astype(float)


def _hide(rng: np.random.Generator, table: Any) -> None:
    """Make holes: cells, whole columns and rows, all cells but one."""
    table[rng.random(table.shape) < rng.choice((0, 0.3, 0.8))] = np.nan
    table[:, rng.random(table.shape[1]) < rng.choice((0, 0.3), p=(0.8, 0.2))] = np.nan
    table[rng.random(len(table)) < rng.choice((0, 0.3), p=(0.8, 0.2))] = np.nan
    if table.size and rng.random() < 0.05:
        keep = tuple(rng.integers(table.shape))
        value = table[keep]
        table[:] = np.nan
        table[keep] = 1.0 if np.isnan(value) else value


def _layout(rng: np.random.Generator, *tables: Any) -> list[Any]:
    """Choose a type, an order in memory and whether it may be written to, for tables that belong together."""
    kind = str(rng.choice(("<f8", ">f8", "<f4", ">f4", "<i8", ">i4", "|b1"), p=LAYOUTS))
    order, writeable = rng.choice(("C", "F")), bool(rng.random() < 0.5)
    laid_out = []
    for table in tables:
        whole = table if kind[1] == "f" else np.nan_to_num(table)
        if kind[1] == "b":
            whole = whole > 0
        else:
            most = np.finfo(kind).max if kind[1] == "f" else 2.0 ** (8 * int(kind[2]) - 2)
            whole = np.clip(whole, -most, most)
        laid_out.append(whole.astype(kind, order=order))
        laid_out[-1].flags.writeable = writeable
    return laid_out


@dataclass(frozen=True)
class Outcome:
    """What came of a case: "answered", "refused" or the end of a traceback; how, and in which time."""

    kind: str
    detail: str
    seconds: float

    @property
    def failed(self) -> bool:
        """Whether it should not have come out like this."""
        return self.kind not in {"answered", "refused"}


def warm_up() -> None:
    """Have the kernels compiled for both float types, which is no case's fault."""
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        for rows, columns in ((12, 3), (40, 40)):
            X = rng.normal(size=(rows, columns)).astype(dtype)
            X[rng.random(X.shape) < (0.3 if rows < 40 else 0.97)] = np.nan
            for params in ({}, *({"rank_penalty": 0.3, "feature_weight": 0.5, **one} for one in REGIMES)):
                judge(Case(X, (rng.random((rows, 2)) < 0.5).astype(dtype), X, {**params, "max_iter": 3}))


def judge(case: Case) -> Outcome:
    """Fit, and ask for every answer there is."""
    started = perf_counter()
    kind, detail = "answered", ""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            _ask(case)
        except InputError as error:
            kind, detail = (
                ("refused", str(error)) if "\n" not in str(error) else ("two sentences", str(error))
            )
        except Exception as error:  # noqa: BLE001, RUF100  (whatever it is, it is a finding)
            own = [
                frame for frame in traceback.extract_tb(error.__traceback__) if "cocomplete" in frame.filename
            ]
            place = f"{own[-1].filename.split('cocomplete/')[-1]}:{own[-1].lineno}" if own else "here"
            line = str(error).splitlines()[0] if str(error) else ""
            kind, detail = f"{type(error).__name__} at {place}: {line}", traceback.format_exc()
    seconds = perf_counter() - started
    if seconds > SLOW:
        kind = f"slow: {kind}"
    return Outcome(kind, detail, seconds)


def _ask(case: Case) -> None:
    X, y, new = case.X, case.y, case.new
    before = [b"" if table is None else table.tobytes() for table in (X, y)]
    model = case.estimator().fit(X, y)
    rows = len(X)
    n_labels = 0 if y is None else 1 if y.ndim == 1 else y.shape[1]
    done = model.complete(X, y)
    _check("X", done.X, X.shape)
    _check("X_std", done.X_std, X.shape)
    _check_kept("X", done.X, X)
    _check("components_", model.components_, (model.rank_, X.shape[1] + n_labels))
    _check("offsets_", model.offsets_, (X.shape[1] + n_labels,))
    model_own = model.reconstruct()
    _check("reconstructed X", model_own.X, X.shape)
    _check("transformed", model.transform(new), new.shape)
    other = model.complete(new)
    _check("new X", other.X, new.shape)
    _check("new X_std", other.X_std, new.shape)
    _check_kept("new X", other.X, new)
    if n_labels:
        _check("Y", done.Y, y.shape)
        _check("Y_proba", done.Y_proba, (rows, n_labels))
        _check_kept("Y", done.Y, y)
        _check("predict_proba", model.predict_proba(new), (len(new), n_labels))
        _check("thresholds_", model.thresholds_, (n_labels,))
    for drawn in model.sample_completions(2):
        _check("drawn X", drawn.X, X.shape)
        _check_kept("drawn X", drawn.X, X)
        if n_labels:
            _check("drawn Y", drawn.Y, (rows, n_labels))
    for name, table, old in zip(("X", "y"), (X, y), before, strict=True):
        if table is not None and table.tobytes() != old:
            msg = f"{name} was written to"
            raise AssertionError(msg)


def _check(name: str, table: Any, shape: tuple[int, ...]) -> None:
    table = np.asarray(table, float)
    if table.shape != shape:
        msg = f"{name} has shape {table.shape}, not {shape}"
        raise AssertionError(msg)
    if not np.isfinite(table).all():
        msg = f"{name} is not finite"
        raise AssertionError(msg)


def _check_kept(name: str, table: Any, given: Any) -> None:
    known = ~np.isnan(given)
    if not np.array_equal(np.asarray(table)[known], given[known]):
        msg = f"{name} lost observed cells"
        raise AssertionError(msg)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="the first seed")
    parser.add_argument(
        "--dear", type=float, default=0.5, help="share of cases in which something is held out"
    )
    parser.add_argument(
        "--verbose", action="store_true", help="print the traceback of every new kind of failure"
    )
    args = parser.parse_args()
    warm_up()
    counts: Counter[str] = Counter()
    examples: dict[str, list[int]] = {}
    slowest: list[tuple[float, int]] = []
    started = perf_counter()
    for done, seed in enumerate(range(args.first, args.first + args.cases), 1):
        # A case that hangs inside compiled code names itself.
        faulthandler.dump_traceback_later(10 * SLOW, exit=True)
        outcome = judge(make_case(seed, dear=args.dear))
        counts[outcome.kind] += 1
        slowest = sorted([*slowest, (outcome.seconds, seed)], reverse=True)[:5]
        if outcome.failed:
            examples.setdefault(outcome.kind, []).append(seed)
            if args.verbose and len(examples[outcome.kind]) == 1:
                print(f"seed {seed}: {make_case(seed, dear=args.dear)}\n{outcome.detail}", flush=True)
        if done % 250 == 0:
            failed = sum(map(len, examples.values()))
            print(f"{done} cases, {failed} failures, {perf_counter() - started:.0f} s", flush=True)
    faulthandler.cancel_dump_traceback_later()
    for kind, count in counts.most_common():
        print(f"{count:6d}  {kind}", *(f"seed {seed}" for seed in examples.get(kind, [])[:3]))
    for seconds, seed in slowest:
        print(f"{seconds:6.2f} s  seed {seed}: {make_case(seed, dear=args.dear)}")
    raise SystemExit(bool(examples))


if __name__ == "__main__":
    main()
