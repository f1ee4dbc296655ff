"""
A wide assay table: more columns than rows
==========================================

150 compounds, 600 measured properties, hits against 20 targets; three quarters of it was never measured. There are more columns than rows,
and most pairs of compounds share few measurements.

The table is synthetic: five latent properties of every compound are behind all columns.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from cocomplete import CoCompleter, plot
from cocomplete.baselines import MeanMode
from cocomplete.metrics import average_precision, standardized_rmse

rng = np.random.default_rng(0)
n, d, targets = 150, 600, 20
latent = rng.normal(size=(n, 5))
properties = latent @ rng.normal(size=(5, d)) + 1.5 * rng.normal(size=(n, d))
hits = (2 * latent @ rng.normal(size=(5, targets)) - 2 > rng.logistic(size=(n, targets))).astype(float)
measured, tested = rng.random(properties.shape) < 0.25, rng.random(hits.shape) < 0.25
X, y = np.where(measured, properties, np.nan), np.where(tested, hits, np.nan)

model = CoCompleter().fit(X, y)
print(f"{model.rank_} factors were kept; 5 made the table")

# %%
# Nobody has chosen a rank: the fit drops factors that the data do not support. After the five that made the table the singular
# values fall steeply.
plot.spectrum(model)

# %%
# Which compounds should be tested next? Those that are ranked highest among what was never tested; the area under the curve
# of precision against recall says how many of them are hits.
done, trivial = model.complete(X, y), MeanMode().fit(X, y).complete(X, y)
for name, one in (("cocomplete", done), ("means and rates", trivial)):
    error = standardized_rmse(properties, one.X, observed=measured)
    found = average_precision(hits, one.Y_proba, average="micro", observed=tested)
    print(f"{name:16} features: {error:.2f} spreads off   hits: average precision {found:.2f}")

order = np.argsort(-np.where(tested, -1, done.Y_proba), axis=None)[: (~tested).sum()]
by_rate = np.argsort(-np.where(tested, -1, trivial.Y_proba), axis=None, kind="stable")[: (~tested).sum()]
share = np.arange(1, order.size + 1) / order.size
figure, axes = plt.subplots(figsize=(5.5, 3.8), layout="constrained")
for ranked, label, colour in (
    (order, "by cocomplete", "#d95f02"),
    (by_rate, "by the targets' rates", "#777777"),
):
    found = np.cumsum(hits.ravel()[ranked]) / hits.ravel()[ranked].sum()
    axes.plot(share, found, label=label, color=colour)
axes.plot([0, 1], [0, 1], ":", color="#333333", label="at random")
axes.set(
    xlabel="share of the untested pairs that is tested",
    ylabel="share of the hits that is found",
    xlim=(0, 1),
    ylim=(0, 1.01),
)
axes.legend(frameon=False, loc="lower right")
plt.show()
