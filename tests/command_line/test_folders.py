"""``complete`` of folders: every block is completed, nothing else changes, what makes no sense is refused."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal
from typer.testing import CliRunner, Result

from cocomplete.cli.app import app
from cocomplete.cli.complete_blocks import in_blocks
from cocomplete.exceptions import InputError
from cocomplete.stored import open as open_table
from tests.command_line.in_process import run

ROWS = 120


def table() -> pl.DataFrame:
    """A name for every row, numbers of rank one, whole ones, words, and a label; every fifth cell unknown."""
    rng = np.random.default_rng(0)
    size = rng.normal(size=ROWS)
    frame = pl.DataFrame(
        {
            "name": [f"row {k}" for k in range(ROWS)],
            "a": size.astype(np.float32),
            "b": (2 * size + 0.1 * rng.normal(size=ROWS)).astype(np.float32),
            "whole": np.round(30 + 9 * size).astype(int),
            "word": np.where(size > 0, "high", "low"),
            "ill": (size > 0.2).astype(int),
        }
    )
    known = [pl.Series(rng.random(ROWS) > 0.2) for _ in frame.columns]
    holes = [pl.when(seen).then(pl.col(name)) for name, seen in zip(frame.columns, known, strict=True)]
    return frame.with_columns(holes[1:])


def command(folder: Path, *arguments: object) -> Result:
    """Run in this process, so that blocks can be made small."""
    return CliRunner().invoke(app, ["complete", str(folder / "in"), *map(str, arguments)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Complete a folder once, in several blocks that straddle its files."""
    folder = tmp_path_factory.mktemp("folders")
    (folder / "in").mkdir()
    for name, (first, last) in {"1": (0, 50), "2": (50, 53), "3": (53, ROWS)}.items():
        table()[first:last].write_parquet(folder / "in" / f"{name}.parquet")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cocomplete.table.block_table.BLOCK_NUMBERS", 200)
        patch.setattr("cocomplete.table.block_table.COMPLETED_NUMBERS", 300)
        patch.setattr("cocomplete.formats.part_folder.PART_BYTES", 1)
        options = ("--labels", "ill", "--proba", "--std", "--json", "--model", folder / "m.model")
        done = command(folder, "-o", folder / "out", *options)
    assert done.exit_code == 0, done.stderr
    (folder / "said.txt").write_text(done.stderr)
    (folder / "found.json").write_text(done.stdout)
    return folder


def test_blocks_become_parts_without_holes(folder: Path) -> None:
    parts = sorted((folder / "out").iterdir())
    assert [part.name for part in parts] == [f"part-{k:06d}.parquet" for k in range(len(parts))]
    assert len(parts) == 3
    before, after = table(), pl.concat(pl.read_parquet(part) for part in parts)
    assert after.columns == [
        *before.columns,
        "P(ill)",
        *(f"std({name})" for name in ("a", "b", "whole", "word")),
    ]
    assert after.null_count().sum_horizontal().item() == 0
    same = after.select(before.columns)
    assert same.schema == before.schema
    assert_frame_equal(
        same.with_columns(pl.when(before[n].is_not_null()).then(pl.col(n)) for n in before.columns), before
    )
    assert set(after["word"]) == {"high", "low"}
    assert set(after["ill"]) == {0, 1}


def test_it_is_what_the_same_model_makes_of_the_whole_table(folder: Path) -> None:
    table().write_parquet(folder / "whole.parquet")
    done = run("predict", "m.model", "whole.parquet", "-o", "whole.out.parquet", folder=folder)
    assert done.returncode == 0, done.stderr
    whole = pl.read_parquet(folder / "whole.out.parquet")
    parts = open_table(folder / "out").read(0, ROWS).X.select(whole.columns)
    assert_frame_equal(parts, whole)


def test_what_was_done_is_said(folder: Path) -> None:
    said = (folder / "said.txt").read_text()
    unknown = table().null_count()
    features = unknown.select("a", "b", "whole", "word").sum_horizontal().item()
    assert f"filled {features} of 480 feature cells and {unknown['ill'].item()} of 120 label cells" in said
    assert "warning: column 'name' is set aside (a different word in every row)" in said
    assert "held-out cells were" in said
    found = json.loads((folder / "found.json").read_text())
    assert found["filled"]["features"] == features
    assert found["kinds"]["word"] == "category"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("-o", "{folder}/out"), "out exists already and was left as it is; choose another name or --force"),
        ((), "is completed into a folder of Parquet files, and --output is -; name a folder"),
        (("-o", "{folder}/x.csv"), "--output is .*x.csv; name a folder, such as completed/"),
        (("-o", "{folder}/in", "--force"), "--output .*in is the table itself; name another folder"),
        (("-o", "{folder}", "--force"), "which is no part of a completed table, and is not replaced"),
        (("-o", "{folder}/x", "--separator", ";"), "--separator is for text files and workbooks"),
        (("-o", "{folder}/x", "--skip-lines", "2"), "--skip-lines is for text files and workbooks"),
        (("-o", "{folder}/x", "--draws", "2"), "--draws needs the whole table"),
        (("-o", "{folder}/x", "--report", "r.html"), "--report needs the whole table"),
        (("-o", "{folder}/x", "--quality"), "--quality needs the whole table"),
        (("-o", "{folder}/x", "--labels", "sick"), "--labels 'sick' matches no column of"),
        (("-o", "{folder}/x", "--features", "ill", "--labels", "ill"), "no feature column of .*in is left"),
    ],
)
def test_what_makes_no_sense_is_refused_before_any_work(
    folder: Path, arguments: tuple[str, ...], message: str
) -> None:
    before = sorted(folder.rglob("*"))
    done = command(folder, *(each.format(folder=folder) for each in arguments))
    assert isinstance(done.exception, InputError)
    with pytest.raises(InputError, match=message):
        raise done.exception
    assert sorted(folder.rglob("*")) == before


def test_one_file_goes_to_a_folder_if_that_is_asked_for(tmp_path: Path) -> None:
    assert in_blocks("table.parquet", "out/")
    assert not in_blocks("table.parquet", "out.parquet")
    assert not in_blocks("-", "out/")
    (tmp_path / "t.csv").write_text("a,b\n1,2\n")
    done = run("complete", "t.csv", "-o", "out/", folder=tmp_path)
    assert done.returncode == 1
    assert "t.csv is read as a whole or not at all; cocomplete convert makes Parquet of it" in done.stderr


def test_matrices_go_through_the_command_too(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    whole = rng.normal(size=(60, 1)) * rng.normal(size=(1, 4))
    X, y = whole[:, :3].copy(), (whole[:, 3:] > 0).astype(float)
    X[rng.random(X.shape) < 0.2], y[rng.random(y.shape) < 0.2] = np.nan, np.nan
    (tmp_path / "in").mkdir()
    np.save(tmp_path / "in" / "X.npy", X)
    np.save(tmp_path / "in" / "y.npy", y)
    done = run("complete", "in/", "-o", "out/", "--quiet", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    after = open_table(tmp_path / "out").read(0, 60).X
    assert after.columns == ["X 1", "X 2", "X 3", "y 1"]
    known = ~np.isnan(np.hstack((X, y)))
    np.testing.assert_array_equal(after.to_numpy()[known], np.hstack((X, y))[known])
    assert np.isfinite(after.to_numpy()).all()


def test_ctrl_c_leaves_nothing_behind(folder: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from cocomplete.cli.main import main; main()", "complete"]
    command += [str(folder / "in"), "-l", "ill", "-o", str(tmp_path / "out")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        while not list(tmp_path.iterdir()) and process.poll() is None:
            time.sleep(0.05)
        os.kill(process.pid, signal.SIGINT)
        said = process.communicate()[1]
    assert process.returncode == 130
    assert "interrupted; nothing was written" in said
    assert list(tmp_path.iterdir()) == []
