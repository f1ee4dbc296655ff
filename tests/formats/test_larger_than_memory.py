"""A table larger than the memory that completing it may take, in a process of its own."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import polars as pl
import pytest

import cocomplete
from stored import Recipe, blocks, make_table

MB = 10**6
TABLE_BYTES, LIMIT_BYTES = 500 * MB, 300 * MB
RECIPE = Recipe(n=TABLE_BYTES // 2400, d=500, n_labels=100, rank=5, observed=0.05)

COMPLETE = """
import json, sys, warnings
import cocomplete
from cocomplete.formats import write_blocks
from stored import Watch, settings, status

warnings.simplefilter("ignore")
source, target = sys.argv[1:]
few = cocomplete.open(source, labels="y*").read(0, 300)
cocomplete.CoCompleter(**settings(300, defaults=False)).fit(*few).complete(*few)
del few
before, watch = status("RssAnon"), Watch()
table = cocomplete.open(source, labels="y*")
model = cocomplete.CoCompleter(**settings(table.shape[0], defaults=False)).fit(table)
fitted = watch.peak - before
write_blocks(target, model.complete_blocks(table))
print(json.dumps({"before": before, "fitted": fitted, "taken": watch.stop() - before}))
"""


@pytest.mark.skipif("COCOMPLETE_STORED" not in os.environ, reason="minutes long: make test-stored runs it")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="memory is read from Linux's /proc")
@pytest.mark.skipif(
    shutil.disk_usage(tempfile.gettempdir()).free < 6 * TABLE_BYTES,
    reason="too little room for temporary files",
)
def test_500_mb_of_parquet_are_completed_within_300_mb(tmp_path: Path) -> None:
    """What is limited: private memory (RssAnon) beyond what there is of it after imports and a small fit.

    Pages of mapped files are not counted, since the system drops them when it needs the room. Allocators are
    told, as docs/disk.md says, to give back what is freed.
    """
    make_table(tmp_path / "table", RECIPE)
    stored = sum(file.stat().st_size for file in (tmp_path / "table").iterdir())
    assert stored >= 0.999 * TABLE_BYTES
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in sys.path if path),
        "MALLOC_MMAP_THRESHOLD_": "1048576",
        "_RJEM_MALLOC_CONF": "dirty_decay_ms:0,muzzy_decay_ms:0",
    }
    command = [sys.executable, "-c", COMPLETE, str(tmp_path / "table"), str(tmp_path / "out")]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["taken"] < LIMIT_BYTES, found
    whole, seen = next(blocks(RECIPE))
    first = pl.read_parquet(tmp_path / "out" / "part-000000.parquet").to_numpy()
    rows = len(first)
    assert not (first != whole[:rows])[seen[:rows]].any()
    hidden = ~seen[:rows, : RECIPE.d]
    truth, filled = (each[:rows, : RECIPE.d][hidden] for each in (whole, first))
    # Most of the hidden cells' squares are explained.
    assert ((truth - filled) ** 2).sum() < 0.25 * (truth**2).sum()
    assert cocomplete.open(tmp_path / "out").shape == (RECIPE.n, 600)
