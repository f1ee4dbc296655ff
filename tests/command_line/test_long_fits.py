"""Options for long fits: where they store what they have reached, and memory that they may lack."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cocomplete.cli.inspect import _need, inspect
from cocomplete.estimator import memory_forecast
from tests.command_line.in_process import run


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3)).round(2)
    table = pl.DataFrame(X, schema=["a", "b", "c"]).with_columns(y=pl.Series(X[:, 0] > 0))
    hole = pl.int_range(pl.len()) % 7 == 0
    table.with_columns(pl.when(~hole).then("b").alias("b")).write_csv(tmp_path / "t.csv")
    return tmp_path


def test_a_checkpoint_is_gone_when_the_fit_has_ended(folder: Path) -> None:
    arguments = ("complete", "t.csv", "-l", "y", "-o", "done.csv", "--model", "t.model", "--force-memory")
    done = run(*arguments, "--checkpoint", "states", folder=folder)
    assert done.returncode == 0, done.stderr
    assert (folder / "states").is_dir()
    assert not list((folder / "states").iterdir())
    plain = run("complete", "t.csv", "-l", "y", "-o", "plain.csv", folder=folder)
    assert plain.returncode == 0, plain.stderr
    assert (folder / "done.csv").read_bytes() == (folder / "plain.csv").read_bytes()


def test_a_checkpoint_that_is_no_folder_is_refused(folder: Path) -> None:
    done = run("complete", "t.csv", "-l", "y", "-o", "done.csv", "--checkpoint", "t.csv", folder=folder)
    assert done.returncode == 1
    assert "t.csv: checkpoint='t.csv' cannot be written: " in done.stderr
    assert "Traceback" not in done.stderr


def test_inspect_shows_what_a_fit_needs(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = str(folder / "t.csv")
    inspect(table, labels=["y"], json=True)
    assert json.loads(capsys.readouterr().out)["memory"] is None
    monkeypatch.setattr(memory_forecast, "SMALL_NUMBERS", 100)
    inspect(table, labels=["y"], json=True)
    frame = pl.read_csv(table)
    assert json.loads(capsys.readouterr().out)["memory"] == _need(frame.drop("y"), frame.select("y"))
    inspect(table, labels=["y"])
    assert "complete needs about 0.0 GiB of memory beyond the table" in capsys.readouterr().out
