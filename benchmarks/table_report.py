"""Records of the benchmark on many tables as Markdown: CoCompleter against the trivial answer and the rivals.

Figures are means over seeds first and ratios after that. A ratio above 1 means that CoCompleter is worse;
that of the average precision, where more is better, is turned over. The best rival is the best of one table,
one kind of holes and one measure: no single method a user could pick does as well everywhere.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np

from collection import half
from scoreboard import OURS, Measure, markdown_table
from table_cases import Key
from table_rivals import TABLE_RIVALS, TRIVIAL

NEAR_TRIVIAL = 1.01
NEAR_BEST = 1.05

WORST = 12
"""Cases that the list of the worst shows per measure and comparison."""

Records = Mapping[tuple[Key, str], Mapping[str, Any]]

MEASURES = (
    Measure("rmse", "RMSE", 3, -1),
    Measure("robust", "robust RMSE", 3, -1),
    Measure("yes_no", "yes/no log-loss", 3, -1),
    Measure("log_loss", "label log-loss", 3, -1),
    Measure("hamming", "label Hamming", 3, -1),
    Measure("ap", "label AP", 3, 1),
    Measure("new_rmse", "new RMSE", 3, -1),
    Measure("new_robust", "new robust RMSE", 3, -1),
    Measure("new_yes_no", "new yes/no log-loss", 3, -1),
    Measure("new_log_loss", "new label log-loss", 3, -1),
    Measure("new_hamming", "new label Hamming", 3, -1),
    Measure("new_ap", "new label AP", 3, 1),
)

HELD = (
    ("coverage", "90 % interval"),
    ("new_coverage", "90 % interval, new rows"),
    ("band", "5–95 % band of draws"),
    ("new_band", "5–95 % band of draws, new rows"),
)

LETTERS = {
    TRIVIAL: "m",
    "logistic after mean": "l",
    "KNNImputer": "k",
    "cmfrec CMF": "c",
    "IterativeImputer": "i",
    "HistGradientBoosting": "h",
    "boosting per column": "b",
    "gcimpute": "g",
}


class Group(NamedTuple):
    """A table with one kind of holes; its cases differ in the seed alone."""

    table: str
    mechanism: str
    share: float

    def __str__(self) -> str:
        return f"{self.table}, {self.mechanism} {self.share:.0%}"


class Comparison(NamedTuple):
    """CoCompleter in one measure of one group, means over seeds.

    Attributes
    ----------
    group : Group
    measure : Measure
    ours : float
    theirs : dict of str to float
        By rival; those that lack a result for a seed that CoCompleter has are left out.
    """

    group: Group
    measure: Measure
    ours: float
    theirs: dict[str, float]

    @property
    def best_rival(self) -> str:
        """Name of the rival with the best figure."""
        return max(self.theirs, key=lambda rival: self.measure.sign * self.theirs[rival])

    def ratio(self, rival: str) -> float:
        """Give our loss divided by a rival's; above 1 if ours is worse."""
        losses = (self.ours, self.theirs[rival])
        ours, theirs = losses if self.measure.sign < 0 else losses[::-1]
        if theirs == 0:
            return 1.0 if ours == 0 else np.inf
        return ours / theirs

    @property
    def to_trivial(self) -> float:
        """Ratio to column means and label rates."""
        return self.ratio(TRIVIAL)

    @property
    def to_best(self) -> float:
        """Ratio to the best rival."""
        return self.ratio(self.best_rival)


def compare(records: Records, keys: Iterable[Key]) -> list[Comparison]:
    """Compare CoCompleter with all rivals wherever both have results.

    Parameters
    ----------
    records : mapping of case and method to record
    keys : iterable of Key
        Cases to look at; records of others are not touched.

    Returns
    -------
    list of Comparison
        In the order of the cases.
    """
    seeds: dict[Group, list[Key]] = {}
    for key in keys:
        seeds.setdefault(Group(*key[:3]), []).append(key)
    found = [_compare(records, group, measure, seeds[group]) for group in seeds for measure in MEASURES]
    return [each for each in found if each is not None]


def _compare(records: Records, group: Group, measure: Measure, keys: list[Key]) -> Comparison | None:
    def value(key: Key, method: str) -> float | None:
        return records.get((key, method), {}).get(measure.key)

    both = [key for key in keys if value(key, OURS) is not None and value(key, TRIVIAL) is not None]
    if not both:
        return None
    figures = {method: [value(key, method) for key in both] for method in (OURS, *TABLE_RIVALS)}
    means = {method: float(np.mean(each)) for method, each in figures.items() if None not in each}
    return Comparison(group, measure, means.pop(OURS), means)


def render(records: Records, keys: Iterable[Key]) -> str:
    """Write the report of some cases, one part per half of the tables.

    Parameters
    ----------
    records : mapping of case and method to record
    keys : iterable of Key

    Returns
    -------
    str
        Markdown.
    """
    keys = list(keys)
    parts = []
    for name in ("choose", "confirm"):
        of_half = [key for key in keys if half(key.table) == name]
        if of_half:
            parts.append(f"## Tables to {name}\n\n{_render_half(records, of_half)}")
    return "\n\n".join(parts) + "\n"


def _render_half(records: Records, keys: list[Key]) -> str:
    comparisons = compare(records, keys)
    parts = []
    if comparisons:
        parts += [
            f"### {OURS} against the trivial answer and the best rival",
            _summary(comparisons, lambda _: ("",), ()),
            "### By share held out",
            _summary(comparisons, lambda group: (f"{group.share:.0%}",), ("held out",)),
            "### By mechanism",
            _summary(comparisons, lambda group: (group.mechanism,), ("mechanism",)),
            "### Holes that depend on the value, against IterativeImputer alone",
            _against_iterative(comparisons),
            "### Worst cases",
            _worst(comparisons),
            f"### Share of held-out numbers that {OURS}'s intervals hold",
            _held(records, keys),
            "### Every table",
            _every_table(comparisons),
        ]
    parts += ["### Runs, failures and cost", _runs(records, keys)]
    return "\n\n".join(parts)


def _summary(
    comparisons: list[Comparison], split: Callable[[Group], tuple[str, ...]], titles: tuple[str, ...]
) -> str:
    """Medians, counts and worst ratios per measure, and per what ``split`` makes of a group."""
    rows = []
    for measure in MEASURES:
        parts: dict[tuple[str, ...], list[Comparison]] = {}
        for each in comparisons:
            if each.measure == measure:
                parts.setdefault(split(each.group), []).append(each)
        # Shares in the order of their numbers, mechanisms in that of the alphabet.
        for part in sorted(parts, key=lambda part: [(len(word), word) for word in part]):
            label = part if titles else ()
            rows.append([measure.title, *label, str(len(parts[part])), *_ratios(parts[part])])
    head = ["measure", *titles, "n", "trivial: median", "≤ 1.01", "worst", "best: median", "≤ 1.05", "worst"]
    return markdown_table(head, rows)


def _ratios(comparisons: list[Comparison]) -> list[str]:
    to_trivial = np.array([each.to_trivial for each in comparisons])
    to_best = np.array([each.to_best for each in comparisons])
    return [
        f"{np.median(to_trivial):.3f}",
        f"{np.mean(to_trivial <= NEAR_TRIVIAL):.0%}",
        f"{to_trivial.max():.3f}",
        f"{np.median(to_best):.3f}",
        f"{np.mean(to_best <= NEAR_BEST):.0%}",
        f"{to_best.max():.3f}",
    ]


def _against_iterative(comparisons: list[Comparison]) -> str:
    rival = "IterativeImputer"
    rows = []
    for measure in MEASURES:
        ratios = [
            each.ratio(rival)
            for each in comparisons
            if each.measure == measure and each.group.mechanism == "value" and rival in each.theirs
        ]
        if ratios:
            near = [np.mean(np.array(ratios) <= bound) for bound in (1.0, NEAR_BEST)]
            figures = [f"{np.median(ratios):.3f}", *(f"{each:.0%}" for each in near), f"{max(ratios):.3f}"]
            rows.append([measure.title, str(len(ratios)), *figures])
    return markdown_table(["measure", "n", "median ratio", "≤ 1", "≤ 1.05", "worst"], rows)


def _worst(comparisons: list[Comparison]) -> str:
    lines = []
    for measure in MEASURES:
        of_it = [each for each in comparisons if each.measure == measure]
        for title, ratio, bound in (
            ("the trivial answer", lambda each: each.to_trivial, NEAR_TRIVIAL),
            ("the best rival", lambda each: each.to_best, NEAR_BEST),
        ):
            worse = sorted((each for each in of_it if ratio(each) > bound), key=ratio, reverse=True)[:WORST]
            if worse:
                listed = "; ".join(_named(each, ratio(each), title) for each in worse)
                lines.append(f"- {measure.title}, against {title}: {listed}")
    return "\n".join(lines) or "None beyond the bounds."


def _named(each: Comparison, ratio: float, title: str) -> str:
    rival = TRIVIAL if title == "the trivial answer" else each.best_rival
    ours, theirs = (f"{value:.{each.measure.digits}f}" for value in (each.ours, each.theirs[rival]))
    return f"{each.group} {ratio:.2f} ({ours} / {theirs} {LETTERS[rival]})"


def _held(records: Records, keys: list[Key]) -> str:
    rows = []
    ours = [(key, records[key, OURS]) for key in keys if (key, OURS) in records]
    for measure, title in HELD:
        for name, of_it in (
            ("mechanism", lambda key: key.mechanism),
            ("held out", lambda key: f"{key.share:.0%}"),
        ):
            found: dict[str, list[float]] = {}
            for key, record in ours:
                if measure in record:
                    found.setdefault(of_it(key), []).append(record[measure])
            for part in sorted(found, key=lambda part: (len(part), part)):
                low, middle, high = np.quantile(found[part], (0.1, 0.5, 0.9))
                figures = [f"{each:.3f}" for each in (np.mean(found[part]), low, middle, high)]
                rows.append([title, f"{name} {part}", str(len(found[part])), *figures])
    return markdown_table(["what", "cases", "n", "mean", "10 % quantile", "median", "90 % quantile"], rows)


def _every_table(comparisons: list[Comparison]) -> str:
    """One row per group; per measure the ratios to the trivial answer and the best rival, and its letter."""
    by_group: dict[Group, dict[Measure, str]] = {}
    for each in comparisons:
        text = f"{each.to_trivial:.2f} {each.to_best:.2f}{LETTERS[each.best_rival]}"
        by_group.setdefault(each.group, {})[each.measure] = text
    rows = [
        [
            group.table,
            f"{group.mechanism} {group.share:.0%}",
            *(cells.get(measure, "–") for measure in MEASURES),
        ]
        for group, cells in by_group.items()
    ]
    legend = ", ".join(f"{letter} {name}" for name, letter in LETTERS.items())
    note = f"Ratio to the trivial answer, ratio to the best rival and its letter: {legend}."
    return f"{note}\n\n{markdown_table(['table', 'holes', *(measure.title for measure in MEASURES)], rows)}"


def _runs(records: Records, keys: list[Key]) -> str:
    rows, failures = [], []
    for method in (OURS, *TABLE_RIVALS):
        found = [(key, records[key, method]) for key in keys if (key, method) in records]
        failed = [(key, record["failed"]) for key, record in found if "failed" in record]
        skipped = Counter(record["skipped"] for _, record in found if "skipped" in record)
        done = [record for _, record in found if "cpu" in record]
        cost = [np.median([record[name] for record in done]) for name in ("seconds", "cpu")] if done else []
        total = sum(record["cpu"] for record in done)
        counts = [len(keys), len(done), len(failed), sum(skipped.values())]
        cells = (
            [*map(str, counts), *(f"{each:.2f}" for each in cost)] if done else [*map(str, counts), "–", "–"]
        )
        rows.append([method, *cells, f"{total / 60:.1f}"])
        failures += [f"- {method} was not run on tables with {why} ({n} cases)" for why, n in skipped.items()]
        reasons = Counter(why for _, why in failed)
        failures += [f"- {method} failed in {n} cases: {why}" for why, n in reasons.most_common(5)]
    head = ["method", "cases", "done", "failed", "too large", "median s", "median CPU s", "total CPU min"]
    return "\n\n".join([markdown_table(head, rows), *(["\n".join(failures)] if failures else [])])
