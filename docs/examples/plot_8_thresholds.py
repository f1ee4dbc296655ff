"""
From probabilities to yes and no
================================

A probability is what the model knows; a yes is what you decide. The same fit under three thresholds: 0.5 makes the fewest wrong
cells, ``"f1"`` finds more of the rare ones, ``"cardinality"`` gets rates right.

The table is SYNTHETIC.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from cocomplete import CoCompleter
from cocomplete.datasets import make_clinic

clinic = make_clinic(random_state=3)
new = make_clinic(n_samples=2000, random_state=4)
found = {}
for threshold in (0.5, "f1", "cardinality"):
    model = CoCompleter(threshold=threshold).fit(clinic.X, clinic.Y)
    found[str(threshold)] = model.predict(new.X), model.thresholds_

# %%
# Judged on 2000 new patients, from features alone.
truth = new.Y_true == 1
for name, (chosen, _) in found.items():
    hit = (chosen == 1) & truth
    recall, precision = hit.sum() / truth.sum(), hit.sum() / max((chosen == 1).sum(), 1)
    print(
        f"{name:12} wrong {np.mean(chosen != truth):.3f}   ones found {recall:.2f}   of those called, right {precision:.2f}"
        f"   F1 {2 * precision * recall / (precision + recall):.2f}"
    )

# %%
# How often is each diagnosis called, beside how often it is there? On the dotted line the two agree.
figure, axes = plt.subplots(figsize=(5.2, 4.6), layout="constrained")
for (name, (chosen, _)), marker, colour in zip(
    found.items(), "osD", ("#777777", "#7570b3", "#d95f02"), strict=True
):
    axes.plot(
        truth.mean(axis=0), chosen.mean(axis=0), marker, color=colour, label=f"threshold={name}", alpha=0.85
    )
axes.plot([0, 0.5], [0, 0.5], ":", color="#333333")
axes.set(
    xlabel="share of patients who have it",
    ylabel="share of patients who are said to",
    xlim=(0, 0.5),
    ylim=(0, 0.55),
)
axes.legend(frameon=False, loc="upper left")
plt.show()
