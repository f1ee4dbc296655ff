"""Every command, from file to file: what it prints, writes and refuses."""

import json
import os
import re
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import polars as pl
import pytest

from tests.command_line.in_process import run

ROOT = Path(__file__).parents[2]

HEADER = "name,age,answer,colour,smokes,day,ill,kind"
ROWS = [
    f"n{k},{30 + 7 * k % 41 if k % 6 else ''},{k % 5 + 1 if k % 7 else 'n/a'},"
    f"{('red', 'green', 'blue')[k % 3] if k % 8 else ''},{'yes' if k % 3 else 'no'},"
    f"2024-03-{k % 28 + 1:02d},{int(k % 3 > 0) if k % 5 else ''},{('a', 'b', 'c')[k % 3] if k % 9 else ''}"
    for k in range(1, 41)
]
LABELS = ("--labels", "ill", "--labels", "kind=*")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Complete a small table once, with everything beside it."""
    folder = tmp_path_factory.mktemp("commands")
    (folder / "t.csv").write_text("\n".join((HEADER, *ROWS)) + "\n")
    options = ("--proba", "--std", "--draws", "2", "--model", "t.model", "--json", "-o", "out.csv")
    done = run("complete", "t.csv", *LABELS, *options, folder=folder)
    assert done.returncode == 0, done.stderr
    (folder / "complete.json").write_text(done.stdout)
    (folder / "complete.txt").write_text(done.stderr)
    return folder


def test_complete_writes_probabilities_deviations_draws_and_a_model(folder: Path) -> None:
    before, after = pl.read_csv(folder / "t.csv"), pl.read_csv(folder / "out.csv")
    assert after.columns[:8] == before.columns
    assert after.columns[8:12] == ["P(ill)", "P(kind=a)", "P(kind=b)", "P(kind=c)"]
    assert after.columns[12:] == [f"std({name})" for name in before.columns[1:6]]
    assert after.null_count().sum_horizontal().item() == 0
    shares = after.select(pl.sum_horizontal("P(kind=a)", "P(kind=b)", "P(kind=c)")).to_series()
    assert (shares - 1).abs().max() < 1e-5  # type: ignore[operator]
    assert set(after["answer"]) <= set(range(1, 6))
    assert set(after["colour"]) == {"red", "green", "blue"}
    draws = [pl.read_csv(folder / f"out.{k}.csv") for k in (1, 2)]
    assert all(drawn.columns == before.columns for drawn in draws)
    assert not draws[0].equals(draws[1])
    assert sorted(file.name for file in folder.iterdir() if "lock" in file.name or "part" in file.name) == []


def test_json_says_what_was_done(folder: Path) -> None:
    found = json.loads((folder / "complete.json").read_text())
    assert found["kinds"]["answer"] == "ordinal"
    assert found["kinds"]["day"] == "date"
    assert found["filled"]["features"] > 0
    assert {"cells", "rmse", "trivial_rmse"} <= found["held_out"]["features"].keys()


def test_row_names_are_set_aside_with_a_warning(folder: Path) -> None:
    said = (folder / "complete.txt").read_text()
    assert "warning: column 'name' is set aside (a different word in every row)" in said
    assert "held-out cells were off by" in said


def test_predict_completes_new_rows(folder: Path) -> None:
    new = folder / "new.csv"
    new.write_text("age,answer,colour,smokes,day,note\n33,,red,no,2024-03-04,x\n,5,,yes,,y\n")
    done = run("predict", "t.model", new, "--proba", folder=folder)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == "age,answer,colour,smokes,day,note,ill,kind,P(ill),P(kind=a),P(kind=b),P(kind=c)"
    assert lines[1].startswith("33,")
    assert ",x," in lines[1]
    assert len(lines) == 3
    assert ",," not in done.stdout


def test_predict_names_words_that_the_fit_has_not_seen(folder: Path) -> None:
    new = folder / "strange.csv"
    new.write_text("age,answer,colour,smokes,day\n33,,mauve,no,2024-03-04\n,5,,yes,\n")
    done = run("predict", "t.model", new, folder=folder)
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stderr.splitlines() if "warning" in line]
    assert said == [
        "cocomplete: warning: values that were not there when the model was fitted are taken for unknown: "
        "X's column 'colour' ('mauve')"
    ]
    assert ",mauve," in done.stdout


def test_predict_names_what_is_missing(folder: Path) -> None:
    new = folder / "few.csv"
    new.write_text("age\n33\n")
    for arguments, message in (
        (("t.model", new), "has no column 'answer' and 3 more, which t.model was fitted with"),
        (("t.csv", new), "is damaged, or no model of cocomplete"),
        (("nothing", new), "nothing cannot be read"),
    ):
        done = run("predict", *arguments, folder=folder)
        assert done.returncode == 1
        assert message in done.stderr
        assert "Traceback" not in done.stderr


def test_inspect_shows_kinds_and_reasons_and_fits_nothing(folder: Path) -> None:
    done = run("inspect", "t.csv", *LABELS, "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found = {row["column"]: row for row in json.loads(done.stdout)["columns"]}
    assert found["name"]["part"] == "carried over"
    assert found["answer"]["kind"] == "ordinal"
    assert found["answer"]["why"] == "5 levels in an order"
    assert found["kind"] | {"unknown": 0, "share_unknown": 0} == {
        "column": "kind",
        "part": "label",
        "kind": "class",
        "why": "as asked for",
        "unknown": 0,
        "share_unknown": 0,
    }
    shown = run("inspect", "t.csv", *LABELS, "--types", "age=0..120", folder=folder)
    assert "as asked for" in shown.stdout
    assert "40 rows, 8 columns" in shown.stdout


def test_inspect_says_whose_order_and_which_times_these_are(folder: Path) -> None:
    grades = pl.Series("grade", ["low", "top", "mid", "low", "mid"] * 4, pl.Enum(["low", "mid", "top"]))
    created = pl.Series("created", [1_700_000_000 + k * k for k in range(20)])
    pl.DataFrame([grades, created]).write_parquet(folder / "enum.parquet")
    done = run("inspect", "enum.parquet", "--types", "created=date", "--json", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["columns"]
    assert [(row["kind"], row["why"]) for row in found] == [
        ("ordinal", "3 levels in the order of the Enum"),
        ("date", "as asked for"),
    ]


def test_evaluate_gives_every_column_beside_the_trivial_answer(folder: Path) -> None:
    done = run("evaluate", "t.csv", *LABELS, "--share", "0.2", "--json", "--quiet", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert {row["column"] for row in found} == {"age", "answer", "colour", "smokes", "day", "ill", "kind"}
    assert all(row["cells"] > 0 and row["error"] >= 0 and row["trivial"] >= 0 for row in found)
    shown = run("evaluate", "t.csv", *LABELS, folder=folder)
    assert "mean / commonest value" in shown.stdout


def test_a_title_is_named_and_skipped_if_asked(folder: Path) -> None:
    (folder / "titled.csv").write_text("Our report\n\na,b\n1,2\n3,4\n")
    done = run("inspect", "titled.csv", folder=folder)
    assert done.returncode == 1
    assert "titled.csv: line 3 looks like the line of column names" in done.stderr
    assert "--skip-lines 2" in done.stderr
    done = run("convert", "titled.csv", "untitled.parquet", "--skip-lines", "2", folder=folder)
    assert done.returncode == 0, done.stderr
    assert pl.read_parquet(folder / "untitled.parquet").to_dict(as_series=False) == {"a": [1, 3], "b": [2, 4]}


def test_convert_keeps_types(folder: Path) -> None:
    done = run("convert", "t.csv", "t.parquet", folder=folder)
    assert done.returncode == 0, done.stderr
    frame = pl.read_parquet(folder / "t.parquet")
    assert frame["day"].dtype == pl.Date
    assert frame["smokes"].dtype == pl.Boolean
    assert frame["age"].dtype == pl.Int64
    assert run("convert", "t.csv", "t.parquet", folder=folder).returncode == 1


def test_the_example_of_every_help_works_as_printed(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for command in ("inspect", "complete", "predict", "evaluate", "convert", "report"):
        shown = run(command, "--help")
        assert shown.returncode == 0
        text = " ".join(word.strip("│") for word in shown.stdout.split() if word != "│")
        example = re.search(rf"Example: cocomplete ({command} .*?) (?:╭|┏|\*|$)", text)
        assert example is not None, text
        done = run(*shlex.split(example[1]), folder=tmp_path)
        assert done.returncode == 0, done.stderr
    assert {file.name for file in tmp_path.iterdir()} == {
        "examples",
        "done.csv",
        "patients.model",
        "predicted.csv",
        "patients.parquet",
        "patients.html",
    }


def test_report_writes_a_page_and_prints_its_numbers(folder: Path) -> None:
    done = run("report", "t.csv", *LABELS, "--json", "--out", "page.html", folder=folder)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert found["title"] == "t.csv"
    assert [one["name"] for one in found["given"]["columns"]] == HEADER.split(",")[1:]
    # Rows are named by the column that is set aside.
    assert {cell["row"] for cell in found["filled"]["cells"]} <= {f"n{k}" for k in range(1, 41)}
    assert found["verdict"]["sentence"] in done.stderr
    page = (folder / "page.html").read_bytes()
    assert page.lower().startswith(b"<!doctype html>")
    again = run("report", "t.csv", *LABELS, "--out", "page.html", folder=folder)
    assert again.returncode == 1
    assert "page.html exists already and was left as it is" in again.stderr
    # The same model from a file gives the same bytes.
    saved = run("report", "t.csv", "--model", "t.model", "--out", "page.html", "--force", folder=folder)
    assert saved.returncode == 0, saved.stderr
    assert (folder / "page.html").read_bytes() == page


def test_report_reads_standard_input(folder: Path) -> None:
    text = (folder / "t.csv").read_text()
    done = run("report", "-", "--labels", "ill", "--json", "--quiet", folder=folder, stdin=text)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["title"] == "standard input"
    assert done.stderr == ""
    assert not (folder / "report.html").exists()


def test_complete_writes_a_report_too(folder: Path) -> None:
    options = ("-o", "again.csv", "--report", "numbers.json")
    done = run("complete", "t.csv", *LABELS, *options, folder=folder)
    assert done.returncode == 0, done.stderr
    assert "report written to numbers.json" in done.stderr
    found = json.loads((folder / "numbers.json").read_text())
    after = pl.read_csv(folder / "again.csv")
    names = [one["name"] for one in found["given"]["columns"]]
    for cell in found["filled"]["cells"]:
        assert (
            str(after.row(by_predicate=pl.col("name") == cell["row"], named=True)[names[cell["column"]]])
            == (cell["text"])
        )
    refused = run("complete", "t.csv", *LABELS, "-o", "no.csv", "--report", "numbers.json", folder=folder)
    assert refused.returncode == 1
    assert not (folder / "no.csv").exists()


def test_a_report_writes_values_as_the_file_does(tmp_path: Path) -> None:
    source, labels = ROOT / "examples" / "patients.csv", ("--labels", "hat_*", "--labels", "Diagnose=*")
    done = run("complete", source, *labels, "-o", "done.csv", "--report", "r.json", folder=tmp_path)
    assert done.returncode == 0, done.stderr
    found = json.loads((tmp_path / "r.json").read_text())
    lines = (tmp_path / "done.csv").read_text(encoding="cp1252").splitlines()
    header, *rows = [[cell.strip() for cell in line.split(";")] for line in lines if not line.startswith("#")]
    cells = {row[0]: dict(zip(header, row, strict=True)) for row in rows}
    names = [one["name"] for one in found["given"]["columns"]]
    assert len(found["filled"]["cells"]) == 157
    for cell in found["filled"]["cells"]:
        assert cell["text"] == cells[cell["row"]][names[cell["column"]]]
        for pull in cell["why"]["pulls"]:
            assert pull["value"] == cells[cell["row"]][names[pull["column"]]]
    smokes = names.index("Raucher")
    assert found["columns"][smokes]["distribution"]["levels"] == ["nein", "ja"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--json",), "--json writes to standard output, where the table goes"),
        (("--draws", "2"), "--draws writes several tables"),
        (("--fill", "mode"), "fill must be"),
    ],
)
def test_options_that_do_not_go_together(folder: Path, options: tuple[str, ...], message: str) -> None:
    done = run("complete", "t.csv", "--labels", "ill", *options, folder=folder)
    assert done.returncode == 1
    assert message in done.stderr
    assert "Traceback" not in done.stderr


def test_the_second_process_for_one_target_refuses(folder: Path) -> None:
    lock = folder / ".busy.csv.lock"
    lock.write_text(str(os.getpid()))
    done = run("complete", "t.csv", "--labels", "ill", "-o", "busy.csv", folder=folder)
    assert done.returncode == 1
    assert f"busy.csv is being written by another process ({os.getpid()})" in done.stderr
    # A lock whose process is gone is taken over.
    lock.write_text("999999999")
    assert run("convert", "t.csv", "busy.csv", folder=folder).returncode == 0
    assert not lock.exists()


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
def test_ctrl_c_writes_nothing(folder: Path) -> None:
    command = [sys.executable, "-c", "from cocomplete.cli.main import main; main()"]
    rows = [row.replace("n", f"m{k}", 1) for k in range(60) for row in ROWS]
    (folder / "long.csv").write_text("\n".join((HEADER, *rows)) + "\n")
    arguments = ["complete", "long.csv", *LABELS, "--ignore", "name", "-o", "late.csv"]
    process = subprocess.Popen(
        [*command, *arguments], cwd=folder, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    lock = folder / ".late.csv.lock"
    for _ in range(600):
        if lock.exists():
            break
        time.sleep(0.05)
    time.sleep(0.5)
    process.send_signal(signal.SIGINT)
    _, said = process.communicate(timeout=60)
    assert process.returncode == 130, said
    assert "interrupted; nothing was written" in said
    assert not (folder / "late.csv").exists()
    assert not lock.exists()
