"""What stored results show about the paper, in plain words; every figure is worked out from the records."""

from collections.abc import Iterable, Sequence

import numpy as np

from cocomplete.experiments import table_1, table_2, theorem
from cocomplete.experiments.claims import claims_on_all_settings
from cocomplete.experiments.published import METHODS_1, TABLE_1, TABLE_2
from cocomplete.experiments.runner import Record
from cocomplete.experiments.tables import differs, figure, summarize

EXACT = ("COCO-1 exact", "COCO-0 exact", "COCO-1 exact, polished")

Means = dict[tuple[table_1.Setting, str, str], float]
"""Mean of a figure by setting, method and the figure's name."""

NEAR = 0.02
"""A figure within this share of the paper's is called near."""

MOSTLY = 0.9
"""A table of which this share agrees is called reproduced."""

NOTICEABLE = 0.01
"""Two errors that differ by a smaller share are called the same."""

MET_EXACTLY = 1e-6
"""Observed features with a smaller residual, as a share of their norm, count as met."""

CORES = 2

OPEN_POINTS = f"""
- **The shrinkage threshold.** Eq. (4) writes λ1; only η_t·λ1, the proximal step, gives the printed figures.
- **The number of iterations.** Not printed. Here Algorithm 1 is run for {table_1.ITERATIONS} iterations on
  synthetic data and for {table_2.ITERATIONS} on CAL500.
- **What Mc minimises.** The paper cites Goldberg et al.'s logistic MC; its figures come out of squared loss
  on [X, Y] with labels 0 and 1, 100 accelerated steps from zero, cut at a half.
- **Settings of Maxide**: both stages 100 steps with λ = 1, side information is the completed X as it is.
- **Scaling of CAL500**: raw features. One column holds nearly all of ‖X‖_F², so the X error is that column's.
- **The network**: one hidden layer and nothing else is given; here 100 units, Adam, 50 epochs.
- **Standard deviations** here are those of a sample (n − 1).
"""


def table_1_verdicts(records: Sequence[Record]) -> list[str]:
    """Report what Table 1's records show."""
    means = _means(records)
    known = {key: mean for key, mean in means.items() if key in TABLE_1}
    if not known:
        return []
    within = [key for key, mean in known.items() if not differs(mean, TABLE_1[key])]
    near = [key for key, mean in known.items() if abs(mean / TABLE_1[key].mean - 1) <= NEAR]
    sentences = [
        f"{_headline(len(within) / len(known))} {len(known)} of its {len(TABLE_1)} figures were measured: "
        f"{len(within)} are "
        f"within three of the paper's standard deviations, {len(near)} within {NEAR:.0%} of the printed "
        f"figure. "
        "(The paper's deviations are as small as 0.0001, so a third-digit difference can be marked.)"
    ]
    off = sorted(known, key=lambda key: -abs(known[key] / TABLE_1[key].mean - 1))[:3]
    far = [
        f"{method}, {name} at n = {setting[0]}, r = {setting[3]}, {setting[4]:.0%} observed: "
        f"{known[setting, method, name]:.4f} against {TABLE_1[setting, method, name].mean:.4f}"
        for setting, method, name in off
    ]
    sentences.append("The largest relative differences are " + "; ".join(far) + ".")
    sentences += _orders(records)
    sentences += claims_on_all_settings(means)
    sentences += _exact(records, means)
    sentences += _tuned(means)
    return sentences


def _means(records: Sequence[Record]) -> Means:
    """Mean of every setting, method and figure."""
    values: dict[tuple[table_1.Setting, str, str], list[float]] = {}
    for record in records:
        setting = table_1.setting_of(record)
        for name in ("X", "Y", "Y hidden"):
            if name in record.figures:
                values.setdefault((setting, record.method, name), []).append(float(record.figures[name]))
    return {key: float(np.mean(some)) for key, some in values.items()}


def _headline(share: float) -> str:
    """Report in bold what the share of figures that agree amounts to."""
    if share >= MOSTLY:
        return "**Table 1 is reproduced.**"
    return "**Table 1 is reproduced in part.**" if share >= 0.5 else "**Table 1 is not reproduced.**"


def _orders(records: Sequence[Record]) -> list[str]:
    sentences = []
    for name in ("X", "Y"):
        same = total = 0
        for setting, results in table_1.gather(records, name, METHODS_1).items():
            if setting not in table_1.PUBLISHED or not all(results.values()):
                continue
            ours = {method for method, one in summarize(results).summaries.items() if one.comparable}
            theirs = {method for method in METHODS_1 if TABLE_1[setting, method, name].bold}
            total += 1
            same += ours == theirs
        if total:
            sentences.append(f"The same methods are in bold for {name} in {same} of {total} rows.")
    return sentences


def _exact(records: Sequence[Record], means: Means) -> list[str]:
    both = [
        s for s, method, name in means if method == "COCO-1" and (s, EXACT[0], name) in means and name == "X"
    ]
    if not both:
        return []

    def span(method: str, name: str) -> str:
        return _span(means[setting, method, name] for setting in both if (setting, method, name) in means)

    better = all(means[setting, EXACT[0], "X"] < means[setting, "COCO-1", "X"] for setting in both)
    sentences = [
        f"**On features the objective is {'better' if better else 'not always better'} than the algorithm.** "
        f"Solved to a duality gap of 0.001, COCO-1's X error "
        f"goes from {span('COCO-1', 'X')} to {span(EXACT[0], 'X')}. On labels the exact "
        f"minimum has the lower Y error in {_wins(means, EXACT[0], 'COCO-1', 'Y')} rows "
        f"({span(EXACT[0], 'Y')} against {span('COCO-1', 'Y')}), over held-out cells in "
        f"{_wins(means, EXACT[0], 'COCO-1', 'Y hidden')}."
    ]
    if any((setting, EXACT[2], "Y hidden") in means for setting in both):
        floor = [
            means[setting, EXACT[2], "Y hidden"] / means[setting, "true row space", "Y hidden"]
            for setting in both
            if {(setting, EXACT[2], "Y hidden"), (setting, "true row space", "Y hidden")} <= means.keys()
        ]
        text = (
            f"Refitted at the rank that its spectrum shows (polished), COCO-1 errs less than Algorithm 1 "
            f"over "
            f"held-out labels in {_wins(means, EXACT[2], 'COCO-1', 'Y hidden')} rows"
        )
        if floor:
            text += (
                f", at {min(floor):.2f} to {max(floor):.2f} times the error of a logistic regression that is "
                "given the true row space"
            )
        sentences.append(text + ".")
    costs = {
        method: [r.seconds / r.svd_seconds for r in records if r.method == method and r.svd_seconds]
        for method in ("COCO-1", EXACT[0])
    }
    if all(costs.values()):
        sentences.append(
            f"The exact solution costs {np.median(costs[EXACT[0]]):.0f} SVDs of the table (median of "
            f"{len(costs[EXACT[0]])} trials beside which one was timed), Algorithm 1 "
            f"{np.median(costs['COCO-1']):.0f} (of {len(costs['COCO-1'])})."
        )
    return sentences


def _wins(means: Means, one: str, other: str, name: str) -> str:
    """Count the settings in which a method's figure is below another's."""
    both = [s for s, method, what in means if method == one and what == name and (s, other, name) in means]
    return f"{sum(means[s, one, name] < means[s, other, name] for s in both)} of {len(both)}"


def _tuned(means: Means) -> list[str]:
    sentences = []
    gaps = {
        "Maxide tuned": f"{table_1.GAP:g}",
        "Mc tuned": f"{table_1.GAP:g}, above 1000 rows {table_1.RIVALS_GAP:g}",
        "MC-b tuned": f"{table_1.RIVALS_GAP:g}",
    }
    for method, gap in gaps.items():
        settings = [s for s, name, f in means if name == method and f == "X" and (s, "COCO-1", "X") in means]
        if not settings:
            continue
        spans = {name: _span(means[s, method, name] for s in settings) for name in "XY"}
        sentences.append(
            f"**{method}** (offsets, penalties chosen on held-out cells, duality gap "
            f"{gap}): X {spans['X']}, Y {spans['Y']}; better than the paper's COCO-1 on X in "
            f"{_wins(means, method, 'COCO-1', 'X')} rows, on Y in {_wins(means, method, 'COCO-1', 'Y')}."
        )
    return sentences


def table_2_verdicts(records: Sequence[Record]) -> list[str]:
    """Report what Table 2's records show."""
    mean = {
        (method, name): float(np.mean(list(seeds.values())))
        for name in table_2.FIGURES
        for method, seeds in table_2.gather(records, name).items()
        if seeds
    }
    sentences = []
    if ("Mc", "Y") in mean and ("Maxide", "Y") in mean:
        sentences.append(_exchanged(mean))
    if ("column means", "X") in mean:
        text = (
            f"**Column means "
            f"{'beat' if mean['column means', 'X'] < TABLE_2['COCO', 'X'].mean else 'do not beat'} "
            f"the paper's X errors on CAL500**: filling every feature with its "
            f"observed mean gives "
            f"{mean['column means', 'X']:.4f}, where the paper's best figure is "
            f"{TABLE_2['COCO', 'X'].mean:.4f}"
        )
        text += f" and Algorithm 1 gives {mean['COCO', 'X']:.4f} here." if ("COCO", "X") in mean else "."
        sentences.append(text)
    if ("label majority", "LIMO") in mean and ("Oracle", "LIMO") in mean:
        oracle = min(mean["Oracle", name] for name in table_2.CLASSIFIERS)
        better = "better" if oracle < mean["label majority", "LIMO"] else "no better"
        sentences.append(
            f"**The oracle is {better} than label rates.** Predicting each label's training majority errs "
            f"on "
            f"{mean['label majority', 'LIMO']:.4f} of the test labels; LIMO trained on the clean data on "
            f"{mean['Oracle', 'LIMO']:.4f}, the network on {mean['Oracle', 'network']:.4f}. Test errors on "
            f"CAL500 "
            "say little about recovery."
        )
    if ("CoCompleter", "X") in mean:
        rivals = ("Maxide tuned", "Mc tuned", "MC-b tuned", "column means")
        best = {
            name: min((mean[rival, name], rival) for rival in rivals if (rival, name) in mean)
            for name in ("X hidden", "Y hidden")
            if any((rival, name) in mean for rival in rivals)
        }
        parts = [
            f"{'X' if name == 'X hidden' else 'Y'} {mean['CoCompleter', name]:.4f} (best tuned rival or "
            f"reference: "
            f"{rival}, {value:.4f})"
            for name, (value, rival) in best.items()
        ]
        sentences.append("**CoCompleter's defaults on held-out cells**: " + ", ".join(parts) + ".")
    return sentences


def _exchanged(mean: dict[tuple[str, str], float]) -> str:
    """Compare both methods' means with the two printed rows, as they stand and exchanged."""
    columns = ("X", "Y", "LIMO", "network")
    printed, exchanged = {"Maxide": "Maxide", "Mc": "Mc"}, {"Maxide": "Mc", "Mc": "Maxide"}

    def apart(name: str, rows: dict[str, str]) -> float:
        return sum(abs(mean[method, name] - TABLE_2[row, name].mean) for method, row in rows.items())

    def ordered(name: str, rows: dict[str, str]) -> bool:
        ours = mean["Maxide", name] - mean["Mc", name]
        theirs = TABLE_2[rows["Maxide"], name].mean - TABLE_2[rows["Mc"], name].mean
        return ours * theirs > 0

    comparisons = (
        f"{name} {apart(name, printed):.4f} as printed, {apart(name, exchanged):.4f} exchanged"
        for name in columns
    )
    fits = [name for name in columns if ordered(name, exchanged)]
    looks = "look exchanged" if apart("Y", exchanged) < apart("Y", printed) else "look as they should"
    return (
        f"**Its rows of Maxide and Mc {looks} in Table 2.** Distance of both methods' means here from "
        f"the two printed rows: {'; '.join(comparisons)}. Which of the two is larger fits the exchange in "
        f"{' and '.join(fits) or 'no column'}. That is an inference from figures; the paper does not say so."
    )


def costs(records: Sequence[Record]) -> list[str]:
    """Report what the run took."""
    sentences = []
    own = [r for r in records if r.experiment == table_1.NAME and r.method in table_1.ALGORITHM_1]
    tables = [r for r in records if r.experiment in (table_1.NAME, table_2.NAME)]
    others = [r for r in tables if r not in own]
    if others:
        minutes = sum(r.seconds + (r.svd_seconds or 0) for r in others) / CORES / 60
        sentences.append(
            f"Both tables without Algorithm 1's synthetic trials, {len(others)} trials: {minutes:.0f} "
            f"minutes on {CORES} cores (the seconds of all trials and of the SVDs timed beside them, halved)."
        )
    if own:
        minutes = sum(r.seconds for r in own) / CORES / 60
        each = [r.seconds / r.figures["iterations"] / r.svd_seconds for r in own if r.svd_seconds]
        text = f"Algorithm 1's {len(own)} synthetic trials: {minutes:.0f} minutes on {CORES} cores"
        if each:
            text += (
                f"; an iteration costs {np.median(each):.2f} full LAPACK SVDs of the table (median of the "
                f"{len(each)} trials beside which one was timed; at most {max(each):.2f}), where as printed "
                "COCO-1's needs two"
            )
        sentences.append(text + ".")
    if tables:
        sentences.append(f"The largest process held {max(r.memory for r in tables) / 1024:.1f} GiB.")
    return sentences


def figure_1_verdicts(records: Sequence[Record]) -> list[str]:
    """Report how fast CAL500's singular values fall."""
    sentences = []
    for record in records:
        s = np.asarray(record.figures["singular values"])
        energy = np.cumsum(s**2) / np.sum(s**2)
        count = int(np.searchsorted(energy, 0.9)) + 1
        sentences.append(
            f"**Figure 1**: the label matrix has a heavy tail, as the paper says: {count} of {len(s)} "
            f"singular values "
            "are needed for 90 % of its squared norm."
        )
    return sentences


def figure_2_verdicts(records: Sequence[Record]) -> list[str]:
    """Report how Algorithm 1 ends."""
    sentences = []
    for record in records:
        errors = record.figures["X"]
        if record.method != "COCO-1" or len(errors) < 3:
            continue
        first, before, last = errors[-3:]
        text = (
            f"**Figure 2, n = {record.setting['n']}**: COCO-1's X error after the last two of {len(errors)} "
            f"iterations is {before:.4f} and {last:.4f}"
        )
        if (last - before) * (before - first) < 0 and abs(last - before) > NOTICEABLE * last:
            text += ": at its step floor Algorithm 1 swings between two points instead of converging"
        elif before - last > 0.1 * NOTICEABLE * last:
            text += ": it is still falling"
        sentences.append(text + ".")
    return sentences


def theorem_verdicts(records: Sequence[Record]) -> list[str]:
    """Report how the left side of Theorem 2 falls, against the bound's rate."""
    if not records:
        return []
    cells, left, divergence, rate = (
        np.array([float(record.figures[name]) for record in records])
        for name in ("observed cells", "left", "KL", "rate")
    )
    sizes = records[0].setting
    shape = ", ".join(f"{name} = {sizes[name]}" for name in "ndlr")
    few, most = (np.isclose([r.setting["observed"] for r in records], share) for share in _ends(records))
    sentences = [
        f"**Theorem 2** ({shape}; {cells.min():.0f} to {cells.max():.0f} observed cells): the left side "
        f"falls from {left[few].mean():.3g} to {left[most].mean():.3g}; its slope on log axes is "
        f"{theorem.fitted_slope(cells, left):.2f}, that of the bound's rate "
        f"{theorem.fitted_slope(cells, rate):.2f}: over the whole range the error falls "
        + ("faster" if theorem.fitted_slope(cells, left) < theorem.fitted_slope(cells, rate) else "slower")
        + " than the bound."
    ]
    found = left - divergence < divergence
    if found.any() and not found.all():
        slopes = [theorem.fitted_slope(cells[found], values[found]) for values in (left, rate)]
        sentences.append(
            f"Once the features are recovered only the divergence of the labels is left; there the slope is "
            f"{slopes[0]:.2f}, the rate's {slopes[1]:.2f}. The bound's unknown constant leaves room for both."
        )
    return sentences


def _ends(records: Sequence[Record]) -> tuple[float, float]:
    shares = [float(record.setting["observed"]) for record in records]
    return min(shares), max(shares)


def regime_verdicts(records: Sequence[Record]) -> list[str]:
    """Report where observed features are met exactly."""
    below, from_on = (
        [record.figures["residual"] for record in records if (record.setting["ratio"] >= 1) == above]
        for above in (False, True)
    )
    if not below or not from_on:
        return []
    met = max(from_on) <= MET_EXACTLY
    return [
        f"**λ2 ≥ λ1 {'means' if met else 'was not seen to mean'} interpolation**: the residual over observed "
        f"features is at most {max(from_on):.0e} of their norm from λ2 = λ1 on, up to the solver's accuracy, "
        f"and up to {max(below):.2g} below. The proof is in "
        "[docs/interpolation.md](../docs/interpolation.md)."
    ]


def _span(values: Iterable[float]) -> str:
    some = list(values)
    low, high = (figure(value, float("nan")) for value in (min(some), max(some)))
    return low if low == high else f"{low}–{high}"
