"""
Tagged music: 174 tags of 502 songs
===================================

CAL500 has 68 features of 502 songs and 174 tags that listeners gave them. Here four fifths of both are hidden, as in the paper,
and completed.

The data are other people's and do not come with cocomplete. Put Mulan's ``cal500.arff`` and ``cal500.xml`` into a folder and name
it in the environment variable ``COCOMPLETE_DATA``; without, this page says so and stops there.
"""

# %%
import os
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cocomplete import CoCompleter
from cocomplete.baselines import MeanMode
from cocomplete.datasets import load_mulan
from cocomplete.metrics import precision_at_k, roc_auc, standardized_rmse

folder = os.environ.get("COCOMPLETE_DATA")
songs = load_mulan(Path(folder) / "cal500.arff") if folder else None
print("COCOMPLETE_DATA is not set: nothing is computed here" if songs is None else f"{len(songs.X)} songs")

# %%
# Tags are judged as people use them: are a song's likeliest tags right? A tag's rate over all songs is the trivial answer.
if songs is not None:
    rng = np.random.default_rng(0)
    X_shown, Y_shown = (rng.random(table.shape) < 0.2 for table in (songs.X, songs.Y))
    X, Y = np.where(X_shown, songs.X, np.nan), np.where(Y_shown, songs.Y, np.nan)
    figures = {}
    for name, method in (("cocomplete", CoCompleter()), ("means and rates", MeanMode())):
        done = method.fit(X, Y).complete(X, Y)
        figures[name] = {
            "features: RMSE, in spreads": standardized_rmse(songs.X, done.X, observed=X_shown),
            "tags: 1 − area under ROC": 1 - roc_auc(songs.Y, done.Y_proba, average="micro", observed=Y_shown),
            "tags: wrong among a song's top 5": 1
            - precision_at_k(songs.Y, done.Y_proba, k=5, observed=Y_shown),
        }
    names = list(figures["cocomplete"])
    figure, axes = plt.subplots(figsize=(7, 2.8), layout="constrained")
    for shift, (method, colour) in zip(
        (0.2, -0.2), {"cocomplete": "#d95f02", "means and rates": "#999999"}.items(), strict=True
    ):
        values = [figures[method][name] for name in names]
        bars = axes.barh(np.arange(3) + shift, values, 0.36, color=colour, label=method)
        axes.bar_label(bars, fmt="%.2f", padding=3)
    axes.set(
        yticks=np.arange(3),
        yticklabels=names,
        xlabel="error on hidden cells (lower is better)",
        xlim=(0, 1.1),
    )
    axes.invert_yaxis()
    axes.legend(frameon=False, loc="lower right")
    plt.show()
