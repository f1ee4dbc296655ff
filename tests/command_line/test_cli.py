"""The command line as a user meets it, from file to file; in a process of its own where that matters."""

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest

from cocomplete.cli.console import error_lines
from cocomplete.cli.demo import _write
from cocomplete.exceptions import InputError
from tests.command_line.in_process import run

CSV = """id,age,weight,smoker,has_x,has_y
a1,61,80.50,yes,1,0
b2,,72.25,no,0,NA
c3,45,NA,?,1,1
d4,39,66.00,no,,0
e5,70,90,yes,1,
f6,52,77.1,No,0,0
"""


def run_apart(*arguments: object, stdin: str | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from cocomplete.cli.main import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, input=stdin, check=False)


@pytest.fixture
def table(tmp_path: Path) -> Path:
    file = tmp_path / "table.csv"
    file.write_text(CSV)
    return file


def test_csv_to_csv_keeps_observed_cells_letter_for_letter(table: Path) -> None:
    out = table.with_name("out.csv")
    done = run_apart("complete", table, "--labels", "has_*", "--ignore", "id", "-o", out)
    assert done.returncode == 0, done.stderr
    assert done.stdout == ""
    assert "filled 3 of 18 feature cells and 3 of 12 label cells" in done.stderr
    before, after = (pl.read_csv(file, infer_schema=False) for file in (table, out))
    assert before.columns == after.columns
    for name in before.columns:
        for old, new in zip(before[name], after[name], strict=True):
            assert new == old or old in (None, "NA", "?")
    assert after["smoker"][2] in ("yes", "no")
    assert set(after["has_x"]) | set(after["has_y"]) <= {"0", "1"}
    assert np.isfinite(after.select("age", "weight").cast(pl.Float64).to_numpy()).all()


def test_data_go_to_standard_output_and_nothing_else_does(table: Path) -> None:
    done = run_apart("complete", "-", "--labels", "has_x,has_y", "--ignore", "id", "--quiet", stdin=CSV)
    assert done.returncode == 0
    assert done.stderr == ""
    assert done.stdout.splitlines()[0] == "id,age,weight,smoker,has_x,has_y"
    assert len(done.stdout.splitlines()) == 7


def test_parquet_keeps_types(tmp_path: Path) -> None:
    frame = pl.DataFrame(
        {
            "n": [1, None, 3, 4],
            "full": [1, 2, 3, 4],
            "x": [0.5, float("nan"), 2.5, None],
            "u": [True, None, False, True],
            "v": pl.Series([1, 0, None, 1], dtype=pl.Int8),
        }
    )
    source, target = tmp_path / "t.parquet", tmp_path / "o.parquet"
    frame.write_parquet(source)
    done = run("complete", source, "--labels", "u", "--labels", "v", "-o", target)
    assert done.returncode == 0, done.stderr
    after = pl.read_parquet(target)
    assert after["full"].to_list() == [1, 2, 3, 4]
    assert after["full"].dtype == pl.Int64
    assert after["u"].dtype == pl.Boolean
    assert after["v"].dtype == pl.Int8
    assert after.null_count().sum_horizontal().item() == 0
    assert not after["x"].is_nan().any()


def test_semicolons_are_understood_and_kept(tmp_path: Path) -> None:
    file, out = tmp_path / "t.csv", tmp_path / "o.csv"
    file.write_text(CSV.replace(",", ";"))
    assert run("complete", file, "-l", "has_*", "-i", "id", "-o", out).returncode == 0
    assert out.read_text().splitlines()[0] == "id;age;weight;smoker;has_x;has_y"


def test_a_spreadsheet_s_text_is_filled_in_its_own_style(tmp_path: Path) -> None:
    text = "Nr;Größe;Preis;Raucher;krank\n" + "".join(
        f"{i};1,{60 + i};1.{200 + i},50 €;{'ja' if i % 2 else 'nein'};{i % 2}\n" for i in range(12)
    )
    holes = (
        text.replace("1,65", "n/a")
        .replace("1.207,50 €", "")
        .replace("8;1,68;1.208,50 €;nein", "8;1,68;1.208,50 €;?")
    )
    (tmp_path / "t.csv").write_bytes(holes.encode("cp1252"))
    for target in ("o.csv", "o.parquet"):
        done = run("complete", "t.csv", "-l", "krank", "-i", "Nr", "-o", target, folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert "read as Windows-1252" in done.stderr
    before, after = holes.splitlines(), (tmp_path / "o.csv").read_bytes().decode("cp1252").splitlines()
    changed = {i: line.split(";") for i, line in enumerate(after) if line != before[i]}
    assert sorted(changed) == [6, 8, 9]
    assert re.fullmatch(r"1,\d\d", changed[6][1])
    assert re.fullmatch(r"1\.\d{3},\d\d €", changed[8][2])
    assert changed[9][3] in ("ja", "nein")
    types = pl.read_parquet(tmp_path / "o.parquet").dtypes
    assert types == [pl.Int64, pl.Float64, pl.Float64, pl.Boolean, pl.Int64]


def test_an_existing_file_is_left_alone_without_force(table: Path) -> None:
    out = table.with_name("out.csv")
    out.write_text("precious")
    arguments = ("complete", table, "-l", "has_*", "-i", "id", "-o", out)
    done = run(*arguments)
    assert done.returncode == 1
    assert "exists already" in done.stderr
    assert "--force" in done.stderr
    assert out.read_text() == "precious"
    assert run(*arguments, "--force").returncode == 0
    assert out.read_text().startswith("id,")


@pytest.mark.parametrize(
    ("content", "arguments", "message"),
    [
        (CSV, ("-l", "nothing*"), "--labels 'nothing*' matches no column"),
        (
            CSV.replace("72.25", "heavy"),
            ("-l", "has_*", "-i", "id"),
            "column 'weight' holds numbers, but line 3 holds 'heavy'; correct the cell, say --missing",
        ),
        (CSV, ("-l", "age", "-i", "id"), "column 'age' holds 39, 45, 52, 61, 70"),
        (CSV.replace("90", "inf"), ("-l", "has_*", "-i", "id"), "column 'weight' holds inf"),
        (CSV, ("-l", "*", "-i", "id"), "no feature column of"),
        ("", ("-l", "a"), "is empty"),
        ("a,b\n", ("-l", "a"), "0 row(s)"),
        ("a,b\n1,2\n1,2,3\n", ("-l", "a"), "line 3, column 3: the row has 3 cell(s), more than the 2"),
        ("a,b\n,\nNA,?\n", ("-l", "a"), "no observed cell at all"),
        (CSV, ("-l", "has_*", "-i", "id", "-t", "age:count"), "--types 'age:count' names no column of"),
        (CSV, ("-l", "has_*", "-i", "id", "-t", "age=big"), "got 'big' for column 'age'"),
        (CSV, ("-l", "has_*", "-i", "id", "-t", "age=1..x"), "bounds are two numbers, such as 0..10"),
        (CSV, ("-l", "has_*", "-f", "size"), "--features 'size' matches no column"),
    ],
)
def test_bad_tables_get_one_sentence_and_nothing_is_written(
    tmp_path: Path, content: str, arguments: list[str], message: str
) -> None:
    file, out = tmp_path / "t.csv", tmp_path / "o.csv"
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    done = run("complete", file, *arguments, "-o", out)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1
    assert done.stdout == ""
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("missing.csv", "-l", "a", "-o", "o.csv"), "missing.csv cannot be read: No such file"),
        (("t.ods", "-l", "a", "-o", "o.csv"), "no known kind of table"),
        (("t.csv", "-l", "a", "-o", "o.doc"), "o.doc ends in '.doc'"),
        (("t.csv", "-l", "a", "-o", "nowhere/o.csv"), "the folder nowhere does not exist"),
        (("bad.parquet", "-l", "a", "-o", "o.csv"), "bad.parquet cannot be read as Parquet"),
    ],
)
def test_bad_files_are_named(tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "bad.parquet").write_text("not parquet")
    done = run("complete", *arguments, folder=tmp_path)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_an_empty_column_is_filled_with_a_warning(tmp_path: Path) -> None:
    file = tmp_path / "t.csv"
    file.write_text("a,b,y\n1,,0\n2,,1\n3,,0\n")
    done = run("complete", file, "-l", "y")
    assert done.returncode == 0
    assert "warning: nothing is observed in feature column(s) 'b'" in done.stderr
    assert done.stdout.splitlines()[1].split(",")[1] == "0"


def test_a_mistake_ends_the_process_with_1_and_one_sentence(table: Path) -> None:
    done = run_apart("complete", table, "-l", "nothing*")
    assert done.returncode == 1
    assert done.stderr.startswith("cocomplete: error: ")
    assert done.stderr.count("\n") == 1
    assert done.stdout == ""


def test_wrong_usage_is_2_and_help_and_version_are_0() -> None:
    assert run("complete").returncode == 2
    assert run("nonsense").returncode == 2
    assert run("--help").returncode == 0
    version = run("--version")
    assert version.returncode == 0
    assert version.stdout.startswith("cocomplete 0.")


def test_demo_says_what_it_did_and_writes_over_nothing_unasked(tmp_path: Path) -> None:
    folder = tmp_path / "cocomplete-demo"
    folder.mkdir()
    (folder / "completed.csv").write_text("mine")
    refused = run("demo", folder=tmp_path)
    assert refused.returncode == 1
    assert "exists and differs" in refused.stderr
    assert (folder / "completed.csv").read_text() == "mine"
    done = run("demo", "--force", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "SYNTHETIC" in done.stdout
    assert "completed.csv" in done.stdout
    completed = pl.read_csv(folder / "completed.csv")
    assert completed.shape == (400, 37)
    assert completed.null_count().sum_horizontal().item() == 0
    incomplete = pl.read_csv(folder / "incomplete.csv")
    for name in incomplete.columns:
        known = incomplete[name].is_not_null()
        assert (incomplete[name].filter(known) == completed[name].filter(known)).all()
    files = sorted(file.name for file in folder.iterdir())
    assert files == ["completed.csv", "incomplete.csv", "report.html", "truth.csv"]
    assert "Report, for any browser: cocomplete-demo/report.html" in done.stdout


def test_ctrl_c_ends_with_130_and_writes_nothing(table: Path) -> None:
    out = table.with_name("out.csv")
    code = """
import signal
from cocomplete import CoCompleter
from cocomplete.cli.main import main

fit = CoCompleter.fit

def interrupted(self, *tables, progress):
    return fit(self, *tables, progress=lambda record: signal.raise_signal(signal.SIGINT))

CoCompleter.fit = interrupted
main()
"""
    command: list[str | Path] = [
        sys.executable,
        "-c",
        code,
        "complete",
        table,
        "--labels",
        "has_*",
        "--ignore",
        "id",
        "-o",
        out,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 130
    assert done.stderr == "cocomplete: interrupted; nothing was written\n"
    assert not out.exists()


def test_demo_s_files_may_be_written_again_if_they_are_the_same(tmp_path: Path) -> None:
    frame = pl.DataFrame({"a": [1.0, None]})
    for _ in range(2):
        _write({"one.csv": frame}, "page", tmp_path / "new", force=False)
    assert (tmp_path / "new" / "report.html").read_text() == "page"
    for changed, page in ((frame.fill_null(2.0), "page"), (frame, "another page")):
        with pytest.raises(InputError, match="exists and differs"):
            _write({"one.csv": changed}, page, tmp_path / "new", force=False)


def test_nothing_heavy_is_imported_before_it_is_needed() -> None:
    heavy = "{'numpy', 'scipy', 'sklearn', 'numba', 'polars', 'pandas'}"
    code = f"import sys, cocomplete, cocomplete.cli.app; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_console_script_is_installed() -> None:
    assert (Path(sys.executable).parent / "cocomplete").exists()


def test_the_end_has_held_out_errors_beside_those_of_the_trivial_answer() -> None:
    validation = {
        "features": {"cells": 30, "rmse": 0.512, "trivial_rmse": 1.02, "weights": {}},
        "labels": {"cells": 9, "log_loss": 0.3, "wrong": 0.125, "trivial_wrong": 0.5, "weights": {}},
    }
    assert error_lines(validation) == [
        "features: 30 held-out cells were off by 0.51 standard deviations (column means: 1.02)",
        "labels beside other labels: 9 held-out cells were 12.5% wrong (the commoner value: 50.0%)",
    ]
    assert error_lines(None) == []
