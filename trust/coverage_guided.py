"""Model files and delimited text under a fuzzer that follows the branches it reaches (atheris).

Skipped where atheris is not installed: ``pip install atheris``.
"""

import importlib.util
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from trust.commands import ROOT
from trust.tally import ANSWERED, Budget, Tally

TARGET = """
import sys, logging, atheris
logging.disable(logging.CRITICAL)
import numpy, polars, sklearn, zipfile, json, numba
with atheris.instrument_imports(include=["cocomplete", "zipfile", "json"]):
    from cocomplete.estimator import model_file
    from cocomplete.formats.files import parse_table
    from cocomplete.formats.table_file import ReadOptions
from cocomplete.exceptions import InputError
from pathlib import Path
place = Path(sys.argv[1]) / "file.model"
ENDINGS = (".csv", ".arff", ".svm", ".xml")

def one(data):
    if not data:
        return
    try:
        if data[0] % 3 == 0:
            place.write_bytes(data[1:])
            model_file.load(place)
        else:
            name = "file" + ENDINGS[data[0] % 2]
            parse_table(data[1:], name, ReadOptions(path=name))
    except InputError as error:
        assert len(str(error).splitlines()) == 1, error

atheris.Setup([sys.argv[0], *sys.argv[2:]], one)
atheris.Fuzz()
"""


def run(budget: Budget) -> Tally:
    """Fuzz for as long as the budget allows, from whole files as seeds."""
    tally = Tally("coverage-guided files")
    if importlib.util.find_spec("atheris") is None:
        tally.skipped = "atheris is not installed"
        return tally
    with tempfile.TemporaryDirectory() as name:
        corpus = Path(name, "corpus")
        corpus.mkdir()
        _write_seeds(corpus)
        options = [
            f"-max_total_time={int(budget.seconds)}",
            f"-runs={budget.tries}",
            f"-seed={budget.seed + 1}",
        ]
        options += ["-timeout=20", "-rss_limit_mb=4096", f"-artifact_prefix={name}/", "-close_fd_mask=1"]
        paths = os.pathsep.join((str(ROOT / "src"), *filter(None, (os.environ.get("PYTHONPATH"),))))
        done = subprocess.run(
            [sys.executable, "-c", TARGET, name, *options, str(corpus)],
            env=os.environ | {"PYTHONPATH": paths},
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
    runs = [int(found) for found in re.findall(r"(?:Done |#)(\d+)", done.stderr)]
    tally.counts[ANSWERED] = max(runs, default=0)
    if done.returncode:
        lines = [line.strip() for line in done.stderr.splitlines() if "Error" in line or "Exception" in line]
        tally.add(f"the fuzzer ends with {done.returncode}", " | ".join(lines[:3]) or done.stderr[-500:])
    return tally


def _write_seeds(corpus: Path) -> None:
    from mutated_files import seeds
    from trust.estimator_calls import model

    for number, (ending, content) in enumerate(seeds()):
        if ending in (".csv", ".arff"):
            (corpus / f"{number}").write_bytes(bytes([1 if ending == ".arff" else 4]) + content)
    model("unlabelled").save(corpus / "model")
    content = (corpus / "model").read_bytes()
    (corpus / "model").write_bytes(b"\0" + content)
