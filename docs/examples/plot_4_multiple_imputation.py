"""
Multiple imputation: a regression by statsmodels
================================================

How does an outcome depend on age, given income? A logistic regression wants a complete table, and one that was filled once takes
guesses for observations. Instead draw several completed tables, fit the
regression to each, and pool by Rubin's rules.

The table is synthetic, with slopes that are known.
"""

# %%
# Holes in the exposure, in a confounder and in the outcome. How much is missing depends on another column, which is observed.
import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm

from cocomplete import CoCompleter, pool

rng = np.random.default_rng(1)
n, slopes = 500, np.array([0.8, -0.6])
age = rng.normal(size=n)
income = 0.6 * age + 0.8 * rng.normal(size=n)
others = np.column_stack([age, income]) @ rng.normal(size=(2, 4)) + 0.5 * rng.normal(size=(n, 4))
outcome = (slopes[0] * age + slopes[1] * income - 0.3 > rng.logistic(size=n)).astype(float)

full = np.column_stack([age, income, others])
X, y = full.copy(), outcome.copy()
missing = rng.random((n, 2)) < 1 / (1 + np.exp(-0.8 * others[:, :1] + 0.4))
X[:, :2][missing] = np.nan
y[rng.random(n) < 0.2] = np.nan
print(
    f"{np.isnan(X[:, :2]).mean():.0%} of age and income and {np.isnan(y).mean():.0%} of the outcome are missing"
)

# %%
# Thirty drawn tables. Each is one draw of the whole: what belongs together stays together.
model = CoCompleter().fit(X, y)
tables = model.sample_completions(30, X, y, random_state=0)


def regression(X, y):
    """Give slopes of age and income, and their squared standard errors."""
    found = sm.Logit(y, sm.add_constant(X[:, :2])).fit(disp=0)
    return found.params[1:], found.bse[1:] ** 2


fits = [regression(table.X, table.Y) for table in tables]
pooled = pool([estimate for estimate, _ in fits], [variance for _, variance in fits])
print("slopes", pooled.estimate.round(2), "± ", pooled.std_error.round(2))
print("share of the information that was missing", pooled.fraction_missing.round(2))

# %%
# Beside it: the complete rows alone, and one filled table that is taken at its word.
done = model.complete(X, y)
known = ~np.isnan(X).any(axis=1) & ~np.isnan(y)
ways = {
    "nothing missing": regression(full, outcome),
    "pooled over 30 drawn tables": (pooled.estimate, pooled.std_error**2),
    f"the {known.sum()} complete rows alone": regression(X[known], y[known]),
    "one filled table, taken at its word": regression(done.X, done.Y),
}
figure, panels = plt.subplots(1, 2, figsize=(8, 2.8), sharey=True, layout="constrained")
for k, (panel, name) in enumerate(zip(panels, ("age", "income"), strict=True)):
    panel.axvline(slopes[k], color="#333333", lw=1, ls=":")
    for place, (estimate, variance) in enumerate(ways.values()):
        colour = "#d95f02" if place == 1 else "#777777"
        panel.errorbar(estimate[k], place, xerr=1.96 * np.sqrt(variance[k]), fmt="o", color=colour, capsize=3)
    panel.set(title=f"slope of {name}", yticks=range(4), yticklabels=ways)
panels[0].invert_yaxis()
figure.supxlabel("log-odds per standard deviation; dotted: what made the table", fontsize="medium")
plt.show()

# %%
# One filled table has no noise in it: the outcome is filled with what age says is likelier, the regression finds age more decisive
# than it is, and its interval misses the slope that made the table. Complete rows are honest here but throw away most of the table,
# and would mislead if cells were missing because of the outcome.
