"""
Tables on a Dask cluster
========================

The table is a Dask array, in chunks; so is its completion. The answer is that of the local estimator, however the table is
chunked. A table as small as this one is fitted in the client's process; of one with more than 40 million cells a sample is, and the
workers fit the averages to all rows.

The table is synthetic. It needs the extra ``dask``.
"""

# %%
# A cluster of two workers, here within this process.
import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client

from cocomplete import CoCompleter
from cocomplete.dask import DaskCoCompleter

rng = np.random.default_rng(0)
factors = rng.normal(size=(1500, 3))
truth = factors @ rng.normal(size=(3, 12)) + 0.4 * rng.normal(size=(1500, 12))
labels = (factors @ rng.normal(size=(3, 2)) > 0).astype(float)
X = np.where(rng.random(truth.shape) < 0.3, np.nan, truth)
y = np.where(rng.random(labels.shape) < 0.3, np.nan, labels)

client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None)
chunked_X, chunked_y = da.from_array(X, chunks=(500, 12)), da.from_array(y, chunks=(500, 2))
model = DaskCoCompleter(client).fit(chunked_X, chunked_y)

# %%
# Completions are lazy: nothing is computed until it is asked for, and then chunk by chunk on the workers.
done = model.complete(chunked_X, chunked_y)
print(done.X)

# %%
# The same numbers as without Dask, but for the rounding of sums over other chunks.
local = CoCompleter().fit(X, y)
filled = done.X.compute()
print("largest difference:", np.abs(filled - local.complete(X, y).X).max())

# %%
# Filled cells of each chunk against the truth.
figure, panels = plt.subplots(1, 3, figsize=(8.5, 3.1), sharex=True, sharey=True, layout="constrained")
for k, (panel, rows) in enumerate(zip(panels, np.split(np.arange(1500), 3), strict=True)):
    holes = np.isnan(X[rows])
    panel.plot(truth[rows][holes], filled[rows][holes], ".", ms=2.5, alpha=0.4, color="#d95f02")
    panel.axline((0, 0), slope=1, color="#333333", lw=1, ls=":")
    panel.set(title=f"chunk {k + 1}", xlabel="truth")
panels[0].set_ylabel("fill")
plt.show()
client.close()
