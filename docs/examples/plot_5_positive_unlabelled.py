"""
Only ones are recorded
======================

Of each patient only diagnoses that were made are on file. A blank may mean healthy, or that nobody looked. Taking blanks for zeros
calls the unrecorded ones healthy; leaving them unknown leaves no zero to learn from.

The table is SYNTHETIC; of the true ones three in five were recorded.
"""

# %%
import warnings

import matplotlib.pyplot as plt
import numpy as np

from cocomplete import CoCompleter
from cocomplete.datasets import make_clinic

clinic = make_clinic(n_samples=600, feature_share=0.9, random_state=0)
rng = np.random.default_rng(0)
recorded = (clinic.Y_true == 1) & (rng.random(clinic.Y_true.shape) < 0.6)
only_ones = np.where(recorded, 1.0, np.nan)

# %%
# The policy estimates which share of the ones is recorded, and warns where the data leave that open.
with warnings.catch_warnings(record=True) as said:
    warnings.simplefilter("always")
    model = CoCompleter(label_policy="positive-unlabelled").fit(clinic.X, only_ones)
print(f"recorded share: {model.recorded_share_:.2f} (0.60 made the table)")
print(*(warning.message for warning in said), sep="\n")

# %%
# A fit with blanks as zeros cannot know better than that few people are ill.
zeros = CoCompleter().fit(clinic.X, recorded.astype(float))

# %%
# How common is each diagnosis? What is recorded, and the probabilities of the rest, averaged over all patients.
rates = {
    "true": clinic.Y_true.mean(axis=0),
    "recorded": recorded.mean(axis=0),
    "blanks as zeros": zeros.predict_proba(clinic.X).mean(axis=0),
    "positive-unlabelled": np.where(recorded, 1, model.complete(clinic.X, only_ones).Y_proba).mean(axis=0),
}
order = np.argsort(rates["true"])
names = [clinic.label_names[j].removeprefix("has_").replace("_", " ") for j in order]
figure, axes = plt.subplots(figsize=(7, 4.6), layout="constrained")
styles = {
    "true": ("|", "#222222", 16),
    "recorded": (".", "#999999", 9),
    "blanks as zeros": ("s", "#7570b3", 6),
    "positive-unlabelled": ("D", "#d95f02", 6),
}
for name, (marker, colour, size) in styles.items():
    axes.plot(
        rates[name][order],
        np.arange(order.size),
        marker,
        ms=size,
        mew=2 if marker == "|" else 1,
        color=colour,
        label=name,
    )
axes.set(yticks=np.arange(order.size), yticklabels=names, xlabel="share of patients", xlim=(0, None))
axes.grid(axis="y", lw=0.3)
axes.legend(frameon=False, loc="lower right")
plt.show()
