"""
A clinical table, and how sure the fills are
============================================

Measurements, yes/no questions and diagnoses of 400 patients, with holes in all three. The table is SYNTHETIC: no patient,
clinic or measurement is real.
"""

# %%
# A third of the features and two fifths of the diagnoses are missing.
import matplotlib.pyplot as plt
import numpy as np
import polars as pl

from cocomplete import CoCompleter, plot
from cocomplete.datasets import make_clinic

clinic = make_clinic(random_state=0)
X = pl.DataFrame(clinic.X, schema=clinic.feature_names).fill_nan(None)
y = pl.DataFrame(clinic.Y, schema=clinic.label_names).fill_nan(None)
model = CoCompleter().fit(X, y)
done = model.complete(X, y)
done.X.select("age_years", "systolic_mmHg", "smoker").head(3)

# %%
# Every filled number has a standard deviation. Of 60 missing blood pressures, with their 90 % intervals beside the truth, about
# nine in ten should hold it; crosses are those that do not.
column = clinic.feature_names.index("systolic_mmHg")
rows = np.flatnonzero(np.isnan(clinic.X[:, column]))[:60]
fill, std, truth = done.X.to_numpy()[rows, column], done.X_std[rows, column], clinic.X_true[rows, column]
order = np.argsort(fill)
fill, half, truth = fill[order], 1.645 * std[order], truth[order]
inside = np.abs(truth - fill) <= half
place = np.arange(rows.size)

figure, axes = plt.subplots(figsize=(8, 3.6), layout="constrained")
axes.errorbar(place, fill, half, fmt="none", ecolor="#d95f02", alpha=0.55, label="fill, 90 % interval")
axes.plot(place[inside], truth[inside], "o", ms=4, color="#333333", label=f"truth, inside ({inside.sum()})")
axes.plot(
    place[~inside],
    truth[~inside],
    "x",
    ms=7,
    mew=2,
    color="#333333",
    label=f"truth, outside ({(~inside).sum()})",
)
axes.set(xlabel="patients whose pressure is missing, by fill", ylabel="systolic pressure, mmHg", xticks=[])
axes.legend(frameon=False, ncols=3, loc="upper left")
axes.margins(y=0.2)
plt.show()

# %%
# Diagnoses come as probabilities. Those of held-out cells mean what they say where dots are near the diagonal.
plot.calibration(model, X, y)

# %%
# What the columns have in common: those that load most on the leading factor.
plot.loadings(model)
