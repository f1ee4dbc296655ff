"""Results of the benchmark on real tables as Markdown: means over seeds, and CoCompleter against the rest."""

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np

OURS = "CoCompleter"

TOLERANCE = 0.01
"""A relative difference up to this is "within 1 %"."""

Result = dict[str, Any]
Key = tuple[str, float]
"""Set and observed share."""


class Measure(NamedTuple):
    """A column of the table."""

    key: str
    title: str
    digits: int
    sign: int
    """1 if higher is better, -1 if lower is, 0 if nobody is ranked by it."""


MEASURES = (
    Measure("rmse", "RMSE", 4, -1),
    Measure("hamming", "Hamming", 4, -1),
    Measure("auc", "AUC", 4, 1),
    Measure("ap", "AP", 4, 1),
    Measure("new_hamming", "new Hamming", 4, -1),
    Measure("new_ap", "new AP", 4, 1),
    Measure("coverage", "90 % holds", 3, 0),
    Measure("seconds", "seconds", 1, 0),
    Measure("svds", "SVDs", 0, 0),
)

RANKED = tuple(measure for measure in MEASURES if measure.sign)


class Verdict(NamedTuple):
    """CoCompleter against the strongest rival in one measure of one group."""

    measure: Measure
    rival: str
    ours: float
    theirs: float

    @property
    def ratio(self) -> float:
        """Ours divided by theirs."""
        return self.ours / self.theirs if self.theirs else np.inf

    @property
    def lead(self) -> float:
        """Relative difference; positive if ours is better."""
        return self.measure.sign * (self.ratio - 1)


class Group:
    """All results for one set and observed share."""

    def __init__(self, results: Iterable[Result]) -> None:
        self._seeds: dict[str, dict[int, Result]] = {}
        for result in results:
            self._seeds.setdefault(result["method"], {})[result["seed"]] = result

    def methods(self) -> list[str]:
        """CoCompleter first, the others in alphabetical order."""
        return sorted(self._seeds, key=lambda method: (method != OURS, method.lower()))

    def seeds(self, method: str) -> list[int]:
        """Seeds the method has results for."""
        return sorted(self._seeds[method])

    def mean(self, method: str, measure: Measure, seeds: Iterable[int] | None = None) -> float | None:
        """Mean over seeds, or None if the method does not have the measure."""
        chosen = self.seeds(method) if seeds is None else seeds
        values = [self._seeds[method][seed].get(measure.key) for seed in chosen]
        return None if not values or None in values else float(np.mean(values))

    def cell(self, method: str, measure: Measure) -> str:
        """Give the mean as text, bold if no method has a better one."""
        text = _text(self.mean(method, measure), measure)
        means = [self.mean(each, measure) for each in self.methods()]
        best = max((mean for mean in means if mean is not None), key=lambda x: measure.sign * x, default=None)
        return f"**{text}**" if measure.sign and best is not None and text == _text(best, measure) else text

    def verdicts(self) -> list[Verdict]:
        """CoCompleter against its strongest rival in every measure, over the seeds both have."""
        if OURS not in self._seeds:
            return []
        found = []
        for measure in RANKED:
            duels = [self._duel(rival, measure) for rival in self.methods() if rival != OURS]
            fought = [duel for duel in duels if duel is not None]
            if fought:
                found.append(min(fought, key=lambda duel: duel.lead))
        return found

    def _duel(self, rival: str, measure: Measure) -> Verdict | None:
        both = [seed for seed in self.seeds(OURS) if seed in self._seeds[rival]]
        ours, theirs = self.mean(OURS, measure, both), self.mean(rival, measure, both)
        return None if ours is None or theirs is None else Verdict(measure, rival, ours, theirs)


def render(results: list[Result], notes: str) -> str:
    """Write results as Markdown.

    Parameters
    ----------
    results : list of dict
        One per set, share, seed and method.
    notes : str
        What was done, to stand above the table.
    """
    keys = dict.fromkeys((result["set"], result["share"]) for result in results)
    groups = {
        key: Group(result for result in results if (result["set"], result["share"]) == key)
        for key in sorted(keys)
    }
    verdicts = {key: group.verdicts() for key, group in groups.items()}
    parts = ["# Real tables", notes, _table(groups)]
    if any(verdicts.values()):
        parts += [f"## {OURS} divided by the strongest rival", _ratios(verdicts), _summary(verdicts)]
    return "\n\n".join(parts) + "\n"


def _table(groups: dict[Key, Group]) -> str:
    rows = [
        [name, f"{share:.0%}", method, str(len(group.seeds(method)))]
        + [group.cell(method, measure) for measure in MEASURES]
        for (name, share), group in groups.items()
        for method in group.methods()
    ]
    return markdown_table(["set", "seen", "method", "seeds", *(measure.title for measure in MEASURES)], rows)


def _ratios(verdicts: dict[Key, list[Verdict]]) -> str:
    rows = []
    for (name, share), found in verdicts.items():
        by_measure = {verdict.measure: f"{verdict.ratio:.3f} ({verdict.rival})" for verdict in found}
        if found:
            rows.append([name, f"{share:.0%}", *(by_measure.get(measure, "–") for measure in RANKED)])
    return markdown_table(["set", "seen", *(measure.title for measure in RANKED)], rows)


def _summary(verdicts: dict[Key, list[Verdict]]) -> str:
    flat = [(key, verdict) for key, found in verdicts.items() for verdict in found]
    better = sum(verdict.lead > 0 for _, verdict in flat)
    worse = [(key, verdict) for key, verdict in flat if verdict.lead < -TOLERANCE]
    close = len(flat) - better - len(worse)
    lines = [
        f"Of {len(flat)} comparisons {better} are better than every rival, {close} no better but within 1 % "
        f"of the best, {len(worse)} worse by more than 1 %{':' if worse else '.'}",
        "",
    ]
    for (name, share), verdict in sorted(worse, key=lambda item: item[1].lead):
        ours, theirs = (_text(value, verdict.measure) for value in (verdict.ours, verdict.theirs))
        lines.append(
            f"- {name}, {share:.0%} seen, {verdict.measure.title}: {ours} against {theirs} of "
            f"{verdict.rival} ({-verdict.lead:.1%} worse)"
        )
    return "\n".join(lines).rstrip()


def _text(value: float | None, measure: Measure) -> str:
    return "–" if value is None else f"{value:.{measure.digits}f}"


def markdown_table(head: list[str], rows: list[list[str]]) -> str:
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)
