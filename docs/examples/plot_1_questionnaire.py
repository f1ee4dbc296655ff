"""
A questionnaire with skipped questions
======================================

Four hundred people were asked ten questions on a scale from 1 to 5, and whether three things apply to them. One answer in
four is missing. The answers go back to two attitudes that nobody asked for, which is why they can be filled at all.

The table is synthetic.
"""

# %%
# Levels in an order are recognised as such: at most ten values in even steps, each of them often.
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from cocomplete import CoCompleter, plot

rng = np.random.default_rng(0)
attitudes = rng.normal(size=(400, 2))
scores = attitudes @ rng.normal(size=(2, 10)) + 0.6 * rng.normal(size=(400, 10))
answers = pd.DataFrame(
    np.digitize(scores, [-1.6, -0.5, 0.5, 1.6]) + 1.0, columns=[f"Q{k}" for k in range(1, 11)]
)
applies = pd.DataFrame(
    (attitudes @ rng.normal(size=(2, 3)) + rng.logistic(size=(400, 3)) > 0.5).astype(float),
    columns=["would recommend", "has complained", "will stay"],
)
X = answers.mask(rng.random(answers.shape) < 0.25)
y = applies.mask(rng.random(applies.shape) < 0.25)

model = CoCompleter().fit(X, y)
print(model.feature_types_[:3], "…")

# %%
# Who skipped what: rows with alike holes stand side by side.
plot.missingness(model, X, y)

# %%
# How wrong were held-out answers? Beside the fill stands the trivial answer: the mean of a question, the commoner
# value of a label.
plot.validation(model)

# %%
# Here the truth is known. Fills are levels, never 3.7; more of them are right, and fewer are two levels off, than if every
# hole got the commonest answer to its question.
done = model.complete(X, y)
holes = X.isna().to_numpy()
filled = done.X.to_numpy()[holes] - answers.to_numpy()[holes]
commonest = np.broadcast_to(X.mode().iloc[0].to_numpy(), X.shape)[holes] - answers.to_numpy()[holes]
off = np.arange(5)
figure, axes = plt.subplots(figsize=(6, 3.2), layout="constrained")
for shift, errors, label, colour in (
    (-0.2, filled, "cocomplete", "#d95f02"),
    (0.2, commonest, "commonest answer", "#999999"),
):
    axes.bar(off + shift, [np.mean(np.abs(errors) == k) for k in off], 0.38, label=label, color=colour)
axes.set(xlabel="levels off", ylabel="share of missing answers", xticks=off)
axes.legend(frameon=False)
plt.show()
